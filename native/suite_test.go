package native_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/properties/expect"
	"tilecheck/properties/suite"
	"tilecheck/result"
	"tilecheck/runner"
)

// suiteDifferences says, by properties file and property, where we answer
// something else than PRISM's developers expect, and why.
var suiteDifferences = map[string]string{
	"functionality/verify/close_bounds.prism.props P>=0.1666666666 [ F s=7&d=x ]": "interval iteration at 1e-5 does not decide in PRISM; we go on with narrower bounds",
	"functionality/verify/close_bounds.prism.props P>=1/6 [ F s=7&d=x ]":          "bounds do not decide in PRISM; we go on with fractions",

	"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F P>0 [ X F<=4 \"a\" ] ]": "PRISM has no step bounds in LTL; we have",
	"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F<=1 P>0 [ X F \"a\" ] ]": "PRISM has no step bounds in LTL; we have",
	"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F P>0 [ X F<=1 \"a\" ] ]": "PRISM has no step bounds in LTL; we have",
}

// TestPrismSuite judges the engine by PRISM's own regression suite: what it
// answers must be what PRISM's developers expect, and it may refuse by name.
// The first folders are what the engine is about. Where bounds were computed,
// the fraction must lie within them.
func TestPrismSuite(t *testing.T) {
	dir := os.Getenv("TILECHECK_PRISM_TESTS")
	if dir == "" {
		t.Skip("TILECHECK_PRISM_TESTS names no copy of prism-tests")
	}
	core := []string{
		"functionality/verify/dtmcs", "functionality/verify/mdps", "functionality/verify/ctmcs",
		"functionality/language", "functionality/verify/sim",
	}
	t.Run("core", func(t *testing.T) { testSuite(t, dir, core, nil, 2150) })
	t.Run("rest", func(t *testing.T) {
		testSuite(t, dir, []string{"functionality", "bugfixes", "pmc", "papers", "contrib"}, core, 1810)
	})
}

// testSuite runs folders, without some of those below them, and wants so many
// results to be as expected.
func testSuite(t *testing.T, dir string, folders, without []string, floor int) {
	s := &suiteTotals{count: map[string]int{}, refused: map[string]int{}, seen: map[string]bool{}}
	for _, folder := range folders {
		runs, err := suite.Discover(os.DirFS(dir), folder, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if slices.ContainsFunc(without, func(f string) bool { return r.Dir == f || strings.HasPrefix(r.Dir, f+"/") }) {
				continue
			}
			s.count["runs"]++
			if err := s.run(t.Context(), dir, r); err != nil {
				t.Errorf("%v: %v", r, err)
			}
		}
	}
	s.report(t)
	if s.count["PASS"] < floor {
		t.Errorf("only %d results are as expected, want %d", s.count["PASS"], floor)
	}
}

// suiteTotals counts judgments.
type suiteTotals struct {
	count   map[string]int
	refused map[string]int // by reason
	wrong   []string
	seen    map[string]bool // properties whose bounds were compared with fractions
}

func (s *suiteTotals) report(t *testing.T) {
	for _, w := range s.wrong {
		t.Errorf("wrong: %s", w)
	}
	reasons := slices.SortedFunc(maps.Keys(s.refused), func(a, b string) int {
		return cmp.Or(s.refused[b]-s.refused[a], strings.Compare(a, b))
	})
	for _, r := range reasons {
		t.Logf("refused %4d: %s", s.refused[r], r)
	}
	t.Logf("%d runs, %d of them without properties: %d results pass, %d refused by name, %d wrong, %d different on purpose, %d not tested; %d of %d bounds hold fractions",
		s.count["runs"], s.count["no properties"], s.count["PASS"], s.count["UNSUPPORTED"], s.count["FAIL"],
		s.count["different"], s.count["NOT TESTED"], s.count["bounds hold"], s.count["bounds"])
}

// note counts a judgment.
func (s *suiteTotals) note(f *suiteFiles, r suite.Run, prop *syntax.Property, constants string, j expect.Judgment) {
	text := syntax.ExprString(prop.X)
	if j.Outcome == expect.Fail && suiteDifferences[f.opts.Props+" "+text] != "" {
		s.count["different"]++
		return
	}
	s.count[j.Outcome.String()]++
	switch j.Outcome {
	case expect.Unsupported:
		s.refused[j.Reason]++
	case expect.Fail:
		s.wrong = append(s.wrong, fmt.Sprintf("%v: %s %s: %s", r, text, constants, j.Reason))
	}
}

