package attack

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// mode is a way to ask for the answers of an instance.
type mode struct {
	name string
	run  func(a *attack, i *instance)
}

// instance is a model with questions.
type instance struct {
	kind, file, text string
	dialect          syntax.Dialect
	questions        []question
	sampled          []question // of a Markov chain
	only, skip       []string   // the names of the modes for this instance, if not all; of those that are not for it
	maxStates        int        // the limit of states; 0 for none
	points           []point    // the answers to the questions at values of the parameters
	printed          []string   // the properties as verdicts print them
	shown            bool       // an alarm printed the text
}

// job returns the job of an instance.
func (i *instance) job() runner.Job {
	job := runner.Job{File: i.file, Model: []byte(i.text), Dialect: i.dialect}
	if job.Numeric.Workers = 1; i.kind == "pomdp" {
		job.Numeric.Beliefs = 1000
	}
	job.Numeric.MaxStates = i.maxStates
	for _, q := range i.questions {
		job.Props = append(job.Props, q.text)
	}
	return job
}

// modes returns all modes.
func modes() []mode {
	list := []mode{
		simple("default", func(*attack, *runner.Job) {}),
		simple("exact", func(_ *attack, job *runner.Job) { job.Numeric.Accuracy = result.Exact }),
		{"certify", (*attack).certify},
		{"changed certificates", (*attack).changeCertificates},
		simple("reduce exact", func(_ *attack, job *runner.Job) { job.Numeric.Reduce, job.Numeric.Accuracy = true, result.Exact }),
		simple("reduce", func(_ *attack, job *runner.Job) { job.Numeric.Reduce = true }),
		simple("symmetry", func(_ *attack, job *runner.Job) { job.Numeric.Symmetry = true }),
		simple("symmetry exact", func(_ *attack, job *runner.Job) { job.Numeric.Symmetry, job.Numeric.Accuracy = true, result.Exact }),
		simple("disk", func(a *attack, job *runner.Job) { job.Numeric.Disk = a.TempDir() }),
	}
	for _, epsilon := range []float64{1e-2, 1e-5, 1e-10, 1e-13} {
		list = append(list, simple(fmt.Sprintf("epsilon %g", epsilon), func(_ *attack, job *runner.Job) { job.Numeric.Epsilon = epsilon }))
	}
	list = append(list,
		simple("zones", func(_ *attack, job *runner.Job) {
			job.Numeric.Clocks, job.Numeric.Accuracy = runner.ClockZones, result.Exact
		}),
		simple("regions", func(_ *attack, job *runner.Job) {
			job.Numeric.Clocks, job.Numeric.Accuracy = runner.ClockRegions, result.Exact
		}))
	list = append(list, mode{"parameters", (*attack).parameters}, mode{"constants", (*attack).constants}, mode{"sampling", (*attack).sample}, mode{"command", (*attack).command})
	return append(list, exported()...)
}

// simple is a mode that changes a job.
func simple(name string, change func(a *attack, job *runner.Job)) mode {
	return mode{name, func(a *attack, i *instance) {
		job := i.job()
		change(a, &job)
		a.ask(i, job)
	}}
}

// refusesAll matches the errors that refuse all questions about a kind of model.
var refusesAll = regexp.MustCompile(`^--disk supports |not supported for state spaces from files|cannot be (exported|written) as `)

// fails counts all questions as refused, or reports the error if it refuses nothing.
func (a *attack) fails(i *instance, err error) {
	if !refusesAll.MatchString(err.Error()) {
		a.alarm(i, "", "%v", err)
		return
	}
	a.refused(i, "", err.Error())
}

// ask checks a job and judges all verdicts.
func (a *attack) ask(i *instance, job runner.Job) []result.Verdict {
	verdicts, err := runner.Check(a.Context(), native.New(), job)
	if err != nil {
		a.fails(i, err)
		return nil
	}
	if len(verdicts) != len(i.questions) {
		a.alarm(i, "", "%d verdicts for %d questions", len(verdicts), len(i.questions))
		return nil
	}
	for k := range verdicts {
		a.judge(i, &i.questions[k], &verdicts[k], &job)
	}
	return verdicts
}

