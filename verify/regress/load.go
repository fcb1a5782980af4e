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

// loadedTest is a test whose files were read and whose annotations were chosen.
type loadedTest struct {
	*Test
	opt          *Options
	switches     suite.Options
	model, props []byte
	// job has all settings except the method of an engine. Its model has the type that the switches ask for.
	job       runner.Job
	plan      *runner.Plan // nil without properties, or with err
	tree      *syntax.Properties
	instances []*propertyInstance
	// err says why the test cannot be run. Then only properties whose annotations expect an error of the files have instances.
	err error
	// falseAlarm is the probability with which one statistical expectation may fail by chance.
	falseAlarm float64
	// number is the number of the test in the suite, from 1.
	number int
	// wantsRunResults says that the report has results about the whole run.
	wantsRunResults bool
	// space is the imported state space, nil without imports. importsHash is a hash of its files, and importErr the error of reading them.
	space       *explicit.Space
	importsHash string
	importErr   error
}

// propertyInstance is one property under one valuation of the constants. It gets one result for each engine.
type propertyInstance struct {
	task                              *runner.Task
	number                            int // among the properties of the file, from 1
	modelValuation, propertyValuation sema.Valuation
	rules                             expect.Rules
	chosen                            expect.Chosen
	// annotated says that the property has annotations.
	annotated bool
	// choiceErr says why no annotation could be chosen. It is nil if one was chosen.
	choiceErr error
	// extraPlace is the place of a chosen expectation outside of the properties file.
	extraPlace string
	// chosenExtras are the positions of the chosen annotations outside of the properties file.
	chosenExtras []syntax.Pos
	id           string
	selected     bool // Options.Only selects it
}

// constants returns the values of the constants of the model and of the property.
func (instance *propertyInstance) constants() []result.Constant {
	return runner.Constants(instance.modelValuation, instance.propertyValuation)
}

// loadTest reads the files of a test and chooses the annotations. An error is in the err field of the test.
func loadTest(ctx context.Context, definition *Test, opt *Options) *loadedTest {
	test := &loadedTest{Test: definition, opt: opt}
	test.err = test.load(ctx)
	return test
}

// load reads the files of a test and chooses the annotations. An error in files that the test imports is in the field importErr.
func (test *loadedTest) load(ctx context.Context) error {
	var err error
	if test.switches, err = test.Options(); err != nil {
		if syntaxErr, ok := err.(*syntax.Error); ok {
			return &syntax.Error{File: test.opt.name(syntaxErr.File), Pos: syntaxErr.Pos, Msg: syntaxErr.Msg}
		}
		return err
	}
	if test.model, err = test.read(test.switches.Model); err != nil {
		return err
	}
	if test.props, err = test.read(test.switches.Props); err != nil {
		return err
	}
	if test.job, err = test.newJob(); err != nil {
		return err
	}
	if len(test.switches.Imports) > 0 {
		test.space, test.importErr = test.readImports(ctx)
	}
	if test.space != nil && test.importErr == nil {
		test.job.States = test.space
	}
	hasModel := test.switches.Model != "" || test.space != nil
	hasProperties := test.switches.Props != "" || jani.Is(test.model)
	if !hasModel || !hasProperties || test.importsResults() {
		return nil
	}
	return test.makeInstances(ctx)
}

// importsResults reports whether the test imports its results from a file, so that there is nothing to check.
func (test *loadedTest) importsResults() bool {
	return slices.ContainsFunc(test.switches.Imports, func(words []string) bool { return strings.HasSuffix(words[0], "-importresults") })
}

// maxText is the greatest size in bytes of a model or properties file.
const maxText = 1 << 30

// read returns the contents of a file of the test. It returns nil for an empty name, which means that the states are imported.
func (test *loadedTest) read(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := limited.ReadFile(test.opt.FS, file, test.maxTextSize())
	if pathErr, ok := err.(*fs.PathError); ok {
		return nil, fmt.Errorf("%s: %w", test.opt.name(file), pathErr.Err)
	}
	return text, err
}

// maxTextSize returns the largest size in bytes of a file that is read, compressed or not.
func (test *loadedTest) maxTextSize() int64 {
	if test.memory() > 0 {
		return min(maxText, test.memory())
	}
	return maxText
}

