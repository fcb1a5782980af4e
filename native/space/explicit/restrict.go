package explicit

import (
	"errors"
	"fmt"

	"tilecheck/native/space/sparse"
)

// Restrict returns the space of an MDP in which every state has only the choices of a
// set: what is left of it for a player who does nothing else. States keep their numbers,
// those that cannot be reached any more as well. It is an error if a state has no choice left.
//
// The text of the model knows nothing of the restriction, so fractions cannot be had
// later, as of an imported space: the space must have them from the start.
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
		overlaps: s.overlaps, merged: s.merged, fallback: s.fallback, unfit: s.unfit, differ: s.differ,
		imported: s.imported, rounded: s.rounded, normalised: s.normalised, restricted: true,
	}, nil
}

// Closed reports whether the space is all that will ever be known of its model: it was
// imported or restricted, and no space with fractions can be built in its place.
func (s *Space) Closed() bool { return s.imported != nil || s.restricted }

// WithoutFractions returns the space with the doubles nearest to its fractions, for whom reads
// nothing else. A space whose weights are not to be doubles is returned as it is.
func (s *Space) WithoutFractions() *Space {
	if s.unfit != nil || !s.model.Exact() || s.model.Intervals() {
		return s
	}
	out, m := *s, *s.model
	m.Rats = nil
	out.model = &m
	return &out
}
