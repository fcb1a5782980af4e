package bridge

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
	"tilecheck/parse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// States reads the states of a model as the tool builds them, under one
// valuation of its constants.
func (e *Engine) States(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.Space, error) {
	if plan.Job.States != nil {
		return nil, fmt.Errorf("%s builds no states of files", e.Name())
	}
	return e.tool.states(ctx, e, plan, v)
}

// exported is what the files of an export are called.
const exported = "model"

// states has PRISM's explicit engine write its states and transitions.
func (prism) states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.Space, error) {
	args := []string{modelFile, "-explicit", "-exportmodel", exported + ".tra,sta,lab", "-exportmodelprecision", "17"}
	args = append(args, constSwitch("-const", runner.Constants(v))...)
	if plan.Job.NoFixDeadlocks {
		args = append(args, "-nofixdl")
	}
	tra, sta, lab := exported+".tra", exported+".sta", exported+".lab"
	got, err := e.collect(ctx, plan.Job.Model, args, tra, sta, lab)
	if err != nil {
		return nil, err
	}
	return files.Read(ctx, files.Sources{Transitions: *got[tra], States: got[sta], Labels: got[lab]}, files.ReadOptions{})
}

// states has Storm write its states with their valuations.
func (storm) states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.Space, error) {
	var text bytes.Buffer
	if err := syntax.Fprint(&text, plan.Tree, syntax.Options{Dialect: syntax.Storm}); err != nil {
		return nil, err
	}
	drn := exported + ".drn"
	args := []string{
		"--prism", modelFile, "--exportbuild", drn, "--digits", "17", "--buildstateval", "--buildchoicelab", "--build-all-labels",
	}
	args = append(args, constSwitch("--constants", runner.Constants(v))...)
	if plan.Job.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	got, err := e.collect(ctx, text.Bytes(), args, drn)
	if err != nil {
		return nil, err
	}
	space, err := files.ReadDRN(ctx, *got[drn], files.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return withValuations(space, got[drn])
}

// collect runs the tool on a model and returns the files that it writes. The
// error is what the tool said instead.
func (e *Engine) collect(ctx context.Context, model []byte, args []string, names ...string) (map[string]*files.Source, error) {
	p := e.tool.parser(parse.Options{})
	exit, err := e.cmd.Run(ctx, runner.Command{
		Args: args, Files: []runner.File{{Name: modelFile, Data: model}}, Collect: names, Stdout: p, Stderr: p.Stderr(),
	})
	if err != nil {
		return nil, err
	}
	log := p.Finish(parse.End{Known: exit.Cause == runner.Finished, Code: exit.Code})
	out := make(map[string]*files.Source)
	for _, f := range exit.Files {
		out[f.Name] = &files.Source{Name: f.Name, Text: f.Data}
	}
	for _, name := range names {
		if out[name] == nil {
			return nil, e.missing(name, &exit, log)
		}
	}
	return out, nil
}

// missing says why the tool has not written a file.
func (e *Engine) missing(name string, exit *runner.Exit, log *parse.Log) error {
	f := &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s wrote no %s (exit code %d)", e.cmd.Where(), name, exit.Code)}
	switch {
	case exit.Cause != runner.Finished:
		f.Message = fmt.Sprintf("%s wrote no %s: %s", e.cmd.Where(), name, exit.Cause)
	case len(log.Failures) > 0:
		f.Class = log.Failures[0].Class
		f.Message += ": " + log.Failures[0].Message
	}
	return f
}

// withValuations gives the states of a DRN file the values that its comments
// have: "//[x=1	& !b]" behind the line of each state.
func withValuations(space *explicit.Space, src *files.Source) (*explicit.Space, error) {
	n := space.Model().NumStates()
	v := &valuations{of: make([]map[string]int32, n), types: make(map[string]sema.Type)}
	state := -1
	for line := range strings.Lines(string(src.Text)) {
		line = strings.TrimRight(line, "\r\n")
		switch number, isState := strings.CutPrefix(line, "state "); {
		case isState:
			state, _ = strconv.Atoi(strings.Fields(number + " x")[0]) // read before
		case strings.HasPrefix(line, "//[") && strings.HasSuffix(line, "]") && state >= 0 && state < n:
			if err := v.read(state, line[3:len(line)-1]); err != nil {
				return nil, fmt.Errorf("%s: %w", src.Name, err)
			}
		}
	}
	vars, values, err := v.table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	model := *space.Model()
	model.Rewards = nil
	return explicit.Import(&explicit.Imported{
		File: src.Name, Type: space.Program().Type, Vars: vars, Valuations: values, Actions: space.Program().Actions, Model: &model,
	})
}

// valuations are the values of variables by state, as comments have them.
type valuations struct {
	of    []map[string]int32
	names []string // in order of appearance
	types map[string]sema.Type
}

func (v *valuations) read(state int, text string) error {
	values := make(map[string]int32)
	for part := range strings.SplitSeq(text, "&") {
		part = strings.TrimSpace(part)
		name, value, isInt := strings.Cut(part, "=")
		typ := sema.Bool
		switch {
		case part == "":
			continue
		case isInt:
			x, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
			if err != nil {
				return fmt.Errorf("found %q in the valuation of state %d, want a variable with a value", part, state)
			}
			name, typ = strings.TrimSpace(name), sema.Int
			values[name] = int32(x)
		case part[0] == '!':
			name = part[1:]
			values[name] = 0
		default:
			values[name] = 1
		}
		if old, known := v.types[name]; known && old != typ {
			return fmt.Errorf("found variable %s with truth values and numbers", name)
		} else if !known {
			v.names = append(v.names, name)
		}
		v.types[name] = typ
	}
	v.of[state] = values
	return nil
}

// table returns the values state by state.
func (v *valuations) table() ([]sema.Variable, []int32, error) {
	var vars []sema.Variable
	for _, name := range v.names {
		if !syntax.IsIdent(name) {
			return nil, nil, fmt.Errorf("found %q in a valuation, want the name of a variable", name)
		}
		vars = append(vars, sema.Variable{Name: name, Type: v.types[name], Low: math.MaxInt32, High: math.MinInt32})
	}
	var values []int32
	for i, of := range v.of {
		for k := range vars {
			x, ok := of[vars[k].Name]
			if !ok {
				return nil, nil, fmt.Errorf("state %d has no value of %s", i, vars[k].Name)
			}
			vars[k].Low, vars[k].High = min(vars[k].Low, x), max(vars[k].High, x)
			values = append(values, x)
		}
	}
	return slices.Clip(vars), values, nil
}
