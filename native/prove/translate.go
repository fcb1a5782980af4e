package prove

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Property is a property to prove.
type Property struct {
	logic.Property
	Guess float64 // the approximate value; 0 if unknown
}

// Skeleton is a certificate without its columns and its model: it says what is to be proven of some properties.
// Equal sets are stored once, and so are equal vectors.
type Skeleton struct {
	certificate.File
	// Atoms are the expressions of the atomic sets, by set.
	Atoms map[int]sema.Expr

	indexByKey map[string]int // the indices of sets and vectors, by setKey and vectorKey
}

// The sets that every skeleton begins with.
const (
	all = iota
	initial
)

// NewSkeleton returns a skeleton without properties.
func NewSkeleton() *Skeleton {
	k := &Skeleton{Atoms: make(map[int]sema.Expr), indexByKey: make(map[string]int)}
	k.set(certificate.Set{Kind: certificate.All})
	k.set(certificate.Set{Kind: certificate.Init})
	return k
}

// Add adds the claim that answers a property, and returns its index. If certificates cannot express the property, the
// error is a *result.Failure that says why, and nothing is added.
func (k *Skeleton) Add(p *Property) (int, error) {
	sets, vectors := len(k.Sets), len(k.Vectors)
	t := &translation{Skeleton: k, p: p}
	c, err := t.claim(p.X)
	if err != nil {
		k.truncate(sets, vectors)
		return 0, err
	}
	c.Property, c.Name = p.Text, p.Name
	k.Claims = append(k.Claims, c)
	return len(k.Claims) - 1, nil
}

// truncate removes all sets and vectors after the first ones.
func (k *Skeleton) truncate(sets, vectors int) {
	for i := sets; i < len(k.Sets); i++ {
		delete(k.indexByKey, setKey(&k.Sets[i]))
		delete(k.Atoms, i)
	}
	for i := vectors; i < len(k.Vectors); i++ {
		delete(k.indexByKey, vectorKey(&k.Vectors[i]))
	}
	k.Sets, k.Vectors = k.Sets[:sets], k.Vectors[:vectors]
}

func setKey(s *certificate.Set) string {
	return fmt.Sprint("set ", s.Kind, s.Sets, s.Vector, s.Relation, s.Threshold, s.Text)
}

func vectorKey(v *certificate.Vector) string {
	time := ""
	if v.Timed != nil {
		time = fmt.Sprint(v.Timed.From, v.Timed.To)
	}
	path := []byte(nil)
	if v.Several != nil {
		path, _ = json.Marshal(v.Several.Objectives)
	}
	if v.Automaton != nil {
		path, _ = json.Marshal(v.Automaton.Formula) // it determines the automaton
		time = fmt.Sprint(v.Automaton.Sets)
	}
	return fmt.Sprint("vector ", v.Kind, v.Max, v.Paths, v.Left, v.Right, v.Reward, v.From, v.To, time, string(path))
}

// set returns the index of a set, which it adds if it is new.
func (k *Skeleton) set(s certificate.Set) int {
	key := setKey(&s)
	i, ok := k.indexByKey[key]
	if !ok {
		i = len(k.Sets)
		k.indexByKey[key] = i
		k.Sets = append(k.Sets, s)
	}
	return i
}

func (k *Skeleton) vector(v certificate.Vector) int {
	key := vectorKey(&v)
	i, ok := k.indexByKey[key]
	if !ok {
		i = len(k.Vectors)
		k.indexByKey[key] = i
		k.Vectors = append(k.Vectors, v)
	}
	return i
}

func (k *Skeleton) not(i int) int {
	switch s := k.Sets[i]; {
	case s.Kind == certificate.Not:
		return s.Sets[0]
	default:
		return k.set(certificate.Set{Kind: certificate.Not, Sets: []int{i}})
	}
}

func (k *Skeleton) and(i, j int) int {
	return k.set(certificate.Set{Kind: certificate.And, Sets: []int{i, j}})
}

func (k *Skeleton) or(i, j int) int {
	return k.set(certificate.Set{Kind: certificate.Or, Sets: []int{i, j}})
}

// translation translates one property to sets and vectors.
type translation struct {
	*Skeleton
	p             *Property
	someScheduler bool // a bounded property must hold for some scheduler, not for all; as in package check
}

