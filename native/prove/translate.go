package prove

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

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

// translation translates one property to sets and vectors.
type translation struct {
	*ClaimFile
	property      *Property
	someScheduler bool // a bounded property must hold for some scheduler, not for all; as in package check
	coalition     int  // the set of the states of the players in <<...>> of a game; 0 outside of it
}

// unsupported returns the error that certificates do not support an expression, which the text describes.
func (t *translation) unsupported(expr sema.Expr, format string, args ...any) error {
	return result.Refuse(&t.property.Property, result.Unsupported, expr.Pos(), "there is no certificate of "+format, args...)
}

// claim translates a property with its filter.
func (t *translation) claim(expr sema.Expr) (claim certificate.Claim, err error) {
	claim = certificate.Claim{Vector: -1, Over: initialStates}
	formula := logic.Of(expr)
	switch {
	case formula.Kind == logic.Objectives:
		return t.objectivesClaim(formula, expr.Type() == sema.Bool)
	case formula.Kind == logic.Filter && (formula.Op == "argmin" || formula.Op == "argmax"):
		claim.Set, err = t.optimalStatesSet(formula)
		return claim, err
	case formula.Kind == logic.Filter:
		if err := t.setFilter(&claim, formula); err != nil {
			return claim, err
		}
		expr = formula.Operand
	}
	if expr.Type() == sema.Bool {
		claim.Set, err = t.booleanFormula(expr)
		return claim, err
	}
	value, err := t.value(expr)
	claim.Vector, claim.Complement = value.vector, value.complement
	return claim, err
}

// objectivesClaim translates multi(...). If all objectives have bounds, the claim is that the vector has the value 1.
func (t *translation) objectivesClaim(formula *logic.Formula, isBool bool) (certificate.Claim, error) {
	value, err := t.multiObjective(formula)
	claim := certificate.Claim{Vector: value.vector, Complement: value.complement, Over: initialStates}
	if err == nil && isBool {
		claim.Vector = -1
		claim.Set = t.setIndex(certificate.Set{Kind: certificate.Bound, Vector: value.vector, Relation: ">=", Threshold: big.NewRat(1, 1)})
	}
	return claim, err
}

// setFilter sets the states and the operator of a claim from a filter. A filter that only prints leaves the claim unchanged.
func (t *translation) setFilter(claim *certificate.Claim, filter *logic.Formula) (err error) {
	switch filter.Op {
	case "print", "printall", "store":
		return nil
	case "min", "max", "exists", "first", "sum", "avg", "count":
		claim.Of = filter.Op
	case "range", "forall", "state": // what a claim is without an operator
	default:
		return t.unsupported(filter.X, "filter(%s, ...)", filter.Op)
	}
	claim.Over, err = t.filterStates(filter)
	return err
}

// optimalStatesSet translates argmin and argmax to the set of the states of the filter that have the least or the greatest value.
func (t *translation) optimalStatesSet(formula *logic.Formula) (int, error) {
	states, err := t.filterStates(formula)
	if err != nil {
		return 0, err
	}
	value, err := t.value(formula.Operand)
	kind := certificate.ArgMax
	minimize := formula.Op == "argmin"
	if minimize != value.complement { // 1-v is least where v is greatest
		kind = certificate.ArgMin
	}
	return t.setIndex(certificate.Set{Kind: kind, Vector: value.vector, Sets: []int{states}}), err
}

// filterStates returns the index of the set of states of a filter.
func (t *translation) filterStates(formula *logic.Formula) (int, error) {
	if formula.States == nil {
		return allStates, nil
	}
	return t.booleanFormula(formula.States)
}

// vectorValue refers to a vector of the certificate, or to 1 minus it.
type vectorValue struct {
	vector     int
	complement bool
}

