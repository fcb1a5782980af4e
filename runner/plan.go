package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/ending"
	"tilecheck/prism/jani"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Plan is a job whose files are checked and whose properties are selected. It
// does not change, and may be given to several engines at a time.
type Plan struct {
	// Job has the settings and outputs. Its files and properties are read: engines take them from Tree, Model and Tasks.
	Job   Job
	Tree  *syntax.Model // nil for States
	Model *sema.Model
	Tasks []*Task // none for PlanModel
	// Params are the constants that stay open. No valuation has a value for them.
	Params []Param
	// Warnings are the warnings of the job. Every verdict carries them.
	Warnings []string

	sources []*Source         // the file, then the texts
	jani    *jani.Translation // nil for a model in PRISM's language
}

// Task is one property to check.
type Task struct {
	Source     *Source
	Index      int    // in Source.Props; meaningless if rejected
	Name, Text string // Text as PRISM echoes it, without the name
	Pos        syntax.Pos
	Property   *syntax.Property
	// Rejected is the error of a property that cannot be checked, and Class its class:
	// result.TypeError, or result.Unsupported if no engine here supports the property.
	Rejected *syntax.Error
	Class    result.Class
}

// Models yields the valuations of the model's constants.
func (p *Plan) Models() iter.Seq[sema.Valuation] {
	all := p.sources[0].Experiment.Models()
	if len(p.Params) == 0 {
		return all
	}
	return func(yield func(sema.Valuation) bool) {
		for v := range all {
			if !yield(slices.DeleteFunc(v, func(x sema.NamedValue) bool { return slices.Contains(p.Open(), x.Name) })) {
				return
			}
		}
	}
}

// Open returns the names of the constants that stay open.
func (p *Plan) Open() []string {
	var out []string
	for _, x := range p.Params {
		out = append(out, x.Name)
	}
	return out
}

// Valuations yields the valuations of the constants of the task's property.
func (t *Task) Valuations() iter.Seq[sema.Valuation] { return t.Source.Experiment.Properties(t.Index) }

// maxVerdicts is the largest number of verdicts of one job, so that a mistake in a range
// gives an error and does not use all memory.
const maxVerdicts = 1_000_000

// Verdicts returns the number of verdicts of the job.
func (p *Plan) Verdicts() int { return p.count(maxVerdicts) }

// ModelText returns the model in PRISM's language: its text, or its translation.
func (p *Plan) ModelText() []byte {
	if p.jani == nil {
		return p.Job.Model
	}
	var b bytes.Buffer
	if err := syntax.Fprint(&b, p.Tree, syntax.Options{}); err != nil {
		panic(err) // PRISM's dialect can print every tree, and a buffer never fails
	}
	return b.Bytes()
}

// Definitions returns the definitions of constants for ModelText, which gives constants of JANI another name if theirs is a keyword of PRISM.
func (p *Plan) Definitions() []string {
	if p.jani == nil {
		return p.Job.Consts
	}
	var out []string
	for _, text := range p.Job.Consts {
		parts := strings.Split(text, ",")
		for i, part := range parts {
			name, value, isDefinition := strings.Cut(part, "=")
			if own, ok := p.jani.Constants[strings.TrimSpace(name)]; ok && isDefinition {
				parts[i] = own + "=" + value
			}
		}
		out = append(out, strings.Join(parts, ","))
	}
	return out
}

// count returns the number of verdicts, or limit if there are more.
func (p *Plan) count(limit int) int {
	n := 0
	for range p.Models() {
		for _, t := range p.Tasks {
			if t.Rejected != nil {
				n++
			} else {
				for range t.Valuations() {
					if n++; n >= limit {
						return limit
					}
				}
			}
			if n >= limit {
				return limit
			}
		}
	}
	return n
}

// Constants returns the constants of valuations in the form that verdicts have.
func Constants(valuations ...sema.Valuation) []result.Constant {
	out := []result.Constant{}
	for _, v := range valuations {
		for _, c := range v {
			out = append(out, result.Constant{Name: c.Name, Value: c.Val.String()})
		}
	}
	return out
}

// PlanError is an error of the files of a job, or of its constants or selection of properties.
type PlanError struct {
	// Step is result.Parse for a syntax error, result.TypeError for an error of names or
	// types, result.Unsupported, and result.Constants for values of constants and
	// the selection of properties.
	Step result.Class
	Err  error // often a syntax.ErrorList, or several joined
}

