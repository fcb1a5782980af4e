package prove

import (
	"errors"
	"fmt"
	"math/big"
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
	c := &confirmation{file: file, translations: NewClaimFile(), space: space, atomicSets: make(map[int]certificate.Bits)}
	differences := make([]error, len(file.Claims))
	for i := range file.Claims {
		differences[i] = c.checkClaim(&file.Claims[i], props)
	}
	return differences
}

// confirmation compares the claims of a certificate with the translations of properties.
type confirmation struct {
	file         *certificate.File
	translations *ClaimFile // the claims to which the properties translate
	space        *explicit.Space
	order        []uint32
	atomicSets   map[int]certificate.Bits
}

// checkClaim returns nil if a property with the text that the claim quotes translates to the claim. If several properties have
// this text, one of them suffices, and otherwise the error is about the last one.
func (c *confirmation) checkClaim(claim *certificate.Claim, properties []*Property) error {
	lastErr := fmt.Errorf("the model has no property %q", claim.Property)
	for _, property := range properties {
		if property.Text != claim.Property {
			continue
		}
		claimIndex, err := c.translations.Add(property)
		if err != nil {
			return err
		}
		lastErr = c.sameClaim(claim, &c.translations.Claims[claimIndex])
		if lastErr == nil {
			return nil
		}
	}
	return lastErr
}

// sameClaim returns an error unless a claim of the certificate equals a translated claim.
func (c *confirmation) sameClaim(own, translated *certificate.Claim) error {
	same, err := c.equalClaims(own, translated)
	if err == nil && !same {
		return errors.New("the claim differs from its property")
	}
	return err
}

// equalClaims reports whether a claim of the certificate and a translated claim are about the same states, with equal vectors
// or sets.
func (c *confirmation) equalClaims(own, translated *certificate.Claim) (bool, error) {
	ownIsSet, translatedIsSet := own.Vector < 0, translated.Vector < 0
	if own.Complement != translated.Complement || own.Of != translated.Of || ownIsSet != translatedIsSet {
		return false, nil
	}
	if same, err := c.sameSet(own.Over, translated.Over); !same || err != nil {
		return false, err
	}
	if ownIsSet {
		return c.sameSet(own.Set, translated.Set)
	}
	return c.sameVector(own.Vector, translated.Vector)
}

