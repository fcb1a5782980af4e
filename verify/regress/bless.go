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
	"tilecheck/runner"
	"tilecheck/verify/expect"
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
	Files   []BlessedFile // only files with changes, in the order of the suite
	Skipped []Skip
	// Failing are the results that could not be computed, or contradict an annotation that Bless does not replace.
	Failing []report.TestResult
	Added   int // annotations that are new
	Updated int // annotations with another value
}

// BlessedFile is a properties file with its new annotations.
type BlessedFile struct {
	File          string // in Options.FS
	Name          string // as messages show it
	Before, After []byte
}

// Skip is a property that gets no annotation, with the reason.
type Skip struct {
	File      string
	Line, Col int
	Property  string
	Reason    string
}

// Bless computes the tightest justified expectation of every property without
// one: a fraction if the value is known exactly, an interval of sound bounds, or,
// for a Markov chain that is too large to build, an interval from sampled
// paths with the terms to sample them again. It writes nothing.
//
// The rest of every file stays the same, byte for byte. Bless reads every new file
// again: the properties must be those of the old one, and each must choose the new
// annotation.
func Bless(ctx context.Context, tests []Test, engine runner.Engine, opt BlessOptions) (*Blessing, error) {
	opt.Samples = cmp.Or(opt.Samples, 10000)
	opt.MaxStates = cmp.Or(opt.MaxStates, 20000)
	bless := &blesser{opt: &opt, engine: &EngineConfig{EngineConfig: runner.EngineConfig{Engine: engine}}, blessing: &Blessing{}, files: make(map[string]*propertiesFile)}
	suite := &suiteRun{opt: &opt.Options, engines: []EngineConfig{*bless.engine}}
	if err := suite.checkOptions(); err != nil {
		return nil, err
	}
	for i := range tests {
		suite.tests = append(suite.tests, loadTest(ctx, &tests[i], &opt.Options))
	}
	if err := suite.identify(); err != nil {
		return nil, err
	}
	suite.splitBudget()
	for _, test := range suite.tests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		bless.addProposals(ctx, test)
	}
	return bless.blessing, bless.editFiles()
}

// blesser is the state of Bless.
type blesser struct {
	opt      *BlessOptions
	engine   *EngineConfig
	blessing *Blessing
	files    map[string]*propertiesFile // by name in the file system
	order    []*propertiesFile
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
	instance       *propertyInstance
	value          string // of RESULT; empty if there is nothing to write
	origin         string // where the value comes from
	terms          string // of TILECHECK, empty for none
	replaces       *expect.Expectation
	hasExpectation bool // the instance has an expectation, which is kept
	exact          bool // computed with fractions
}

// propertiesFile returns the properties file of a test. Several tests may share it.
func (b *blesser) propertiesFile(test *loadedTest) *propertiesFile {
	name := test.switches.Props
	if b.files[name] == nil {
		file := &propertiesFile{file: name, name: b.opt.name(name), text: test.props, tree: test.tree, proposals: make(map[syntax.Pos][]proposal), skipped: make(map[string]bool)}
		b.files[name] = file
		b.order = append(b.order, file)
	}
	return b.files[name]
}

// addSkip records that a property gets no annotation, once for each reason.
func (b *blesser) addSkip(file *propertiesFile, pos syntax.Pos, property, reason string) {
	key := fmt.Sprint(pos, reason)
	if !file.skipped[key] {
		file.skipped[key] = true
		b.blessing.Skipped = append(b.blessing.Skipped, Skip{file.name, int(pos.Line), int(pos.Col), property, reason})
	}
}

