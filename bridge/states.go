package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/parse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// States returns the state space that the tool builds of a model, under one valuation of its constants; with fractions if
// the job asks for exact values.
func (e *Engine) States(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error) {
	if err := e.tool.refuse(plan); err != nil {
		return nil, unsupported(err.Error())
	}
	return e.tool.states(ctx, e, plan, v)
}

// exported is the base name of exported files.
const exported = "exported"

// states lets PRISM export its state space: as UMB, or in several text files if the version cannot write UMB.
func (p prism) states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error) {
	args, given := modelOf(plan)
	exact := plan.Job.Numeric.Accuracy == result.Exact
	composed := plan.Tree != nil && slices.ContainsFunc(plan.Tree.Items, isSystem)
	switch {
	case exact && composed:
		return nil, unsupported(p.title() + " has no system blocks in exact arithmetic")
	case exact:
		args = append(args, "-exact")
	case !composed:
		args = append(args, "-explicit")
	}
	args = append(args, constSwitch("-const", exactConstants(v))...)
	if plan.Job.NoFixDeadlocks {
		args = append(args, "-nofixdl")
	}
	args = append(args, e.opt.Args...)
	exportedSpace := &explicit.ToolSpace{AllLabelsAndRewards: true, AllActions: true}
	umb := exported + ".umb"
	written, err := e.collect(ctx, given, append(slices.Clone(args), "-exportmodel", umb), umb)
	switch {
	case err == nil:
		exportedSpace.Space, err = files.ReadUMB(ctx, *written[umb], files.ReadOptions{Exact: exact, Fractions: exact})
	case mayRetry(err):
		exportedSpace.Space, err = e.prismTextFiles(ctx, plan, given, args)
	default:
		return nil, err
	}
	return exportedSpace, err
}

// prismTextFiles lets PRISM export its state space in several text files.
func (e *Engine) prismTextFiles(ctx context.Context, plan *runner.Plan, given []runner.File, args []string) (*explicit.Space, error) {
	names := []string{exported + ".tra", exported + ".sta", exported + ".lab"}
	numWithoutRewards := len(names)
	structures := plan.Model.RewardStructs()
	for i := range structures {
		number := ""
		if len(structures) > 1 {
			number = strconv.Itoa(i + 1)
		}
		names = append(names, exported+number+".srew", exported+number+".trew")
	}
	written, err := e.collect(ctx, given, append(args, "-exportmodel", exported+".all", "-exportmodelprecision", "17"), names...)
	if err != nil {
		return nil, err
	}
	src := files.Sources{Transitions: *written[names[0]], States: written[names[1]], Labels: written[names[2]]}
	for pair := range slices.Chunk(names[numWithoutRewards:], 2) {
		src.StateRewards = append(src.StateRewards, *written[pair[0]])
		src.TransitionRewards = append(src.TransitionRewards, *written[pair[1]])
	}
	return files.Read(ctx, src, files.ReadOptions{Type: plan.Model.ModelType(), Exact: plan.Job.Numeric.Accuracy == result.Exact})
}

// isSystem reports whether an item of a model is a system block.
func isSystem(x syntax.Item) bool {
	_, is := x.(*syntax.System)
	return is
}

// mayRetry reports whether a tool that failed to write one file format may succeed with another: neither the model nor a limit was the
// reason.
func mayRetry(err error) bool {
	f, ok := errors.AsType[*result.Failure](err)
	return ok && (f.Class == result.Other || f.Class == result.Unsupported)
}

// states lets Storm export its state space with valuations. Without a property Storm explores all states.
func (storm) states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error) {
	if plan.Job.States != nil {
		return nil, unsupported("Storm is not asked what it makes of files of states")
	}
	bare := *plan
	bare.Tasks = nil // without properties the model needs no extra names or self-loops
	in, err := newInstance(&job{Plan: &bare}, v)
	if err != nil {
		return nil, err
	}
	text, err := in.print(in.tree, false)
	if err != nil {
		return nil, refusal(err)
	}
	exact := plan.Job.Numeric.Accuracy == result.Exact
	args := []string{"--prism", modelFile, "--buildfull", "--buildstateval", "--buildchoicelab"}
	if exact {
		args = append(args, "--exact")
	}
	if plan.Model.ModelType() == syntax.CTMC {
		args = append(args, "--prismcompat") // read rates as PRISM does
	}
	if plan.Job.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	args = append(args, e.opt.Args...)
	given := []runner.File{{Name: modelFile, Data: text}}
	umb := exported + ".umb"
	written, err := e.collect(ctx, given, append(slices.Clone(args), "--exportbuild", umb), umb)
	switch {
	case err == nil:
		space, err := files.ReadUMB(ctx, *written[umb], files.ReadOptions{Exact: exact, Fractions: exact})
		return &explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, MeanRewards: true, Notes: []string{
			"Storm was asked for all states (--buildfull), also those behind a target; it tells rewards of transitions as the mean of each choice, " +
				"gives none to the self-loop of a deadlock, and its labels of choices are compared where it has any",
		}}, err
	case mayRetry(err):
		return e.stormDRN(ctx, given, args, exact)
	}
	return nil, err
}

