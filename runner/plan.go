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
// does not change, so several engines may use it at the same time.
type Plan struct {
	// Job has the settings and outputs. Engines take the model and the properties from Tree, Model and Tasks.
	Job   Job
	Tree  *syntax.Model // nil for States
	Model *sema.Model
	Tasks []*Task // none for PlanModel
	// Params are the constants that stay open. No valuation has a value for them.
	Params []Param
	// Warnings are the warnings of the job. Every verdict carries them.
	Warnings []string

	sources []*Source         // the properties file, then the texts of Job.Props
	jani    *jani.Translation // nil for a model in another language
	// isTranslated says that the model is in another language than PRISM's, and Tree is its translation.
	isTranslated bool
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

// Models yields the valuations of the model's constants. They have no values for the parameters.
func (p *Plan) Models() iter.Seq[sema.Valuation] {
	valuations := p.sources[0].Experiment.Models()
	if len(p.Params) == 0 {
		return valuations
	}
	return func(yield func(sema.Valuation) bool) {
		for valuation := range valuations {
			if !yield(p.withoutParams(valuation)) {
				return
			}
		}
	}
}

// withoutParams returns a valuation without the constants that stay open. It changes the valuation in place.
func (p *Plan) withoutParams(valuation sema.Valuation) sema.Valuation {
	return slices.DeleteFunc(valuation, func(constant sema.NamedValue) bool { return slices.Contains(p.Open(), constant.Name) })
}

// Open returns the names of the parameters, which are the constants that stay open.
func (p *Plan) Open() []string {
	var names []string
	for _, param := range p.Params {
		names = append(names, param.Name)
	}
	return names
}

// Valuations yields the valuations of the constants of the task's property.
func (t *Task) Valuations() iter.Seq[sema.Valuation] { return t.Source.Experiment.Properties(t.Index) }

// maxVerdicts is the largest number of verdicts of one job, so that a mistake in a range
// gives an error and does not use all memory.
const maxVerdicts = 1_000_000

// Verdicts returns the number of verdicts of the job.
func (p *Plan) Verdicts() int { return p.count(maxVerdicts) }

// ModelText returns the model in PRISM's language: the text of the job, or the translation of a model in another language.
func (p *Plan) ModelText() []byte {
	if !p.isTranslated {
		return p.Job.Model
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, p.Tree, syntax.Options{}); err != nil {
		panic(err) // PRISM's dialect can print every tree, and a buffer never fails
	}
	return text.Bytes()
}

// Definitions returns the definitions of constants that fit ModelText. The translation of a JANI model gives another name to a constant whose name is
// a keyword of PRISM.
func (p *Plan) Definitions() []string {
	if p.jani == nil {
		return p.Job.Consts
	}
	var definitions []string
	for _, text := range p.Job.Consts {
		words := strings.Split(text, ",")
		for i, word := range words {
			name, value, isDefinition := strings.Cut(word, "=")
			if translated, ok := p.jani.Constants[strings.TrimSpace(name)]; ok && isDefinition {
				words[i] = translated + "=" + value
			}
		}
		definitions = append(definitions, strings.Join(words, ","))
	}
	return definitions
}

// count returns the number of verdicts of the job. It stops counting at the limit.
func (p *Plan) count(limit int) int {
	count := 0
	for range p.Models() {
		for _, task := range p.Tasks {
			if task.Rejected != nil {
				count++
			} else {
				for range task.Valuations() {
					if count++; count >= limit {
						break
					}
				}
			}
			if count >= limit {
				return limit
			}
		}
	}
	return count
}

// Constants returns the names and the exact values of the constants of valuations, in the form that verdicts have. It is never nil.
func Constants(valuations ...sema.Valuation) []result.Constant {
	constants := []result.Constant{}
	for _, valuation := range valuations {
		for _, constant := range valuation {
			constants = append(constants, result.Constant{Name: constant.Name, Value: constant.Val.ExactText()})
		}
	}
	return constants
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

// planError returns an error as a *PlanError of a step; nil for nil.
func planError(step result.Class, err error) error {
	if err == nil {
		return nil
	}
	return &PlanError{step, err}
}

// ErrNoProperties is the error of a job that has no property to check.
var ErrNoProperties = errors.New("no properties to check")

// NewPlan reads and checks the files of a job. It returns ErrNoProperties if there is no property to check. The error is a *PlanError, or the error of the
// context.
func NewPlan(ctx context.Context, job Job) (*Plan, error) {
	var plan *Plan
	var failure error
	if err := ending.Await(ctx, func() { plan, failure = newPlan(job) }); err != nil {
		return nil, err
	}
	if failure == nil && len(plan.Tasks) == 0 {
		err := ErrNoProperties
		if job.PropsFile != "" {
			err = fmt.Errorf("%s: %w", job.PropsFile, err)
		}
		return nil, planError(result.Constants, err)
	}
	return plan, failure
}

// PlanModel reads and checks only the model of a job: the plan has no properties. The error is as for NewPlan.
func PlanModel(ctx context.Context, job Job) (*Plan, error) {
	job.PropsFile, job.Properties, job.Props, job.Select = "", nil, nil, nil
	var plan *Plan
	var failure error
	if err := ending.Await(ctx, func() { plan, failure = newPlan(job) }); err != nil {
		return nil, err
	}
	return plan, failure
}

// newPlan reads and checks the files of a job, selects the properties and defines the constants. The plan may have no properties.
func newPlan(job Job) (*Plan, error) {
	plan := &Plan{Job: job}
	if err := plan.readModel(); err != nil {
		return nil, err
	}
	if err := plan.readProperties(); err != nil {
		return nil, err
	}
	if err := plan.moveSelections(); err != nil {
		return nil, planError(result.Constants, err)
	}
	if err := plan.readTexts(); err != nil {
		return nil, err
	}
	var err error
	if plan.Tasks, err = plan.selectTasks(); err != nil {
		return nil, planError(result.Constants, err)
	}
	if err := plan.defineConstants(); err != nil {
		return nil, planError(result.Constants, err)
	}
	return plan, nil
}

// timeRewards is added to models that are asked for Storm's operator T.
const timeRewards = "\nrewards \"" + syntax.TimeRewards + "\" true : 1; endrewards\n"

// readModel reads the model of the job, in PRISM's language, JANI or DRN with parameters, and checks it. It sets Tree and Model, and adds the warnings about
// the model.
func (p *Plan) readModel() (err error) {
	if p.Job.States != nil {
		p.Model = p.Job.States.Declares()
		return nil
	}
	if err := p.parseModel(); err != nil {
		return err
	}
	if p.Job.Generated != nil && (p.Job.Method == "" || p.Job.Method == States) { // samples have no schedulers
		if warning := p.Job.Generated.Warning(p.Tree); warning != "" {
			p.Warnings = append(p.Warnings, warning)
		}
	}
	if p.Model, err = sema.CheckModel(p.Tree); err != nil {
		return planError(result.TypeError, err)
	}
	if p.Model.IsMarkovAutomaton() {
		p.Warnings = append(p.Warnings, "the model is a Markov automaton: its embedded MDP is checked, in which time is a reward; long-run averages, and bounds on the time of F, U and R, are computed on the automaton itself")
	}
	return nil
}

// parseModel sets Tree to the syntax tree of the model. If a property has Storm's operator T, it adds the reward structure of this operator.
func (p *Plan) parseModel() (err error) {
	if p.isTranslated = jani.IsJANI(p.Job.Model); p.isTranslated {
		return p.parseJANI()
	}
	if p.Tree, p.isTranslated, err = readDRN(&p.Job); p.isTranslated {
		return planError(result.Parse, err)
	}
	if p.Job.UsesOperatorT() && !bytes.HasSuffix(p.Job.Model, []byte(timeRewards)) { // the job of another plan already has them
		p.Job.Model = append(slices.Clip(p.Job.Model), timeRewards...)
	}
	p.Tree, err = syntax.ParseModelOf(p.Job.Dialect, p.Job.File, p.Job.Model)
	return planError(result.Parse, err)
}

// parseJANI sets Tree to the translation of the JANI model.
func (p *Plan) parseJANI() (err error) {
	p.jani, err = jani.Read(p.Job.File, p.Job.Model, wholeNumbers(p.Job.Consts))
	if _, ok := errors.AsType[*jani.Unsupported](err); ok {
		return planError(result.Unsupported, err)
	}
	if err != nil {
		return planError(result.Parse, err)
	}
	p.Tree = p.jani.Model
	if p.Job.UsesOperatorT() {
		p.Tree.Items = append(p.Tree.Items, p.jani.Time)
	}
	return nil
}

// wholeNumbers returns the values, by name, of the constants that are defined as an integer. It ignores other definitions, such as ranges.
func wholeNumbers(consts []string) map[string]string {
	values := map[string]string{}
	for _, list := range consts {
		for _, definition := range strings.Split(list, ",") {
			name, value, _ := strings.Cut(definition, "=")
			if value = strings.TrimSpace(value); value != "" && strings.Trim(strings.TrimPrefix(value, "-"), "0123456789") == "" {
				values[strings.TrimSpace(name)] = value
			}
		}
	}
	return values
}

// Instance is a property with values of its constants.
type Instance = logic.Property

// Instance returns the task's property under a valuation of its constants. program is the instance of the model.
func (t *Task) Instance(program *sema.Program, valuation sema.Valuation) (Instance, error) {
	return t.instance(program, valuation, nil)
}

// instance returns the task's property under a valuation of its constants. Constants that are among open have no value.
func (t *Task) instance(program *sema.Program, valuation sema.Valuation, open []string) (Instance, error) {
	props, full, err := t.Source.Props.InstantiateSymbolic(program, []int{t.Index}, valuation.Map(), open)
	if err != nil {
		return Instance{}, err
	}
	return Instance{Property: props[0], Program: full, File: t.Source.File}, nil
}

// Instances returns the instance of the model and the instances of the properties that are not rejected. It returns an error if a constant has
// several values.
func (p *Plan) Instances() (*sema.Program, []Instance, error) {
	model, err := Single(p.Models())
	if err != nil {
		return nil, nil, err
	}
	instantiate := p.Model.InstantiateOpen
	if p.Job.LeaveOpen {
		instantiate = p.Model.InstantiateSymbolic
	}
	program, err := instantiate(model.Map(), p.Open())
	if err != nil {
		return nil, nil, err
	}
	var instances []Instance
	for _, task := range p.Tasks {
		if task.Rejected != nil {
			continue
		}
		values, err := Single(task.Valuations())
		if err != nil {
			return nil, nil, err
		}
		instance, err := task.instance(program, p.withoutParams(values), p.Open())
		if err != nil {
			return nil, nil, err
		}
		instance.Name = task.Name
		instances = append(instances, instance)
	}
	return program, instances, nil
}

// Single returns the only valuation. It returns an error if there are several.
func Single(valuations iter.Seq[sema.Valuation]) (sema.Valuation, error) {
	var list []sema.Valuation
	for valuation := range valuations {
		if list = append(list, valuation); len(list) > 1 {
			return nil, fmt.Errorf("the constants have several values (%s and %s among them), want one of each", list[0], list[1])
		}
	}
	return list[0], nil
}

// WithSettings returns the plan with other settings.
func (p *Plan) WithSettings(change func(*Settings)) *Plan {
	changed := *p
	change(&changed.Job.Settings)
	return &changed
}

// WithOutputs returns the plan with other outputs.
func (p *Plan) WithOutputs(change func(*Outputs)) *Plan {
	changed := *p
	change(&changed.Job.Outputs)
	return &changed
}

// Part returns a plan for the tasks with these indexes, and with other definitions of the constants. If tasks is nil, it keeps all tasks; if consts is
// nil, it keeps the definitions.
func (p *Plan) Part(tasks []int, consts []string) (*Plan, error) {
	part, copies := p.clone()
	if consts != nil {
		part.Job.Consts = consts
	}
	if tasks != nil {
		part.Tasks = nil
		for _, index := range tasks {
			task := *p.Tasks[index]
			task.Source = copies[task.Source]
			part.Tasks = append(part.Tasks, &task)
		}
	}
	return part, planError(result.Constants, part.defineConstants())
}

// Over returns a copy of the plan for another model. It checks the properties against this model, which must declare all names in them.
func (p *Plan) Over(model *sema.Model) (*Plan, error) {
	changed, _ := p.clone()
	changed.Model = model
	for _, source := range changed.sources {
		var err error
		if source.Props, err = model.CheckProperties(source.Tree); err != nil {
			return nil, planError(result.TypeError, err)
		}
	}
	return changed, planError(result.Constants, changed.defineConstants())
}

// Composed returns the plan for a JANI model whose automata are composed and minimised: see [jani.ReadComposed]. It returns nil if the model has no such
// automata. It returns an error only if the context ends.
func (p *Plan) Composed(ctx context.Context) (*Plan, error) {
	if p.jani == nil || !p.Model.IsMarkovAutomaton() {
		return nil, nil
	}
	translation, isComposed, err := jani.ReadComposed(ctx, p.Job.File, p.Job.Model, wholeNumbers(p.Job.Consts))
	if err != nil || !isComposed {
		return nil, ctx.Err() // a composition that is too large to translate is not used
	}
	tree := translation.Model
	if p.Job.UsesOperatorT() {
		tree.Items = append(tree.Items, translation.Time)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		return nil, ctx.Err()
	}
	composed, err := p.Over(model)
	if err != nil { // a property mentions the location of an automaton that the composition has replaced
		return nil, ctx.Err()
	}
	composed.Tree, composed.jani = tree, translation
	return composed.WithWarning("automata of the model were composed and minimised by branching bisimulation: the sizes are those of the result"), nil
}

// WithWarning returns a copy of the plan with one more warning.
func (p *Plan) WithWarning(text string) *Plan {
	q := *p
	q.Warnings = append(slices.Clip(p.Warnings), text)
	return &q
}

// clone returns a copy of the plan, and a map from the sources of the plan to the sources of the copy. The copy has no warnings.
func (p *Plan) clone() (*Plan, map[*Source]*Source) {
	cloned := *p
	cloned.sources, cloned.Tasks, cloned.Warnings = nil, nil, nil
	copies := make(map[*Source]*Source)
	for _, source := range p.sources {
		copied := *source
		copied.Base = copies[source.Base]
		copies[source] = &copied
		cloned.sources = append(cloned.sources, &copied)
	}
	for _, task := range p.Tasks {
		copied := *task
		copied.Source = copies[task.Source]
		cloned.Tasks = append(cloned.Tasks, &copied)
	}
	return &cloned, copies
}

// selectTasks returns the properties that Job.Select lists by name or by 1-based number. It returns the properties of all sources if the list is
// empty.
func (p *Plan) selectTasks() ([]*Task, error) {
	var candidates []*Task
	for _, source := range p.sources {
		candidates = append(candidates, source.tasks()...)
	}
	if len(candidates) == 0 || len(p.Job.Select) == 0 {
		return candidates, nil
	}
	var tasks []*Task
	for _, word := range p.Job.Select {
		index := slices.IndexFunc(candidates, func(task *Task) bool { return task.Name != "" && task.Name == word })
		if number, err := strconv.Atoi(word); index < 0 && err == nil {
			index = number - 1
		}
		if index < 0 || index >= len(candidates) {
			return nil, selectionError("no property %q, want a name or a number from 1 to %d", word, len(candidates))
		}
		tasks = append(tasks, candidates[index])
	}
	return tasks, nil
}

// checkParam returns an error if the model or one of the definitions has a value of the parameter.
func (p *Plan) checkParam(name string, defs []sema.ConstDef) error {
	isDefined := slices.ContainsFunc(defs, func(def sema.ConstDef) bool { return def.Name == name })
	if isDefined {
		place := ""
		for _, constant := range p.Model.Constants() {
			if constant.Name == name && p.Tree != nil && p.jani == nil {
				place = fmt.Sprintf(" of %s:%d:%d", p.Job.File, constant.Pos.Line, constant.Pos.Col)
			}
		}
		return &ParamError{fmt.Errorf("constant %q%s also has a value from --const, want it with one of the two flags", name, place)}
	}
	if p.Tree == nil { // files of states have no constants
		return nil
	}
	for _, item := range p.Tree.Items {
		if constant, ok := item.(*syntax.ConstDecl); ok && constant.Name.Name == name {
			if constant.Value != nil {
				return &ParamError{fmt.Errorf("constant %q has already been defined in the model; to set it here, declare it without a value: const double %s;", name, name)}
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

// constants returns the constants of the model, and those of the properties files that the tasks need and that have no definition.
func (p *Plan) constants() []sema.Constant {
	constants := p.Model.Constants()
	for _, task := range p.Tasks {
		if task.Rejected != nil {
			continue
		}
		needs := task.Source.Props.Needs(task.Index)
		for _, constant := range task.Source.Props.Constants() {
			if slices.Contains(needs, constant.Name) {
				constants = append(constants, constant)
			}
		}
	}
	return constants
}

// addUndefinedParams makes a parameter of every constant without a value.
func (p *Plan) addUndefinedParams(defs []sema.ConstDef) {
	for _, constant := range p.constants() {
		isDefined := slices.ContainsFunc(defs, func(def sema.ConstDef) bool { return def.Name == constant.Name })
		if !constant.Defined && !isDefined && !slices.Contains(p.Open(), constant.Name) {
			p.Params = append(p.Params, Param{Name: constant.Name})
		}
	}
}

// placeholder returns a definition that gives a parameter some value of its type. The value does not matter, because Models omits it.
func (p *Plan) placeholder(name string) sema.ConstDef {
	isBool := func(constant sema.Constant) bool { return constant.Name == name && constant.Type == sema.Bool }
	if slices.ContainsFunc(p.constants(), isBool) {
		return sema.ConstDef{Name: name, Low: "false"}
	}
	return sema.ConstDef{Name: name, Low: "0"}
}

// defineConstants reads the definitions of constants and the parameters of the job, and sets the experiments of all sources. It adds a warning for a
// name that no source declares. It returns an error if there are more than maxVerdicts verdicts.
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
		if err := p.checkParam(param.Name, defs); err != nil {
			return err
		}
		defs = append(defs, p.placeholder(param.Name))
	}
	unknown := make(map[string]int)
	for _, source := range p.sources {
		selected := []int{}
		for _, task := range p.Tasks {
			if task.Source == source && task.Rejected == nil {
				selected = append(selected, task.Index)
			}
		}
		if source.Experiment, err = p.Model.Experiment(source.Props, selected, defs); err != nil {
			return err
		}
		for _, warning := range source.Experiment.Warnings {
			if unknown[warning.Error()]++; unknown[warning.Error()] == len(p.sources) {
				p.Warnings = append(p.Warnings, warning.Error())
			}
		}
	}
	if p.count(maxVerdicts+1) > maxVerdicts {
		return fmt.Errorf("the constants have values for more than %d results, want fewer", maxVerdicts)
	}
	return nil
}
