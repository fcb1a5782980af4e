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
func (e *Engine) States(ctx context.Context, plan *runner.Plan, valuation sema.Valuation) (*explicit.ToolSpace, error) {
	if err := e.tool.refuse(plan); err != nil {
		return nil, unsupported(err.Error())
	}
	return e.tool.states(ctx, e, plan, valuation)
}

// exported is the base name of exported files.
const exported = "exported"

// states lets PRISM export its state space: as UMB, or in several text files if the version cannot write UMB.
func (p prism) states(ctx context.Context, engine *Engine, plan *runner.Plan, valuation sema.Valuation) (*explicit.ToolSpace, error) {
	args, modelFiles := modelOf(plan)
	isExact := plan.Job.Numeric.Accuracy == result.Exact
	hasSystem := hasSystemBlock(plan)
	switch {
	case isExact && hasSystem:
		return nil, unsupported(p.title() + " has no system blocks in exact arithmetic")
	case isExact:
		args = append(args, "-exact")
	case !hasSystem:
		args = append(args, "-explicit")
	}
	args = append(args, constSwitch("-const", runner.Constants(valuation))...)
	if plan.Job.NoFixDeadlocks {
		args = append(args, "-nofixdl")
	}
	args = append(args, engine.opt.Args...)
	exportedSpace := &explicit.ToolSpace{AllLabelsAndRewards: true, AllActions: true}
	file := exported + ".umb"
	exportedFiles, err := engine.collect(ctx, modelFiles, append(slices.Clone(args), "-exportmodel", file), file)
	switch {
	case err == nil:
		exportedSpace.Space, err = files.ReadUMB(ctx, *exportedFiles[file], files.ReadOptions{Exact: isExact, Fractions: isExact})
	case mayRetry(err):
		exportedSpace.Space, err = engine.prismTextFiles(ctx, plan, modelFiles, args)
	default:
		return nil, err
	}
	return exportedSpace, err
}

// prismTextFiles lets PRISM export its state space in several text files.
func (e *Engine) prismTextFiles(ctx context.Context, plan *runner.Plan, modelFiles []runner.File, args []string) (*explicit.Space, error) {
	names := []string{exported + ".tra", exported + ".sta", exported + ".lab"}
	numWithoutRewards := len(names)
	structures := plan.Model.RewardStructs()
	for index := range structures {
		number := ""
		if len(structures) > 1 {
			number = strconv.Itoa(index + 1)
		}
		names = append(names, exported+number+".srew", exported+number+".trew")
	}
	exportedFiles, err := e.collect(ctx, modelFiles, append(args, "-exportmodel", exported+".all", "-exportmodelprecision", "17"), names...)
	if err != nil {
		return nil, err
	}
	sources := files.Sources{Transitions: *exportedFiles[names[0]], States: exportedFiles[names[1]], Labels: exportedFiles[names[2]]}
	for pair := range slices.Chunk(names[numWithoutRewards:], 2) {
		sources.StateRewards = append(sources.StateRewards, *exportedFiles[pair[0]])
		sources.TransitionRewards = append(sources.TransitionRewards, *exportedFiles[pair[1]])
	}
	return files.Read(ctx, sources, files.ReadOptions{Type: plan.Model.ModelType(), Exact: plan.Job.Numeric.Accuracy == result.Exact})
}

// hasSystemBlock reports whether the text of a plan's model has a system block. PRISM's explicit engine does not support these.
func hasSystemBlock(plan *runner.Plan) bool {
	return plan.Tree != nil && slices.ContainsFunc(plan.Tree.Items, func(item syntax.Item) bool {
		_, ok := item.(*syntax.System)
		return ok
	})
}

// mayRetry reports whether a tool that could not write one file format may be able to write another one. It may if neither the model nor a limit
// caused the error.
func mayRetry(err error) bool {
	failure, ok := errors.AsType[*result.Failure](err)
	return ok && (failure.Class == result.Other || failure.Class == result.Unsupported)
}

