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
	b := &blesser{opt: &opt, entrant: &Entrant{Entrant: runner.Entrant{Engine: engine}}, out: &Blessing{}, files: make(map[string]*blessFile)}
	x := &run{opt: &opt.Options, entrants: []Entrant{*b.entrant}}
	if err := x.check(); err != nil {
		return nil, err
	}
	for i := range tests {
		x.subjects = append(x.subjects, load(ctx, &tests[i], &opt.Options))
	}
	if err := x.identify(); err != nil {
		return nil, err
	}
	x.splitBudget()
	for _, s := range x.subjects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.propose(ctx, s)
	}
	return b.out, b.finish()
}

// blesser is the state of Bless.
type blesser struct {
	opt     *BlessOptions
	entrant *Entrant
	out     *Blessing
	files   map[string]*blessFile // by name in the file system
	order   []*blessFile
}

// blessFile is a properties file.
type blessFile struct {
	file, name string
	text       []byte
	tree       *syntax.Properties
	proposals  map[syntax.Pos][]proposal // by property
	skipped    map[string]bool
}

// proposal is a new expectation of an item.
type proposal struct {
	item     *item
	value    string // of RESULT; empty if there is nothing to write
	how      string // where the value comes from
	terms    string // of TILECHECK, empty for none
	replaces *expect.Expectation
	keep     bool // the item has an expectation already, which may stay
	exact    bool // computed with fractions
}

func (b *blesser) fileOf(s *subject) *blessFile {
	name := s.switches.Props
	if b.files[name] == nil {
		f := &blessFile{file: name, name: b.opt.name(name), text: s.props, tree: s.tree, proposals: make(map[syntax.Pos][]proposal), skipped: make(map[string]bool)}
		b.files[name] = f
		b.order = append(b.order, f)
	}
	return b.files[name]
}

func (b *blesser) skip(f *blessFile, at syntax.Pos, property, reason string) {
	key := fmt.Sprint(at, reason)
	if !f.skipped[key] {
		f.skipped[key] = true
		b.out.Skipped = append(b.out.Skipped, Skip{f.name, int(at.Line), int(at.Col), property, reason})
	}
}

// propose adds the proposals for the items of a test.
func (b *blesser) propose(ctx context.Context, s *subject) {
	if s.err != nil {
		f := fileFailure(s.err)
		b.out.Skipped = append(b.out.Skipped, Skip{
			File: cmp.Or(f.File, s.opt.name(s.switches.Props), s.opt.name(s.switches.Model)),
			Line: int(f.Pos.Line), Col: int(f.Pos.Col), Reason: f.Message,
		})
		return
	}
	if len(s.items) == 0 {
		return
	}
	file := b.fileOf(s)
	kept := b.keptItems(ctx, s)
	var open []*item
	for _, it := range s.items {
		if it.keep && !kept[it] {
			open = append(open, it)
			continue
		}
		file.proposals[it.task.Pos] = append(file.proposals[it.task.Pos], proposal{item: it, keep: true})
	}
	values := b.computeValues(ctx, s, open)
	for _, it := range open {
		w := values[it]
		w.item = it
		if it.chosen.Result != nil {
			w.replaces = it.chosen.Result
		}
		file.proposals[it.task.Pos] = append(file.proposals[it.task.Pos], w)
		if w.value == "" {
			b.skip(file, it.task.Pos, it.task.Text, w.how)
		}
	}
}

// keptItems returns the items whose annotations stay: all with a chosen annotation, or, with Update, those that do not
// fail. An annotation that cannot be read always stays. It records results that fail and stay.
func (b *blesser) keptItems(ctx context.Context, s *subject) map[*item]bool {
	kept := make(map[*item]bool)
	for _, it := range s.items {
		_, unmatched := errors.AsType[expect.Unmatched](it.problem)
		kept[it] = it.chosen.Expects() || it.problem != nil && !unmatched
	}
	if !slices.ContainsFunc(s.items, func(it *item) bool { return it.keep && kept[it] }) {
		return kept
	}
	u := &unit{subject: s, entrant: b.entrant, workers: 1}
	u.run(ctx)
	b.keepFailing(u.whole)
	for i := range u.results {
		switch it := s.items[i]; {
		case b.opt.Update && u.results[i].Outcome == report.TestFailed && it.problem == nil && it.extra == "":
			kept[it] = false
		case it.keep && kept[it]:
			b.keepFailing(u.results[i : i+1])
		}
	}
	return kept
}