// newJob returns the job that the switches of the test ask for.
func (test *loadedTest) newJob() (runner.Job, error) {
	switches := &test.switches
	job := runner.Job{
		File:       test.opt.name(switches.Model),
		Model:      withType(test.model, switches.Type),
		PropsFile:  test.opt.name(switches.Props),
		Properties: test.props,
		Dialect:    test.Dialect,
		Select:     switches.Select,
		Generated:  modelgen.Recognizer{},
		Settings:   runner.Settings{NoFixDeadlocks: switches.NoFixDeadlocks},
	}
	if sampling := switches.Simulation; sampling != nil {
		job.Method = cmp.Or(runner.Method(sampling.Method), runner.Sim)
		job.Simulation = runner.Simulation{
			Samples:       sampling.Samples,
			MaxPath:       sampling.PathLength,
			Width:         sampling.HalfWidth,
			Approximation: sampling.Approximation,
			MaxReward:     sampling.MaxRewardSum,
			MinSamples:    sampling.MinSamples,
			Seed:          test.opt.Seed,
		}
		if sampling.Error > 0 {
			job.Simulation.Confidence = stats.Confidence(sampling.Error)
		}
	}
	job.Numeric.MaxMemory = test.memory()
	job.Numeric.Fair = switches.Fair
	if switches.DigitalClocks {
		job.Numeric.Clocks = runner.DigitalClocks
	}
	if switches.Exact {
		job.Numeric.Accuracy = result.Exact
	}
	if switches.Params != "" {
		job.Params = []string{switches.Params}
	}
	var err error
	job.Consts, err = Override(switches.Consts, test.Consts)
	return job, err
}

// memory returns the memory limit of a run in bytes; 0 means none.
func (test *loadedTest) memory() int64 { return cmp.Or(test.Memory, test.opt.Memory) }

// Override returns definitions of constants in the syntax of -const: all replacements, and the definitions in consts of other constants. The error
// is a mistake in replacements.
func Override(consts, replacements []string) ([]string, error) {
	replacing, err := sema.ParseConsts(replacements)
	if err != nil || len(replacing) == 0 {
		return consts, err
	}
	var definitions []string
	for _, arg := range consts {
		for definition := range strings.SplitSeq(arg, ",") {
			name, _, _ := strings.Cut(definition, "=")
			name = strings.TrimSpace(name)
			isReplaced := slices.ContainsFunc(replacing, func(replacement sema.ConstDef) bool { return replacement.Name == name })
			if name != "" && !isReplaced {
				definitions = append(definitions, definition)
			}
		}
	}
	for _, replacement := range replacing {
		definitions = append(definitions, replacement.String())
	}
	return definitions, nil
}

// withType returns the model with another model type. It replaces the declared type by spaces and appends the new type, so that all other text keeps
// its position. A model that cannot be parsed is not changed.
func withType(model []byte, modelType syntax.ModelType) []byte {
	if modelType == syntax.TypeNone {
		return model
	}
	tree, err := syntax.ParseModel("", model)
	if err != nil {
		return model
	}
	changed := bytes.Clone(model)
	for _, node := range tree.Items {
		if declaration, ok := node.(*syntax.TypeDecl); ok {
			copy(changed[declaration.Pos().Offset:], strings.Repeat(" ", len(declaration.Word)))
		}
	}
	return append(changed, "\n"+strings.ToLower(modelType.String())+"\n"...)
}

// maxInstances is the largest number of results of one run. Without it, a mistake in the range of a constant could use all
// memory.
const maxInstances = 100_000

