package regress

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tilecheck/internal/limited"
	"tilecheck/modelgen"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/expect"
	"tilecheck/verify/suite"
)

// subject is a test whose files are read.
type subject struct {
	*Test
	opt          *Options
	switches     suite.Options
	model, props []byte
	// job has everything but the method of an entrant. Its model has the type that the switches ask for.
	job   runner.Job
	plan  *runner.Plan // nil without properties, or with err
	tree  *syntax.Properties
	items []*item
	// err says why nothing can be run. The only items are then those that expect an error of the files.
	err error
	// falseAlarm is the probability with which one statistical expectation may fail by chance.
	falseAlarm float64
	// number is the number of the test in the suite, from 1.
	number int
	// wanted says that the report has results about the whole run.
	wanted bool
	// space is the imported state space, nil without imports. imports is a hash of its files, and noSpace the error of reading them.
	space   *explicit.Space
	imports string
	noSpace error
}

// item is one property under one valuation: what gets a result per entrant.
type item struct {
	task            *runner.Task
	number          int // among the properties of the file, from 1
	model, property sema.Valuation
	rules           expect.Rules
	chosen          expect.Chosen
	// annotated says that the property has annotations.
	annotated bool
	// problem says why no annotation could be chosen; nil if one was.
	problem error
	// extra is the place of a chosen expectation outside of the properties file.
	extra string
	// taken are the positions of the chosen annotations outside of the properties file.
	taken []syntax.Pos
	id    string
	keep  bool // Options.Only selects it
}

func (it *item) constants() []result.Constant { return runner.Constants(it.model, it.property) }

// load reads the files of a test and chooses the annotations. Its errors are in the err of the subject.
func load(ctx context.Context, t *Test, opt *Options) *subject {
	s := &subject{Test: t, opt: opt}
	if s.switches, s.err = t.Options(); s.err != nil {
		if e, ok := s.err.(*syntax.Error); ok {
			s.err = &syntax.Error{File: opt.name(e.File), Pos: e.Pos, Msg: e.Msg}
		}
		return s
	}
	if s.model, s.err = s.read(s.switches.Model); s.err != nil {
		return s
	}
	if s.props, s.err = s.read(s.switches.Props); s.err != nil {
		return s
	}
	if s.err = s.newJob(); s.err != nil {
		return s
	}
	if len(s.switches.Imports) > 0 {
		if s.space, s.noSpace = s.imported(ctx); s.noSpace == nil {
			s.job.States = s.space
		}
	}
	hasProperties := s.switches.Props != "" || jani.Is(s.model)
	if hasProperties && (s.switches.Model != "" || s.space != nil) && !s.importsResults() {
		s.err = s.makeItems(ctx)
	}
	return s
}

// importsResults reports whether the results come from a file, so that there is nothing to check.
func (s *subject) importsResults() bool {
	return slices.ContainsFunc(s.switches.Imports, func(words []string) bool { return strings.HasSuffix(words[0], "-importresults") })
}

// maxText is the size in bytes of a model or properties file.
const maxText = 1 << 30

func (s *subject) read(file string) ([]byte, error) {
	if file == "" { // states that are imported
		return nil, nil
	}
	text, err := limited.ReadFile(s.opt.FS, file, s.mostText())
	if e, ok := err.(*fs.PathError); ok {
		return nil, fmt.Errorf("%s: %w", s.opt.name(file), e.Err)
	}
	return text, err
}

// mostText is the largest size of a text in bytes, compressed or not.
func (s *subject) mostText() int64 {
	if s.memory() > 0 {
		return min(maxText, s.memory())
	}
	return maxText
}

// newJob makes the job from the switches.
func (s *subject) newJob() error {
	o := &s.switches
	s.job = runner.Job{
		File: s.opt.name(o.Model), Model: withType(s.model, o.Type), PropsFile: s.opt.name(o.Props), Properties: s.props,
		Dialect: s.Dialect, Select: o.Select, Generated: modelgen.Recognizer{}, Settings: runner.Settings{NoFixDeadlocks: o.NoFixDeadlocks},
	}
	if sim := o.Simulation; sim != nil {
		s.job.Method = cmp.Or(runner.Method(sim.Method), runner.Sim)
		s.job.Simulation = runner.Simulation{
			Samples: sim.Samples, MaxPath: sim.PathLength, Width: sim.HalfWidth, Approximation: sim.Approximation,
			MaxReward: sim.MaxRewardSum, MinSamples: sim.MinSamples, Seed: s.opt.Seed,
		}
		if sim.Error > 0 {
			s.job.Simulation.Confidence = stats.Confidence(sim.Error)
		}
	}
	s.job.Numeric.MaxMemory, s.job.Numeric.Fair = s.memory(), o.Fair
	if o.Exact {
		s.job.Numeric.Accuracy = result.Exact
	}
	if o.Params != "" {
		s.job.Params = []string{o.Params}
	}
	var err error
	s.job.Consts, err = Override(o.Consts, s.Consts)
	return err
}

