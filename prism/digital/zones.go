package digital

import (
	"math"
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Zones is what the analysis of a timed automaton by zones has to know of the automaton and of a property, one P operator.
type Zones struct {
	// Source is the automaton.
	Source *sema.Program
	// Locations is Source without clock constraints: an MDP without rewards whose states include the locations, the valuations of the discrete
	// variables. A clock has the value NotSet, until an update sets it.
	Locations *sema.Program
	// Clocks are the slots of the clocks. Limits has for each the largest number that it is compared with; clocks that are compared with each
	// other have the same limit.
	Clocks []int
	Limits []int64
	// Pairs has the slots of the clocks that are compared with each other.
	Pairs [][2]int
	// Threshold is that of the P operator, and Path its path formula: F, U or G of state formulas, perhaps with an upper time bound. Least says that
	// the schedulers minimise the probability.
	Threshold sema.Threshold
	Path      *logic.Path
	Least     bool
	// Deadline is the number in the time bound; nil if there is none.
	Deadline *int64
}

// NotSet is the value of a clock in Zones.Locations before an update sets it.
const NotSet = -1

// ForZones prepares the analysis of a timed automaton by zones, which are sets of clock valuations. The program must include the labels of the
// properties file. The error is an *Error.
func ForZones(program *sema.Program, property *sema.Property) (*Zones, error) {
	translation := survey(program, property)
	formula := logic.FormulaOf(property.Expr)
	if formula.Kind != logic.Probability {
		translation.unsupported(property.Expr.Pos(), "found %s, want one P operator for zones of clocks", logic.Describe(property.Expr))
	}
	if translation.err != nil {
		return nil, translation.err
	}
	isMinimum, isOptimum := formula.Threshold.IsMinimum(false)
	if !isOptimum {
		translation.unsupported(property.Expr.Pos(), "found P=?, want Pmin=? or Pmax=? for timed automata")
	}
	translation.equalizeLimits()
	translation.errorsAreInModel = true
	translation.checkClockLimits()
	if translation.err != nil {
		return nil, translation.err
	}
	zones := &Zones{
		Source: program, Locations: translation.locations(), Clocks: translation.clockSlots(), Deadline: translation.deadline,
		Threshold: formula.Threshold, Path: formula.Path, Least: isMinimum,
	}
	for _, slot := range zones.Clocks {
		zones.Limits = append(zones.Limits, translation.clocks[slot].maxCompared)
	}
	for _, pair := range translation.clockPairs {
		zones.Pairs = append(zones.Pairs, [2]int{pair.first, pair.second})
	}
	return zones, nil
}

// checkClockLimits records an error if a clock is compared with a number that is too large.
func (t *translation) checkClockLimits() {
	for _, slot := range t.clockSlots() {
		if limit := t.clocks[slot].maxCompared; limit > maxNumber {
			t.unsupported(t.clockPos(slot), "found a clock that is compared with %d, which is too large", limit)
		}
	}
}

// locations returns an MDP whose states are the locations of the automaton, without clock constraints, labels and rewards. Each clock becomes an integer
// variable with the value NotSet, until an update sets the clock.
func (t *translation) locations() *sema.Program {
	program := *t.source
	program.Type = syntax.MDP
	program.Labels, program.Rewards = nil, nil
	program.Vars = slices.Clone(program.Vars)
	for _, slot := range t.clockSlots() {
		variable := &program.Vars[slot]
		variable.Type, variable.IsBounded = sema.Int, true
		variable.Low, variable.High, variable.Init = NotSet, math.MaxInt32, NotSet
	}
	program.Modules = slices.Clone(program.Modules)
	for i := range program.Modules {
		t.removeConstraints(&program.Modules[i])
	}
	return &program
}

// removeConstraints removes the clock constraints in the invariant and in the guards of a module. It copies the commands.
func (t *translation) removeConstraints(module *sema.Module) {
	module.Invariant = nil
	module.Commands = slices.Clone(module.Commands)
	for i := range module.Commands {
		command := &module.Commands[i]
		command.Guard = t.withoutConstraints(command.Guard, true)
	}
}

// withoutConstraints returns a condition without clocks: each clock constraint becomes true or false. With isPositive, the result is true wherever some values
// of the clocks make the condition true. Otherwise it is false wherever some values make the condition false.
func (t *translation) withoutConstraints(expr sema.Expr, isPositive bool) sema.Expr {
	switch expr := expr.(type) {
	case *sema.Unary:
		return &sema.Unary{Base: expr.Base, Op: expr.Op, X: t.withoutConstraints(expr.X, isPositive != (expr.Op == syntax.OpNot))}
	case *sema.Binary:
		if _, isComparison := t.comparedClock(expr); isComparison {
			return &sema.Const{Base: typeAndPos(sema.Bool, expr.Pos()), Val: sema.BoolValue(isPositive)}
		}
		if expr.X.Type() == sema.Bool {
			left := t.withoutConstraints(expr.X, isPositive != (expr.Op == syntax.OpImplies))
			return &sema.Binary{Base: expr.Base, Op: expr.Op, X: left, Y: t.withoutConstraints(expr.Y, isPositive)}
		}
	case *sema.Cond:
		if expr.Type() == sema.Bool {
			return &sema.Cond{Base: expr.Base, Condition: expr.Condition, Then: t.withoutConstraints(expr.Then, isPositive), Else: t.withoutConstraints(expr.Else, isPositive)}
		}
	}
	return expr
}
