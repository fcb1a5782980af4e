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
	"tilecheck/prism/sema"
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

// ask returns the items that PRISM is asked about: all of them.
func (prism) ask(_ *job, items []*workItem) []*workItem { return items }

// settle does nothing: every verdict comes from one answer of PRISM.
func (prism) settle(*job) {}

// otherwise returns nil: PRISM is asked only once.
func (prism) otherwise(*job, *workItem) (*workItem, string) { return nil, "" }

// read does nothing: PRISM's answers are in its log.
func (prism) read([]*workItem, runner.Command, []runner.File) {}

// parser returns a parser of PRISM's log.
func (prism) parser(opt parse.Options) *parse.Parser { return parse.NewPRISM(opt) }

// batches groups the properties into runs. All properties that can share a properties file go into one run. A source that
// declares constants or labels needs its own file. Multi-objective properties need another engine, and properties that
// PRISM's language cannot express run separately, so that only they fail.
func (prism) batches(items []*workItem) [][]*workItem {
	var batches [][]*workItem
	var common, multi []*workItem
	own := make(map[*runner.Source][]*workItem)
	var order []*runner.Source
	for _, item := range items {
		s := item.task.Source
		switch {
		case item.isMultiObjective(), !printable(item.task.Property):
			multi = append(multi, item)
			continue
		case !hasDeclarations(s):
			common = append(common, item)
			continue
		}
		if own[s] == nil {
			order = append(order, s)
		}
		own[s] = append(own[s], item)
	}
	if len(common) > 0 {
		batches = append(batches, common)
	}
	for _, s := range order {
		batches = append(batches, own[s])
	}
	for _, item := range multi {
		batches = append(batches, []*workItem{item})
	}
	return batches
}

// isMultiObjective reports whether the property is multi-objective; PRISM's explicit engine does not support these.
func (item *workItem) isMultiObjective() bool { return isMulti(item.task.Property.X) }

// isMulti reports whether an expression is multi(...).
func isMulti(x syntax.Expr) bool { return logic.Read(syntax.Unparen(x)).Kind == logic.Objectives }

// command returns the command that checks a batch.
func (prism) command(_ context.Context, j *job, batch []*workItem) (runner.Command, error) {
	props, selected, err := propertiesOf(batch)
	if err != nil {
		return runner.Command{}, err
	}
	args, modelFiles := modelOf(j.Plan)
	args = append(args, propsFile, "-prop", strings.Join(selected, ","))
	if j.single {
		args = append(args, constSwitch("-const", exactConstants(batch[0].model, batch[0].property))...)
	} else {
		for _, c := range j.Definitions() {
			args = append(args, "-const", strings.Join(strings.Fields(c), "")) // PRISM does not accept blanks
		}
	}
	if j.Job.NoFixDeadlocks {
		args = append(args, "-nofixdl")
	}
	args = append(args, prismMethod(j, batch)...)
	if t := j.opt.Limits.Time; t > 0 {
		args = append(args, "-timeout", strconv.FormatInt(int64(math.Ceil(t.Seconds())), 10))
	}
	args = append(args, PRISMMemory(j.opt.Limits.Memory)...)
	return runner.Command{
		Args:  append(args, j.opt.Args...),
		Files: append(modelFiles, runner.File{Name: propsFile, Data: props}),
	}, nil
}

// modelOf returns the arguments and files that give PRISM the model. PRISM itself finds the numbered files of several reward
// structures.
func modelOf(plan *runner.Plan) ([]string, []runner.File) {
	job := &plan.Job
	if job.States == nil {
		return []string{modelFile}, []runner.File{{Name: modelFile, Data: plan.ModelText()}}
	}
	states := job.States.Files()
	base, _ := cutExt(states[0].Name)
	var exts []string
	for _, f := range states {
		if _, ext := cutExt(f.Name); !slices.Contains(exts, ext) {
			exts = append(exts, ext)
		}
	}
	args := []string{"-importmodel", base + "." + strings.Join(exts, ",")}
	typ := job.States.Declares().ModelType()
	if exts[0] != "umb" && typ != syntax.POMDP { // UMB files and POMDPs state their type
		args = append(args, "-"+strings.ToLower(typ.String()))
	}
	return args, states
}

// cutExt splits a file name at its last dot.
func cutExt(name string) (base, ext string) {
	dot := strings.LastIndexByte(name, '.')
	return name[:dot], name[dot+1:]
}

// exactConstants writes valuations without loss. PRISM accepts 1/3 for a constant, while in exact mode a decimal of 17 digits
// would be another number.
func exactConstants(valuations ...sema.Valuation) []result.Constant {
	out := runner.Constants(valuations...)
	i := 0
	for _, v := range valuations {
		for _, c := range v {
			if r := c.Val.Rat; c.Val.Type == sema.Double && r != nil && !r.IsInt() {
				out[i].Value = r.RatString()
			}
			i++
		}
	}
	return out
}

// PRISMMemory returns the switches that limit PRISM's memory to so many bytes; 0 means no limit.
func PRISMMemory(limit int64) []string {
	if limit == 0 {
		return nil
	}
	mebibytes := func(n int64) string { return strconv.FormatInt(max(n>>20, 1), 10) + "m" }
	// The remaining quarter is for the Java virtual machine itself.
	return []string{"-javamaxmem", mebibytes(limit / 2), "-cuddmaxmem", mebibytes(limit / 4)}
}

