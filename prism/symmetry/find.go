package symmetry

import (
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Class is a set of at least two interchangeable modules.
type Class struct {
	Modules []int // indices into Program.Modules, ascending
	// Slots has the local variables of each module, as indices into Program.Vars. Variables at the same position correspond to
	// each other: they have the same type and the same range.
	Slots [][]int
}

// Find returns classes of interchangeable modules: swapping two modules of a class does not change the values of the properties. It returns nil
// if there are none, or if a property is not preserved: a filter that counts or lists states, a strategy, or several objectives. It also returns
// nil unless the program is a DTMC, a CTMC or an MDP without a system block.
func Find(program *sema.Program, properties ...sema.Expr) []Class {
	finder := newFinderFor(program, properties)
	if finder == nil {
		return nil
	}
	var classes []Class
	for i := range program.Modules {
		finder.addToClass(&classes, i)
	}
	return slices.DeleteFunc(classes, func(class Class) bool { return len(class.Modules) < 2 })
}

// newFinderFor returns a finder of symmetries of a program. It returns nil if the program is not supported, or if symmetry does not preserve a
// property.
func newFinderFor(program *sema.Program, properties []sema.Expr) *finder {
	if !isSupported(program) {
		return nil
	}
	finder := newFinder(program)
	for _, property := range properties {
		if !finder.collectObserved(property) {
			return nil
		}
	}
	finder.readTexts()
	return finder
}

// isSupported reports whether symmetry is implemented for a program.
func isSupported(program *sema.Program) bool {
	switch program.Type {
	case syntax.DTMC, syntax.CTMC, syntax.MDP:
		return program.System == nil
	}
	return false
}

// finder compares a program with itself after two modules have been swapped.
type finder struct {
	program     *sema.Program
	identity    *renaming
	observed    []sema.Expr  // state formulas of the properties; their values must not change
	usedRewards map[int]bool // the reward structures of the properties, by index
	// moduleTexts has the sorted texts of the commands of each module, rewardTexts those of the reward structures.
	moduleTexts [][]string
	rewardTexts []string
}

// newFinder returns a finder without properties.
func newFinder(program *sema.Program) *finder {
	return &finder{program: program, identity: newRenaming(program, nil, nil), usedRewards: map[int]bool{}}
}

// readTexts stores the texts of the commands and the rewards. All properties must have been collected.
func (f *finder) readTexts() {
	f.moduleTexts = f.commandTexts(f.identity)
	f.rewardTexts = f.textsOfRewards(f.identity)
}

// addToClass adds a module to a class of modules with which it is interchangeable, or to a new class.
func (f *finder) addToClass(classes *[]Class, module int) {
	slots := f.program.Modules[module].Vars
	if len(slots) == 0 {
		return
	}
	for i := range *classes {
		class := &(*classes)[i]
		// It is enough to compare with the first module, because swaps with this module generate all permutations of the class.
		if f.areInterchangeable(class.Modules[0], module) {
			class.Modules, class.Slots = append(class.Modules, module), append(class.Slots, slots)
			return
		}
	}
	*classes = append(*classes, Class{[]int{module}, [][]int{slots}})
}

// areInterchangeable reports whether a swap of two modules leaves the program and the observed formulas unchanged.
func (f *finder) areInterchangeable(first, second int) bool {
	renaming := f.swapRenaming(first, second)
	if renaming == nil {
		return false
	}
	swappedModule := map[int]int{first: second, second: first}
	for i, texts := range f.commandTexts(renaming) {
		if !slices.Equal(texts, f.moduleTexts[image(swappedModule, i)]) {
			return false
		}
	}
	return slices.Equal(f.textsOfRewards(renaming), f.rewardTexts) && f.preservesObserved(renaming)
}

// preservesObserved reports whether a permutation of variables preserves the set of initial states and the values of all state formulas in the
// properties.
func (f *finder) preservesObserved(permutation *renaming) bool {
	if f.identity.exprText(f.program.Init) != permutation.exprText(f.program.Init) {
		return false
	}
	for _, expr := range f.observed {
		hasSameText := f.identity.exprText(expr) == permutation.exprText(expr)
		if !hasSameText && !f.isEqualEverywhere(expr, permutation) {
			return false
		}
	}
	return true
}

// maxValuations is the largest number of valuations for which formulas with different texts are compared by evaluation.
const maxValuations = 1 << 14

// isEqualEverywhere reports whether a permutation of variables preserves the value of an expression in every state. For example, a swap of x1 and
// x3 preserves x1=x2 & x2=x3. It returns false if there are too many valuations to check.
func (f *finder) isEqualEverywhere(expr sema.Expr, permutation *renaming) bool {
	slots := f.permutedVariables(expr, permutation)
	count := f.valuationCount(slots)
	if count > maxValuations {
		return false
	}
	state, permutedState := make([]int32, len(f.program.Vars)), make([]int32, len(f.program.Vars))
	for number := range count {
		f.setValuation(state, slots, number)
		for _, slot := range slots {
			permutedState[image(permutation.slots, slot)] = state[slot]
		}
		value, err := sema.Eval(expr, state)
		permutedValue, permutedErr := sema.Eval(expr, permutedState)
		if err != nil || permutedErr != nil || value.String() != permutedValue.String() {
			return false
		}
	}
	return true
}

// setValuation sets the variables in slots to the valuation with this number. In a number system with mixed bases, each digit of the number is
// the value of a variable minus its lowest value.
func (f *finder) setValuation(state []int32, slots []int, number int) {
	for _, slot := range slots {
		variable := &f.program.Vars[slot]
		numValues := int(variable.High-variable.Low) + 1
		state[slot] = variable.Low + int32(number%numValues)
		number /= numValues
	}
}

// valuationCount returns the number of valuations of the variables in the given slots. Above maxValuations the number is not exact.
func (f *finder) valuationCount(slots []int) int {
	count := 1
	for _, slot := range slots {
		variable := &f.program.Vars[slot]
		count *= int(min(int64(variable.High)-int64(variable.Low)+1, maxValuations+1))
		if count > maxValuations {
			break
		}
	}
	return count
}

// permutedVariables returns the slots that matter for an expression and a permutation, in ascending order: the variables of the expression, the
// variables to which they are mapped, and the variables that are mapped to them.
func (f *finder) permutedVariables(expr sema.Expr, permutation *renaming) []int {
	preimages := map[int]int{}
	for from, to := range permutation.slots {
		preimages[to] = from
	}
	var slots []int
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if variable, ok := operand.(*sema.Var); ok {
			slots = append(slots, variable.Slot, image(permutation.slots, variable.Slot), image(preimages, variable.Slot))
		}
		return true
	})
	slices.Sort(slots)
	return slices.Compact(slots)
}