func (s *subject) memory() int64 { return cmp.Or(s.Memory, s.opt.Memory) }

// Override returns definitions of constants as of -const. The definitions in by replace those of the same constants. The
// error is a mistake in by.
func Override(consts, by []string) ([]string, error) {
	later, err := sema.ParseConsts(by)
	if err != nil || len(later) == 0 {
		return consts, err
	}
	var out []string
	for _, arg := range consts {
		for part := range strings.SplitSeq(arg, ",") {
			name, _, _ := strings.Cut(part, "=")
			name = strings.TrimSpace(name)
			if name != "" && !slices.ContainsFunc(later, func(d sema.ConstDef) bool { return d.Name == name }) {
				out = append(out, part)
			}
		}
	}
	for _, d := range later {
		out = append(out, d.String())
	}
	return out, nil
}

// withType replaces the model type in the text. All other text keeps its position. A model that cannot be parsed is not
// changed.
func withType(model []byte, typ syntax.ModelType) []byte {
	if typ == syntax.TypeNone {
		return model
	}
	tree, err := syntax.ParseModel("", model)
	if err != nil {
		return model
	}
	out := bytes.Clone(model)
	for _, x := range tree.Items {
		if d, ok := x.(*syntax.TypeDecl); ok {
			copy(out[d.Pos().Offset:], strings.Repeat(" ", len(d.Word)))
		}
	}
	return append(out, "\n"+strings.ToLower(typ.String())+"\n"...)
}

// maxItems is the largest number of results of one run, so that a mistake in the range of a constant does not use all
// memory.
const maxItems = 100_000

// makeItems makes the plan and the items.
func (s *subject) makeItems(ctx context.Context) error {
	p, err := runner.NewPlan(ctx, s.job)
	if err != nil {
		err = explainMisplaced(err, &s.job)
		if tree, mistakes := syntax.ParseProperties(s.job.PropsFile, s.props); mistakes == nil {
			s.tree = tree
			s.expectFailure(err)
		}
		return err
	}
	s.plan, s.tree = p, p.Tasks[0].Source.Parsed
	tasks := distinctTasks(p.Tasks)
	for mv := range p.Models() {
		prog, err := p.Model.InstantiateOpen(mv.Map(), p.Open())
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, t := range tasks {
			if t.Rejected != nil {
				s.addItem(t, prog, err, mv, nil)
				continue
			}
			for pv := range t.Valuations() {
				if s.addItem(t, prog, err, mv, pv); len(s.items) > maxItems {
					s.items = nil
					return &runner.PlanError{Step: result.Constants, Err: fmt.Errorf("found more than %d results, want fewer values of constants", maxItems)}
				}
			}
		}
	}
	return nil
}

