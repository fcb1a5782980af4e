package regress

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tilecheck/prism/sema"
	"tilecheck/report"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// Run runs tests on all entrants. A failure of a test is a result; the error says that the options are wrong. When the
// context is cancelled, Run returns soon, and unfinished results have the outcome TestError.
func Run(ctx context.Context, tests []Test, entrants []Entrant, opt Options) (*report.TestReport, error) {
	start := time.Now()
	x := &run{opt: &opt, entrants: entrants}
	if err := x.check(); err != nil {
		return nil, err
	}
	for i := range tests {
		x.subjects = append(x.subjects, load(ctx, &tests[i], &opt))
	}
	rep := &report.TestReport{Title: opt.Title, Started: start, Findings: x.findings()}
	for i := range entrants {
		rep.Engines = append(rep.Engines, entrants[i].Called())
	}
	x.unused = x.unusedConsts()
	x.splitBudget()
	if err := x.identify(); err != nil {
		return nil, err
	}
	mark := x.mark()
	if opt.Split.Replaying() {
		if err := x.checkSuite(mark); err != nil {
			return nil, err
		}
	}
	if err := x.selectPart(); err != nil {
		return nil, err
	}
	if len(x.subjects) == 0 && len(opt.Only) == 0 {
		rep.Elsewhere = x.tests
	}
	x.runAll(ctx)
	if err := x.finishSplit(mark); err != nil {
		return nil, err
	}
	rep.Notes = x.notes(x.units)
	rep.Results, rep.Compared = x.results()
	rep.Notes = append(rep.Notes, doubts(rep.Results)...)
	if rep.Compared.All() > 0 {
		rep.Notes = append(rep.Notes, "engines: "+rep.Compared.String())
	}
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// run is the state of a run.
type run struct {
	opt      *Options
	entrants []Entrant
	subjects []*subject
	units    []*unit // by subject, then by entrant
	// tests and statistical are the numbers of tests and statistical expectations in the
	// whole suite.
	tests, statistical int
	// unused are constants that tests define and no file declares.
	unused []string
}

func (r *run) check() error {
	if r.opt.FS == nil {
		return errors.New("no file system to read from")
	}
	if len(r.entrants) == 0 {
		return errors.New("no engine to run on")
	}
	var labels []string
	for i := range r.entrants {
		labels = append(labels, r.entrants[i].Called())
	}
	return runner.Distinct(labels)
}

// identify sets the identities of all results. The error lists identities in Options.Only that no result has.
func (r *run) identify() error {
	known := make(map[string]bool)
	for i, s := range r.subjects {
		s.number = i + 1
		s.identify(r.opt.Only, known)
	}
	unknown := slices.DeleteFunc(slices.Clone(r.opt.Only), func(id string) bool { return known[id] })
	if len(unknown) > 0 {
		return fmt.Errorf("no result has the identity %s", strings.Join(unknown, ", "))
	}
	return nil
}

// selectPart keeps the subjects of the shard and the items in Options.Only.
func (r *run) selectPart() error {
	r.tests = len(r.subjects)
	if r.opt.Times != nil && r.opt.Shard.Of > 1 {
		if err := r.balance(); err != nil {
			return err
		}
	} else {
		r.subjects = slices.DeleteFunc(r.subjects, func(s *subject) bool { return !r.opt.Shard.Holds(s.identity()) })
	}
	if len(r.opt.Only) > 0 {
		r.subjects = slices.DeleteFunc(r.subjects, func(s *subject) bool {
			return !s.wanted && !slices.ContainsFunc(s.items, func(it *item) bool { return it.keep })
		})
	}
	return nil
}

// unusedConsts lists the names in Test.Consts that no test declares. It is empty if a test cannot be read, which may
// declare them.
func (r *run) unusedConsts() []string {
	var out []string
	for _, s := range r.subjects {
		if s.err != nil {
			return nil
		}
		defs, _ := sema.ParseConsts(s.Consts) // s.err has the mistakes
		for _, d := range defs {
			if !slices.Contains(out, d.Name) {
				out = append(out, d.Name)
			}
		}
	}
	return slices.DeleteFunc(out, func(name string) bool {
		return slices.ContainsFunc(r.subjects, func(s *subject) bool {
			return slices.ContainsFunc(s.items, func(it *item) bool { return it.knows(name) })
		})
	})
}

// runAll runs every subject on every entrant, several at a time.
func (r *run) runAll(ctx context.Context) {
	for _, s := range r.subjects {
		for i := range r.entrants {
			if e := &r.entrants[i]; s.runsOn(e) {
				r.units = append(r.units, &unit{subject: s, entrant: e})
			}
		}
	}
	jobs := max(r.opt.Jobs, 1)
	var units errgroup.Group
	units.SetLimit(jobs)
	w := &progress{started: make(map[*unit]time.Time), total: len(r.units), notify: r.opt.Progress}
	defer w.watch()()
	for i, u := range r.units {
		u.workers = max(1, runtime.GOMAXPROCS(0)/min(jobs, len(r.units)-i))
		units.Go(func() error {
			w.begin(u)
			u.run(ctx)
			w.end(u)
			return nil
		})
	}
	_ = units.Wait()
}

// results returns the results by subject, then by item, then by entrant, and compares the entrants of each item.
func (r *run) results() (out []report.TestResult, compared agree.Tally) {
	for len(r.units) > 0 {
		s := r.units[0].subject
		n := 0
		for n < len(r.units) && r.units[n].subject == s {
			n++
		}
		out = append(out, merge(s, r.units[:n], &compared)...)
		r.units = r.units[n:]
	}
	return out, compared
}

// merge interleaves the results of the units of a subject.
func merge(s *subject, units []*unit, compared *agree.Tally) []report.TestResult {
	var out []report.TestResult
	for _, u := range units {
		out = append(out, u.whole...)
	}
	for i, it := range s.items {
		if !it.keep {
			continue
		}
		var row []report.TestResult
		for _, u := range units {
			if u.results != nil {
				row = append(row, u.results[i])
			}
		}
		s.agree(it, row, compared)
		out = append(out, row...)
	}
	return out
}

// doubts returns a note for each reason why engines doubt values of their own.
func doubts(results []report.TestResult) (out []string) {
	type doubt struct{ engine, text string }
	count := make(map[doubt]int)
	var order []doubt
	for i := range results {
		if v := results[i].Verdict; v != nil && v.Doubt != "" {
			d := doubt{results[i].Engine, v.Doubt}
			if count[d]++; count[d] == 1 {
				order = append(order, d)
			}
		}
	}
	for _, d := range order {
		out = append(out, fmt.Sprintf("%s casts doubt on %d of its own values, which prove nothing: %s", d.engine, count[d], d.text))
	}
	return out
}

// notes returns the notes of the report.
func (r *run) notes(units []*unit) []string {
	var out []string
	if s := r.opt.Shard; s.Of > 1 {
		out = append(out, fmt.Sprintf("part %v: %d tests of %d", s, len(r.subjects), r.tests))
		if len(r.subjects) == 0 && r.tests > 0 && len(r.opt.Only) == 0 {
			out[0] += ": all of them are in other parts, and there is nothing to do in this one"
		}
	}
	if r.statistical > 0 {
		out = append(out, fmt.Sprintf(
			"%d statistical expectations, seed %d: with the budget of the whole suite (%g) each may fail by chance with probability %.3g",
			r.statistical, r.opt.Seed, r.opt.Flakes, r.opt.Flakes/float64(r.statistical)))
	}
	for _, name := range r.unused {
		out = append(out, fmt.Sprintf("constant %q is not declared in any test; its definition is not used", name))
	}
	for _, u := range units {
		for _, n := range u.notes {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
