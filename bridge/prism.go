package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/parse"
	"tilecheck/prism/digital"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

const (
	modelFile = "model.prism"
	propsFile = "properties.props"
)

// prism is the PRISM tool, or PRISM-games, which has the same switches. It enumerates the valuations of constants itself.
//
// Source: reference, tools and options, section 3.
type prism struct{ tool parse.Tool }

// name returns the name of the tool.
func (p prism) name() string { return string(p.tool) }

// title returns the name of the tool as its makers write it.
func (p prism) title() string {
	if p.tool == parse.PRISMGames {
		return "PRISM-games"
	}
	return "PRISM"
}

// refuse returns an error if the tool cannot check the model or the states of the plan.
func (p prism) refuse(plan *runner.Plan) error {
	if err := p.refuseGame(plan); err != nil {
		return err
	}
	switch job := &plan.Job; {
	case job.States == nil && syntax.IsMarkovAutomaton(job.Dialect, job.Model):
		return fmt.Errorf("found a Markov automaton (ma), which %s does not read; the engines native and storm check it", p.title())
	case job.States == nil:
		return nil
	case plan.Model.IsMarkovAutomaton():
		return fmt.Errorf("found states of a Markov automaton, which %s does not read; the engines native and storm check them", p.title())
	case len(job.States.Files()) == 0:
		return fmt.Errorf("%s reads files of states, and there are none", p.title())
	case job.Method != "" && job.Method != runner.States:
		return fmt.Errorf("%s does not sample files of states: found method %q, want states", p.title(), job.Method)
	case strings.HasSuffix(job.States.Files()[0].Name, ".drn"):
		return fmt.Errorf("%s reads no .drn files: tilecheck export writes what it reads", p.title())
	}
	return nil
}

// refuseGame returns an error if the model is a stochastic game that the tool cannot check.
func (p prism) refuseGame(plan *runner.Plan) error {
	job := &plan.Job
	switch {
	case p.tool != parse.PRISMGames:
		return refuseGame(plan, p.tool)
	case !isGame(plan):
		return nil
	case job.Numeric.Accuracy == result.Exact:
		return errors.New("PRISM-games has no exact arithmetic for stochastic games")
	case job.States != nil && len(job.States.Files()) > 0 && !strings.HasSuffix(job.States.Files()[0].Name, ".umb"):
		return errors.New("PRISM-games reads the players of a game from UMB files only: tilecheck export writes them")
	}
	return nil
}

// itemsToAsk returns all items: PRISM is asked about each of them.
func (prism) itemsToAsk(_ *job, items []*workItem) []*workItem { return items }

// combineAnswers does nothing: every verdict comes from one answer of PRISM.
func (prism) combineAnswers(*job) {}

// alternative returns nil: PRISM is asked only once.
func (prism) alternative(*job, *workItem) (*workItem, string) { return nil, "" }

// readFiles does nothing: PRISM's answers are in its log.
func (prism) readFiles([]*workItem, runner.Command, []runner.File) {}

// parser returns a parser of PRISM's log.
func (prism) parser(opt parse.Options) *parse.Parser { return parse.NewPRISM(opt) }

// batches groups the properties into runs. All properties that can share a properties file go into one run. A source that
// declares constants or labels needs its own file. Multi-objective properties need another engine, and properties that
// PRISM's language cannot express run separately, so that only they fail.
func (prism) batches(items []*workItem) [][]*workItem {
	var batches [][]*workItem
	var common, multi []*workItem
	bySource := make(map[*runner.Source][]*workItem)
	var sources []*runner.Source
	for _, item := range items {
		source := item.task.Source
		switch {
		case item.isMultiObjective(), !printable(item.task.Property):
			multi = append(multi, item)
			continue
		case !hasDeclarations(source):
			common = append(common, item)
			continue
		}
		if bySource[source] == nil {
			sources = append(sources, source)
		}
		bySource[source] = append(bySource[source], item)
	}
	if len(common) > 0 {
		batches = append(batches, common)
	}
	for _, source := range sources {
		batches = append(batches, bySource[source])
	}
	for _, item := range multi {
		batches = append(batches, []*workItem{item})
	}
	return batches
}

// isMultiObjective reports whether the property of the item is multi(...); PRISM's explicit engine does not support this.
func (item *workItem) isMultiObjective() bool { return isMulti(item.task.Property.X) }

// isMulti reports whether an expression is multi(...).
func isMulti(expr syntax.Expr) bool { return logic.Read(syntax.Unparen(expr)).Kind == logic.Objectives }

