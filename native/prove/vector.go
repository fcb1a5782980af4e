package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// effort is how much is computed for the columns of a vector. Prover.Add tries the efforts in this order, and skips those that do not
// fit the certificate or the size of the model (nextEffort).
type effort int

const (
	coarseGridBounds  effort = iota // bounds on a coarse grid, which take few bytes in a file
	floatBounds                     // float64 bounds as the solver returns them
	narrowFloatBounds               // the same with a smaller epsilon
	fineGridBounds                  // bounds on the finest grid with which the checker is fast
	fileFloatBounds                 // float64 bounds for a file, which stores them as fractions
	exactValues                     // exact values, which always satisfy their equations
)

// firstEffort returns how precisely Add first computes the bounds of a vector.
func (prover *Prover) firstEffort() effort {
	switch {
	case prover.opts.Exact:
		return exactValues
	case prover.opts.Ordered:
		return coarseGridBounds
	}
	return floatBounds
}

// nextEffort returns how precisely to compute bounds after bounds with the precision lastEffort were too wide. hasNext is false if lastEffort is the
// greatest precision for this number of states.
func (prover *Prover) nextEffort(lastEffort effort) (next effort, hasNext bool) {
	numStates := prover.graph.NumStates()
	switch {
	case lastEffort == floatBounds:
		return narrowFloatBounds, true
	case lastEffort < fineGridBounds:
		return fineGridBounds, true
	case lastEffort == fineGridBounds && prover.opts.Ordered && numStates <= maxFloatStates:
		return fileFloatBounds, true
	case lastEffort < exactValues && numStates <= maxExactStates:
		return exactValues, true
	}
	return lastEffort, false
}

// maxFloatStates is the greatest number of states for which fileFloatBounds is tried.
const maxFloatStates = 1 << 20

// maxExactStates is the greatest number of states for which exactValues is tried.
const maxExactStates = 20_000

// gridBits returns the number of bits of the greatest value on the grid. For float64 bounds the grid is so fine that it does not
// matter.
func (effort effort) gridBits() int {
	const noGrid = 1000
	return [...]int{coarseGridBounds: 47, floatBounds: noGrid, narrowFloatBounds: noGrid, fineGridBounds: 61, fileFloatBounds: noGrid, exactValues: 0}[effort]
}

// withoutGrid reports whether the values are arbitrary float64 numbers.
func (effort effort) withoutGrid() bool {
	return effort == floatBounds || effort == narrowFloatBounds || effort == fileFloatBounds
}

// bounds are the computed values of a vector, and the effort that was spent on them.
type bounds struct {
	*solve.Values
	effort effort
}

// boundsOf returns bounds of the values of a vector, given by its index, and computes the columns of the certificate that prove them, as precisely as
// wantedEffort says. It reuses known bounds that are at least as precise.
func (prover *Prover) boundsOf(ctx context.Context, vector int, wantedEffort effort) (*bounds, error) {
	knownBounds := prover.computedBounds[vector]
	if knownBounds != nil && knownBounds.suffices(wantedEffort) {
		return knownBounds, nil
	}
	proof := &vectorProof{Prover: prover, index: vector, ctx: ctx, Vector: &prover.Vectors[vector], effort: wantedEffort}
	values, err := proof.compute()
	if err != nil {
		return nil, err
	}
	prover.computedBounds[vector] = &bounds{values, wantedEffort}
	return prover.computedBounds[vector], nil
}

// suffices reports whether bounds with the wanted effort would not be narrower.
func (bounds *bounds) suffices(wantedEffort effort) bool {
	return bounds.effort >= wantedEffort || bounds.hasZeroWidth()
}

// hasZeroWidth reports whether the float64 bounds of every value are equal, so that more effort cannot improve them.
func (bounds *bounds) hasZeroWidth() bool {
	return bounds.Exact == nil && slices.Equal(bounds.Lower, bounds.Upper)
}

// vectorProof computes the columns of one vector.
type vectorProof struct {
	*Prover
	*certificate.Vector
	index           int
	ctx             context.Context
	effort          effort
	grid            float64
	rewardStructure *sparse.Reward
}

