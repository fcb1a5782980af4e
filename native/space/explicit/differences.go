package explicit

import (
	"fmt"
	"sync/atomic"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Differences returns in how many states an expression of type Bool or Int has
// another value with doubles, as PRISM computes it, than by the numbers of the
// text, and the first of these states. Only states of when count, unless it is nil.
func (s *Space) Differences(e, when sema.Expr) (n, first int, err error) {
	if s.doubles().Decided(e) || !sema.Stateless(e) {
		return 0, 0, nil
	}
	var count, least atomic.Int64
	least.Store(int64(s.store.n))
	err = s.each(func() (func(i int, state []int32) error, error) {
		doubtful, err := s.compiled.Doubtful(e)
		return func(i int, state []int32) error {
			if !doubtful(state) {
				return nil
			}
			if when != nil {
				if holds, _, err := sema.EvalExact(when, state); err != nil || !holds.Bool {
					return nil
				}
			}
			truth, _, err := sema.EvalExact(e, state)
			if err != nil { // refused wherever the value is needed
				return nil
			}
			if v, err := sema.Eval(e, state); err == nil && v.Bool == truth.Bool && v.Int == truth.Int {
				return nil
			}
			count.Add(1)
			for k := least.Load(); int64(i) < k && !least.CompareAndSwap(k, int64(i)); k = least.Load() {
			}
			return nil
		}, err
	})
	return int(count.Load()), int(least.Load()), err
}

func (s *Space) doubles() sema.Doubles { return sema.NewDoubles(s.Program()) }

// compareDoubles warns of guards and updates that PRISM computes otherwise.
func (s *Space) compareDoubles() error {
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
		s.differ = append(s.differ, w.Error())
	}
	return err
}

// Difference words what Differences found.
func (s *Space) Difference(what string, n, first int) string {
	return fmt.Sprintf("the %s is that of exact arithmetic, which is not that of PRISM's doubles in %d states, the first is %s",
		what, n, s.compiled.StateText(s.State(nil, first)))
}