// stormDRN lets Storm export its state space as DRN.
func (e *Engine) stormDRN(ctx context.Context, given []runner.File, args []string, exact bool) (*explicit.ToolSpace, error) {
	drn := exported + ".drn"
	written, err := e.collect(ctx, given, append(args, "--exportbuild", drn, "--digits", "17"), drn)
	if err != nil {
		return nil, err
	}
	space, err := files.ReadDRN(ctx, *written[drn], files.ReadOptions{Exact: exact})
	if err == nil {
		space, err = withValuations(space, written[drn])
	}
	return &explicit.ToolSpace{Space: space, Notes: []string{"rewards were not compared: Storm wrote a .drn file, as versions before 1.13 do"}}, err
}

// collect runs the tool and returns the files that it writes. The error explains why a file is missing.
func (e *Engine) collect(ctx context.Context, given []runner.File, args []string, names ...string) (map[string]*files.Source, error) {
	p := e.tool.parser(parse.Options{})
	exit, err := runner.Run(ctx, e.cmd, runner.Command{
		Args: args, Files: given, Collect: names, Limits: e.opt.Limits, Stdout: p, Stderr: p.Stderr(),
	})
	if err != nil {
		return nil, err
	}
	log := p.Finish(End(exit))
	out := make(map[string]*files.Source)
	for _, f := range exit.Files {
		out[f.Name] = &files.Source{Name: f.Name, Text: f.Data}
	}
	for _, name := range names {
		if out[name] == nil || len(log.Failures) > 0 { // after a failure, PRISM can leave an incomplete file
			return nil, e.missing(name, &exit, log)
		}
	}
	return out, nil
}

// missing returns the reason why the tool has not written a file.
func (e *Engine) missing(name string, exit *runner.Exit, log *parse.Log) error {
	f := &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s wrote no %s (exit code %d)", e.cmd.Where(), name, exit.Code)}
	switch {
	case exit.Cause != runner.Finished:
		f.Class, f.Message = cmp.Or(End(*exit).Stopped, result.Killed), fmt.Sprintf("%s wrote no %s: %s", e.cmd.Where(), name, exit.Cause)
	case len(log.Failures) > 0:
		f.Class = log.Failures[0].Class
		f.Message += ": " + log.Failures[0].Message
	}
	return f
}

// withValuations adds the variables to a DRN file's states. Their values are in a comment after the line of each state:
// "//[x=1	& !b]".
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
		File: src.Name, Type: space.Program().Type, Vars: vars, Valuation: explicit.FlatValuation(values, len(vars)), Actions: space.Program().Actions, Model: &model,
	})
}

// valuations collects the values of variables from comments, by state.
type valuations struct {
	of    []map[string]int32
	names []string // in order of appearance
	types map[string]sema.Type
}

// read reads the valuation of a state, such as "x=1 & !b & c".
func (v *valuations) read(state int, text string) error {
	values := make(map[string]int32)
	for part := range strings.SplitSeq(text, "&") {
		part = strings.TrimSpace(part)
		name, value, isInt := strings.Cut(part, "=")
		valueType := sema.Bool
		switch {
		case part == "":
			continue
		case isInt:
			x, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
			if err != nil {
				return fmt.Errorf("found %q in the valuation of state %d, want a variable with a value", part, state)
			}
			name, valueType = strings.TrimSpace(name), sema.Int
			values[name] = int32(x)
		case part[0] == '!':
			name = part[1:]
			values[name] = 0
		default:
			values[name] = 1
		}
		knownType, known := v.types[name]
		if known && knownType != valueType {
			return fmt.Errorf("found variable %s with truth values and numbers", name)
		}
		if !known {
			v.names = append(v.names, name)
			v.types[name] = valueType
		}
	}
	v.of[state] = values
	return nil
}

// table returns the variables, with their ranges, and the values state by state.
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