// direction returns the direction in which schedulers optimize the vector.
func (proof *vectorProof) direction() solve.Direction {
	if proof.IsMaximum {
		return solve.Max
	}
	return solve.Min
}

// options returns the options of package solve for the effort of this proof: its precision, and fractions or multiples of a grid.
func (proof *vectorProof) options() solve.Options {
	opts := solve.Options{Epsilon: proof.opts.Epsilon}
	if proof.effort == narrowFloatBounds {
		opts.Epsilon = proof.narrowEpsilon
	}
	if proof.effort == exactValues {
		opts.Exact, opts.MaxWork = true, maxWork
	} else {
		opts.Grid = proof.grid
	}
	return opts
}

// maxWork is the greatest number of operations in rational arithmetic: some seconds.
const maxWork = 1 << 30

// compute returns the values of the vector in all states, as bounds or as fractions. It also computes the columns of the certificate that prove them.
func (proof *vectorProof) compute() (values *solve.Values, err error) {
	left, err := proof.decidedSet(proof.ctx, proof.Left, proof.effort)
	if err != nil {
		return nil, err
	}
	right, err := proof.decidedSet(proof.ctx, proof.Right, proof.effort)
	if err != nil {
		return nil, err
	}
	if proof.Reward >= 0 {
		if proof.rewardStructure, err = proof.Prover.loadReward(proof.Reward); err != nil {
			return nil, err
		}
	}
	switch {
	case proof.Timed != nil:
		return proof.timedValues(left, right)
	case proof.Kind == certificate.MaxConditional:
		return proof.maxConditional()
	case proof.Automaton != nil:
		return proof.pathColumns()
	}
	return proof.columnsOfKind(left, right)
}

// columnsOfKind returns the values of a vector without a time bound and without an automaton. It also computes the columns of the certificate that
// prove them.
func (proof *vectorProof) columnsOfKind(left, right *sparse.Set) (*solve.Values, error) {
	graph, direction := proof.graph, proof.direction()
	switch proof.Kind {
	case certificate.Objectives:
		return proof.solveMultiObjective()
	case certificate.Until:
		return proof.until(left, right)
	case certificate.Steps:
		if proof.To == solve.Unbounded {
			if _, err := proof.until(left, right); err != nil {
				return nil, err
			}
		}
		proof.grid = 0
		return solve.BoundedUntil(proof.ctx, graph, left, right, solve.StepBound{Low: proof.From, High: proof.To}, direction, proof.options())
	case certificate.Next:
		return solve.Next(proof.ctx, graph, right, direction, proof.options())
	case certificate.Cumulative:
		return solve.CumulReward(proof.ctx, graph, proof.rewardStructure, proof.To, direction, proof.options())
	case certificate.Instant:
		return solve.InstantReward(proof.ctx, graph, proof.rewardStructure, proof.To, direction, proof.options())
	case certificate.ReachReward:
		return proof.reachReward(right)
	case certificate.TotalReward:
		return proof.totalReward()
	case certificate.Average:
		return proof.averageColumns(right)
	case certificate.Discounted:
		return proof.discountedColumns()
	case certificate.RewardBounded, certificate.RewardWithinBounds:
		return proof.budgetColumns(left, right)
	case certificate.Conditional:
		return proof.conditionalBounds()
	}
	return nil, fmt.Errorf("there is no certificate of the kind %q", proof.Kind)
}

// until computes bounds of an until probability in all states, and the ranks of states that prove the lower bounds (rule 1 of package certify).
func (proof *vectorProof) until(left, right *sparse.Set) (*solve.Values, error) {
	proof.grid = math.Ldexp(1, -proof.effort.gridBits())
	if proof.Maximizer != 0 {
		return proof.gameUntil(left, right)
	}
	values, err := proof.solveUntil(left, right)
	if err != nil {
		return nil, err
	}
	proof.setBoundColumns(values)
	positive := proof.positiveStates(values).Minus(right)
	proof.Rank = proof.rankColumn(proof.progressRanks(positive, proof.lowerEquations(values), nil), positive)
	return values, nil
}

