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

// Confirm checks that each claim of a certificate is about the property that it quotes. It translates the property to a claim, and compares the
// sets, the vectors and the states of atomic sets in PRISM's order. The error of a claim is nil if they are equal. Confirm does not compare the
// certificate's model with the space.
func Confirm(file *certificate.File, space *explicit.Space, props []*Property) []error {
	confirmation := &confirmation{file: file, translations: NewClaimFile(), space: space, atomicSets: make(map[int]certificate.Bits)}
	differences := make([]error, len(file.Claims))
	for i := range file.Claims {
		differences[i] = confirmation.checkClaim(&file.Claims[i], props)
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

// checkClaim checks a claim of a certificate against the properties of the model: some property must have the text that the claim quotes, and must
// translate to the claim. The error is about the last property with this text.
func (confirmation *confirmation) checkClaim(claim *certificate.Claim, properties []*Property) error {
	lastErr := fmt.Errorf("the model has no property %q", claim.Property)
	for _, property := range properties {
		if property.Text != claim.Property {
			continue
		}
		claimIndex, err := confirmation.translations.Add(property)
		if err != nil {
			return err
		}
		lastErr = confirmation.compareClaims(claim, &confirmation.translations.Claims[claimIndex])
		if lastErr == nil {
			return nil
		}
	}
	return lastErr
}

// compareClaims returns an error if a claim of the certificate differs from a translated claim.
func (confirmation *confirmation) compareClaims(certified, translated *certificate.Claim) error {
	isEqual, err := confirmation.equalClaims(certified, translated)
	if err == nil && !isEqual {
		return errors.New("the property means something else in this model, for example because a label has changed")
	}
	return err
}

// equalClaims reports whether a claim of the certificate equals a translated claim: both are for the same states, and have the same set or
// vector.
func (confirmation *confirmation) equalClaims(certified, translated *certificate.Claim) (bool, error) {
	certifiesSet, translatesToSet := certified.Vector < 0, translated.Vector < 0
	if certified.Complement != translated.Complement || certified.Operator != translated.Operator || certifiesSet != translatesToSet {
		return false, nil
	}
	if isEqual, err := confirmation.equalSets(certified.OverSet, translated.OverSet); !isEqual || err != nil {
		return false, err
	}
	if certifiesSet {
		return confirmation.equalSets(certified.Set, translated.Set)
	}
	return confirmation.equalVectors(certified.Vector, translated.Vector)
}

// equalSets reports whether a set of the certificate equals a translated set. The parameters are the indexes of the sets.
func (confirmation *confirmation) equalSets(certifiedIndex, translatedIndex int) (bool, error) {
	certified, translated := &confirmation.file.Sets[certifiedIndex], &confirmation.translations.Sets[translatedIndex]
	if certified.Kind != translated.Kind || len(certified.Sets) != len(translated.Sets) {
		return false, nil
	}
	switch certified.Kind {
	case certificate.Atomic:
		if isEqual, err := confirmation.equalAtomicSets(certified, translatedIndex); !isEqual || err != nil {
			return false, err
		}
	case certificate.Bound:
		if certified.Relation != translated.Relation || certified.Threshold.Cmp(translated.Threshold) != 0 {
			return false, nil
		}
	}
	if certified.DependsOnValues() {
		if isEqual, err := confirmation.equalVectors(certified.Vector, translated.Vector); !isEqual || err != nil {
			return false, err
		}
	}
	return confirmation.equalSetLists(certified.Sets, translated.Sets)
}

// equalSetLists reports whether each set of the certificate equals the translated set at the same position. The lists have equal lengths.
func (confirmation *confirmation) equalSetLists(certified, translated []int) (bool, error) {
	for position := range certified {
		if isEqual, err := confirmation.equalSets(certified[position], translated[position]); !isEqual || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalAtomicSets reports whether an atomic set of the certificate has the same expression as a translated atomic set. It is an error if the expressions
// are equal but the sets have different states.
func (confirmation *confirmation) equalAtomicSets(certified *certificate.Set, translatedIndex int) (bool, error) {
	states, err := confirmation.atomicSet(translatedIndex)
	if err != nil {
		return false, err
	}
	if certified.Text != confirmation.translations.Sets[translatedIndex].Text {
		return false, nil
	}
	if !slices.Equal(certified.Bits, states) {
		return false, fmt.Errorf("the states of %s differ from those of the model", certified.Text)
	}
	return true, nil
}

// equalVectors reports whether a vector of the certificate equals a translated vector. The parameters are the indexes of the vectors.
func (confirmation *confirmation) equalVectors(certifiedIndex, translatedIndex int) (bool, error) {
	certified, translated := &confirmation.file.Vectors[certifiedIndex], &confirmation.translations.Vectors[translatedIndex]
	certifiedSets, translatedSets := certified.Sets(), translated.Sets()
	if !confirmation.equalFields(certified, translated) || len(certifiedSets) != len(translatedSets) {
		return false, nil
	}
	if isEqual, err := confirmation.equalSetLists(certifiedSets, translatedSets); !isEqual || err != nil {
		return false, err
	}
	switch {
	case certified.Shares != nil || translated.Shares != nil:
		return confirmation.equalShares(certified.Shares, translated.Shares)
	case certified.Budgets != nil || translated.Budgets != nil:
		return equalBudgets(certified.Budgets, translated.Budgets), nil
	case certified.Several != nil:
		return slices.EqualFunc(certified.Several.Objectives, translated.Several.Objectives, equalObjectives), nil
	case certified.Automaton == nil:
		return translated.Automaton == nil, nil
	}
	return equalAutomata(certified.Automaton, translated.Automaton, certified.Kind == certificate.CoSafe)
}

// equalFields reports whether two vectors are equal in the fields that do not refer to sets. It ignores IsMaximum in a model without choices, and
// Reward in a probability.
func (confirmation *confirmation) equalFields(certified, translated *certificate.Vector) bool {
	hasChoices := confirmation.file.Model.Kind == certificate.MDP
	switch {
	case certified.Kind != translated.Kind || certified.ExistsPath != translated.ExistsPath,
		hasChoices && certified.IsMaximum != translated.IsMaximum,
		certified.From != translated.From || certified.To != translated.To,
		!equalTimes(certified.Timed, translated.Timed),
		!equalRats(certified.Discount, translated.Discount):
		return false
	}
	switch certified.Kind {
	case certificate.Discounted, certificate.ReachReward, certificate.TotalReward, certificate.Cumulative, certificate.Instant, certificate.Average, certificate.CoSafe, certificate.RewardWithinBounds:
		return certified.Reward == translated.Reward
	}
	return true
}

// equalAutomata builds the translated automaton for the letters of the certificate's automaton, and reports whether both automata are equal.
func equalAutomata(certified, translated *certificate.Automaton, coSafe bool) (bool, error) {
	built := *translated
	built.Letters = certified.Letters
	if err := buildAutomaton(&built, coSafe); err != nil {
		return false, err
	}
	isEqual := reflect.DeepEqual(certified.Formula, built.Formula) && reflect.DeepEqual(certified.Condition, built.Condition) &&
		slices.Equal(certified.Excluded, built.Excluded) &&
		slices.EqualFunc(certified.Next, built.Next, slices.Equal) &&
		slices.EqualFunc(certified.Jumps, built.Jumps, slices.Equal) &&
		slices.Equal(certified.Accepting, built.Accepting)
	return isEqual, nil
}

// equalObjectives reports whether two objectives are equal in the fields that do not refer to sets.
func equalObjectives(left, right certificate.Objective) bool {
	return left.Reward == right.Reward && left.Steps == right.Steps && left.Maximised == right.Maximised && equalRats(left.Bound, right.Bound)
}

// equalShares reports whether the vectors of two conditional probabilities have equal shares. A share is a vector, or 1 minus a vector.
func (confirmation *confirmation) equalShares(certified, translated []certificate.Share) (bool, error) {
	if len(certified) != len(translated) {
		return false, nil
	}
	for index := range certified {
		if certified[index].Complement != translated[index].Complement {
			return false, nil
		}
		if isEqual, err := confirmation.equalVectors(certified[index].Vector, translated[index].Vector); !isEqual || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalBudgets reports whether two lists of reward bounds are equal.
func equalBudgets(certified, translated *certificate.Budgets) bool {
	return certified != nil && translated != nil && slices.EqualFunc(certified.Bounds, translated.Bounds, func(x, y certificate.Budget) bool {
		return x.Reward == y.Reward && x.LowStrict == y.LowStrict && x.HighStrict == y.HighStrict && equalRats(x.Low, y.Low) && equalRats(x.High, y.High)
	})
}

// equalTimes reports whether two time bounds are equal. It ignores the rate and the scale.
func equalTimes(left, right *certificate.Timed) bool {
	if left == nil || right == nil {
		return left == nil && right == nil
	}
	return equalRats(left.From, right.From) && equalRats(left.To, right.To)
}

// equalRats reports whether two fractions are equal. nil is only equal to nil.
func equalRats(left, right *big.Rat) bool {
	if left == nil || right == nil {
		return left == nil && right == nil
	}
	return left.Cmp(right) == 0
}

// atomicSet returns the states of a translated atomic set, in the order of the certificate. It computes them at the first call for a set.
func (confirmation *confirmation) atomicSet(set int) (certificate.Bits, error) {
	if bits, isKnown := confirmation.atomicSets[set]; isKnown {
		return bits, nil
	}
	states, err := confirmation.translations.atomicStates(confirmation.space, set)
	if err != nil {
		return nil, err
	}
	if confirmation.order == nil {
		confirmation.order = confirmation.space.Order()
	}
	bits := certificate.NewBits(len(confirmation.order))
	for position, s := range confirmation.order {
		if states.Has(int(s)) {
			bits.Add(position)
		}
	}
	confirmation.atomicSets[set] = bits
	return bits, nil
}
