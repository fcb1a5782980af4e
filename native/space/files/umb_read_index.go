package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"tilecheck/internal/umb"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// readIndex parses the index of the file, which has the type and the size of the model, and the types of the numbers. It returns an error
// if the model cannot be read.
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

// umbVariable is a variable of a packed valuation.
type umbVariable struct {
	name               string
	kind               sema.Type
	bitOffset, numBits int
	isSigned           bool
	valueOffset        int64
	low, high          int64 // the declared range if bounded is set, otherwise the range of the values found
	hasBounds          bool
}

// readModelType determines the type of the model from the index. It returns an error if this type cannot be read, or is not the one that
// the caller requested.
func (file *umbFile) readModelType(system *umb.System) error {
	_, hasIntervals := system.Probability.Bound()
	file.modelType = umbModelType(system, hasIntervals)
	file.isMarkovAutomaton = system.Time == umbMarkovTime
	if file.modelType == syntax.TypeNone {
		return fmt.Errorf("found a model with time %s, %d players and %d observations, only DTMCs, MDPs, those with intervals, CTMCs, Markov automata, SMGs and LTSs can be read",
			textlines.Quote([]byte(system.Time)), system.Players, system.Observations)
	}
	if file.opts.Type != syntax.TypeNone && file.opts.Type != file.modelType {
		return fmt.Errorf("found a model of type %s, wanted the requested type %s", file.modelType, file.opts.Type)
	}
	return nil
}

// umbMarkovTime is the time of a Markov automaton.
const umbMarkovTime = "urgent-stochastic"

// umbModelType returns the type of a model, given the index. hasIntervals says that the probabilities are intervals. A Markov automaton has
// the type of the MDP of its jumps. It returns TypeNone if the model cannot be read.
func umbModelType(system *umb.System, hasIntervals bool) syntax.ModelType {
	isChain := system.Players == 0
	isMDP := system.Players == 1 && system.Observations == 0
	isGame := system.Players > 1 && system.Observations == 0
	hasProbabilities := system.Probability != nil
	hasExactProbabilities := hasProbabilities && !hasIntervals
	switch {
	case system.Time == "stochastic" && isChain:
		return syntax.CTMC
	case system.Time == umbMarkovTime && isMDP && hasExactProbabilities:
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
	case isGame && hasExactProbabilities:
		return syntax.SMG
	}
	return syntax.TypeNone
}

// checkTotals returns an error if the numbers of states, choices, branches, players or actions in the index are too large, or if there are
// no states. Observations are not supported.
func (file *umbFile) checkTotals(system *umb.System) error {
	hasValidStates := system.States >= 1 && system.States <= math.MaxInt32
	hasTooManyRows := system.Choices > math.MaxUint32-1 || system.Branches > math.MaxUint32-1
	if !hasValidStates || hasTooManyRows || system.Observations > 0 {
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

// checkWeightTypes returns an error if the type of the probabilities or of the exit rates cannot be read. If the probabilities are
// intervals, it sets the option for fractions, because interval models need them.
func (file *umbFile) checkWeightTypes(system *umb.System) error {
	boundType, hasIntervals := system.Probability.Bound()
	if file.modelType != syntax.LTS {
		if err := file.checkNumberType(boundType); err != nil {
			return fmt.Errorf("branch-probability-type: %w", err)
		}
	}
	file.opts.Exact = file.opts.Exact || hasIntervals
	if file.hasExitRates() {
		if err := file.checkNumberType(system.ExitRate); err != nil {
			return fmt.Errorf("exit-rate-type: %w", err)
		}
	}
	return nil
}

// hasExitRates reports whether states have exit rates.
func (file *umbFile) hasExitRates() bool {
	return file.modelType == syntax.CTMC || file.isMarkovAutomaton
}

// checkNumberType checks that the type of a column of numbers can be read.
func (file *umbFile) checkNumberType(numberType *umb.Type) error {
	err := numberType.CheckNumber()
	if err == nil && file.opts.Fractions && numberType.Type == "double" {
		err = errors.New("found float64 numbers, wanted fractions")
	}
	return err
}

// hasChoices reports whether the model is nondeterministic. Then actions belong to choices. In other models they
// belong to branches.
func (file *umbFile) hasChoices() bool {
	return sparseKind(file.modelType) == sparse.MDP
}

// checkAnnotations returns an error if labels or rewards in the index cannot be read. Other annotations are not used, and give a warning.
// So do valuations with an unsupported layout.
func (file *umbFile) checkAnnotations() error {
	for _, group := range file.index.Annotations {
		for position := range group.Value {
			member := &group.Value[position]
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

// checkAnnotation returns an error if an annotation, which has a label or rewards, cannot be read. Labels are in the group "aps". An
// annotation of another group gives a warning.
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
		file.warnings = append(file.warnings, fmt.Sprintf("the annotations %q of %s are not used", group, file.source.Name))
	}
	if annotation.Probability != nil {
		return errors.New("found values with probabilities, which are not supported")
	}
	return nil
}

// checkRewards returns an error unless an annotation has numbers for states, choices or branches. Only models without choices may have
// rewards of branches.
func (file *umbFile) checkRewards(annotation *umb.Annotation) error {
	if err := file.checkNumberType(&annotation.Type); err != nil {
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

// readVariables reads from the index how the values of the variables are packed in a valuation. If they cannot be used, problem is the
// reason.
func (file *umbFile) readVariables(valuation umb.Valuation) (problem string) {
	const maxPadding, maxBits = 1 << 16, 1 << 20
	if len(valuation.Classes) != 1 {
		return fmt.Sprintf("there are %d classes of them, and only one is supported", len(valuation.Classes))
	}
	bitOffset := 0
	for position := range valuation.Classes[0].Variables {
		declared := &valuation.Classes[0].Variables[position]
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

// addVariable adds a variable, whose value starts at bitOffset in a packed valuation. If the variable cannot be read, problem is the
// reason.
func (file *umbFile) addVariable(declared *umb.Variable, bitOffset int) (problem string) {
	if declared.Type == nil || declared.Optional {
		return fmt.Sprintf("variable %s is optional or has no type", textlines.Quote([]byte(declared.Name)))
	}
	variable := umbVariable{name: declared.Name, bitOffset: bitOffset, valueOffset: declared.Offset, kind: sema.Int}
	numBits := declared.Type.Bits()
	switch {
	case declared.Type.Type == "bool" && numBits <= 64:
		variable.kind = sema.Bool
	case (declared.Type.Type == "int" || declared.Type.Type == "uint") && numBits <= 64:
		variable.isSigned = declared.Type.Type == "int"
	default:
		return fmt.Sprintf("variable %s is of type %s with %d bits", textlines.Quote([]byte(declared.Name)), declared.Type.Type, numBits)
	}
	isRepeated := slices.ContainsFunc(file.variables, func(known umbVariable) bool { return known.name == declared.Name })
	if !syntax.IsIdent(declared.Name) || isRepeated {
		return fmt.Sprintf("%s is not the name of one variable", textlines.Quote([]byte(declared.Name)))
	}
	if declared.Lower != nil && declared.Upper != nil {
		variable.low, variable.high, variable.hasBounds = *declared.Lower, *declared.Upper, true
	}
	variable.numBits = int(numBits)
	file.variables = append(file.variables, variable)
	return ""
}

// valuationSize returns the number of bytes of a packed valuation. This is the size of all variables and the padding between them.
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