func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *PlanError) Unwrap() error { return e.Err }

// WrongWay returns the message that the model and the properties file are swapped.
func WrongWay(model, props string) string {
	return props + " is a model and " + model + " has properties: want the model first"
}

// Misplaced returns a message if a file of the job is of the other kind: a model in the place
// of properties, or properties in the place of a model. It is empty otherwise. Callers use it
// to explain an error.
func (j *Job) Misplaced() string {
	isModel := func(text []byte) bool { _, err := syntax.ParseModelOf(syntax.Storm, "", text); return err == nil }
	isProps := func(text []byte) bool { _, err := syntax.ParsePropertiesOf(syntax.Storm, "", text); return err == nil }
	wrongModel := len(j.Model) > 0 && !isModel(j.Model) && isProps(j.Model)
	wrongProps := len(j.Properties) > 0 && !isProps(j.Properties) && isModel(j.Properties)
	switch {
	case wrongModel && wrongProps:
		return WrongWay(j.File, j.PropsFile)
	case wrongModel:
		return j.File + " has properties, want a model"
	case wrongProps:
		return j.PropsFile + " is a model, want properties"
	}
	return ""
}

func planError(step result.Class, err error) error {
	if err == nil {
		return nil
	}
	return &PlanError{step, err}
}

// NewPlan checks the files of a job as PRISM does before anything runs. The
// error is a *PlanError, or the context's.
func NewPlan(ctx context.Context, job Job) (*Plan, error) {
	var p *Plan
	var failure error
	if err := ending.Await(ctx, func() { p, failure = newPlan(job) }); err != nil {
		return nil, err
	}
	if failure == nil && len(p.Tasks) == 0 {
		err := errors.New("no properties to check")
		if job.PropsFile != "" {
			err = fmt.Errorf("%s: %w", job.PropsFile, err)
		}
		return nil, planError(result.Constants, err)
	}
	return p, failure
}

// PlanModel is NewPlan without properties, for work on the model alone.
func PlanModel(ctx context.Context, job Job) (*Plan, error) {
	job.PropsFile, job.Properties, job.Props, job.Select = "", nil, nil, nil
	var p *Plan
	var failure error
	if err := ending.Await(ctx, func() { p, failure = newPlan(job) }); err != nil {
		return nil, err
	}
	return p, failure
}

// newPlan is NewPlan without a context, and without the check that there is a property.
func newPlan(job Job) (*Plan, error) {
	p := &Plan{Job: job}
	if err := p.readModel(); err != nil {
		return nil, err
	}
	if err := p.readProperties(); err != nil {
		return nil, err
	}
	if err := p.moveSelections(); err != nil {
		return nil, planError(result.Constants, err)
	}
	if err := p.readTexts(); err != nil {
		return nil, err
	}
	var err error
	if p.Tasks, err = p.selectTasks(); err != nil {
		return nil, planError(result.Constants, err)
	}
	if err := p.defineConstants(); err != nil {
		return nil, planError(result.Constants, err)
	}
	return p, nil
}

// timeRewards is added to models that are asked for Storm's operator T.
const timeRewards = "\nrewards \"" + syntax.TimeRewards + "\" true : 1; endrewards\n"

// readModel reads and checks the model.
func (p *Plan) readModel() (err error) {
	if p.Job.States != nil {
		p.Model = p.Job.States.Declares()
		return nil
	}
	isJANI := jani.Is(p.Job.Model)
	if !isJANI && p.Job.timed() && !bytes.HasSuffix(p.Job.Model, []byte(timeRewards)) { // the job may be that of another plan
		p.Job.Model = append(slices.Clip(p.Job.Model), timeRewards...)
	}
	if isJANI {
		if p.jani, err = jani.Read(p.Job.File, p.Job.Model, wholeNumbers(p.Job.Consts)); err != nil {
			if _, ok := errors.AsType[*jani.Unsupported](err); ok {
				return planError(result.Unsupported, err)
			}
			return planError(result.Parse, err)
		}
		p.Tree = p.jani.Model
		if p.Job.timed() {
			p.Tree.Items = append(p.Tree.Items, p.jani.Time)
		}
	} else if p.Tree, err = syntax.ParseModelOf(p.Job.Dialect, p.Job.File, p.Job.Model); err != nil {
		return planError(result.Parse, err)
	}
	if p.Job.Generated != nil && (p.Job.Method == "" || p.Job.Method == States) { // samples have no schedulers
		if w := p.Job.Generated.Warning(p.Tree); w != "" {
			p.Warnings = append(p.Warnings, w)
		}
	}
	if p.Model, err = sema.CheckModel(p.Tree); err != nil {
		return planError(result.TypeError, err)
	}
	if p.Model.IsMarkovAutomaton() {
		p.Warnings = append(p.Warnings, "the model is a Markov automaton: its embedded MDP is checked, in which time is a reward; long-run averages, and bounds on the time of F and U, are computed on the automaton itself")
	}
	return nil
}

