package regress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/verify/expect"
)

// Default limits of Bless.
const (
	defaultSamples   = 10_000
	defaultMaxStates = 20_000
	defaultTimeLimit = 30 * time.Second // per property
)

// BlessOptions are the options of Bless.
type BlessOptions struct {
	Options
	// Update also replaces the values of annotations that fail.
	Update bool
	// Samples is the number of paths if the state space is too large; 0 means 10000.
	Samples int64
	// MaxStates is the largest state space for rational arithmetic; 0 means 20000.
	MaxStates int
}

// Blessing has the annotations to write.
type Blessing struct {
	Files   []BlessedFile // with changes only, in the order of the suite
	Skipped []Skip
	// Failing are the results that contradict an annotation that stays, or that could not be computed.
	Failing []report.TestResult
	// Replaceable counts the failing annotations that stay because BlessOptions.Update is not set.
	Replaceable int
	// InSuiteFile has the places of the failing expectations in suite files. Bless does not change suite files.
	InSuiteFile []string
	Added       int // annotations that are new
	Updated     int // annotations with another value
}

// BlessedFile is a properties file with its new annotations.
type BlessedFile struct {
	File          string // in Options.FS
	Name          string // for people
	Before, After []byte
}

// Skip is a property that gets no annotation, with the reason.
type Skip struct {
	File      string
	Line, Col int
	Property  string
	Reason    string
}

// Bless computes an expected value for each property without one. It returns the properties files with the new annotations, and writes no files.
//
// A value is a fraction if it is known exactly, or else an interval of sound bounds. A Markov chain that is too large to build gives a confidence
// interval, with the terms that repeat the sampling.
//
// Bless returns an error if an annotated file has other properties than before, or if a property does not get its new annotation.
func Bless(ctx context.Context, tests []Test, engine runner.Engine, options BlessOptions) (*Blessing, error) {
	options.Samples = cmp.Or(options.Samples, defaultSamples)
	options.MaxStates = cmp.Or(options.MaxStates, defaultMaxStates)
	config := EngineConfig{EngineConfig: runner.EngineConfig{Engine: engine}}
	writer := &annotationWriter{options: &options, engine: &config, blessing: &Blessing{}, files: make(map[string]*propertiesFile)}
	suite := &suiteRun{options: &options.Options, engines: []EngineConfig{config}}
	if err := suite.checkOptions(); err != nil {
		return nil, err
	}
	for i := range tests {
		suite.tests = append(suite.tests, loadTest(ctx, &tests[i], &options.Options))
	}
	if err := suite.setIdentities(); err != nil {
		return nil, err
	}
	suite.splitBudget()
	for _, test := range suite.tests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		writer.addProposals(ctx, test)
	}
	return writer.blessing, writer.addChangedFiles()
}

// annotationWriter computes the expectations of properties files and writes them into the files' texts, for Bless.
type annotationWriter struct {
	options      *BlessOptions
	engine       *EngineConfig
	blessing     *Blessing
	files        map[string]*propertiesFile // by name in the file system
	orderedFiles []*propertiesFile
}

// propertiesFile is a properties file with the proposals for its properties.
type propertiesFile struct {
	file, name string
	text       []byte
	tree       *syntax.Properties
	proposals  map[syntax.Pos][]proposal // by property
	skipped    map[string]bool           // reasons already recorded, by place and text
}

// proposal is a new expectation of an instance.
type proposal struct {
	instance        *propertyInstance
	value           string // of RESULT; empty if there is nothing to write
	origin          string // where the value comes from, for the RESULT line
	reason          string // why there is no value; empty if there is one
	terms           string // of TILECHECK, empty for none
	oldResult       *expect.Expectation
	keepsAnnotation bool // the instance has an expectation already, which may stay
	exact           bool // computed with fractions
}

// propertiesFile returns the properties file of a test. Several tests may share it.
func (w *annotationWriter) propertiesFile(test *loadedTest) *propertiesFile {
	name := test.switches.Props
	if w.files[name] == nil {
		file := &propertiesFile{
			file: name, name: w.options.name(name), text: test.propsText, tree: test.propsTree,
			proposals: make(map[syntax.Pos][]proposal), skipped: make(map[string]bool),
		}
		w.files[name] = file
		w.orderedFiles = append(w.orderedFiles, file)
	}
	return w.files[name]
}

