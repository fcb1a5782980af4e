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

// Sets returns the sets that the vector depends on.
func (v *Vector) Sets() []int {
	switch v.Kind {
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
	case PathFormula, CoSafe:
		if v.Automaton != nil {
			return v.Automaton.Sets
		}
	case Objectives:
		var out []int
		for _, o := range v.Several.Objectives {
			if o.Reward < 0 {
				out = append(out, o.Left, o.Right)
			}
		}
		return out
	}
	return nil
}

// textSize returns an upper bound of about the length of the vector's statement. sets are the lengths of the sets'
// texts, and name is the length of the longest name of a reward structure.
func (v *Vector) textSize(sets []int, name int) int {
	size := 64 + name
	if t := v.Timed; t != nil {
		size += maxDigits(t.From) + maxDigits(t.To)
	}
	if v.Several != nil {
		for _, o := range v.Several.Objectives {
			size += 64 + name + maxDigits(o.Bound)
		}
	}
	if v.Automaton != nil {
		v.Automaton.Formula.walk(func(f *Formula) {
			if size += 24; f.Op == "p" {
				size += sets[v.Automaton.Sets[f.Prop]]
			}
		})
		return size
	}
	for _, j := range v.Sets() {
		size += sets[j]
	}
	return size
}

// maxDigits returns an upper bound of the length of a fraction's text; 0 for nil.
func maxDigits(x *big.Rat) int {
	if x == nil {
		return 0
	}
	return 8 + (x.Num().BitLen()+x.Denom().BitLen())/3
}

// Probability reports whether the values are probabilities.
func (v *Vector) Probability() bool {
	if v.Several != nil {
		q := v.Several.Query()
		return q == nil || q.Reward < 0
	}
	return v.Kind == Until || v.Kind == Steps || v.Kind == Next || v.Kind == PathFormula
}

// Validate checks the form of a file: references, lengths of columns and the model. It does not check that the
// values prove anything.
func (f *File) Validate() error {
	if err := f.Model.Validate(); err != nil {
		return err
	}
	n := f.Model.NumStates()
	for i := range f.Vectors {
		v := &f.Vectors[i]
		if (v.Several != nil) != (v.Kind == Objectives) {
			return fmt.Errorf("vector %d: found several objectives in a vector of kind %s, or none where they are wanted", i, v.Kind)
		}
		if err := cmp.Or(f.validateVector(v), checkLengths(v.columns(n))); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
	}
	size, name := make([]int, len(f.Sets)), 0 // lengths of the sets' texts, and of the longest reward name
	for _, r := range f.Model.Rewards {
		name = max(name, len(strconv.Quote(r.Name)))
	}
	for i := range f.Sets {
		s := &f.Sets[i]
		if err := cmp.Or(f.validateSet(s, i), checkLengths(s.columns(n))); err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
		size[i] = 32 + len(s.Text) + maxDigits(s.Threshold)
		for _, j := range s.Sets {
			size[i] += size[j]
		}
		if s.Compares() {
			size[i] += f.Vectors[s.Vector].textSize(size, name)
		}
		if size[i] > maxText {
			return fmt.Errorf("set %d: found more than %d bytes to say what it is", i, maxText)
		}
	}
	for i := range f.Vectors {
		if f.Vectors[i].textSize(size, name) > maxText {
			return fmt.Errorf("vector %d: found more than %d bytes to say what it is", i, maxText)
		}
	}
	for i := range f.Claims {
		c := &f.Claims[i]
		if c.Vector < -1 || c.Vector >= len(f.Vectors) || c.Vector == -1 && !f.isSet(c.Set) || !f.isSet(c.Over) {
			return fmt.Errorf("claim %d: found vector %d, set %d, over set %d, of %d vectors and %d sets", i, c.Vector, c.Set, c.Over, len(f.Vectors), len(f.Sets))
		}
		operators := []string{"", "first", "min", "max", "sum", "avg"}
		if c.Vector < 0 {
			operators = []string{"", "first", "count", "exists"}
		}
		if !slices.Contains(operators, c.Of) || c.Complement && c.Vector < 0 {
			return fmt.Errorf("claim %d: found %q, or a complement of a set, wanted one of %q", i, c.Of, operators)
		}
		if c.Vector >= 0 && f.Vectors[c.Vector].Paths {
			return fmt.Errorf("claim %d: found a claim about the value of E [...], wanted one about a set", i)
		}
		if c.Complement && !f.Vectors[c.Vector].Probability() {
			return fmt.Errorf("claim %d: found the complement of a vector that is no probability", i)
		}
	}
	return nil
}

