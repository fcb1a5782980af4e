package certificate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// maxText is the greatest length of a statement in bytes.
const maxText = 1 << 20

// Sets returns the indices of the sets on which the vector depends.
func (v *Vector) Sets() []int {
	switch v.Kind {
	case RewardBounded:
		return []int{v.Left, v.Right}
	case Until, Steps:
		if v.Maximizer != 0 {
			return []int{v.Maximizer, v.Left, v.Right}
		}
		return []int{v.Left, v.Right}
	case Next, ReachReward:
		return []int{v.Right}
	case Average:
		if v.Reward < 0 {
			return []int{v.Right}
		}
	case PathFormula, CoSafe, MaxConditional:
		if v.Automaton != nil {
			return v.Automaton.Sets
		}
	case Objectives:
		var sets []int
		for _, objective := range v.Several.Objectives {
			if objective.Reward < 0 {
				sets = append(sets, objective.Left, objective.Right)
			}
		}
		return sets
	}
	return nil
}

// textSize returns an approximate upper bound of the length of the vector's statement, without the parts that vectorSize adds. setSizes has the
// lengths of the texts of the sets, and nameSize is the length of the longest name of a reward structure.
func (v *Vector) textSize(setSizes []int, nameSize int) int {
	size := 64 + nameSize
	if timed := v.Timed; timed != nil {
		size += maxDigits(timed.From) + maxDigits(timed.To)
	}
	if v.Several != nil {
		for _, objective := range v.Several.Objectives {
			size += 64 + nameSize + maxDigits(objective.Bound)
		}
	}
	if v.Automaton != nil {
		for _, formula := range []*Formula{v.Automaton.Formula, v.Automaton.Condition} {
			formula.walk(func(formula *Formula) {
				size += 24
				if formula.Op == "p" {
					size += setSizes[v.Automaton.Sets[formula.Prop]]
				}
			})
		}
		return size
	}
	for _, set := range v.Sets() {
		size += setSizes[set]
	}
	return size
}

// maxDigits returns an upper bound on the length of the text of a fraction, or 0 for nil.
func maxDigits(fraction *big.Rat) int {
	if fraction == nil {
		return 0
	}
	return 8 + (fraction.Num().BitLen()+fraction.Denom().BitLen())/3
}

// Probability reports whether the values are probabilities.
func (v *Vector) Probability() bool {
	switch v.Kind {
	case Objectives:
		query := v.Several.Query()
		return query == nil || query.Reward < 0
	case Until, Steps, Next, PathFormula, RewardBounded, Conditional, MaxConditional:
		return true
	}
	return false
}

// Validate returns an error unless the file is well formed: its references, the lengths of its columns, and its model. It does not check that
// the values prove anything.
func (file *File) Validate() error {
	if err := file.Model.Validate(); err != nil {
		return err
	}
	n := file.Model.NumStates()
	for i := range file.Vectors {
		vector := &file.Vectors[i]
		if (vector.Several != nil) != (vector.Kind == Objectives) {
			return fmt.Errorf("vector %d: found several objectives in a vector of kind %s, or none where they are wanted", i, vector.Kind)
		}
		if err := cmp.Or(file.validateVector(vector), file.validateExtension(vector, i), checkLengths(vector.columns(n))); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
	}
	for i := range file.Sets {
		set := &file.Sets[i]
		if err := cmp.Or(file.validateSet(set, i), checkLengths(set.columns(n))); err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
	}
	if err := file.checkTextSizes(); err != nil {
		return err
	}
	for i := range file.Claims {
		if err := file.validateClaim(&file.Claims[i]); err != nil {
			return fmt.Errorf("claim %d: %w", i, err)
		}
	}
	return nil
}

