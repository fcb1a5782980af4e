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
	property         *Property
	forSomeScheduler bool // a bounded property must hold for some scheduler, not for all; as in package check
	coalition        int  // the set of the states of the players in <<...>> of a game; 0 outside of it
}

// unsupported returns the error that certificates do not support an expression, which the text describes.
func (translation *translation) unsupported(expr sema.Expr, format string, args ...any) error {
	return result.Refuse(&translation.property.Property, result.Unsupported, expr.Pos(), "there is no certificate of "+format, args...)
}

// claim translates a property to a claim about a set (a Boolean property) or about a vector (a numeric property). An outermost filter becomes the states
// and the operator of the claim.
func (translation *translation) claim(expr sema.Expr) (claim certificate.Claim, err error) {
	claim = certificate.Claim{Vector: -1, OverSet: initialStates}
	formula := logic.FormulaOf(expr)
	switch {
	case formula.Kind == logic.Objectives:
		return translation.objectivesClaim(formula, expr.Type() == sema.Bool)
	case formula.Kind == logic.Filter && (formula.Op == "argmin" || formula.Op == "argmax"):
		claim.Set, err = translation.optimalStatesSet(formula)
		return claim, err
	case formula.Kind == logic.Filter:
		if err := translation.setFilter(&claim, formula); err != nil {
			return claim, err
		}
		expr = formula.Operand
	}
	if expr.Type() == sema.Bool {
		claim.Set, err = translation.booleanFormula(expr)
		return claim, err
	}
	value, err := translation.value(expr)
	claim.Vector, claim.Complement = value.vector, value.isComplement
	return claim, err
}

// objectivesClaim translates multi(...) to a claim about its value. If isBool is true, all objectives have bounds, and the claim is that the
// value is 1: some scheduler satisfies all of them.
func (translation *translation) objectivesClaim(formula *logic.Formula, isBool bool) (certificate.Claim, error) {
	value, err := translation.translateMultiObjective(formula)
	claim := certificate.Claim{Vector: value.vector, Complement: value.isComplement, OverSet: initialStates}
	if err == nil && isBool {
		claim.Vector = -1
		claim.Set = translation.setIndex(certificate.Set{Kind: certificate.Bound, Vector: value.vector, Relation: ">=", Threshold: big.NewRat(1, 1)})
	}
	return claim, err
}

// setFilter sets the states and the operator of a claim from a filter. print, printall and store change nothing, because they only list values.
func (translation *translation) setFilter(claim *certificate.Claim, filter *logic.Formula) (err error) {
	switch filter.Op {
	case "print", "printall", "store":
		return nil
	case "min", "max", "exists", "first", "sum", "avg", "count":
		claim.Operator = filter.Op
	case "range", "forall", "state": // these claims have no operator
	default:
		return translation.unsupported(filter.Expr, "filter(%s, ...)", filter.Op)
	}
	claim.OverSet, err = translation.filterStates(filter)
	return err
}

// optimalStatesSet translates a filter argmin or argmax to the set of the states with the least or the greatest value, and returns the index of
// the set.
func (translation *translation) optimalStatesSet(filter *logic.Formula) (int, error) {
	states, err := translation.filterStates(filter)
	if err != nil {
		return 0, err
	}
	value, err := translation.value(filter.Operand)
	wantsMinimum := filter.Op == "argmin"
	isVectorMinimal := wantsMinimum != value.isComplement // 1-v is least where v is greatest
	kind := certificate.ArgMax
	if isVectorMinimal {
		kind = certificate.ArgMin
	}
	return translation.setIndex(certificate.Set{Kind: kind, Vector: value.vector, Sets: []int{states}}), err
}

// filterStates returns the index of the set of states of a filter.
func (translation *translation) filterStates(formula *logic.Formula) (int, error) {
	if formula.States == nil {
		return allStates, nil
	}
	return translation.booleanFormula(formula.States)
}

// vectorValue refers to a vector of the certificate, or to 1 minus it.
type vectorValue struct {
	vector       int
	isComplement bool
}