// command returns the command line and the files with which PRISM checks a batch.
func (prism) command(_ context.Context, job *job, batch []*workItem) (runner.Command, error) {
	props, selected, err := propertiesOf(batch)
	if err != nil {
		return runner.Command{}, err
	}
	args, modelFiles := modelOf(job.Plan)
	args = append(args, propsFile, "-prop", strings.Join(selected, ","))
	if job.isSingle {
		args = append(args, constSwitch("-const", runner.Constants(batch[0].model, batch[0].property))...)
	} else {
		for _, definition := range job.Definitions() {
			args = append(args, "-const", strings.Join(strings.Fields(definition), "")) // PRISM does not accept blanks
		}
	}
	if job.Job.NoFixDeadlocks {
		args = append(args, "-nofixdl")
	}
	args = append(args, prismMethod(job, batch)...)
	if limit := job.opt.Limits.Time; limit > 0 {
		args = append(args, "-timeout", strconv.FormatInt(int64(math.Ceil(limit.Seconds())), 10))
	}
	args = append(args, PRISMMemory(job.opt.Limits.Memory)...)
	return runner.Command{
		Args:  append(args, job.opt.Args...),
		Files: append(modelFiles, runner.File{Name: propsFile, Data: props}),
	}, nil
}

// modelOf returns the arguments and files with which PRISM reads the model of a plan. For several reward structures PRISM finds their numbered files
// itself.
func modelOf(plan *runner.Plan) ([]string, []runner.File) {
	job := &plan.Job
	if job.States == nil {
		return []string{modelFile}, []runner.File{{Name: modelFile, Data: plan.ModelText()}}
	}
	states := job.States.Files()
	base, _ := cutExt(states[0].Name)
	var exts []string
	for _, file := range states {
		if _, ext := cutExt(file.Name); !slices.Contains(exts, ext) {
			exts = append(exts, ext)
		}
	}
	args := []string{"-importmodel", base + "." + strings.Join(exts, ",")}
	modelType := job.States.Declares().ModelType()
	if exts[0] != "umb" && modelType != syntax.POMDP { // UMB files and POMDPs state their type
		args = append(args, "-"+strings.ToLower(modelType.String()))
	}
	return args, states
}

// cutExt splits a file name at its last dot.
func cutExt(name string) (base, ext string) {
	dot := strings.LastIndexByte(name, '.')
	return name[:dot], name[dot+1:]
}

// PRISMMemory returns the switches that limit PRISM's memory to a number of bytes; 0 means no limit.
func PRISMMemory(limit int64) []string {
	if limit == 0 {
		return nil
	}
	mebibytes := func(numBytes int64) string { return strconv.FormatInt(max(numBytes>>20, 1), 10) + "m" }
	// The remaining quarter is for the Java virtual machine itself.
	return []string{"-javamaxmem", mebibytes(limit / 2), "-cuddmaxmem", mebibytes(limit / 4)}
}

// constSwitch returns the switch that defines constants; nothing if there are none.
func constSwitch(name string, constants []result.Constant) []string {
	if len(constants) == 0 {
		return nil
	}
	return []string{name, result.Valuation(constants).String()}
}

// propertiesOf returns the text of a properties file for a batch, and the numbers of the batch's properties in this file. The file also has all
// declarations and properties that the properties may refer to.
func propertiesOf(batch []*workItem) (text []byte, selected []string, err error) {
	base := batch[0].task.Source
	if base.Base != nil {
		base = base.Base
	}
	file := syntax.Properties{Items: slices.Clone(base.Tree.Items)}
	numBefore := map[*runner.Source]int{base: 0} // number of properties in the file before those of the source
	count := base.Props.Len()
	for _, item := range batch {
		source := item.task.Source
		if _, ok := numBefore[source]; !ok {
			numBefore[source] = count - source.First()
			count += source.Props.Len() - source.First()
			file.Items = append(file.Items, source.Own()...)
		}
		number := strconv.Itoa(numBefore[source] + item.task.Index + 1)
		if !slices.Contains(selected, number) {
			selected = append(selected, number)
		}
	}
	for i, declared := range file.Items {
		property, ok := declared.(*syntax.Property)
		isAsked := func(item *workItem) bool { return item.task.Property == property }
		if ok && !printable(property) && !slices.ContainsFunc(batch, isAsked) {
			file.Items[i] = &syntax.Property{Name: property.Name, X: &syntax.BoolLit{Value: true}} // keep the numbers of the others
		}
	}
	var buf bytes.Buffer
	err = syntax.Fprint(&buf, &file, syntax.Options{})
	return buf.Bytes(), selected, err
}

// printable reports whether PRISM's language can express a property.
func printable(p *syntax.Property) bool { return syntax.Fprint(io.Discard, p, syntax.Options{}) == nil }

