package check_test

import (
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// referee evaluates schedulers again, exactly: on the chain they induce in the
// exact space of a model.
type referee struct {
	t       *testing.T
	checker map[string]*check.Checker // with bounds, and with fractions
	space   *explicit.Space
	// compared, refused and infinite count schedulers.
	compared, refused, infinite int
}

func newReferee(t *testing.T, m *compile.Model) *referee {
	t.Helper()
	double, err := explicit.Build(t.Context(), m, explicit.Options{})
	if err != nil {
		return nil
	}
	exact, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
	if err != nil || exact.Model().NumChoices() != double.Model().NumChoices() {
		return nil
	}
	return &referee{t: t, space: exact, checker: map[string]*check.Checker{
		"bounds":    check.New(m, double, check.Options{}),
		"fractions": check.New(m, exact, check.Options{Accuracy: result.Exact}),
	}}
}

// judge compares the value of the property's scheduler with the verdict.
func (r *referee) judge(p *check.Property) {
	r.t.Helper()
	for kind, c := range r.checker {
		x, v, err := c.Scheduler(r.t.Context(), p)
		if err != nil {
			if x != nil {
				r.t.Errorf("%s with %s: a scheduler and the error %v", p.Text, kind, err)
			}
			r.refused++
			continue
		}
		if x.Controller != nil { // TestRememberedChains of cmd/tilecheck
			continue
		}
		in, err := scheduler.Scheduler(x.Choices).Induce(r.t.Context(), r.space.Model(), scheduler.InduceOptions{})
		if err != nil {
			r.t.Errorf("%s: %v", p.Text, err)
			continue
		}
		b := &bench{r: r, in: in, program: p.Program}
		got, ok := b.operator(p.Expr)
		if !ok { // a nested operator, which states alone do not decide
			continue
		}
		r.compared++
		if got == nil {
			r.infinite++
		}
		r.compare(p, kind, got, v)
	}
}

func (r *referee) compare(p *check.Property, kind string, got *big.Rat, v result.Verdict) {
	r.t.Helper()
	switch {
	case v.Value.Kind == result.Boolean:
		if t, ok := thresholdOf(p.Expr); ok && got != nil && holdsStatus(got, t) != v.Value.Bool {
			r.t.Errorf("%s with %s: the scheduler's value is %v, the verdict %v", p.Text, kind, got, v.Value.Bool)
		}
	case v.Value.Rat != nil:
		if got == nil || got.Cmp(v.Value.Rat) != 0 {
			r.t.Errorf("%s with %s: the scheduler's value is %v, want %v", p.Text, kind, got, v.Value.Rat)
		}
	case v.Bound == nil:
		r.t.Errorf("%s with %s: neither a fraction nor bounds", p.Text, kind)
	case got == nil || math.IsInf(v.Bound.Lo, 1):
		if got != nil || !math.IsInf(v.Bound.Hi, 1) {
			r.t.Errorf("%s with %s: the scheduler's value is %v, want %v", p.Text, kind, got, *v.Bound)
		}
	case new(big.Rat).SetFloat64(v.Bound.Lo).Cmp(got) > 0 || !math.IsInf(v.Bound.Hi, 1) && new(big.Rat).SetFloat64(v.Bound.Hi).Cmp(got) < 0:
		r.t.Errorf("%s with %s: the scheduler's value is %v, want %v", p.Text, kind, got, *v.Bound)
	}
}

func thresholdOf(x sema.Expr) (sema.Threshold, bool) {
	switch x := x.(type) {
	case *sema.Prob:
		return x.Threshold, true
	case *sema.Reward:
		return x.Threshold, true
	case *sema.Steady:
		return x.Threshold, true
	}
	return sema.Threshold{}, false
}

func holdsStatus(x *big.Rat, t sema.Threshold) bool {
	v, _, _ := sema.EvalExact(t.Bound, nil)
	order := x.Cmp(v.Rat)
	switch t.Rel {
	case syntax.OpLt:
		return order < 0
	case syntax.OpLe:
		return order <= 0
	case syntax.OpGt:
		return order > 0
	}
	return order >= 0
}

// bench is the chain that a scheduler induces, and its first initial state.
type bench struct {
	r       *referee
	in      *scheduler.Induced
	program *sema.Program
}

// operator returns the value of P or R, nil for infinity.
func (b *bench) operator(x sema.Expr) (*big.Rat, bool) {
	switch x := x.(type) {
	case *sema.Strategy:
		return b.operator(x.X)
	case *sema.Prob:
		return b.path(x.Path)
	case *sema.Reward:
		return b.reward(x)
	case *sema.Steady:
		set, ok := b.states(x.X)
		if !ok {
			return nil, false
		}
		return b.value(solve.SteadyState(b.r.t.Context(), sparse.NewGraph(b.in.Model), set, solve.Max, solve.Options{Exact: true})), true
	}
	return nil, false
}

func (b *bench) path(x sema.Expr) (*big.Rat, bool) {
	one := big.NewRat(1, 1)
	if not, ok := x.(*sema.Unary); ok && x.Type() == sema.Path {
		v, ok := b.path(not.X)
		if !ok {
			return nil, false
		}
		return one.Sub(one, v), true
	}
	t, ok := x.(*sema.Temporal)
	if !ok {
		return nil, false
	}
	right, ok := b.states(t.Y)
	if !ok {
		return nil, false
	}
	left := sparse.FullSet(right.Len())
	if t.X != nil {
		if left, ok = b.states(t.X); !ok {
			return nil, false
		}
	}
	switch t.Op {
	case syntax.Next:
		return b.value(solve.Next(b.r.t.Context(), sparse.NewGraph(b.in.Model), right, solve.Max, solve.Options{Exact: true})), true
	case syntax.Globally: // !(true U !right)
		return one.Sub(one, b.until(t, left, right.Complement())), true
	case syntax.Release: // !(!left U !right)
		return one.Sub(one, b.until(t, left.Complement(), right.Complement())), true
	case syntax.WeakUntil: // !((left & !right) U !(left | right))
		return one.Sub(one, b.until(t, left.Minus(right), left.Union(right).Complement())), true
	}
	return b.until(t, left, right), true
}

func (b *bench) until(x *sema.Temporal, left, right *sparse.Set) *big.Rat {
	g := sparse.NewGraph(b.in.Model)
	steps := solve.StepBound{High: solve.Unbounded}
	if x.Bound != nil && x.Bound.Low != nil {
		steps.Low = b.integer(x.Bound.Low)
		if x.Bound.IsLowStrict {
			steps.Low++
		}
	}
	if x.Bound != nil && x.Bound.High != nil {
		steps.High = b.integer(x.Bound.High)
		if x.Bound.IsHighStrict {
			steps.High--
		}
	}
	return b.value(solve.BoundedUntil(b.r.t.Context(), g, left, right, steps, solve.Max, solve.Options{Exact: true}))
}

func (b *bench) reward(x *sema.Reward) (*big.Rat, bool) {
	original, err := b.r.space.Reward(x.Struct)
	if err != nil {
		b.r.t.Fatal(err)
	}
	ctx, g, r := b.r.t.Context(), sparse.NewGraph(b.in.Model), b.in.InducedReward(original)
	switch p := x.Path.(type) {
	case *sema.Temporal:
		right, ok := b.states(p.Y)
		if !ok || p.Op != syntax.Future {
			return nil, false
		}
		return b.value(solve.ReachReward(ctx, g, r, right, solve.Max, solve.Options{Exact: true})), true
	case *sema.RewardPath:
		switch {
		case p.Kind == syntax.LongRun:
			return b.value(solve.LongRun(ctx, g, r, solve.Max, solve.Options{Exact: true})), true
		case p.Bound == nil:
			return b.value(solve.TotalReward(ctx, g, r, solve.Max, solve.Options{Exact: true})), true
		case p.Kind == syntax.Instantaneous:
			return b.value(solve.InstantReward(ctx, g, r, b.integer(p.Bound), solve.Max, solve.Options{Exact: true})), true
		}
		return b.value(solve.CumulReward(ctx, g, r, b.integer(p.Bound), solve.Max, solve.Options{Exact: true})), true
	}
	return nil, false
}

// states returns the induced states that satisfy a formula without operators.
func (b *bench) states(x sema.Expr) (*sparse.Set, bool) {
	if l, ok := x.(*sema.Label); ok && l.Index >= 0 {
		return b.states(b.program.Labels[l.Index].Expr)
	}
	set, err := b.r.space.States(x)
	if err != nil {
		return nil, false
	}
	return b.in.InducedStates(set), true
}

func (b *bench) integer(x sema.Expr) int {
	v, err := sema.Eval(x, nil)
	if err != nil {
		b.r.t.Fatal(err)
	}
	return int(v.Int)
}

func (b *bench) value(v *solve.Values, err error) *big.Rat {
	b.r.t.Helper()
	if err != nil {
		b.r.t.Fatal(err)
	}
	return v.Exact[b.in.Model.Initial[0]]
}

// properties returns the properties of a text.
func properties(t *testing.T, program *sema.Program, text string) []*check.Property {
	t.Helper()
	list, extended := sematest.Properties(t, program, text)
	var out []*check.Property
	for _, p := range list {
		out = append(out, &check.Property{Property: p, Program: extended, File: "p.props"})
	}
	return out
}

// TestSchedulersOfCorpus evaluates the schedulers of every property of the
// corpus's MDPs.
func TestSchedulersOfCorpus(t *testing.T) {
	dirs, err := filepath.Glob(corpus + "/*")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, dir := range dirs {
		if _, err := os.Stat(dir + "/props.props"); err != nil {
			continue
		}
		c := load(t, dir)
		if c == nil {
			continue
		}
		defs, err := sema.ParseConsts(c.consts)
		if err != nil {
			t.Fatal(err)
		}
		x, err := c.model.Experiment(c.props, nil, defs)
		if err != nil {
			t.Fatal(err)
		}
		for mv := range x.Models() {
			prog, err := c.model.Instantiate(mv.Map())
			if err != nil || prog.Type != syntax.MDP {
				continue
			}
			m, err := compile.Compile(prog, compile.Options{})
			if err != nil {
				continue
			}
			r := newReferee(t, m)
			if r == nil || len(r.space.Model().Initial) > 1 {
				continue
			}
			for i := range c.props.Len() {
				for pv := range x.Properties(i) {
					props, full, err := c.props.Instantiate(prog, []int{i}, pv.Map())
					if err != nil {
						t.Fatal(err)
					}
					r.judge(&check.Property{Property: props[0], Program: full, File: "props.props"})
				}
			}
			compared += r.compared
		}
	}
	if compared < 60 {
		t.Errorf("only %d schedulers compared", compared)
	}
}

// Properties of boards. Every path ends in a success or a failure. Fractions of
// many steps take their time, and so do large boards.
const (
	boardProperties = `Pmax=? [ F "success" ]; Pmin=? [ F "success" ]; Pmin=? [ F "fail" ]; Pmax=? [ F "fail" ]; Pmax=? [ G !"fail" ]; Pmin=? [ X !"fail" ]; P>=0.9 [ F "success" ];`
	boardSteps      = `Pmax=? [ F<=7 "success" ]; Pmin=? [ G<=5 !"fail" ]; P>0 [ F<=6 "fail" ]`
)

// TestSchedulersOfBoards evaluates schedulers of the game.
func TestSchedulersOfBoards(t *testing.T) {
	shapes := []modelgen.Config{{Rows: 2, Cols: 2, Max: 8}, {Rows: 2, Cols: 2, Max: 16}, {Rows: 2, Cols: 3, Max: 8}}
	for _, cfg := range shapes[:needs.OrFull(1, len(shapes))] {
		for _, spawn := range []modelgen.Spawn{modelgen.SpawnCell, modelgen.SpawnUniform} {
			for _, name := range []string{"none", "random", "opposite", "orthogonal", "alternating"} {
				policy, err := modelgen.ParsePolicy(name)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Spawn, cfg.Policy = spawn, policy
				tree, err := modelgen.Build(cfg)
				if err != nil {
					t.Fatal(err)
				}
				var src strings.Builder
				if err := syntax.Fprint(&src, tree, syntax.Options{}); err != nil {
					t.Fatal(err)
				}
				m := explicittest.Compile(t, src.String())
				r := newReferee(t, m)
				if r == nil {
					t.Fatalf("%+v: no exact space", cfg)
				}
				text := boardProperties
				if cfg.Cols == 2 {
					text += boardSteps
				}
				list := properties(t, m.Program(), text)
				for _, p := range list {
					r.judge(p)
				}
				if r.compared != 2*len(list) {
					t.Errorf("%+v: %d schedulers compared, want %d", cfg, r.compared, 2*len(list))
				}
			}
		}
	}
}

// traps are models in which optimal actions alone do not make an optimal
// scheduler, and properties of them.
var traps = []struct{ name, src, properties string }{
	{
		"waiting costs nothing", // a keeps the value and never gets anywhere
		`mdp module m s:[0..3]; [a] s<2 -> (s'=1-s); [b] s=1 -> 0.5:(s'=2)+0.5:(s'=3); [c] s=0 -> 0.4:(s'=2)+0.6:(s'=3); [] s>1 -> true; endmodule
rewards [b] true : 2; [c] true : 1; endrewards`,
		`Pmax=? [ F s=2 ]; Pmin=? [ F s=2 ]; Pmin=? [ G s!=2 ]; Pmax=? [ G s<2 ]; Rmin=? [ F s>1 ]; Rmax=? [ F s>1 ]; Rmin=? [ C ]; Rmax=? [ C ]; Pmax=? [ F>=3 s=2 ]; Pmin=? [ s<2 W s=3 ]`,
	},
	{
		"the goal can be left", // and must not be, for X and for F>=2
		`mdp module m s:[0..2]; [out] s=1 -> (s'=2); [stay] s=1 -> true; [in] s=0 -> (s'=1); [] s=2 -> true; endmodule rewards s=1 : 1; endrewards init s=1 endinit`,
		`Pmax=? [ X s=1 ]; Pmin=? [ X s=1 ]; Pmax=? [ F s=1 ]; Pmax=? [ F[2,2] s=1 ]; Pmax=? [ F>=2 s=1 ]; Pmin=? [ G s=1 ]; Pmax=? [ G s=1 ]; Rmax=? [ C ]; Rmin=? [ C ]; Rmax=? [ I=3 ]; Rmin=? [ C<=3 ]; Pmax=? [ s=1 ]`,
	},
	{
		"an infinite reward must be sought", // the last choice that may miss the goal reaches it surely in the end
		`mdp module m s:[0..2]; [sink] s=0 -> (s'=2); [loop] s=0 -> 0.5:(s'=0)+0.5:(s'=1); [] s>0 -> true; endmodule rewards s<1 : 1; s=2 : 3; endrewards`,
		`Rmax=? [ F s=1 ]; Rmin=? [ F s=1 ]; Rmax=? [ C ]; Rmin=? [ C ]; Rmin=? [ F s=2 ]; Rmax=? [ C<=4 ]; Pmax=? [ F s=1 ]`,
	},
	{
		"two choices with one action",
		`mdp module m s:[0..3]; [a] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [a] s=0 -> 0.1:(s'=3)+0.9:(s'=2); [] s=1 -> (s'=0); [] s=1 -> (s'=2); [] s>1 -> true; endmodule rewards [a] true : 1; endrewards`,
		`Pmax=? [ F s=3 ]; Pmin=? [ F s=3 ]; Pmax=? [ F<=3 s=3 ]; Rmax=? [ C ]; R<=3 [ F s>1 ]; P>=0.2 [ F s=3 ]; <<*>> P>=0.1 [ F s=3 ]; [[*]] P<0.1 [ F s=3 ]`,
	},
	{
		"an average has to be sought", // where all that is earned is worth the same until it is left
		`mdp module m s:[0..5]; [a] s<2 -> (s'=1-s); [out] s=1 -> 0.5:(s'=2)+0.5:(s'=3); [out] s=0 -> 0.9:(s'=3)+0.1:(s'=4); [] s=2 -> (s'=5); [] s=5 -> (s'=2); [] s=4 -> 0.2:(s'=3)+0.8:(s'=4); [b] s=4 -> (s'=4); endmodule
rewards s<2 : 1; s=5 : 4; s=4 : 0.5; [out] true : 100; endrewards`,
		`Rmax=? [ S ]; Rmin=? [ S ]; R<=1 [ S ]; R>=0.1 [ S ]; S>=0.1 [ s=0 ]; S<=0.2 [ s=0 ]; S<=0.1 [ s=5 ]; S<0.05 [ s=4 ]; <<*>> R>1 [ S ]; [[*]] R>0 [ S ]`,
	},
	{
		"haste depends on time", // slow is better as long as there is time
		`mdp module m s:[0..3]; [slow] s=0 -> 0.6:(s'=1)+0.4:(s'=0); [fast] s=0 -> 0.3:(s'=2)+0.7:(s'=3); [] s=1 -> (s'=2); [] s>1 -> true; endmodule rewards s=1 : 5; [fast] true : 2; endrewards`,
		`Pmax=? [ F<=1 s=2 ]; Pmax=? [ F<=2 s=2 ]; Pmax=? [ F<7 s=2 ]; Pmin=? [ F<=5 s=2 ]; Pmax=? [ F[2,3] s=2 ]; Pmax=? [ G<=3 s=0 ]; Rmax=? [ C<=1 ]; Rmax=? [ C<=4 ]; Rmin=? [ I=2 ]; Pmax=? [ F<=0 s=2 ]`,
	},
}

func TestSchedulersOfTraps(t *testing.T) {
	infinite := 0
	for _, tt := range traps {
		t.Run(tt.name, func(t *testing.T) {
			m := explicittest.Compile(t, tt.src)
			r := newReferee(t, m)
			list := properties(t, m.Program(), tt.properties)
			for _, p := range list {
				r.judge(p)
			}
			want := 2 * len(list)
			if strings.Contains(tt.properties, "Pmax=? [ s=1 ]") {
				want -= 2 // the referee has no values of states
			}
			if r.compared != want || r.refused > 0 {
				t.Errorf("%d schedulers compared, %d refused, want %d", r.compared, r.refused, want)
			}
			infinite += r.infinite
		})
	}
	if infinite < 5 {
		t.Errorf("%d infinite values", infinite)
	}
}

// TestSchedulerChoices: the choices themselves, "" where any will do.
func TestSchedulerChoices(t *testing.T) {
	tests := []struct {
		trap     int
		property string
		want     [][]string // actions by step and state
	}{
		{0, `Pmax=? [ F s=2 ]`, [][]string{{"a", "b", "", ""}}},
		{0, `Rmin=? [ F s>1 ]`, [][]string{{"c", "a", "", ""}}},
		{0, `filter(max, Pmin=? [ F s=2 ], P<=1 [ F s=3 ])`, [][]string{{"a", "a", "", ""}}},
		{0, `Pmax=? [ F P>=1 [ G s=2 ] ]`, [][]string{{"a", "b", "", ""}}},
		{0, `Pmax=? [ P>=1 [ F s=2 ] ]`, [][]string{{"", "", "", ""}}},
		{1, `Pmax=? [ X s=1 ]`, [][]string{{"stay", ""}}},
		{2, `Rmax=? [ F s=1 ]`, [][]string{{"sink", "", ""}}},
		{4, `Rmin=? [ S ]`, [][]string{{"out", "a", "", "", "", ""}}},
		{5, `Pmax=? [ F<=3 s=2 ]`, [][]string{{"slow", "", "", ""}, {"slow", "", "", ""}, {"fast", "", "", ""}, {"", "", "", ""}}},
	}
	for _, tt := range tests {
		m := explicittest.Compile(t, traps[tt.trap].src)
		for kind, c := range newReferee(t, m).checker {
			x, _, err := c.Scheduler(t.Context(), properties(t, m.Program(), tt.property)[0])
			if err != nil {
				t.Errorf("%s: %v", tt.property, err)
				continue
			}
			if reach, _, err := c.Reach(t.Context(), properties(t, m.Program(), tt.property)[0]); err == nil && !slices.EqualFunc(reach.Scheduler.Choices, x.Choices, slices.Equal) {
				t.Errorf("%s with %s: Reach found the scheduler %v, Scheduler %v", tt.property, kind, reach.Scheduler.Choices, x.Choices)
			}
			if len(x.Choices) != len(tt.want) {
				t.Errorf("%s with %s: %d steps, want %d", tt.property, kind, len(x.Choices), len(tt.want))
				continue
			}
			for i, row := range x.Choices {
				for k, s := range x.Space.Order() {
					got := ""
					if row[s] != sparse.None && x.Space.Model().Actions[row[s]] != sparse.NoAction {
						got = m.Program().Actions[x.Space.Model().Actions[row[s]]-1]
					}
					if got != tt.want[i][k] {
						t.Errorf("%s with %s: step %d state %d: %q, want %q", tt.property, kind, i, k, got, tt.want[i][k])
					}
				}
			}
		}
	}
}

// TestSchedulerRefusals: what has no scheduler is refused by name, and has its
// verdict all the same.
func TestSchedulerRefusals(t *testing.T) {
	tests := []struct{ src, property, want string }{
		{fair, `P=? [ F s=4 ]`, `p.props:1:1: found a model without nondeterminism, which has no schedulers`},
		{choice, `1-Pmax=? [ F s=2 ]`, `p.props:1:1: found an expression, want an operator P, R or S, which has a scheduler`},
		{choice, `!P>=0.5 [ F s=2 ]`, `p.props:1:1: found an expression, want an operator P, R or S, which has a scheduler`},
		{choice, `E [ F s=3 ]`, `p.props:1:1: found an operator E or A, want an operator P, R or S, which has a scheduler`},
		{choice, `s=0`, `p.props:1:1: found an expression, want an operator P, R or S, which has a scheduler`},
		{choice, `Pmax=? [ F<=2000000 s=2 ]`, `p.props:1:1: a scheduler that counts so many steps is too large`},
	}
	for _, tt := range tests {
		m := explicittest.Compile(t, tt.src)
		r := newReferee(t, m)
		x, v, err := r.checker["bounds"].Scheduler(t.Context(), properties(t, m.Program(), tt.property)[0])
		if x != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.property, err, tt.want)
		}
		if v.Err != nil || v.Property == "" {
			t.Errorf("%s: verdict %+v", tt.property, v)
		}
	}
	for property, want := range map[string]string{
		`multi(Pmax=? [ F s=2 ], Pmax=? [ F s=1 ])`: `p.props:1:1: a Pareto curve has many schedulers: keep =? in one objective only, and give each other one a bound, such as P>=0.5`,
		`multi(P>=1 [ F s=2 ], P>=1 [ G s<2 ])`:     `p.props:1:1: found objectives that no scheduler meets together`,
		`Rmin=? [ (F s=2)&(F s=3) ]`:                `p.props:1:10: found a combination of path formulas in an R operator, want F, C, C<=k, I=k or S for a scheduler`,
		`P=? [ F s=2 ]`:                             `p.props:1:1: found P=? for a nondeterministic model, want Pmin=? or Pmax=?`,
	} {
		m := explicittest.Compile(t, choice)
		x, _, err := newReferee(t, m).checker["fractions"].Scheduler(t.Context(), properties(t, m.Program(), property)[0])
		if x != nil || err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", property, err, want)
		}
	}
}