// solveUntil returns bounds of an until probability. With the first effort it reuses bounds that Prover.Until has stored.
func (proof *vectorProof) solveUntil(left, right *sparse.Set) (*solve.Values, error) {
	if proof.effort == proof.firstEffort() {
		if shared := proof.findShared(&sharedSolution{left: left, right: right, direction: proof.direction()}); shared != nil {
			return shared.values, nil
		}
	}
	return solve.Until(proof.ctx, proof.graph, left, right, proof.direction(), proof.options())
}

// gameUntil computes the inductive bounds of an until probability in a stochastic game, and the ranks that prove the lower bound.
func (proof *vectorProof) gameUntil(left, right *sparse.Set) (*solve.Values, error) {
	maximizer, err := proof.decidedSet(proof.ctx, proof.Maximizer, proof.effort)
	if err != nil {
		return nil, err
	}
	values, err := solve.NewGame(proof.graph, maximizer).Until(proof.ctx, left, right, proof.options())
	if err != nil {
		return nil, err
	}
	proof.setBoundColumns(values)
	positive := proof.positiveStates(values).Minus(right)
	equations := proof.lowerEquations(values)
	ranks := rankGame(proof.graph, positive, maximizer, func(s, choice int) bool { return equations.compareChoice(s, choice) >= 0 })
	proof.Rank = proof.rankColumn(ranks, positive)
	return values, nil
}

// progressRanks returns ranks of states with positive lower bounds. For a maximum, a ranked state has a choice that satisfies the inequality of the
// lower bound and has a successor of smaller rank. For a minimum, every choice has a successor of smaller rank. A choice that earns a reward needs no
// such successor.
func (proof *vectorProof) progressRanks(states *sparse.Set, equations *bellmanEquations, rewards *sparse.Reward) []uint32 {
	earnsAt := func(s, choice int) bool { return rewards != nil && earnsReward(rewards, s, choice) }
	satisfiesBound := func(s, choice int) bool { return equations.compareChoice(s, choice) >= 0 }
	targets := states.Complement()
	if !proof.IsMaximum {
		return rankAllChoices(proof.graph, targets, states, func(s, choice int) bool { return !earnsAt(s, choice) })
	}
	if rewards != nil {
		for s := range states.All() {
			if hasChoice(proof.graph, s, func(choice int) bool { return earnsAt(s, choice) && satisfiesBound(s, choice) }) {
				targets.Add(s)
			}
		}
	}
	return rankByDistance(proof.graph, targets, states, satisfiesBound)
}

// hasChoice reports whether some choice of state s satisfies a condition.
func hasChoice(graph *sparse.Graph, s int, condition func(choice int) bool) bool {
	first, end := graph.Choices(s)
	for choice := first; choice < end; choice++ {
		if condition(choice) {
			return true
		}
	}
	return false
}

// earnsReward reports whether the reward of state s, or of a choice in it, is positive.
func earnsReward(reward *sparse.Reward, s, choice int) bool {
	return reward.StateFractions != nil && reward.StateFractions[s] != nil || reward.ChoiceFractions != nil && reward.ChoiceFractions[choice] != nil
}

// positiveStates returns the states whose lower bound is positive and finite.
func (proof *vectorProof) positiveStates(values *solve.Values) *sparse.Set {
	states := sparse.NewSet(proof.graph.NumStates())
	for s, value := range values.Lower {
		isPositive := value > 0 && !math.IsInf(value, 1)
		if values.Exact != nil {
			isPositive = values.Exact[s] != nil && values.Exact[s].Sign() > 0
		}
		if isPositive {
			states.Add(s)
		}
	}
	return states
}

// infiniteStates returns the states with an infinite lower bound, or an infinite exact value.
func infiniteStates(values *solve.Values) *sparse.Set {
	states := sparse.NewSet(len(values.Lower))
	for s, value := range values.Lower {
		isInfinite := math.IsInf(value, 1)
		if values.Exact != nil {
			isInfinite = values.Exact[s] == nil
		}
		if isInfinite {
			states.Add(s)
		}
	}
	return states
}