// value translates an operator with a numeric value, such as P=? [...], to a vector of the certificate: the values of all states. If the vector has the
// complements, the field isComplement of the result is set: the value of a state is then 1 minus the number in the vector.
func (translation *translation) value(expr sema.Expr) (vectorValue, error) {
	switch formula := logic.FormulaOf(expr); formula.Kind {
	case logic.Probability:
		return translation.pathProbability(formula.Path, translation.direction(formula.Threshold))
	case logic.Reward:
		return translation.rewardOperator(formula)
	case logic.SteadyState:
		if err := translation.checkAveragesPerStep(formula); err != nil {
			return vectorValue{}, err
		}
		set, err := translation.stateFormula(formula.Operand)
		isMax := translation.isMaximum(translation.direction(formula.Threshold))
		return vectorValue{vector: translation.vectorIndex(certificate.Vector{Kind: certificate.Average, Right: set, Reward: -1, IsMaximum: isMax})}, err
	case logic.Strategy:
		return translation.strategyValue(formula)
	case logic.Filter:
		return vectorValue{}, translation.unsupported(expr, "a filter in a formula")
	case logic.Objectives, logic.Lexicographic:
		return vectorValue{}, translation.unsupported(expr, "several objectives")
	case logic.Quantile:
		return vectorValue{}, translation.unsupported(expr, "a quantile")
	}
	if sema.NeedsOnlyVariables(expr) {
		return vectorValue{}, translation.unsupported(expr, "an expression without operators")
	}
	return vectorValue{}, translation.unsupported(expr, "arithmetic with the value of an operator")
}

// strategyValue translates <<...>> or [[...]] with a numeric operand to a vector of the certificate: the values of the operand when the named players
// choose together.
func (translation *translation) strategyValue(formula *logic.Formula) (vectorValue, error) {
	outerSomeScheduler, outerCoalition := translation.forSomeScheduler, translation.coalition
	defer func() { translation.forSomeScheduler, translation.coalition = outerSomeScheduler, outerCoalition }()
	if err := translation.setCoalition(formula); err != nil {
		return vectorValue{}, err
	}
	return translation.value(formula.Operand)
}

// direction returns whether a threshold asks for the minimum or the maximum over schedulers.
func (translation *translation) direction(threshold sema.Threshold) solve.Direction {
	if least, _ := threshold.IsMinimum(translation.forSomeScheduler); least {
		return solve.Min
	}
	return solve.Max
}

// isMaximum reports whether a vector is a maximum over schedulers. It is false for a Markov chain, which has no schedulers.
func (translation *translation) isMaximum(direction solve.Direction) bool {
	switch translation.property.Program.Type {
	case syntax.DTMC, syntax.CTMC:
		return false
	}
	return direction == solve.Max
}

// stateFormula translates a nested state formula to a set. Strategy operators around it do not apply: bounded properties in it must hold
// for all schedulers.
func (translation *translation) stateFormula(expr sema.Expr) (int, error) {
	someScheduler, coalition := translation.forSomeScheduler, translation.coalition
	defer func() { translation.forSomeScheduler, translation.coalition = someScheduler, coalition }()
	translation.forSomeScheduler, translation.coalition = false, 0
	return translation.booleanFormula(expr)
}

// booleanFormula translates a state formula to a set of the certificate, and returns the index of the set.
func (translation *translation) booleanFormula(expr sema.Expr) (int, error) {
	if sema.NeedsOnlyVariables(expr) {
		return translation.atomicSet(expr), nil
	}
	switch operator := expr.(type) {
	case *sema.Unary: // a negation
		operand, err := translation.booleanFormula(operator.X)
		return translation.complementIndex(operand), err
	case *sema.Binary:
		return translation.booleanOperator(operator)
	case *sema.Cond:
		return translation.conditionalSet(operator)
	}
	switch formula := logic.FormulaOf(expr); formula.Kind {
	case logic.Label:
		return translation.labelSet(formula)
	case logic.Probability, logic.Reward, logic.SteadyState:
		return translation.thresholdSet(formula)
	case logic.Strategy:
		return translation.strategySet(formula)
	case logic.Quantified:
		return translation.quantifyPath(formula.IsForAll, formula.Path)
	case logic.Objectives:
		return 0, translation.unsupported(expr, "several objectives")
	}
	return 0, translation.unsupported(expr, "a filter in a formula")
}

