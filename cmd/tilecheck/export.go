package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/game/solve/draw"
	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/files/named"
	"tilecheck/prism/sema"
)

type exportCmd struct {
	spaceFlags   `embed:""`
	Output       []string `short:"o" help:"Files to write, repeatable: m.all (all files of PRISM), m.tra,sta,lab, m.pexp, m.dot, m.svg, m.drn, m.umb, each also with .gz; m.jani: the model, not its states; - is standard output." sep:"none" placeholder:"FILE" file:"some"`
	Formats      []string `help:"Formats, if --output has no extension: tra, sta, lab, srew, trew, pexp, dot, svg, drn, umb, all (default: tra)." placeholder:"FORMAT"`
	Props        string   `help:"Also write the labels of this properties file; into m.jani its properties." placeholder:"FILE" file:"in"`
	OnlyProps    bool     `name:"only-props-labels" rare:"" help:"Write only the labels of --props to .lab."`
	Rows         bool     `name:"distribution-rows" aliases:"rows" rare:"" help:"One line per distribution in .tra and .trew, as PRISM's option rows." xor:"layout"`
	Matlab       bool     `rare:"" help:"MATLAB code in .tra, .sta, .lab, .srew and .trew, as PRISM's option matlab." xor:"layout"`
	Symbolic     bool     `rare:"" help:"Write the order of choices and actions that PRISM has without -ex (its symbolic engines)."`
	NoActions    bool     `rare:"" help:"Write no actions; the transitions of a Markov chain to one target are then added up."`
	Precision    int      `help:"Significant digits of numbers, 1 to 17 (default: 16, as PRISM; 17 in DRN, 15 in DOT and SVG)." want:"[1,17]" placeholder:"N"`
	NoHeaders    bool     `rare:"" help:"No comments at the top of files."`
	NoValuations bool     `rare:"" help:"No values of variables in DOT, SVG, DRN and UMB."`
	Clocks       string   `rare:"" help:"For a PTA, whose MDP is written: clocks are digital or regions (default: digital)." enum:",digital,regions" default:"" placeholder:"METHOD"`

	timeFlag `embed:""`
}

// Run builds or reads the state space of the model and writes it to the files of --output.
func (c *exportCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	if slices.ContainsFunc(c.Output, isJANI) {
		return c.exportJANI(ctx, env)
	}
	if err := c.refuseFlagsOfExport(env); err != nil {
		return err
	}
	outputs, err := c.requestedOutputs()
	if err != nil {
		return err
	}
	if err := env.checkOutputs("--output", outputFiles(outputs, 0)...); err != nil {
		return err
	}
	space, labels, err := c.exportedSpace(ctx, env)
	if err != nil {
		return err
	}
	// Now the number of reward structures is known, and so are the names of all files.
	if err := env.checkOutputs("--output", outputFiles(outputs, len(space.Program().Rewards))...); err != nil {
		return err
	}
	env.warn(slices.Concat(space.Warnings(), embeddedWarning(space, outputs)))
	if numMerged := space.Merged(); numMerged > 0 && !env.quiet {
		fmt.Fprintf(env.stderr, "written without %s in the same state\n", noun.Count(numMerged, "duplicate choice"))
	}
	options, err := c.options(env, space, labels)
	if err != nil {
		return err
	}
	export := &exporter{env: env, space: space, onlyPropsLabels: c.OnlyProps, options: options}
	if err := export.writeOutputs(ctx, outputs...); err != nil {
		return err
	}
	env.noteWritten(export.writtenNames...)
	return nil
}

// embeddedWarning returns a warning if an output format has no exit rates and the model is a Markov automaton. Then the embedded MDP is written.
func embeddedWarning(space *explicit.Space, outputs []output) []string {
	if !space.Program().Model().IsMarkovAutomaton() {
		return nil
	}
	formats := formatsWithoutRates(outputs)
	if len(formats) == 0 {
		return nil
	}
	return []string{strings.Join(formats, ", ") + ": these formats have no exit rates, so the embedded MDP of the Markov automaton is written; drn and umb have them"}
}