// solveOnGrid computes bounds of a reward with the function solveWith. If the column needs a grid, all bounds are multiples of a power of two that fits
// the greatest value. A stored solution of a reward until target is reused; target is nil for a total reward. It is an error if the values are too large
// for a grid.
func (proof *vectorProof) solveOnGrid(target *sparse.Set, solveWith func(solve.Options) (*solve.Values, error)) (*solve.Values, error) {
	if proof.effort == exactValues {
		return solveWith(proof.options())
	}
	if proof.effort.withoutGrid() {
		proof.grid = math.Ldexp(1, -proof.effort.gridBits())
		if shared := proof.sharedReachReward(target); shared != nil {
			return shared.values, nil
		}
		return solveWith(proof.options())
	}
	if shared := proof.sharedReachReward(target); shared != nil {
		proof.grid = shared.grid
		fitsGrid := greatestExponent(shared.values)-math.Ilogb(shared.grid) <= fineGridBounds.gridBits()
		if fitsGrid {
			return shared.values, nil
		}
	}
	return proof.solveOnEstimatedGrid(solveWith)
}

// sharedReachReward returns a shared solution of the reachability reward for the first effort. It returns nil if there is no such solution
// or if target is nil.
func (proof *vectorProof) sharedReachReward(target *sparse.Set) *sharedSolution {
	if target == nil || proof.effort != proof.firstEffort() {
		return nil
	}
	return proof.findShared(&sharedSolution{reward: proof.rewardStructure, left: target, right: target, direction: proof.direction()})
}

// solveOnEstimatedGrid computes bounds of a reward with the function solveWith, on a grid that fits an estimate of the greatest value. If a value
// exceeds the estimate, it computes the bounds again on a coarser grid.
func (proof *vectorProof) solveOnEstimatedGrid(solveWith func(solve.Options) (*solve.Values, error)) (*solve.Values, error) {
	const maxAttempts = 3
	exponent, isEstimated := proof.exponents[proof.index]
	for range maxAttempts {
		if !isEstimated { // solve without a grid
			values, err := solveWith(solve.Options{Epsilon: proof.opts.Epsilon})
			if err != nil {
				return nil, err
			}
			exponent = greatestExponent(values)
		}
		if exponent > fineGridBounds.gridBits() {
			break
		}
		proof.grid = min(math.Ldexp(1, exponent-proof.effort.gridBits()), 1)
		values, err := solveWith(proof.options())
		if err != nil {
			return nil, err
		}
		greatestOnGrid := exponent + fineGridBounds.gridBits() - proof.effort.gridBits()
		if greatestExponent(values) <= greatestOnGrid {
			proof.exponents[proof.index] = exponent
			return values, nil
		}
		isEstimated = false
	}
	return nil, errors.New("the values are too large for the grid of a certificate")
}

// greatestExponent returns the binary exponent of the greatest finite upper bound, or of 1 if all bounds are smaller. Where only the upper bound is
// infinite, it takes twice the lower bound as a guess.
func greatestExponent(values *solve.Values) int {
	greatest := 1.0
	for s, value := range values.Upper {
		if math.IsInf(value, 1) && !math.IsInf(values.Lower[s], 1) {
			value = 2 * values.Lower[s] // a guess at the unknown value
		}
		if !math.IsInf(value, 1) {
			greatest = max(greatest, value)
		}
	}
	_, exponent := math.Frexp(greatest)
	return exponent
}

// reachReward computes the bounds of a reachability reward, and the ranks and layers that prove them (rule 2 of package certify).
func (proof *vectorProof) reachReward(target *sparse.Set) (*solve.Values, error) {
	values, err := proof.solveOnGrid(target, func(opts solve.Options) (*solve.Values, error) {
		return solve.ReachReward(proof.ctx, proof.graph, proof.rewardStructure, target, proof.direction(), opts)
	})
	if err != nil {
		return nil, err
	}
	proof.setBoundColumns(values)
	infiniteStates := infiniteStates(values)
	finiteStates := infiniteStates.Complement().Minus(target)
	if proof.IsMaximum {
		proof.rankMaxReachReward(target, finiteStates, infiniteStates)
	} else {
		proof.rankMinReachReward(target, finiteStates, infiniteStates, proof.upperEquations(values))
	}
	return values, nil
}