// value translates an operator with a numeric value, such as P=? [...], to a vector.
func (t *translation) value(expr sema.Expr) (vectorValue, error) {
	switch formula := logic.Of(expr); formula.Kind {
	case logic.Probability:
		return t.pathProbability(formula.Path, t.direction(formula.Threshold))
	case logic.Reward:
		return t.rewardOperator(formula)
	case logic.SteadyState:
		if err := t.averagePerStep(formula); err != nil {
			return vectorValue{}, err
		}
		set, err := t.stateFormula(formula.Operand)
		isMax := t.isMaximum(t.direction(formula.Threshold))
		return vectorValue{vector: t.vectorIndex(certificate.Vector{Kind: certificate.Average, Right: set, Reward: -1, Max: isMax})}, err
	case logic.Strategy:
		return t.strategyValue(formula)
	case logic.Filter:
		return vectorValue{}, t.unsupported(expr, "a filter in a formula")
	case logic.Objectives, logic.Lexicographic:
		return vectorValue{}, t.unsupported(expr, "several objectives")
	case logic.Quantile:
		return vectorValue{}, t.unsupported(expr, "a quantile")
	}
	if sema.NeedsOnlyVariables(expr) {
		return vectorValue{}, t.unsupported(expr, "an expression without operators")
	}
	return vectorValue{}, t.unsupported(expr, "arithmetic with the value of an operator")
}

// strategyValue translates the operand of <<...>> or [[...]] to a vector.
func (t *translation) strategyValue(formula *logic.Formula) (vectorValue, error) {
	outerSome, outerCoalition := t.someScheduler, t.coalition
	defer func() { t.someScheduler, t.coalition = outerSome, outerCoalition }()
	if err := t.beginStrategy(formula); err != nil {
		return vectorValue{}, err
	}
	return t.value(formula.Operand)
}

// direction returns whether a threshold asks for the minimum or the maximum over schedulers.
func (t *translation) direction(threshold sema.Threshold) solve.Direction {
	if least, _ := threshold.Least(t.someScheduler); least {
		return solve.Min
	}
	return solve.Max
}

// isMaximum reports whether a vector is a maximum over schedulers. In a Markov chain no vector is.
func (t *translation) isMaximum(dir solve.Direction) bool {
	switch t.property.Program.Type {
	case syntax.DTMC, syntax.CTMC:
		return false
	}
	return dir == solve.Max
}

// stateFormula translates a nested state formula. A bounded property in it must hold for all schedulers.
func (t *translation) stateFormula(expr sema.Expr) (int, error) {
	outerSome, outerCoalition := t.someScheduler, t.coalition
	defer func() { t.someScheduler, t.coalition = outerSome, outerCoalition }()
	t.someScheduler, t.coalition = false, 0
	return t.booleanFormula(expr)
}

// booleanFormula translates a state formula to a set.
func (t *translation) booleanFormula(expr sema.Expr) (int, error) {
	if sema.NeedsOnlyVariables(expr) {
		return t.atomicSet(expr), nil
	}
	switch x := expr.(type) {
	case *sema.Unary:
		i, err := t.booleanFormula(x.X)
		return t.not(i), err
	case *sema.Binary:
		return t.booleanOperator(x)
	case *sema.Cond:
		return t.conditionalSet(x)
	}
	switch formula := logic.Of(expr); formula.Kind {
	case logic.Label:
		switch {
		case formula.Index == sema.LabelInit:
			return initialStates, nil
		case formula.Index >= 0:
			return t.booleanFormula(t.property.Program.Labels[formula.Index].X)
		}
		return t.atomicSet(expr), nil
	case logic.Probability, logic.Reward, logic.SteadyState:
		return t.thresholdSet(formula)
	case logic.Strategy:
		return t.strategySet(formula)
	case logic.Quantified:
		return t.quantifyPath(formula.ForAll, formula.Path)
	case logic.Objectives:
		return 0, t.unsupported(expr, "several objectives")
	}
	return 0, t.unsupported(expr, "a filter in a formula")
}

