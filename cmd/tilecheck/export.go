package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/atomicfile"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

type exportCmd struct {
	spaceFlags   `embed:""`
	Output       []string `short:"o" help:"Files to write, as PRISM's -exportmodel: model.all, model.tra,sta,lab,srew,trew, model.pexp, model.dot, model.drn, with .gz behind it compressed; with --formats the name without extension; - for standard output. Repeatable." sep:"none" placeholder:"FILE"`
	Formats      []string `help:"Formats of outputs without an extension: tra, sta, lab, srew, trew, pexp, dot, drn, or all for the first five (default: tra)." placeholder:"FORMAT"`
	Props        string   `help:"Properties file whose labels are written, too." placeholder:"FILE"`
	OnlyProps    bool     `name:"only-props-labels" help:"No labels in .lab but those of --props."`
	Rows         bool     `help:"One line per distribution in .tra and .trew, as PRISM's option rows." xor:"layout"`
	Matlab       bool     `help:"MATLAB code in .tra, .sta, .lab, .srew and .trew, as PRISM's option matlab." xor:"layout"`
	Symbolic     bool     `help:"Write what PRISM writes without -ex: its symbolic engines have choices and actions in another order."`
	NoActions    bool     `help:"No actions. Transitions of a Markov chain with one target are added up."`
	Precision    int      `help:"Significant digits of numbers, 1 to 17 (default: 16, as PRISM; 17 in DRN)." placeholder:"N"`
	NoHeaders    bool     `help:"No comments at the top of files."`
	NoValuations bool     `help:"No values of variables in DOT and DRN."`
}

// Run writes the files.
func (c *exportCmd) Run(ctx context.Context, env *world) error {
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	if c.Precision < 0 || c.Precision > files.MaxPrecision {
		return usageError("--precision is %d, want 1 to %d significant digits", c.Precision, files.MaxPrecision)
	}
	if c.OnlyProps && c.Props == "" {
		return usageError("--only-props-labels is about the labels of --props, which is not there")
	}
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	for _, w := range space.Warnings() {
		fmt.Fprintf(env.stderr, "warning: %s\n", w)
	}
	x := &exporter{env: env, space: space, onlyProps: c.OnlyProps, opts: files.Options{
		Precision: c.Precision, NoHeaders: c.NoHeaders, NoValuations: c.NoValuations, NoActions: c.NoActions, Symbolic: c.Symbolic,
	}}
	switch {
	case c.Rows:
		x.opts.Format = files.Rows
	case c.Matlab:
		x.opts.Format = files.Matlab
	}
	if c.Props != "" {
		if x.opts.Program, err = c.withLabels(env, space); err != nil {
			return err
		}
	}
	for _, o := range outputs {
		if err := x.write(ctx, o); err != nil {
			return err
		}
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
		if !isFormat(f) {
			return nil, usageError("--formats: %q, want tra, sta, lab, srew, trew, pexp, dot, drn or all", f)
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
		zip := zipOf(name)
		base, exts, ok := splitFormats(strings.TrimSuffix(name, zip))
		switch {
		case ok:
			out = append(out, output{base, expand(exts), zip})
		case name != "-" && len(c.Formats) == 0:
			return nil, usageError("--output: %q has no extension that names a format, want .tra, .sta, .lab, .srew, .trew, .pexp, .dot, .drn or .all, or --formats", name)
		default:
			out = append(out, output{name, expand(formats), ""})
		}
	}
	return out, nil
}

// expand replaces "all" by what it stands for.
func expand(formats []string) []string {
	var out []string
	for _, f := range formats {
		some := []string{f}
		if f == "all" {
			some = []string{"tra", "sta", "lab", "srew", "trew"}
		}
		for _, g := range some {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}

// withLabels resolves the labels of the properties file.
func (c *exportCmd) withLabels(env *world, space *explicit.Space) (*sema.Program, error) {
	src, err := env.readSource(c.Props)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.ParseProperties(c.Props, src)
	if err != nil {
		return nil, err
	}
	props, err := space.Program().Model().CheckProperties(tree)
	if err != nil {
		return nil, err
	}
	_, full, err := props.Instantiate(space.Program(), []int{}, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range props.Labels() {
		if !slices.ContainsFunc(full.Labels, func(l sema.LabelDef) bool { return l.Name == name }) {
			return nil, fmt.Errorf("%s: label %q depends on a constant without a value, want one in the file", c.Props, name)
		}
	}
	return full, nil
}

// exporter writes outputs of one space.
type exporter struct {
	env   *world
	space *explicit.Space
	opts  files.Options
	wrote []string
	some  bool // whether standard output has something

	onlyProps bool
}

func (x *exporter) write(ctx context.Context, o output) error {
	for _, format := range o.formats {
		n := 1
		if format == "srew" || format == "trew" {
			n = len(x.space.Program().Rewards)
		}
		for i := range n {
			number := ""
			if n > 1 {
				number = strconv.Itoa(i + 1)
			}
			if err := x.file(ctx, o, number+"."+format, format, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// file writes one file; to standard output, with an empty line between them.
func (x *exporter) file(ctx context.Context, o output, ext, format string, reward int) error {
	write, err := x.writer(ctx, format, reward)
	if err != nil {
		return err
	}
	if o.base != "-" {
		name := o.base + ext + o.zip
		x.wrote = append(x.wrote, name)
		if o.zip != "" {
			write = zipped(write)
		}
		return atomicfile.Write(name, write)
	}
	if x.some {
		if _, err := fmt.Fprintln(x.env.stdout); err != nil {
			return err
		}
	}
	x.some = true
	return write(x.env.stdout)
}

// zipped compresses what a function writes.
func zipped(write func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		z := gzip.NewWriter(out)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

func (x *exporter) writer(ctx context.Context, format string, reward int) (func(io.Writer) error, error) {
	opts := x.opts
	if opts.Precision == 0 && format == "drn" {
		opts.Precision = files.MaxPrecision
	}
	w, err := files.NewWriter(x.space, opts)
	if err != nil {
		return nil, err
	}
	return func(out io.Writer) error {
		switch format {
		case "sta":
			return w.States(ctx, out)
		case "lab":
			if x.onlyProps {
				return w.PropertyLabels(ctx, out)
			}
			return w.Labels(ctx, out)
		case "pexp":
			return w.Combined(ctx, out)
		case "srew":
			return w.StateRewards(ctx, out, reward)
		case "trew":
			return w.TransitionRewards(ctx, out, reward)
		case "dot":
			return w.DOT(ctx, out)
		case "drn":
			return w.DRN(ctx, out)
		}
		return w.Transitions(ctx, out)
	}, nil
}
