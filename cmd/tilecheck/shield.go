package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tilecheck/native"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/explain/shield"
	"tilecheck/native/load"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
	digits "tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
)

type shieldCmd struct {
	ModelFile       string       `arg:"" name:"model" help:"PRISM model, or - for standard input." file:"in"`
	Property        string       `arg:"" help:"The probability to keep: 'Pmax=? [ F goal ]', 'Pmin=? [ ... ]'."`
	Const           []string     `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	Threshold       *fraction    `required:"" help:"Loss that is allowed, against the best choice of the state: 0.05 or 1/20." placeholder:"D"`
	Relative        bool         `help:"The threshold is a share of the best value."`
	Total           bool         `help:"The threshold is for the loss of a whole path, which is proven."`
	Output          string       `short:"o" help:"Write the shield: .prism, a model that cannot do anything else, its states (.all, .umb, ...), or .json, Storm's format of schedulers." placeholder:"FILE" file:"some"`
	ExportScheduler string       `help:"Write the worst scheduler that obeys (FILE:type=indices, ...)." placeholder:"FILE" file:"target"`
	States          int          `name:"list" aliases:"states" help:"States to list." default:"10" want:"[0,]" placeholder:"N"`
	MaxStates       int          `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory          byteCount    `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Format          table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// fraction is a number that is not negative, as it is written.
type fraction struct{ big.Rat }

// UnmarshalText reads "0.05", "1e-3" or "1/20".
func (f *fraction) UnmarshalText(text []byte) error {
	if len(text) > 64 {
		return errors.New("too long a number")
	}
	if i := strings.IndexAny(string(text), "eE"); i >= 0 {
		if e, err := strconv.Atoi(string(text[i+1:])); err != nil || e < -1000 || e > 1000 {
			return fmt.Errorf("%q is no number of a fitting size", text)
		}
	}
	if _, ok := f.SetString(string(text)); !ok || f.Sign() < 0 {
		return fmt.Errorf("%q is no number of at least 0", text)
	}
	return nil
}

// Run computes the shield, and what it promises.
func (c *shieldCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	outputs := []string{c.Output}
	if o, ok := stateFiles(c.Output); ok {
		outputs = namesOf([]output{o}, 0)
	} else if ext := filepath.Ext(c.Output); c.Output != "" && ext != ".prism" && ext != ".json" {
		return usageError("-o is %q, want a file .prism or .json, or files of states, such as .all or .umb", c.Output)
	}
	if err := env.places.with("--output", outputs...).check(); err != nil {
		return err
	}
	if c.ExportScheduler != "" {
		if _, format, _, err := scheduler.ParseTarget(c.ExportScheduler); err != nil {
			return usageError("--export-scheduler: %w", err)
		} else if format == scheduler.Tree {
			return usageError("--export-scheduler: found type=tree, which keeps a value and not what is allowed, want one of PRISM's or json")
		}
	}
	text, err := env.readSource(c.ModelFile)
	if err != nil {
		return err
	}
	start := time.Now()
	q, tree, err := c.question(ctx, env, c.ModelFile, text)
	if err != nil {
		return err
	}
	x, err := shield.New(ctx, q, &shield.Options{Threshold: &c.Threshold.Rat, Relative: c.Relative, Total: c.Total})
	if err != nil {
		return err
	}
	p, err := x.Promise(ctx)
	if err != nil {
		return err
	}
	written, err := c.files(ctx, env, x, p, tree)
	return errors.Join(c.print(env, x, p, written, time.Since(start)), err)
}

// files writes the files that were asked for, and returns the names of those that it has written.
func (c *shieldCmd) files(ctx context.Context, env *world, x *shield.Shield, p *shield.Promise, tree *syntax.Model) (written []string, err error) {
	if c.Output != "" {
		if written, err = c.write(ctx, env, x, p, tree); err != nil {
			return nil, err
		}
	}
	if c.ExportScheduler != "" {
		file, err := c.writeScheduler(ctx, env, x, p)
		if err != nil {
			return written, err
		}
		written = append(written, file)
	}
	return written, nil
}

// question reads the model, and finds what the property asks of its states.
func (c *shieldCmd) question(ctx context.Context, env *world, file string, text []byte) (*shield.Question, *syntax.Model, error) {
	job := runner.Job{
		File: file, Model: text, Props: []string{c.Property}, PropNames: []string{"property"}, Consts: c.Const,
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory), Accuracy: result.Exact}},
	}
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, nil, mistaken(err, &job)
	}
	_, instances, err := plan.Instances()
	if err != nil {
		return nil, nil, err
	}
	if len(instances) != 1 {
		return nil, nil, usageError("found %d properties, want one for a shield", len(instances))
	}
	progress, done := env.progress()
	defer done()
	space, err := load.Space(ctx, plan.WithOutputs(func(o *runner.Outputs) { o.Progress = progress }))
	if err != nil {
		return nil, nil, outOfStates(err)
	}
	instances[0].Text = c.Property // as it was given, for errors
	q, err := native.ShieldQuestion(ctx, space, &instances[0])
	return q, plan.Tree, err
}

// writeScheduler writes the worst scheduler that obeys, which has to attain what is promised, as one of the whole model.
func (c *shieldCmd) writeScheduler(ctx context.Context, env *world, x *shield.Shield, p *shield.Promise) (string, error) {
	file, format, opts, err := scheduler.ParseTarget(c.ExportScheduler)
	if err != nil {
		return "", err
	}
	if err := x.ConfirmScheduler(ctx, p); err != nil {
		return "", unconfirmed(file, err)
	}
	return file, env.writeFile(file, func(w io.Writer) error {
		return scheduler.Write(ctx, w, x.Space, scheduler.Scheduler{p.Obeying}, format, opts)
	})
}

// unconfirmed is the error of a file that is not written since it does not have the values that are promised.
func unconfirmed(file string, err error) error {
	if _, broken := errors.AsType[*shield.BrokenPromise](err); broken {
		return fmt.Errorf("%s was not written: %w; this is a bug: please report it", file, err)
	}
	return err
}

// write writes the shield, and returns the names of its files. A model is read and solved again before: it has to have the
// values that are promised.
func (c *shieldCmd) write(ctx context.Context, env *world, x *shield.Shield, p *shield.Promise, tree *syntax.Model) ([]string, error) {
	if filepath.Ext(c.Output) == ".json" {
		return []string{c.Output}, env.writeFile(c.Output, func(w io.Writer) error { return x.JSON(ctx, w) })
	}
	if o, ok := stateFiles(c.Output); ok {
		return c.writeStates(ctx, env, x, o)
	}
	text, err := x.Model(ctx, tree)
	if err != nil {
		return nil, err
	}
	q, _, err := c.question(ctx, env, c.Output, text)
	if err != nil {
		return nil, fmt.Errorf("check the shielded model: %w", err)
	}
	if err := p.Confirm(ctx, q); err != nil {
		return nil, unconfirmed(c.Output, err)
	}
	return []string{c.Output}, env.writeFile(c.Output, textWriter(string(text)))
}

// writeStates writes files of the states, with the choices that are allowed.
func (c *shieldCmd) writeStates(ctx context.Context, env *world, x *shield.Shield, o output) ([]string, error) {
	left, err := x.Space.Restrict(x.Allowed)
	if err != nil {
		return nil, err
	}
	if err := env.places.with("--output", namesOf([]output{o}, len(left.Program().Rewards))...).check(); err != nil {
		return nil, err
	}
	w := &exporter{env: env, space: left.WithoutFractions(), opts: files.Options{Precision: files.MaxPrecision, Zeros: true}}
	err = w.write(ctx, o)
	return w.wrote, err
}

// print prints what the shield promises and how permissive it is, and some of its states.
func (c *shieldCmd) print(env *world, x *shield.Shield, p *shield.Promise, written []string, elapsed time.Duration) error {
	t := &table.Facts{Title: "Shield of " + c.ModelFile}
	f := x.Figures()
	t.Add(table.Column{Field: "model"}, c.ModelFile, nil)
	t.Add(table.Column{Name: "property"}, c.Property, nil)
	t.Add(table.Column{Name: "threshold"}, fractionCell(&c.Threshold.Rat), map[bool]string{true: "relative", false: "absolute"}[c.Relative])
	switch {
	case !c.Total: // that of a choice is the threshold
		t.Add(table.Column{Field: "choice_loss"}, fractionCell(&c.Threshold.Rat), nil)
	case x.Loss != nil:
		t.Add(table.Column{Name: "loss of a choice", Field: "choice_loss"}, fractionCell(x.Loss), "the greatest for which the worst scheduler keeps the threshold")
	default:
		t.Add(table.Column{Name: "loss of a choice", Field: "choice_loss"}, table.Cell{Text: "none"}, "only a best scheduler keeps the threshold")
	}
	t.Add(table.Column{Name: "best", Field: "best_value"}, probabilityCell(p.Best), "of the schedulers that obey; it is that of the model")
	t.Add(table.Column{Name: "worst", Field: "worst_value"}, probabilityCell(p.Worst), "of the schedulers that obey: this is what is promised")
	t.Add(table.Column{Name: "uniform", Field: "uniform_value"}, probabilityCell(p.Uniform), "choices that are allowed equally likely")
	t.Add(table.Column{Name: "uniform without", Field: "unshielded_uniform_value"}, probabilityCell(p.Free), "all choices equally likely, no shield")
	t.Add(table.Column{Name: "states"}, f.States, "reached under the shield")
	t.Add(table.Column{Name: "deciding states", Field: "deciding_states"}, f.Deciding, "of these, with several choices")
	t.Add(table.Column{Name: "restricted states", Field: "restricted_states"}, f.Restricted, "of these, where a choice is not allowed")
	t.Add(table.Column{Name: "choices"}, f.Choices, "of the deciding states")
	t.Add(table.Column{Name: "allowed", Field: "allowed_choices"}, f.Allowed, "of these, allowed")
	t.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, nil)
	if len(written) > 0 {
		t.Notes = append(t.Notes, "wrote "+strings.Join(written, ", "))
	}
	t.Notes = append(t.Notes, x.Space.Warnings()...)
	env.printing()
	if err := t.Write(env.stdout, c.Format, env.reportOptions()); err != nil || c.States == 0 || c.Format != table.Text && c.Format != table.Markdown {
		return err
	}
	if _, err := fmt.Fprintln(env.stdout); err != nil {
		return err
	}
	return c.states(x).Write(env.stdout, c.Format, env.reportOptions())
}

// fractionCell shows a number with its digits; programs get it as a double.
func fractionCell(r *big.Rat) table.Cell {
	f, _ := r.Float64()
	return table.Cell{Text: digits.Of(f, 0).Format(f, 0), Value: f}
}

// probabilityCell shows a probability with the digits that are known.
func probabilityCell(n shield.Number) table.Cell {
	if n.Exact != nil {
		return fractionCell(n.Exact)
	}
	f := n.Value()
	return table.Cell{Text: digits.Of(f, (n.Upper-n.Lower)/2).Format(f, 0), Value: f}
}

// states lists the first states in which something is not allowed.
func (c *shieldCmd) states(x *shield.Shield) *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "state"}, {Name: "action"}, {Name: "value", Align: table.Right}, {Name: "allowed", Field: "allowed_choices"}, {Name: "instead"},
	}}
	m := x.Space.Model()
	listed, more := 0, 0
	for _, s := range x.Space.Order() {
		first, end := m.Choices(int(s))
		restricted := false
		for i := first; i < end; i++ {
			restricted = restricted || !x.Allowed.Has(i)
		}
		switch {
		case !restricted:
			continue
		case listed == c.States:
			more++
			continue
		}
		listed++
		name := x.Space.Compiled().StateText(x.Space.State(nil, int(s)))
		for i := first; i < end; i++ {
			allowed, instead := "yes", ""
			if !x.Allowed.Has(i) {
				allowed, instead = "no", choiceText(x, x.Correction(int(s), i))
			}
			t.Append(name, choiceText(x, i), probabilityCell(x.Of(i)).Text, allowed, instead)
			name = ""
		}
	}
	if more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more states in which a choice is not allowed", more))
	}
	return t
}

func choiceText(x *shield.Shield, c int) string {
	if name := x.Action(c); name != "" {
		return name
	}
	return "choice " + strconv.Itoa(c)
}