// wholeNumbers returns the constants whose value is one whole number.
func wholeNumbers(consts []string) map[string]string {
	out := map[string]string{}
	for _, list := range consts {
		for _, c := range strings.Split(list, ",") {
			name, value, _ := strings.Cut(c, "=")
			if value = strings.TrimSpace(value); value != "" && strings.Trim(strings.TrimPrefix(value, "-"), "0123456789") == "" {
				out[strings.TrimSpace(name)] = value
			}
		}
	}
	return out
}

// Instance is a property with values of its constants.
type Instance = logic.Property

// Instance returns the task's property under a valuation of its constants.
func (t *Task) Instance(program *sema.Program, v sema.Valuation) (Instance, error) {
	props, full, err := t.Source.Props.Instantiate(program, []int{t.Index}, v.Map())
	if err != nil {
		return Instance{}, err
	}
	return Instance{Property: props[0], Program: full, File: t.Source.File}, nil
}

// Instances returns the model and the properties that are not rejected. It returns an
// error if their constants have several valuations.
func (p *Plan) Instances() (*sema.Program, []Instance, error) {
	model, err := Single(p.Models())
	if err != nil {
		return nil, nil, err
	}
	program, err := p.Model.InstantiateOpen(model.Map(), p.Open())
	if err != nil {
		return nil, nil, err
	}
	var out []Instance
	for _, t := range p.Tasks {
		if t.Rejected != nil {
			continue
		}
		values, err := Single(t.Valuations())
		if err != nil {
			return nil, nil, err
		}
		in, err := t.Instance(program, values)
		if err != nil {
			return nil, nil, err
		}
		in.Name = t.Name
		out = append(out, in)
	}
	return program, out, nil
}

// Single returns the only valuation. It returns an error if there are several.
func Single(valuations iter.Seq[sema.Valuation]) (sema.Valuation, error) {
	var all []sema.Valuation
	for v := range valuations {
		if all = append(all, v); len(all) > 1 {
			return nil, fmt.Errorf("the constants have several values (%s and %s among them), want one of each", all[0], all[1])
		}
	}
	return all[0], nil
}

// WithSettings returns the plan with other settings.
func (p *Plan) WithSettings(change func(*Settings)) *Plan {
	q := *p
	change(&q.Job.Settings)
	return &q
}

// WithOutputs returns the plan with other outputs.
func (p *Plan) WithOutputs(change func(*Outputs)) *Plan {
	q := *p
	change(&q.Job.Outputs)
	return &q
}

// Part returns the plan for some of its tasks, by index, and for other
// definitions of the constants; nil leaves either as it is.
func (p *Plan) Part(tasks []int, consts []string) (*Plan, error) {
	q, copies := p.clone()
	if consts != nil {
		q.Job.Consts = consts
	}
	if tasks != nil {
		q.Tasks = nil
		for _, i := range tasks {
			t := *p.Tasks[i]
			t.Source = copies[t.Source]
			q.Tasks = append(q.Tasks, &t)
		}
	}
	return q, planError(result.Constants, q.defineConstants())
}

// Over returns the plan for another model with the same declarations.
func (p *Plan) Over(m *sema.Model) (*Plan, error) {
	q, _ := p.clone()
	q.Model = m
	for _, s := range q.sources {
		var err error
		if s.Props, err = m.CheckProperties(s.Tree); err != nil {
			return nil, planError(result.TypeError, err)
		}
	}
	return q, planError(result.Constants, q.defineConstants())
}