// addSkip records that a property gets no annotation, with the reason. It does not record the same reason twice.
func (w *annotationWriter) addSkip(file *propertiesFile, pos syntax.Pos, property, reason string) {
	key := fmt.Sprint(pos, reason)
	if !file.skipped[key] {
		file.skipped[key] = true
		w.blessing.Skipped = append(w.blessing.Skipped, Skip{file.name, int(pos.Line), int(pos.Col), property, reason})
	}
}

// addProposals adds a proposal for each property instance of a test: to keep the annotation of the instance, or to write a computed value. An
// instance for which no value was found is skipped, with the reason.
func (w *annotationWriter) addProposals(ctx context.Context, test *loadedTest) {
	if test.err != nil {
		w.skipTest(test)
		return
	}
	if len(test.instances) == 0 {
		return
	}
	file := w.propertiesFile(test)
	addToFile := func(proposed proposal) {
		pos := proposed.instance.task.Pos
		file.proposals[pos] = append(file.proposals[pos], proposed)
	}
	// Instances that do not keep an annotation need a computed value.
	isKept := w.keptInstances(ctx, test)
	var unannotated []*propertyInstance
	for _, instance := range test.instances {
		if instance.selected && !isKept[instance] {
			unannotated = append(unannotated, instance)
		} else {
			addToFile(proposal{instance: instance, keepsAnnotation: true})
		}
	}
	values := w.computeValues(ctx, test, unannotated)
	for _, instance := range unannotated {
		proposed := values[instance]
		proposed.instance = instance
		proposed.oldResult = instance.annotations.Result
		addToFile(proposed)
		if proposed.value == "" {
			w.addSkip(file, instance.task.Pos, instance.task.Text, proposed.reason)
		}
	}
}

// skipTest records that a test was skipped, because it could not be loaded. The reason is the error.
func (w *annotationWriter) skipTest(test *loadedTest) {
	failure := fileFailure(test.err)
	w.blessing.Skipped = append(w.blessing.Skipped, Skip{
		File: cmp.Or(failure.File, test.options.name(test.switches.Props), test.options.name(test.switches.Model)),
		Line: int(failure.Pos.Line), Col: int(failure.Pos.Col), Reason: failure.Message,
	})
}

// keptInstances returns the instances that keep their annotations. It runs the test to find the annotations that fail: with the option Update, computed values
// replace failing annotations of the properties file. Other failing annotations are kept, and recorded as failures.
func (w *annotationWriter) keptInstances(ctx context.Context, test *loadedTest) map[*propertyInstance]bool {
	isKept := make(map[*propertyInstance]bool)
	for _, instance := range test.instances {
		isKept[instance] = isAnnotated(instance)
	}
	needsRun := slices.ContainsFunc(test.instances, func(instance *propertyInstance) bool { return isKept[instance] && instance.selected })
	if !needsRun {
		return isKept
	}
	run := &testRun{loadedTest: test, engine: w.engine, workers: 1}
	run.execute(ctx)
	w.addFailures(run.runResults)
	for i := range run.instanceResults { // there are none if the whole run failed
		instance := test.instances[i]
		switch {
		case w.options.Update && isReplaceable(instance, &run.instanceResults[i]):
			isKept[instance] = false
		case instance.selected && isKept[instance]:
			w.addFailingInstance(instance, &run.instanceResults[i])
		}
	}
	return isKept
}

// isAnnotated reports whether an instance has an annotation: one that expects a value for it, or one with errors.
func isAnnotated(instance *propertyInstance) bool {
	_, nothingMatches := errors.AsType[expect.Unmatched](instance.annotationErr)
	hasErrors := instance.annotationErr != nil && !nothingMatches
	return instance.annotations.Expects() || hasErrors
}

// isReplaceable reports whether a computed value may replace the annotation of an instance, which has the given result.
func isReplaceable(instance *propertyInstance, result *report.TestResult) bool {
	hasErrors := instance.annotationErr != nil
	return result.Outcome == report.TestFailed && !hasErrors && instance.extraPosition == ""
}

// addFailingInstance records the result of an instance that keeps its annotation, if the result is a failure.
func (w *annotationWriter) addFailingInstance(instance *propertyInstance, result *report.TestResult) {
	w.addFailures([]report.TestResult{*result})
	switch place := instance.extraPosition; {
	case isReplaceable(instance, result):
		w.blessing.Replaceable++
	case result.Outcome == report.TestFailed && place != "" && !slices.Contains(w.blessing.InSuiteFile, place):
		w.blessing.InSuiteFile = append(w.blessing.InSuiteFile, place)
	}
}

