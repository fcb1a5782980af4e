package explicit

import (
	"fmt"
	"sync/atomic"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Differences counts the states in which an expression of type Bool or Int has different values in float64 arithmetic, which PRISM uses, and in exact
// arithmetic. first is the first of these states. With a guard, only states that satisfy it count.
func (space *Space) Differences(expr, guard sema.Expr) (count, first int, err error) {
	if space.floatAnalysis().IsDecided(expr) || !sema.NeedsOnlyVariables(expr) {
		return 0, 0, nil
	}
	var counter, smallest atomic.Int64
	smallest.Store(int64(space.store.numStates))
	newVisitor := func() (visitState, error) {
		needsFractions, err := space.compiled.Doubtful(expr)
		visit := func(i int, state []int32) error {
			if needsFractions(state) && differsFromExact(expr, guard, state) {
				counter.Add(1)
				storeMin(&smallest, int64(i))
			}
			return nil
		}
		return visit, err
	}
	err = space.visitInParallel(newVisitor)
	return int(counter.Load()), int(smallest.Load()), err
}

// differsFromExact reports whether the float64 value of an expression differs from its exact value in a state. It returns false if the
// state violates the guard, or if an exact evaluation fails. A nil guard is satisfied by every state.
func differsFromExact(expr, guard sema.Expr, state []int32) bool {
	if guard != nil {
		if holds, _, err := sema.EvalExact(guard, state); err != nil || !holds.Bool {
			return false
		}
	}
	exact, _, err := sema.EvalExact(expr, state)
	if err != nil {
		return false
	}
	value, err := sema.Eval(expr, state)
	return err != nil || value.Bool != exact.Bool || value.Int != exact.Int
}

// storeMin sets a variable to value if value is less, as one atomic operation.
func storeMin(variable *atomic.Int64, value int64) {
	for {
		old := variable.Load()
		if value >= old || variable.CompareAndSwap(old, value) {
			return
		}
	}
}

// floatAnalysis returns the analysis of rounding errors in the expressions of the program.
func (space *Space) floatAnalysis() sema.FloatAnalysis { return sema.NewFloatAnalysis(space.Program()) }

// comparePRISMArithmetic warns of each guard and each assigned value that differs in some state between float64 arithmetic, which PRISM uses, and exact
// arithmetic.
func (space *Space) comparePRISMArithmetic() error {
	for i := range space.Program().Modules {
		commands := space.Program().Modules[i].Commands
		for j := range commands {
			if err := space.compareCommand(&commands[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareCommand adds warnings about the guard and the assigned values of a command.
func (space *Space) compareCommand(command *sema.Command) error {
	if err := space.compareExpr("guard", command.Guard, nil); err != nil {
		return err
	}
	for _, update := range command.Updates {
		for _, assignment := range update.Assigns {
			if err := space.compareExpr("value", assignment.Value, command.Guard); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareExpr adds a warning if expr has a different value in float64 and in exact arithmetic in some state that satisfies guard. kind says in the warning
// what expr is, such as a guard.
func (space *Space) compareExpr(kind string, expr, guard sema.Expr) error {
	count, first, err := space.Differences(expr, guard)
	if count > 0 {
		warning := syntax.Error{File: space.Program().File, Pos: expr.Pos(), Msg: space.Difference(kind, count, first)}
		space.prismDifferences = append(space.prismDifferences, warning.Error())
	}
	return err
}

// Difference returns the text of a warning. count is the number of states with a different value, and first is the
// first of them.
func (space *Space) Difference(kind string, count, first int) string {
	return fmt.Sprintf("the %s is computed exactly and differs from PRISM's float64 arithmetic in %s, the first is %s",
		kind, noun.Count(count, "state"), space.compiled.StateText(space.State(nil, first)))
}
