package prove

import (
	"errors"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
)

// The program of the playground leaves out rare kinds of certificates, because every visitor loads it.

const leftOut = " in the program of the playground; use the command line"

var errLeftOut = errors.New("this kind of certificate is not" + leftOut)

func (translation *translation) discountedReward(formula *logic.Formula, _ certificate.Vector) (vectorValue, error) {
	return vectorValue{}, translation.unsupported(formula.Expr, "a discounted reward"+leftOut)
}

func (translation *translation) rewardWithinBounds(formula *logic.Formula, _ certificate.Vector) (vectorValue, error) {
	return vectorValue{}, translation.unsupported(formula.Expr, "reward bounds"+leftOut)
}

func (translation *translation) conditionalProbability(path *logic.Path, _ solve.Direction) (vectorValue, error) {
	return vectorValue{}, translation.unsupported(path.Expr, "a conditional probability"+leftOut)
}

func (translation *translation) rewardBoundedProbability(path *logic.Path, _ solve.Direction) (vectorValue, error) {
	return vectorValue{}, translation.unsupported(path.Expr, "reward bounds"+leftOut)
}

func (*vectorProof) discountedColumns() (*solve.Values, error) { return nil, errLeftOut }

func (*vectorProof) budgetColumns(_, _ *sparse.Set) (*solve.Values, error) { return nil, errLeftOut }

func (*vectorProof) conditionalBounds() (*solve.Values, error) { return nil, errLeftOut }

func (*vectorProof) maxConditional() (*solve.Values, error) { return nil, errLeftOut }

func buildConditionalAutomaton(*certificate.Automaton) error { return errLeftOut }

type budgetProduct struct{}