func (t *translation) refuse(x sema.Expr, format string, args ...any) error {
	return result.Refuse(&t.p.Property, result.Unsupported, x.Pos(), "there is no certificate of "+format, args...)
}

// claim translates a whole property, with its filter.
func (t *translation) claim(x sema.Expr) (certificate.Claim, error) {
	out := certificate.Claim{Vector: -1, Over: initial}
	f := logic.Of(x)
	if f.Kind == logic.Objectives {
		v, err := t.multiObjective(f)
		if out.Vector, out.Complement = v.number, v.complement; err == nil && x.Type() == sema.Bool {
			out.Vector = -1
			out.Set = t.set(certificate.Set{Kind: certificate.Bound, Vector: v.number, Relation: ">=", Threshold: big.NewRat(1, 1)})
		}
		return out, err
	}
	if f.Kind == logic.Filter {
		switch f.Op {
		case "argmin", "argmax":
			set, err := t.optimal(f)
			out.Set = set
			return out, err
		case "min", "max", "range", "forall", "exists", "state", "first", "sum", "avg", "count":
			over, err := t.over(f)
			if err != nil {
				return out, err
			}
			out.Over = over
			if f.Op != "range" && f.Op != "forall" && f.Op != "state" {
				out.Of = f.Op
			}
		case "print", "printall", "store":
		default:
			return out, t.refuse(x, "filter(%s, ...)", f.Op)
		}
		x = f.Operand
	}
	if x.Type() == sema.Bool {
		set, err := t.truth(x)
		out.Set = set
		return out, err
	}
	v, err := t.value(x)
	out.Vector, out.Complement = v.number, v.complement
	return out, err
}

// optimal is the set of the states of a filter that have the least or greatest value.
func (t *translation) optimal(f *logic.Formula) (int, error) {
	over, err := t.over(f)
	if err != nil {
		return 0, err
	}
	v, err := t.value(f.Operand)
	if least := f.Op == "argmin"; least != v.complement {
		return t.set(certificate.Set{Kind: certificate.ArgMin, Vector: v.number, Sets: []int{over}}), err
	}
	return t.set(certificate.Set{Kind: certificate.ArgMax, Vector: v.number, Sets: []int{over}}), err
}

// over is the set of states of a filter.
func (t *translation) over(f *logic.Formula) (int, error) {
	if f.States == nil {
		return all, nil
	}
	return t.truth(f.States)
}

// value refers to a vector, or to 1 minus it.
type value struct {
	number     int
	complement bool
}

// value translates an operator that has a numeric value, such as P=? [...].
func (t *translation) value(x sema.Expr) (value, error) {
	switch f := logic.Of(x); f.Kind {
	case logic.Probability:
		return t.path(f.Path, t.direction(f.Threshold))
	case logic.Reward:
		return t.rewardOperator(f)
	case logic.SteadyState:
		set, err := t.nested(f.Operand)
		return value{number: t.vector(certificate.Vector{Kind: certificate.Average, Right: set, Reward: -1, Max: t.max(t.direction(f.Threshold))})}, err
	case logic.Strategy:
		if t.p.Program.Type == syntax.SMG {
			return value{}, t.refuse(x, "a coalition of players of a stochastic game")
		}
		defer func(some bool) { t.someScheduler = some }(t.someScheduler)
		t.someScheduler = f.Some
		return t.value(f.Operand)
	case logic.Filter:
		return value{}, t.refuse(x, "a filter in a formula")
	case logic.Objectives:
		return value{}, t.refuse(x, "several objectives")
	}
	if sema.Stateless(x) {
		return value{}, t.refuse(x, "an expression without operators")
	}
	return value{}, t.refuse(x, "a value that is computed of others")
}

func (t *translation) direction(x sema.Threshold) solve.Direction {
	if least, _ := x.Least(t.someScheduler); least {
		return solve.Min
	}
	return solve.Max
}

// max reports whether a vector is a maximum over schedulers. In a Markov chain no vector is.
func (t *translation) max(dir solve.Direction) bool {
	switch t.p.Program.Type {
	case syntax.DTMC, syntax.CTMC:
		return false
	}
	return dir == solve.Max
}

// nested translates a nested state formula. A bounded property in it must hold for all schedulers.
func (t *translation) nested(x sema.Expr) (int, error) {
	defer func(some bool) { t.someScheduler = some }(t.someScheduler)
	t.someScheduler = false
	return t.truth(x)
}

