package certificate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/umb"
)

// maxIndex is the greatest size of the index, in bytes.
const maxIndex = 4 << 20

// Limits bound the size of a file. A zero field means the default in its comment.
type Limits struct {
	States int   // 2^31-1
	Bytes  int64 // of all columns, uncompressed: 8 GiB
}

// Read reads a certificate, plain or compressed by gzip. It does not trust the file: memory grows with the data
// that is present, not with the sizes that the file claims. A column that is missing, duplicate or of a wrong
// length is an error that names it.
func Read(ctx context.Context, in io.Reader, limits Limits) (*File, error) {
	if limits.States == 0 {
		limits.States = math.MaxInt32
	}
	if limits.Bytes == 0 {
		limits.Bytes = 8 << 30
	}
	r := &reader{limits: limits, rewards: map[string][]uint32{}, numbers: map[string]uint32{}, declared: map[string]bool{}}
	err := umb.Members(ctx, in, func(name string, m *umb.Member) error {
		if err := r.readMember(name, m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return r.finish()
}

// reader holds what was read of a file so far.
type reader struct {
	limits  Limits
	bytes   int64
	umb     *umb.Index
	file    *File
	index   *index
	rewards map[string][]uint32 // reward columns, by "ID/KIND"
	numbers map[string]uint32   // indices of the model's numbers, by their encoding
	columns map[string]func(m *umb.Member) error
	// declared are the names of the columns that are announced and not yet read.
	declared map[string]bool
}

func (r *reader) readMember(name string, m *umb.Member) error {
	switch {
	case name == umb.IndexFile:
		return r.readIndex(m)
	case r.umb == nil:
		return fmt.Errorf("it comes before %s", umb.IndexFile)
	case name == indexFile:
		return r.readCertificates(m)
	}
	read := r.modelColumn(name)
	if strings.HasPrefix(name, "certificates/") {
		if read = r.columns[name]; read == nil {
			return fmt.Errorf("%s, if it came before, does not have this column", indexFile)
		}
	}
	if read == nil { // valuations, labels and actions are not part of a proof
		return nil
	}
	if r.bytes += m.Size; r.bytes > r.limits.Bytes {
		return fmt.Errorf("found more than %d bytes of columns", r.limits.Bytes)
	}
	delete(r.declared, name)
	return read(m)
}

// readIndex reads UMB's index: the kind, sizes and number types of the model.
func (r *reader) readIndex(m *umb.Member) error {
	text, err := m.All(umb.MaxIndex)
	if err != nil {
		return err
	}
	x := new(umb.Index)
	if err := json.Unmarshal(text, x); err != nil {
		return err
	}
	s := &x.System
	model := &Model{}
	switch {
	case x.Version != umb.Version:
		return fmt.Errorf("found version %d of the format, wanted %d", x.Version, umb.Version)
	case s.Time == "discrete" && s.Players == 0:
		model.Kind = DTMC
	case s.Time == "discrete" && s.Players == 1:
		model.Kind = MDP
	case s.Time == "stochastic" && s.Players == 0:
		model.Kind = CTMC
	default:
		return fmt.Errorf("found a model with time %q and %d players, wanted a DTMC, MDP or CTMC", s.Time, s.Players)
	}
	if s.States < 1 || s.States > uint64(r.limits.States) || s.Choices > math.MaxUint32-1 || s.Branches > math.MaxUint32-1 || s.Observations > 0 {
		return fmt.Errorf("found %d states, %d choices, %d branches and %d observations, wanted at most %d states and no observations", s.States, s.Choices, s.Branches, s.Observations, r.limits.States)
	}
	types := map[string]*umb.Type{"branch-probability-type": s.Probability}
	if model.Kind == CTMC {
		types["exit-rate-type"] = s.ExitRate
	}
	for _, a := range x.Annotations.Get("rewards") {
		types["rewards/"+a.Name] = &a.Value.Type
		for _, kind := range a.Value.AppliesTo {
			r.declared["annotations/rewards/"+a.Name+"/"+kind+"/values.bin"] = true
		}
	}
	for name, t := range types {
		if err := t.Number(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if t.Type != "rational" {
			return fmt.Errorf("%s: found numbers of type %s, wanted rational", name, t.Type)
		}
	}
	r.umb, r.file = x, &File{Model: model}
	return nil
}

// modelColumn returns the function that reads a column of the model; nil if the column is not needed.
func (r *reader) modelColumn(name string) func(m *umb.Member) error {
	s, model := &r.umb.System, r.file.Model
	offsets := func(dst *[]uint32, n, most uint64) func(m *umb.Member) error {
		return func(m *umb.Member) (err error) { *dst, err = m.Offsets(int(n), int(most)); return err }
	}
	switch name {
	case umb.StateChoices:
		return offsets(&model.First, s.States, s.Choices)
	case umb.ChoiceRows:
		return offsets(&model.Start, s.Choices, s.Branches)
	case umb.Targets:
		return func(m *umb.Member) (err error) {
			model.Target, err = umb.Indices[uint32](m, int(s.Branches), 8, s.States)
			return err
		}
	case umb.Probabilities:
		return func(m *umb.Member) (err error) {
			model.Prob, err = r.readNumbers(m, s.Branches, s.Probability)
			return err
		}
	case umb.ExitRates:
		if model.Kind == CTMC {
			return func(m *umb.Member) (err error) { model.Exit, err = r.readNumbers(m, s.States, s.ExitRate); return err }
		}
	case umb.Initial:
		return func(m *umb.Member) error {
			words, err := m.Bits(int(s.States))
			model.Initial = words
			return err
		}
	}
	words := strings.Split(name, "/") // annotations/rewards/ID/KIND/values.bin
	if len(words) != 5 || words[0] != "annotations" || words[1] != "rewards" || words[4] != "values.bin" {
		return nil
	}
	a := r.umb.Annotations.Get("rewards").Get(words[2])
	n, ok := map[string]uint64{"states": s.States, "choices": s.Choices, "branches": s.Branches}[words[3]]
	if !ok || !slices.Contains(a.AppliesTo, words[3]) {
		return nil
	}
	return func(m *umb.Member) error {
		column, err := r.readNumbers(m, n, &a.Type)
		r.rewards[words[2]+"/"+words[3]] = column
		return err
	}
}

// readNumbers reads a column of rationals. Equal numbers get the same index.
func (r *reader) readNumbers(m *umb.Member, n uint64, t *umb.Type) ([]uint32, error) {
	var out []uint32
	return out, m.Words(int(n), int(t.Bits()/8), func(word []byte) error {
		k, ok := r.numbers[string(word)]
		if !ok {
			x, err := umb.Rat(word)
			if err != nil {
				return err
			}
			k = r.addNumber(x)
			r.numbers[string(word)] = k
		}
		out = append(out, k)
		return nil
	})
}

// addNumber appends a number to the model and returns its index.
func (r *reader) addNumber(x *big.Rat) uint32 {
	r.file.Model.Numbers = append(r.file.Model.Numbers, x)
	return uint32(len(r.file.Model.Numbers) - 1)
}

// readCertificates reads the index of the certificate, and declares the columns.
func (r *reader) readCertificates(m *umb.Member) error {
	text, err := m.All(maxIndex)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	x := new(index)
	if err := dec.Decode(x); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("found text after the JSON object")
	}
	if x.Version != Version {
		return fmt.Errorf("found version %d of certificates, wanted %d", x.Version, Version)
	}
	f := r.file
	n := int(r.umb.System.States)
	r.columns = map[string]func(m *umb.Member) error{}
	f.Sets, f.Vectors, f.Claims = make([]Set, len(x.Sets)), make([]Vector, len(x.Vectors)), x.Claims
	for i := range x.Sets {
		f.Sets[i] = x.Sets[i].Set
		if err := r.declareColumns("sets", i, f.Sets[i].columns(n), x.Sets[i].Columns); err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
	}
	for i := range x.Vectors {
		f.Vectors[i] = x.Vectors[i].Vector
		if a := f.Vectors[i].Automaton; a != nil && (a.Pairs < 0 || a.Runs < 0 || a.Pairs > math.MaxInt32 || a.Runs > math.MaxInt32) {
			return fmt.Errorf("vector %d: found %d pairs and %d runs", i, a.Pairs, a.Runs)
		}
		if x := f.Vectors[i].Several; x != nil {
			if err := x.validateSizes(); err != nil {
				return fmt.Errorf("vector %d: %w", i, err)
			}
		}
		if err := r.declareColumns("vectors", i, f.Vectors[i].columns(n), x.Vectors[i].Columns); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
	}
	r.index = x
	return nil
}

// declareColumns notes the columns of a set or vector as expected members, with the functions that read them.
func (r *reader) declareColumns(group string, i int, slots []columnSlot, columns map[string]column) error {
	unread := len(columns)
	lookUp := func(name string, want ...columnType) (column, bool, error) {
		c, ok := columns[name]
		if !ok {
			return c, false, nil
		}
		unread--
		if c.Same == "" && !slices.Contains(want, c.Type) {
			return c, true, fmt.Errorf("%s: found a column of type %q, wanted %q", name, c.Type, want)
		}
		return c, true, nil
	}
	declare := func(name string, read func(m *umb.Member) error) {
		path := memberName(group, i, name)
		r.columns[path], r.declared[path] = read, true
	}
	bits := func(name string, n int, dst *Bits) error {
		_, ok, err := lookUp(name, columnBits)
		if ok {
			declare(name, func(m *umb.Member) (err error) { *dst, err = m.Bits(n); return err })
		}
		return err
	}
	for k, s := range slots {
		switch {
		case s.bits != nil:
			if err := bits(s.name, s.n, s.bits); err != nil {
				return err
			}
		case s.ranks != nil:
			_, ok, err := lookUp(s.name, columnNumbers)
			if err != nil {
				return err
			}
			if ok {
				declare(s.name, func(m *umb.Member) (err error) { *s.ranks, err = readRanks(m, s.n); return err })
			}
		default:
			c, ok, err := lookUp(s.name, columnFixed, columnFraction)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if c.Same != "" {
				first := slices.IndexFunc(slots[:k], func(o columnSlot) bool { return o.name == c.Same && o.values != nil && *o.values != nil })
				if first < 0 {
					return fmt.Errorf("%s: found the same as %q, wanted an earlier column", s.name, c.Same)
				}
				*s.values = *slots[first].values
				continue
			}
			v := new(Values)
			*s.values = v
			var base *Values
			if c.Above != "" {
				at := slices.IndexFunc(slots[:k], func(o columnSlot) bool { return o.name == c.Above && o.values != nil && *o.values != nil })
				if at < 0 {
					return fmt.Errorf("%s: found values above %q, wanted an earlier column", s.name, c.Above)
				}
				base = *slots[at].values
			}
			declare(s.name, func(m *umb.Member) error { return cmp.Or(v.readColumn(m, s.n, c), v.addBase(base)) })
			if err := bits(s.name+"-infinite", s.n, &v.Infinite); err != nil {
				return err
			}
		}
	}
	if unread > 0 {
		return errors.New("found an unknown column")
	}
	return nil
}

func (v *Values) readColumn(m *umb.Member, n int, c column) error {
	switch {
	case c.Type == columnFixed && c.Bytes >= 1 && c.Bytes <= 8 && c.Scale <= MaxScale:
		v.Scale, v.Fixed = c.Scale, []uint64{}
		return m.Words(n, c.Bytes, func(word []byte) error {
			var all [8]byte
			copy(all[:], word)
			v.Fixed = append(v.Fixed, binary.LittleEndian.Uint64(all[:]))
			return nil
		})
	case c.Type == columnFraction && c.Bytes >= 16 && c.Bytes <= 1<<20 && c.Bytes%16 == 0:
		return m.Words(n, c.Bytes, func(word []byte) error {
			x, err := umb.Rat(word)
			v.Rats = append(v.Rats, x)
			return err
		})
	}
	return fmt.Errorf("found values of %d bytes with scale %d", c.Bytes, c.Scale)
}

// addBase adds the base column to the differences that were read; nil adds nothing.
func (v *Values) addBase(base *Values) error {
	if base == nil {
		return nil
	}
	if base.Fixed == nil || len(base.Fixed) != len(v.Fixed) || base.Scale != v.Scale {
		return errors.New("found values above a column that is not read yet, or has another scale")
	}
	for s, x := range base.Fixed {
		sum, carry := bits.Add64(v.Fixed[s], x, 0)
		if v.Fixed[s] = sum; carry != 0 {
			return fmt.Errorf("the value of state %d does not fit 64 bits", s)
		}
	}
	return nil
}

func readRanks(m *umb.Member, n int) ([]uint32, error) {
	text, err := m.All(5 * int64(n))
	if err != nil {
		return nil, err
	}
	var out []uint32
	for len(text) > 0 {
		x, size := binary.Uvarint(text)
		if size <= 0 || x > math.MaxUint32 || len(out) == n {
			return nil, fmt.Errorf("number %d does not fit 32 bits, or there are more than %d", len(out), n)
		}
		out, text = append(out, uint32(x)-1), text[size:] // 0 is None
	}
	if len(out) != n {
		return nil, fmt.Errorf("found %d numbers, wanted %d", len(out), n)
	}
	return out, nil
}

// finish checks that nothing is missing and completes the model.
func (r *reader) finish() (*File, error) {
	if r.umb == nil {
		return nil, fmt.Errorf("it is no certificate: it has no %s", umb.IndexFile)
	}
	if r.index == nil {
		return nil, fmt.Errorf("it is no certificate: it has no %s", indexFile)
	}
	if missing := slices.Sorted(maps.Keys(r.declared)); len(missing) > 0 {
		return nil, fmt.Errorf("there is no %s", missing[0])
	}
	m, s := r.file.Model, &r.umb.System
	identity := func(n uint64) []uint32 {
		out := make([]uint32, n+1)
		for i := range out {
			out[i] = uint32(i)
		}
		return out
	}
	if m.Start == nil && s.Choices == s.Branches && len(m.Target) == int(s.Branches) {
		m.Start = identity(s.Choices)
	}
	if m.Kind != MDP && m.First != nil {
		if !slices.Equal(m.First, identity(s.States)) {
			return nil, fmt.Errorf("%s: found a state without exactly one choice in a %s", umb.StateChoices, m.Kind)
		}
		m.First = nil
	}
	if len(m.Start) == 0 || m.NumStates() != int(s.States) {
		return nil, errors.New("the numbers of states, choices and branches of the model contradict each other")
	}
	if m.Initial.Count() != int(s.InitialStates) {
		return nil, fmt.Errorf("%s: found %d initial states, wanted %d", umb.Initial, m.Initial.Count(), s.InitialStates)
	}
	for i, a := range r.umb.Annotations.Get("rewards") {
		name := a.Name
		if a.Value.Alias != nil {
			name = *a.Value.Alias
		} else if name == strconv.Itoa(i+1) {
			name = ""
		}
		m.Rewards = append(m.Rewards, Reward{name, r.rewards[a.Name+"/states"], r.rewards[a.Name+"/choices"]})
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	for i, a := range r.umb.Annotations.Get("rewards") {
		if branches := r.rewards[a.Name+"/branches"]; branches != nil {
			m.Rewards[i].Choice = r.addBranchRewards(m.Rewards[i].Choice, branches)
		}
	}
	return r.file, r.file.Validate()
}

// addBranchRewards adds the mean reward of the branches to the reward of each choice.
func (r *reader) addBranchRewards(choice, branches []uint32) []uint32 {
	m := r.file.Model
	out := make([]uint32, len(m.Start)-1)
	indices := map[string]uint32{}
	for c := range out {
		sum := new(big.Rat)
		if choice != nil {
			sum.Set(m.Numbers[choice[c]])
		}
		lo, hi := m.Row(c)
		for t := lo; t < hi; t++ {
			sum.Add(sum, new(big.Rat).Mul(m.Numbers[m.Prob[t]], m.Numbers[branches[t]]))
		}
		k, ok := indices[sum.RatString()]
		if !ok {
			k = r.addNumber(sum)
			indices[sum.RatString()] = k
		}
		out[c] = k
	}
	return out
}