// rankMaxReachReward computes ranks and layers that prove a maximal reachability reward. Ranks prove that every scheduler reaches the target
// from the finite states. The layer of an infinite state is its distance to a state that can avoid the target.
func (proof *vectorProof) rankMaxReachReward(target, finiteStates, infiniteStates *sparse.Set) {
	graph := proof.graph
	proof.Rank = proof.rankColumn(rankAllChoices(graph, target, finiteStates, nil), finiteStates)
	if infiniteStates.Empty() {
		return
	}
	avoidingStates := graph.Prob0E(sparse.FullSet(graph.NumStates()), target)
	distances := rankByDistance(graph, avoidingStates, infiniteStates, anyChoice)
	proof.Layer = proof.rankColumn(distances, infiniteStates)
}

// rankMinReachReward computes ranks and layers that prove a minimal reachability reward. The rank of a finite state is its distance to the
// target along optimal choices. Layers prove that no scheduler reaches the target almost surely from the infinite states.
func (proof *vectorProof) rankMinReachReward(target, finiteStates, infiniteStates *sparse.Set, upper *bellmanEquations) {
	graph := proof.graph
	isOptimal := func(s, choice int) bool { return graph.FirstChoice == nil || upper.compareChoice(s, choice) <= 0 }
	proof.Rank = proof.rankColumn(rankByDistance(graph, target, finiteStates, isOptimal), finiteStates)
	if !infiniteStates.Empty() {
		proof.Layer = proof.rankColumn(trapLayers(graph, infiniteStates.Complement()), infiniteStates)
	}
}

// totalReward computes a certificate of a total reward: lower and upper bounds of the values, and ranks and layers, from which a checker sees that the
// bounds are correct. See rule 3 of package certify for the conditions that the checker verifies.
func (proof *vectorProof) totalReward() (*solve.Values, error) {
	values, err := proof.solveOnGrid(nil, func(opts solve.Options) (*solve.Values, error) {
		return solve.TotalReward(proof.ctx, proof.graph, proof.rewardStructure, proof.direction(), opts)
	})
	if err != nil {
		return nil, err
	}
	proof.setBoundColumns(values)
	return values, proof.rankTotalReward(values)
}

// rankTotalReward computes the ranks that prove the lower bounds of a total reward, and the layers that prove infinite values.
func (proof *vectorProof) rankTotalReward(values *solve.Values) error {
	positive, infinite := proof.positiveStates(values), infiniteStates(values)
	ranks := proof.progressRanks(positive, proof.lowerEquations(values), proof.rewardStructure)
	infiniteRanks, layers, err := proof.infiniteRewardRanks(infinite)
	if err != nil {
		return err
	}
	for s := range infinite.All() {
		ranks[s] = infiniteRanks[s]
	}
	proof.Rank = proof.rankColumn(ranks, positive.Union(infinite))
	proof.Layer = proof.rankColumn(layers, infinite)
	return nil
}

// infiniteRewardRanks returns ranks and layers that prove that the minimal or maximal total reward is infinite in the given states. For a minimum, each
// choice earns a reward, can lead to a smaller layer, or has a successor of smaller rank in its own layer.
func (proof *vectorProof) infiniteRewardRanks(infinite *sparse.Set) (ranks, layers []uint32, err error) {
	if proof.IsMaximum {
		return proof.recurringRewardRanks(infinite)
	}
	graph := proof.graph
	layers = trapLayers(graph, infinite.Complement())
	ranks = rankAllChoices(graph, sparse.NewSet(graph.NumStates()), infinite, func(s, choice int) bool {
		return !earnsReward(proof.rewardStructure, s, choice) && staysInLayer(graph, choice, layers)
	})
	return ranks, layers, nil
}