// keepFailing records the results that fail.
func (b *blesser) keepFailing(results []report.TestResult) {
	for i := range results {
		if FailureCode(&report.TestReport{Results: results[i : i+1]}) != 0 {
			b.out.Failing = append(b.out.Failing, results[i])
		}
	}
}

// computeValues computes the expected values of items: with fractions, then, if necessary, with bounds, and then by
// sampling.
func (b *blesser) computeValues(ctx context.Context, s *subject, open []*item) map[*item]proposal {
	out := make(map[*item]proposal)
	if len(open) == 0 {
		return out
	}
	steps := []func(*runner.Settings){
		func(x *runner.Settings) {
			x.Method, x.Numeric.Accuracy, x.Numeric.MaxStates = runner.States, result.Exact, b.opt.MaxStates
		},
		func(x *runner.Settings) { x.Method, x.Numeric.Accuracy = runner.States, result.Bounded },
		func(x *runner.Settings) {
			x.Method, x.Numeric = runner.CI, runner.Numeric{}
			x.Simulation = runner.Simulation{Samples: b.opt.Samples, Confidence: blessConfidence, Seed: b.opt.Seed}
		},
	}
	for step, change := range steps {
		var left []*item
		for _, it := range open {
			if out[it].value == "" && (step < 2 || out[it].keep) {
				left = append(left, it)
			}
		}
		if len(left) == 0 {
			break
		}
		for it, v := range b.check(ctx, s, left, change) {
			w := b.proposalFor(&v, step)
			if s.switches.Exact && strings.HasPrefix(w.value, "[") {
				w = proposal{how: "fractions are asked for (-exact), and the value has none"}
			}
			if w.value == "" && step > 0 {
				w.how = cmp.Or(w.how, out[it].how)
			}
			// keep says here that there are too many states, so sampling may help
			w.keep = v.Err != nil && v.Err.Class.Limited()
			w.exact = step == 0
			out[it] = w
		}
	}
	for it, w := range out {
		w.keep = false
		out[it] = w
	}
	if !s.switches.Exact {
		b.confirm(ctx, s, out, steps[1])
	}
	return out
}

// confirm removes values computed with fractions that the default method contradicts: one of the two is wrong then.
func (b *blesser) confirm(ctx context.Context, s *subject, proposals map[*item]proposal, byDefault func(*runner.Settings)) {
	var exact []*item
	for _, it := range s.items {
		if proposals[it].value != "" && proposals[it].exact {
			exact = append(exact, it)
		}
	}
	if len(exact) == 0 {
		return
	}
	for it, v := range b.check(ctx, s, exact, byDefault) {
		w := proposals[it]
		if v.Err != nil && v.Err.Class == result.Interrupted {
			proposals[it] = proposal{how: v.Err.Message}
			continue
		}
		e := expect.Expectation{Value: w.value, Pos: it.task.Pos}
		if j := e.Judge(v, it.rules); j.Outcome == expect.Fail {
			proposals[it] = proposal{how: fmt.Sprintf("fractions say %s, and the default method says otherwise: %s", w.value, verdictText(v))}
		}
	}
}

// blessConfidence is the confidence of the intervals and terms that are written. Two intervals of one value are disjoint
// with at most twice the probability of error.
const blessConfidence = 0.9999

