package prove

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit"
)

// Confirm returns, for every claim of a certificate, why it is not what answers the
// property of its text among those given, nil if it is: the sets and vectors are those of
// the translation, and the atomic sets those that the space has, whose states are in the
// certificate in PRISM's order. That the model is that of the space is not looked at.
func Confirm(f *certificate.File, space *explicit.Space, props []*Property) []error {
	c := &confirmation{f: f, k: NewSkeleton(), space: space, atoms: make(map[int]certificate.Bits)}
	out := make([]error, len(f.Claims))
	for i := range f.Claims {
		out[i] = c.claim(&f.Claims[i], props)
	}
	return out
}

type confirmation struct {
	f     *certificate.File
	k     *Skeleton
	space *explicit.Space
	order []uint32
	atoms map[int]certificate.Bits
}

// claim looks for a property that means the claim.
func (c *confirmation) claim(x *certificate.Claim, props []*Property) error {
	err := fmt.Errorf("its property %q is not among those of the model", x.Property)
	for _, p := range props {
		if p.Text != x.Property {
			continue
		}
		i, refused := c.k.Add(p)
		if refused != nil {
			return refused
		}
		if err = c.same(x, &c.k.Claims[i]); err == nil {
			return nil
		}
	}
	return err
}

func (c *confirmation) same(x, y *certificate.Claim) error {
	other := errors.New("what it proves is not its property")
	if x.Complement != y.Complement || x.Of != y.Of || (x.Vector < 0) != (y.Vector < 0) {
		return other
	}
	ok, err := c.set(x.Over, y.Over)
	switch {
	case !ok || err != nil:
	case x.Vector < 0:
		ok, err = c.set(x.Set, y.Set)
	default:
		ok, err = c.vector(x.Vector, y.Vector)
	}
	if err == nil && !ok {
		err = other
	}
	return err
}

// set reports whether set i of the certificate is set j of the translation.
func (c *confirmation) set(i, j int) (bool, error) {
	x, y := &c.f.Sets[i], &c.k.Sets[j]
	if x.Kind != y.Kind || len(x.Sets) != len(y.Sets) {
		return false, nil
	}
	switch x.Kind {
	case certificate.Atomic:
		bits, err := c.atom(j)
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
		if ok, err := c.vector(x.Vector, y.Vector); !ok || err != nil {
			return false, err
		}
	}
	for k := range x.Sets {
		if ok, err := c.set(x.Sets[k], y.Sets[k]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *confirmation) vector(i, j int) (bool, error) {
	x, y := &c.f.Vectors[i], &c.k.Vectors[j]
	of, as := x.Sets(), y.Sets()
	if x.Kind != y.Kind || c.f.Model.Kind == certificate.MDP && x.Max != y.Max || x.Paths != y.Paths || len(of) != len(as) || x.From != y.From || x.To != y.To || !sameTime(x.Timed, y.Timed) {
		return false, nil
	}
	if rewarded := x.Kind == certificate.ReachReward || x.Kind == certificate.TotalReward || x.Kind == certificate.Cumulative ||
		x.Kind == certificate.Instant || x.Kind == certificate.Average || x.Kind == certificate.CoSafe; rewarded && x.Reward != y.Reward {
		return false, nil
	}
	for k := range of {
		if ok, err := c.set(of[k], as[k]); !ok || err != nil {
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

// sameAutomaton reports whether an automaton is what is made of a formula, for its letters.
func sameAutomaton(x, y *certificate.Automaton, coSafe bool) (bool, error) {
	own := *y
	own.Letters = x.Letters
	if err := build(&own, coSafe); err != nil {
		return false, err
	}
	return reflect.DeepEqual(x.Formula, y.Formula) && slices.EqualFunc(x.Next, own.Next, slices.Equal) &&
		slices.EqualFunc(x.Jumps, own.Jumps, slices.Equal) && slices.Equal(x.Accepting, own.Accepting), nil
}

// sameObjective reports whether two objectives are the same but for their sets.
func sameObjective(x, y certificate.Objective) bool {
	if x.Bound == nil || y.Bound == nil {
		return x.Bound == nil && y.Bound == nil && x.Reward == y.Reward && x.Steps == y.Steps && x.Great == y.Great
	}
	return x.Reward == y.Reward && x.Steps == y.Steps && x.Great == y.Great && x.Bound.Cmp(y.Bound) == 0
}

// sameTime reports whether two times are the same, however they are let pass.
func sameTime(x, y *certificate.Timed) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return x.From.Cmp(y.From) == 0 && (x.To == nil) == (y.To == nil) && (x.To == nil || x.To.Cmp(y.To) == 0)
}

// atom returns the states in which the expression of an atomic set holds.
func (c *confirmation) atom(j int) (certificate.Bits, error) {
	if bits, ok := c.atoms[j]; ok {
		return bits, nil
	}
	states, err := c.space.States(c.k.Atoms[j])
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
	c.atoms[j] = bits
	return bits, nil
}