// addProposals adds a proposal for every property instance of a test. The proposal is to keep the annotation of the instance, or to write a
// computed value. An instance whose value cannot be computed is recorded as skipped.
func (b *blesser) addProposals(ctx context.Context, test *loadedTest) {
	if test.err != nil {
		failure := fileFailure(test.err)
		b.blessing.Skipped = append(b.blessing.Skipped, Skip{
			File: cmp.Or(failure.File, test.opt.name(test.switches.Props), test.opt.name(test.switches.Model)),
			Line: int(failure.Pos.Line), Col: int(failure.Pos.Col), Reason: failure.Message,
		})
		return
	}
	if len(test.instances) == 0 {
		return
	}
	file := b.propertiesFile(test)
	keepsAnnotation := b.instancesToKeep(ctx, test)
	var unannotated []*propertyInstance
	for _, instance := range test.instances {
		if instance.selected && !keepsAnnotation[instance] {
			unannotated = append(unannotated, instance)
			continue
		}
		file.proposals[instance.task.Pos] = append(file.proposals[instance.task.Pos], proposal{instance: instance, hasExpectation: true})
	}
	values := b.computeValues(ctx, test, unannotated)
	for _, instance := range unannotated {
		proposed := values[instance]
		proposed.instance = instance
		if instance.chosen.Result != nil {
			proposed.replaces = instance.chosen.Result
		}
		file.proposals[instance.task.Pos] = append(file.proposals[instance.task.Pos], proposed)
		if proposed.value == "" {
			b.addSkip(file, instance.task.Pos, instance.task.Text, proposed.origin)
		}
	}
}

// instancesToKeep returns the instances whose annotations Bless keeps: all instances with a chosen annotation, except, with Update, those whose
// annotation fails. An annotation that cannot be read is always kept. If a kept annotation fails, its result is recorded in Failing.
func (b *blesser) instancesToKeep(ctx context.Context, test *loadedTest) map[*propertyInstance]bool {
	kept := make(map[*propertyInstance]bool)
	hasSelected := false
	for _, instance := range test.instances {
		_, unmatched := errors.AsType[expect.Unmatched](instance.choiceErr)
		isUnreadable := instance.choiceErr != nil && !unmatched
		kept[instance] = instance.chosen.Expects() || isUnreadable
		hasSelected = hasSelected || instance.selected && kept[instance]
	}
	if !hasSelected {
		return kept
	}
	run := &testRun{loadedTest: test, engine: b.engine, workers: 1}
	run.execute(ctx)
	b.addFailing(run.runResults)
	for i, instance := range test.instances[:len(run.instanceResults)] {
		result := run.instanceResults[i : i+1]
		switch {
		case b.isReplaced(instance, &result[0]):
			kept[instance] = false
		case instance.selected && kept[instance]:
			b.addFailing(result)
		}
	}
	return kept
}

// isReplaced reports whether Bless replaces the annotation of an instance: with Update, if it fails and is in the properties file.
func (b *blesser) isReplaced(instance *propertyInstance, result *report.TestResult) bool {
	isWritable := instance.choiceErr == nil && instance.extraPlace == ""
	return b.opt.Update && result.Outcome == report.TestFailed && isWritable
}

// addFailing records the results that fail.
func (b *blesser) addFailing(results []report.TestResult) {
	for i := range results {
		if FailureCode(&report.TestReport{Results: results[i : i+1]}) != 0 {
			b.blessing.Failing = append(b.blessing.Failing, results[i])
		}
	}
}

// blessStep is a method by which computeValues tries to compute a value. It tries the methods in the order of the constants.
type blessStep int

const (
	byFractions blessStep = iota
	byBounds
	bySampling
)

// settings returns a function that sets the method and the limits of a step.
func (b *blesser) settings(step blessStep) func(*runner.Settings) {
	return func(settings *runner.Settings) {
		switch step {
		case byFractions:
			settings.Method = runner.States
			settings.Numeric.Accuracy, settings.Numeric.MaxStates = result.Exact, b.opt.MaxStates
		case byBounds:
			settings.Method, settings.Numeric.Accuracy = runner.States, result.Bounded
		case bySampling:
			settings.Method, settings.Numeric = runner.CI, runner.Numeric{}
			settings.Simulation = runner.Simulation{Samples: b.opt.Samples, Confidence: blessConfidence, Seed: b.opt.Seed}
		}
	}
}

