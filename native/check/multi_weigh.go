package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/solve/pareto"
	"tilecheck/native/space/sparse"
)

var (
	// errInfiniteCost says that a minimised reward is infinite, because no scheduler ends almost all paths.
	errInfiniteCost = errors.New("a minimised reward is infinite")
	// errNeedsFractions says that the model needs fractions as weights.
	errNeedsFractions = errors.New("maximised and minimised rewards together need a model with fractions")
)

// bestWeightedSum maximises a weighted sum of the objectives. It returns the values of the objectives under a maximising scheduler, and an upper bound
// of the maximal sum. The value of a minimised objective gets a negative sign. It is an oracle of package pareto.
func (multi *multiEvaluation) bestWeightedSum(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
	optimise := multi.maximiseRewards
	if multi.minimisesReward() { // a minimised reward is finite only if almost every path ends
		optimise = multi.minimiseLosses
	}
	values, upper, err := optimise(ctx, weights)
	if err != nil {
		return nil, err
	}
	if multi.keepsSchedulers {
		multi.schedulers = append(multi.schedulers, weightedScheduler{choices: values.Scheduler, weights: weights})
	}
	point, err := multi.attainedBounds(ctx, values.Scheduler, weights)
	if err != nil {
		return nil, err
	}
	return &pareto.Answer{Point: point, Bound: upper}, nil
}

// maximiseRewards maximises the weighted sum of the objectives as an expected total reward. No objective may be a minimised reward. It returns
// the values with an optimal scheduler, and an upper bound of the maximal sum.
func (multi *multiEvaluation) maximiseRewards(ctx context.Context, weights []*big.Rat) (values *solve.Values, upper *big.Rat, err error) {
	reward, err := multi.weightedRewards(weights)
	if err != nil {
		return nil, nil, err
	}
	values, err = solve.TotalReward(ctx, multi.product, reward, solve.Max, multi.optionsWithScheduler())
	if err != nil {
		return nil, nil, err
	}
	multi.recordConvergence(values)
	_, upper = boundsOf(values, 0)
	if upper == nil {
		return nil, nil, multi.outOfRangeError()
	}
	return values, upper, nil
}

// minimiseLosses maximises the weighted sum of the objectives, which is a constant total minus the expected losses until the end state: it
// minimises these losses. It returns the minimal losses with an optimal scheduler, and an upper bound of the maximal sum. The error is
// errInfiniteCost if no scheduler reaches the end state almost surely.
func (multi *multiEvaluation) minimiseLosses(ctx context.Context, weights []*big.Rat) (values *solve.Values, upper *big.Rat, err error) {
	reward, total, err := multi.weightedLosses(ctx, weights)
	if err != nil {
		return nil, nil, err
	}
	endState := sparse.SetOf(multi.product.NumStates(), len(multi.memories))
	values, err = solve.ReachReward(ctx, multi.product, reward, endState, solve.Min, multi.optionsWithScheduler())
	if err != nil {
		return nil, nil, err
	}
	multi.recordConvergence(values)
	lower, _ := boundsOf(values, 0)
	if lower == nil {
		return nil, nil, errInfiniteCost
	}
	return values, total.Sub(total, lower), nil
}

// recordConvergence records whether an iteration ended at the limit of sweeps.
func (multi *multiEvaluation) recordConvergence(values *solve.Values) {
	if !values.Converged {
		multi.evaluation.hitSweepLimit = true
	}
}

// boundsOf returns the bounds of the value of state s as fractions. nil stands for infinity.
func boundsOf(values *solve.Values, s int) (lower, upper *big.Rat) {
	if values.Exact != nil {
		return values.Exact[s], values.Exact[s]
	}
	if !math.IsInf(values.Lower[s], 1) {
		lower = new(big.Rat).SetFloat64(values.Lower[s])
	}
	if !math.IsInf(values.Upper[s], 1) {
		upper = new(big.Rat).SetFloat64(values.Upper[s])
	}
	return lower, upper
}