// truth translates a state formula to a set.
func (t *translation) truth(x sema.Expr) (int, error) {
	if sema.Stateless(x) {
		return t.atomicSet(x), nil
	}
	switch x := x.(type) {
	case *sema.Unary:
		i, err := t.truth(x.X)
		return t.not(i), err
	case *sema.Binary:
		return t.connective(x)
	case *sema.Cond:
		c, err := t.truth(x.C)
		if err != nil {
			return 0, err
		}
		a, err := t.truth(x.A)
		if err != nil {
			return 0, err
		}
		b, err := t.truth(x.B)
		return t.or(t.and(c, a), t.and(t.not(c), b)), err
	}
	switch f := logic.Of(x); f.Kind {
	case logic.Label:
		switch {
		case f.Index == sema.LabelInit:
			return initial, nil
		case f.Index >= 0:
			return t.truth(t.p.Program.Labels[f.Index].X)
		}
		return t.atomicSet(x), nil
	case logic.Probability, logic.Reward, logic.SteadyState:
		return t.thresholdSet(f)
	case logic.Strategy:
		if t.p.Program.Type == syntax.SMG {
			return 0, t.refuse(x, "a coalition of players of a stochastic game")
		}
		defer func(some bool) { t.someScheduler = some }(t.someScheduler)
		t.someScheduler = f.Some
		return t.truth(f.Operand)
	case logic.Quantified:
		return t.quantify(f.ForAll, f.Path)
	case logic.Objectives:
		return 0, t.refuse(x, "several objectives")
	}
	return 0, t.refuse(x, "a filter in a formula")
}

// atomicSet returns the set of states in which an expression holds.
func (t *translation) atomicSet(x sema.Expr) int {
	if c, ok := x.(*sema.Const); ok {
		if c.Val.Bool {
			return all
		}
		return t.not(all)
	}
	i := t.set(certificate.Set{Kind: certificate.Atomic, Text: text(t.p.Program, x)})
	t.Atoms[i] = x
	return i
}

// connective translates a Boolean operator.
func (t *translation) connective(x *sema.Binary) (int, error) {
	if x.X.Type() != sema.Bool {
		return 0, t.refuse(x, "a comparison of values")
	}
	a, err := t.truth(x.X)
	if err != nil {
		return 0, err
	}
	b, err := t.truth(x.Y)
	if err != nil {
		return 0, err
	}
	switch x.Op {
	case syntax.OpAnd:
		return t.and(a, b), nil
	case syntax.OpOr:
		return t.or(a, b), nil
	case syntax.OpImplies:
		return t.or(t.not(a), b), nil
	}
	same := t.or(t.and(a, b), t.and(t.not(a), t.not(b)))
	if x.Op == syntax.OpNe {
		return t.not(same), nil
	}
	return same, nil // <=> and =
}

// thresholdSet translates a bounded property, such as P>=0.5 [...].
func (t *translation) thresholdSet(f *logic.Formula) (int, error) {
	b, err := sema.Enclose(f.Bound, nil)
	switch {
	case err != nil:
		return 0, err
	case !b.Exact || b.Rat == nil:
		return 0, t.refuse(f.Bound, "a bound that is no fraction")
	}
	v, err := t.value(f.X)
	if err != nil {
		return 0, err
	}
	rel, bound := f.Rel, b.Rat
	if v.complement { // 1-v >= b where v <= 1-b
		rel = map[syntax.Op]syntax.Op{syntax.OpLt: syntax.OpGt, syntax.OpGt: syntax.OpLt, syntax.OpLe: syntax.OpGe, syntax.OpGe: syntax.OpLe}[rel]
		bound = new(big.Rat).Sub(big.NewRat(1, 1), bound)
	}
	return t.set(certificate.Set{Kind: certificate.Bound, Vector: v.number, Relation: rel.String(), Threshold: bound}), nil
}

// path translates a path formula.
func (t *translation) path(p *logic.Path, dir solve.Direction) (value, error) {
	if !p.Negated {
		return t.positivePath(p, dir)
	}
	v, err := t.positivePath(p, opposite(dir))
	v.complement = !v.complement
	return v, err
}

