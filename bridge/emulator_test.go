package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tilecheck/native"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// emulator stands in for Storm: it answers what it is asked by means of the
// embedded engine, in Storm's words, and knows no more operators than Storm
// does. What is asked is PRISM's language but for filter(values, …).
//
// Source of the forms: the transcripts of Storm 1.14 and its
// model-handling-main-cli.h.
type emulator struct {
	commands []runner.Command
}

func (*emulator) Where() string { return "an emulator" }

func (e *emulator) Run(ctx context.Context, c runner.Command) (runner.Exit, error) {
	e.commands = append(e.commands, c)
	fmt.Fprintf(c.Stdout, "Storm 1.14.0 (dev)\n\nDate: x\nCommand line arguments: %s\n\nTime for model input parsing: 0.002s.\n\n", strings.Join(c.Args, " "))
	r := &emulation{ctx: ctx, out: c.Stdout, exact: slices.Contains(c.Args, "--exact")}
	exit := runner.Exit{}
	for _, f := range c.Files {
		switch f.Name {
		case "model.prism":
			r.model = f.Data
		case "model.umb":
			r.umb = f.Data
		case "properties.props":
			r.props = f.Data
		}
	}
	if err := r.run(); err != nil {
		fmt.Fprintf(c.Stdout, "ERROR (storm-cli.cpp:49): An exception caused Storm to terminate. The message of the exception is: WrongFormatException: %v\n", err)
		exit.Code = 1
	}
	if slices.Contains(c.Args, "--exportresult") && r.exported != nil {
		exit.Files = []runner.File{{Name: "result.json", Data: r.exported}}
	}
	return exit, nil
}

type emulation struct {
	ctx          context.Context
	out          io.Writer
	model, props []byte
	umb          []byte // instead of the model; then no variable is known
	exact        bool
	exported     []byte
}

func (r *emulation) run() error {
	if r.umb == nil {
		if _, err := syntax.ParseModel("", r.model); err != nil {
			return err
		}
	}
	file, err := syntax.ParseProperties("", r.props)
	if err != nil {
		return err
	}
	var declarations strings.Builder
	for _, x := range file.Items {
		if p, ok := x.(*syntax.Property); ok {
			if name := variable(p.X); r.umb != nil && name != "" {
				return fmt.Errorf("Parsing error: %s is not known", name) //nolint:staticcheck // in Storm's words
			}
			fmt.Fprintf(r.out, "Model checking property \"%s\": %s ...\n", p.Name.Name, strings.ReplaceAll(syntax.ExprString(p.X), "\n", " "))
			if err := r.property(declarations.String(), p.X); err != nil {
				fmt.Fprintf(r.out, " WARN (model-handling-main-cli.h:242): Cannot handle property: NotSupportedException: %v\n"+
					"ERROR (model-handling-main-cli.h:188): Property is unsupported by selected engine/settings.\n\n", err)
			}
			continue
		}
		if err := syntax.Fprint(&declarations, x, syntax.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// variable returns the name of something in a property that is no constant.
func variable(x syntax.Expr) (name string) {
	syntax.Inspect(x, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && id != nil && !strings.HasPrefix(id.Name, "T") && !slices.Contains([]string{"multi", "min", "max"}, id.Name) {
			name = id.Name
		}
		return true
	})
	return name
}

// refused says which operators Storm lacks.
func refused(x syntax.Expr) (problem string) {
	syntax.Inspect(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Temporal:
			if n.Op == syntax.WeakUntil || n.Op == syntax.Release || n.Bound != nil && n.Op == syntax.Globally {
				problem = "the operator " + n.Op.String()
			}
			if n.Bound != nil && n.Bound.Low != nil && n.Op == syntax.Until {
				problem = "an until with a lower bound whose left side nobody is sure of"
				if b, ok := n.X.(*syntax.BoolLit); ok && b.Value {
					problem = ""
				}
			}
		case *syntax.Prob:
			u, ok := n.Path.(*syntax.Temporal)
			if ok && (u.X != nil && syntax.IsPath(u.X) || syntax.IsPath(u.Y)) {
				problem = "LTL, and Storm is compiled without Spot"
			}
		case *syntax.Quant, *syntax.Strategy:
			problem = "an operator of PRISM"
		case *syntax.Reward:
			if q, ok := n.Struct.(*syntax.Quoted); !ok || q.Name == "" {
				problem = "a reward structure without a name"
			}
		}
		return true
	})
	return problem
}

