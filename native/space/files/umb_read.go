package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// ReadUMB reads a model in the format UMB, plain or compressed with gzip or xz. It reads DTMCs and MDPs, also with
// intervals, CTMCs, Markov automata, SMGs and LTSs. Other types and unsupported features are errors. The errors
// are the same as for Read, without lines.
//
// Memory depends on the size of the model, and not on numbers in the file. If the file has no usable valuations,
// the states have one variable x, their number. Valuations that cannot be used give a warning.
func ReadUMB(ctx context.Context, src Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	file := &umbFile{ctx: ctx, opts: opts, src: src}
	space, err := file.read()
	switch {
	case ctx.Err() != nil:
		return space, ctx.Err()
	case err == nil:
		return space, nil
	}
	return nil, umbError(src.Name, err)
}

// umbError converts an error to an error of ReadUMB. A *LimitError, a *DeadlockError and an ErrorList stay the
// same. Any other error becomes an ErrorList with the name of the file.
func umbError(name string, err error) error {
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		return err
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return list
	}
	return syntax.ErrorList{{File: name, Msg: err.Error()}}
}

// umbFile reads a UMB file.
type umbFile struct {
	ctx  context.Context
	opts ReadOptions
	src  Source

	index       *umb.Index
	modelType   syntax.ModelType
	markov      bool // a Markov automaton, read as its embedded MDP
	numStates   int
	numChoices  int
	numBranches int

	stateChoices  []uint32 // offsets of the choices of each state; nil if each has one
	owners        []uint16 // the player of each state of a game
	choiceRows    []uint32
	targets       []uint32
	probability   umbColumn
	exitRate      umbColumn
	initial       *sparse.Set
	actionNumbers []uint16
	actionStrings []byte
	actionOffsets []uint32
	labels        map[string]*sparse.Set
	rewards       map[string]umbColumn // by identifier and kind
	valuations    []byte
	variables     []umbVariable
	warnings      []string
}

// umbColumn is a column of numbers in a UMB file.
type umbColumn struct{ umb.Numbers }

// get returns number i of the column. If exact is set, it also has a fraction.
func (column *umbColumn) get(i int, exact bool) (number, error) {
	if column.Fractions() {
		return column.getFraction(i, exact)
	}
	value := number{float: column.Double(i)}
	if math.IsNaN(value.float) || math.IsInf(value.float, 0) {
		return value, fmt.Errorf("found the number %v", value.float)
	}
	if exact {
		value.rat = new(big.Rat).SetFloat64(value.float)
	}
	return value, nil
}

// getFraction returns number i of a column of fractions. If exact is set, it also has a fraction.
func (column *umbColumn) getFraction(i int, exact bool) (number, error) {
	fraction, err := umb.DecodeRat(column.Fraction(i))
	if err != nil {
		return number{}, err
	}
	value := number{}
	value.float, _ = fraction.Float64()
	if exact {
		value.rat = fraction
	}
	if math.IsInf(value.float, 0) || value.float == 0 && fraction.Sign() != 0 {
		return value, fmt.Errorf("found the fraction %s, wanted %v", quote([]byte(fraction.RatString())), errLarge)
	}
	return value, nil
}

// readStateSet reads a set of n states from a bit vector.
func readStateSet(member *umb.Member, n int) (*sparse.Set, error) {
	words, err := member.Bits(n)
	set := sparse.NewSet(n)
	for i, word := range words {
		for ; word != 0; word &= word - 1 { // removes the lowest bit
			set.Add(64*i + bits.TrailingZeros64(word))
		}
	}
	return set, err
}

// forEachMember calls visit for every member of the archive.
func (file *umbFile) forEachMember(visit func(name string, member *umb.Member) error) error {
	return umb.Members(file.ctx, bytes.NewReader(file.src.Text), visit)
}

// read reads the index and then the other members of the archive. It returns the space.
func (file *umbFile) read() (*explicit.Space, error) {
	if err := file.forEachMember(file.readIndexMember); err != nil {
		return nil, err
	}
	if file.index == nil {
		return nil, fmt.Errorf("there is no %s, wanted a model in UMB", umb.IndexFile)
	}
	file.labels, file.rewards = make(map[string]*sparse.Set), make(map[string]umbColumn)
	if err := file.forEachMember(file.readMember); err != nil {
		return nil, err
	}
	return file.buildSpace()
}