func (f *File) isSet(i int) bool { return i >= 0 && i < len(f.Sets) }

// validateSet checks the form of set i.
func (f *File) validateSet(s *Set, i int) error {
	operands, ok := map[SetKind][2]int{
		Atomic: {0, 0}, All: {0, 0}, Init: {0, 0}, Bound: {0, 0}, ArgMin: {1, 1}, ArgMax: {1, 1}, Not: {1, 1}, And: {1, 1 << 20}, Or: {1, 1 << 20},
		ExistsUntil: {2, 2}, ForallUntil: {2, 2}, ExistsNext: {1, 1}, ForallNext: {1, 1},
	}[s.Kind]
	if !ok {
		return fmt.Errorf("found the kind %q, which there is not", s.Kind)
	}
	if len(s.Sets) < operands[0] || len(s.Sets) > operands[1] {
		return fmt.Errorf("found %d sets, wanted %d for one of kind %s", len(s.Sets), operands[0], s.Kind)
	}
	dependencies := s.Sets
	if s.Compares() {
		if s.Vector < 0 || s.Vector >= len(f.Vectors) {
			return fmt.Errorf("found vector %d of %d", s.Vector, len(f.Vectors))
		}
		v := &f.Vectors[s.Vector]
		if v.Paths && (s.Relation != ">=" || s.Threshold == nil || s.Threshold.Cmp(big.NewRat(1, 1)) != 0) {
			return errors.New("found a vector of E [...] compared with something other than >= 1")
		}
		dependencies = append(slices.Clip(dependencies), v.Sets()...)
	}
	switch s.Kind {
	case Atomic:
		if s.Bits == nil {
			return errors.New("found no bits")
		}
	case ExistsUntil, ForallUntil:
		if s.Bits == nil || s.Rank == nil {
			return errors.New("found no bits or no ranks")
		}
	case Bound:
		if !slices.Contains([]string{"<", "<=", ">", ">="}, s.Relation) || s.Threshold == nil {
			return fmt.Errorf("found the relation %q, wanted <, <=, > or >= and a threshold", s.Relation)
		}
	}
	for _, j := range dependencies {
		if j < 0 || j >= i {
			return fmt.Errorf("it depends on set %d, wanted an earlier one", j)
		}
	}
	return nil
}

func (f *File) validateVector(v *Vector) error {
	rewards := false
	switch v.Kind {
	case Until, Steps, Next, PathFormula:
	case Objectives:
		if err := cmp.Or(v.Several.validateSizes(), v.Several.validate(f.Model)); err != nil {
			return err
		}
	case ReachReward, TotalReward, Cumulative, Instant, CoSafe:
		rewards = true
	case Average:
		rewards = v.Reward != -1
	default:
		return fmt.Errorf("found the kind %q, which there is not", v.Kind)
	}
	for _, j := range v.Sets() {
		if !f.isSet(j) {
			return fmt.Errorf("found set %d of %d", j, len(f.Sets))
		}
	}
	if v.Maximizer != 0 && (v.Kind != Until || f.Model.Kind != MDP) {
		return fmt.Errorf("found a maximizer in a vector of kind %s of a %s, wanted it for until in an mdp", v.Kind, f.Model.Kind)
	}
	if rewards && (v.Reward < 0 || v.Reward >= len(f.Model.Rewards)) {
		return fmt.Errorf("found reward structure %d of %d", v.Reward, len(f.Model.Rewards))
	}
	if v.From < 0 || v.To < -1 || v.To == -1 && v.Kind != Steps || v.To >= 0 && v.From > v.To {
		return fmt.Errorf("found steps from %d to %d", v.From, v.To)
	}
	if err := cmp.Or(v.validateTime(f.Model.Kind), v.validateAutomaton(f.Model)); err != nil {
		return err
	}
	for _, x := range []*Values{v.Lower, v.Upper, v.LowerBias, v.UpperBias} {
		if x != nil && x.Infinite != nil && v.Several == nil && (v.Probability() || v.Kind == Average) {
			return fmt.Errorf("found infinite values in a vector of kind %s", v.Kind)
		}
	}
	return nil
}