// formatsWithoutRates returns the formats of the outputs that have no exit rates, each once.
func formatsWithoutRates(outputs []output) []string {
	var formats []string
	for _, target := range outputs {
		for _, format := range target.formats {
			if hasRates := format == "drn" || format == "umb"; !hasRates && !slices.Contains(formats, format) {
				formats = append(formats, format)
			}
		}
	}
	return formats
}

// refuseFlagsOfExport returns a usage error if the flags contradict each other.
func (c *exportCmd) refuseFlagsOfExport(env *environment) error {
	hasNoExtension := func(name string) bool { return name == "-" || !named.Is(name) }
	allHaveExtensions := len(c.Output) > 0 && !slices.ContainsFunc(c.Output, hasNoExtension)
	if err := env.refuseFlags(allHaveExtensions, "on outputs whose names have extensions", "formats"); err != nil {
		return err
	}
	if c.OnlyProps && c.Props == "" {
		return usageError("--only-props-labels is about the labels of --props, which is not given")
	}
	return nil
}

// options returns the options for writing the files. With --props, the files also contain the labels of the properties file. If these labels were
// already read, they are in labels; otherwise labels is nil.
func (c *exportCmd) options(env *environment, space *explicit.Space, labels *sema.Program) (files.Options, error) {
	options := files.Options{
		Program: labels, Precision: c.Precision, NoHeaders: c.NoHeaders, NoValuations: c.NoValuations, NoActions: c.NoActions, Symbolic: c.Symbolic, Zeros: true, Fractions: c.Exact,
	}
	switch {
	case c.Rows:
		options.Format = files.Rows
	case c.Matlab:
		options.Format = files.Matlab
	}
	if c.Props == "" || labels != nil {
		return options, nil
	}
	text, err := env.readSource(c.Props)
	if err != nil {
		return options, err
	}
	options.Program, err = files.WithLabels(space, dialect(c.Dialect), c.Props, text)
	return options, err
}

// output is one file, or several files whose names begin alike.
type output struct {
	baseName     string // "-" for standard output
	formats      []string
	zipExtension string // the last extension of the names if the files are compressed
}