// states lets Storm export its state space with valuations. Without a property Storm explores all states.
func (storm) states(ctx context.Context, e *Engine, plan *runner.Plan, valuation sema.Valuation) (*explicit.ToolSpace, error) {
	if plan.Job.States != nil {
		return nil, unsupported("Storm is not asked what it makes of files of states")
	}
	bare := *plan
	bare.Tasks = nil // without properties the model needs no extra names or self-loops
	instance, err := newInstance(&job{Plan: &bare}, valuation)
	if err != nil {
		return nil, err
	}
	text, err := instance.print(instance.tree, false)
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
	file := exported + ".umb"
	exportedFiles, err := e.collect(ctx, given, append(slices.Clone(args), "--exportbuild", file), file)
	switch {
	case err == nil:
		space, err := files.ReadUMB(ctx, *exportedFiles[file], files.ReadOptions{Exact: exact, Fractions: exact})
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
func (e *Engine) stormDRN(ctx context.Context, modelFiles []runner.File, args []string, exact bool) (*explicit.ToolSpace, error) {
	file := exported + ".drn"
	exportedFiles, err := e.collect(ctx, modelFiles, append(args, "--exportbuild", file, "--digits", "17"), file)
	if err != nil {
		return nil, err
	}
	space, err := files.ReadDRN(ctx, *exportedFiles[file], files.ReadOptions{Exact: exact})
	if err == nil {
		space, err = withValuations(space, exportedFiles[file])
	}
	return &explicit.ToolSpace{Space: space, Notes: []string{"rewards were not compared: Storm wrote a .drn file, as versions before 1.13 do"}}, err
}

// collect runs the tool and returns the named files that it wrote. If one is missing, the error says why.
func (e *Engine) collect(ctx context.Context, inputFiles []runner.File, args []string, names ...string) (map[string]*files.Source, error) {
	parser := e.tool.parser(parse.Options{})
	exit, err := runner.Run(ctx, e.cmd, runner.Command{
		Args: args, Files: inputFiles, Collect: names, Limits: e.opt.Limits, Stdout: parser, Stderr: parser.Stderr(),
	})
	if err != nil {
		return nil, err
	}
	log := parser.Finish(End(exit))
	collected := make(map[string]*files.Source)
	for _, file := range exit.Files {
		collected[file.Name] = &files.Source{Name: file.Name, Text: file.Data}
	}
	for _, name := range names {
		if collected[name] == nil || len(log.Failures) > 0 { // after a failure, PRISM can leave an incomplete file
			return nil, e.missing(name, &exit, log)
		}
	}
	return collected, nil
}

// missing returns an error that explains why the tool did not write the named file.
func (e *Engine) missing(name string, exit *runner.Exit, log *parse.Log) error {
	failure := &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s wrote no %s (exit code %d)", e.cmd.Where(), name, exit.Code)}
	switch {
	case exit.Cause != runner.Finished:
		failure.Class, failure.Message = cmp.Or(End(*exit).Stopped, result.Killed), fmt.Sprintf("%s wrote no %s: %s", e.cmd.Where(), name, exit.Cause)
	case len(log.Failures) > 0:
		failure.Class = log.Failures[0].Class
		failure.Message += ": " + log.Failures[0].Message
	}
	return failure
}

// withValuations returns a space with the variables of a DRN file's states. The values are in a comment behind the line of each state: "//[x=1    &
// !b]".
func withValuations(space *explicit.Space, source *files.Source) (*explicit.Space, error) {
	numStates := space.Model().NumStates()
	valuations := &valuations{byState: make([]map[string]int32, numStates), types: make(map[string]sema.Type)}
	state := -1
	for line := range strings.Lines(string(source.Text)) {
		line = strings.TrimRight(line, "\r\n")
		switch number, isState := strings.CutPrefix(line, "state "); {
		case isState:
			state, _ = strconv.Atoi(strings.Fields(number + " x")[0]) // read before
		case strings.HasPrefix(line, "//[") && strings.HasSuffix(line, "]") && state >= 0 && state < numStates:
			if err := valuations.parseState(state, line[3:len(line)-1]); err != nil {
				return nil, fmt.Errorf("%s: %w", source.Name, err)
			}
		}
	}
	vars, values, err := valuations.table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, err)
	}
	model := *space.Model()
	model.Rewards = nil
	return explicit.Import(&explicit.Imported{
		File: source.Name, Type: space.Program().Type, Vars: vars, Valuation: explicit.FlatValuation(values, len(vars)), Actions: space.Program().Actions, Model: &model,
	})
}

// valuations collects the values of variables from comments, by state.
type valuations struct {
	byState []map[string]int32
	names   []string // in order of appearance
	types   map[string]sema.Type
}

// parseState parses the valuation of a state, such as "x=1 & !b & c", and stores it. The error says that a part is no variable with a value, or that
// a variable has values of two types.
func (v *valuations) parseState(state int, text string) error {
	values := make(map[string]int32)
	for part := range strings.SplitSeq(text, "&") {
		part = strings.TrimSpace(part)
		name, value, isInt := strings.Cut(part, "=")
		valueType := sema.Bool
		switch {
		case part == "":
			continue
		case isInt:
			number, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
			if err != nil {
				return fmt.Errorf("found %q in the valuation of state %d, want a variable with a value", part, state)
			}
			name, valueType = strings.TrimSpace(name), sema.Int
			values[name] = int32(number)
		case part[0] == '!':
			name = part[1:]
			values[name] = 0
		default:
			values[name] = 1
		}
		knownType, isKnown := v.types[name]
		if isKnown && knownType != valueType {
			return fmt.Errorf("found variable %s with truth values and numbers", name)
		}
		if !isKnown {
			v.names = append(v.names, name)
			v.types[name] = valueType
		}
	}
	v.byState[state] = values
	return nil
}

// table returns the variables, with the ranges of their values, and a flat table of the values: state by state, in the order of the variables. The
// error says that a state lacks a variable.
func (v *valuations) table() ([]sema.Variable, []int32, error) {
	var vars []sema.Variable
	for _, name := range v.names {
		if !syntax.IsIdent(name) {
			return nil, nil, fmt.Errorf("found %q in a valuation, want the name of a variable", name)
		}
		vars = append(vars, sema.Variable{Name: name, Type: v.types[name], Low: math.MaxInt32, High: math.MinInt32})
	}
	var values []int32
	for state, valuation := range v.byState {
		for i := range vars {
			value, ok := valuation[vars[i].Name]
			if !ok {
				return nil, nil, fmt.Errorf("state %d has no value of %s", state, vars[i].Name)
			}
			vars[i].Low, vars[i].High = min(vars[i].Low, value), max(vars[i].High, value)
			values = append(values, value)
		}
	}
	return slices.Clip(vars), values, nil
}