// staysInLayer reports whether all successors of a choice have the same layer as the state of the choice.
func staysInLayer(graph *sparse.Graph, choice int, layers []uint32) bool {
	stateLayer := layers[graph.Owner(uint32(choice))]
	first, end := graph.Transitions(choice)
	for _, target := range graph.Target[first:end] {
		if layers[target] != stateLayer {
			return false
		}
	}
	return true
}

// recurringRewardRanks returns ranks and layers that prove that the maximal total reward is infinite in some states. The rank of a state is its
// distance, within an end component, to a state that earns a reward. The layer of a state is its distance to a ranked state.
func (proof *vectorProof) recurringRewardRanks(infinite *sparse.Set) (ranks, layers []uint32, err error) {
	graph := proof.graph
	components, err := graph.EndComponents(proof.ctx, infinite, nil)
	if err != nil {
		return nil, nil, err
	}
	earningStates := sparse.NewSet(graph.NumStates())
	for _, state := range components.States {
		s := int(state)
		if hasChoice(graph, s, func(choice int) bool {
			return components.Choices.Has(choice) && earnsReward(proof.rewardStructure, s, choice)
		}) {
			earningStates.Add(s)
		}
	}
	ranks = rankByDistance(graph, earningStates, infinite, func(_, choice int) bool { return components.Choices.Has(choice) })
	recurringStates := rankedStates(ranks).Intersect(infinite)
	layers = rankByDistance(graph, recurringStates, infinite, anyChoice)
	return ranks, layers, nil
}

// setBoundColumns stores values as the columns Lower and Upper of the vector.
func (proof *vectorProof) setBoundColumns(values *solve.Values) {
	if values.Exact != nil {
		column := proof.fractionColumn(values)
		proof.Lower, proof.Upper = column, column
		return
	}
	proof.Lower, proof.Upper = proof.boundColumn(values.Lower), proof.boundColumn(values.Upper)
}

// fractionColumn converts exact values to a column of the certificate. A state with an infinite value has the fraction 0, and is in
// column.Infinite.
func (proof *vectorProof) fractionColumn(values *solve.Values) *certificate.Values {
	column := &certificate.Values{Fractions: make([]*big.Rat, len(values.Exact))}
	for index, s := range proof.orderedStates() {
		column.Fractions[index] = values.Exact[s]
		if column.Fractions[index] == nil {
			column.Fractions[index] = new(big.Rat)
		}
	}
	if infinite := infiniteStates(values); !infinite.Empty() {
		column.Infinite = proof.orderedBits(infinite)
	}
	return column
}

// boundColumn converts bounds to a column of the certificate. The column has multiples of proof.grid if the effort computes with a grid, else float64
// numbers.
func (proof *vectorProof) boundColumn(values []float64) *certificate.Values {
	if proof.effort.withoutGrid() {
		return certificate.FromFloats(proof.inOrder(values))
	}
	column := &certificate.Values{Fixed: make([]uint64, len(values)), Scale: uint(-math.Ilogb(proof.grid))}
	for index, s := range proof.orderedStates() {
		if value := values[s]; !math.IsInf(value, 1) {
			column.Fixed[index] = uint64(value / proof.grid)
			continue
		}
		if column.Infinite == nil {
			column.Infinite = certificate.NewBits(len(values))
		}
		column.Infinite.Add(index)
	}
	return column
}

// inOrder returns the values of the states in the order of the certificate.
func (proof *vectorProof) inOrder(values []float64) []float64 {
	if proof.order == nil {
		return values
	}
	result := make([]float64, len(values))
	for index, s := range proof.orderedStates() {
		result[index] = values[s]
	}
	return result
}

// rankColumn converts ranks to a column of the certificate, with certificate.None for all states outside the set. It returns nil if the set is
// empty.
func (proof *vectorProof) rankColumn(ranks []uint32, states *sparse.Set) []uint32 {
	if states.Empty() {
		return nil
	}
	column := make([]uint32, len(ranks))
	for index, s := range proof.orderedStates() {
		column[index] = certificate.None
		if states.Has(s) {
			column[index] = ranks[s]
		}
	}
	return column
}

