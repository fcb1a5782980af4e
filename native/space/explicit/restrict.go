package explicit

import (
	"errors"
	"fmt"

	"tilecheck/native/space/sparse"
)

// Restrict returns the space of an MDP with only the given choices. States keep their numbers, and
// unreachable ones stay. It is an error if a state keeps no choice. The model's commands do not
// describe the restricted space, so rational weights cannot be computed later: the space must have
// them from the start, as an imported one.
func (s *Space) Restrict(choices *sparse.Set) (*Space, error) {
	if s.model.Kind != sparse.MDP {
		return nil, fmt.Errorf("the choices of a %v, want an MDP", s.model.Kind)
	}
	if s.blocks != nil {
		return nil, errors.New("the choices of a reduced model, want those of the model itself")
	}
	for i := range s.model.NumStates() {
		first, end := s.model.Choices(i)
		c := first
		for c < end && !choices.Has(c) {
			c++
		}
		if c == end {
			return nil, fmt.Errorf("state %d has no choice left", i)
		}
	}
	return &Space{
		compiled: s.compiled, codec: s.codec, store: s.store, model: s.model.Restrict(choices),
		overlaps: s.overlaps, merged: s.merged, fallback: s.fallback, rangeErr: s.rangeErr, prismDifferences: s.prismDifferences,
		imported: s.imported, rounded: s.rounded, normalised: s.normalised, restricted: true,
	}, nil
}

// Closed reports whether the space cannot be built again with rational weights, because it was
// imported or restricted.
func (s *Space) Closed() bool { return s.imported != nil || s.restricted }

// WithoutFractions returns the space with each rational weight replaced by the nearest float64,
// for callers that compute in floating point only. A space with interval weights, or with weights
// outside the range of float64, is returned unchanged.
func (s *Space) WithoutFractions() *Space {
	if s.rangeErr != nil || !s.model.Exact() || s.model.Intervals() {
		return s
	}
	out, m := *s, *s.model
	m.Rats = nil
	out.model = &m
	return &out
}
