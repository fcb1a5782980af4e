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
	options              *Options
	switches             suite.Options
	modelText, propsText []byte
	// job has all settings except the method of an engine. Its model has the type that the switches ask for.
	job       runner.Job
	plan      *runner.Plan // nil without properties, or with err
	propsTree *syntax.Properties
	instances []*propertyInstance
	// err says why the test cannot be run. Then only properties whose annotations expect an error of the files have instances.
	err error
	// maxFalseAlarm is the probability with which one statistical expectation may fail by chance.
	maxFalseAlarm float64
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
	propertyNumber                    int // among the properties of the file, from 1
	modelValuation, propertyValuation sema.Valuation
	rules                             expect.Rules
	annotations                       expect.Annotations
	// hasAnnotations says that the property has annotations.
	hasAnnotations bool
	// annotationErr says why no annotation could be chosen. It is nil if one was chosen.
	annotationErr error
	// extraPosition is the place of a chosen expectation outside of the properties file.
	extraPosition string
	// usedExtras are the positions of the chosen annotations outside of the properties file.
	usedExtras []syntax.Pos
	id         string
	selected   bool // Options.Only selects it
}

// constants returns the values of the constants of the model and of the property.
func (instance *propertyInstance) constants() []result.Constant {
	return runner.Constants(instance.modelValuation, instance.propertyValuation)
}

// loadTest reads the files of a test and selects the annotations that apply. An error is stored in the field err of the test.
func loadTest(ctx context.Context, definition *Test, options *Options) *loadedTest {
	test := &loadedTest{Test: definition, options: options}
	test.err = test.load(ctx)
	return test
}

// load reads the files of a test. It makes an instance, with its annotation, for each property under each valuation of the constants. A test
// without properties has no instances.
func (test *loadedTest) load(ctx context.Context) error {
	if err := test.readFiles(); err != nil {
		return err
	}
	if len(test.switches.Imports) > 0 {
		test.space, test.importErr = test.readImports(ctx) // an error here does not prevent other properties from being judged
	}
	if test.space != nil && test.importErr == nil {
		test.job.States = test.space
	}
	hasModel := test.switches.Model != "" || test.space != nil
	hasProperties := test.switches.Props != "" || jani.IsJANI(test.modelText)
	if !hasModel || !hasProperties || test.importsResults() {
		return nil
	}
	return test.makeInstances(ctx)
}

// readFiles parses the switches of the test, reads its files and makes its job.
func (test *loadedTest) readFiles() error {
	var err error
	if test.switches, err = test.Options(); err != nil {
		if syntaxErr, ok := err.(*syntax.Error); ok {
			return &syntax.Error{File: test.options.name(syntaxErr.File), Pos: syntaxErr.Pos, Msg: syntaxErr.Msg}
		}
		return err
	}
	if test.modelText, err = test.read(test.switches.Model); err != nil {
		return err
	}
	if test.propsText, err = test.read(test.switches.Props); err != nil {
		return err
	}
	test.job, err = test.newJob()
	return err
}

// importsResults reports whether the test reads results from a file instead of checking a model.
func (test *loadedTest) importsResults() bool {
	return slices.ContainsFunc(test.switches.Imports, func(words []string) bool { return strings.HasSuffix(words[0], "-importresults") })
}

// maxText is the greatest size in bytes of a model or properties file.
const maxText = 1 << 30

// read returns the contents of a file of the test, or nil for an empty name.
func (test *loadedTest) read(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := limited.ReadFile(test.options.FS, file, test.maxTextSize())
	if pathErr, ok := err.(*fs.PathError); ok {
		return nil, fmt.Errorf("%s: %w", test.options.name(file), pathErr.Err)
	}
	return text, err
}

// maxTextSize returns the largest allowed size of a file in bytes. It applies to the file as it is stored and after its decompression.
func (test *loadedTest) maxTextSize() int64 {
	if test.memoryLimit() > 0 {
		return min(maxText, test.memoryLimit())
	}
	return maxText
}