// makeInstances plans the job, and makes a property instance for each property under each valuation of the constants.
func (test *loadedTest) makeInstances(ctx context.Context) error {
	plan, err := runner.NewPlan(ctx, test.job)
	if err != nil {
		err = explainMisplaced(err, &test.job)
		if tree, mistakes := syntax.ParseProperties(test.job.PropsFile, test.props); mistakes == nil {
			test.tree = tree
			test.expectFailure(err)
		}
		return err
	}
	test.plan, test.tree = plan, plan.Tasks[0].Source.Parsed
	tasks := distinctTasks(plan.Tasks)
	for model := range plan.Models() {
		program, err := plan.Model.InstantiateOpen(model.Map(), plan.Open())
		if err != nil {
			program = nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, task := range tasks {
			test.addInstancesOf(task, program, model)
			if len(test.instances) > maxInstances {
				test.instances = nil
				return &runner.PlanError{Step: result.Constants, Err: fmt.Errorf("found more than %d results, want fewer values of constants", maxInstances)}
			}
		}
	}
	return nil
}

// distinctTasks returns the tasks without repetitions, because a property can be selected twice.
func distinctTasks(tasks []*runner.Task) []*runner.Task {
	var distinct []*runner.Task
	for _, task := range tasks {
		if !slices.Contains(distinct, task) {
			distinct = append(distinct, task)
		}
	}
	return distinct
}

// addInstance adds the instance of a property under a valuation of the constants of model and property. program is nil if the model has no
// instance under this valuation.
func (test *loadedTest) addInstance(task *runner.Task, program *sema.Program, model, property sema.Valuation) {
	instance := &propertyInstance{task: task, modelValuation: model, propertyValuation: property, number: test.numberOf(task.Property)}
	instance.rules = expect.Rules{
		Params: test.plan.Open(), Exact: test.switches.Exact || test.switches.Params != "", Relative: expect.DefaultRelative,
		Constants: slices.Concat(model, property),
	}
	if program != nil && task.Source != nil {
		instance.rules.Constants = task.Source.Props.Values(program, property.Map())
	}
	test.chooseAnnotations(instance)
	test.instances = append(test.instances, instance)
}

// numberOf returns the number of a property in its file, from 1.
func (test *loadedTest) numberOf(property *syntax.Property) int {
	number := 0
	for _, node := range test.tree.Items {
		if other, ok := node.(*syntax.Property); ok {
			number++
			if other.Pos() == property.Pos() {
				return number
			}
		}
	}
	return number
}

// addInstancesOf adds the instances of a task under a valuation of the model's constants, until there are more than maxInstances. program is
// nil if the model cannot be instantiated.
func (test *loadedTest) addInstancesOf(task *runner.Task, program *sema.Program, model sema.Valuation) {
	if task.Rejected != nil {
		test.addInstance(task, program, model, nil)
		return
	}
	for property := range task.Valuations() {
		test.addInstance(task, program, model, property)
		if len(test.instances) > maxInstances {
			return
		}
	}
}

// chooseAnnotations selects the expected result and the terms of an instance, from the expectations outside of the properties file and from the
// annotations of the property. The expectations outside of the file come first.
func (test *loadedTest) chooseAnnotations(instance *propertyInstance) {
	var results []expect.Expectation
	var terms []expect.Terms
	for _, extra := range test.Extra {
		if extra.Property != instance.task.Name && extra.Property != instance.task.Text {
			continue
		}
		if extra.Result != nil {
			results = append(results, *extra.Result)
		}
		if extra.Terms != nil {
			terms = append(terms, *extra.Terms)
		}
	}
	extraResults, extraTerms := len(results), len(terms)
	results = append(results, expect.Parse(test.props, instance.task.Property)...)
	terms = append(terms, expect.ParseTerms(test.props, instance.task.Property)...)
	instance.annotated = len(results)+len(terms) > 0
	test.chooseTerms(instance, terms, extraTerms)
	if instance.choiceErr == nil && len(results) > 0 {
		test.chooseResult(instance, results, extraResults)
	}
}

// chooseTerms selects the terms of an instance from a list. The first extraTerms items of the list are from outside of the properties file.
func (test *loadedTest) chooseTerms(instance *propertyInstance, terms []expect.Terms, extraTerms int) {
	instance.chosen.Terms, instance.choiceErr = expect.SelectTerms(terms, instance.rules)
	for i := range extraTerms {
		if instance.chosen.Terms == &terms[i] {
			instance.chosenExtras = append(instance.chosenExtras, terms[i].Pos)
			instance.extraPlace = test.placeOfExtraTerms(&terms[i])
		}
	}
}

// chooseResult selects the expected result of an instance from a list. The first extraResults items of the list are from outside of the properties
// file.
func (test *loadedTest) chooseResult(instance *propertyInstance, results []expect.Expectation, extraResults int) {
	instance.chosen.Result, instance.choiceErr = expect.Select(results, instance.rules)
	if instance.chosen.Result != nil {
		instance.extraPlace = ""
	}
	for i := range extraResults {
		if instance.chosen.Result == &results[i] {
			instance.chosenExtras = append(instance.chosenExtras, results[i].Pos)
			instance.extraPlace = test.placeOfExtraResult(&results[i])
		}
	}
	if instance.chosen.Expects() {
		instance.choiceErr = nil
	}
}

// placeOfExtraResult returns the place, file:line:col, of an expected result outside of the properties file.
func (test *loadedTest) placeOfExtraResult(expectation *expect.Expectation) string {
	for _, extra := range test.Extra {
		if extra.Result != nil && extra.Result.Pos == expectation.Pos && extra.Result.Text == expectation.Text {
			return extra.File + ":" + expectation.Pos.String()
		}
	}
	return ""
}

// placeOfExtraTerms returns the place, file:line:col, of terms outside of the properties file.
func (test *loadedTest) placeOfExtraTerms(terms *expect.Terms) string {
	for _, extra := range test.Extra {
		if extra.Terms != nil && extra.Terms.Pos == terms.Pos && extra.Terms.Text == terms.Text {
			return extra.File + ":" + terms.Pos.String()
		}
	}
	return ""
}

// expectFailure adds an instance for every property whose annotation expects an error of the same class as err, the error that the files of the test
// have.
func (test *loadedTest) expectFailure(err error) {
	failure := fileFailure(err)
	for _, node := range test.tree.Items {
		property, ok := node.(*syntax.Property)
		if !ok {
			continue
		}
		task := &runner.Task{Text: syntax.ExprString(property.X), Pos: property.Pos(), Property: property}
		if property.Name != nil {
			task.Name = property.Name.Name
		}
		instance := &propertyInstance{task: task, number: test.numberOf(property)}
		test.chooseAnnotations(instance)
		if instance.choiceErr == nil && instance.chosen.Terms != nil && slices.Contains(instance.chosen.Terms.Errors, failure.Class) {
			test.instances = append(test.instances, instance)
		}
	}
}

// newResult returns a result without the fields of the verdict. If instance is nil, the result is about the whole run.
func (test *loadedTest) newResult(engine *EngineConfig, instance *propertyInstance) report.TestResult {
	out := report.TestResult{
		Model: test.opt.name(test.switches.Model), Props: test.opt.name(test.switches.Props), Args: test.Args, Engine: engine.DisplayName(),
	}
	if len(test.Consts) > 0 {
		out.Args = append(slices.Clone(test.Args), "-const", strings.Join(test.Consts, ","))
	}
	if instance == nil {
		out.File = cmp.Or(out.Props, out.Model)
		if out.File == "" && len(test.Places) > 0 {
			out.File, out.Line, out.Col = test.opt.name(test.Places[0].File), int(test.Places[0].Pos.Line), int(test.Places[0].Pos.Col)
		}
		if test.opt.Rerun != nil {
			out.Rerun = test.opt.Rerun(engine.DisplayName(), shortID(test.identity()))
		}
		return out
	}
	out.Property, out.Name, out.Constants = instance.task.Text, instance.task.Name, instance.constants()
	out.File, out.Line, out.Col = out.Props, int(instance.task.Pos.Line), int(instance.task.Pos.Col)
	out.Expected = instance.chosen.String()
	switch {
	case instance.extraPlace != "":
		out.Expected += " (" + instance.extraPlace + ")"
	case instance.chosen.Result != nil:
		out.ExpectedLine = int(instance.chosen.Result.Pos.Line)
	case instance.chosen.Expects():
		out.ExpectedLine = int(instance.chosen.Terms.Pos.Line)
	}
	if test.opt.Rerun != nil {
		out.Rerun = test.opt.Rerun(engine.DisplayName(), instance.id)
	}
	return out
}