// constSwitch returns the switch that defines constants; nothing if there are none.
func constSwitch(name string, cs []result.Constant) []string {
	if len(cs) == 0 {
		return nil
	}
	return []string{name, result.Valuation(cs).String()}
}

// propertiesOf returns the properties file of a batch, with everything that its properties may refer to, and the numbers of the
// batch's properties in this file.
func propertiesOf(batch []*workItem) (text []byte, selected []string, err error) {
	base := batch[0].task.Source
	if base.Base != nil {
		base = base.Base
	}
	file := syntax.Properties{Items: slices.Clone(base.Tree.Items)}
	before := map[*runner.Source]int{base: 0} // number of properties in the file before those of the source
	count := base.Props.Len()
	for _, item := range batch {
		s := item.task.Source
		if _, ok := before[s]; !ok {
			before[s] = count - s.First()
			count += s.Props.Len() - s.First()
			file.Items = append(file.Items, s.Own()...)
		}
		number := strconv.Itoa(before[s] + item.task.Index + 1)
		if !slices.Contains(selected, number) {
			selected = append(selected, number)
		}
	}
	for i, x := range file.Items {
		p, ok := x.(*syntax.Property)
		asked := func(item *workItem) bool { return item.task.Property == p }
		if ok && !printable(p) && !slices.ContainsFunc(batch, asked) {
			file.Items[i] = &syntax.Property{Name: p.Name, X: &syntax.BoolLit{Value: true}} // keep the numbers of the others
		}
	}
	var b bytes.Buffer
	err = syntax.Fprint(&b, &file, syntax.Options{})
	return b.Bytes(), selected, err
}

// printable reports whether PRISM's language can express a property.
func printable(p *syntax.Property) bool { return syntax.Fprint(io.Discard, p, syntax.Options{}) == nil }

// hasDeclarations reports whether a source declares constants or labels.
func hasDeclarations(s *runner.Source) bool {
	return s.Base != nil && slices.ContainsFunc(s.Own(), func(x syntax.PropItem) bool {
		_, property := x.(*syntax.Property)
		return !property
	})
}

// prismMethod returns the switches for the method of checking a batch.
func prismMethod(j *job, batch []*workItem) []string {
	if j.Job.Method != "" && j.Job.Method != runner.States {
		return prismSampling(j)
	}
	var args []string
	if !slices.ContainsFunc(j.opt.Args, isPRISMEngine) {
		switch a := j.Job.Numeric.Accuracy; {
		case a == result.Exact:
			args = append(args, "-exact")
		case batch[0].isMultiObjective():
			args = append(args, "-sparse")
		case a == result.Float, a == result.Estimated, isGame(j.Plan): // games have value iteration only
			args = append(args, "-explicit")
		default:
			args = append(args, "-explicit", "-intervaliter")
		}
	}
	if t := j.Model.ModelType(); (t == syntax.PTA || t == syntax.POPTA) && !slices.Contains(j.opt.Args, "-ptamethod") {
		method := "digital" // it supports all operators and works with the chosen engine
		if slices.ContainsFunc(batch, j.needsRegions) {
			method = "games"
		}
		args = append(args, "-ptamethod", method)
	}
	switch e := j.Job.Numeric.Epsilon; {
	case e > 0:
		args = append(args, "-epsilon", number(e))
	case isGame(j.Plan):
		args = append(args, "-epsilon", number(gameEpsilon))
	}
	if j.Job.Numeric.Fair {
		args = append(args, "-fair")
	}
	return args
}

// needsRegions reports whether PRISM's digital clocks do not support the timed automaton or the property of an item.
func (j *job) needsRegions(item *workItem) bool {
	program, err := j.Model.InstantiateOpen(item.model.Map(), j.Open())
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

// prismSampling returns the switches for sampling.
func prismSampling(j *job) []string {
	settings := &j.Job.Simulation
	args := []string{"-sim"}
	for _, option := range []struct {
		name  string
		isSet bool
		value string
	}{
		{"-simmethod", j.Job.Method != runner.Sim, string(j.Job.Method)},
		{"-simsamples", settings.Samples > 0, strconv.FormatInt(settings.Samples, 10)},
		{"-simconf", settings.Confidence > 0, number(stats.Alpha(settings.Confidence))},
		{"-simwidth", settings.Width > 0, number(settings.Width)},
		{"-simapprox", settings.Approximation > 0, number(settings.Approximation)},
		{"-simpathlen", settings.MaxPath > 0, strconv.FormatInt(settings.MaxPath, 10)},
		{"-simmaxrwd", settings.MaxReward > 0, number(settings.MaxReward)},
	} {
		if option.isSet {
			args = append(args, option.name, option.value)
		}
	}
	if settings.MinSamples > 0 {
		args = append(args, "-simmanual", "-simvar", strconv.FormatInt(settings.MinSamples, 10))
	}
	return args
}

// number returns the shortest decimal text of a float64.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// is reports whether PRISM's output about a property belongs to an item: name, text and constants must match.
func (prism) is(p *parse.Property, item *workItem) bool {
	name := item.task.Name
	if id := item.task.Property.Name; id != nil {
		name = id.Name // the name of a JANI property may have been changed
	}
	text := item.task.Text
	if given := syntax.Echo(item.task.Property.X); given != syntax.ExprString(item.task.Property.X) {
		text = given
	}
	return p.Echoes(name, text, item.constants())
}