// positivePath is path for the formula without its negation.
func (t *translation) positivePath(p *logic.Path, dir solve.Direction) (value, error) {
	switch {
	case p.Form == logic.InitialState:
		set, err := t.nested(p.Right)
		v := certificate.Vector{Kind: certificate.Steps, Max: t.max(dir), Right: set, Reward: -1}
		if t.p.Program.Type == syntax.CTMC {
			v.Timed = &certificate.Timed{From: new(big.Rat), To: new(big.Rat)}
		}
		return value{number: t.vector(v)}, err
	case p.Form == logic.LateWeakUntil:
		return value{}, t.refuse(p.X, "a weak until (W) with a lower bound")
	case p.Form == logic.Until || p.Form == logic.Next:
		return t.temporal(p, dir)
	case p.Operator && p.Op == syntax.Next:
		if v, err := t.path(logic.PathOf(p.Right), dir); err != nil {
			return v, err
		} else if v, ok := t.oneStepLater(v); ok {
			return v, nil
		}
	}
	return t.pathAutomaton(p.X, dir)
}

func opposite(dir solve.Direction) solve.Direction {
	if dir == solve.Max {
		return solve.Min
	}
	return solve.Max
}

// temporal translates P of one temporal operator over state formulas.
func (t *translation) temporal(p *logic.Path, dir solve.Direction) (value, error) {
	left, right, negated, err := t.untilOperands(p, t.nested)
	if err != nil {
		return value{}, err
	}
	if negated {
		dir = opposite(dir)
	}
	v := certificate.Vector{Kind: certificate.Until, Max: t.max(dir), Left: left, Right: right, Reward: -1}
	switch {
	case p.Form == logic.Next:
		v.Kind, v.Left = certificate.Next, all
	case p.Bound != nil && t.p.Program.Type == syntax.CTMC:
		v.Kind = certificate.Steps
		v.Timed, err = t.timeBounds(p.Bound)
	case p.Bound != nil:
		v.Kind = certificate.Steps
		v.From, v.To, err = logic.Steps(p.Bound)
	}
	return value{t.vector(v), negated}, err
}

// untilOperands reduces a temporal operator to an until formula. translateRight translates the second operand.
func (t *translation) untilOperands(p *logic.Path, translateRight func(sema.Expr) (int, error)) (left, right int, negated bool, err error) {
	left = all
	if p.Left != nil {
		if left, err = t.nested(p.Left); err != nil {
			return 0, 0, false, err
		}
	}
	if right, err = translateRight(p.Right); err != nil {
		return 0, 0, false, err
	}
	sets := logic.Algebra[int]{Not: t.not, And: t.and, Neither: func(i, j int) int { return t.not(t.or(i, j)) }}
	left, right, negated = sets.AsUntil(p.Op, left, right)
	return left, right, negated, nil
}

// timeBounds evaluates a time bound. A strict bound means the same, since a single instant has probability 0.
func (t *translation) timeBounds(b *sema.Bound) (*certificate.Timed, error) {
	out := &certificate.Timed{From: new(big.Rat)}
	for _, end := range []struct {
		x  sema.Expr
		at **big.Rat
	}{{b.Low, &out.From}, {b.High, &out.To}} {
		if end.x == nil {
			continue
		}
		v, err := sema.Enclose(end.x, nil)
		switch {
		case err != nil:
			return nil, err
		case v.Rat != nil:
			*end.at = v.Rat
		case !math.IsInf(v.Lo, 1): // infinity is no bound
			return nil, t.refuse(end.x, "a time bound that is no fraction")
		}
	}
	return out, nil
}

// rewardOperator translates an R operator.
func (t *translation) rewardOperator(f *logic.Formula) (value, error) {
	o := f.Objective
	if o.Ratio {
		return value{}, t.refuse(f.X, "a ratio of rewards")
	}
	v := certificate.Vector{Max: t.max(t.direction(f.Threshold)), Reward: o.Struct}
	var err error
	switch o.Form {
	case logic.LongRun:
		v.Kind = certificate.Average
	case logic.TotalReward:
		v.Kind = certificate.TotalReward
	case logic.Cumulative:
		v.Kind = certificate.Cumulative
		err = t.rewardTime(&v, o)
	case logic.Instantaneous:
		v.Kind = certificate.Instant
		err = t.rewardTime(&v, o)
	case logic.CostBoundedReward, logic.UntilReached, logic.ZeroUnlessReached:
		return value{}, t.refuse(f.X, logic.Describe(o.X))
	case logic.ReachReward:
		v.Kind = certificate.ReachReward
		v.Right, err = t.nested(o.Target)
	default:
		a := &certificate.Automaton{}
		if a.Formula, err = t.pathFormula(a, o.X); err != nil {
			return value{}, err
		}
		v.Kind, v.Automaton = certificate.CoSafe, a
	}
	return value{number: t.vector(v)}, err
}