// newJob returns the job that the files and the switches of the test describe.
func (test *loadedTest) newJob() (runner.Job, error) {
	switches := &test.switches
	job := runner.Job{
		File:       test.options.name(switches.Model),
		Model:      withType(test.modelText, switches.Type),
		PropsFile:  test.options.name(switches.Props),
		Properties: test.propsText,
		Dialect:    test.Dialect,
		Select:     switches.Select,
		Generated:  modelgen.Recognizer{},
		Settings:   runner.Settings{NoFixDeadlocks: switches.NoFixDeadlocks},
	}
	if switches.Simulation != nil {
		job.Method = cmp.Or(runner.Method(switches.Simulation.Method), runner.Sim)
		job.Simulation = simulationOf(switches.Simulation)
		job.Simulation.Seed = test.options.Seed
	}
	job.Numeric.MaxMemory = test.memoryLimit()
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

// simulationOf converts PRISM's switches about simulation to settings of the simulation.
func simulationOf(switches *suite.Simulation) runner.Simulation {
	simulation := runner.Simulation{
		Samples:       switches.Samples,
		MaxPath:       switches.PathLength,
		Width:         switches.HalfWidth,
		Approximation: switches.Approximation,
		MaxReward:     switches.MaxRewardSum,
		MinSamples:    switches.MinSamples,
	}
	if switches.Error > 0 {
		simulation.Confidence = stats.Confidence(switches.Error)
	}
	return simulation
}

// memoryLimit returns the memory limit of a run in bytes; 0 means none.
func (test *loadedTest) memoryLimit() int64 { return cmp.Or(test.Memory, test.options.Memory) }

// Override returns the constant definitions of constants and replacements, in the syntax of the switch -const. If both lists define a constant, only
// the definition in replacements is returned. It returns an error if a replacement is malformed.
func Override(constants, replacements []string) ([]string, error) {
	parsed, err := sema.ParseConsts(replacements)
	if err != nil || len(parsed) == 0 {
		return constants, err
	}
	var definitions []string
	for definition := range strings.SplitSeq(strings.Join(constants, ","), ",") {
		name, _, _ := strings.Cut(definition, "=")
		name = strings.TrimSpace(name)
		isReplaced := slices.ContainsFunc(parsed, func(replacement sema.ConstDef) bool { return replacement.Name == name })
		if name != "" && !isReplaced {
			definitions = append(definitions, definition)
		}
	}
	for _, replacement := range parsed {
		definitions = append(definitions, replacement.String())
	}
	return definitions, nil
}

// withType returns the text of a model with the type replaced by modelType. It returns the text unchanged if modelType is TypeNone or the model
// has syntax errors.
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
			// Spaces replace the old type, so the positions of all other text stay the same.
			copy(changed[declaration.Pos().Offset:], strings.Repeat(" ", len(declaration.Word)))
		}
	}
	return append(changed, "\n"+strings.ToLower(modelType.String())+"\n"...)
}

// maxInstances is the largest number of results of one run. Without it, a mistake in the range of a constant could use all
// memory.
const maxInstances = 100_000