// suiteFiles are the parsed files of a run.
type suiteFiles struct {
	opts  suite.Options
	text  [2][]byte // model and properties
	model *sema.Model
	props *sema.Properties
	decl  []*syntax.Property
	sel   []int // the properties to check; nil for all
}

func loadSuite(dir string, r suite.Run) (*suiteFiles, error) {
	f := &suiteFiles{}
	var err error
	if f.opts, err = r.Options(); err != nil || f.opts.Props == "" {
		return f, err
	}
	for i, name := range []string{f.opts.Model, f.opts.Props} {
		if f.text[i], err = os.ReadFile(path.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	tree, err := syntax.ParseModel(f.opts.Model, f.text[0])
	if err != nil {
		return nil, err
	}
	if f.opts.Type != syntax.TypeNone {
		tree.Items = slices.DeleteFunc(tree.Items, func(x syntax.Item) bool { _, ok := x.(*syntax.TypeDecl); return ok })
		tree.Items = append(tree.Items, &syntax.TypeDecl{Type: f.opts.Type})
	}
	if f.model, err = sema.CheckModel(tree); err != nil {
		return nil, err
	}
	list, err := syntax.ParseProperties(f.opts.Props, f.text[1])
	if err != nil {
		return nil, err
	}
	for _, x := range list.Items {
		if p, ok := x.(*syntax.Property); ok {
			f.decl = append(f.decl, p)
		}
	}
	if f.props, err = f.model.CheckProperties(list); err != nil {
		return nil, err
	}
	f.sel, err = f.selected()
	return f, err
}

// selected returns the properties to check, those of -property.
func (f *suiteFiles) selected() ([]int, error) {
	if len(f.opts.Select) == 0 {
		return nil, nil
	}
	sel := []int{}
	for _, word := range f.opts.Select {
		i := slices.IndexFunc(f.decl, func(p *syntax.Property) bool { return p.Name != nil && p.Name.Name == word })
		if n, err := strconv.Atoi(word); err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(f.decl) {
			return nil, fmt.Errorf("no property %q", word)
		}
		sel = append(sel, i)
	}
	return sel, nil
}

func (s *suiteTotals) run(ctx context.Context, dir string, r suite.Run) error {
	f, err := loadSuite(dir, r)
	switch {
	case err != nil:
		return err
	case f.opts.Props == "" || len(f.opts.Imports) > 0 && strings.HasPrefix(f.opts.Imports[0][0], "-importresults"):
		s.count["no properties"]++
		return nil
	}
	defs, err := sema.ParseConsts(f.opts.Consts)
	if err != nil {
		return err
	}
	if f.opts.Params != "" { // parameters are refused later: any value will do
		for name := range strings.SplitSeq(f.opts.Params, ",") {
			name, _, _ = strings.Cut(name, "=")
			defs = append(defs, sema.ConstDef{Name: name, Low: "0"})
		}
	}
	x, err := f.model.Experiment(f.props, f.sel, defs)
	if err != nil {
		return err
	}
	for mv := range x.Models() {
		prog, err := f.model.Instantiate(mv.Map())
		if err != nil {
			return err
		}
		in := f.instance(ctx, prog)
		for i, decl := range f.decl {
			if f.sel != nil && !slices.Contains(f.sel, i) {
				continue
			}
			es := expect.Parse(f.text[1], decl)
			for pv := range x.Properties(i) {
				constants := strings.Trim(mv.String()+","+pv.String(), ",")
				rules := expect.Rules{Constants: f.props.Values(prog, pv.Map()), Exact: f.opts.Exact, Relative: expect.DefaultRelative}
				e, err := expect.Select(es, rules)
				j := expect.Judgment{}
				if err != nil {
					j.Reason = err.Error()
				} else {
					v := in.check(i, mv, pv)
					j = e.Judge(v, rules)
					s.bounds(in, r, i, pv, constants, v)
				}
				s.note(f, r, decl, constants, j)
			}
		}
	}
	return nil
}

// bounds compares the bounds of a verdict with the fraction, if there is one,
// in small models.
func (s *suiteTotals) bounds(in *suiteInstance, r suite.Run, i int, pv sema.Valuation, constants string, v result.Verdict) {
	key := fmt.Sprint(in.opts.Model, in.opts.Type, in.opts.Props, i, constants)
	if v.Err != nil || v.Bound == nil || v.Accuracy != result.Bounded || v.States > 200 || s.seen[key] {
		return
	}
	s.seen[key] = true
	s.count["bounds"]++
	x := in.fraction(i, pv)
	if x == nil {
		return
	}
	s.count["bounds hold"]++
	lo, hi := new(big.Rat).SetFloat64(v.Bound.Lo), new(big.Rat).SetFloat64(v.Bound.Hi)
	if lo != nil && lo.Cmp(x) > 0 || hi != nil && hi.Cmp(x) < 0 {
		s.wrong = append(s.wrong, fmt.Sprintf("%v: %s %s: %v does not contain %s", r, v.Property, constants, *v.Bound, x.RatString()))
	}
}

// suiteInstance checks the properties of a run under one valuation of the
// model's constants.
type suiteInstance struct {
	*suiteFiles
	ctx     context.Context
	prog    *sema.Program
	checker *check.Checker
	exact   *check.Checker  // built when needed
	err     *result.Failure // there is no model
}

func (f *suiteFiles) instance(ctx context.Context, prog *sema.Program) *suiteInstance {
	in := &suiteInstance{suiteFiles: f, ctx: ctx, prog: prog}
	if why := f.refused(); why != "" {
		in.err = &result.Failure{Class: result.Unsupported, Message: why}
		return in
	}
	if f.opts.Simulation == nil {
		var err error
		if in.checker, err = in.build(f.opts.Exact); err != nil {
			in.err = check.Failure(err, f.opts.Model, syntax.Pos{})
		}
	}
	return in
}

// refused names a switch that asks for what the engine does not have.
func (f *suiteFiles) refused() string {
	switch {
	case f.opts.Fair:
		return "fairness (-fair)"
	case f.opts.Params != "":
		return "parameters (-param)"
	case f.opts.NoProbChecks:
		return "probabilities that do not sum to one (-noprobchecks)"
	case len(f.opts.Imports) > 0:
		return "imports (-import...)"
	}
	return ""
}

func (in *suiteInstance) build(exact bool) (*check.Checker, error) {
	m, err := compile.Compile(in.prog, compile.Options{NoFixDeadlocks: in.opts.NoFixDeadlocks})
	if err != nil {
		return nil, err
	}
	space, err := explicit.Build(in.ctx, m, explicit.Options{NoFixDeadlocks: in.opts.NoFixDeadlocks, Exact: exact})
	if err != nil {
		return nil, err
	}
	opts := check.Options{}
	if exact {
		opts.Accuracy = result.Exact
	}
	return check.New(m, space, opts), nil
}

// fraction computes a property with fractions; nil if there is none, or if
// there are too many states.
func (in *suiteInstance) fraction(i int, pv sema.Valuation) *big.Rat {
	props, full, err := in.props.Instantiate(in.prog, []int{i}, pv.Map())
	if err != nil {
		return nil
	}
	if in.exact == nil {
		if in.exact, err = in.build(true); err != nil {
			return nil
		}
	}
	v := in.exact.Check(in.ctx, &check.Property{Property: props[0], Program: full, File: in.opts.Props})
	if v.Err != nil {
		return nil
	}
	return v.Value.Rat
}

func (in *suiteInstance) check(i int, mv, pv sema.Valuation) result.Verdict {
	if in.err != nil {
		return result.Verdict{Err: in.err}
	}
	if in.opts.Simulation != nil {
		return in.simulate(i, mv, pv)
	}
	props, full, err := in.props.Instantiate(in.prog, []int{i}, pv.Map())
	if err != nil {
		return result.Verdict{Err: check.Failure(err, in.opts.Props, in.decl[i].Pos())}
	}
	return in.checker.Check(in.ctx, &check.Property{Property: props[0], Program: full, File: in.opts.Props})
}

// simulate asks the simulator, with PRISM's defaults.
func (in *suiteInstance) simulate(i int, mv, pv sema.Valuation) result.Verdict {
	sim := in.opts.Simulation
	job := runner.Job{
		File: in.opts.Model, Model: in.text[0], PropsFile: in.opts.Props, Properties: in.text[1],
		Select: []string{fmt.Sprint(i + 1)}, Method: runner.Sim, NoFixDeadlocks: in.opts.NoFixDeadlocks,
		Simulation: runner.Simulation{Samples: sim.Samples, MaxPath: sim.PathLength, Seed: 1},
	}
	for _, v := range []sema.Valuation{mv, pv} {
		if len(v) > 0 {
			job.Consts = append(job.Consts, v.String())
		}
	}
	vs, err := native.New().Check(in.ctx, job)
	if err != nil {
		return result.Verdict{Err: &result.Failure{Class: result.Other, Message: err.Error()}}
	}
	return vs[0]
}