// bellmanEquations are the equations of a vector, in which the lower or upper bounds replace the values.
type bellmanEquations struct {
	graph       *sparse.Graph
	reward      *sparse.Reward // nil for none
	bounds      []float64
	exactBounds []*big.Rat // replaces bounds if not nil; nil entries are infinite
}

// lowerEquations returns the equations of the vector for its lower bounds, or its exact values.
func (proof *vectorProof) lowerEquations(values *solve.Values) *bellmanEquations {
	return &bellmanEquations{proof.graph, proof.rewardStructure, values.Lower, values.Exact}
}

// upperEquations returns the equations of the vector for its upper bounds, or its exact values.
func (proof *vectorProof) upperEquations(values *solve.Values) *bellmanEquations {
	return &bellmanEquations{proof.graph, proof.rewardStructure, values.Upper, values.Exact}
}

// compareRoundoff is a bound on the relative rounding error of one operation of compareChoice: 2^-53, with a margin of 1/16 for
// the products of these errors.
const compareRoundoff = 0x1.1p-53

// extraRoundings is the number of roundings of compareChoice besides one for each product: those of the reward and its addition, of the
// probability, of a product and of the error bound itself.
const extraRoundings = 5

// minNormalSum is the sum below which products may lose digits to underflow. Products below 2^-1022 are subnormal; the rest is a margin
// for the number of products and for small probabilities.
const minNormalSum = 0x1p-960

// compareChoice compares r(c) + sum of P(c,t) b(t), the reward of choice c plus the expected bound after it, with the bound b(s) of state s. It returns
// 1, 0 or -1 if the sum is greater than, equal to or less than b(s). If rounding errors could change the result, it computes with fractions.
func (equations *bellmanEquations) compareChoice(s, choice int) int {
	if equations.exactBounds != nil {
		return equations.compareExactly(s, choice)
	}
	first, end := equations.graph.Transitions(choice)
	stateBound, sum := equations.bounds[s], equations.reward.ChoiceTotal(s, choice)
	hasReward := sum != 0
	minTarget, maxTarget := math.Inf(1), 0.0
	for transition := first; transition < end; transition++ {
		targetBound := equations.bounds[equations.graph.Target[transition]]
		sum += equations.graph.Prob(transition) * targetBound
		minTarget, maxTarget = min(minTarget, targetBound), max(maxTarget, targetBound)
	}
	absErr := sum * float64(end-first+extraRoundings) * compareRoundoff
	switch {
	case math.IsInf(maxTarget, 1):
		return 1
	case !hasReward && minTarget == maxTarget: // the probabilities sum to 1
		return cmp.Compare(minTarget, stateBound)
	case !hasReward && minTarget >= stateBound:
		return 1
	case sum < minNormalSum: // products may be subnormal
		return equations.compareExactly(s, choice)
	case sum-absErr > stateBound:
		return 1
	case sum+absErr < stateBound:
		return -1
	}
	return equations.compareExactly(s, choice) // rounding errors could change the result
}

// compareExactly compares r(c) + sum of P(c,t) b(t) with b(s) in rational arithmetic, for choice c of state s and the bounds b. It returns 1, 0 or -1 if
// the sum is greater than, equal to or less than b(s).
func (equations *bellmanEquations) compareExactly(s, choice int) int {
	sum := equations.reward.ExactChoiceTotal(s, choice)
	first, end := equations.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		targetValue := equations.value(int(equations.graph.Target[transition]))
		if targetValue == nil {
			return 1
		}
		sum.Add(sum, new(big.Rat).Mul(equations.graph.Fraction(transition), targetValue))
	}
	if bound := equations.value(s); bound != nil {
		return sum.Cmp(bound)
	}
	return -1 // the bound is infinite
}

// value returns the bound of state s as a fraction, or nil for an infinite bound.
func (equations *bellmanEquations) value(s int) *big.Rat {
	if equations.exactBounds != nil {
		return equations.exactBounds[s]
	}
	return new(big.Rat).SetFloat64(equations.bounds[s]) // SetFloat64 returns nil for infinity
}
