package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/alecthomas/kong"

	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// pathCount is the number of paths to show; 0 means none. The flag needs no value.
type pathCount int

// defaultPaths is the value of the flag alone. maxPaths is its largest value, because every path is
// kept with all its states.
const (
	defaultPaths = 3
	maxPaths     = 10_000
)

// IsBool tells kong that the flag needs no value.
func (*pathCount) IsBool() bool { return true }

// Decode parses the number of paths in the flag --witness=5. The flag --witness without a number means defaultPaths.
func (n *pathCount) Decode(ctx *kong.DecodeContext) error {
	*n = defaultPaths
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := fmt.Sprint(ctx.Scan.Pop().Value)
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > maxPaths {
		return fmt.Errorf("%q is not a number of paths, want 1 to %d", text, maxPaths)
	}
	*n = pathCount(count)
	return nil
}

var _ kong.BoolMapperValue = (*pathCount)(nil)

// isSet reports whether the flag was given.
func (n *pathCount) isSet() bool { return *n > 0 }

// refuseSeparatePathCount returns a usage error if a number follows --witness as a separate word. kong reads such a number as the name of a file.
func (c *checkCmd) refuseSeparatePathCount() error {
	for _, name := range []string{c.ModelFile, c.PropsFile} {
		if count, err := strconv.Atoi(name); err == nil && c.Witness.isSet() && noSuchFile(name) {
			return usageError("%s: no such file; for a number of paths, want --witness=%d", name, count)
		}
	}
	return nil
}

// addWitness adds the witnesses that the flags ask for to the job. It returns a usage error if other flags contradict --witness.
func (c *checkCmd) addWitness(env *environment, job *runner.Job) error {
	if !c.Witness.isSet() {
		return env.refuseGivenFlags("without --witness", "misses", "subsystem", "export-subsystem", "export-witness")
	}
	switch {
	case job.Method != runner.States || c.Engine != native.Name:
		return usageError("--witness is for the state space of the native engine, want --method states --engine native")
	case c.Float:
		return usageError("--witness is exact, want it without --float")
	}
	job.Witness = &runner.Witness{Paths: int(c.Witness), Misses: c.Misses, Part: c.Subsystem}
	if c.ExportSubsystem == "" {
		return nil
	}
	if !c.Subsystem {
		return usageError("--export-subsystem has no effect without --subsystem")
	}
	job.Witness.Model = c.keepSubsystem
	return nil
}

// keepSubsystem stores the text of the critical subsystem, which exportSubsystem writes later. It returns an error if there is already another
// one.
func (c *checkCmd) keepSubsystem(modelText []byte) error {
	if c.subsystem != nil {
		return errors.New("--export-subsystem writes the subsystem of one violated bound, found several: want --select with one property")
	}
	c.subsystem = modelText
	return nil
}

// exportWitness writes the most probable path of the witness to a file. It returns an error if several properties have a witness, because the
// file has room for one.
func (c *checkCmd) exportWitness(ctx context.Context, env *environment, verdicts []result.Verdict) error {
	if c.ExportWitness == "" {
		return nil
	}
	var onlyWitness *result.Witness
	for i := range verdicts {
		witnesses := verdicts[i].Witnesses
		if len(witnesses) == 0 || len(witnesses[0].Paths) == 0 {
			continue
		}
		if onlyWitness != nil {
			return fmt.Errorf("%s was not written: several properties have a witness, want --select", c.ExportWitness)
		}
		onlyWitness = &witnesses[0]
	}
	if onlyWitness == nil {
		return env.notWritten(ctx, c.ExportWitness, "there is no path")
	}
	return c.outputs.write(env, c.ExportWitness, func(w io.Writer) error { return report.WitnessPath(w, onlyWitness) })
}

// notWritten returns the error that a file was not written, with the reason. After a limit or an interrupt, it returns nil and only prints a
// warning.
func (e *environment) notWritten(ctx context.Context, file, reason string) error {
	if ctx.Err() != nil {
		fmt.Fprintf(e.stderr, "warning: %s was not written\n", file)
		return nil
	}
	return fmt.Errorf("%s was not written: %s", file, reason)
}

// exportSubsystem writes the critical subsystem to a file, as a model. Before, it checks that this model violates the bound by itself.
func (c *checkCmd) exportSubsystem(ctx context.Context, env *environment, job runner.Job) error {
	if c.ExportSubsystem == "" {
		return nil
	}
	if c.subsystem == nil {
		return env.notWritten(ctx, c.ExportSubsystem, "no critical subsystem was found")
	}
	job.File, job.Model, job.Witness = c.ExportSubsystem, c.subsystem, nil
	verdicts, err := c.checkJob(ctx, env, job)
	if err != nil {
		return fmt.Errorf("check the part again: %w", err)
	}
	for i := range verdicts {
		verdict := &verdicts[i]
		if verdict.Err != nil && ctx.Err() != nil {
			return fmt.Errorf("%s was not written: check the part again: %w", c.ExportSubsystem, verdict.Err)
		}
		isViolated := verdict.Err == nil && verdict.Value.Kind == result.Boolean && !verdict.Value.Bool
		if isViolated {
			return c.outputs.write(env, c.ExportSubsystem, textWriter(string(c.subsystem)))
		}
	}
	return fmt.Errorf("%s was not written: the part by itself does not refute the bound; this is a bug: please report it", c.ExportSubsystem)
}