// outOfRangeError returns the error that a number is too large or too small for float64.
func (multi *multiEvaluation) outOfRangeError() error {
	return multi.evaluation.unsupportedError(multi.evaluation.property.Expr, "found multi(...) with numbers beyond the range of float64")
}

// options returns the options of package solve for the value of one objective.
func (multi *multiEvaluation) options() solve.Options {
	opts := multi.evaluation.opts
	opts.Classic = false
	opts.Epsilon = max(opts.Epsilon/8, leastEpsilon) // narrow enough for a sum of several values
	return opts
}

// optionsWithScheduler returns options that also ask for an optimal scheduler.
func (multi *multiEvaluation) optionsWithScheduler() solve.Options {
	opts := multi.options()
	opts.Scheduler = true
	return opts
}

// minimisesReward reports whether some objective is a minimised reward.
func (multi *multiEvaluation) minimisesReward() bool {
	for _, objective := range multi.objectives {
		if objective.form == rewardForm && !objective.isMaximised {
			return true
		}
	}
	return false
}

// rewardSums sums weighted rewards of choices. rangeErr says that float64 cannot represent a sum, or a reward of an objective.
type rewardSums struct {
	sparse.Reward
	hasFractions bool
	rangeErr     error
}

// newRewardSums returns a reward structure of the product whose rewards are all 0, to which addWeighted adds. Its RelErr bounds the relative rounding
// error of the sums that addWeighted will compute.
func (multi *multiEvaluation) newRewardSums() *rewardSums {
	sums := &rewardSums{hasFractions: multi.evaluation.wantsFractions}
	sums.Choice = make([]float64, multi.product.NumChoices())
	if multi.evaluation.wantsFractions {
		sums.ChoiceFractions = make([]*big.Rat, multi.product.NumChoices())
	}
	for _, objective := range multi.objectives {
		if objective.form != rewardForm {
			continue
		}
		sums.RelErr = max(sums.RelErr, objective.reward.RelErr)
		if objective.reward.RangeErr != nil && !multi.evaluation.wantsFractions {
			sums.rangeErr = objective.reward.RangeErr
		}
	}
	// Each objective adds a state reward and a choice reward, multiplies by a weight, and adds to the sum. Each operation rounds by at most 2^-53.
	sums.RelErr += 0x1p-52 * float64(len(multi.objectives)+4)
	return sums
}

// addWeighted adds weight * amount to the reward of a choice. nearest is the float64 number nearest to amount. weight and amount are at least 0.
func (sums *rewardSums) addWeighted(choice int, weight, amount *big.Rat, nearest float64) {
	if weight.Sign() == 0 || nearest == 0 {
		return
	}
	weightFloat, _ := weight.Float64()
	sums.Choice[choice] += weightFloat * nearest
	if sums.hasFractions {
		if sums.ChoiceFractions[choice] == nil {
			sums.ChoiceFractions[choice] = new(big.Rat)
		}
		sums.ChoiceFractions[choice].Add(sums.ChoiceFractions[choice], new(big.Rat).Mul(weight, amount))
		return
	}
	if !sparse.InRange(sums.Choice[choice]) {
		sums.rangeErr = fmt.Errorf("found a weighted reward of %g, which is out of the range of float64", sums.Choice[choice])
	}
}

// finish returns the sums as a reward structure. Sums that are fractions get the nearest float64 number too. It is an error if a sum is out of the range
// of float64.
func (sums *rewardSums) finish() (*sparse.Reward, error) {
	for choice, exact := range sums.ChoiceFractions {
		if exact != nil {
			sums.Choice[choice], _ = sparse.NormalFloat(exact)
		}
	}
	return &sums.Reward, sums.rangeErr
}

// choiceReward returns the reward of an objective for a choice in state s of the product, as a fraction and as a float64 number. The fraction is
// nil for the reward 0, and in floating-point computations.
func (multi *multiEvaluation) choiceReward(objective *objective, s, choice int) (exact *big.Rat, nearest float64) {
	modelChoice := multi.modelChoice[choice]
	if modelChoice == sparse.None || !objective.countsRewards(multi.memories[s]) {
		return nil, 0
	}
	modelState := int(multi.memories[s].modelState)
	nearest = objective.reward.ChoiceTotal(modelState, int(modelChoice))
	if nearest == 0 || !multi.evaluation.wantsFractions {
		return nil, nearest
	}
	return objective.reward.ExactChoiceTotal(modelState, int(modelChoice)), nearest
}