// makeInstances plans the job and adds an instance for each property under each valuation of the constants.
func (test *loadedTest) makeInstances(ctx context.Context) error {
	plan, err := runner.NewPlan(ctx, test.job)
	if err != nil {
		err = explainMisplaced(err, &test.job)
		if tree, mistakes := syntax.ParsePropertiesOf(test.job.Dialect, test.job.PropsFile, test.propsText); mistakes == nil {
			test.propsTree = tree
			test.expectFailure(err)
		}
		return err
	}
	test.plan, test.propsTree = plan, plan.Tasks[0].Source.Parsed
	tasks := distinctTasks(plan.Tasks)
	for valuation := range plan.Models() {
		program, err := plan.Model.InstantiateOpen(valuation.Map(), plan.Open())
		if err != nil {
			program = nil // the engine reports the error
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, task := range tasks {
			test.addInstancesOf(task, program, valuation)
			if len(test.instances) > maxInstances {
				test.instances = nil
				return &runner.PlanError{Step: result.Constants, Err: fmt.Errorf("found more than %d results, want fewer values of constants", maxInstances)}
			}
		}
	}
	return nil
}

// distinctTasks returns the tasks without repetitions.
func distinctTasks(tasks []*runner.Task) []*runner.Task {
	var distinct []*runner.Task
	for _, task := range tasks { // a property can be selected twice
		if !slices.Contains(distinct, task) {
			distinct = append(distinct, task)
		}
	}
	return distinct
}

// addInstance adds the instance of a property under one valuation of the constants. program is nil if the model rejects the valuation.
func (test *loadedTest) addInstance(task *runner.Task, program *sema.Program, modelValuation, propertyValuation sema.Valuation) {
	instance := &propertyInstance{task: task, modelValuation: modelValuation, propertyValuation: propertyValuation, propertyNumber: test.numberOf(task.Property)}
	instance.rules = expect.Rules{
		Params: test.plan.Open(), Exact: test.switches.Exact || test.switches.Params != "", Relative: expect.DefaultRelative,
		Constants: slices.Concat(modelValuation, propertyValuation),
	}
	if program != nil && task.Source != nil {
		instance.rules.Constants = task.Source.Props.Values(program, propertyValuation.Map())
	}
	test.chooseAnnotations(instance)
	test.instances = append(test.instances, instance)
}

// numberOf returns the number of a property in its file, counted from 1.
func (test *loadedTest) numberOf(property *syntax.Property) int {
	number := 0
	for _, node := range test.propsTree.Items {
		if candidate, ok := node.(*syntax.Property); ok {
			number++
			if candidate.Pos() == property.Pos() {
				return number
			}
		}
	}
	return number
}

// addInstancesOf adds an instance of a task for each valuation of the property's constants. It stops when the test has more than maxInstances
// instances.
func (test *loadedTest) addInstancesOf(task *runner.Task, program *sema.Program, modelValuation sema.Valuation) {
	if task.Rejected != nil {
		test.addInstance(task, program, modelValuation, nil)
		return
	}
	for propertyValuation := range task.Valuations() {
		test.addInstance(task, program, modelValuation, propertyValuation)
		if len(test.instances) > maxInstances {
			return
		}
	}
}

// chooseAnnotations selects the expected result and the terms of an instance.
func (test *loadedTest) chooseAnnotations(instance *propertyInstance) {
	var results []expect.Expectation
	var terms []expect.Terms
	// Expectations outside of the properties file come first, because they take precedence.
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
	results = append(results, expect.Parse(test.propsText, instance.task.Property)...)
	terms = append(terms, expect.ParseTerms(test.propsText, instance.task.Property)...)
	instance.hasAnnotations = len(results)+len(terms) > 0
	test.chooseTerms(instance, terms, extraTerms)
	if instance.annotationErr == nil && len(results) > 0 {
		test.chooseResult(instance, results, extraResults)
	}
}

// chooseTerms selects the TILECHECK annotation that applies to an instance. The first extraTerms elements of terms come from a suite file or an index, the
// others from the properties file.
func (test *loadedTest) chooseTerms(instance *propertyInstance, terms []expect.Terms, extraTerms int) {
	instance.annotations.Terms, instance.annotationErr = expect.SelectTerms(terms, instance.rules)
	for i := range extraTerms {
		if instance.annotations.Terms == &terms[i] {
			instance.usedExtras = append(instance.usedExtras, terms[i].Pos)
			instance.extraPosition = test.positionOfExtraTerms(&terms[i])
		}
	}
}

// chooseResult selects the expected result that applies to an instance. The first extraResults elements of results come from a suite file or an index, the
// others from the properties file.
func (test *loadedTest) chooseResult(instance *propertyInstance, results []expect.Expectation, extraResults int) {
	instance.annotations.Result, instance.annotationErr = expect.Select(results, instance.rules)
	if instance.annotations.Result != nil {
		instance.extraPosition = ""
	}
	for i := range extraResults {
		if instance.annotations.Result == &results[i] {
			instance.usedExtras = append(instance.usedExtras, results[i].Pos)
			instance.extraPosition = test.positionOfExtraResult(&results[i])
		}
	}
	if instance.annotations.Expects() { // the terms may expect an error instead of a result
		instance.annotationErr = nil
	}
}

// positionOfExtraResult returns the position, as in file:line:col, of an expected result that is written outside of the properties file.
func (test *loadedTest) positionOfExtraResult(expectation *expect.Expectation) string {
	for _, extra := range test.Extra {
		if extra.Result != nil && extra.Result.Pos == expectation.Pos && extra.Result.Text == expectation.Text {
			return extra.File + ":" + expectation.Pos.String()
		}
	}
	return ""
}

// positionOfExtraTerms returns the position, as in file:line:col, of terms that are written outside of the properties file.
func (test *loadedTest) positionOfExtraTerms(terms *expect.Terms) string {
	for _, extra := range test.Extra {
		if extra.Terms != nil && extra.Terms.Pos == terms.Pos && extra.Terms.Text == terms.Text {
			return extra.File + ":" + terms.Pos.String()
		}
	}
	return ""
}

// expectFailure adds an instance for each property that is expected to fail with an error of the same class as err. It is called when the test
// cannot be planned.
func (test *loadedTest) expectFailure(err error) {
	failure := fileFailure(err)
	for _, node := range test.propsTree.Items {
		property, ok := node.(*syntax.Property)
		if !ok {
			continue
		}
		task := &runner.Task{Text: syntax.ExprString(property.X), Pos: property.Pos(), Property: property}
		if property.Name != nil {
			task.Name = property.Name.Name
		}
		instance := &propertyInstance{task: task, propertyNumber: test.numberOf(property)}
		test.chooseAnnotations(instance)
		if instance.annotationErr == nil && instance.annotations.Terms != nil && slices.Contains(instance.annotations.Terms.Errors, failure.Class) {
			test.instances = append(test.instances, instance)
		}
	}
}

// newResult returns a test result that has no outcome yet. It is about a property instance or, if instance is nil, about the whole run.
func (test *loadedTest) newResult(engine *EngineConfig, instance *propertyInstance) report.TestResult {
	testResult := report.TestResult{Model: test.modelName(), Props: test.propsName(), Args: test.argsWithConstants(), Engine: engine.DisplayName()}
	id := ""
	if instance == nil {
		id = shortID(test.identity())
		test.setPlaceOfRun(&testResult)
	} else {
		id = instance.id
		instance.describe(&testResult)
	}
	if test.options.Rerun != nil {
		testResult.Rerun = test.options.Rerun(engine.DisplayName(), id)
	}
	return testResult
}

// modelName returns the name of the model file as the user knows it.
func (test *loadedTest) modelName() string { return test.options.name(test.switches.Model) }

// propsName returns the name of the properties file as the user knows it.
func (test *loadedTest) propsName() string { return test.options.name(test.switches.Props) }

// argsWithConstants returns the arguments of the test, with a switch -const for its constants.
func (test *loadedTest) argsWithConstants() []string {
	if len(test.Consts) == 0 {
		return test.Args
	}
	return append(slices.Clone(test.Args), "-const", strings.Join(test.Consts, ","))
}

// setPlaceOfRun sets the file of a result about the whole run: the properties file or the model. If there are no such files, it is the position
// at which the suite names the test.
func (test *loadedTest) setPlaceOfRun(testResult *report.TestResult) {
	testResult.File = cmp.Or(testResult.Props, testResult.Model)
	if testResult.File == "" && len(test.Places) > 0 {
		place := test.Places[0]
		testResult.File, testResult.Line, testResult.Col = test.options.name(place.File), int(place.Pos.Line), int(place.Pos.Col)
	}
}

// describe copies the property, its position and its expected value from the instance to a test result.
func (instance *propertyInstance) describe(testResult *report.TestResult) {
	testResult.Property, testResult.Name, testResult.Constants = instance.task.Text, instance.task.Name, instance.constants()
	testResult.File, testResult.Line, testResult.Col = testResult.Props, int(instance.task.Pos.Line), int(instance.task.Pos.Col)
	testResult.Expected = instance.annotations.String()
	switch {
	case instance.extraPosition != "":
		testResult.Expected += " (" + instance.extraPosition + ")"
	case instance.annotations.Result != nil:
		testResult.ExpectedLine = int(instance.annotations.Result.Pos.Line)
	case instance.annotations.Expects():
		testResult.ExpectedLine = int(instance.annotations.Terms.Pos.Line)
	}
}
