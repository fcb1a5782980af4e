package prove

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/space/explicit"
)

// Confirm compares a certificate with the properties whose texts its claims quote.
// For every claim it returns nil if the claim is what the property translates to: the same sets and vectors,
// and atomic sets with the states that the space has, in PRISM's order. Otherwise the error says what differs.
// Confirm does not compare the certificate's model with the space.
func Confirm(f *certificate.File, space *explicit.Space, props []*Property) []error {
	c := &confirmation{file: f, skeleton: NewSkeleton(), space: space, atomicSets: make(map[int]certificate.Bits)}
	out := make([]error, len(f.Claims))
	for i := range f.Claims {
		out[i] = c.checkClaim(&f.Claims[i], props)
	}
	return out
}

// confirmation compares the claims of a certificate with the translations of properties.
type confirmation struct {
	file       *certificate.File
	skeleton   *Skeleton
	space      *explicit.Space
	order      []uint32
	atomicSets map[int]certificate.Bits
}

// checkClaim looks for a property with the claim's text that translates to the claim.
func (c *confirmation) checkClaim(x *certificate.Claim, props []*Property) error {
	err := fmt.Errorf("its property %q is not among those of the model", x.Property)
	for _, p := range props {
		if p.Text != x.Property {
			continue
		}
		i, refused := c.skeleton.Add(p)
		if refused != nil {
			return refused
		}
		if err = c.sameClaim(x, &c.skeleton.Claims[i]); err == nil {
			return nil
		}
	}
	return err
}

// sameClaim compares a claim of the certificate with one of the translation.
func (c *confirmation) sameClaim(x, y *certificate.Claim) error {
	mismatch := errors.New("what it proves is not its property")
	if x.Complement != y.Complement || x.Of != y.Of || (x.Vector < 0) != (y.Vector < 0) {
		return mismatch
	}
	ok, err := c.sameSet(x.Over, y.Over)
	switch {
	case !ok || err != nil:
	case x.Vector < 0:
		ok, err = c.sameSet(x.Set, y.Set)
	default:
		ok, err = c.sameVector(x.Vector, y.Vector)
	}
	if err == nil && !ok {
		err = mismatch
	}
	return err
}

// set reports whether set i of the certificate is set j of the translation.
func (c *confirmation) sameSet(i, j int) (bool, error) {
	x, y := &c.file.Sets[i], &c.skeleton.Sets[j]
	if x.Kind != y.Kind || len(x.Sets) != len(y.Sets) {
		return false, nil
	}
	switch x.Kind {
	case certificate.Atomic:
		bits, err := c.atomicSet(j)
		if err != nil || x.Text != y.Text {
			return false, err
		}
		if !slices.Equal(x.Bits, bits) {
			return false, fmt.Errorf("its states of %s are others", x.Text)
		}
	case certificate.Bound:
		if x.Relation != y.Relation || x.Threshold.Cmp(y.Threshold) != 0 {
			return false, nil
		}
	}
	if x.Compares() {
		if ok, err := c.sameVector(x.Vector, y.Vector); !ok || err != nil {
			return false, err
		}
	}
	for k := range x.Sets {
		if ok, err := c.sameSet(x.Sets[k], y.Sets[k]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameVector reports whether vector i of the certificate is vector j of the translation.
func (c *confirmation) sameVector(i, j int) (bool, error) {
	x, y := &c.file.Vectors[i], &c.skeleton.Vectors[j]
	xSets, ySets := x.Sets(), y.Sets()
	if x.Kind != y.Kind || c.file.Model.Kind == certificate.MDP && x.Max != y.Max || x.Paths != y.Paths || len(xSets) != len(ySets) || x.From != y.From || x.To != y.To || !sameTime(x.Timed, y.Timed) {
		return false, nil
	}
	if usesReward := x.Kind == certificate.ReachReward || x.Kind == certificate.TotalReward || x.Kind == certificate.Cumulative ||
		x.Kind == certificate.Instant || x.Kind == certificate.Average || x.Kind == certificate.CoSafe; usesReward && x.Reward != y.Reward {
		return false, nil
	}
	for k := range xSets {
		if ok, err := c.sameSet(xSets[k], ySets[k]); !ok || err != nil {
			return false, err
		}
	}
	if x.Several != nil {
		return slices.EqualFunc(x.Several.Objectives, y.Several.Objectives, sameObjective), nil
	}
	if x.Automaton == nil {
		return y.Automaton == nil, nil
	}
	return sameAutomaton(x.Automaton, y.Automaton, x.Kind == certificate.CoSafe)
}

// sameAutomaton reports whether x is the automaton built from the formula of y over the letters of x.
func sameAutomaton(x, y *certificate.Automaton, coSafe bool) (bool, error) {
	own := *y
	own.Letters = x.Letters
	if err := buildAutomaton(&own, coSafe); err != nil {
		return false, err
	}
	return reflect.DeepEqual(x.Formula, y.Formula) && slices.EqualFunc(x.Next, own.Next, slices.Equal) &&
		slices.EqualFunc(x.Jumps, own.Jumps, slices.Equal) && slices.Equal(x.Accepting, own.Accepting), nil
}

// sameObjective compares two objectives except for their sets.
func sameObjective(x, y certificate.Objective) bool {
	if x.Bound == nil || y.Bound == nil {
		return x.Bound == nil && y.Bound == nil && x.Reward == y.Reward && x.Steps == y.Steps && x.Great == y.Great
	}
	return x.Reward == y.Reward && x.Steps == y.Steps && x.Great == y.Great && x.Bound.Cmp(y.Bound) == 0
}

// sameTime compares two time bounds. The rate and scale that the checker uses may differ.
func sameTime(x, y *certificate.Timed) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return x.From.Cmp(y.From) == 0 && (x.To == nil) == (y.To == nil) && (x.To == nil || x.To.Cmp(y.To) == 0)
}

// atomicSet returns the states in which the expression of an atomic set of the translation holds.
func (c *confirmation) atomicSet(j int) (certificate.Bits, error) {
	if bits, ok := c.atomicSets[j]; ok {
		return bits, nil
	}
	states, err := c.space.States(c.skeleton.Atoms[j])
	if err != nil {
		return nil, err
	}
	if c.order == nil {
		c.order = c.space.Order()
	}
	bits := certificate.NewBits(len(c.order))
	for k, s := range c.order {
		if states.Has(int(s)) {
			bits.Add(k)
		}
	}
	c.atomicSets[j] = bits
	return bits, nil
}