// bestEnd returns the set of objectives that a path should satisfy if it ends in state s: the set in multi.satisfiedAtEnd[s] with the greatest
// total weight. It also returns this weight.
func (multi *multiEvaluation) bestEnd(s int, weights []*big.Rat) (best objectiveSet, weight *big.Rat) {
	for i, satisfied := range multi.satisfiedAtEnd[s] {
		total := multi.totalWeight(satisfied, weights)
		if i == 0 || total.Cmp(weight) > 0 {
			best = satisfied
			weight = total
		}
	}
	return best, weight
}

// totalWeight returns the sum of the weights of a set of objectives.
func (multi *multiEvaluation) totalWeight(set objectiveSet, weights []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i, weight := range weights {
		if set.contains(i) {
			sum.Add(sum, weight)
		}
	}
	return sum
}

// weightedRewards returns rewards of the product's choices whose expected total is the weighted sum of the objectives. No objective may be a
// minimised reward. A choice to the end state earns the weights of the path formulas that the path satisfies.
func (multi *multiEvaluation) weightedRewards(weights []*big.Rat) (*sparse.Reward, error) {
	sums := multi.newRewardSums()
	one := big.NewRat(1, 1)
	for s := range multi.memories {
		first, end := multi.product.Choices(s)
		for choice := first; choice < end; choice++ {
			for i, objective := range multi.objectives {
				exact, nearest := multi.choiceReward(objective, s, choice)
				sums.addWeighted(choice, weights[i], exact, nearest)
			}
		}
		if len(multi.satisfiedAtEnd[s]) > 0 {
			_, weight := multi.bestEnd(s, weights)
			sums.addWeighted(end-1, weight, one, 1)
		}
	}
	return sums.finish()
}

// weightedLosses returns a number total and the losses of the product's choices, which are at least 0. The weighted sum of the objectives is total
// minus the expected losses. A choice loses its minimised rewards, and the amount by which it lowers the maximum of each maximised reward. A
// choice to the end state loses the weights of the path formulas that the path does not satisfy.
func (multi *multiEvaluation) weightedLosses(ctx context.Context, weights []*big.Rat) (losses *sparse.Reward, total *big.Rat, err error) {
	maxRewards, total, err := multi.maximalTotal(ctx, weights)
	if err != nil {
		return nil, nil, err
	}
	sums := multi.newRewardSums()
	pathObjectives := multi.pathObjectives()
	one := big.NewRat(1, 1)
	for s := range multi.memories {
		first, end := multi.product.Choices(s)
		for choice := first; choice < end; choice++ {
			if err := multi.addLosses(sums, weights, maxRewards, s, choice); err != nil {
				return nil, nil, err
			}
		}
		if len(multi.satisfiedAtEnd[s]) > 0 {
			satisfied, _ := multi.bestEnd(s, weights)
			sums.addWeighted(end-1, multi.totalWeight(pathObjectives&^satisfied, weights), one, 1)
		}
	}
	losses, err = sums.finish()
	return losses, total, err
}

// maximalTotal returns total, an upper bound of the weighted sum of the objectives. It counts each path formula with probability 1, each maximised reward with
// its maximum, and each minimised reward with 0. maxRewards[i][s] is the maximum from state s if objective i is a maximised reward with a positive
// weight; otherwise maxRewards[i] is nil.
func (multi *multiEvaluation) maximalTotal(ctx context.Context, weights []*big.Rat) (maxRewards [][]*big.Rat, total *big.Rat, err error) {
	total = new(big.Rat)
	maxRewards = make([][]*big.Rat, len(multi.objectives))
	for i, objective := range multi.objectives {
		switch {
		case objective.form != rewardForm:
			total.Add(total, weights[i])
		case objective.isMaximised && weights[i].Sign() > 0:
			maxRewards[i], err = multi.maxReward(ctx, objective)
			if err != nil {
				return nil, nil, err
			}
			total.Add(total, new(big.Rat).Mul(weights[i], maxRewards[i][0]))
		}
	}
	return maxRewards, total, nil
}

