//go:build !js

package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// maxBudgets is the greatest number of bounds.
const maxBudgets = 16

// Scaled returns the values multiplied by a factor, as fractions. All values must be finite.
func (values *Values) Scaled(factor *big.Rat) *Values {
	scaled := &Values{Fractions: make([]*big.Rat, values.Len())}
	for s := range scaled.Fractions {
		scaled.Fractions[s] = new(big.Rat).Mul(values.Rat(s), factor)
	}
	return scaled
}

// vectorSize returns an approximate upper bound of the length of a vector's statement. setSizes has the lengths of the texts of the sets, and
// nameSize is the length of the longest name of a reward structure.
func (file *File) vectorSize(index int, setSizes []int, nameSize int) int {
	vector := &file.Vectors[index]
	size := vector.textSize(setSizes, nameSize) + maxDigits(vector.Discount)
	for _, share := range vector.Shares {
		size += 2*file.Vectors[share.Vector].textSize(setSizes, nameSize) + 16
	}
	if vector.Budgets != nil {
		for _, bound := range vector.Budgets.Bounds {
			size += 16 + nameSize + maxDigits(bound.Low) + maxDigits(bound.High)
		}
	}
	return size
}

// validateExtension returns an error unless vector i has exactly those of these fields that its kind needs: a discount factor, reward bounds,
// shares, or bounds of a conditional probability. They must be valid.
func (file *File) validateExtension(vector *Vector, i int) error {
	hasDiscount, hasBudgets, hasShares, hasGiven := vector.Discount != nil, vector.Budgets != nil, vector.Shares != nil, vector.ConditionalBounds != nil
	hasRightFields := hasDiscount == (vector.Kind == Discounted) && hasBudgets == (vector.Kind == RewardBounded || vector.Kind == RewardWithinBounds) &&
		hasShares == (vector.Kind == Conditional) && hasGiven == (vector.Kind == MaxConditional)
	if !hasRightFields {
		return fmt.Errorf("found a discount factor, reward bounds or shares in a vector of kind %s, or none where they are wanted", vector.Kind)
	}
	switch vector.Kind {
	case Discounted:
		return file.validateDiscount(vector)
	case RewardBounded, RewardWithinBounds:
		return file.validateBudgets(vector)
	case Conditional:
		return file.validateShares(vector, i)
	case MaxConditional:
		return file.validateConditionalBounds(vector)
	}
	return nil
}

// validateDiscount returns an error unless the model is a DTMC or an MDP, and the discount factor is between 0 and 1.
func (file *File) validateDiscount(vector *Vector) error {
	factor := vector.Discount
	isFactorValid := factor.Sign() > 0 && factor.Cmp(big.NewRat(1, 1)) < 0 && maxDigits(factor) <= maxTime
	if file.Model.Kind == CTMC || vector.From != 0 || !isFactorValid {
		return fmt.Errorf("found the discount factor %s in a %s, or a first step, wanted one between 0 and 1 in a dtmc or an mdp", factor.RatString(), file.Model.Kind)
	}
	return nil
}

// validateBudgets returns an error unless the reward bounds of a vector are valid. The vector must have columns, whose length is the claimed
// number of states of the product: so the length of the file limits the work of building the product.
func (file *File) validateBudgets(vector *Vector) error {
	budgets := vector.Budgets
	switch {
	case file.Model.Kind == CTMC:
		return errors.New("found reward bounds in a ctmc, wanted a dtmc or an mdp")
	case len(budgets.Bounds) == 0 || len(budgets.Bounds) > maxBudgets:
		return fmt.Errorf("found %d reward bounds, wanted 1 to %d", len(budgets.Bounds), maxBudgets)
	case vector.Lower == nil || vector.Upper == nil || budgets.States < file.Model.NumStates():
		return errors.New("found fewer columns, or shorter ones, than the product with the rewards needs")
	}
	for i := range budgets.Bounds {
		if err := budgets.Bounds[i].validate(len(file.Model.Rewards)); err != nil {
			return err
		}
		if vector.Kind == RewardWithinBounds && budgets.Bounds[i].Low != nil {
			return errors.New("found a lower bound on the rewards within which a reward counts")
		}
	}
	return nil
}

// validate returns an error unless a reward bound has at least one valid number, and refers to an existing reward structure or, with -1, to
// steps.
func (bound *Budget) validate(numRewards int) error {
	if bound.Reward < -1 || bound.Reward >= numRewards {
		return fmt.Errorf("found reward structure %d of %d", bound.Reward, numRewards)
	}
	for _, number := range []*big.Rat{bound.Low, bound.High} {
		if number != nil && (number.Sign() < 0 || maxDigits(number) > maxTime) {
			return errors.New("found a reward bound that is negative or too long")
		}
	}
	if bound.Low == nil && bound.High == nil {
		return errors.New("found a reward bound without a number")
	}
	return nil
}