// forget forgets the lower bound of an until whose left side holds in no state
// on the way, as Storm does (SparseStepBoundedHorizonHelper.cpp: without states
// for its second phase it leaves this phase out).
func (r *emulation) forget(declarations string, x syntax.Expr) error {
	p, ok := x.(*syntax.Prob)
	if !ok {
		return nil
	}
	u, ok := p.Path.(*syntax.Temporal)
	if !ok || u.Op != syntax.Until || u.Bound == nil || u.Bound.Low == nil || u.Bound.High == nil {
		return nil
	}
	some := fmt.Sprintf("%sfilter(exists, (%s) & !P<=0 [ (%s) U<=%s (%s) ])", declarations,
		syntax.ExprString(u.X), syntax.ExprString(u.X), syntax.ExprString(u.Bound.High), syntax.ExprString(u.Y))
	vs, err := r.check([]string{some})
	if err == nil && !vs[0].Value.Bool && bytes.HasPrefix(r.model, []byte("ctmc")) {
		return fmt.Errorf("The uniformization rate must be positive.") //nolint:staticcheck // in Storm's words
	}
	if err == nil && !vs[0].Value.Bool {
		u.Bound.Low, u.Bound.Equal = nil, false
	}
	return err
}

// loopless refuses an R operator over a model with deadlocks, whose states would
// earn nothing.
func (r *emulation) loopless(x syntax.Expr) error {
	reward := false
	syntax.Inspect(x, func(n syntax.Node) bool {
		_, ok := n.(*syntax.Reward)
		reward = reward || ok
		return true
	})
	if !reward || r.umb != nil { // whose deadlocks have loops that earn
		return nil
	}
	space, err := build(r.ctx, r.model)
	if err == nil && space.Model().Deadlocks != nil && bytes.Contains(r.model, []byte("  true : ")) {
		err = fmt.Errorf("a deadlock that earns nothing")
	}
	return err
}

func (r *emulation) property(declarations string, x syntax.Expr) error {
	f, filter := x.(*syntax.Filter)
	asked := x
	if filter {
		asked = f.X
	}
	if err := r.loopless(asked); err != nil {
		return err
	}
	if err := r.forget(declarations, asked); err != nil {
		return err
	}
	if problem := refused(asked); problem != "" && !strings.HasPrefix(problem, "an until") {
		return fmt.Errorf("no checker for %s", problem)
	}
	if !filter {
		v, err := r.check([]string{declarations + syntax.ExprString(x)})
		if err != nil {
			return err
		}
		fmt.Fprintf(r.out, "Result (for initial states): %s\n", r.show(v[0].Value))
		return nil
	}
	return r.values(declarations, f)
}

func (r *emulation) check(props []string) ([]result.Verdict, error) {
	job := runner.Job{Model: r.model, Props: props}
	if r.umb != nil {
		given, err := files.Open(r.ctx, files.Sources{Transitions: files.Source{Name: "model.umb", Text: r.umb}}, "umb", files.ReadOptions{})
		if err != nil {
			return nil, err
		}
		job.States = given
	}
	if r.exact {
		job.Numeric.Accuracy = result.Exact
	}
	vs, err := runner.Check(r.ctx, native.New(), job)
	if err != nil {
		return nil, err
	}
	for _, v := range vs {
		if v.Err != nil {
			return nil, v.Err
		}
	}
	return vs, nil
}