// sameSet reports whether a set of the certificate equals a set of the translation. The arguments are the indexes of the sets.
func (c *confirmation) sameSet(own, translation int) (bool, error) {
	ownSet, translated := &c.file.Sets[own], &c.translations.Sets[translation]
	if ownSet.Kind != translated.Kind || len(ownSet.Sets) != len(translated.Sets) {
		return false, nil
	}
	switch ownSet.Kind {
	case certificate.Atomic:
		if same, err := c.sameAtomicSet(ownSet, translation); !same || err != nil {
			return false, err
		}
	case certificate.Bound:
		if ownSet.Relation != translated.Relation || ownSet.Threshold.Cmp(translated.Threshold) != 0 {
			return false, nil
		}
	}
	if ownSet.Compares() {
		if same, err := c.sameVector(ownSet.Vector, translated.Vector); !same || err != nil {
			return false, err
		}
	}
	return c.sameSets(ownSet.Sets, translated.Sets)
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

// sameAtomicSet reports whether an atomic set of the certificate has the same expression as an atomic set of the translation,
// whose index is given. It returns an error if they have the same expression, but different states.
func (c *confirmation) sameAtomicSet(ownSet *certificate.Set, translation int) (bool, error) {
	bits, err := c.atomicSet(translation)
	if err != nil {
		return false, err
	}
	if ownSet.Text != c.translations.Sets[translation].Text {
		return false, nil
	}
	if !slices.Equal(ownSet.Bits, bits) {
		return false, fmt.Errorf("the states of %s differ from those of the model", ownSet.Text)
	}
	return true, nil
}

// sameVector reports whether a vector of the certificate equals a vector of the translation. The arguments are the indexes of the
// vectors.
func (c *confirmation) sameVector(own, translation int) (bool, error) {
	ownVector, translated := &c.file.Vectors[own], &c.translations.Vectors[translation]
	ownSets, translatedSets := ownVector.Sets(), translated.Sets()
	if !c.sameFields(ownVector, translated) || len(ownSets) != len(translatedSets) {
		return false, nil
	}
	if same, err := c.sameSets(ownSets, translatedSets); !same || err != nil {
		return false, err
	}
	if ownVector.Shares != nil || translated.Shares != nil {
		return c.sameShares(ownVector.Shares, translated.Shares)
	}
	if ownVector.Given != nil || translated.Given != nil {
		return ownVector.Given != nil && translated.Given != nil && ownVector.Given.Avoids == translated.Given.Avoids, nil
	}
	if ownVector.Budgets != nil || translated.Budgets != nil {
		return sameBudgets(ownVector.Budgets, translated.Budgets), nil
	}
	if ownVector.Several != nil {
		return slices.EqualFunc(ownVector.Several.Objectives, translated.Several.Objectives, sameObjective), nil
	}
	if ownVector.Automaton == nil {
		return translated.Automaton == nil, nil
	}
	return sameAutomaton(ownVector.Automaton, translated.Automaton, ownVector.Kind == certificate.CoSafe)
}

// sameFields reports whether two vectors are equal in the fields that do not refer to sets. It ignores Max in a model without
// choices, and Reward in a probability.
func (c *confirmation) sameFields(ownVector, translated *certificate.Vector) bool {
	if ownVector.Kind != translated.Kind || ownVector.Paths != translated.Paths {
		return false
	}
	if c.file.Model.Kind == certificate.MDP && ownVector.Max != translated.Max {
		return false
	}
	if ownVector.From != translated.From || ownVector.To != translated.To || !sameTime(ownVector.Timed, translated.Timed) {
		return false
	}
	if !equalRats(ownVector.Discount, translated.Discount) {
		return false
	}
	switch ownVector.Kind {
	case certificate.Discounted, certificate.ReachReward, certificate.TotalReward, certificate.Cumulative, certificate.Instant, certificate.Average, certificate.CoSafe:
		return ownVector.Reward == translated.Reward
	}
	return true
}

// sameAutomaton rebuilds the translated automaton for the letters of the certificate's automaton, and reports
// whether both are equal.
func sameAutomaton(ownAutomaton, translated *certificate.Automaton, coSafe bool) (bool, error) {
	rebuilt := *translated
	rebuilt.Letters = ownAutomaton.Letters
	if err := buildAutomaton(&rebuilt, coSafe); err != nil {
		return false, err
	}
	sameFormula := reflect.DeepEqual(ownAutomaton.Formula, translated.Formula)
	sameNext := slices.EqualFunc(ownAutomaton.Next, rebuilt.Next, slices.Equal)
	sameJumps := slices.EqualFunc(ownAutomaton.Jumps, rebuilt.Jumps, slices.Equal)
	sameAccepting := slices.Equal(ownAutomaton.Accepting, rebuilt.Accepting)
	return sameFormula && sameNext && sameJumps && sameAccepting, nil
}

// sameObjective reports whether two objectives are equal except for their sets.
func sameObjective(x, y certificate.Objective) bool {
	return x.Reward == y.Reward && x.Steps == y.Steps && x.Great == y.Great && equalRats(x.Bound, y.Bound)
}

// sameShares reports whether a conditional vector has the shares of a translated one.
func (c *confirmation) sameShares(own, translated []certificate.Share) (bool, error) {
	if len(own) != len(translated) {
		return false, nil
	}
	for k := range own {
		if own[k].Complement != translated[k].Complement {
			return false, nil
		}
		if same, err := c.sameVector(own[k].Vector, translated[k].Vector); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameBudgets reports whether two lists of reward bounds are equal.
func sameBudgets(own, translated *certificate.Budgets) bool {
	return own != nil && translated != nil && slices.EqualFunc(own.Bounds, translated.Bounds, func(x, y certificate.Budget) bool {
		return x.Reward == y.Reward && x.LowStrict == y.LowStrict && x.HighStrict == y.HighStrict && equalRats(x.Low, y.Low) && equalRats(x.High, y.High)
	})
}

// sameTime reports whether two time bounds are equal. The rate and scale that the checker uses may differ.
func sameTime(x, y *certificate.Timed) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return equalRats(x.From, y.From) && equalRats(x.To, y.To)
}

// equalRats reports whether two fractions are equal. nil is only equal to nil.
func equalRats(x, y *big.Rat) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return x.Cmp(y) == 0
}

// atomicSet returns the states in which the expression of an atomic set of the translation holds, in the
// order of the certificate.
func (c *confirmation) atomicSet(set int) (certificate.Bits, error) {
	if bits, ok := c.atomicSets[set]; ok {
		return bits, nil
	}
	states, err := c.translations.atomicStates(c.space, set)
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