// labelSet translates a label to a set of the certificate, and returns the index of the set.
func (translation *translation) labelSet(label *logic.Formula) (int, error) {
	switch {
	case label.Index == sema.LabelInit:
		return initialStates, nil
	case label.Index >= 0:
		return translation.booleanFormula(translation.property.Program.Labels[label.Index].Expr)
	}
	return translation.atomicSet(label.Expr), nil
}

// conditionalSet translates `condition ? then : else` to the set (condition & then) | (!condition & else), and returns the index of the set.
func (translation *translation) conditionalSet(expr *sema.Cond) (int, error) {
	condition, err := translation.booleanFormula(expr.Condition)
	if err != nil {
		return 0, err
	}
	thenSet, err := translation.booleanFormula(expr.Then)
	if err != nil {
		return 0, err
	}
	elseSet, err := translation.booleanFormula(expr.Else)
	whereTrue := translation.intersectionIndex(condition, thenSet)
	whereFalse := translation.intersectionIndex(translation.complementIndex(condition), elseSet)
	return translation.unionIndex(whereTrue, whereFalse), err
}

// strategySet translates <<...>> or [[...]] with a Boolean operand to a set of the certificate, and returns the index of the set.
func (translation *translation) strategySet(formula *logic.Formula) (int, error) {
	outerSomeScheduler, outerCoalition := translation.forSomeScheduler, translation.coalition
	defer func() { translation.forSomeScheduler, translation.coalition = outerSomeScheduler, outerCoalition }()
	if err := translation.setCoalition(formula); err != nil {
		return 0, err
	}
	return translation.booleanFormula(formula.Operand)
}

// setCoalition prepares the translation of the operand of <<...>> or [[...]]: it sets the coalition, and whether a bound must hold for some scheduler
// or for all. In a game it returns an error unless the operand is P of an until formula without a bound.
func (translation *translation) setCoalition(formula *logic.Formula) error {
	translation.forSomeScheduler = formula.ForSomeScheduler
	if translation.property.Program.Type != syntax.SMG {
		return nil
	}
	operand := logic.FormulaOf(formula.Operand)
	isUntil := operand.Kind == logic.Probability && operand.Path.Form == logic.Until && operand.Path.Bound == nil
	if formula.IsBox || !isUntil {
		return translation.unsupported(formula.Expr, "a coalition of players, except for P with F, G, U, W or R of states without bounds")
	}
	translation.forSomeScheduler = true
	translation.coalition = translation.coalitionSet(formula)
	return nil
}

// coalitionSet returns the index of the set of states that belong to the players in <<...>>.
func (translation *translation) coalitionSet(formula *logic.Formula) int {
	var players []int
	var names []string
	for i, player := range translation.property.Program.Players {
		if formula.NamesAllPlayers || slices.Contains(formula.Players, i) {
			players, names = append(players, i), append(names, player.Name)
		}
	}
	set := translation.setIndex(certificate.Set{Kind: certificate.Atomic, Text: "states of " + cmp.Or(strings.Join(names, ", "), "no player")})
	translation.Coalitions[set] = players
	return set
}

// atomicSet returns the index of the set of states in which an expression over the variables holds.
func (translation *translation) atomicSet(expr sema.Expr) int {
	if constant, isConstant := expr.(*sema.Const); isConstant {
		if constant.Val.Bool {
			return allStates
		}
		return translation.complementIndex(allStates)
	}
	index := translation.setIndex(certificate.Set{Kind: certificate.Atomic, Text: expressionText(translation.property.Program, expr)})
	translation.Atoms[index] = expr
	return index
}