// checkTextSizes returns an error if the text of a set or a vector could be too long. A text contains the texts of other sets and vectors, so
// that its length could be exponential.
func (file *File) checkTextSizes() error {
	sizes, maxName := make([]int, len(file.Sets)), 0 // bounds on the lengths of the sets' texts, and the length of the longest reward name
	for _, reward := range file.Model.Rewards {
		maxName = max(maxName, len(strconv.Quote(reward.Name)))
	}
	for i := range file.Sets {
		set := &file.Sets[i]
		sizes[i] = 32 + len(set.Text) + maxDigits(set.Threshold)
		for _, operand := range set.Sets {
			sizes[i] += sizes[operand]
		}
		if set.DependsOnValues() {
			sizes[i] += file.vectorSize(set.Vector, sizes, maxName)
		}
		if sizes[i] > maxText {
			return fmt.Errorf("set %d: found more than %d bytes to say what it is", i, maxText)
		}
	}
	for i := range file.Vectors {
		if file.vectorSize(i, sizes, maxName) > maxText {
			return fmt.Errorf("vector %d: found more than %d bytes to say what it is", i, maxText)
		}
	}
	return nil
}

// validateClaim returns an error unless a claim is well formed. The vectors and sets of the file must be valid.
func (file *File) validateClaim(claim *Claim) error {
	isAboutVector := claim.Vector >= 0
	if claim.Vector < -1 || claim.Vector >= len(file.Vectors) || !isAboutVector && !file.isSet(claim.Set) || !file.isSet(claim.OverSet) {
		return fmt.Errorf("found vector %d, set %d, over set %d, of %d vectors and %d sets", claim.Vector, claim.Set, claim.OverSet, len(file.Vectors), len(file.Sets))
	}
	operators := []string{"", "first", "count", "exists"}
	if isAboutVector {
		operators = []string{"", "first", "min", "max", "sum", "avg"}
	}
	if !slices.Contains(operators, claim.Operator) || claim.Complement && !isAboutVector {
		return fmt.Errorf("found %q, or a complement of a set, wanted one of %q", claim.Operator, operators)
	}
	if isAboutVector && file.Vectors[claim.Vector].ExistsPath {
		return errors.New("found a claim about the value of E [...], wanted one about a set")
	}
	if claim.Complement && !file.Vectors[claim.Vector].Probability() {
		return errors.New("found the complement of a vector that is no probability")
	}
	return nil
}

func (file *File) isSet(i int) bool { return i >= 0 && i < len(file.Sets) }

// validateSet checks the form of set i.
func (file *File) validateSet(set *Set, i int) error {
	operands, ok := map[SetKind][2]int{
		Atomic: {0, 0}, All: {0, 0}, Init: {0, 0}, Bound: {0, 0}, ArgMin: {1, 1}, ArgMax: {1, 1}, Not: {1, 1}, And: {1, 1 << 20}, Or: {1, 1 << 20},
		ExistsUntil: {2, 2}, ForallUntil: {2, 2}, ExistsNext: {1, 1}, ForallNext: {1, 1},
	}[set.Kind]
	if !ok {
		return fmt.Errorf("found the kind %q, which there is not", set.Kind)
	}
	if len(set.Sets) < operands[0] || len(set.Sets) > operands[1] {
		return fmt.Errorf("found %d sets, wanted %d for one of kind %s", len(set.Sets), operands[0], set.Kind)
	}
	dependencies := set.Sets
	if set.DependsOnValues() {
		if set.Vector < 0 || set.Vector >= len(file.Vectors) {
			return fmt.Errorf("found vector %d of %d", set.Vector, len(file.Vectors))
		}
		vector := &file.Vectors[set.Vector]
		if vector.ExistsPath && (set.Relation != ">=" || set.Threshold == nil || set.Threshold.Cmp(big.NewRat(1, 1)) != 0) {
			return errors.New("found a vector of E [...] compared with something other than >= 1")
		}
		dependencies = append(slices.Clip(dependencies), file.SetsOf(vector)...)
	}
	switch set.Kind {
	case Atomic:
		if set.Bits == nil {
			return errors.New("found no bits")
		}
	case ExistsUntil, ForallUntil:
		if set.Bits == nil || set.Rank == nil {
			return errors.New("found no bits or no ranks")
		}
	case Bound:
		if !slices.Contains([]string{"<", "<=", ">", ">="}, set.Relation) || set.Threshold == nil {
			return fmt.Errorf("found the relation %q, wanted <, <=, > or >= and a threshold", set.Relation)
		}
	}
	for _, j := range dependencies {
		if j < 0 || j >= i {
			return fmt.Errorf("it depends on set %d, wanted an earlier one", j)
		}
	}
	return nil
}