// distinctTasks removes tasks that are selected twice.
func distinctTasks(tasks []*runner.Task) []*runner.Task {
	var out []*runner.Task
	for _, t := range tasks {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// addItem adds an item; err says that the model has no instance.
func (s *subject) addItem(t *runner.Task, prog *sema.Program, err error, mv, pv sema.Valuation) {
	it := &item{task: t, model: mv, property: pv, number: s.numberOf(t.Property)}
	it.rules = expect.Rules{Params: s.plan.Open(), Exact: s.switches.Exact || s.switches.Params != "", Relative: expect.DefaultRelative}
	if err == nil && t.Source != nil {
		it.rules.Constants = t.Source.Props.Values(prog, pv.Map())
	} else {
		it.rules.Constants = slices.Concat(mv, pv)
	}
	s.choose(it)
	s.items = append(s.items, it)
}

// numberOf returns the number of a property in its file, from 1.
func (s *subject) numberOf(p *syntax.Property) int {
	n := 0
	for _, x := range s.tree.Items {
		if q, ok := x.(*syntax.Property); ok {
			n++
			if q.Pos() == p.Pos() {
				return n
			}
		}
	}
	return n
}

// choose selects the annotations of an item.
func (s *subject) choose(it *item) {
	es, ts := expect.Parse(s.props, it.task.Property), expect.ParseTerms(s.props, it.task.Property)
	inFile, termsInFile := len(es), len(ts)
	for _, x := range slices.Backward(s.Extra) {
		if x.Property != it.task.Name && x.Property != it.task.Text {
			continue
		}
		if x.Result != nil {
			es = append([]expect.Expectation{*x.Result}, es...)
		}
		if x.Terms != nil {
			ts = append([]expect.Terms{*x.Terms}, ts...)
		}
	}
	it.annotated = len(es)+len(ts) > 0
	it.chosen.Terms, it.problem = expect.SelectTerms(ts, it.rules)
	for i := range len(ts) - termsInFile {
		if it.chosen.Terms == &ts[i] {
			it.taken = append(it.taken, ts[i].Pos)
			it.extra = s.extraTerms(&ts[i]) // unless a result is chosen too
		}
	}
	if it.problem != nil || len(es) == 0 {
		return
	}
	it.chosen.Result, it.problem = expect.Select(es, it.rules)
	if it.chosen.Result != nil {
		it.extra = ""
	}
	for i := range len(es) - inFile {
		if it.chosen.Result == &es[i] {
			it.extra = s.extraFile(&es[i])
			it.taken = append(it.taken, es[i].Pos)
		}
	}
	if it.problem != nil && it.chosen.Expects() {
		it.problem = nil
	}
}

// extraFile returns the place of an expectation outside of the properties file.
func (s *subject) extraFile(e *expect.Expectation) string {
	for _, x := range s.Extra {
		if x.Result != nil && x.Result.Pos == e.Pos && x.Result.Text == e.Text {
			return x.File + ":" + e.Pos.String()
		}
	}
	return ""
}

// extraTerms returns the place of terms outside of the properties file.
func (s *subject) extraTerms(t *expect.Terms) string {
	for _, x := range s.Extra {
		if x.Terms != nil && x.Terms.Pos == t.Pos && x.Terms.Text == t.Text {
			return x.File + ":" + t.Pos.String()
		}
	}
	return ""
}

// expectFailure makes an item of every property that expects an error of this class.
func (s *subject) expectFailure(err error) {
	f := fileFailure(err)
	for _, x := range s.tree.Items {
		p, ok := x.(*syntax.Property)
		if !ok {
			continue
		}
		t := &runner.Task{Text: syntax.ExprString(p.X), Pos: p.Pos(), Property: p}
		if p.Name != nil {
			t.Name = p.Name.Name
		}
		it := &item{task: t, number: s.numberOf(p)}
		s.choose(it)
		if it.problem == nil && it.chosen.Terms != nil && slices.Contains(it.chosen.Terms.Errors, f.Class) {
			s.items = append(s.items, it)
		}
	}
}

// result returns a result with the fields that do not depend on the verdict. It is about the whole run if the item is
// nil.
func (s *subject) result(e *Entrant, it *item) report.TestResult {
	r := report.TestResult{
		Model: s.opt.name(s.switches.Model), Props: s.opt.name(s.switches.Props), Args: s.Args, Engine: e.Called(),
	}
	if len(s.Consts) > 0 {
		r.Args = append(slices.Clone(s.Args), "-const", strings.Join(s.Consts, ","))
	}
	if it == nil {
		r.File = cmp.Or(r.Props, r.Model)
		if r.File == "" && len(s.Places) > 0 {
			r.File, r.Line, r.Col = s.opt.name(s.Places[0].File), int(s.Places[0].Pos.Line), int(s.Places[0].Pos.Col)
		}
		if s.opt.Rerun != nil {
			r.Rerun = s.opt.Rerun(e.Called(), shortID(s.identity()))
		}
		return r
	}
	r.Property, r.Name, r.Constants = it.task.Text, it.task.Name, it.constants()
	r.File, r.Line, r.Col = r.Props, int(it.task.Pos.Line), int(it.task.Pos.Col)
	r.Expected = it.chosen.String()
	switch {
	case it.extra != "":
		r.Expected += " (" + it.extra + ")"
	case it.chosen.Result != nil:
		r.ExpectedLine = int(it.chosen.Result.Pos.Line)
	case it.chosen.Expects():
		r.ExpectedLine = int(it.chosen.Terms.Pos.Line)
	}
	if s.opt.Rerun != nil {
		r.Rerun = s.opt.Rerun(e.Called(), it.id)
	}
	return r
}