// booleanOperator translates a binary operator of two state formulas to a set of the certificate, and returns the index of the set. It expresses the
// operator by negation, & and |.
func (translation *translation) booleanOperator(binary *sema.Binary) (int, error) {
	if binary.X.Type() != sema.Bool {
		return 0, translation.unsupported(binary, "a comparison of values")
	}
	left, err := translation.booleanFormula(binary.X)
	if err != nil {
		return 0, err
	}
	right, err := translation.booleanFormula(binary.Y)
	if err != nil {
		return 0, err
	}
	switch binary.Op {
	case syntax.OpAnd:
		return translation.intersectionIndex(left, right), nil
	case syntax.OpOr:
		return translation.unionIndex(left, right), nil
	case syntax.OpImplies:
		return translation.unionIndex(translation.complementIndex(left), right), nil
	}
	bothHold := translation.intersectionIndex(left, right)
	neitherHolds := translation.intersectionIndex(translation.complementIndex(left), translation.complementIndex(right))
	equivalence := translation.unionIndex(bothHold, neitherHolds)
	if binary.Op == syntax.OpNe {
		return translation.complementIndex(equivalence), nil
	}
	return equivalence, nil // <=> and =
}

// thresholdSet translates a bounded property, such as P>=0.5 [...], to the set of states that satisfy it, and returns the index of the set. The bound
// must be a fraction.
func (translation *translation) thresholdSet(formula *logic.Formula) (int, error) {
	bound, err := sema.Enclose(formula.Bound, nil)
	if err != nil {
		return 0, err
	}
	if !bound.IsExact || bound.Rat == nil {
		return 0, translation.unsupported(formula.Bound, "a bound that is not a fraction")
	}
	value, err := translation.value(formula.Expr)
	if err != nil {
		return 0, err
	}
	relation, threshold := formula.Rel, bound.Rat
	if value.isComplement { // 1-v >= b where v <= 1-b
		relation = relation.Mirrored()
		threshold = new(big.Rat).Sub(big.NewRat(1, 1), threshold)
	}
	return translation.setIndex(certificate.Set{Kind: certificate.Bound, Vector: value.vector, Relation: relation.String(), Threshold: threshold}), nil
}

// pathProbability translates the minimal or maximal probability of a path formula to a vector of the certificate: the probabilities from all states. If
// isComplement of the result is true, the probability is 1 minus the value in the vector.
func (translation *translation) pathProbability(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	if !path.IsNegated {
		return translation.probabilityWithoutNegation(path, direction)
	}
	// The minimal probability of a negation is 1 minus the maximal probability of its operand.
	value, err := translation.probabilityWithoutNegation(path, opposite(direction))
	value.isComplement = !value.isComplement
	return value, err
}

// probabilityWithoutNegation translates the minimal or maximal probability of a path formula to a vector of the certificate: the probabilities from all
// states. It ignores path.IsNegated, the negation in front of the formula.
func (translation *translation) probabilityWithoutNegation(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	switch {
	case path.Form == logic.InitialState:
		return translation.initialStateProbability(path, direction)
	case path.Form == logic.LateWeakUntil:
		return vectorValue{}, translation.unsupported(path.Expr, "a weak until (W) with a lower bound")
	case path.Form == logic.Conditional:
		return translation.conditionalProbability(path, direction)
	case path.Form == logic.CostBounded:
		return translation.rewardBoundedProbability(path, direction)
	case path.Form == logic.Until || path.Form == logic.Next:
		return translation.temporalProbability(path, direction)
	case path.IsTemporal && path.Op == syntax.Next:
		operandValue, err := translation.pathProbability(logic.PathOf(path.Right), direction)
		if err != nil {
			return operandValue, err
		}
		if laterValue, isPossible := translation.oneStepLater(operandValue); isPossible {
			return laterValue, nil
		}
	}
	return translation.pathAutomaton(path.Expr, direction)
}