// addFailures records those results of a test that are failures.
func (w *annotationWriter) addFailures(results []report.TestResult) {
	for i := range results {
		if FailureCode(&report.TestReport{Results: results[i : i+1]}) != 0 {
			w.blessing.Failing = append(w.blessing.Failing, results[i])
		}
	}
}

// valueMethod is a method by which computeValues tries to compute a value. The methods are tried in the order of the constants.
type valueMethod int

const (
	byFractions valueMethod = iota // exactly, in rational arithmetic
	byBounds                       // an interval of sound bounds
	bySampling                     // a confidence interval from sampled paths
)

// settings returns a function that changes the settings of a run: the run then computes values by the given method, by fractions, bounds or sampling.
func (w *annotationWriter) settings(method valueMethod) func(*runner.Settings) {
	return func(settings *runner.Settings) {
		switch method {
		case byFractions:
			settings.Method = runner.States
			settings.Numeric.Accuracy, settings.Numeric.MaxStates = result.Exact, w.options.MaxStates
		case byBounds:
			settings.Method, settings.Numeric.Accuracy = runner.States, result.Bounded
		case bySampling:
			settings.Method, settings.Numeric = runner.CI, runner.Numeric{}
			settings.Simulation = runner.Simulation{Samples: w.options.Samples, Confidence: annotationConfidence, Seed: w.options.Seed}
		}
	}
}

// computeValues returns a proposal for each property instance. It tries the methods in order: fractions, bounds, sampling. Each method computes the
// values of the instances for which the methods before it have found none. An instance whose annotations ask for samples is sampled as the test samples it.
func (w *annotationWriter) computeValues(ctx context.Context, test *loadedTest, instances []*propertyInstance) map[*propertyInstance]proposal {
	proposals := make(map[*propertyInstance]proposal)
	sampled := make(map[*propertyInstance]proposal)
	for _, instance := range instances {
		if instance.samplingTerms() == nil {
			continue
		}
		var hasRandomChoices bool
		if sampled[instance], hasRandomChoices = w.sampleAsTest(ctx, test, instance); hasRandomChoices {
			proposals[instance] = sampled[instance]
		}
	}
	instances = slices.DeleteFunc(slices.Clone(instances), func(instance *propertyInstance) bool {
		_, isSolved := proposals[instance]
		return isSolved
	})
	reachedLimit := make(map[*propertyInstance]bool) // with the last method
	for method := byFractions; method <= bySampling; method++ {
		var unsolved []*propertyInstance
		for _, instance := range instances {
			// sampling helps only against limits, such as too many states
			isApplicable := method != bySampling || reachedLimit[instance] && instance.samplingTerms() == nil
			if proposals[instance].value == "" && isApplicable {
				unsolved = append(unsolved, instance)
			}
		}
		if len(unsolved) == 0 {
			break
		}
		for instance, verdict := range w.checkWith(ctx, test, unsolved, w.settings(method)) {
			proposals[instance] = w.proposalAfter(proposals[instance], test, &verdict, method)
			reachedLimit[instance] = verdict.Err != nil && verdict.Err.Class.Limited()
		}
	}
	if len(instances) > 0 && !test.switches.Exact {
		w.dropContradictedFractions(ctx, test, proposals)
	}
	for _, instance := range instances {
		if proposals[instance].value == "" && sampled[instance].value != "" {
			proposals[instance] = sampled[instance]
		}
	}
	return proposals
}

// sampleAsTest samples an instance as its own terms require, and returns the confidence interval as a proposal. hasRandomChoices says that the samples resolved
// choices of the model at random: then no other method computes the value that the test samples.
func (w *annotationWriter) sampleAsTest(ctx context.Context, test *loadedTest, instance *propertyInstance) (sampled proposal, hasRandomChoices bool) {
	run := &testRun{loadedTest: test, engine: w.engine, workers: 1}
	verdict := w.checkWith(ctx, test, []*propertyInstance{instance}, func(settings *runner.Settings) {
		run.setSampling(settings, instance.samplingTerms())
		settings.Simulation.Confidence = max(settings.Simulation.Confidence, annotationConfidence)
	})[instance]
	sampled = w.proposalAfter(proposal{}, test, &verdict, bySampling)
	sampled.terms = "" // the annotations have them
	return sampled, verdict.Resolution == result.Uniform
}

