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
	"tilecheck/prism/textlines"
)

// ReadUMB reads a model in the binary format UMB, which may be compressed with gzip or xz. It reads DTMCs and MDPs, also with intervals,
// CTMCs, Markov automata, SMGs and LTSs. Other types and unsupported features are errors. The errors are the same as for Read, but have no
// lines.
//
// The memory depends on the size of the contents, and not on numbers in the file. If the file has no valuations that can be used, the
// states have one variable x, their number. If it has others, there is a warning.
func ReadUMB(ctx context.Context, source Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	file := &umbFile{ctx: ctx, opts: opts, source: source}
	space, err := file.readArchive()
	switch {
	case ctx.Err() != nil:
		return space, ctx.Err()
	case err == nil:
		return space, nil
	}
	return nil, umbError(source.Name, err)
}

// umbError converts an error of the reader to an error of ReadUMB. A *LimitError, a *DeadlockError and an ErrorList stay the same. Any
// other error becomes an ErrorList with the name of the file.
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
	ctx    context.Context
	opts   ReadOptions
	source Source

	index             *umb.Index
	modelType         syntax.ModelType
	isMarkovAutomaton bool // a Markov automaton, read as its embedded MDP
	numStates         int
	numChoices        int
	numBranches       int

	choiceOffsets     []uint32 // offsets of the choices of each state; nil if each has one
	owners            []uint16 // the player of each state of a game
	branchOffsets     []uint32
	targets           []uint32
	probabilityColumn umbColumn
	exitRateColumn    umbColumn
	initial           *sparse.Set
	actionNumbers     []uint16
	actionStrings     []byte
	actionOffsets     []uint32
	labels            map[string]*sparse.Set
	rewards           map[string]umbColumn // by identifier and kind
	valuations        []byte
	variables         []umbVariable
	warnings          []string
}

// umbColumn is a column of numbers in a UMB file.
type umbColumn struct{ umb.Numbers }

// numberAt returns the number with an index in the column. If exact is set, the result also has it as a fraction. A number that is not finite is
// an error.
func (column *umbColumn) numberAt(index int, exact bool) (number, error) {
	if column.Fractions() {
		return column.fractionAt(index, exact)
	}
	value := number{float: column.Double(index)}
	if math.IsNaN(value.float) || math.IsInf(value.float, 0) {
		return value, fmt.Errorf("found the number %v", value.float)
	}
	if exact {
		value.fraction = new(big.Rat).SetFloat64(value.float)
	}
	return value, nil
}

// fractionAt returns the number with an index in a column of fractions. If exact is set, the result has the fraction, and otherwise only a
// float64. A fraction that does not fit a float64 is an error.
func (column *umbColumn) fractionAt(index int, exact bool) (number, error) {
	fraction, err := umb.DecodeRat(column.Fraction(index))
	if err != nil {
		return number{}, err
	}
	value := number{}
	value.float, _ = fraction.Float64()
	if exact {
		value.fraction = fraction
	}
	switch {
	case math.IsInf(value.float, 0):
		err = errLarge
	case value.float == 0 && fraction.Sign() != 0:
		err = errSmall
	default:
		return value, nil
	}
	return value, fmt.Errorf("found the fraction %s, wanted %v", textlines.Quote([]byte(fraction.RatString())), err)
}

// readStateSet reads a set of states from a member of the archive, which has a bit for each of numStates states.
func readStateSet(member *umb.Member, numStates int) (*sparse.Set, error) {
	words, err := member.Bits(numStates)
	set := sparse.NewSet(numStates)
	for wordIndex, word := range words {
		for ; word != 0; word &= word - 1 { // removes the lowest bit
			set.Add(64*wordIndex + bits.TrailingZeros64(word))
		}
	}
	return set, err
}

// forEachMember calls visit for every member of the archive.
func (file *umbFile) forEachMember(visit func(name string, member *umb.Member) error) error {
	return umb.Members(file.ctx, bytes.NewReader(file.source.Text), visit)
}

// readArchive reads the archive and returns the space. It goes through the members twice: The index has the sizes of the others, so it is read
// first.
func (file *umbFile) readArchive() (*explicit.Space, error) {
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

// readIndexMember reads a member of the archive if it is the index. Then it returns umb.ErrStop, because the other members are read later.
// It ignores any other member.
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

// readColumn reads a member of the archive after the index. It is a column of numbers with an entry for each state, choice or branch, or it
// belongs to the actions, valuations or annotations.
func (file *umbFile) readColumn(name string, member *umb.Member) (err error) {
	if memberName, ok := strings.CutPrefix(name, "actions/"); ok {
		return file.readActions(memberName, member)
	}
	system := &file.index.System
	switch name {
	case umb.StateChoices:
		file.choiceOffsets, err = member.Offsets(file.numStates, file.numChoices)
	case umb.ChoiceRows:
		file.branchOffsets, err = member.Offsets(file.numChoices, file.numBranches)
	case umb.Targets:
		file.targets, err = umb.Indices[uint32](member, file.numBranches, 8, uint64(file.numStates))
	case umb.Probabilities:
		boundType, intervals := system.Probability.Bound()
		numEntries := file.numBranches
		if intervals {
			numEntries *= 2
		}
		file.probabilityColumn.Numbers, err = member.Numbers(numEntries, boundType)
	case umb.StatePlayers:
		if file.modelType == syntax.SMG {
			file.owners, err = umb.Indices[uint16](member, file.numStates, 4, system.Players)
		}
	case umb.ExitRates:
		if file.hasExitRates() {
			file.exitRateColumn.Numbers, err = member.Numbers(file.numStates, system.ExitRate)
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

// readActions reads a member of the archive about actions: their numbers for all choices or branches, or their names. name is the name of
// the member without "actions/". Actions of branches are used only in models without choices, and it ignores the other kind.
func (file *umbFile) readActions(name string, member *umb.Member) (err error) {
	dir, numEntries, numActions := "branches/", file.numBranches, file.index.System.BranchActions
	if file.hasChoices() {
		dir, numEntries, numActions = "choices/", file.numChoices, file.index.System.ChoiceActions
	}
	switch name {
	case dir + "values.bin":
		file.actionNumbers, err = umb.Indices[uint16](member, numEntries, 4, numActions)
	case dir + "string-mapping.bin":
		file.actionOffsets, err = member.Mapping(int(numActions))
	case dir + "strings.bin":
		file.actionStrings, err = member.ReadAll(umb.MaxNames)
	}
	return err
}

// readValuations reads the packed values of the variables in all states. It ignores them if their layout is not supported.
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

// readAnnotation reads a member with the states of a label or with rewards. Its name is annotations/GROUP/ID/KIND/values.bin, where KIND is
// states, choices or branches. It ignores other members, and annotations that are not in the index.
func (file *umbFile) readAnnotation(name string, member *umb.Member) (err error) {
	parts := strings.Split(name, "/")
	if len(parts) != 5 || parts[0] != "annotations" || parts[4] != "values.bin" {
		return nil
	}
	group, id, kind := parts[1], parts[2], parts[3]
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