// pathObjectives returns the set of the objectives that are path formulas.
func (multi *multiEvaluation) pathObjectives() objectiveSet {
	var set objectiveSet
	for i, objective := range multi.objectives {
		if objective.form != rewardForm {
			set |= 1 << i
		}
	}
	return set
}

// addLosses adds the losses of a choice in state s of the product to sums: the loss for each objective, times its weight. maxRewards[i] has the maximal
// reward of objective i from each state, or is nil.
func (multi *multiEvaluation) addLosses(sums *rewardSums, weights []*big.Rat, maxRewards [][]*big.Rat, s, choice int) error {
	for i, objective := range multi.objectives {
		exact, nearest, err := multi.lossOfChoice(objective, maxRewards[i], s, choice)
		if err != nil {
			return err
		}
		sums.addWeighted(choice, weights[i], exact, nearest)
	}
	return nil
}

// lossOfChoice returns the loss of a choice in state s of the product for one objective, as a fraction and as a float64 number. For a minimised
// reward the loss is the reward of the choice. For a maximised reward it is the amount by which the choice lowers the maximum. It is 0 for a
// path formula, and for a maximised reward with weight 0, whose maxRewards is nil.
func (multi *multiEvaluation) lossOfChoice(objective *objective, maxRewards []*big.Rat, s, choice int) (exact *big.Rat, nearest float64, err error) {
	switch {
	case objective.form != rewardForm, objective.isMaximised && maxRewards == nil:
		return nil, 0, nil
	case !objective.isMaximised:
		exact, nearest = multi.choiceReward(objective, s, choice)
		return exact, nearest, nil
	}
	exact, err = multi.loweredMaximum(objective, maxRewards, s, choice)
	if err != nil || exact.Sign() == 0 {
		return exact, 0, err
	}
	nearest, _ = sparse.NormalFloat(exact)
	return exact, nearest, nil
}

// gridBits is the number of bits from the greatest bound down to the grid that bounds are rounded to.
const gridBits = 45

// maxReward returns upper bounds u of the maximal total reward of an objective, one for each state of the product. They are inductive: u(s) >=
// reward(c) + sum of P(c,t) u(t) for each choice c of s. The bounds are cached.
func (multi *multiEvaluation) maxReward(ctx context.Context, objective *objective) ([]*big.Rat, error) {
	if objective.maxRewards != nil {
		return objective.maxRewards, nil
	}
	if multi.product.Fractions == nil {
		return nil, errNeedsFractions
	}
	reward, err := multi.productReward(objective)
	if err != nil {
		return nil, err
	}
	values, err := multi.inductiveTotalReward(ctx, reward)
	if err != nil {
		return nil, err
	}
	objective.maxRewards = make([]*big.Rat, multi.product.NumStates())
	for s := range objective.maxRewards {
		_, objective.maxRewards[s] = boundsOf(values, s)
		if objective.maxRewards[s] == nil {
			return nil, multi.outOfRangeError()
		}
	}
	return objective.maxRewards, nil
}

// productReward returns the rewards of an objective as a reward structure of the product, with the weight 1.
func (multi *multiEvaluation) productReward(objective *objective) (*sparse.Reward, error) {
	sums := multi.newRewardSums()
	one := big.NewRat(1, 1)
	for s := range multi.memories {
		first, end := multi.product.Choices(s)
		for choice := first; choice < end; choice++ {
			exact, nearest := multi.choiceReward(objective, s, choice)
			sums.addWeighted(choice, one, exact, nearest)
		}
	}
	return sums.finish()
}

