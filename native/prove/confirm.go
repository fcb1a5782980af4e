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
func Confirm(file *certificate.File, space *explicit.Space, props []*Property) []error {
	c := &confirmation{file: file, skeleton: NewSkeleton(), space: space, atomicSets: make(map[int]certificate.Bits)}
	out := make([]error, len(file.Claims))
	for i := range file.Claims {
		out[i] = c.checkClaim(&file.Claims[i], props)
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

// checkClaim checks that a property of the model has the text of a claim and translates to this claim.
func (c *confirmation) checkClaim(claim *certificate.Claim, properties []*Property) error {
	err := fmt.Errorf("the model has no property %q", claim.Property)
	for _, property := range properties {
		if property.Text != claim.Property {
			continue
		}
		translated, unsupported := c.skeleton.Add(property)
		if unsupported != nil {
			return unsupported
		}
		if err = c.sameClaim(claim, &c.skeleton.Claims[translated]); err == nil {
			return nil
		}
	}
	return err
}

// sameClaim returns an error unless a claim of the certificate equals a translated claim.
func (c *confirmation) sameClaim(own, translated *certificate.Claim) error {
	same, err := c.equalClaims(own, translated)
	if err == nil && !same {
		return errors.New("the claim differs from its property")
	}
	return err
}

func (c *confirmation) equalClaims(own, translated *certificate.Claim) (bool, error) {
	if own.Complement != translated.Complement || own.Of != translated.Of || (own.Vector < 0) != (translated.Vector < 0) {
		return false, nil
	}
	if same, err := c.sameSet(own.Over, translated.Over); !same || err != nil {
		return false, err
	}
	if own.Vector < 0 {
		return c.sameSet(own.Set, translated.Set)
	}
	return c.sameVector(own.Vector, translated.Vector)
}

// sameSet reports whether set i of the certificate is set j of the translation.
func (c *confirmation) sameSet(i, j int) (bool, error) {
	own, translated := &c.file.Sets[i], &c.skeleton.Sets[j]
	if own.Kind != translated.Kind || len(own.Sets) != len(translated.Sets) {
		return false, nil
	}
	switch own.Kind {
	case certificate.Atomic:
		if same, err := c.sameAtomicSet(own, j); !same || err != nil {
			return false, err
		}
	case certificate.Bound:
		if own.Relation != translated.Relation || own.Threshold.Cmp(translated.Threshold) != 0 {
			return false, nil
		}
	}
	if own.Compares() {
		if same, err := c.sameVector(own.Vector, translated.Vector); !same || err != nil {
			return false, err
		}
	}
	return c.sameSets(own.Sets, translated.Sets)
}

// sameSets compares sets of the certificate with as many sets of the translation.
func (c *confirmation) sameSets(own, translated []int) (bool, error) {
	for k := range own {
		if same, err := c.sameSet(own[k], translated[k]); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameAtomicSet compares an atomic set of the certificate with set j of the translation. If they have the same
// expression, but other states, it returns an error.
func (c *confirmation) sameAtomicSet(own *certificate.Set, j int) (bool, error) {
	bits, err := c.atomicSet(j)
	if err != nil || own.Text != c.skeleton.Sets[j].Text {
		return false, err
	}
	if !slices.Equal(own.Bits, bits) {
		return false, fmt.Errorf("the model has other states of %s", own.Text)
	}
	return true, nil
}

// sameVector reports whether vector i of the certificate is vector j of the translation.
func (c *confirmation) sameVector(i, j int) (bool, error) {
	own, translated := &c.file.Vectors[i], &c.skeleton.Vectors[j]
	ownSets, translatedSets := own.Sets(), translated.Sets()
	if !c.sameFields(own, translated) || len(ownSets) != len(translatedSets) {
		return false, nil
	}
	if same, err := c.sameSets(ownSets, translatedSets); !same || err != nil {
		return false, err
	}
	if own.Several != nil {
		return slices.EqualFunc(own.Several.Objectives, translated.Several.Objectives, sameObjective), nil
	}
	if own.Automaton == nil {
		return translated.Automaton == nil, nil
	}
	return sameAutomaton(own.Automaton, translated.Automaton, own.Kind == certificate.CoSafe)
}

// sameFields compares the fields of two vectors that refer to no set. In a model without choices Max is not used,
// and in a probability Reward is not.
func (c *confirmation) sameFields(own, translated *certificate.Vector) bool {
	if own.Kind != translated.Kind || own.Paths != translated.Paths {
		return false
	}
	if c.file.Model.Kind == certificate.MDP && own.Max != translated.Max {
		return false
	}
	if own.From != translated.From || own.To != translated.To || !sameTime(own.Timed, translated.Timed) {
		return false
	}
	switch own.Kind {
	case certificate.ReachReward, certificate.TotalReward, certificate.Cumulative, certificate.Instant, certificate.Average, certificate.CoSafe:
		return own.Reward == translated.Reward
	}
	return true
}

// sameAutomaton rebuilds the translated automaton for the letters of the certificate's automaton, and reports
// whether both are equal.
func sameAutomaton(own, translated *certificate.Automaton, coSafe bool) (bool, error) {
	rebuilt := *translated
	rebuilt.Letters = own.Letters
	if err := buildAutomaton(&rebuilt, coSafe); err != nil {
		return false, err
	}
	return reflect.DeepEqual(own.Formula, translated.Formula) && slices.EqualFunc(own.Next, rebuilt.Next, slices.Equal) &&
		slices.EqualFunc(own.Jumps, rebuilt.Jumps, slices.Equal) && slices.Equal(own.Accepting, rebuilt.Accepting), nil
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

// atomicSet returns the states in which the expression of an atomic set of the translation holds, in the
// order of the certificate.
func (c *confirmation) atomicSet(set int) (certificate.Bits, error) {
	if bits, ok := c.atomicSets[set]; ok {
		return bits, nil
	}
	states, err := c.skeleton.atomicStates(c.space, set)
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
	c.atomicSets[set] = bits
	return bits, nil
}