// proposalAfter converts the verdict of a method to a proposal. If the verdict gives neither a value nor a reason, the new proposal has the reason
// of earlierProposal, which came from the method before.
func (w *annotationWriter) proposalAfter(earlierProposal proposal, test *loadedTest, verdict *result.Verdict, method valueMethod) proposal {
	proposed := w.proposalFor(verdict, method)
	isInterval := strings.HasPrefix(proposed.value, "[")
	if test.switches.Exact && isInterval {
		proposed = proposal{reason: "the test has the switch -exact, but no fraction is known for the value"}
	}
	if proposed.value == "" {
		proposed.reason = cmp.Or(proposed.reason, earlierProposal.reason)
	}
	proposed.exact = method == byFractions
	return proposed
}

// dropContradictedFractions computes each proposed fraction again, as an interval of sound bounds. If the interval does not contain the fraction,
// the proposal gets a reason instead of a value.
func (w *annotationWriter) dropContradictedFractions(ctx context.Context, test *loadedTest, proposals map[*propertyInstance]proposal) {
	var solvedExactly []*propertyInstance
	for _, instance := range test.instances {
		if proposals[instance].value != "" && proposals[instance].exact {
			solvedExactly = append(solvedExactly, instance)
		}
	}
	if len(solvedExactly) == 0 {
		return
	}
	for instance, verdict := range w.checkWith(ctx, test, solvedExactly, w.settings(byBounds)) {
		fraction := proposals[instance].value
		if verdict.Err != nil && verdict.Err.Class == result.Interrupted {
			proposals[instance] = proposal{reason: verdict.Err.Message}
			continue
		}
		expectation := expect.Expectation{Value: fraction, Pos: instance.task.Pos}
		if expectation.Judge(verdict, instance.rules).Outcome == expect.Fail {
			reason := fmt.Sprintf("rational arithmetic computes %s, but the default method computes %s", fraction, verdictText(verdict))
			proposals[instance] = proposal{reason: reason}
		}
	}
}

// annotationConfidence is the confidence of sampled intervals, and of the terms that repeat the sampling. A repetition fails if its interval and
// the written interval are disjoint. If both contain the value, they are not disjoint. So this has at most the probability 2*(1-0.9999).
const annotationConfidence = 0.9999

// checkWith checks property instances and returns their verdicts. changeSettings changes the settings of the check. If the whole check fails, each
// verdict has the error of the check.
func (w *annotationWriter) checkWith(
	ctx context.Context, test *loadedTest, instances []*propertyInstance, changeSettings func(*runner.Settings),
) map[*propertyInstance]result.Verdict {
	limit := cmp.Or(test.Time, w.options.Time, defaultTimeLimit)
	ctx, cancel := ending.After(ctx, limit)
	defer cancel()
	run := &testRun{loadedTest: test, engine: w.engine, workers: 1}
	answers := make([]answer, len(test.instances))
	err := run.checkInstances(ctx, instances, changeSettings, answers)
	verdicts := make(map[*propertyInstance]result.Verdict)
	for i, instance := range test.instances {
		if !slices.Contains(instances, instance) {
			continue
		}
		if err != nil {
			verdicts[instance] = result.Verdict{Err: fileFailure(run.contextError(ctx, err))}
		} else {
			verdicts[instance] = answers[i].Verdict
		}
	}
	return verdicts
}

// checkInstances checks some of the property instances and stores their answers. changeSettings changes the settings of the check. answers has an element
// for each instance of the test, not only for the checked ones.
func (run *testRun) checkInstances(ctx context.Context, instances []*propertyInstance, changeSettings func(*runner.Settings), answers []answer) error {
	if failure := run.unsupportedSwitch(); failure != nil {
		return failure
	}
	batch := &batch{plan: run.plan.WithSettings(changeSettings)}
	for i, instance := range run.instances {
		if slices.Contains(instances, instance) {
			batch.instances = append(batch.instances, i)
		}
	}
	batch.properties = run.propertyNumbers(batch)
	return run.check(ctx, batch, answers)
}