// hasDeclarations reports whether a source has declarations of its own, such as constants or labels, beside properties.
func hasDeclarations(source *runner.Source) bool {
	return source.Base != nil && slices.ContainsFunc(source.Own(), func(item syntax.PropItem) bool {
		_, isProperty := item.(*syntax.Property)
		return !isProperty
	})
}

// prismMethod returns PRISM's switches for the engine, the numerical method and its precision for a batch.
func prismMethod(job *job, batch []*workItem) []string {
	if job.Job.Method != "" && job.Job.Method != runner.States {
		return prismSampling(job)
	}
	var args []string
	if !slices.ContainsFunc(job.opt.Args, isPRISMEngine) {
		engine := "-explicit"
		if hasSystemBlock(job.Plan) {
			engine = "-sparse"
		}
		switch accuracy := job.Job.Numeric.Accuracy; {
		case accuracy == result.Exact:
			args = append(args, "-exact")
		case batch[0].isMultiObjective():
			args = append(args, "-sparse")
		case accuracy == result.Float, accuracy == result.Estimated, isGame(job.Plan): // games have value iteration only
			args = append(args, engine)
		default:
			args = append(args, engine, "-intervaliter")
		}
	}
	if modelType := job.Model.ModelType(); (modelType == syntax.PTA || modelType == syntax.POPTA) && !slices.Contains(job.opt.Args, "-ptamethod") {
		method := "digital" // it supports all operators and works with the chosen engine
		if slices.ContainsFunc(batch, job.needsRegions) {
			method = "games"
		}
		args = append(args, "-ptamethod", method)
	}
	switch epsilon := job.Job.Numeric.Epsilon; {
	case epsilon > 0:
		args = append(args, "-epsilon", decimal(epsilon))
	case isGame(job.Plan):
		args = append(args, "-epsilon", decimal(gameEpsilon))
	}
	if job.Job.Numeric.Fair {
		args = append(args, "-fair")
	}
	return args
}

// needsRegions reports whether PRISM's digital clocks cannot check the timed automaton or the property of an item.
func (job *job) needsRegions(item *workItem) bool {
	program, err := job.Model.InstantiateOpen(item.model.Map(), job.Open())
	if err != nil {
		return false
	}
	instance, err := item.task.Instance(program, item.property)
	return err == nil && digital.NeedsRegions(instance.Program, &instance.Property)
}

// gameEpsilon is the termination threshold of PRISM-games' value iteration if the job has none. With its default, 1e-6, the
// error that it estimates is larger than what a comparison of values permits.
const gameEpsilon = 1e-8

// isPRISMEngine reports whether a switch selects one of PRISM's engines.
func isPRISMEngine(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), ":")
	return strings.HasPrefix(arg, "-") && slices.Contains([]string{
		"explicit", "ex", "sparse", "s", "hybrid", "h", "mtbdd", "m", "exact", "param",
	}, name)
}

// prismSampling returns PRISM's switches for statistical model checking with the settings of the job.
func prismSampling(job *job) []string {
	simulation := &job.Job.Simulation
	args := []string{"-sim"}
	for _, option := range []struct {
		name  string
		isSet bool
		value string
	}{
		{"-simmethod", job.Job.Method != runner.Sim, string(job.Job.Method)},
		{"-simsamples", simulation.Samples > 0, strconv.FormatInt(simulation.Samples, 10)},
		{"-simconf", simulation.Confidence > 0, decimal(stats.Alpha(simulation.Confidence))},
		{"-simwidth", simulation.Width > 0, decimal(simulation.Width)},
		{"-simapprox", simulation.Approximation > 0, decimal(simulation.Approximation)},
		{"-simpathlen", simulation.MaxPath > 0, strconv.FormatInt(simulation.MaxPath, 10)},
		{"-simmaxrwd", simulation.MaxReward > 0, decimal(simulation.MaxReward)},
	} {
		if option.isSet {
			args = append(args, option.name, option.value)
		}
	}
	if simulation.MinSamples > 0 {
		args = append(args, "-simmanual", "-simvar", strconv.FormatInt(simulation.MinSamples, 10))
	}
	return args
}

// decimal returns the shortest decimal text of a float64.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// matches reports whether PRISM's output about a property belongs to an item: name, text and constants must be equal.
func (prism) matches(property *parse.Property, item *workItem) bool {
	name := item.task.Name
	if identifier := item.task.Property.Name; identifier != nil {
		name = identifier.Name // the name of a JANI property may have been changed
	}
	text := item.task.Text
	if asWritten := syntax.Echo(item.task.Property.X); asWritten != syntax.ExprString(item.task.Property.X) {
		text = asWritten
	}
	return property.Echoes(name, text, item.constants())
}