// initialStateProbability translates P of a state formula f, which the first state of the path must satisfy, to a vector of the certificate:
// F<=0 f.
func (translation *translation) initialStateProbability(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	set, err := translation.stateFormula(path.Right)
	vector := certificate.Vector{Kind: certificate.Steps, IsMaximum: translation.isMaximum(direction), Right: set, Reward: -1}
	if translation.property.Program.Type == syntax.CTMC {
		vector.Timed = &certificate.Timed{From: new(big.Rat), To: new(big.Rat)}
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, err
}

// opposite returns Min for Max, and Max for Min.
func opposite(direction solve.Direction) solve.Direction {
	if direction == solve.Max {
		return solve.Min
	}
	return solve.Max
}

// temporalProbability translates P of one temporal operator over state formulas, such as F or U, to a vector of the certificate: the probabilities
// from all states.
func (translation *translation) temporalProbability(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	left, right, isNegated, err := translation.untilOperands(path, translation.stateFormula)
	if err != nil {
		return vectorValue{}, err
	}
	if isNegated {
		direction = opposite(direction)
	}
	vector := certificate.Vector{Kind: certificate.Until, IsMaximum: translation.isMaximum(direction), Left: left, Right: right, Reward: -1}
	switch {
	case path.Form == logic.Next:
		vector.Kind, vector.Left = certificate.Next, allStates
	case path.Bound != nil && translation.property.Program.Type == syntax.CTMC:
		vector.Kind = certificate.Steps
		vector.Timed, err = translation.timeBounds(path.Bound)
	case path.Bound != nil:
		vector.Kind = certificate.Steps
		vector.From, vector.To, err = logic.Steps(path.Bound)
	}
	if translation.coalition != 0 {
		vector.IsMaximum, vector.Maximizer = true, translation.coalition
		if direction == solve.Min {
			vector.Maximizer = translation.complementIndex(translation.coalition)
		}
	}
	return vectorValue{translation.vectorIndex(vector), isNegated}, err
}

// untilOperands rewrites a temporal operator to `left U right` or, if isNegated is true, to the negation of `left U right`. It returns the indexes of
// the sets left and right. translateRight translates the right operand to a set.
func (translation *translation) untilOperands(path *logic.Path, translateRight func(sema.Expr) (int, error)) (left, right int, isNegated bool, err error) {
	left = allStates
	if path.Left != nil {
		if left, err = translation.stateFormula(path.Left); err != nil {
			return 0, 0, false, err
		}
	}
	if right, err = translateRight(path.Right); err != nil {
		return 0, 0, false, err
	}
	sets := logic.Algebra[int]{Not: translation.complementIndex, And: translation.intersectionIndex, Neither: func(i, j int) int { return translation.complementIndex(translation.unionIndex(i, j)) }}
	left, right, isNegated = sets.AsUntil(path.Op, left, right)
	return left, right, isNegated, nil
}

// timeBounds evaluates the time bound of a CTMC. Strict bounds become non-strict, because the probability of a jump at one instant is 0.
func (translation *translation) timeBounds(timeBound *sema.Bound) (*certificate.Timed, error) {
	fromTime, err := translation.timeOf(timeBound.Low)
	if err != nil {
		return nil, err
	}
	if fromTime == nil {
		fromTime = new(big.Rat)
	}
	toTime, err := translation.timeOf(timeBound.High)
	return &certificate.Timed{From: fromTime, To: toTime}, err
}

// timeOf evaluates a time, which must be a fraction or infinity. It returns nil for infinity, and if expr is nil.
func (translation *translation) timeOf(expr sema.Expr) (*big.Rat, error) {
	if expr == nil {
		return nil, nil
	}
	value, err := sema.Enclose(expr, nil)
	if err != nil {
		return nil, err
	}
	isInfinite := math.IsInf(value.Lo, 1)
	if value.Rat == nil && !isInfinite {
		return nil, translation.unsupported(expr, "a time bound that is not a fraction")
	}
	return value.Rat, nil
}

// checkAveragesPerStep returns an error for a Markov automaton. Its long-run averages are per unit of time, and certificates support only
// averages per step.
func (translation *translation) checkAveragesPerStep(formula *logic.Formula) error {
	if translation.property.Program.Model().IsMarkovAutomaton() {
		return translation.unsupported(formula.Expr, "a long-run average of a Markov automaton")
	}
	return nil
}

// rewardOperator translates an R operator to a vector of the certificate: the expected rewards from all states.
func (translation *translation) rewardOperator(formula *logic.Formula) (vectorValue, error) {
	objective := formula.Objective
	if objective.IsRatio {
		return vectorValue{}, translation.unsupported(formula.Expr, "a ratio of rewards")
	}
	vector := certificate.Vector{IsMaximum: translation.isMaximum(translation.direction(formula.Threshold)), Reward: objective.Struct}
	var err error
	switch objective.Form {
	case logic.LongRun:
		vector.Kind, err = certificate.Average, translation.checkAveragesPerStep(formula)
	case logic.TotalReward:
		vector.Kind = certificate.TotalReward
	case logic.Cumulative:
		vector.Kind = certificate.Cumulative
		err = translation.rewardTime(&vector, objective)
	case logic.Instantaneous:
		vector.Kind = certificate.Instant
		err = translation.rewardTime(&vector, objective)
	case logic.Discounted:
		return translation.discountedReward(formula, vector)
	case logic.CostBoundedReward:
		return translation.rewardWithinBounds(formula, vector)
	case logic.TimedCumulative, logic.TimedInstantaneous:
		return vectorValue{}, translation.unsupported(formula.Expr, "a reward at or until a time of a Markov automaton")
	case logic.UntilReached, logic.ZeroUnlessReached, logic.ConditionalReward:
		return vectorValue{}, translation.unsupported(formula.Expr, "%s", logic.Describe(objective.Expr))
	case logic.ReachReward:
		vector.Kind = certificate.ReachReward
		vector.Right, err = translation.stateFormula(objective.Target)
	default:
		automaton := &certificate.Automaton{}
		if automaton.Formula, err = translation.pathFormula(automaton, objective.Expr); err != nil {
			return vectorValue{}, err
		}
		vector.Kind = certificate.CoSafe
		vector.Automaton = automaton
	}
	return vectorValue{vector: translation.vectorIndex(vector)}, err
}

// rewardTime sets the step bound or the time bound of an objective C<=k or I=k.
func (translation *translation) rewardTime(vector *certificate.Vector, objective *logic.Objective) (err error) {
	if translation.property.Program.Type == syntax.CTMC {
		vector.Timed, err = translation.timeBounds(&sema.Bound{High: objective.At})
	} else {
		vector.To, err = logic.Count(objective.At)
	}
	return err
}

// quantifyPath translates E of a path formula to a set, or A if forAll is true.
func (translation *translation) quantifyPath(forAll bool, path *logic.Path) (int, error) {
	if !path.IsNegated {
		return translation.quantifyWithoutNegation(forAll, path)
	}
	operand, err := translation.quantifyWithoutNegation(!forAll, path) // E [!f] is !A [f], and A [!f] is !E [f]
	return translation.complementIndex(operand), err
}

// quantifyWithoutNegation translates E [path], or A [path] if forAll is true, to a set of the certificate, and returns the index of the set. It
// ignores path.IsNegated, the negation in front of the formula. It uses an automaton only if no simpler rule applies.
func (translation *translation) quantifyWithoutNegation(forAll bool, path *logic.Path) (int, error) {
	if path.Form == logic.InitialState {
		return translation.stateFormula(path.Right)
	}
	if binary, isBinary := path.Expr.(*sema.Binary); isBinary && distributes(forAll, binary) {
		return translation.quantifyOperands(forAll, binary)
	}
	if path.IsTemporal && path.Bound == nil && logic.IsState(path.Left) {
		return translation.quantifyTemporal(forAll, path)
	}
	return translation.quantifyAutomaton(forAll, path.Expr)
}

// distributes reports whether a quantifier distributes over the operands of & or |. A (forAll is true) distributes over &, and E over |. Both
// distribute over & and | if one operand is a state formula.
func distributes(forAll bool, binary *sema.Binary) bool {
	hasStateFormula := logic.IsState(binary.X) || logic.IsState(binary.Y)
	switch binary.Op {
	case syntax.OpAnd:
		return forAll || hasStateFormula
	case syntax.OpOr:
		return !forAll || hasStateFormula
	}
	return false
}

// quantifyOperands translates E [f op g] to the set E [f] op E [g], where op is & or |. If forAll is true, the quantifier is A instead of E. The caller
// checks by distributes that both sides are equal.
func (translation *translation) quantifyOperands(forAll bool, binary *sema.Binary) (int, error) {
	left, err := translation.quantifyPath(forAll, logic.PathOf(binary.X))
	if err != nil {
		return 0, err
	}
	right, err := translation.quantifyPath(forAll, logic.PathOf(binary.Y))
	if err != nil {
		return 0, err
	}
	if binary.Op == syntax.OpAnd {
		return translation.intersectionIndex(left, right), nil
	}
	return translation.unionIndex(left, right), nil
}

// quantifyTemporal translates E of a temporal operator, or A if forAll is true, to a set of the certificate, and returns the index of the set.
// The left operand must be a state formula.
func (translation *translation) quantifyTemporal(forAll bool, path *logic.Path) (int, error) {
	translateRight := translation.stateFormula
	if !logic.IsState(path.Right) {
		if !quantifiesOperand(forAll, path.Op) {
			return translation.quantifyAutomaton(forAll, path.Expr)
		}
		translateRight = func(operand sema.Expr) (int, error) { return translation.quantifyPath(forAll, logic.PathOf(operand)) }
	}
	left, right, isNegated, err := translation.untilOperands(path, translateRight)
	if err != nil {
		return 0, err
	}
	if path.Op == syntax.Next {
		return translation.setIndex(nextSet(forAll, right)), nil
	}
	if isNegated { // E [!f] is !A [f], and A [!f] is !E [f]
		return translation.complementIndex(translation.setIndex(untilSet(!forAll, left, right))), nil
	}
	return translation.setIndex(untilSet(forAll, left, right)), nil
}

// nextSet returns the set of the states that satisfy E [X operand], or A [X operand] if forAll is true.
func nextSet(forAll bool, operand int) certificate.Set {
	if forAll {
		return certificate.Set{Kind: certificate.ForallNext, Sets: []int{operand}}
	}
	return certificate.Set{Kind: certificate.ExistsNext, Sets: []int{operand}}
}

// untilSet returns the set of the states that satisfy E [left U right], or A [left U right] if forAll is true.
func untilSet(forAll bool, left, right int) certificate.Set {
	if forAll {
		return certificate.Set{Kind: certificate.ForallUntil, Sets: []int{left, right}}
	}
	return certificate.Set{Kind: certificate.ExistsUntil, Sets: []int{left, right}}
}

// quantifiesOperand reports whether the quantifier of a temporal operator may be repeated before its right operand without changing the truth: E [F f]
// is E [F E [f]], and A [G f] is A [G A [f]]. The quantifier is A if forAll is true, else E.
func quantifiesOperand(forAll bool, op syntax.TemporalOp) bool {
	switch op {
	case syntax.Next:
		return true
	case syntax.Future, syntax.Until:
		return !forAll
	case syntax.Globally:
		return forAll
	}
	return false
}

// oneStepLater returns the translation of X f, where value is the translation of f. It adds 1 to the step bounds of the vector. isPossible is false for
// a CTMC, and if f has a left operand or an automaton.
func (translation *translation) oneStepLater(value vectorValue) (shifted vectorValue, isPossible bool) {
	vector := translation.Vectors[value.vector]
	switch {
	case vector.Left != allStates || vector.Automaton != nil || translation.property.Program.Type == syntax.CTMC:
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
	value.vector = translation.vectorIndex(vector)
	return value, true
}