// inductiveTotalReward computes bounds of the maximal total reward whose upper bounds are inductive without rounding. For this, all bounds are
// multiples of a power of two, opts.Grid, that fits the greatest upper bound of a first computation. Fractions need no grid.
func (multi *multiEvaluation) inductiveTotalReward(ctx context.Context, reward *sparse.Reward) (*solve.Values, error) {
	opts := multi.options()
	values, err := solve.TotalReward(ctx, multi.product, reward, solve.Max, opts)
	if err != nil || multi.evaluation.wantsFractions {
		return values, err
	}
	greatest := slices.Max(values.Upper)
	if greatest <= 0 {
		return values, nil
	}
	opts.Grid = math.Ldexp(1, math.Ilogb(greatest)-gridBits) // 2^(log2(greatest) - gridBits)
	return solve.TotalReward(ctx, multi.product, reward, solve.Max, opts)
}

// loweredMaximum returns maxRewards[s] - reward(c) - sum of P(c,t) maxRewards[t]: the amount by which a choice c in state s lowers the maximal
// reward that can still be earned. It is at least 0, because the bounds maxRewards are inductive.
func (multi *multiEvaluation) loweredMaximum(objective *objective, maxRewards []*big.Rat, s, choice int) (*big.Rat, error) {
	loss := new(big.Rat).Set(maxRewards[s])
	if modelChoice := multi.modelChoice[choice]; modelChoice != sparse.None && objective.countsRewards(multi.memories[s]) {
		loss.Sub(loss, objective.reward.ExactChoiceTotal(int(multi.memories[s].modelState), int(modelChoice)))
	}
	term := new(big.Rat)
	first, end := multi.product.Transitions(choice)
	for transition := first; transition < end; transition++ {
		loss.Sub(loss, term.Mul(multi.product.Fraction(transition), maxRewards[multi.product.Target[transition]]))
	}
	if loss.Sign() < 0 {
		return nil, multi.evaluation.unsupportedError(multi.evaluation.property.Expr, "found no upper bound of a reward in multi(...)")
	}
	return loss, nil
}

// attainedBounds returns, for each objective, a lower bound of its value under a scheduler of the product; choices[s] is the scheduler's choice in state
// s. The value of a minimised objective is negated. Where a path ends, it satisfies the set of objectives with the greatest total weight.
func (multi *multiEvaluation) attainedBounds(ctx context.Context, choices []uint32, weights []*big.Rat) ([]*big.Rat, error) {
	chain, origins, err := multi.inducedChain(ctx, choices)
	if err != nil {
		return nil, err
	}
	attained := make([]*big.Rat, len(multi.objectives))
	for i, objective := range multi.objectives {
		var values *solve.Values
		if objective.form == rewardForm {
			values, err = multi.attainedReward(ctx, chain, origins, objective)
		} else {
			satisfying := multi.endsThatSatisfy(i, origins, weights)
			values, err = solve.Until(ctx, chain, sparse.FullSet(chain.NumStates()), satisfying, solve.Max, multi.options())
		}
		if err != nil {
			return nil, err
		}
		attained[i] = objective.maximisedBound(values, 0)
		if attained[i] == nil {
			return nil, multi.outOfRangeError()
		}
	}
	return attained, nil
}

// maximisedBound returns a lower bound of the value of state s. For a minimised objective it returns a lower bound of the negated value. nil
// stands for an infinite bound.
func (objective *objective) maximisedBound(values *solve.Values, s int) *big.Rat {
	lower, upper := boundsOf(values, s)
	isMinimised := objective.form == rewardForm && !objective.isMaximised
	switch {
	case !isMinimised:
		return lower
	case upper != nil:
		return new(big.Rat).Neg(upper)
	}
	return nil
}

// attainedReward returns the expected total reward of an objective in an induced chain.
func (multi *multiEvaluation) attainedReward(ctx context.Context, chain *sparse.Graph, origins []origin, objective *objective) (*solve.Values, error) {
	reward, err := multi.chainReward(objective, origins)
	if err != nil {
		return nil, err
	}
	return solve.TotalReward(ctx, chain, reward, solve.Max, multi.options())
}