// conditionalSet translates `condition ? then : else` to a set: (condition & then) | (!condition & else).
func (t *translation) conditionalSet(expr *sema.Cond) (int, error) {
	condition, err := t.booleanFormula(expr.Condition)
	if err != nil {
		return 0, err
	}
	ifTrue, err := t.booleanFormula(expr.Then)
	if err != nil {
		return 0, err
	}
	ifFalse, err := t.booleanFormula(expr.Else)
	return t.or(t.and(condition, ifTrue), t.and(t.not(condition), ifFalse)), err
}

// strategySet translates the operand of <<...>> or [[...]] to a set.
func (t *translation) strategySet(formula *logic.Formula) (int, error) {
	outerSome, outerCoalition := t.someScheduler, t.coalition
	defer func() { t.someScheduler, t.coalition = outerSome, outerCoalition }()
	if err := t.beginStrategy(formula); err != nil {
		return 0, err
	}
	return t.booleanFormula(formula.Operand)
}

// beginStrategy applies <<...>> or [[...]] to the translation of its operand. In a game the operand must be an operator P
// with an unbounded until formula, because certificates support no other operand.
func (t *translation) beginStrategy(formula *logic.Formula) error {
	t.someScheduler = formula.Some
	if t.property.Program.Type != syntax.SMG {
		return nil
	}
	operand := logic.Of(formula.Operand)
	isUntil := operand.Kind == logic.Probability && operand.Path.Form == logic.Until && operand.Path.Bound == nil
	if formula.Box || !isUntil {
		return t.unsupported(formula.X, "a coalition of players, except for P with F, G, U, W or R of states without bounds")
	}
	t.someScheduler = true
	var players []int
	var names []string
	for i, player := range t.property.Program.Players {
		if formula.AllPlayers || slices.Contains(formula.Players, i) {
			players, names = append(players, i), append(names, player.Name)
		}
	}
	t.coalition = t.setIndex(certificate.Set{Kind: certificate.Atomic, Text: "states of " + cmp.Or(strings.Join(names, ", "), "no player")})
	t.Coalitions[t.coalition] = players
	return nil
}

// atomicSet returns the index of the set of states in which an expression holds.
func (t *translation) atomicSet(expr sema.Expr) int {
	if c, ok := expr.(*sema.Const); ok {
		if c.Val.Bool {
			return allStates
		}
		return t.not(allStates)
	}
	index := t.setIndex(certificate.Set{Kind: certificate.Atomic, Text: expressionText(t.property.Program, expr)})
	t.Atoms[index] = expr
	return index
}

// booleanOperator translates a Boolean operator to a set.
func (t *translation) booleanOperator(binary *sema.Binary) (int, error) {
	if binary.X.Type() != sema.Bool {
		return 0, t.unsupported(binary, "a comparison of values")
	}
	left, err := t.booleanFormula(binary.X)
	if err != nil {
		return 0, err
	}
	right, err := t.booleanFormula(binary.Y)
	if err != nil {
		return 0, err
	}
	switch binary.Op {
	case syntax.OpAnd:
		return t.and(left, right), nil
	case syntax.OpOr:
		return t.or(left, right), nil
	case syntax.OpImplies:
		return t.or(t.not(left), right), nil
	}
	same := t.or(t.and(left, right), t.and(t.not(left), t.not(right)))
	if binary.Op == syntax.OpNe {
		return t.not(same), nil
	}
	return same, nil // <=> and =
}

// thresholdSet translates a bounded property, such as P>=0.5 [...], to the set of states that satisfy it.
func (t *translation) thresholdSet(formula *logic.Formula) (int, error) {
	bound, err := sema.Enclose(formula.Bound, nil)
	if err != nil {
		return 0, err
	}
	if !bound.Exact || bound.Rat == nil {
		return 0, t.unsupported(formula.Bound, "a bound that is not a fraction")
	}
	value, err := t.value(formula.X)
	if err != nil {
		return 0, err
	}
	relation, threshold := formula.Rel, bound.Rat
	if value.complement { // 1-v >= b where v <= 1-b
		relation = relation.Mirrored()
		threshold = new(big.Rat).Sub(big.NewRat(1, 1), threshold)
	}
	return t.setIndex(certificate.Set{Kind: certificate.Bound, Vector: value.vector, Relation: relation.String(), Threshold: threshold}), nil
}