// requestedOutputs returns the outputs of the flags --output and --formats.
func (c *exportCmd) requestedOutputs() ([]output, error) {
	formats, names := c.Formats, c.Output
	for _, format := range formats {
		if !named.IsFormat(format) {
			return nil, usageError("--formats: %q, want tra, sta, lab, srew, trew, pexp, dot, svg, drn, umb or all", format)
		}
	}
	if len(formats) == 0 {
		formats = []string{"tra"}
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	var outputs []output
	for _, name := range names {
		if files, ok := stateFiles(name); ok {
			outputs = append(outputs, files)
			continue
		}
		if name != "-" && len(c.Formats) == 0 {
			return nil, usageError("--output: %q %s, or .jani; --formats chooses for a name without an extension", name, wantStateFormat(name))
		}
		outputs = append(outputs, output{name, named.Expand(formats), ""})
	}
	return outputs, nil
}

// wantStateFormat returns the end of an error message about an output that has no extension of a file of states.
func wantStateFormat(name string) string {
	problem := "has no extension that names a format"
	if extension := filepath.Ext(name); extension != "" {
		problem = "has the extension " + extension + ", which is not a format of states"
	}
	return problem + ", want .tra, .sta, .lab, .srew, .trew, .pexp, .dot, .svg, .drn, .umb or .all"
}

// stateFiles returns the files of states that the name of an output stands for. It returns false if the name stands for none.
func stateFiles(name string) (output, bool) {
	zip := named.Zip(name)
	base, exts, ok := named.Split(strings.TrimSuffix(name, zip))
	return output{base, named.Expand(exts), zip}, ok
}

// outputFiles returns the names of all files that the outputs consist of. numRewards is the number of reward structures; 0 if it is not known yet.
func outputFiles(outputs []output, numRewards int) []string {
	var names []string
	for _, target := range outputs {
		for _, format := range target.formats {
			if target.baseName != "-" {
				names = append(names, named.Part(target.baseName, format, target.zipExtension, numRewards)...)
			}
		}
	}
	return names
}

// baseNames returns the base names of the outputs that consist of several files, such as m for m.tra and m.lab.
func baseNames(outputs []output) []string {
	var names []string
	for _, target := range outputs {
		if target.baseName != "-" && len(target.formats) > 1 && !slices.Contains(names, target.baseName) {
			names = append(names, target.baseName)
		}
	}
	return names
}

// exporter writes outputs of one space.
type exporter struct {
	env     *environment
	space   *explicit.Space
	options files.Options
	// writeFile writes one file of the set.
	writeFile     writeFile
	writtenNames  []string
	wroteToStdout bool // whether something was written to standard output

	onlyPropsLabels bool
}

// writeOutputs writes the files of all outputs: either all files or, after an error, none.
func (x *exporter) writeOutputs(ctx context.Context, outputs ...output) error {
	return x.env.writeSet(baseNames(outputs), func(write writeFile) error {
		x.writeFile = write
		for _, target := range outputs {
			if err := x.writeOutput(ctx, target); err != nil {
				return err
			}
		}
		return nil
	}, x.staleFiles(outputs)...)
}

// staleFiles returns the reward files of an earlier export that this export does not overwrite. They must be removed, because they would be read
// as rewards of the new model.
func (x *exporter) staleFiles(outputs []output) []string {
	var staleNames []string
	numRewards := x.numRewards()
	for _, target := range outputs {
		if target.baseName == "-" || len(target.formats) < 2 {
			continue
		}
		for _, format := range target.formats {
			if isRewardFormat(format) {
				staleNames = append(staleNames, named.Stale(target.baseName, format, target.zipExtension, numRewards)...)
			}
		}
	}
	return staleNames
}

// numRewards returns the number of reward structures that are written.
func (x *exporter) numRewards() int { return len(cmp.Or(x.options.Program, x.space.Program()).Rewards) }

// isRewardFormat reports whether a format has one file for each reward structure.
func isRewardFormat(format string) bool { return format == "srew" || format == "trew" }

// writeOutput writes a file for each format of an output. A reward format has a file for each reward structure.
func (x *exporter) writeOutput(ctx context.Context, target output) error {
	for _, format := range target.formats {
		numFiles := 1
		if isRewardFormat(format) {
			numFiles = x.numRewards()
		}
		names := slices.Repeat([]string{"-"}, numFiles)
		if target.baseName != "-" {
			names = named.Part(target.baseName, format, target.zipExtension, numFiles)
		}
		for i := range numFiles {
			if err := x.writeFormat(ctx, names[i], format, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFormat writes the state space in one format to a file, or to standard output if the name is "-". rewardIndex is the index of the reward structure;
// only reward formats use it.
func (x *exporter) writeFormat(ctx context.Context, name, format string, rewardIndex int) error {
	isCompressed := named.Zip(name) != ""
	outputFormat := named.Format{Name: format, Reward: rewardIndex, Zipped: isCompressed, OnlyLabels: x.onlyPropsLabels, Draw: draw.SVG}
	write, err := outputFormat.Writer(ctx, x.space, x.options)
	if err != nil {
		return err
	}
	if name != "-" {
		x.writtenNames = append(x.writtenNames, name)
		return x.writeFile(name, write)
	}
	if x.wroteToStdout { // an empty line separates the files
		if _, err := fmt.Fprintln(x.env.stdout); err != nil {
			return err
		}
	}
	x.wroteToStdout = true
	return write(x.env.stdout)
}