// check checks items with other settings.
func (b *blesser) check(ctx context.Context, s *subject, items []*item, change func(*runner.Settings)) map[*item]result.Verdict {
	limit := cmp.Or(s.Time, b.opt.Time, 30*time.Second)
	ctx, cancel := ending.After(ctx, limit)
	defer cancel()
	u := &unit{subject: s, entrant: b.entrant, workers: 1}
	out := make(map[*item]result.Verdict)
	answers := make([]answer, len(s.items))
	err := error(nil)
	if f := u.refused(); f != nil {
		err = f
	} else {
		batch := &batch{plan: s.plan.WithSettings(change)}
		for i, it := range s.items {
			if slices.Contains(items, it) {
				batch.items = append(batch.items, i)
			}
		}
		batch.selected = u.selection(batch)
		err = u.check(ctx, batch, answers)
	}
	for i, it := range s.items {
		if !slices.Contains(items, it) {
			continue
		}
		v := answers[i].Verdict
		if err != nil {
			v = result.Verdict{Err: fileFailure(u.interrupted(ctx, err))}
		}
		out[it] = v
	}
	return out
}

// proposalFor returns the expectation that a verdict justifies.
func (b *blesser) proposalFor(v *result.Verdict, step int) proposal {
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	x := v.Value
	switch {
	case v.Err != nil:
		return proposal{how: failureText(v.Err)}
	case v.Doubt != "":
		return proposal{how: "the value is doubtful: " + v.Doubt}
	case v.Accuracy == result.Claimed, v.Accuracy == result.Estimated, v.Accuracy == result.Unknown:
		return proposal{how: "nothing proves the value, which is " + v.Accuracy.String()}
	case x.Kind == result.Boolean && v.Accuracy == result.Probable:
		// a test could not repeat it: sampling is asked for of numbers only
		return proposal{how: "too many states, and a truth value that is sampled is only probable"}
	case x.Kind == result.Boolean:
		return proposal{value: strconv.FormatBool(x.Bool), how: v.Accuracy.String()}
	case x.Kind == result.Integer:
		return proposal{value: strconv.FormatFloat(x.Num, 'f', -1, 64), how: "exact"}
	case x.Kind != result.Number:
		return proposal{how: "a range of values over several initial states cannot be expected"}
	case math.IsNaN(x.Num):
		return proposal{value: "NaN", how: v.Accuracy.String()}
	case math.IsInf(x.Num, 0):
		return proposal{value: map[bool]string{true: "Infinity", false: "-Infinity"}[x.Num > 0], how: v.Accuracy.String()}
	case x.Rat != nil && v.Accuracy == result.Exact:
		if text := x.Rat.RatString(); len(text) <= maxFraction {
			return proposal{value: text, how: "exact"}
		}
		return proposal{value: "~" + num(x.Num), how: "rounded from a fraction"}
	case step < 2 && v.Bound != nil && v.Accuracy == result.Bounded:
		if v.Bound.Lo == v.Bound.Hi {
			return proposal{value: num(v.Bound.Lo), how: "bounds"}
		}
		return proposal{value: "[" + num(v.Bound.Lo) + "," + num(v.Bound.Hi) + "]", how: "bounds"}
	case step == 2 && v.Bound != nil && v.Resolution != result.Uniform:
		seed := uint64(0)
		if v.Seed != nil {
			seed = *v.Seed
		}
		return proposal{
			value: "[" + num(v.Bound.Lo) + "," + num(v.Bound.Hi) + "]",
			how:   fmt.Sprintf("%d samples, seed %d, confidence %v", v.Samples, seed, v.Confidence),
			terms: fmt.Sprintf("samples=%d confidence=%v seed=%d", v.Samples, blessConfidence, seed),
		}
	case step == 2 && v.Resolution == result.Uniform:
		return proposal{how: "too many states, and sampling resolves the choices uniformly, which is no minimum or maximum"}
	}
	return proposal{how: "the value has no bounds"}
}

// maxFraction is the length of the longest fraction that is written.
const maxFraction = 60

// finish makes the new files.
func (b *blesser) finish() error {
	for _, f := range b.order {
		e := &editor{blesser: b, blessFile: f}
		after, err := e.edit()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if len(e.changes) > 0 {
			b.out.Files = append(b.out.Files, BlessedFile{f.file, f.name, f.text, after})
		}
	}
	slices.SortStableFunc(b.out.Skipped, func(x, y Skip) int {
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col))
	})
	return nil
}