// swapRenaming returns the renaming that swaps two modules: variable i of one module with variable i of the other, and likewise the actions. It
// returns nil if the variables or actions of the modules do not match.
func (f *finder) swapRenaming(first, second int) *renaming {
	firstModule, secondModule := &f.program.Modules[first], &f.program.Modules[second]
	if len(firstModule.Vars) != len(secondModule.Vars) || len(firstModule.Alphabet) != len(secondModule.Alphabet) {
		return nil
	}
	slots, actions := map[int]int{}, map[int]int{}
	for i, slot := range firstModule.Vars {
		counterpart := secondModule.Vars[i]
		if !haveSameDomain(&f.program.Vars[slot], &f.program.Vars[counterpart]) {
			return nil
		}
		slots[slot], slots[counterpart] = counterpart, slot
	}
	for i, action := range firstModule.Alphabet {
		if !addSwap(actions, action, secondModule.Alphabet[i]) {
			return nil
		}
	}
	return newRenaming(f.program, slots, actions)
}

// haveSameDomain reports whether two variables have the same type, range and initial value.
func haveSameDomain(left, right *sema.Variable) bool {
	return left.Type == right.Type && left.IsBounded == right.IsBounded &&
		left.Low == right.Low && left.High == right.High && left.Init == right.Init
}

// addSwap adds the swap of two numbers to a permutation. It returns false if the permutation already maps one of them to a third number.
func addSwap(permutation map[int]int, first, second int) bool {
	for number, to := range map[int]int{first: second, second: first} {
		if image, ok := permutation[number]; ok && image != to {
			return false
		}
		permutation[number] = to
	}
	return true
}

// preservedFilters are the names of the filters whose value does not depend on the number of states.
var preservedFilters = map[string]bool{"min": true, "max": true, "range": true, "forall": true, "exists": true}

// collectObserved collects the state formulas and the reward structures on which a property depends. It returns false if symmetry does not preserve the value
// of the property.
func (f *finder) collectObserved(property sema.Expr) bool {
	isPreserved := true
	sema.Inspect(property, func(expr sema.Expr) bool {
		switch expr := expr.(type) {
		case *sema.Filter:
			isPreserved = isPreserved && preservedFilters[expr.Op]
		case *sema.Strategy, *sema.Multi:
			isPreserved = false
		case *sema.Label:
			if expr.Index >= 0 {
				f.observed = append(f.observed, f.program.Labels[expr.Index].Expr)
			}
		case *sema.Reward:
			f.usedRewards[expr.Struct] = true
			f.usedRewards[expr.DivisorStruct] = true
		case *sema.RewardPath:
			f.collectCosts(expr.Costs)
		case *sema.CostBounded:
			f.collectCosts(expr.Costs)
		default:
			if sema.IsStateFormula(expr) {
				f.observed = append(f.observed, expr)
				return false
			}
		}
		return isPreserved
	})
	return isPreserved
}

// collectCosts collects the reward structures on which reward bounds depend and, for a bound on time, the exit rate.
func (f *finder) collectCosts(costs []sema.Cost) {
	for _, cost := range costs {
		f.usedRewards[cost.Struct] = true
		if cost.IsTime && f.program.Rate != nil {
			f.observed = append(f.observed, f.program.Rate)
		}
	}
}
