package certify

import (
	"errors"
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/exact"
	"tilecheck/certify/omega"
	"tilecheck/certify/several"
	"tilecheck/certify/steps"
)

var one = big.NewRat(1, 1)

// proof is the check of a vector.
type proof struct {
	*checker
	vector            *certificate.Vector
	leftSet, rightSet set                  // the last two sets that the vector depends on: of an until formula, its operands
	maximizer         certificate.Bits     // of a game: the states whose choices maximize
	rewards           *certificate.Rewards // nil for a probability
}

// newProof prepares the check of a vector: it finds the sets on which the vector depends. It is an error if one of them is not proven.
func (c *checker) newProof(vector *certificate.Vector) (*proof, error) {
	p := &proof{checker: c, vector: vector}
	for _, set := range vector.Sets() {
		if err := c.sets[set].err; err != nil {
			return nil, err
		}
		p.leftSet, p.rightSet = p.rightSet, c.sets[set] // after the loop, these are the last two sets
	}
	if vector.Maximizer != 0 {
		if !c.sets[vector.Maximizer].isDecided() {
			return nil, errors.New("its maximizer is not decided in every state")
		}
		p.maximizer = c.sets[vector.Maximizer].bySide[lower]
	}
	return p, nil
}

// prove checks vector i by the rule for its kind. Some rules compute the bounds of the vector themselves, and set them in b.
func (c *checker) prove(i int, b *bounds) error {
	vector := &c.file.Vectors[i]
	p, err := c.newProof(vector)
	if err != nil {
		return err
	}
	if vector.Probability() {
		b.ceiling = one
	}
	switch vector.Kind {
	case certificate.PathFormula, certificate.CoSafe:
		return p.checkPathFormula(b)
	case certificate.Objectives:
		return p.checkObjectives(b)
	case certificate.RewardBounded, certificate.RewardWithinBounds:
		return p.checkRewardBounded()
	case certificate.Conditional:
		return p.checkConditional(b)
	case certificate.MaxConditional:
		return p.checkMaxConditional(b)
	case certificate.Until:
		return p.checkFixedPoint()
	case certificate.Steps, certificate.Next:
		return p.checkSteps(b)
	}
	if !p.rightSet.isDecided() {
		return errors.New("its target is not decided in every state")
	}
	p.rewards = c.StepRewards(vector.Reward, p.rightSet.bySide[lower])
	switch vector.Kind {
	case certificate.ReachReward, certificate.TotalReward:
		return p.checkFixedPoint()
	case certificate.Average:
		return p.checkAverage()
	case certificate.Discounted:
		return p.checkDiscountedReward(b)
	}
	return p.checkSteps(b)
}

// checkSteps checks a vector with a step or time bound (rule 4). It computes the bounds itself, and replaces the claimed bounds in b.
func (p *proof) checkSteps(b *bounds) (err error) {
	problem := &steps.Problem{
		Model: p.Model.Model, Weights: p.Weights, Vector: p.vector, Rewards: p.rewards,
		Left: p.leftSet.bySide, Right: p.rightSet.bySide,
	}
	switch {
	case p.vector.Kind == certificate.Instant: // nothing is earned by the steps
		problem.Rewards = nil
	case p.vector.Endless():
		if err := p.checkFixedPoint(); err != nil {
			return err
		}
		proven := *b
		problem.EndValue = proven.boundOf
	}
	b.bySide, err = problem.Values(p.ctx)
	return err
}

// holdsForChoices reports whether the condition holds for the choices of state s as the rules require. For a lower bound of a maximum and an upper bound
// of a minimum it must hold for some choice, otherwise for every choice. In a game, the owner of s determines whether the value is a maximum.
func (p *proof) holdsForChoices(s, side int, condition func(holdsForChoices int) bool) bool {
	first, end := p.Choices(s)
	maximizes := p.vector.IsMaximum
	if p.vector.Maximizer != 0 {
		maximizes = p.maximizer.Has(s)
	}
	isSomeEnough := maximizes == (side == lower)
	for c := first; c < end; c++ {
		if condition(c) == isSomeEnough {
			return isSomeEnough
		}
	}
	return !isSomeEnough
}

// checkFixedPoint checks the columns of an until formula (rule 1), a reachability reward (rule 2) or a total reward (rule 3). A column that is
// missing claims nothing.
func (p *proof) checkFixedPoint() error {
	valueInTarget := new(big.Rat)
	if p.isUntil() {
		valueInTarget = one
	}
	if p.vector.Lower != nil {
		if err := p.checkLowerValues(valueInTarget); err != nil {
			return err
		}
	}
	if p.vector.Upper == nil {
		return nil
	}
	return p.checkUpperValues(valueInTarget)
}