// pathProbability translates P of a path formula: the least or the greatest probability of the formula.
func (t *translation) pathProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	if !path.Negated {
		return t.positivePathProbability(path, dir)
	}
	value, err := t.positivePathProbability(path, opposite(dir))
	value.complement = !value.complement
	return value, err
}

// positivePathProbability translates P of a path formula without its outer negation.
func (t *translation) positivePathProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	switch {
	case path.Form == logic.InitialState:
		return t.initialStateProbability(path, dir)
	case path.Form == logic.LateWeakUntil:
		return vectorValue{}, t.unsupported(path.X, "a weak until (W) with a lower bound")
	case path.Form == logic.Conditional:
		return t.conditionalProbability(path, dir)
	case path.Form == logic.CostBounded:
		return t.rewardBoundedProbability(path, dir)
	case path.Form == logic.Until || path.Form == logic.Next:
		return t.temporalProbability(path, dir)
	case path.Operator && path.Op == syntax.Next:
		next, err := t.pathProbability(logic.PathOf(path.Right), dir)
		if err != nil {
			return next, err
		}
		if shifted, ok := t.oneStepLater(next); ok {
			return shifted, nil
		}
	}
	return t.pathAutomaton(path.X, dir)
}

// initialStateProbability translates P of a state formula, which holds if the first state of the path satisfies it:
// an until formula of 0 steps, or of time 0.
func (t *translation) initialStateProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	set, err := t.stateFormula(path.Right)
	vector := certificate.Vector{Kind: certificate.Steps, Max: t.isMaximum(dir), Right: set, Reward: -1}
	if t.property.Program.Type == syntax.CTMC {
		vector.Timed = &certificate.Timed{From: new(big.Rat), To: new(big.Rat)}
	}
	return vectorValue{vector: t.vectorIndex(vector)}, err
}

// opposite returns Min for Max, and Max for Min.
func opposite(dir solve.Direction) solve.Direction {
	if dir == solve.Max {
		return solve.Min
	}
	return solve.Max
}

// temporalProbability translates P of one temporal operator over state formulas.
func (t *translation) temporalProbability(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	left, right, negated, err := t.untilOperands(path, t.stateFormula)
	if err != nil {
		return vectorValue{}, err
	}
	if negated {
		dir = opposite(dir)
	}
	vector := certificate.Vector{Kind: certificate.Until, Max: t.isMaximum(dir), Left: left, Right: right, Reward: -1}
	switch {
	case path.Form == logic.Next:
		vector.Kind, vector.Left = certificate.Next, allStates
	case path.Bound != nil && t.property.Program.Type == syntax.CTMC:
		vector.Kind = certificate.Steps
		vector.Timed, err = t.timeBounds(path.Bound)
	case path.Bound != nil:
		vector.Kind = certificate.Steps
		vector.From, vector.To, err = logic.Steps(path.Bound)
	}
	if t.coalition != 0 {
		vector.Max, vector.Maximizer = true, t.coalition
		if dir == solve.Min {
			vector.Maximizer = t.not(t.coalition)
		}
	}
	return vectorValue{t.vectorIndex(vector), negated}, err
}

// untilOperands reduces a temporal operator to an until formula, which may be negated. translateRight
// translates the second operand.
func (t *translation) untilOperands(path *logic.Path, translateRight func(sema.Expr) (int, error)) (left, right int, negated bool, err error) {
	left = allStates
	if path.Left != nil {
		if left, err = t.stateFormula(path.Left); err != nil {
			return 0, 0, false, err
		}
	}
	if right, err = translateRight(path.Right); err != nil {
		return 0, 0, false, err
	}
	sets := logic.Algebra[int]{Not: t.not, And: t.and, Neither: func(i, j int) int { return t.not(t.or(i, j)) }}
	left, right, negated = sets.AsUntil(path.Op, left, right)
	return left, right, negated, nil
}

