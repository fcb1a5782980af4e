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
	Files   []BlessedFile // with changes only, in the order of the suite
	Skipped []Skip
	// Failing are the results that contradict an annotation that stays, or that could not be computed.
	Failing []report.TestResult
	Added   int // annotations that are new
	Updated int // annotations with another value
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
	hasExpectation bool // the instance has an expectation already, which may stay
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

// addProposals adds a proposal for every property instance of a test: to keep its annotation, or to write a computed value. An instance without
// a value is recorded as skipped.
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
	keepsAnnotation := b.keptInstances(ctx, test)
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

// keptInstances returns the instances whose annotations stay: all that have a chosen annotation or, with Update, all whose annotation does not
// fail. An annotation that cannot be read always stays. Results that fail although their annotation stays are recorded in Failing.
func (b *blesser) keptInstances(ctx context.Context, test *loadedTest) map[*propertyInstance]bool {
	kept := make(map[*propertyInstance]bool)
	mustRun := false
	for _, instance := range test.instances {
		_, unmatched := errors.AsType[expect.Unmatched](instance.choiceErr)
		isUnreadable := instance.choiceErr != nil && !unmatched
		kept[instance] = instance.chosen.Expects() || isUnreadable
		mustRun = mustRun || instance.selected && kept[instance]
	}
	if !mustRun {
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

// isReplaced reports whether Update replaces the annotation of an instance: it fails, and is in a file that can be changed.
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

// blessStep is one of the methods by which computeValues tries to compute a value, in this order.
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

// computeValues computes the expected values of property instances by one method after another, each for the instances without a value: with
// fractions, with bounds and, where the model has too many states, by sampling.
func (b *blesser) computeValues(ctx context.Context, test *loadedTest, instances []*propertyInstance) map[*propertyInstance]proposal {
	proposals := make(map[*propertyInstance]proposal)
	exceededLimit := make(map[*propertyInstance]bool) // a limit of the last step
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

// proposalAfter returns the proposal for a verdict of a step. Without a value it keeps the reason that the earlier step gave, unless the new step
// gives one.
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

// dropContradictedFractions removes values that were computed with fractions if the default method contradicts them, because one of the two
// methods is wrong then.
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

// blessConfidence is the confidence of the intervals and terms that are written. Two intervals of one value are disjoint
// with at most twice the probability of error.
const blessConfidence = 0.9999

// checkWith checks property instances with changed settings. Without a time limit of the test or the options, it takes at most 30 seconds.
func (b *blesser) checkWith(ctx context.Context, test *loadedTest, instances []*propertyInstance, change func(*runner.Settings)) map[*propertyInstance]result.Verdict {
	limit := cmp.Or(test.Time, b.opt.Time, 30*time.Second)
	ctx, cancel := ending.After(ctx, limit)
	defer cancel()
	run := &testRun{loadedTest: test, engine: b.engine, workers: 1}
	answers := make([]answer, len(test.instances))
	err := run.checkInstances(ctx, instances, change, answers)
	out := make(map[*propertyInstance]result.Verdict)
	for i, instance := range test.instances {
		if !slices.Contains(instances, instance) {
			continue
		}
		out[instance] = answers[i].Verdict
		if err != nil {
			out[instance] = result.Verdict{Err: fileFailure(run.contextError(ctx, err))}
		}
	}
	return out
}

// checkInstances checks some property instances with changed settings, and fills in their answers.
func (u *testRun) checkInstances(ctx context.Context, instances []*propertyInstance, change func(*runner.Settings), answers []answer) error {
	if failure := u.unsupportedSwitch(); failure != nil {
		return failure
	}
	batch := &batch{plan: u.plan.WithSettings(change)}
	for i, instance := range u.instances {
		if slices.Contains(instances, instance) {
			batch.instances = append(batch.instances, i)
		}
	}
	batch.properties = u.propertyNumbers(batch)
	return u.check(ctx, batch, answers)
}

// proposalFor returns the expectation that a verdict justifies, or a proposal without a value that says why there is none. step is the method
// that computed the verdict.
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
			// A test could not repeat it, because only numbers can be sampled on request.
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

// numberProposal is proposalFor for a number.
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

// boundsText returns an interval as an expected value: a number if its bounds are equal.
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

// editFiles adds the edited properties files to the result, and sorts the skipped properties by their place.
func (b *blesser) editFiles() error {
	for _, file := range b.order {
		editing := &editor{blesser: b, propertiesFile: file}
		after, err := editing.edit()
		if err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		if len(editing.changes) > 0 {
			b.blessing.Files = append(b.blessing.Files, BlessedFile{file.file, file.name, file.text, after})
		}
	}
	slices.SortStableFunc(b.blessing.Skipped, func(left, right Skip) int {
		return cmp.Or(strings.Compare(left.File, right.File), cmp.Compare(left.Line, right.Line), cmp.Compare(left.Col, right.Col))
	})
	return nil
}