// isUntil reports whether checkFixedPoint applies rule 1.
func (p *proof) isUntil() bool { return p.rewards == nil }

// isTotal reports whether checkFixedPoint applies rule 3.
func (p *proof) isTotal() bool { return p.vector.Kind == certificate.TotalReward }

// isNearer reports whether choice c of state s has a successor with a smaller rank than s.
func (p *proof) isNearer(s, c int) bool {
	rank := p.vector.Rank
	return rank != nil && p.AnySuccessor(c, func(target int) bool { return rank[target] < rank[s] })
}

// checkLowerValues checks the lower bounds of a vector by the inequalities of rules 1, 2 and 3, and returns an error for the first state that violates
// them. valueInTarget is the value of every target state.
func (p *proof) checkLowerValues(valueInTarget *big.Rat) error {
	lowerValues, targetStates := p.vector.Lower, p.rightSet.bySide[lower]
	compareToTarget := lowerValues.Compare(valueInTarget)
	return p.checkStates("lower", func(s int) string {
		switch {
		case targetStates.Has(s):
			if compareToTarget(s) > 0 {
				return "the value is greater than the value of the target"
			}
		case lowerValues.Infinite.Has(s):
			if !p.isInfinite(s, func(c int) bool { return !p.isTotal() || p.rewards.IsPositive(c) || p.isNearer(s, c) }) {
				return "the layers do not prove that the value is infinite"
			}
		case !lowerValues.IsZero(s) && !p.hasLowerStep(s):
			return "the value is greater than the value after a step, or no successor is nearer to the target"
		}
		return ""
	})
}

// hasLowerStep reports whether the choices of state s justify its value in the lower column: some choice for a maximum, every choice for a
// minimum. A choice justifies the value if it satisfies the inequality, and if one of these holds:
//   - the vector is a reachability reward;
//   - the choice has a positive reward;
//   - a successor has a smaller rank, is a target, or has the value 0 or infinity.
func (p *proof) hasLowerStep(s int) bool {
	if p.isUntil() && !p.leftSet.bySide[lower].Has(s) {
		return false
	}
	lowerValues, targetStates := p.vector.Lower, p.rightSet.bySide[lower]
	endsAt := func(target int) bool {
		return targetStates.Has(target) || lowerValues.IsZero(target) || lowerValues.Infinite.Has(target)
	}
	isReachReward := !p.isUntil() && !p.isTotal()
	return p.holdsForChoices(s, lower, func(c int) bool {
		if p.Compare(lowerValues, lowerValues, s, c, p.rewards) > 0 {
			return false
		}
		return isReachReward || p.rewards.IsPositive(c) || p.isNearer(s, c) || p.AnySuccessor(c, endsAt)
	})
}

// checkUpperValues returns an error unless the upper column satisfies the inequalities of rules 1, 2 and 3. valueInTarget is the value of target
// states.
func (p *proof) checkUpperValues(valueInTarget *big.Rat) error {
	upperValues, targetStates := p.vector.Upper, p.rightSet.bySide
	compareToTarget := upperValues.Compare(valueInTarget)
	needsNoTarget := p.isUntil() || p.isTotal()
	return p.checkStates("upper", func(s int) string {
		if targetStates[upper].Has(s) {
			if compareToTarget(s) < 0 {
				return "the value is less than the value of the target"
			}
			return ""
		}
		if upperValues.Infinite.Has(s) || p.isUntil() && !p.leftSet.bySide[upper].Has(s) {
			return ""
		}
		if !p.holdsForChoices(s, upper, func(c int) bool {
			if p.Compare(upperValues, upperValues, s, c, p.rewards) < 0 {
				return false
			}
			return needsNoTarget || p.isNearer(s, c) || p.AnySuccessor(c, targetStates[lower].Has)
		}) {
			return "the value is less than the value after a step, or no successor is nearer to the target"
		}
		return ""
	})
}

// isInfinite reports whether the layers prove that the value of state s is infinite. A choice of s must have a successor in a lower layer, or be
// allowed and have all its successors in the layer of s. For a maximum some choice must, for a minimum every choice.
func (p *proof) isInfinite(s int, allowed func(choice int) bool) bool {
	layer, isInfinite := p.vector.Layer, p.vector.Lower.Infinite
	if layer == nil {
		return false
	}
	mayStayInLayer := !p.vector.IsMaximum || layer[s] == 0
	isInLowerLayer := func(target int) bool { return isInfinite.Has(target) && layer[target] < layer[s] }
	isInOtherLayer := func(target int) bool { return !isInfinite.Has(target) || layer[target] != layer[s] }
	return p.holdsForChoices(s, lower, func(c int) bool {
		if p.AnySuccessor(c, isInLowerLayer) {
			return true
		}
		return mayStayInLayer && allowed(c) && !p.AnySuccessor(c, isInOtherLayer)
	})
}