// timeBounds evaluates a time bound. A strict bound means the same as a non-strict one, since a single
// instant has probability 0.
func (t *translation) timeBounds(timeBound *sema.Bound) (*certificate.Timed, error) {
	from, err := t.timeOf(timeBound.Low)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = new(big.Rat)
	}
	to, err := t.timeOf(timeBound.High)
	return &certificate.Timed{From: from, To: to}, err
}

// timeOf evaluates a time. It returns nil if there is none, or if it is infinite.
func (t *translation) timeOf(expr sema.Expr) (*big.Rat, error) {
	if expr == nil {
		return nil, nil
	}
	value, err := sema.Enclose(expr, nil)
	if err == nil && value.Rat == nil && !math.IsInf(value.Lo, 1) {
		err = t.unsupported(expr, "a time bound that is not a fraction")
	}
	return value.Rat, err
}

// averagePerStep returns an error if a long-run average is about time instead of steps, as in a Markov automaton. Certificates only
// support averages per step.
func (t *translation) averagePerStep(formula *logic.Formula) error {
	if t.property.Program.Model().IsMarkovAutomaton() {
		return t.unsupported(formula.X, "a long-run average of a Markov automaton")
	}
	return nil
}

// rewardOperator translates an R operator to a vector.
func (t *translation) rewardOperator(formula *logic.Formula) (vectorValue, error) {
	objective := formula.Objective
	if objective.Ratio {
		return vectorValue{}, t.unsupported(formula.X, "a ratio of rewards")
	}
	vector := certificate.Vector{Max: t.isMaximum(t.direction(formula.Threshold)), Reward: objective.Struct}
	var err error
	switch objective.Form {
	case logic.LongRun:
		vector.Kind, err = certificate.Average, t.averagePerStep(formula)
	case logic.TotalReward:
		vector.Kind = certificate.TotalReward
	case logic.Cumulative:
		vector.Kind = certificate.Cumulative
		err = t.rewardTime(&vector, objective)
	case logic.Instantaneous:
		vector.Kind = certificate.Instant
		err = t.rewardTime(&vector, objective)
	case logic.Discounted:
		return t.discountedReward(formula, vector)
	case logic.CostBoundedReward, logic.UntilReached, logic.ZeroUnlessReached, logic.ConditionalReward:
		return vectorValue{}, t.unsupported(formula.X, "%s", logic.Describe(objective.X))
	case logic.ReachReward:
		vector.Kind = certificate.ReachReward
		vector.Right, err = t.stateFormula(objective.Target)
	default:
		automaton := &certificate.Automaton{}
		if automaton.Formula, err = t.pathFormula(automaton, objective.X); err != nil {
			return vectorValue{}, err
		}
		vector.Kind = certificate.CoSafe
		vector.Automaton = automaton
	}
	return vectorValue{vector: t.vectorIndex(vector)}, err
}

// rewardTime sets the number of steps, or the time, of C<=k and I=k.
func (t *translation) rewardTime(vector *certificate.Vector, objective *logic.Objective) (err error) {
	if t.property.Program.Type == syntax.CTMC {
		vector.Timed, err = t.timeBounds(&sema.Bound{High: objective.At})
	} else {
		vector.To, err = logic.Count(objective.At)
	}
	return err
}

// quantifyPath translates E and A of a path formula. Where it does not change the meaning, a path formula on the right gets a
// quantifier of its own: E [F f] is E [F E [f]], and A [G f] is A [G A [f]].
func (t *translation) quantifyPath(forall bool, path *logic.Path) (int, error) {
	if !path.Negated {
		return t.quantifyPositive(forall, path)
	}
	i, err := t.quantifyPositive(!forall, path)
	return t.not(i), err
}