// validateVector returns an error unless the fields of a vector are valid for its kind and for the model.
func (file *File) validateVector(vector *Vector) error {
	needsReward := false
	switch vector.Kind {
	case Until, Steps, Next, PathFormula, RewardBounded, Conditional, MaxConditional:
	case Objectives:
		if err := cmp.Or(vector.Several.validateSizes(), vector.Several.validate(file.Model)); err != nil {
			return err
		}
	case ReachReward, TotalReward, Cumulative, Instant, CoSafe, Discounted, RewardWithinBounds:
		needsReward = true
	case Average:
		needsReward = vector.Reward != -1
	default:
		return fmt.Errorf("found the unknown kind %q", vector.Kind)
	}
	for _, set := range vector.Sets() {
		if !file.isSet(set) {
			return fmt.Errorf("found set %d of %d", set, len(file.Sets))
		}
	}
	if vector.Maximizer != 0 && (vector.Kind != Until || file.Model.Kind != MDP) {
		return fmt.Errorf("found a maximizer in a vector of kind %s of a %s, wanted it for until in an mdp", vector.Kind, file.Model.Kind)
	}
	if needsReward && (vector.Reward < 0 || vector.Reward >= len(file.Model.Rewards)) {
		return fmt.Errorf("found reward structure %d of %d", vector.Reward, len(file.Model.Rewards))
	}
	return cmp.Or(vector.validateSteps(), vector.validateTime(file.Model.Kind), vector.validateAutomaton(file.Model), vector.validateInfinite())
}

// validateSteps returns an error unless the step bound of a vector is valid. Vectors of some kinds may have no upper bound, which is written as
// -1.
func (vector *Vector) validateSteps() error {
	mayBeUnbounded := vector.Kind == Steps || vector.Kind == Discounted
	isToValid := vector.To >= vector.From || vector.To == -1 && mayBeUnbounded
	if vector.From < 0 || !isToValid {
		return fmt.Errorf("found steps from %d to %d", vector.From, vector.To)
	}
	return nil
}

// validateInfinite returns an error if a column has infinite values, but a vector of this kind has only finite values.
func (vector *Vector) validateInfinite() error {
	isFinite := vector.Several == nil && (vector.Probability() || vector.Kind == Average || vector.Kind == Discounted)
	for _, column := range []*Values{vector.Lower, vector.Upper, vector.LowerBias, vector.UpperBias} {
		if isFinite && column != nil && column.Infinite != nil {
			return fmt.Errorf("found infinite values in a vector of kind %s", vector.Kind)
		}
	}
	return nil
}

// validateAutomaton returns an error unless a vector has a valid automaton if its kind needs one, and none otherwise. The columns must be as
// long as the claimed sizes of the products: so the length of the file limits the work of building the products.
func (vector *Vector) validateAutomaton(model *Model) error {
	automaton, coSafe, isConditional := vector.Automaton, vector.Kind == CoSafe, vector.Kind == MaxConditional
	needsAutomaton := coSafe || isConditional || vector.Kind == PathFormula
	switch {
	case (automaton != nil) != needsAutomaton:
		return fmt.Errorf("found an automaton in a vector of kind %s, or none where it is wanted", vector.Kind)
	case vector.ExistsPath && vector.Kind != PathFormula:
		return fmt.Errorf("found E [...] in a vector of kind %s", vector.Kind)
	case automaton == nil:
		return nil
	case (automaton.Condition != nil) != isConditional:
		return fmt.Errorf("found a condition in a vector of kind %s, or none where it is wanted", vector.Kind)
	}
	hasPairColumns := vector.Lower != nil && vector.Upper != nil && automaton.Pairs >= model.NumStates()
	hasRunColumns := coSafe || len(vector.WinningRanks) == automaton.Runs && len(vector.Layer) == automaton.Runs
	if !hasPairColumns || !hasRunColumns {
		return errors.New("found fewer columns, or shorter ones, than the products of the automaton need")
	}
	hasSchedulers := model.Kind == MDP || vector.ExistsPath
	if !coSafe && hasSchedulers && !vector.IsMaximum {
		return errors.New("found the minimum of a path formula, wanted the maximum of its negation")
	}
	return automaton.validate(coSafe)
}