// checkAverage checks the gain and the bias of a long-run average (rule 5), for lower and for upper bounds. A gain that is missing claims nothing.
func (p *proof) checkAverage() error {
	gains, biases := [2]*certificate.Values{p.vector.Lower, p.vector.Upper}, [2]*certificate.Values{p.vector.LowerBias, p.vector.UpperBias}
	for side, gain := range gains {
		if gain == nil {
			continue
		}
		if biases[side] == nil {
			return errors.New("found no bias")
		}
		if err := p.checkGain(side, gain, biases[side]); err != nil {
			return err
		}
	}
	return nil
}

// checkGain returns an error unless a gain and a bias satisfy the inequalities of rule 5. side says whether the gain is a lower or an upper
// bound.
func (p *proof) checkGain(side int, gain, bias *certificate.Values) error {
	sum, sign := p.Sum(bias, gain), 2*side-1
	return p.checkStates(sideName(side), func(s int) string {
		if !p.holdsForChoices(s, side, func(c int) bool {
			return sign*p.Compare(gain, gain, s, c, nil) >= 0 && sign*p.Compare(sum, bias, s, c, p.rewards) >= 0
		}) {
			return "gain and bias do not satisfy the inequalities of rule 5"
		}
		return ""
	})
}

// sideName returns the name of a side for errors.
func sideName(side int) string {
	if side == upper {
		return "upper"
	}
	return "lower"
}

// checkPathFormula checks a path formula or a co-safe reward (rule 6). It applies rule 1 or rule 2 to the product of the model with the automaton.
func (p *proof) checkPathFormula(b *bounds) error {
	coSafe := p.vector.Kind == certificate.CoSafe
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	if err := omega.Agrees(p.ctx, p.vector.Automaton, coSafe); err != nil {
		return err
	}
	pairs, err := omega.Pairs(p.ctx, omega.Model(p.Model.Model, p.vector), p.vector.Automaton, sets, coSafe)
	if err != nil {
		return err
	}
	productProof, err := p.forProduct(pairs.Model, p.vector)
	if err != nil {
		return err
	}
	if coSafe {
		goal := pairs.Accepting()
		productProof.rightSet.bySide, productProof.rewards = [2]certificate.Bits{goal, goal}, pairs.LiftRewards(p.StepRewards(p.vector.Reward, nil))
		return productProof.checkFixedPoint()
	}
	allPairs, winningPairs, surePairs, err := omega.CheckRuns(p.ctx, pairs, p.vector, [2]*big.Rat{one, one})
	if err != nil {
		return err
	}
	productProof.leftSet.bySide, productProof.rightSet.bySide = [2]certificate.Bits{allPairs, allPairs}, [2]certificate.Bits{winningPairs[0], surePairs[0]}
	return productProof.checkFixedPoint()
}

// checkObjectives checks a multi-objective vector (rule 7). It applies rule 3 to the product of the model with the memory of the objectives.
func (p *proof) checkObjectives(b *bounds) error {
	sets, err := p.decidedSets()
	if err != nil {
		return err
	}
	b.bySide, err = several.Values(p.ctx, p.Model.Model, p.vector, sets, p.StepRewards, func(lemma several.Lemma) error {
		productProof, err := p.forProduct(lemma.Model, lemma.Vector)
		if productProof.rewards = lemma.Rewards; err != nil {
			return err
		}
		return productProof.checkFixedPoint()
	})
	return err
}

// decidedSets returns the sets on which the vector depends. It is an error if a set does not determine for every state whether the state is a
// member.
func (p *proof) decidedSets() (sets []certificate.Bits, err error) {
	for _, set := range p.vector.Sets() {
		if !p.sets[set].isDecided() {
			return nil, fmt.Errorf("set %d is not decided in every state", set)
		}
		sets = append(sets, p.sets[set].bySide[lower])
	}
	return sets, nil
}

// forProduct returns a proof about a vector of a product. The caller sets its sets and rewards.
func (p *proof) forProduct(model *certificate.Model, vector *certificate.Vector) (productProof *proof, err error) {
	productProof = &proof{checker: &checker{ctx: p.ctx, numStates: model.NumStates()}, vector: vector}
	productProof.Model, err = exact.New(p.ctx, model)
	return productProof, err
}