// proposalFor returns the expected value that a verdict justifies. If it justifies none, the proposal has only the reason.
func (w *annotationWriter) proposalFor(verdict *result.Verdict, method valueMethod) proposal {
	switch {
	case verdict.Err != nil:
		return proposal{reason: failureText(verdict.Err)}
	case verdict.Doubt != "":
		return proposal{reason: "the value is doubtful: " + verdict.Doubt}
	}
	switch verdict.Accuracy {
	case result.Claimed, result.Estimated, result.Unknown:
		return proposal{reason: "the value is only " + verdict.Accuracy.String() + ", without sound bounds"}
	}
	value := verdict.Value
	switch value.Kind {
	case result.Boolean:
		if verdict.Accuracy == result.Probable {
			// A test cannot sample a truth value again, because the terms of an annotation ask only for sampled numbers.
			return proposal{reason: "the model has too many states, and a sampled truth value is only probable"}
		}
		return proposal{value: strconv.FormatBool(value.Bool), origin: verdict.Accuracy.String()}
	case result.Integer:
		return proposal{value: strconv.FormatFloat(value.Num, 'f', -1, 64), origin: "exact"}
	case result.Number:
		return w.numberProposal(verdict, method)
	}
	return proposal{reason: "the value is a range over several initial states, which an annotation cannot express"}
}

// numberProposal returns the expected value that a verdict with a number justifies: the exact value or an interval. If neither is known, the
// proposal has only the reason.
func (w *annotationWriter) numberProposal(verdict *result.Verdict, method valueMethod) proposal {
	value := verdict.Value
	switch {
	case math.IsNaN(value.Num):
		return proposal{value: "NaN", origin: verdict.Accuracy.String()}
	case math.IsInf(value.Num, 1):
		return proposal{value: "Infinity", origin: verdict.Accuracy.String()}
	case math.IsInf(value.Num, -1):
		return proposal{value: "-Infinity", origin: verdict.Accuracy.String()}
	case value.Rat != nil && verdict.Accuracy == result.Exact:
		if text := value.Rat.RatString(); len(text) <= maxFraction {
			return proposal{value: text, origin: "exact"}
		}
		return proposal{value: "~" + shortestFloat(value.Num), origin: "rounded from a fraction"}
	case method == bySampling:
		return sampledProposal(verdict)
	case verdict.Bound != nil && verdict.Accuracy == result.Bounded:
		return proposal{value: boundsText(verdict.Bound), origin: "bounds"}
	}
	return proposal{reason: "the value has no bounds"}
}

// sampledProposal returns the confidence interval of a sampled value, with the terms that repeat the sampling.
func sampledProposal(verdict *result.Verdict) proposal {
	switch {
	case verdict.Resolution == result.Uniform && agree.Ask(verdict.Property, verdict.Constants).Extremum != syntax.NoExtremum:
		return proposal{reason: "it can only be sampled, and samples resolve choices at random, which gives no minimum or maximum"}
	case verdict.Bound == nil:
		return proposal{reason: "the value has no bounds"}
	}
	seed := uint64(0)
	if verdict.Seed != nil {
		seed = *verdict.Seed
	}
	return proposal{
		value:  intervalText(verdict.Bound.Lo, verdict.Bound.Hi),
		origin: fmt.Sprintf("%s, seed %d, confidence %v", noun.Count(verdict.Samples, "sample"), seed, verdict.Confidence),
		terms:  fmt.Sprintf("samples=%d confidence=%v seed=%d", verdict.Samples, annotationConfidence, seed),
	}
}

// boundsText returns bounds as text: [low,high], or one number if both bounds are equal.
func boundsText(bounds *interval.Interval) string {
	if bounds.Lo == bounds.Hi {
		return shortestFloat(bounds.Lo)
	}
	return intervalText(bounds.Lo, bounds.Hi)
}

// intervalText returns an interval as the text [low,high].
func intervalText(low, high float64) string {
	return "[" + shortestFloat(low) + "," + shortestFloat(high) + "]"
}

// shortestFloat returns the shortest text that reads back as the same number.
func shortestFloat(number float64) string { return result.JSONNumber(number).String() }

// maxFraction is the length, in bytes, of the longest fraction that is written. A longer one is rounded.
const maxFraction = 60

// addChangedFiles writes the proposals into the properties files. It collects the changed files and sorts the skipped properties by position.
func (w *annotationWriter) addChangedFiles() error {
	for _, file := range w.orderedFiles {
		fileEditor := &editor{annotationWriter: w, propertiesFile: file}
		editedText, err := fileEditor.edit()
		if err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		if len(fileEditor.changes) > 0 {
			w.blessing.Files = append(w.blessing.Files, BlessedFile{file.file, file.name, file.text, editedText})
		}
	}
	slices.SortStableFunc(w.blessing.Skipped, func(left, right Skip) int {
		return cmp.Or(strings.Compare(left.File, right.File), cmp.Compare(left.Line, right.Line), cmp.Compare(left.Col, right.Col))
	})
	return nil
}