// computeValues computes the expected values of property instances. It tries to compute each value first with fractions, then with bounds and
// last, if the model has too many states, by sampling.
func (b *blesser) computeValues(ctx context.Context, test *loadedTest, instances []*propertyInstance) map[*propertyInstance]proposal {
	proposals := make(map[*propertyInstance]proposal)
	exceededLimit := make(map[*propertyInstance]bool) // whether the last step exceeded a limit, such as the number of states
	for step := byFractions; step <= bySampling; step++ {
		unsolved := slices.DeleteFunc(slices.Clone(instances), func(instance *propertyInstance) bool {
			return proposals[instance].value != "" || step == bySampling && !exceededLimit[instance]
		})
		if len(unsolved) == 0 {
			break
		}
		for instance, verdict := range b.checkWith(ctx, test, unsolved, b.settings(step)) {
			proposals[instance] = b.proposalAfter(proposals[instance], test, &verdict, step)
			exceededLimit[instance] = verdict.Err != nil && verdict.Err.Class.Limited()
		}
	}
	if len(instances) > 0 && !test.switches.Exact {
		b.dropContradictedFractions(ctx, test, proposals)
	}
	return proposals
}

// proposalAfter returns the proposal for the verdict of a step. If the step gives neither a value nor a reason why there is none, the proposal has
// the reason of the earlier step.
func (b *blesser) proposalAfter(earlier proposal, test *loadedTest, verdict *result.Verdict, step blessStep) proposal {
	proposed := b.proposalFor(verdict, step)
	if test.switches.Exact && strings.HasPrefix(proposed.value, "[") {
		proposed = proposal{origin: "fractions are asked for (-exact), and the value has none"}
	}
	if proposed.value == "" && step > byFractions {
		proposed.origin = cmp.Or(proposed.origin, earlier.origin)
	}
	proposed.exact = step == byFractions
	return proposed
}

// dropContradictedFractions removes each value that was computed with fractions and that the default method contradicts, because then one of the
// two methods is wrong.
func (b *blesser) dropContradictedFractions(ctx context.Context, test *loadedTest, proposals map[*propertyInstance]proposal) {
	var solvedExactly []*propertyInstance
	for _, instance := range test.instances {
		if proposals[instance].value != "" && proposals[instance].exact {
			solvedExactly = append(solvedExactly, instance)
		}
	}
	if len(solvedExactly) == 0 {
		return
	}
	for instance, verdict := range b.checkWith(ctx, test, solvedExactly, b.settings(byBounds)) {
		fraction := proposals[instance].value
		if verdict.Err != nil && verdict.Err.Class == result.Interrupted {
			proposals[instance] = proposal{origin: verdict.Err.Message}
			continue
		}
		expectation := expect.Expectation{Value: fraction, Pos: instance.task.Pos}
		if expectation.Judge(verdict, instance.rules).Outcome == expect.Fail {
			origin := fmt.Sprintf("fractions say %s, and the default method says otherwise: %s", fraction, verdictText(verdict))
			proposals[instance] = proposal{origin: origin}
		}
	}
}

// blessConfidence is the confidence of the intervals and terms that Bless writes. A test compares its own interval with the written one. The two
// are disjoint with at most twice the probability 1-blessConfidence.
const blessConfidence = 0.9999

// checkWith checks property instances with changed settings. Without a time limit of the test or the options, it takes at most 30 seconds.
func (b *blesser) checkWith(ctx context.Context, test *loadedTest, instances []*propertyInstance, change func(*runner.Settings)) map[*propertyInstance]result.Verdict {
	limit := cmp.Or(test.Time, b.opt.Time, 30*time.Second)
	ctx, cancel := ending.After(ctx, limit)
	defer cancel()
	run := &testRun{loadedTest: test, engine: b.engine, workers: 1}
	answers := make([]answer, len(test.instances))
	err := run.checkInstances(ctx, instances, change, answers)
	verdicts := make(map[*propertyInstance]result.Verdict)
	for i, instance := range test.instances {
		if !slices.Contains(instances, instance) {
			continue
		}
		verdicts[instance] = answers[i].Verdict
		if err != nil {
			verdicts[instance] = result.Verdict{Err: fileFailure(run.contextError(ctx, err))}
		}
	}
	return verdicts
}

// checkInstances checks some property instances with changed settings, and fills in their answers.
func (run *testRun) checkInstances(ctx context.Context, instances []*propertyInstance, change func(*runner.Settings), answers []answer) error {
	if failure := run.unsupportedSwitch(); failure != nil {
		return failure
	}
	batch := &batch{plan: run.plan.WithSettings(change)}
	for i, instance := range run.instances {
		if slices.Contains(instances, instance) {
			batch.instances = append(batch.instances, i)
		}
	}
	batch.properties = run.propertyNumbers(batch)
	return run.check(ctx, batch, answers)
}