// validateCondition returns an error unless the condition is valid, and no transition leads into the excluded states or out of them. size is the
// number of operators of the formula.
func (a *Automaton) validateCondition(size int) error {
	if a.Condition == nil {
		if a.Excluded != nil {
			return errors.New("found excluded states of an automaton without a condition")
		}
		return nil
	}
	if len(a.Excluded) != len(a.Next) {
		return fmt.Errorf("found %d marks of excluded states, wanted %d", len(a.Excluded), len(a.Next))
	}
	for state, row := range a.Next {
		for _, target := range row {
			if a.Excluded[target] != a.Excluded[state] {
				return fmt.Errorf("state %d of the automaton leads into the excluded states or out of them", state)
			}
		}
	}
	return a.Condition.validate(len(a.Sets), &size)
}

// validateShares returns an error unless the shares of vector i are two earlier vectors of probabilities in a Markov chain.
func (file *File) validateShares(vector *Vector, i int) error {
	if file.Model.Kind == MDP || len(vector.Shares) != 2 {
		return fmt.Errorf("found %d shares in a model of kind %s, wanted two in a Markov chain", len(vector.Shares), file.Model.Kind)
	}
	for _, share := range vector.Shares {
		if share.Vector < 0 || share.Vector >= i {
			return fmt.Errorf("found a share of vector %d, wanted an earlier one", share.Vector)
		}
		shareVector := &file.Vectors[share.Vector]
		isPathProbability := shareVector.Probability() && !shareVector.ExistsPath && shareVector.Several == nil && shareVector.Kind != Conditional
		if !isPathProbability {
			return fmt.Errorf("found a share of a vector of kind %s, wanted the probability of a path formula", shareVector.Kind)
		}
	}
	return nil
}

// validateConditionalBounds returns an error unless the vector is a maximum of an MDP, and has a condition and two bounds that are probabilities.
func (file *File) validateConditionalBounds(vector *Vector) error {
	conditional := vector.ConditionalBounds
	if file.Model.Kind != MDP || !vector.IsMaximum {
		return fmt.Errorf("found a minimum, or a %s, wanted the maximum of an mdp", file.Model.Kind)
	}
	if vector.Automaton == nil || vector.Automaton.Condition == nil {
		return errors.New("found no condition")
	}
	for _, bound := range []*big.Rat{conditional.Lower, conditional.Upper} {
		isProbability := bound != nil && bound.Sign() >= 0 && bound.Cmp(big.NewRat(1, 1)) <= 0
		if !isProbability || maxDigits(bound) > maxTime {
			return errors.New("found a bound that is missing, too long, or no probability")
		}
	}
	return nil
}

// shareText returns a conditional probability as text: a/(a+b), where a and b are the shares.
func (file *File) shareText(vector *Vector) string {
	var texts []string
	for _, share := range vector.Shares {
		text := file.vectorText(&file.Vectors[share.Vector])
		if share.Complement {
			text = "1-" + text
		}
		texts = append(texts, "("+text+")")
	}
	return texts[0] + "/(" + texts[0] + "+" + texts[1] + ")"
}

// conditionText returns the text of a maximal conditional probability in PRISM's syntax.
func (file *File) conditionText(vector *Vector) string {
	automaton := vector.Automaton
	return "Pmax=? [ " + file.pathText(automaton, automaton.Formula) + " || " + file.pathText(automaton, automaton.Condition) + " ]"
}

// discountText returns the objective of a discounted reward.
func (vector *Vector) discountText() string {
	if vector.To < 0 {
		return "Cdiscount=" + vector.Discount.RatString()
	}
	return fmt.Sprintf("C<=%d discount=%s", vector.To, vector.Discount.RatString())
}

// budgetText returns the text of reward bounds, such as {"cost"}<=3.
func (file *File) budgetText(budgets *Budgets) string {
	var texts []string
	for _, bound := range budgets.Bounds {
		name := "{steps}"
		if bound.Reward >= 0 {
			name = file.Model.structureText(bound.Reward)
		}
		if bound.Low != nil {
			texts = append(texts, name+relationText(">", bound.LowStrict)+bound.Low.RatString())
		}
		if bound.High != nil {
			texts = append(texts, name+relationText("<", bound.HighStrict)+bound.High.RatString())
		}
	}
	return strings.Join(texts, ",")
}

// relationText returns a strict relation, < or >, or its non-strict version.
func relationText(relation string, isStrict bool) string {
	if isStrict {
		return relation
	}
	return relation + "="
}
