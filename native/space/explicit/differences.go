package explicit

import (
	"fmt"
	"sync/atomic"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Differences counts the states in which an expression of type Bool or Int has another value in
// float64 arithmetic, as PRISM computes it, than in exact arithmetic. first is the first of these
// states. If when is not nil, only states that satisfy it count.
func (s *Space) Differences(e, when sema.Expr) (n, first int, err error) {
	if s.floatAnalysis().Decided(e) || !sema.Stateless(e) {
		return 0, 0, nil
	}
	var count, smallest atomic.Int64
	smallest.Store(int64(s.store.n))
	err = s.each(func() (func(i int, state []int32) error, error) {
		needsFractions, err := s.compiled.Doubtful(e)
		return func(i int, state []int32) error {
			if !needsFractions(state) {
				return nil
			}
			if when != nil {
				if holds, _, err := sema.EvalExact(when, state); err != nil || !holds.Bool {
					return nil
				}
			}
			truth, _, err := sema.EvalExact(e, state)
			if err != nil { // reported where the value is needed
				return nil
			}
			if v, err := sema.Eval(e, state); err == nil && v.Bool == truth.Bool && v.Int == truth.Int {
				return nil
			}
			count.Add(1)
			for found := smallest.Load(); int64(i) < found && !smallest.CompareAndSwap(found, int64(i)); found = smallest.Load() {
			}
			return nil
		}, err
	})
	return int(count.Load()), int(smallest.Load()), err
}

func (s *Space) floatAnalysis() sema.FloatAnalysis { return sema.NewFloatAnalysis(s.Program()) }

// comparePRISM collects a warning for each guard and each update that has another value in PRISM's
// float64 arithmetic.
func (s *Space) comparePRISM() error {
	for i := range s.Program().Modules {
		for j := range s.Program().Modules[i].Commands {
			c := &s.Program().Modules[i].Commands[j]
			if err := s.compareExpr("guard", c.Guard, nil); err != nil {
				return err
			}
			for _, u := range c.Updates {
				for _, a := range u.Assigns {
					if err := s.compareExpr("value", a.Value, c.Guard); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (s *Space) compareExpr(what string, e, when sema.Expr) error {
	n, first, err := s.Differences(e, when)
	if n > 0 {
		w := syntax.Error{File: s.Program().File, Pos: e.Pos(), Msg: s.Difference(what, n, first)}
		s.prismDifferences = append(s.prismDifferences, w.Error())
	}
	return err
}

// Difference returns the warning for a result of Differences.
func (s *Space) Difference(what string, n, first int) string {
	return fmt.Sprintf("the %s is that of exact arithmetic, which is not that of PRISM's doubles in %d states, the first is %s",
		what, n, s.compiled.StateText(s.State(nil, first)))
}