// Endless reports whether a step or time bound has no upper limit.
func (v *Vector) Endless() bool {
	if v.Timed != nil {
		return v.Timed.To == nil
	}
	return v.Kind == Steps && v.To < 0
}

// maxTime is the greatest number of bits of a time or rate.
const maxTime = 1 << 12

// validateTime returns an error unless a vector has a valid time bound if its kind and the kind of the model need one, and none otherwise.
func (vector *Vector) validateTime(kind Kind) error {
	bound, isBounded := vector.Timed, vector.Kind == Steps || vector.Kind == Cumulative || vector.Kind == Instant
	if (bound != nil) != (isBounded && kind == CTMC) {
		return fmt.Errorf("found a time in a vector of kind %s of a %s, or none where it is wanted", vector.Kind, kind)
	}
	if bound == nil {
		return nil
	}
	for _, number := range []*big.Rat{bound.From, bound.Rate, cmp.Or(bound.To, bound.Rate)} {
		if number == nil || number.Sign() < 0 || number.Num().BitLen() > maxTime || number.Denom().BitLen() > maxTime {
			return errors.New("found a time or rate that is missing, negative or too long")
		}
	}
	switch {
	case vector.From != 0 || vector.To != 0 || bound.Scale < 1 || bound.Scale > MaxScale || bound.Rate.Sign() == 0:
		return fmt.Errorf("found a time in steps, the rate 0, or %d binary places", bound.Scale)
	case bound.To != nil && bound.To.Cmp(bound.From) < 0 || vector.Kind != Steps && (bound.To == nil || bound.From.Sign() > 0):
		return errors.New("found an empty time interval")
	}
	return nil
}

// checkLengths returns an error unless each column that is present has the length of its slot.
func checkLengths(slots []columnSlot) error {
	for _, slot := range slots {
		switch {
		case slot.bits != nil && *slot.bits != nil:
			if err := slot.bits.checkLength(slot.n); err != nil {
				return fmt.Errorf("%s: %w", slot.name, err)
			}
		case slot.ranks != nil && *slot.ranks != nil && len(*slot.ranks) != slot.n:
			return fmt.Errorf("%s: found %d numbers, wanted %d", slot.name, len(*slot.ranks), slot.n)
		case slot.values != nil && *slot.values != nil:
			if err := (*slot.values).validate(slot.n); err != nil {
				return fmt.Errorf("%s: %w", slot.name, err)
			}
		}
	}
	return nil
}

// checkLength returns an error unless b is a set of n states.
func (b Bits) checkLength(n int) error {
	if len(b) != (n+63)/64 || n%64 != 0 && b[n/64]>>(n%64) != 0 {
		return fmt.Errorf("found %d bits, wanted %d followed by zeros", 64*len(b), n)
	}
	return nil
}

// validate returns an error unless a column has a value for each state, and no value is negative.
func (values *Values) validate(numStates int) error {
	if values.Infinite != nil {
		if err := values.Infinite.checkLength(numStates); err != nil {
			return err
		}
	}
	if values.Fixed != nil {
		if len(values.Fixed) != numStates || values.Scale > MaxScale || values.Fractions != nil {
			return fmt.Errorf("found %d values with scale %d, wanted %d and a scale up to %d", len(values.Fixed), values.Scale, numStates, MaxScale)
		}
		return nil
	}
	if values.Floats != nil {
		if len(values.Floats) != numStates || values.Fractions != nil {
			return fmt.Errorf("found %d float64 numbers, wanted %d", len(values.Floats), numStates)
		}
		for s, value := range values.Floats {
			if !values.Infinite.Has(s) && (math.IsInf(value, 0) || !(value >= 0)) {
				return fmt.Errorf("found %v as the value of state %d, wanted none below 0", value, s)
			}
		}
		return nil
	}
	if len(values.Fractions) != numStates {
		return fmt.Errorf("found %d fractions, wanted %d", len(values.Fractions), numStates)
	}
	for s, value := range values.Fractions {
		if !values.Infinite.Has(s) && (value == nil || value.Sign() < 0) {
			return fmt.Errorf("found %v as the value of state %d, wanted none below 0", value, s)
		}
	}
	return nil
}

