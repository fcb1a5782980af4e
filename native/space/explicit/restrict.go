package explicit

import (
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/space/sparse"
)

// Restrict returns the space of an MDP in which only the given choices remain. States keep their numbers, and unreachable states stay in
// the space. It is an error if a state has no choice left. The result has fractions only if the space has them.
func (space *Space) Restrict(choices *sparse.Set) (*Space, error) {
	if space.model.Kind != sparse.MDP {
		return nil, fmt.Errorf("found %s, wanted an MDP to restrict its choices", noun.WithArticle(space.model.Kind.String()))
	}
	if space.quotient != nil {
		return nil, errors.New("found a bisimulation quotient, wanted the model itself to restrict its choices")
	}
	for state := range space.model.NumStates() {
		if !hasChoiceIn(space.model, state, choices) {
			return nil, fmt.Errorf("state %d has no choice left", state)
		}
	}
	return &Space{
		compiled: space.compiled, codec: space.codec, store: space.store, model: space.model.Restrict(choices),
		numOverlaps: space.numOverlaps, numMerged: space.numMerged, whyInterpreted: space.whyInterpreted, rangeErr: space.rangeErr, prismDifferences: space.prismDifferences,
		imported: space.imported, isRounded: space.isRounded, isNormalised: space.isNormalised, isRestricted: true,
	}, nil
}

// hasChoiceIn reports whether a state has one of the given choices.
func hasChoiceIn(model *sparse.Model, state int, choices *sparse.Set) bool {
	first, end := model.Choices(state)
	for choice := first; choice < end; choice++ {
		if choices.Has(choice) {
			return true
		}
	}
	return false
}

// Closed reports whether the space cannot be built again with rational weights. That is the case
// if it was imported or restricted.
func (space *Space) Closed() bool { return space.imported != nil || space.isRestricted }

// WithoutFractions returns the space with each fraction replaced by the nearest float64, for computations in float64. If the weights are intervals or
// outside the range of float64, it returns the space unchanged.
func (space *Space) WithoutFractions() *Space {
	if space.rangeErr != nil || !space.model.Exact() || space.model.Intervals() {
		return space
	}
	copied, model := *space, *space.model
	model.Fractions = nil
	copied.model = &model
	if space.quotient != nil {
		copied.quotient = space.quotient.withoutFractions()
	}
	return &copied
}
