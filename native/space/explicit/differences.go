package explicit

import (
	"fmt"
	"sync/atomic"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Differences counts the states with different float64 and exact values of an expression. first is the first of
// these states. The expression has type Bool or Int. If guard is not nil, only states that satisfy guard count.
// PRISM computes with float64 numbers.
func (s *Space) Differences(expr, guard sema.Expr) (count, first int, err error) {
	if s.floatAnalysis().Decided(expr) || !sema.NeedsOnlyVariables(expr) {
		return 0, 0, nil
	}
	var counter, smallest atomic.Int64
	smallest.Store(int64(s.store.n))
	newVisitor := func() (visitState, error) {
		needsFractions, err := s.compiled.Doubtful(expr)
		visit := func(i int, state []int32) error {
			if needsFractions(state) && differs(expr, guard, state) {
				counter.Add(1)
				storeMin(&smallest, int64(i))
			}
			return nil
		}
		return visit, err
	}
	err = s.visitInParallel(newVisitor)
	return int(counter.Load()), int(smallest.Load()), err
}

// differs reports whether the float64 value of an expression differs from its exact value in a state. It returns
// false if the state violates the guard, or if an exact evaluation fails. A nil guard holds in every state.
func differs(expr, guard sema.Expr, state []int32) bool {
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

// storeMin atomically sets a variable to the minimum of itself and value.
func storeMin(variable *atomic.Int64, value int64) {
	for {
		old := variable.Load()
		if value >= old || variable.CompareAndSwap(old, value) {
			return
		}
	}
}

// floatAnalysis returns the analysis of rounding errors in the expressions of the program.
func (s *Space) floatAnalysis() sema.FloatAnalysis { return sema.NewFloatAnalysis(s.Program()) }

// comparePRISMArithmetic adds a warning for each guard and update with different float64 and exact values in some
// state. PRISM computes with float64 numbers.
func (s *Space) comparePRISMArithmetic() error {
	for i := range s.Program().Modules {
		commands := s.Program().Modules[i].Commands
		for j := range commands {
			if err := s.compareCommand(&commands[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareCommand adds warnings about the guard and the assigned values of a command.
func (s *Space) compareCommand(command *sema.Command) error {
	if err := s.compareExpr("guard", command.Guard, nil); err != nil {
		return err
	}
	for _, update := range command.Updates {
		for _, assignment := range update.Assigns {
			if err := s.compareExpr("value", assignment.Value, command.Guard); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareExpr adds a warning if the float64 value of expr differs from its exact value in some state that
// satisfies guard. The warning names the kind of expr.
func (s *Space) compareExpr(kind string, expr, guard sema.Expr) error {
	count, first, err := s.Differences(expr, guard)
	if count > 0 {
		warning := syntax.Error{File: s.Program().File, Pos: expr.Pos(), Msg: s.Difference(kind, count, first)}
		s.prismDifferences = append(s.prismDifferences, warning.Error())
	}
	return err
}

// Difference returns the text of a warning. count is the number of states with a different value, and first is the
// first of them.
func (s *Space) Difference(kind string, count, first int) string {
	return fmt.Sprintf("the %s is computed exactly and differs from PRISM's float64 arithmetic in %s, the first is %s",
		kind, noun.Count(count, "state"), s.compiled.StateText(s.State(nil, first)))
}