// validateAutomaton checks the automaton, and that the columns are as long as the products claim to be: so the length of
// the file bounds the work of building the products.
func (v *Vector) validateAutomaton(m *Model) error {
	a, coSafe := v.Automaton, v.Kind == CoSafe
	switch {
	case (a != nil) != (coSafe || v.Kind == PathFormula):
		return fmt.Errorf("found an automaton in a vector of kind %s, or none where it is wanted", v.Kind)
	case v.Paths && v.Kind != PathFormula:
		return fmt.Errorf("found E [...] in a vector of kind %s", v.Kind)
	case a == nil:
		return nil
	case v.Lower == nil || v.Upper == nil || !coSafe && (len(v.Won) != a.Runs || len(v.Layer) != a.Runs) || a.Pairs < m.NumStates():
		return errors.New("found fewer columns, or shorter ones, than the products of the automaton need")
	case !coSafe && (m.Kind == MDP || v.Paths) && !v.Max:
		return errors.New("found the minimum of a path formula, wanted the maximum of its negation")
	}
	return a.validate(coSafe)
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

func (v *Vector) validateTime(kind Kind) error {
	t, timed := v.Timed, v.Kind == Steps || v.Kind == Cumulative || v.Kind == Instant
	if (t != nil) != (timed && kind == CTMC) {
		return fmt.Errorf("found a time in a vector of kind %s of a %s, or none where it is wanted", v.Kind, kind)
	}
	if t == nil {
		return nil
	}
	for _, x := range []*big.Rat{t.From, t.Rate, cmp.Or(t.To, t.Rate)} {
		if x == nil || x.Sign() < 0 || x.Num().BitLen() > maxTime || x.Denom().BitLen() > maxTime {
			return errors.New("found a time or rate that is missing, negative or too long")
		}
	}
	switch {
	case v.From != 0 || v.To != 0 || t.Scale < 1 || t.Scale > MaxScale || t.Rate.Sign() == 0:
		return fmt.Errorf("found a time in steps, the rate 0, or %d binary places", t.Scale)
	case t.To != nil && t.To.Cmp(t.From) < 0 || v.Kind != Steps && (t.To == nil || t.From.Sign() > 0):
		return errors.New("found an empty time interval")
	}
	return nil
}

// checkLengths checks the lengths of columns.
func checkLengths(slots []columnSlot) error {
	for _, s := range slots {
		switch {
		case s.bits != nil && *s.bits != nil:
			if err := s.bits.checkLength(s.n); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		case s.ranks != nil && *s.ranks != nil && len(*s.ranks) != s.n:
			return fmt.Errorf("%s: found %d numbers, wanted %d", s.name, len(*s.ranks), s.n)
		case s.values != nil && *s.values != nil:
			if err := (*s.values).validate(s.n); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}

func (b Bits) checkLength(n int) error {
	if len(b) != (n+63)/64 || n%64 != 0 && b[n/64]>>(n%64) != 0 {
		return fmt.Errorf("found %d bits, wanted %d followed by zeros", 64*len(b), n)
	}
	return nil
}

func (v *Values) validate(n int) error {
	if v.Infinite != nil {
		if err := v.Infinite.checkLength(n); err != nil {
			return err
		}
	}
	if v.Fixed != nil {
		if len(v.Fixed) != n || v.Scale > MaxScale || v.Rats != nil {
			return fmt.Errorf("found %d values with scale %d, wanted %d and a scale up to %d", len(v.Fixed), v.Scale, n, MaxScale)
		}
		return nil
	}
	if v.Doubles != nil {
		if len(v.Doubles) != n || v.Rats != nil {
			return fmt.Errorf("found %d doubles, wanted %d", len(v.Doubles), n)
		}
		for s, x := range v.Doubles {
			if !v.Infinite.Has(s) && (math.IsInf(x, 0) || !(x >= 0)) {
				return fmt.Errorf("found %v as the value of state %d, wanted none below 0", x, s)
			}
		}
		return nil
	}
	if len(v.Rats) != n {
		return fmt.Errorf("found %d fractions, wanted %d", len(v.Rats), n)
	}
	for s, x := range v.Rats {
		if !v.Infinite.Has(s) && (x == nil || x.Sign() < 0) {
			return fmt.Errorf("found %v as the value of state %d, wanted none below 0", x, s)
		}
	}
	return nil
}

// Validate checks the form of a model. Package certify checks that probabilities sum to 1.
func (m *Model) Validate() error {
	if m == nil || len(m.Start) < 2 {
		return errors.New("found no model")
	}
	choices := len(m.Start) - 1
	n := m.NumStates()
	switch m.Kind {
	case DTMC, CTMC:
		if m.First != nil {
			return fmt.Errorf("found choices in a model of kind %s", m.Kind)
		}
	case MDP:
	default:
		return fmt.Errorf("found the kind of models %q", m.Kind)
	}
	if m.First != nil {
		if n < 1 {
			return errors.New("found no states")
		}
		if err := checkOffsets(m.First, choices); err != nil {
			return fmt.Errorf("choices: %w", err)
		}
	}
	if err := checkOffsets(m.Start, len(m.Target)); err != nil {
		return fmt.Errorf("transitions: %w", err)
	}
	if len(m.Prob) != len(m.Target) {
		return fmt.Errorf("found %d probabilities of %d transitions", len(m.Prob), len(m.Target))
	}
	for t, s := range m.Target {
		if int(s) >= n {
			return fmt.Errorf("found a transition to state %d of %d", s, n)
		}
		if int(m.Prob[t]) >= len(m.Numbers) || m.Numbers[m.Prob[t]].Sign() <= 0 {
			return fmt.Errorf("found transition %d without a positive probability", t)
		}
	}
	if (m.Exit != nil) != (m.Kind == CTMC) {
		return errors.New("found exit rates in a model that is no ctmc, or a ctmc without them")
	}
	if err := m.checkNumbers(m.Exit, n); err != nil {
		return fmt.Errorf("exit rates: %w", err)
	}
	for _, r := range m.Rewards {
		if err := cmp.Or(m.checkNumbers(r.State, n), m.checkNumbers(r.Choice, choices)); err != nil {
			return fmt.Errorf("rewards %q: %w", r.Name, err)
		}
	}
	for _, k := range m.Exit {
		if m.Numbers[k].Sign() == 0 {
			return errors.New("found an exit rate of 0")
		}
	}
	if m.Initial.Count() == 0 {
		return errors.New("found no initial state")
	}
	return m.Initial.checkLength(n)
}

// checkNumbers checks a column of n indices of nonnegative numbers; a nil column is allowed.
func (m *Model) checkNumbers(column []uint32, n int) error {
	if column != nil && len(column) != n {
		return fmt.Errorf("found %d numbers, wanted %d", len(column), n)
	}
	for _, k := range column {
		if int(k) >= len(m.Numbers) || m.Numbers[k].Sign() < 0 {
			return errors.New("found a missing or negative number")
		}
	}
	return nil
}

// checkOffsets checks the offsets of rows into n elements. No row may be empty.
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
