package files

import (
	"bytes"
	"context"
	"encoding/json"
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
	"tilecheck/prism/sema"
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

// umbVariable is a variable of a packed valuation.
type umbVariable struct {
	name               string
	kind               sema.Type
	bitOffset, numBits int
	signed             bool
	valueOffset        int64
	low, high          int64 // the declared range if bounded is set, otherwise the range of the values found
	bounded            bool
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

// readIndex parses and checks the index of the file. The index has the type and the size of the model.
func (file *umbFile) readIndex(text []byte) error {
	index := new(umb.Index)
	if err := json.Unmarshal(text, index); err != nil {
		return err
	}
	system := &index.System
	if index.Version != umb.Version {
		return fmt.Errorf("found version %d of the format, wanted %d", index.Version, umb.Version)
	}
	if err := file.readModelType(system); err != nil {
		return err
	}
	if err := file.checkTotals(system); err != nil {
		return err
	}
	if err := file.checkWeightTypes(system); err != nil {
		return err
	}
	file.numStates, file.numChoices, file.numBranches = int(system.States), int(system.Choices), int(system.Branches)
	file.index = index
	return file.checkAnnotations()
}

// readModelType determines the type of the model. It is an error if the type cannot be read, or was not requested.
func (file *umbFile) readModelType(system *umb.System) error {
	_, hasIntervals := system.Probability.Bound()
	file.modelType = umbModelType(system, hasIntervals)
	file.markov = system.Time == umbMarkovTime
	if file.modelType == syntax.TypeNone {
		return fmt.Errorf("found a model with time %s, %d players and %d observations, only DTMCs, MDPs, those with intervals, CTMCs, Markov automata, SMGs and LTSs can be read",
			quote([]byte(system.Time)), system.Players, system.Observations)
	}
	if file.opts.Type != syntax.TypeNone && file.opts.Type != file.modelType {
		return fmt.Errorf("found a model of type %s, wanted the requested type %s", file.modelType, file.opts.Type)
	}
	return nil
}

// umbMarkovTime is the time of a Markov automaton.
const umbMarkovTime = "urgent-stochastic"

// umbModelType returns the type of a model, or TypeNone if it cannot be read. A Markov automaton has the type of
// its embedded MDP. hasIntervals says that the probabilities are intervals.
func umbModelType(system *umb.System, hasIntervals bool) syntax.ModelType {
	isChain := system.Players == 0
	isMDP := system.Players == 1 && system.Observations == 0
	hasProbabilities := system.Probability != nil
	switch {
	case system.Time == "stochastic" && isChain:
		return syntax.CTMC
	case system.Time == umbMarkovTime && isMDP && hasProbabilities && !hasIntervals:
		return syntax.MDP
	case system.Time != "discrete":
		return syntax.TypeNone
	case isChain && hasIntervals:
		return syntax.IDTMC
	case isChain:
		return syntax.DTMC
	case isMDP && hasIntervals:
		return syntax.IMDP
	case isMDP && hasProbabilities:
		return syntax.MDP
	case isMDP && system.ExitRate == nil:
		return syntax.LTS
	case system.Players > 1 && system.Observations == 0 && hasProbabilities && !hasIntervals:
		return syntax.SMG
	}
	return syntax.TypeNone
}

// checkTotals returns an error if a number of states, choices, branches, players or actions is too large.
func (file *umbFile) checkTotals(system *umb.System) error {
	if system.States < 1 || system.States > math.MaxInt32 || system.Choices > math.MaxUint32-1 || system.Branches > math.MaxUint32-1 || system.Observations > 0 {
		return fmt.Errorf("found %d states, %d choices, %d branches and %d observations, wanted numbers that fit 32 bits, states and no observations", system.States, system.Choices, system.Branches, system.Observations)
	}
	if err := file.opts.checkNumStates(int(system.States)); err != nil {
		return err
	}
	if file.modelType == syntax.SMG {
		if err := checkNumPlayers(int(min(system.Players, math.MaxInt32))); err != nil {
			return err
		}
	}
	if system.ChoiceActions > math.MaxUint16-1 || system.BranchActions > math.MaxUint16-1 {
		return fmt.Errorf("found %d and %d actions, wanted at most %d", system.ChoiceActions, system.BranchActions, math.MaxUint16-1)
	}
	return nil
}

// checkWeightTypes returns an error if the type of the probabilities or of the exit rates cannot be read. It asks
// for fractions if there are intervals.
func (file *umbFile) checkWeightTypes(system *umb.System) error {
	boundType, hasIntervals := system.Probability.Bound()
	if file.modelType != syntax.LTS {
		if err := file.checkNumber(boundType); err != nil {
			return fmt.Errorf("branch-probability-type: %w", err)
		}
	}
	file.opts.Exact = file.opts.Exact || hasIntervals
	if file.timed() {
		if err := file.checkNumber(system.ExitRate); err != nil {
			return fmt.Errorf("exit-rate-type: %w", err)
		}
	}
	return nil
}

// timed reports whether states have exit rates.
func (file *umbFile) timed() bool { return file.modelType == syntax.CTMC || file.markov }

// checkNumber checks that the type of a column of numbers can be read.
func (file *umbFile) checkNumber(t *umb.Type) error {
	err := t.CheckNumber()
	if err == nil && file.opts.Fractions && t.Type == "double" {
		err = errors.New("found float64 numbers, wanted fractions")
	}
	return err
}

// hasChoices reports whether the model is nondeterministic. Then actions belong to choices. In other models they
// belong to branches.
func (file *umbFile) hasChoices() bool {
	return sparseKind(file.modelType) == sparse.MDP
}

// checkAnnotations returns an error for labels and rewards that cannot be read. Other annotations, and unusable
// valuations, give a warning.
func (file *umbFile) checkAnnotations() error {
	for _, group := range file.index.Annotations {
		for i := range group.Value {
			member := &group.Value[i]
			if err := file.checkAnnotation(group.Name, &member.Value); err != nil {
				return fmt.Errorf("%s/%s: %w", group.Name, member.Name, err)
			}
		}
	}
	valuation, ok := file.index.Valuations["states"]
	if !ok {
		return nil
	}
	if problem := file.readVariables(valuation); problem != "" {
		file.variables = nil
		file.warnings = append(file.warnings, file.valuationWarning(problem))
	}
	return nil
}

// checkAnnotation returns an error for a label or rewards that cannot be read. Labels are in the group "aps". Any
// other group gives a warning.
func (file *umbFile) checkAnnotation(group string, annotation *umb.Annotation) error {
	switch group {
	case "aps":
		isLabel := annotation.Type.Type == "bool" && annotation.Type.Bits() == 1 && slices.Equal(annotation.AppliesTo, []string{"states"})
		if !isLabel {
			return fmt.Errorf("found an atomic proposition of type %q, wanted bool, of states", annotation.Type.Type)
		}
	case "rewards":
		if err := file.checkRewards(annotation); err != nil {
			return err
		}
	default:
		file.warnings = append(file.warnings, fmt.Sprintf("the annotations %q of %s are not used", group, file.src.Name))
	}
	if annotation.Probability != nil {
		return errors.New("found values with probabilities, which are not supported")
	}
	return nil
}

// checkRewards returns an error unless the rewards are numbers of states, choices or branches. Only models without
// choices may have rewards of branches.
func (file *umbFile) checkRewards(annotation *umb.Annotation) error {
	if err := file.checkNumber(&annotation.Type); err != nil {
		return err
	}
	for _, kind := range annotation.AppliesTo {
		isKnown := slices.Contains([]string{"states", "choices", "branches"}, kind)
		if !isKnown || kind == "branches" && file.hasChoices() {
			return fmt.Errorf("found rewards of %s, which are not supported for a model of type %s", kind, file.modelType)
		}
	}
	return nil
}

// readVariables reads the layout of the packed valuations. If they cannot be used, problem is the reason.
func (file *umbFile) readVariables(valuation umb.Valuation) (problem string) {
	const maxPadding, maxBits = 1 << 16, 1 << 20
	if len(valuation.Classes) != 1 {
		return fmt.Sprintf("there are %d classes of them, and only one is supported", len(valuation.Classes))
	}
	bitOffset := 0
	for i := range valuation.Classes[0].Variables {
		declared := &valuation.Classes[0].Variables[i]
		if declared.Padding > maxPadding {
			return fmt.Sprintf("there are %d bits of padding", declared.Padding)
		}
		if declared.Padding > 0 {
			bitOffset += int(declared.Padding)
			continue
		}
		if problem := file.addVariable(declared, bitOffset); problem != "" {
			return problem
		}
		bitOffset += int(declared.Type.Bits())
	}
	if bitOffset%8 != 0 || bitOffset == 0 || bitOffset > maxBits {
		return fmt.Sprintf("they have %d bits, which is not a supported number of whole bytes", bitOffset)
	}
	return ""
}

// addVariable adds a variable at an offset in bits. If the variable cannot be read, problem is the reason.
func (file *umbFile) addVariable(declared *umb.Variable, bitOffset int) (problem string) {
	if declared.Type == nil || declared.Optional {
		return fmt.Sprintf("variable %s is optional or has no type", quote([]byte(declared.Name)))
	}
	variable := umbVariable{name: declared.Name, bitOffset: bitOffset, valueOffset: declared.Offset, kind: sema.Int}
	numBits := declared.Type.Bits()
	switch {
	case declared.Type.Type == "bool" && numBits <= 64:
		variable.kind = sema.Bool
	case (declared.Type.Type == "int" || declared.Type.Type == "uint") && numBits <= 64:
		variable.signed = declared.Type.Type == "int"
	default:
		return fmt.Sprintf("variable %s is of type %s with %d bits", quote([]byte(declared.Name)), declared.Type.Type, numBits)
	}
	isKnown := slices.ContainsFunc(file.variables, func(known umbVariable) bool { return known.name == declared.Name })
	if !syntax.IsIdent(declared.Name) || isKnown {
		return fmt.Sprintf("%s is not the name of one variable", quote([]byte(declared.Name)))
	}
	if declared.Lower != nil && declared.Upper != nil {
		variable.low, variable.high, variable.bounded = *declared.Lower, *declared.Upper, true
	}
	variable.numBits = int(numBits)
	file.variables = append(file.variables, variable)
	return ""
}

// valuationSize returns the size of a packed valuation in bytes.
func (file *umbFile) valuationSize() int {
	numBits := 0
	for _, variable := range file.index.Valuations["states"].Classes[0].Variables {
		numBits += int(variable.Padding)
		if variable.Padding == 0 {
			numBits += int(variable.Type.Bits())
		}
	}
	return numBits / 8
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