// clone copies the parts of a plan that change. It returns the new sources by the
// old ones.
func (p *Plan) clone() (*Plan, map[*Source]*Source) {
	q := *p
	q.sources, q.Tasks, q.Warnings = nil, nil, nil
	copies := make(map[*Source]*Source)
	for _, s := range p.sources {
		c := *s
		c.Base = copies[s.Base]
		copies[s] = &c
		q.sources = append(q.sources, &c)
	}
	for _, t := range p.Tasks {
		c := *t
		c.Source = copies[t.Source]
		q.Tasks = append(q.Tasks, &c)
	}
	return &q, copies
}

// selectTasks returns the properties of all sources, or those that Job.Select lists
// by name or by 1-based number.
func (p *Plan) selectTasks() ([]*Task, error) {
	var all []*Task
	for _, s := range p.sources {
		all = append(all, s.tasks()...)
	}
	if len(all) == 0 || len(p.Job.Select) == 0 {
		return all, nil
	}
	var tasks []*Task
	for _, word := range p.Job.Select {
		i := slices.IndexFunc(all, func(t *Task) bool { return t.Name != "" && t.Name == word })
		if n, err := strconv.Atoi(word); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(all) {
			return nil, selectionError("no property %q, want a name or a number from 1 to %d", word, len(all))
		}
		tasks = append(tasks, all[i])
	}
	return tasks, nil
}

// checkParam returns an error if a parameter has a value in the model.
func (p *Plan) checkParam(name string) error {
	if p.Tree == nil { // files of states have no constants
		return nil
	}
	for _, item := range p.Tree.Items {
		if c, ok := item.(*syntax.ConstDecl); ok && c.Name.Name == name {
			if c.Value != nil {
				return &ParamError{fmt.Errorf("constant %q has a value in the model, want one without: const double %s;", name, name)}
			}
			return nil
		}
	}
	return nil
}

// translateNames replaces the names of a JANI model's constants by their names in its translation, in definitions and in p.Params.
func (p *Plan) translateNames(defs []sema.ConstDef) {
	if p.jani == nil {
		return
	}
	for i := range defs {
		if translated, ok := p.jani.Constants[defs[i].Name]; ok {
			defs[i].Name = translated
		}
	}
	for i := range p.Params {
		if translated, ok := p.jani.Constants[p.Params[i].Name]; ok {
			p.Params[i].Name = translated
		}
	}
}

// addUndefinedParams makes a parameter of every constant of type double without a value.
func (p *Plan) addUndefinedParams(defs []sema.ConstDef) {
	for _, constant := range p.Model.Constants() {
		given := slices.ContainsFunc(defs, func(def sema.ConstDef) bool { return def.Name == constant.Name })
		if !constant.Defined && !given && constant.Type == sema.Double && !slices.Contains(p.Open(), constant.Name) {
			p.Params = append(p.Params, Param{Name: constant.Name})
		}
	}
}

// defineConstants checks the definitions of constants against all sources. A name that no source declares gives a warning.
func (p *Plan) defineConstants() error {
	defs, err := sema.ParseConsts(p.Job.Consts)
	if err != nil {
		return err
	}
	if p.Params, err = parseParams(p.Job.Params); err != nil {
		return err
	}
	p.translateNames(defs)
	if p.Job.LeaveOpen {
		p.addUndefinedParams(defs)
	}
	for _, param := range p.Params {
		if err := p.checkParam(param.Name); err != nil {
			return err
		}
		defs = append(defs, sema.ConstDef{Name: param.Name, Low: "0"}) // the value does not matter, because Models omits it
	}
	unknown := make(map[string]int)
	for _, s := range p.sources {
		sel := []int{}
		for _, t := range p.Tasks {
			if t.Source == s && t.Rejected == nil {
				sel = append(sel, t.Index)
			}
		}
		if s.Experiment, err = p.Model.Experiment(s.Props, sel, defs); err != nil {
			return err
		}
		for _, w := range s.Experiment.Warnings {
			if unknown[w.Error()]++; unknown[w.Error()] == len(p.sources) {
				p.Warnings = append(p.Warnings, w.Error())
			}
		}
	}
	if p.count(maxVerdicts+1) > maxVerdicts {
		return fmt.Errorf("the constants have values for more than %d results, want fewer", maxVerdicts)
	}
	return nil
}