// judge compares a verdict with the true answer.
func (a *attack) judge(i *instance, q *question, v *result.Verdict, job *runner.Job) {
	switch {
	case v.Err != nil && v.Err.Class == result.Unsupported, a.mode == "disk" && v.Err != nil && v.Err.Class == result.NonConverge, // it has no fractions
		v.Err != nil && i.maxStates > 0 && v.Err.Class.Limited(),                                            // the part of an infinite model does not decide a comparison
		v.Err != nil && i.kind == "smg" && strings.Contains(v.Err.Message, "no pair of optimal strategies"): // of a long-run average, with tiny probabilities
		a.refused(i, q.text, v.Err.Message)
	case v.Err != nil:
		a.alarm(i, q.text, "error %s: %v, want %v", v.Err.Class, v.Err, q.want)
	default:
		if wrong := q.want.contradicts(v, job); wrong != "" {
			a.alarm(i, q.text, "%s, want %v", wrong, q.want)
			return
		}
		a.answers[[2]string{i.kind, a.mode}]++
	}
}

// contradicts says what is wrong in a verdict; empty for nothing.
func (want *answer) contradicts(v *result.Verdict, job *runner.Job) string {
	switch {
	case want.isBool && (v.Value.Kind != result.Boolean || v.Value.Bool != want.truth):
		return fmt.Sprintf("found %v %v", v.Value.Kind, v.Value.Bool)
	case want.isBool:
		return ""
	case v.Value.Kind != result.Number && v.Value.Kind != result.Integer:
		return fmt.Sprintf("found a %v", v.Value.Kind)
	case want.infinite && !math.IsInf(v.Value.Num, 1):
		return fmt.Sprintf("found %v %v", v.Value.Num, v.Bound)
	case want.infinite:
		return ""
	case v.Value.Rat != nil && (v.Value.Rat.Cmp(want.lower) < 0 || v.Value.Rat.Cmp(want.upper) > 0):
		return "found the fraction " + v.Value.Rat.RatString()
	case v.Bound != nil:
		return want.outside(v, job)
	case v.Value.Rat != nil:
		return ""
	case v.Value.Kind == result.Integer || v.Accuracy == result.Exact:
		if x := new(big.Rat).SetFloat64(v.Value.Num); x == nil || x.Cmp(want.lower) != 0 {
			return fmt.Sprintf("found %v", v.Value.Num)
		}
		return ""
	}
	return fmt.Sprintf("found %v %v without bounds", v.Accuracy, v.Value.Num)
}

// outside says what is wrong with the bounds of a verdict.
func (want *answer) outside(v *result.Verdict, job *runner.Job) string {
	low, high := new(big.Rat).SetFloat64(v.Bound.Lo), new(big.Rat).SetFloat64(v.Bound.Hi)
	switch {
	case low == nil && v.Bound.Lo > 0, low != nil && low.Cmp(want.upper) > 0, high == nil && v.Bound.Hi < 0, high != nil && high.Cmp(want.lower) < 0:
		return fmt.Sprintf("found bounds [%v, %v]", v.Bound.Lo, v.Bound.Hi)
	case !v.Bound.Contains(v.Value.Num):
		return fmt.Sprintf("found %v outside of its bounds [%v, %v]", v.Value.Num, v.Bound.Lo, v.Bound.Hi)
	}
	epsilon := cmp.Or(job.Numeric.Epsilon, 1e-8)
	width, size := v.Bound.Hi-v.Bound.Lo, max(math.Abs(v.Bound.Lo), math.Abs(v.Bound.Hi))
	isWarned := strings.Contains(strings.Join(v.Warnings, " "), "width")
	if job.Method == "" && width > 1.001*epsilon*size && width > 1e-300 && !isWarned && v.Accuracy == result.Bounded {
		return fmt.Sprintf("found wide bounds [%v, %v] without a warning %q", v.Bound.Lo, v.Bound.Hi, v.Warnings)
	}
	return ""
}