// endsThatSatisfy returns the states of an induced chain where the path ends and satisfies the objective with the given index. origins has the
// product state and the choice of each state of the chain.
func (multi *multiEvaluation) endsThatSatisfy(objective int, origins []origin, weights []*big.Rat) *sparse.Set {
	satisfying := sparse.NewSet(len(origins) + 1) // the additional state is the end state
	for chainState, origin := range origins {
		pathEnds := origin.choice == multi.lastChoice(origin.state) && len(multi.satisfiedAtEnd[origin.state]) > 0
		if !pathEnds {
			continue
		}
		satisfied, _ := multi.bestEnd(origin.state, weights)
		if satisfied.contains(objective) {
			satisfying.Add(chainState)
		}
	}
	return satisfying
}

// lastChoice returns the last choice of a state of the product.
func (multi *multiEvaluation) lastChoice(s int) int {
	_, end := multi.product.Choices(s)
	return end - 1
}

// origin is the state of the product that a state of an induced chain stands for, and the choice of the scheduler in it.
type origin struct{ state, choice int }

// inducedChain returns the Markov chain that a scheduler induces on the reachable states of the product. Its last state is the end state.
// origins has the product state and the choice of every other state of the chain.
func (multi *multiEvaluation) inducedChain(ctx context.Context, choices []uint32) (chain *sparse.Graph, origins []origin, err error) {
	origins, chainState, err := multi.reachedStates(ctx, choices)
	if err != nil {
		return nil, nil, err
	}
	endState := len(multi.memories)
	builder := sparse.NewDerivedBuilder(multi.product.Model, sparse.DTMC)
	newTarget := func(transition int) uint32 { return chainState[multi.product.Target[transition]] }
	for _, origin := range origins {
		builder.State()
		builder.Copy(origin.choice, newTarget)
	}
	builder.State()
	builder.Copy(multi.lastChoice(endState), newTarget)
	return sparse.NewGraph(builder.Finish()), origins, nil
}

// reachedStates returns the states of the product that a scheduler reaches, in breadth-first order and without the end state. chainState[s] is
// the position of product state s in this order, or sparse.None if the scheduler does not reach s. The end state has the last position.
func (multi *multiEvaluation) reachedStates(ctx context.Context, choices []uint32) (origins []origin, chainState []uint32, err error) {
	endState := uint32(len(multi.memories))
	chainState = slices.Repeat([]uint32{sparse.None}, multi.product.NumStates())
	chainState[0] = 0
	origins = []origin{multi.originOf(choices, 0)}
	for i := 0; i < len(origins); i++ {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		first, end := multi.product.Transitions(origins[i].choice)
		for _, target := range multi.product.Target[first:end] {
			if target != endState && chainState[target] == sparse.None {
				chainState[target] = uint32(len(origins))
				origins = append(origins, multi.originOf(choices, int(target)))
			}
		}
	}
	chainState[endState] = uint32(len(origins))
	return origins, chainState, nil
}

// originOf returns a state of the product with the choice of a scheduler. If the scheduler allows any choice, it takes the last choice.
func (multi *multiEvaluation) originOf(choices []uint32, s int) origin {
	if choices[s] == sparse.None {
		return origin{s, multi.lastChoice(s)}
	}
	return origin{s, int(choices[s])}
}

// chainReward returns the rewards of an objective in the states of an induced chain. The end state, which is the last state, has no reward.
func (multi *multiEvaluation) chainReward(objective *objective, origins []origin) (*sparse.Reward, error) {
	numStates := len(origins) + 1
	sums := &rewardSums{hasFractions: multi.evaluation.wantsFractions, Reward: sparse.Reward{RelErr: objective.reward.RelErr + 0x1p-52, Choice: make([]float64, numStates)}}
	if multi.evaluation.wantsFractions {
		sums.ChoiceFractions = make([]*big.Rat, numStates)
	}
	one := big.NewRat(1, 1)
	for chainState, origin := range origins {
		exact, nearest := multi.choiceReward(objective, origin.state, origin.choice)
		sums.addWeighted(chainState, one, exact, nearest)
	}
	return sums.finish()
}
