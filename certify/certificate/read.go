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

// Read reads a certificate, which may be compressed by gzip. It does not trust the file: its memory grows with the data in the file, not with
// the sizes that the file claims. It is an error if a column is missing, occurs twice or has a wrong length; the error names the column.
func Read(ctx context.Context, in io.Reader, limits Limits) (*File, error) {
	if limits.States == 0 {
		limits.States = math.MaxInt32
	}
	if limits.Bytes == 0 {
		limits.Bytes = 8 << 30
	}
	r := &reader{limits: limits, rewards: map[string][]uint32{}, numbers: map[string]uint32{}, declared: map[string]bool{}}
	err := umb.Members(ctx, in, func(name string, member *umb.Member) error {
		if err := r.readMember(name, member); err != nil {
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

// readMember reads a member of the archive. It ignores valuations, labels and actions, which are no part of a proof.
func (r *reader) readMember(name string, member *umb.Member) error {
	switch {
	case name == umb.IndexFile:
		return r.readIndex(member)
	case r.umb == nil:
		return fmt.Errorf("it comes before %s", umb.IndexFile)
	case name == indexFile:
		return r.readCertificates(member)
	}
	readColumn := r.modelColumn(name)
	if strings.HasPrefix(name, "certificates/") {
		if readColumn = r.columns[name]; readColumn == nil {
			return fmt.Errorf("%s does not declare this column, or comes after it", indexFile)
		}
	}
	if readColumn == nil {
		return nil
	}
	if r.bytes += member.Size; r.bytes > r.limits.Bytes {
		return fmt.Errorf("found more than %d bytes of columns", r.limits.Bytes)
	}
	delete(r.declared, name)
	return readColumn(member)
}

// readIndex reads UMB's index: the kind, sizes and number types of the model.
func (r *reader) readIndex(member *umb.Member) error {
	text, err := member.ReadAll(umb.MaxIndex)
	if err != nil {
		return err
	}
	index := new(umb.Index)
	if err := json.Unmarshal(text, index); err != nil {
		return err
	}
	if index.Version != umb.Version {
		return fmt.Errorf("found version %d of the format, wanted %d", index.Version, umb.Version)
	}
	system := &index.System
	kind, err := modelKind(system)
	if err != nil {
		return err
	}
	if system.States < 1 || system.States > uint64(r.limits.States) || system.Choices > math.MaxUint32-1 || system.Branches > math.MaxUint32-1 || system.Observations > 0 {
		return fmt.Errorf("found %d states, %d choices, %d branches and %d observations, wanted at most %d states and no observations", system.States, system.Choices, system.Branches, system.Observations, r.limits.States)
	}
	numberTypes := map[string]*umb.Type{"branch-probability-type": system.Probability}
	if kind == CTMC {
		numberTypes["exit-rate-type"] = system.ExitRate
	}
	for _, reward := range index.Annotations.Get("rewards") {
		numberTypes["rewards/"+reward.Name] = &reward.Value.Type
		for _, appliesTo := range reward.Value.AppliesTo {
			r.declared["annotations/rewards/"+reward.Name+"/"+appliesTo+"/values.bin"] = true
		}
	}
	for name, numberType := range numberTypes {
		if err := numberType.CheckNumber(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if numberType.Type != "rational" {
			return fmt.Errorf("%s: found numbers of type %s, wanted rational", name, numberType.Type)
		}
	}
	r.umb, r.file = index, &File{Model: &Model{Kind: kind}}
	return nil
}

// modelKind returns the kind of a model. It follows from the model's time, discrete or stochastic, and from its number of players.
func modelKind(system *umb.System) (Kind, error) {
	switch {
	case system.Time == "discrete" && system.Players == 0:
		return DTMC, nil
	case system.Time == "discrete" && system.Players == 1:
		return MDP, nil
	case system.Time == "stochastic" && system.Players == 0:
		return CTMC, nil
	}
	return "", fmt.Errorf("found a model with time %q and %d players, wanted a DTMC, MDP or CTMC", system.Time, system.Players)
}

// modelColumn returns the function that reads a column of the model; nil if the column is not needed.
func (r *reader) modelColumn(name string) func(member *umb.Member) error {
	system, model := &r.umb.System, r.file.Model
	offsets := func(column *[]uint32, n, maxValue uint64) func(member *umb.Member) error {
		return func(member *umb.Member) (err error) { *column, err = member.Offsets(int(n), int(maxValue)); return err }
	}
	switch name {
	case umb.StateChoices:
		return offsets(&model.FirstChoice, system.States, system.Choices)
	case umb.ChoiceRows:
		return offsets(&model.FirstTransition, system.Choices, system.Branches)
	case umb.Targets:
		return func(member *umb.Member) (err error) {
			model.Target, err = umb.Indices[uint32](member, int(system.Branches), 8, system.States)
			return err
		}
	case umb.Probabilities:
		return func(member *umb.Member) (err error) {
			model.Prob, err = r.readNumbers(member, system.Branches, system.Probability)
			return err
		}
	case umb.ExitRates:
		if model.Kind == CTMC {
			return func(member *umb.Member) (err error) {
				model.ExitRate, err = r.readNumbers(member, system.States, system.ExitRate)
				return err
			}
		}
	case umb.Initial:
		return func(member *umb.Member) error {
			words, err := member.Bits(int(system.States))
			model.Initial = words
			return err
		}
	}
	words := strings.Split(name, "/") // annotations/rewards/ID/KIND/values.bin
	if len(words) != 5 || words[0] != "annotations" || words[1] != "rewards" || words[4] != "values.bin" {
		return nil
	}
	annotations := r.umb.Annotations.Get("rewards").Get(words[2])
	n, ok := map[string]uint64{"states": system.States, "choices": system.Choices, "branches": system.Branches}[words[3]]
	if !ok || !slices.Contains(annotations.AppliesTo, words[3]) {
		return nil
	}
	return func(member *umb.Member) error {
		column, err := r.readNumbers(member, n, &annotations.Type)
		r.rewards[words[2]+"/"+words[3]] = column
		return err
	}
}

// readNumbers reads a column of n fractions, and returns the index of each in the model's table of numbers. Equal fractions have the same index.
func (r *reader) readNumbers(member *umb.Member, n uint64, numberType *umb.Type) (indices []uint32, err error) {
	err = member.Words(int(n), int(numberType.Bits()/8), func(word []byte) error {
		index, isKnown := r.numbers[string(word)]
		if !isKnown {
			number, err := umb.DecodeRat(word)
			if err != nil {
				return err
			}
			index = r.addNumber(number)
			r.numbers[string(word)] = index
		}
		indices = append(indices, index)
		return nil
	})
	return indices, err
}

// addNumber appends a number to the table of the model, and returns its index.
func (r *reader) addNumber(number *big.Rat) uint32 {
	r.file.Model.Numbers = append(r.file.Model.Numbers, number)
	return uint32(len(r.file.Model.Numbers) - 1)
}

// readCertificates reads the index of the certificate, a JSON object, and declares the columns that it describes.
func (r *reader) readCertificates(member *umb.Member) error {
	text, err := member.ReadAll(maxIndex)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	content := new(index)
	if err := decoder.Decode(content); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("found text after the JSON object")
	}
	if content.Version != Version {
		return fmt.Errorf("found version %d of certificates, wanted %d", content.Version, Version)
	}
	file, numStates := r.file, int(r.umb.System.States)
	r.columns = map[string]func(member *umb.Member) error{}
	file.Sets, file.Vectors, file.Claims = make([]Set, len(content.Sets)), make([]Vector, len(content.Vectors)), content.Claims
	file.Symmetry = content.Symmetry
	for i := range content.Sets {
		file.Sets[i] = content.Sets[i].Set
		if err := r.declareColumns("sets", i, file.Sets[i].columns(numStates), content.Sets[i].Columns); err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
	}
	for i := range content.Vectors {
		vector := &file.Vectors[i]
		*vector = content.Vectors[i].Vector
		if err := vector.validateSizes(); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
		if err := r.declareColumns("vectors", i, vector.columns(numStates), content.Vectors[i].Columns); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
	}
	r.index = content
	return nil
}

// validateSizes returns an error if a number that determines the length of a column is negative or too large.
func (vector *Vector) validateSizes() error {
	isSize := func(n int) bool { return n >= 0 && n <= math.MaxInt32 }
	if automaton := vector.Automaton; automaton != nil && !(isSize(automaton.Pairs) && isSize(automaton.Runs)) {
		return fmt.Errorf("found %d pairs and %d runs", automaton.Pairs, automaton.Runs)
	}
	if budgets := vector.Budgets; budgets != nil && !isSize(budgets.States) {
		return fmt.Errorf("found %d states of the product", budgets.States)
	}
	if vector.Several != nil {
		return vector.Several.validateSizes()
	}
	return nil
}

// declareColumns declares the columns of a set or a vector, so that later members of the archive are read into them. slots are all columns that
// it may have; columns describes the columns in the file.
func (r *reader) declareColumns(group string, i int, slots []columnSlot, columns map[string]column) error {
	owner := &columnOwner{reader: r, group: group, index: i, columns: columns, numUnknown: len(columns)}
	for k, slot := range slots {
		var err error
		switch {
		case slot.bits != nil:
			err = owner.declareBits(slot.name, slot.n, slot.bits)
		case slot.ranks != nil:
			err = owner.declareRanks(slot)
		default:
			err = owner.declareValues(slot, slots[:k])
		}
		if err != nil {
			return err
		}
	}
	if owner.numUnknown > 0 {
		return errors.New("found an unknown column")
	}
	return nil
}

// columnOwner is a set or vector whose columns are declared.
type columnOwner struct {
	*reader
	group      string // "sets" or "vectors"
	index      int
	columns    map[string]column // by name
	numUnknown int               // the number of columns that have not been looked up
}

// lookUp returns the description of a column. isPresent is false if the file has no such column. It is an error if the column has none of the
// given types.
func (owner *columnOwner) lookUp(name string, types ...columnType) (description column, isPresent bool, err error) {
	description, isPresent = owner.columns[name]
	if !isPresent {
		return description, false, nil
	}
	owner.numUnknown--
	if description.Same == "" && !slices.Contains(types, description.Type) {
		return description, true, fmt.Errorf("%s: found a column of type %q, wanted %q", name, description.Type, types)
	}
	return description, true, nil
}

// declare notes that a column is expected, and that read reads it.
func (owner *columnOwner) declare(name string, read func(member *umb.Member) error) {
	path := memberName(owner.group, owner.index, name)
	owner.reader.columns[path], owner.declared[path] = read, true
}

// declareBits declares a column of n bits, which are read to dst.
func (owner *columnOwner) declareBits(name string, n int, column *Bits) error {
	_, isPresent, err := owner.lookUp(name, columnBits)
	if isPresent && err == nil {
		owner.declare(name, func(member *umb.Member) (err error) { *column, err = member.Bits(n); return err })
	}
	return err
}

// declareRanks declares a column of ranks or layers.
func (owner *columnOwner) declareRanks(slot columnSlot) error {
	_, isPresent, err := owner.lookUp(slot.name, columnNumbers)
	if isPresent && err == nil {
		owner.declare(slot.name, func(member *umb.Member) (err error) { *slot.ranks, err = readRanks(member, slot.n); return err })
	}
	return err
}

// declareValues declares a column of values. The file may store it as a reference to an equal earlier column, or as differences to one.
func (owner *columnOwner) declareValues(slot columnSlot, earlier []columnSlot) error {
	description, isPresent, err := owner.lookUp(slot.name, columnFixed, columnFraction)
	if !isPresent || err != nil {
		return err
	}
	if description.Same != "" {
		if *slot.values = findValues(earlier, description.Same); *slot.values == nil {
			return fmt.Errorf("%s: found the same as %q, wanted an earlier column", slot.name, description.Same)
		}
		return nil
	}
	var base *Values
	if description.Above != "" {
		if base = findValues(earlier, description.Above); base == nil {
			return fmt.Errorf("%s: found values above %q, wanted an earlier column", slot.name, description.Above)
		}
	}
	values := new(Values)
	*slot.values = values
	owner.declare(slot.name, func(member *umb.Member) error {
		return cmp.Or(values.readColumn(member, slot.n, description), values.addBase(base))
	})
	return owner.declareBits(slot.name+"-infinite", slot.n, &values.Infinite)
}

// findValues returns the values of the column with the given name, or nil if no such column is declared.
func findValues(slots []columnSlot, name string) *Values {
	for _, slot := range slots {
		if slot.name == name && slot.values != nil {
			return *slot.values
		}
	}
	return nil
}

// readColumn reads a column of count values into v. The description says whether they are fractions, or multiples of a power of two.
func (v *Values) readColumn(member *umb.Member, count int, description column) error {
	size := description.Bytes
	isValidFixed := size >= 1 && size <= 8 && description.Scale <= MaxScale
	isValidFraction := size >= 16 && size <= 1<<20 && size%16 == 0
	switch {
	case description.Type == columnFixed && isValidFixed:
		v.Scale, v.Fixed = description.Scale, []uint64{}
		return member.Words(count, size, func(word []byte) error {
			var padded [8]byte
			copy(padded[:], word)
			v.Fixed = append(v.Fixed, binary.LittleEndian.Uint64(padded[:]))
			return nil
		})
	case description.Type == columnFraction && isValidFraction:
		return member.Words(count, size, func(word []byte) error {
			fraction, err := umb.DecodeRat(word)
			v.Fractions = append(v.Fractions, fraction)
			return err
		})
	}
	return fmt.Errorf("found values of %d bytes with scale %d", size, description.Scale)
}

// addBase adds the values of a base column to v, which has the differences to it. Both must be multiples of the same power of two. If base is
// nil, it does nothing.
func (v *Values) addBase(base *Values) error {
	if base == nil {
		return nil
	}
	if base.Fixed == nil || len(base.Fixed) != len(v.Fixed) || base.Scale != v.Scale {
		return errors.New("found differences to a column that is not read yet, or has another scale")
	}
	for s, baseValue := range base.Fixed {
		sum, carry := bits.Add64(v.Fixed[s], baseValue, 0)
		if v.Fixed[s] = sum; carry != 0 {
			return fmt.Errorf("the value of state %d does not fit 64 bits", s)
		}
	}
	return nil
}

// readRanks reads n ranks. The file has rank+1 as a varint for each rank, and 0 for None.
func readRanks(member *umb.Member, n int) ([]uint32, error) {
	text, err := member.ReadAll(5 * int64(n))
	if err != nil {
		return nil, err
	}
	var ranks []uint32
	for len(text) > 0 {
		encoded, size := binary.Uvarint(text)
		if size <= 0 || encoded > math.MaxUint32 || len(ranks) == n {
			return nil, fmt.Errorf("number %d does not fit 32 bits, or there are more than %d", len(ranks), n)
		}
		ranks, text = append(ranks, uint32(encoded)-1), text[size:] // 0 becomes None
	}
	if len(ranks) != n {
		return nil, fmt.Errorf("found %d numbers, wanted %d", len(ranks), n)
	}
	return ranks, nil
}

// finish completes the model after the last member was read. It is an error if a member is missing, or if the file is not consistent.
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
	if err := r.finishStates(); err != nil {
		return nil, err
	}
	model, rewards := r.file.Model, r.umb.Annotations.Get("rewards")
	for i, reward := range rewards {
		name := reward.Name
		if reward.Value.Alias != nil {
			name = *reward.Value.Alias
		} else if name == strconv.Itoa(i+1) { // the name of a structure without a name is its number
			name = ""
		}
		model.Rewards = append(model.Rewards, Reward{Name: name, State: r.rewards[reward.Name+"/states"], Choice: r.rewards[reward.Name+"/choices"]})
	}
	if err := model.Validate(); err != nil {
		return nil, err
	}
	for i, reward := range rewards {
		if branchRewards := r.rewards[reward.Name+"/branches"]; branchRewards != nil {
			model.Rewards[i].Choice, model.Rewards[i].PerTransition = r.addBranchRewards(model.Rewards[i].Choice, branchRewards), true
		}
	}
	return r.file, r.file.Validate()
}

// finishStates converts the ranges of choices and transitions to those of Model. It returns an error if the numbers of states, choices and
// transitions differ from the index of the file.
func (r *reader) finishStates() error {
	model, system := r.file.Model, &r.umb.System
	// The file may leave out the ranges of the transitions if each choice has exactly one.
	if model.FirstTransition == nil && system.Choices == system.Branches && len(model.Target) == int(system.Branches) {
		model.FirstTransition = oneEach(system.Choices)
	}
	if model.Kind != MDP && model.FirstChoice != nil {
		if !slices.Equal(model.FirstChoice, oneEach(system.States)) {
			return fmt.Errorf("%s: found a state without exactly one choice in a %s", umb.StateChoices, model.Kind)
		}
		model.FirstChoice = nil
	}
	if len(model.FirstTransition) == 0 || model.NumStates() != int(system.States) {
		return errors.New("the numbers of states, choices and branches of the model contradict each other")
	}
	if model.Initial.Count() != int(system.InitialStates) {
		return fmt.Errorf("%s: found %d initial states, wanted %d", umb.Initial, model.Initial.Count(), system.InitialStates)
	}
	return nil
}

// oneEach returns the offsets of n ranges that have one element each: 0 to n.
func oneEach(n uint64) []uint32 {
	offsets := make([]uint32, n+1)
	for i := range offsets {
		offsets[i] = uint32(i)
	}
	return offsets
}

// addBranchRewards returns, for each choice, its reward plus the expected reward of its transitions. All rewards are indices in the table of
// numbers. choiceRewards may be nil.
func (r *reader) addBranchRewards(choiceRewards, branchRewards []uint32) []uint32 {
	model := r.file.Model
	sums := make([]uint32, len(model.FirstTransition)-1)
	indices := map[string]uint32{} // of the sums so far, by their texts
	for c := range sums {
		sum := new(big.Rat)
		if choiceRewards != nil {
			sum.Set(model.Numbers[choiceRewards[c]])
		}
		first, end := model.Row(c)
		for transition := first; transition < end; transition++ {
			sum.Add(sum, new(big.Rat).Mul(model.Numbers[model.Prob[transition]], model.Numbers[branchRewards[transition]]))
		}
		index, isKnown := indices[sum.RatString()]
		if !isKnown {
			index = r.addNumber(sum)
			indices[sum.RatString()] = index
		}
		sums[c] = index
	}
	return sums
}
