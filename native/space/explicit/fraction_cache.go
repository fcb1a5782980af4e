package explicit

import (
	"encoding/binary"
	"math/big"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// fractionCache caches the values of some expressions as fractions. The key of a state encodes all that the expressions depend on: the values of
// variables, and the truth values of conditions. So the states in which the same commands race share the rates divided by their sum.
type fractionCache struct {
	variables  []dependency
	conditions []compile.Evaluator
	values     map[string][]*big.Rat
	numValues  int    // number of fractions in values
	key        []byte // scratch space for the key of a state
}

// dependency is a variable on which the expressions depend. If they use the variable only in tests, such as x>3, then values with equal test
// results form a class.
type dependency struct {
	slot         int
	leastValue   int32
	classOfValue []uint16 // of each value, from leastValue on; nil if each value has its own
}

const (
	// maxFractions is the largest number of fractions in a cache.
	maxFractions = 1 << 18
	// maxTests is the largest number of evaluations of the tests of a variable.
	maxTests = 1 << 16
)

// newFractionCache returns an empty cache for the values of some expressions.
func newFractionCache(model *compile.Model, exprs []sema.Expr) (*fractionCache, error) {
	cache := &fractionCache{values: make(map[string][]*big.Rat)}
	operands := findStateOperands(exprs)
	conditions := operands.conditions
	for _, slot := range operands.slots {
		variable := &model.Program().Vars[slot]
		tests := operands.tests[slot]
		added := dependency{slot: slot, leastValue: variable.Low}
		numValues := int64(variable.High) - int64(variable.Low) + 1
		switch {
		case operands.isValueUsed[slot]: // each value is its own class
		case int64(len(tests)) > maxTests/numValues || !added.partitionValues(tests, numValues, make([]int32, len(model.Program().Vars))):
			conditions = append(conditions, tests...)
			continue
		}
		cache.variables = append(cache.variables, added)
	}
	for _, condition := range conditions {
		evaluator, err := model.Evaluator(condition)
		if err != nil {
			return nil, err
		}
		cache.conditions = append(cache.conditions, evaluator)
	}
	return cache, nil
}

// stateOperands are the largest operands of some expressions through which a state determines their values.
type stateOperands struct {
	slots       []int               // the variables in tests and those whose values are used, in the order of their first use
	isValueUsed map[int]bool        // the variables that occur outside of conditions
	tests       map[int][]sema.Expr // conditions with one variable, such as x>3
	conditions  []sema.Expr         // conditions with several variables, such as x<y
}

// findStateOperands finds the operands of some expressions through which a state determines their values.
func findStateOperands(exprs []sema.Expr) *stateOperands {
	operands := &stateOperands{isValueUsed: make(map[int]bool), tests: make(map[int][]sema.Expr)}
	isKnown := make(map[sema.Expr]bool) // expressions can share operands
	for _, expr := range exprs {
		sema.Inspect(expr, func(operand sema.Expr) bool {
			isNew := !isKnown[operand]
			isKnown[operand] = true
			return isNew && operands.add(operand)
		})
	}
	return operands
}

// add adds a variable or a condition. It returns true if the expression is neither of them, so that its operands must be added.
func (operands *stateOperands) add(expr sema.Expr) bool {
	variable, isVariable := expr.(*sema.Var)
	if !isVariable && expr.Type() != sema.Bool {
		return true
	}
	slots := sema.SlotsOf(expr)
	if len(slots) > 1 {
		operands.conditions = append(operands.conditions, expr)
		return false
	}
	for _, slot := range slots {
		if !operands.isValueUsed[slot] && operands.tests[slot] == nil {
			operands.slots = append(operands.slots, slot)
		}
		if isVariable && variable.ValueType != sema.Bool {
			operands.isValueUsed[slot] = true
		} else {
			operands.tests[slot] = append(operands.tests[slot], expr)
		}
	}
	return false
}

// partitionValues divides the values of a variable into classes with equal results of all tests. It returns false if a test fails. It overwrites state.
func (variable *dependency) partitionValues(tests []sema.Expr, numValues int64, state []int32) bool {
	classes := make([]uint16, numValues)
	classByResults := make(map[string]uint16) // the keys are the results of all tests, one byte each
	results := make([]byte, len(tests))
	for i := range classes {
		state[variable.slot] = variable.leastValue + int32(i)
		if !evaluateTests(results, tests, state) {
			return false
		}
		class, isKnown := classByResults[string(results)]
		if !isKnown {
			class = uint16(len(classByResults))
			classByResults[string(results)] = class
		}
		classes[i] = class
	}
	variable.classOfValue = classes
	return true
}

// evaluateTests evaluates each test in a state and stores the results as 0 or 1. It returns false if an evaluation fails.
func evaluateTests(results []byte, tests []sema.Expr, state []int32) bool {
	for index, expr := range tests {
		value, _, err := sema.EvalExact(expr, state)
		if err != nil {
			return false
		}
		results[index] = 0
		if value.Bool {
			results[index] = 1
		}
	}
	return true
}

// get returns the values of the expressions in a state. If the cache does not have them, it calls compute, and stores the result while there is space. It
// does not store errors.
func (cache *fractionCache) get(state []int32, compute func() ([]*big.Rat, error)) ([]*big.Rat, error) {
	if !cache.encodeKey(state) {
		return compute()
	}
	if values, isKnown := cache.values[string(cache.key)]; isKnown {
		return values, nil
	}
	values, err := compute()
	if err == nil && cache.numValues < maxFractions {
		cache.values[string(cache.key)] = values
		cache.numValues += 1 + len(values)
	}
	return values, err
}

// encodeKey sets key to the key of a state. It returns false if a condition has no value.
func (cache *fractionCache) encodeKey(state []int32) bool {
	cache.key = cache.key[:0]
	for i := range cache.variables {
		variable := &cache.variables[i]
		if value := state[variable.slot]; variable.classOfValue == nil {
			cache.key = binary.LittleEndian.AppendUint32(cache.key, uint32(value))
		} else {
			cache.key = binary.LittleEndian.AppendUint16(cache.key, variable.classOfValue[value-variable.leastValue])
		}
	}
	for i, condition := range cache.conditions {
		if i%8 == 0 {
			cache.key = append(cache.key, 0)
		}
		holds, err := condition.Bool(state)
		if err != nil {
			return false
		}
		if holds {
			cache.key[len(cache.key)-1] |= 1 << (i % 8)
		}
	}
	return true
}