// readIndexMember reads the index, and ignores other members of the archive. After the index it returns
// umb.ErrStop.
func (file *umbFile) readIndexMember(name string, member *umb.Member) error {
	if name != umb.IndexFile {
		return nil
	}
	text, err := member.ReadAll(umb.MaxIndex)
	if err == nil {
		err = file.readIndex(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return umb.ErrStop
}

// readMember reads a member of the archive if it belongs to the model.
func (file *umbFile) readMember(name string, member *umb.Member) error {
	err := file.readColumn(name, member)
	if err != nil && file.ctx.Err() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// readColumn reads the numbers, actions, valuations or annotation of a member of the archive.
func (file *umbFile) readColumn(name string, member *umb.Member) (err error) {
	if rest, ok := strings.CutPrefix(name, "actions/"); ok {
		return file.readActions(rest, member)
	}
	system := &file.index.System
	switch name {
	case umb.StateChoices:
		file.stateChoices, err = member.Offsets(file.numStates, file.numChoices)
	case umb.ChoiceRows:
		file.choiceRows, err = member.Offsets(file.numChoices, file.numBranches)
	case umb.Targets:
		file.targets, err = umb.Indices[uint32](member, file.numBranches, 8, uint64(file.numStates))
	case umb.Probabilities:
		boundType, intervals := system.Probability.Bound()
		numEntries := file.numBranches
		if intervals {
			numEntries *= 2
		}
		file.probability.Numbers, err = member.Numbers(numEntries, boundType)
	case umb.StatePlayers:
		if file.modelType == syntax.SMG {
			file.owners, err = umb.Indices[uint16](member, file.numStates, 4, system.Players)
		}
	case umb.ExitRates:
		if file.timed() {
			file.exitRate.Numbers, err = member.Numbers(file.numStates, system.ExitRate)
		}
	case umb.Initial:
		file.initial, err = readStateSet(member, file.numStates)
	case umb.Valuations:
		err = file.readValuations(member)
	default:
		err = file.readAnnotation(name, member)
	}
	return err
}

// readActions reads the numbers or names of actions from the member actions/NAME. Actions belong to choices or to
// branches, and it ignores the other kind.
func (file *umbFile) readActions(name string, member *umb.Member) (err error) {
	kind, numEntries, numActions := "branches/", file.numBranches, file.index.System.BranchActions
	if file.hasChoices() {
		kind, numEntries, numActions = "choices/", file.numChoices, file.index.System.ChoiceActions
	}
	switch name {
	case kind + "values.bin":
		file.actionNumbers, err = umb.Indices[uint16](member, numEntries, 4, numActions)
	case kind + "string-mapping.bin":
		file.actionOffsets, err = member.Mapping(int(numActions))
	case kind + "strings.bin":
		file.actionStrings, err = member.ReadAll(umb.MaxNames)
	}
	return err
}

// readValuations reads the packed valuations of the states, if they can be used.
func (file *umbFile) readValuations(member *umb.Member) error {
	if file.variables == nil {
		return nil
	}
	err := member.CheckSize(int64(file.numStates), int64(file.valuationSize()))
	if err != nil {
		return err
	}
	file.valuations, err = member.ReadAll(member.Size)
	return err
}

// readAnnotation reads a label or rewards from the member annotations/GROUP/ID/KIND/values.bin. It ignores other
// members, and annotations that are not in the index.
func (file *umbFile) readAnnotation(name string, member *umb.Member) (err error) {
	words := strings.Split(name, "/")
	if len(words) != 5 || words[0] != "annotations" || words[4] != "values.bin" {
		return nil
	}
	group, id, kind := words[1], words[2], words[3]
	annotation := file.index.Annotations.Get(group).Get(id)
	if !slices.Contains(annotation.AppliesTo, kind) {
		return nil
	}
	switch group {
	case "aps":
		file.labels[id], err = readStateSet(member, file.numStates)
	case "rewards":
		lengths := map[string]int{"states": file.numStates, "choices": file.numChoices, "branches": file.numBranches}
		var column umbColumn
		column.Numbers, err = member.Numbers(lengths[kind], &annotation.Type)
		file.rewards[id+"/"+kind] = column
	}
	return err
}