// proposalFor returns a proposal with the expectation that a verdict justifies. If there is none, the proposal has no value, and its origin is the
// reason. step is the method that computed the verdict.
func (b *blesser) proposalFor(verdict *result.Verdict, step blessStep) proposal {
	switch {
	case verdict.Err != nil:
		return proposal{origin: failureText(verdict.Err)}
	case verdict.Doubt != "":
		return proposal{origin: "the value is doubtful: " + verdict.Doubt}
	}
	switch verdict.Accuracy {
	case result.Claimed, result.Estimated, result.Unknown:
		return proposal{origin: "nothing proves the value, which is " + verdict.Accuracy.String()}
	}
	value := verdict.Value
	switch value.Kind {
	case result.Boolean:
		if verdict.Accuracy == result.Probable {
			// A test cannot repeat the sampling, because the terms of an annotation apply to numbers only.
			return proposal{origin: "too many states, and a truth value that is sampled is only probable"}
		}
		return proposal{value: strconv.FormatBool(value.Bool), origin: verdict.Accuracy.String()}
	case result.Integer:
		return proposal{value: strconv.FormatFloat(value.Num, 'f', -1, 64), origin: "exact"}
	case result.Number:
		return b.numberProposal(verdict, step)
	}
	return proposal{origin: "a range of values over several initial states cannot be expected"}
}

// numberProposal returns the proposal for a verdict whose value is a number.
func (b *blesser) numberProposal(verdict *result.Verdict, step blessStep) proposal {
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
	case step == bySampling:
		return sampledProposal(verdict)
	case verdict.Bound != nil && verdict.Accuracy == result.Bounded:
		return proposal{value: boundsText(verdict.Bound), origin: "bounds"}
	}
	return proposal{origin: "the value has no bounds"}
}

// sampledProposal returns a proposal with the confidence interval of a verdict, and the terms that repeat its sampling.
func sampledProposal(verdict *result.Verdict) proposal {
	switch {
	case verdict.Resolution == result.Uniform:
		return proposal{origin: "too many states, and sampling resolves the choices uniformly, which is no minimum or maximum"}
	case verdict.Bound == nil:
		return proposal{origin: "the value has no bounds"}
	}
	seed := uint64(0)
	if verdict.Seed != nil {
		seed = *verdict.Seed
	}
	return proposal{
		value:  "[" + shortestFloat(verdict.Bound.Lo) + "," + shortestFloat(verdict.Bound.Hi) + "]",
		origin: fmt.Sprintf("%s, seed %d, confidence %v", noun.Count(verdict.Samples, "sample"), seed, verdict.Confidence),
		terms:  fmt.Sprintf("samples=%d confidence=%v seed=%d", verdict.Samples, blessConfidence, seed),
	}
}

// boundsText returns an interval in the form of an expected value. If its bounds are equal, the form is one number.
func boundsText(bounds *interval.Interval) string {
	if bounds.Lo == bounds.Hi {
		return shortestFloat(bounds.Lo)
	}
	return "[" + shortestFloat(bounds.Lo) + "," + shortestFloat(bounds.Hi) + "]"
}

// shortestFloat returns the shortest text that reads back as the same number.
func shortestFloat(number float64) string { return strconv.FormatFloat(number, 'g', -1, 64) }

// maxFraction is the length of the longest fraction that is written.
const maxFraction = 60

// editFiles edits the properties files and adds the changed ones to the result. It also sorts the skipped properties by their place.
func (b *blesser) editFiles() error {
	for _, file := range b.order {
		editor := &editor{blesser: b, propertiesFile: file}
		after, err := editor.edit()
		if err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		if len(editor.changes) > 0 {
			b.blessing.Files = append(b.blessing.Files, BlessedFile{file.file, file.name, file.text, after})
		}
	}
	slices.SortStableFunc(b.blessing.Skipped, func(left, right Skip) int {
		return cmp.Or(strings.Compare(left.File, right.File), cmp.Compare(left.Line, right.Line), cmp.Compare(left.Col, right.Col))
	})
	return nil
}