// quantifyPositive translates E (or A, if forall is true) of a path formula without its outer negation. It returns the index of the set
// of states that satisfy it. It uses the simplest rule that applies, and an automaton only if there is no other rule.
func (t *translation) quantifyPositive(forall bool, path *logic.Path) (int, error) {
	if path.Form == logic.InitialState {
		return t.stateFormula(path.Right)
	}
	if binary, ok := path.X.(*sema.Binary); ok && distributes(forall, binary) {
		return t.quantifyOperands(forall, binary)
	}
	if path.Operator && path.Bound == nil && logic.IsState(path.Left) {
		return t.quantifyTemporal(forall, path)
	}
	return t.quantifyAutomaton(forall, path.X)
}

// distributes reports whether a quantifier distributes over the operands of & or |: A over &, E over |, and both if one
// operand is a state formula.
func distributes(forall bool, binary *sema.Binary) bool {
	hasStateFormula := logic.IsState(binary.X) || logic.IsState(binary.Y)
	switch binary.Op {
	case syntax.OpAnd:
		return forall || hasStateFormula
	case syntax.OpOr:
		return !forall || hasStateFormula
	}
	return false
}

// quantifyOperands distributes the quantifier over the operands of & or |.
func (t *translation) quantifyOperands(forall bool, binary *sema.Binary) (int, error) {
	left, err := t.quantifyPath(forall, logic.PathOf(binary.X))
	if err != nil {
		return 0, err
	}
	right, err := t.quantifyPath(forall, logic.PathOf(binary.Y))
	if err != nil {
		return 0, err
	}
	if binary.Op == syntax.OpAnd {
		return t.and(left, right), nil
	}
	return t.or(left, right), nil
}

// quantifyTemporal translates E and A of a temporal operator whose left operand is a state formula. If the right operand is a path
// formula, it gets a quantifier of its own where that is equivalent; otherwise the formula needs an automaton.
func (t *translation) quantifyTemporal(forall bool, path *logic.Path) (int, error) {
	translateRight := t.stateFormula
	if !logic.IsState(path.Right) {
		if !quantifiesOperand(forall, path.Op) {
			return t.quantifyAutomaton(forall, path.X)
		}
		translateRight = func(operand sema.Expr) (int, error) { return t.quantifyPath(forall, logic.PathOf(operand)) }
	}
	left, right, negated, err := t.untilOperands(path, translateRight)
	if err != nil {
		return 0, err
	}
	var set certificate.Set
	if path.Op == syntax.Next {
		set = certificate.Set{Kind: certificate.ExistsNext, Sets: []int{right}}
		if forall {
			set.Kind = certificate.ForallNext
		}
	} else {
		set = certificate.Set{Kind: certificate.ExistsUntil, Sets: []int{left, right}}
		if forall != negated { // E [!f] is !A [f], and A [!f] is !E [f]
			set.Kind = certificate.ForallUntil
		}
	}
	index := t.setIndex(set)
	if negated {
		index = t.not(index)
	}
	return index, nil
}

// quantifiesOperand reports whether E (or A, if forall is true) of a temporal operator is equivalent to the formula in which its right
// operand has the quantifier, too. This holds for E and A of X, for E of F and U, and for A of G.
func quantifiesOperand(forall bool, op syntax.TemporalOp) bool {
	switch op {
	case syntax.Next:
		return true
	case syntax.Future, syntax.Until:
		return !forall
	case syntax.Globally:
		return forall
	}
	return false
}

// oneStepLater translates X of a path formula that has a vector: it adds one to the step bounds. ok is false if the formula
// has a condition on the steps before the target, or an automaton.
func (t *translation) oneStepLater(value vectorValue) (vectorValue, bool) {
	vector := t.Vectors[value.vector]
	switch {
	case vector.Left != allStates || vector.Automaton != nil || t.property.Program.Type == syntax.CTMC:
		return value, false
	case vector.Kind == certificate.Next:
		vector.From, vector.To = 1, 1
	case vector.Kind == certificate.Until:
		vector.To = solve.Unbounded
	}
	vector.From++
	if vector.To != solve.Unbounded {
		vector.To++
	}
	vector.Kind = certificate.Steps
	value.vector = t.vectorIndex(vector)
	return value, true
}
