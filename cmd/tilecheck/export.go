package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/native/space/files/named"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

type exportCmd struct {
	spaceFlags   `embed:""`
	Output       []string `short:"o" help:"Files to write, repeatable: m.all, m.tra,sta,lab,srew,trew, m.pexp, m.dot, m.drn, m.umb, each also with .gz, or m.jani for the model itself; a name for --formats; - for standard output." sep:"none" placeholder:"FILE" file:"some"`
	Formats      []string `help:"Formats of outputs without an extension: tra, sta, lab, srew, trew, pexp, dot, drn, umb, all (default: tra)." placeholder:"FORMAT"`
	Props        string   `help:"Properties file whose labels are written, too; in m.jani its properties." placeholder:"FILE" file:"in"`
	OnlyProps    bool     `name:"only-props-labels" rare:"" help:"No labels in .lab but those of --props."`
	Rows         bool     `name:"distribution-rows" aliases:"rows" rare:"" help:"One line per distribution in .tra and .trew, as PRISM's option rows." xor:"layout"`
	Matlab       bool     `rare:"" help:"MATLAB code in .tra, .sta, .lab, .srew and .trew, as PRISM's option matlab." xor:"layout"`
	Symbolic     bool     `rare:"" help:"Write what PRISM writes without -ex: its symbolic engines have choices and actions in another order."`
	NoActions    bool     `rare:"" help:"No actions. Transitions of a Markov chain with one target are added up."`
	Precision    int      `help:"Significant digits of numbers, 1 to 17 (default: 16, as PRISM; 17 in DRN)." want:"[1,17]" placeholder:"N"`
	NoHeaders    bool     `rare:"" help:"No comments at the top of files."`
	NoValuations bool     `rare:"" help:"No values of variables in DOT, DRN and UMB."`

	timeFlag `embed:""`
}

// Run writes the files.
func (c *exportCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	if slices.ContainsFunc(c.Output, isJANI) {
		return c.jani(ctx, env)
	}
	named := len(c.Output) > 0 && !slices.ContainsFunc(c.Output, func(name string) bool { return name == "-" || !named.Is(name) })
	if err := env.without(named, "on outputs whose names have extensions", "formats"); err != nil {
		return err
	}
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	if c.OnlyProps && c.Props == "" {
		return usageError("--only-props-labels is about the labels of --props, which is not there")
	}
	if err := env.places.with("--output", namesOf(outputs, 0)...).check(); err != nil {
		return err
	}
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	if err := env.places.with("--output", namesOf(outputs, len(space.Program().Rewards))...).check(); err != nil {
		return err
	}
	for _, w := range space.Warnings() {
		fmt.Fprintf(env.stderr, "warning: %s\n", w)
	}
	if n := space.Merged(); n > 0 && !env.quiet {
		fmt.Fprintf(env.stderr, "written without %d choices that repeat another one of their state\n", n)
	}
	x := &exporter{env: env, space: space, onlyProps: c.OnlyProps, opts: files.Options{
		Precision: c.Precision, NoHeaders: c.NoHeaders, NoValuations: c.NoValuations, NoActions: c.NoActions, Symbolic: c.Symbolic, Zeros: true, Fractions: c.Exact,
	}}
	switch {
	case c.Rows:
		x.opts.Format = files.Rows
	case c.Matlab:
		x.opts.Format = files.Matlab
	}
	if c.Props != "" {
		src, err := env.readSource(c.Props)
		if err != nil {
			return err
		}
		if x.opts.Program, err = files.WithLabels(space, c.Props, src); err != nil {
			return err
		}
	}
	if err := x.write(ctx, outputs...); err != nil {
		return err
	}
	if len(x.wrote) > 0 && !env.quiet {
		fmt.Fprintf(env.stderr, "wrote %s\n", strings.Join(x.wrote, ", "))
	}
	return nil
}

// output is one file, or several with one base.
type output struct {
	base    string // "-" for standard output
	formats []string
	zip     string // what the names end with if the files are compressed
}