// Validate returns an error unless the model is well formed. It does not check that probabilities sum to 1, which package certify does.
func (m *Model) Validate() error {
	if m == nil || len(m.FirstTransition) < 2 {
		return errors.New("found no model")
	}
	numStates, numChoices := m.NumStates(), len(m.FirstTransition)-1
	if err := cmp.Or(m.validateChoices(), m.validateTransitions(), m.validateExitRates()); err != nil {
		return err
	}
	for _, reward := range m.Rewards {
		if err := cmp.Or(m.checkNumbers(reward.State, numStates), m.checkNumbers(reward.Choice, numChoices)); err != nil {
			return fmt.Errorf("rewards %q: %w", reward.Name, err)
		}
	}
	if m.Initial.Count() == 0 {
		return errors.New("found no initial state")
	}
	return m.Initial.checkLength(numStates)
}

// validateChoices returns an error unless the model has a known kind, and each state has a range of choices.
func (m *Model) validateChoices() error {
	switch m.Kind {
	case DTMC, CTMC:
		if m.FirstChoice != nil {
			return fmt.Errorf("found choices in a model of kind %s", m.Kind)
		}
	case MDP:
	default:
		return fmt.Errorf("found the kind of models %q", m.Kind)
	}
	if m.FirstChoice == nil {
		return nil
	}
	if m.NumStates() < 1 {
		return errors.New("found no states")
	}
	if err := checkOffsets(m.FirstChoice, len(m.FirstTransition)-1); err != nil {
		return fmt.Errorf("choices: %w", err)
	}
	return nil
}

// validateTransitions returns an error unless each choice has a range of transitions, with targets and positive probabilities.
func (m *Model) validateTransitions() error {
	if err := checkOffsets(m.FirstTransition, len(m.Target)); err != nil {
		return fmt.Errorf("transitions: %w", err)
	}
	if len(m.Prob) != len(m.Target) {
		return fmt.Errorf("found %d probabilities of %d transitions", len(m.Prob), len(m.Target))
	}
	numStates := m.NumStates()
	for t, target := range m.Target {
		if int(target) >= numStates {
			return fmt.Errorf("found a transition to state %d of %d", target, numStates)
		}
		if int(m.Prob[t]) >= len(m.Numbers) || m.Numbers[m.Prob[t]].Sign() <= 0 {
			return fmt.Errorf("found transition %d without a positive probability", t)
		}
	}
	return nil
}

// validateExitRates returns an error unless each state of a CTMC has a positive exit rate, and no state of another model has one.
func (m *Model) validateExitRates() error {
	if (m.ExitRate != nil) != (m.Kind == CTMC) {
		return errors.New("found exit rates in a model that is no ctmc, or a ctmc without them")
	}
	if err := m.checkNumbers(m.ExitRate, m.NumStates()); err != nil {
		return fmt.Errorf("exit rates: %w", err)
	}
	for _, number := range m.ExitRate {
		if m.Numbers[number].Sign() == 0 {
			return errors.New("found an exit rate of 0")
		}
	}
	return nil
}

// checkNumbers returns an error unless a column has n indices of nonnegative numbers. nil is a valid column.
func (model *Model) checkNumbers(column []uint32, n int) error {
	if column != nil && len(column) != n {
		return fmt.Errorf("found %d numbers, wanted %d", len(column), n)
	}
	for _, index := range column {
		if int(index) >= len(model.Numbers) || model.Numbers[index].Sign() < 0 {
			return errors.New("found a missing or negative number")
		}
	}
	return nil
}

// checkOffsets returns an error unless offsets divide n elements into rows that are not empty. Row i is offsets[i]:offsets[i+1].
func checkOffsets(offsets []uint32, n int) error {
	for i := range len(offsets) - 1 {
		if offsets[i] >= offsets[i+1] {
			return fmt.Errorf("row %d is empty", i)
		}
	}
	if offsets[0] != 0 || int(offsets[len(offsets)-1]) != n {
		return fmt.Errorf("found rows from %d to %d, wanted 0 to %d", offsets[0], offsets[len(offsets)-1], n)
	}
	return nil
}
