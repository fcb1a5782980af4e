package explicit

import (
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/space/sparse"
)

// Restrict returns the space of an MDP with only the given choices. States keep their numbers, and unreachable
// states stay in the space. It is an error if a state has no choice left. The space has no fractions unless s has
// them.
func (s *Space) Restrict(choices *sparse.Set) (*Space, error) {
	if s.model.Kind != sparse.MDP {
		return nil, fmt.Errorf("found %s, wanted an MDP to restrict its choices", noun.WithArticle(s.model.Kind.String()))
	}
	if s.quotient != nil {
		return nil, errors.New("found a bisimulation quotient, wanted the model itself to restrict its choices")
	}
	for state := range s.model.NumStates() {
		first, end := s.model.Choices(state)
		choice := first
		for choice < end && !choices.Has(choice) {
			choice++
		}
		if choice == end {
			return nil, fmt.Errorf("state %d has no choice left", state)
		}
	}
	return &Space{
		compiled: s.compiled, codec: s.codec, store: s.store, model: s.model.Restrict(choices),
		overlaps: s.overlaps, merged: s.merged, fallback: s.fallback, rangeErr: s.rangeErr, prismDifferences: s.prismDifferences,
		imported: s.imported, rounded: s.rounded, normalised: s.normalised, restricted: true,
	}, nil
}

// Closed reports whether the space cannot be built again with rational weights. That is the case
// if it was imported or restricted.
func (s *Space) Closed() bool { return s.imported != nil || s.restricted }

// WithoutFractions returns the space with the nearest float64 numbers instead of fractions. It returns s unchanged
// if its weights are intervals or outside the range of float64.
func (s *Space) WithoutFractions() *Space {
	if s.rangeErr != nil || !s.model.Exact() || s.model.Intervals() {
		return s
	}
	copied, model := *s, *s.model
	model.Rats = nil
	copied.model = &model
	if s.quotient != nil {
		copied.quotient = s.quotient.withoutFractions()
	}
	return &copied
}