// outputs checks the names and formats.
func (c *exportCmd) outputs() ([]output, error) {
	formats := c.Formats
	for _, f := range formats {
		if !named.IsFormat(f) {
			return nil, usageError("--formats: %q, want tra, sta, lab, srew, trew, pexp, dot, drn, umb or all", f)
		}
	}
	if len(formats) == 0 {
		formats = []string{"tra"}
	}
	names := c.Output
	if len(names) == 0 {
		names = []string{"-"}
	}
	var out []output
	for _, name := range names {
		o, ok := stateFiles(name)
		switch {
		case ok:
			out = append(out, o)
		case name != "-" && len(c.Formats) == 0:
			return nil, usageError("--output: %q has no extension that names a format, want .tra, .sta, .lab, .srew, .trew, .pexp, .dot, .drn, .umb, .all or .jani, or --formats", name)
		default:
			out = append(out, output{name, named.Expand(formats), ""})
		}
	}
	return out, nil
}

// stateFiles reports whether a name is one of files of states, and which.
func stateFiles(name string) (output, bool) {
	zip := named.Zip(name)
	base, exts, ok := named.Split(strings.TrimSuffix(name, zip))
	return output{base, named.Expand(exts), zip}, ok
}

// namesOf lists the files of outputs; n is the number of reward structures, 0 if
// it is not known.
func namesOf(outputs []output, n int) []string {
	var names []string
	for _, o := range outputs {
		for _, format := range o.formats {
			if o.base != "-" {
				names = append(names, named.Part(o.base, format, o.zip, n)...)
			}
		}
	}
	return names
}

// setsOf lists the names of those outputs that are several files.
func setsOf(outputs []output) []string {
	var names []string
	for _, o := range outputs {
		if o.base != "-" && len(o.formats) > 1 && !slices.Contains(names, o.base) {
			names = append(names, o.base)
		}
	}
	return names
}

// exporter writes outputs of one space.
type exporter struct {
	env   *world
	space *explicit.Space
	opts  files.Options
	// writeFile writes one file of the set.
	writeFile writeFile
	wrote     []string
	some      bool // whether standard output has something

	onlyProps bool
}

// write writes the files of outputs, all or none.
func (x *exporter) write(ctx context.Context, outputs ...output) error {
	return x.env.writeSet(setsOf(outputs), func(write writeFile) error {
		x.writeFile = write
		for _, o := range outputs {
			if err := x.output(ctx, o); err != nil {
				return err
			}
		}
		return nil
	}, x.stale(outputs)...)
}

// stale lists the files with rewards of an older set of the same name that the new one does not have: who reads the set would
// take them for rewards of the new model.
func (x *exporter) stale(outputs []output) []string {
	var out []string
	n := len(x.space.Program().Rewards)
	for _, o := range outputs {
		if o.base == "-" || len(o.formats) < 2 {
			continue
		}
		for _, format := range o.formats {
			if format == "srew" || format == "trew" {
				out = append(out, named.Stale(o.base, format, o.zip, n)...)
			}
		}
	}
	return out
}

func (x *exporter) output(ctx context.Context, o output) error {
	for _, format := range o.formats {
		n := 1
		if format == "srew" || format == "trew" {
			n = len(x.space.Program().Rewards)
		}
		for i := range n {
			name := "-"
			if o.base != "-" {
				name = named.Part(o.base, format, o.zip, n)[i]
			}
			if err := x.file(ctx, name, format, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// file writes one file; to standard output, with an empty line between them.
func (x *exporter) file(ctx context.Context, name, format string, reward int) error {
	f := named.Format{Name: format, Reward: reward, Zipped: named.Zip(name) != "", OnlyLabels: x.onlyProps}
	write, err := f.Writer(ctx, x.space, x.opts)
	if err != nil {
		return err
	}
	if name != "-" {
		x.wrote = append(x.wrote, name)
		return x.writeFile(name, write)
	}
	if x.some {
		if _, err := fmt.Fprintln(x.env.stdout); err != nil {
			return err
		}
	}
	x.some = true
	return write(x.env.stdout)
}
