package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
)

// importSpace makes a space of the model with the valuations of the file. If they cannot be used, there is a warning, and each state has
// one variable, with its number.
func (builder *umbBuilder) importSpace(imported *explicit.Imported) (*explicit.Space, error) {
	if builder.opts.OperatorT {
		addOperatorT(imported)
	}
	imported.Warnings = slices.Concat(imported.Warnings, builder.umbFile.warnings, builder.assembly.warnings())
	if builder.valuations != nil {
		space, problem, err := builder.importValuations(imported)
		if problem == "" {
			return space, err
		}
		imported.Warnings = append(imported.Warnings, builder.umbFile.valuationWarning(problem))
	}
	imported.Vars, imported.Valuation = numberVariable(builder.umbFile.numStates)
	return explicit.Import(imported)
}

// valuationWarning returns a warning about valuations that cannot be used. problem is the reason.
func (file *umbFile) valuationWarning(problem string) string {
	return fmt.Sprintf("the valuations in %s cannot be used: %s; instead, each state has one variable x, the number of the state", file.source.Name, problem)
}

// importValuations makes a space of the model with the valuations of the file. If they cannot be used, problem is the reason. They must be
// different for all states.
func (builder *umbBuilder) importValuations(imported *explicit.Imported) (space *explicit.Space, problem string, err error) {
	vars, values, problem := builder.readValuations()
	if problem != "" {
		return nil, problem, nil
	}
	imported.Vars, imported.Valuation = vars, values
	space, err = explicit.Import(imported)
	if duplicate, ok := errors.AsType[*explicit.DuplicateError](err); ok {
		return nil, fmt.Sprintf("states %d and %d have the same valuation", duplicate.First, duplicate.Second), nil
	}
	return space, "", err
}

// readValuations returns the variables of the states, and a function that returns their values in a state. If they cannot be used, problem
// is the reason.
func (builder *umbBuilder) readValuations() (vars []sema.Variable, valuation func(state int) []int32, problem string) {
	if problem := builder.findRanges(); problem != "" {
		return nil, nil, problem
	}
	for slot := range builder.variables {
		declared, problem := builder.variables[slot].declaration()
		if problem != "" {
			return nil, nil, problem
		}
		vars = append(vars, declared)
	}
	paddedValuation, values := builder.newPaddedValuation(), make([]int32, len(builder.variables))
	return vars, func(state int) []int32 {
		builder.copyValuation(paddedValuation, state)
		for slot := range builder.variables {
			values[slot] = int32(builder.variables[slot].unpack(paddedValuation))
		}
		return values
	}, ""
}

// findRanges computes the range of each variable for which the file declares none, from the values in all states. If a value is outside a
// declared range, problem says so.
func (builder *umbBuilder) findRanges() (problem string) {
	paddedValuation := builder.newPaddedValuation()
	for state := range builder.umbFile.numStates {
		builder.copyValuation(paddedValuation, state)
		for slot := range builder.variables {
			variable := &builder.variables[slot]
			if value := variable.unpack(paddedValuation); !variable.extendRange(value, state == 0) {
				return fmt.Sprintf("variable %s is %d in state %d, which is out of its range", variable.name, value, state)
			}
		}
	}
	return ""
}

// newPaddedValuation returns memory for a packed valuation and the 9 more bytes that unpack needs.
func (file *umbFile) newPaddedValuation() []byte { return make([]byte, file.valuationSize()+9) }

// copyValuation copies the packed valuation of a state to paddedValuation.
func (file *umbFile) copyValuation(paddedValuation []byte, state int) {
	size := len(paddedValuation) - 9
	copy(paddedValuation, file.valuations[state*size:(state+1)*size])
}

// extendRange extends the range of a variable by a value, if the file declares no range. isFirst says that the value is the first one. It
// returns false if the value is outside a declared range, or needs more than 32 bits.
func (variable *umbVariable) extendRange(value int64, isFirst bool) bool {
	if int64(int32(value)) != value {
		return false
	}
	if variable.hasBounds {
		return variable.kind != sema.Int || variable.low <= value && value <= variable.high
	}
	if isFirst {
		variable.low, variable.high = value, value
	}
	variable.low, variable.high = min(variable.low, value), max(variable.high, value)
	return true
}

// declaration returns the declaration of the variable for a program. If its range does not fit 32 bits, problem says so.
func (variable *umbVariable) declaration() (declared sema.Variable, problem string) {
	declared = sema.Variable{Name: variable.name, Type: variable.kind, Low: int32(variable.low), High: int32(variable.high)}
	if variable.kind == sema.Bool {
		declared.Low, declared.High = 0, 1
		return declared, ""
	}
	if int64(declared.Low) != variable.low || int64(declared.High) != variable.high {
		return declared, fmt.Sprintf("variable %s has the range [%d..%d]", variable.name, variable.low, variable.high)
	}
	return declared, ""
}

// unpack returns the value of the variable from a packed valuation. It takes the bits of the variable, extends their sign if it is signed,
// and adds the offset of values. 9 more bytes must follow the valuation.
func (variable *umbVariable) unpack(packed []byte) int64 {
	firstByte, shift := variable.bitOffset/8, variable.bitOffset%8
	packedBits := binary.LittleEndian.Uint64(packed[firstByte:]) >> shift
	if shift > 0 {
		packedBits |= uint64(packed[firstByte+8]) << (64 - shift)
	}
	if variable.numBits < 64 {
		packedBits &= 1<<variable.numBits - 1
	}
	switch {
	case variable.kind == sema.Bool && packedBits != 0:
		return 1
	case variable.isSigned && variable.numBits < 64 && packedBits>>(variable.numBits-1) != 0:
		packedBits |= ^uint64(0) << variable.numBits
	}
	return int64(packedBits) + variable.valueOffset
}