// rewardTime sets the number of steps, or the time, of C<=k and I=k.
func (t *translation) rewardTime(v *certificate.Vector, o *logic.Objective) (err error) {
	if t.p.Program.Type == syntax.CTMC {
		v.Timed, err = t.timeBounds(&sema.Bound{High: o.At})
	} else {
		v.To, err = logic.Count(o.At)
	}
	return err
}

// quantify translates E and A of a path formula. A path formula nested on the right gets a quantifier of its own
// where that does not change the meaning: E [F f] is E [F E [f]], and A [G f] is A [G A [f]].
func (t *translation) quantify(forall bool, p *logic.Path) (int, error) {
	if !p.Negated {
		return t.quantifyPositive(forall, p)
	}
	i, err := t.quantifyPositive(!forall, p)
	return t.not(i), err
}

// quantifyPositive is quantify for the formula without its negation.
func (t *translation) quantifyPositive(forall bool, p *logic.Path) (int, error) {
	if p.Form == logic.InitialState {
		return t.nested(p.Right)
	}
	if x, ok := p.X.(*sema.Binary); ok {
		oneState := logic.IsState(x.X) || logic.IsState(x.Y)
		if x.Op == syntax.OpAnd && (forall || oneState) || x.Op == syntax.OpOr && (!forall || oneState) {
			return t.quantifyOperands(forall, x)
		}
	}
	if p.Operator && p.Bound == nil && logic.IsState(p.Left) {
		return t.quantifyTemporal(forall, p)
	}
	return t.quantifyAutomaton(forall, p.X)
}

// quantifyOperands distributes the quantifier over the operands of & or |.
func (t *translation) quantifyOperands(forall bool, x *sema.Binary) (int, error) {
	a, err := t.quantify(forall, logic.PathOf(x.X))
	if err != nil {
		return 0, err
	}
	b, err := t.quantify(forall, logic.PathOf(x.Y))
	if err != nil {
		return 0, err
	}
	if x.Op == syntax.OpAnd {
		return t.and(a, b), nil
	}
	return t.or(a, b), nil
}

// quantifyTemporal translates E and A of a temporal operator whose left operand is a state formula.
func (t *translation) quantifyTemporal(forall bool, p *logic.Path) (int, error) {
	translateRight := t.nested // translates the second operand
	if !logic.IsState(p.Right) {
		goesOn := p.Op == syntax.Next || !forall && (p.Op == syntax.Future || p.Op == syntax.Until) || forall && p.Op == syntax.Globally
		if !goesOn {
			return t.quantifyAutomaton(forall, p.X)
		}
		translateRight = func(y sema.Expr) (int, error) { return t.quantify(forall, logic.PathOf(y)) }
	}
	left, right, negated, err := t.untilOperands(p, translateRight)
	if err != nil {
		return 0, err
	}
	s := certificate.Set{Kind: certificate.ExistsUntil, Sets: []int{left, right}}
	if forall != negated {
		s.Kind = certificate.ForallUntil
	}
	if p.Op == syntax.Next {
		s = certificate.Set{Kind: certificate.ExistsNext, Sets: []int{right}}
		if forall {
			s.Kind = certificate.ForallNext
		}
	}
	i := t.set(s)
	if negated {
		i = t.not(i)
	}
	return i, nil
}

// oneStepLater translates X of a path formula that is already a vector: it shifts the step bounds by one. That is
// possible if the formula has no condition on the steps before the target, and no automaton.
func (t *translation) oneStepLater(v value) (value, bool) {
	f := t.Vectors[v.number]
	switch {
	case f.Left != all || f.Automaton != nil || t.p.Program.Type == syntax.CTMC:
		return v, false
	case f.Kind == certificate.Next:
		f.From, f.To = 1, 1
	case f.Kind == certificate.Until:
		f.To = solve.Unbounded
	}
	if f.From++; f.To != solve.Unbounded {
		f.To++
	}
	f.Kind = certificate.Steps
	v.number = t.vector(f)
	return v, true
}
