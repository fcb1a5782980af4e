package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/alecthomas/kong"

	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// pathCount is how many paths are to be shown; 0 is none. The flag may stand alone.
type pathCount int

// defaultPaths is what the flag means alone, and maxPaths the most that it takes:
// every path is kept, with all its states.
const (
	defaultPaths = 3
	maxPaths     = 10_000
)

// IsBool tells kong that the flag needs no value.
func (*pathCount) IsBool() bool { return true }

// Decode reads "--witness" or "--witness=5".
func (n *pathCount) Decode(ctx *kong.DecodeContext) error {
	*n = defaultPaths
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := fmt.Sprint(ctx.Scan.Pop().Value)
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k > maxPaths {
		return fmt.Errorf("%q is no number of paths, want 1 to %d", text, maxPaths)
	}
	*n = pathCount(k)
	return nil
}

var _ kong.BoolMapperValue = (*pathCount)(nil)

// isSet reports whether paths are wanted.
func (n *pathCount) isSet() bool { return *n > 0 }

// refuseSeparatePathCount reports a number of paths that stands apart from its flag, where it was read as a
// file: --witness 2.
func (c *checkCmd) refuseSeparatePathCount() error {
	for _, name := range []string{c.ModelFile, c.PropsFile} {
		if k, err := strconv.Atoi(name); err == nil && c.Witness.isSet() && noSuchFile(name) {
			return usageError("%s: no such file; a number of paths stands behind =, want --witness=%d", name, k)
		}
	}
	return nil
}

// witness asks for witnesses.
func (c *checkCmd) witness(env *environment, job *runner.Job) error {
	if !c.Witness.isSet() {
		return env.refuseFlags(true, "without --witness", "misses", "subsystem", "export-subsystem", "export-witness")
	}
	switch {
	case job.Method != runner.States || c.Engine != native.Name:
		return usageError("--witness is for the state space of the native engine, want --method states --engine native")
	case c.ExportScheduler != "":
		return usageError("--witness and --export-scheduler exclude each other")
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
	job.Witness.Model = func(text []byte) error {
		if c.subsystem != nil {
			return fmt.Errorf("--export-subsystem writes one model, and there is another bound that is not kept")
		}
		c.subsystem = text
		return nil
	}
	return nil
}

// exportWitness writes the likeliest path of the only property that has one.
func (c *checkCmd) exportWitness(ctx context.Context, env *environment, verdicts []result.Verdict) error {
	if c.ExportWitness == "" {
		return nil
	}
	var found *result.Witness
	for i := range verdicts {
		list := verdicts[i].Witnesses
		if len(list) == 0 || len(list[0].Paths) == 0 {
			continue
		}
		if found != nil {
			return fmt.Errorf("%s was not written: several properties have a witness, want --select", c.ExportWitness)
		}
		found = &list[0]
	}
	if found == nil {
		return env.notWritten(ctx, c.ExportWitness, "there is no path")
	}
	return env.writeFile(c.ExportWitness, func(w io.Writer) error { return report.WitnessPath(w, found) })
}

// notWritten says why there is no file. What ended too early has told so in the verdicts.
func (e *environment) notWritten(ctx context.Context, file, why string) error {
	if ctx.Err() != nil {
		fmt.Fprintf(e.stderr, "warning: %s was not written\n", file)
		return nil
	}
	return fmt.Errorf("%s was not written: %s", file, why)
}

// exportSubsystem checks the part of the model that refutes a bound, and writes it.
func (c *checkCmd) exportSubsystem(ctx context.Context, env *environment, job runner.Job) error {
	if c.ExportSubsystem == "" {
		return nil
	}
	if c.subsystem == nil {
		return env.notWritten(ctx, c.ExportSubsystem, "no bound is refuted by a part of the model")
	}
	job.File, job.Model, job.Witness = c.ExportSubsystem, c.subsystem, nil
	verdicts, err := c.verdicts(ctx, env, job)
	if err != nil {
		return fmt.Errorf("check the part again: %w", err)
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Err != nil && ctx.Err() != nil {
			return fmt.Errorf("%s was not written: check the part again: %w", c.ExportSubsystem, v.Err)
		}
		if v.Err == nil && v.Value.Kind == result.Boolean && !v.Value.Bool {
			return env.writeFile(c.ExportSubsystem, textWriter(string(c.subsystem)))
		}
	}
	return fmt.Errorf("%s was not written: the part by itself does not refute the bound; this is a bug: please report it", c.ExportSubsystem)
}