func (r *emulation) show(v result.Value) string {
	number := func(x float64) string {
		if math.IsInf(x, 1) {
			return "inf"
		}
		return fmt.Sprintf("%.10g", x)
	}
	switch {
	case v.Kind == result.Boolean:
		return fmt.Sprint(v.Bool)
	case v.Kind == result.Range:
		return fmt.Sprintf("[%s, %s] (range)", number(v.Num), number(v.Hi))
	case v.Rat != nil && r.exact:
		return fmt.Sprintf("%s (approx. %s)", v.Rat.RatString(), number(v.Num))
	}
	return number(v.Num)
}

// values answers filter(values, …): the value of each state that satisfies the
// second argument, in the order in which they were found.
func (r *emulation) values(declarations string, f *syntax.Filter) error {
	if f.Op != "values" {
		return fmt.Errorf("found filter type %s", f.Op)
	}
	space, err := r.build()
	if err != nil {
		return err
	}
	initial := make(map[int]bool)
	for _, s := range space.Model().Initial {
		initial[int(s)] = true
	}
	var props []string
	vars := space.Program().Vars
	states := make([][]int32, space.Model().NumStates())
	for i := range states {
		states[i] = slices.Clone(space.State(nil, i))
		at := valuation(vars, states[i])
		props = append(props,
			fmt.Sprintf("%sfilter(state, %s, %s)", declarations, syntax.ExprString(f.States), at),
			fmt.Sprintf("%sfilter(state, %s, %s)", declarations, syntax.ExprString(f.X), at))
	}
	vs, err := r.check(props)
	if err != nil {
		return err
	}
	type entry struct {
		L []string       `json:"l"`
		S map[string]any `json:"s"`
		V any            `json:"v"`
	}
	var entries []entry
	var printed []string
	for i, state := range states {
		if !vs[2*i].Value.Bool {
			continue
		}
		v := vs[2*i+1].Value
		e := entry{L: []string{}, S: make(map[string]any), V: v.Num}
		switch {
		case v.Kind == result.Boolean:
			e.V = v.Bool
		case math.IsInf(v.Num, 0) || math.IsNaN(v.Num):
			e.V = nil
		}
		if initial[i] {
			e.L = []string{"init"}
		}
		for k, x := range vars {
			if e.S[x.Name] = state[k]; x.Type == sema.Bool {
				e.S[x.Name] = state[k] != 0
			}
		}
		entries = append(entries, e)
		printed = append(printed, r.show(v))
	}
	if r.exported, err = json.Marshal(entries); err != nil {
		return err
	}
	text := "{" + strings.Join(printed, ", ") + "}"
	if len(printed) >= 10 {
		text = "[0, 1] (range)" // which nobody is to read
	}
	if r.exact {
		fmt.Fprint(r.out, " WARN (JsonAdapter.cpp:56): Inaccurate JSON export: The number 1/3 will be exported as 0.333. In total, 1 of 2 numbers are inaccurate.\n")
	}
	_, err = fmt.Fprintf(r.out, "Result (for '%s' states): %s\n", strings.ReplaceAll(syntax.ExprString(f.States), "'", ""), text)
	return err
}

func (r *emulation) build() (*explicit.Space, error) {
	if r.umb != nil {
		return files.ReadUMB(r.ctx, files.Source{Name: "model.umb", Text: r.umb}, files.ReadOptions{})
	}
	return build(r.ctx, r.model)
}

func build(ctx context.Context, model []byte) (*explicit.Space, error) {
	tree, err := syntax.ParseModel("", model)
	if err != nil {
		return nil, err
	}
	m, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	prog, err := m.Instantiate(nil)
	if err != nil {
		return nil, err
	}
	compiled, err := compile.Compile(prog, compile.Options{})
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, compiled, explicit.Options{})
}

func valuation(vars []sema.Variable, state []int32) string {
	var parts []string
	for i, v := range vars {
		switch {
		case v.Type == sema.Bool && state[i] != 0:
			parts = append(parts, v.Name)
		case v.Type == sema.Bool:
			parts = append(parts, "!"+v.Name)
		default:
			parts = append(parts, fmt.Sprintf("%s=%d", v.Name, state[i]))
		}
	}
	return "(" + strings.Join(parts, " & ") + ")"
}
