package compile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// InitialStates returns the initial states in lexicographic order of their
// valuations: one, unless the model has an init…endinit block. More than
// Options.MaxInitial of them, or none, are an error.
func (m *Model) InitialStates(ctx context.Context) ([][]int32, error) {
	states, err := m.findInitial(ctx, m.opts.MaxInitial+1)
	if len(states) > m.opts.MaxInitial {
		return nil, &UnsupportedError{m.prog.File, m.prog.Init.Pos(), fmt.Sprintf("more than %d initial states", m.opts.MaxInitial)}
	}
	return states, err
}

// pathStart returns the initial state of sample paths, of which there is one.
//
// Source: PRISM's simulator, "Random choice of multiple initial states not yet supported".
func (m *Model) pathStart() ([]int32, error) {
	states, err := m.findInitial(context.Background(), 2)
	if err != nil {
		return nil, err
	}
	if len(states) > 1 {
		return nil, &UnsupportedError{m.prog.File, m.prog.Init.Pos(), "several initial states, sample paths need a single initial state"}
	}
	return states[0], nil
}

// findInitial returns the first initial states, up to a limit.
func (m *Model) findInitial(ctx context.Context, limit int) ([][]int32, error) {
	if m.prog.Init == nil {
		return [][]int32{m.initialState()}, nil
	}
	for _, v := range m.prog.Vars {
		if v.Type == sema.Int && !v.Bounded {
			return nil, &UnsupportedError{m.prog.File, v.Pos, fmt.Sprintf("init…endinit with the unbounded variable %q", v.Name)}
		}
	}
	s, err := m.newInitSearch(ctx, limit)
	if err != nil {
		return nil, err
	}
	if err := s.search(0); err != nil {
		return nil, err
	}
	if len(s.found) == 0 {
		return nil, &UnsupportedError{m.prog.File, m.prog.Init.Pos(), "no valuation satisfies init…endinit"}
	}
	return s.found, nil
}

// initialState returns the valuation of the variables' initial values.
func (m *Model) initialState() []int32 {
	state := make([]int32, len(m.prog.Vars))
	for i, v := range m.prog.Vars {
		state[i] = v.Init
	}
	return state
}

// initSearch enumerates the valuations variable by variable. A conjunct of the init expression that is false and cannot fail
// cuts off the search as soon as all its variables have values. The whole expression decides about complete valuations.
type initSearch struct {
	ctx       context.Context
	m         *Model
	env       env
	initExpr  boolFn
	conjuncts [][]boolFn // conjuncts[i] depend on slots 0..i-1 only
	limit     int
	steps     int
	found     [][]int32
}

func (m *Model) newInitSearch(ctx context.Context, limit int) (*initSearch, error) {
	s := &initSearch{ctx: ctx, m: m, limit: limit, conjuncts: make([][]boolFn, len(m.prog.Vars)+1)}
	s.env.state = make([]int32, len(m.prog.Vars))
	var err error
	if s.initExpr, err = m.boolean(m.prog.Init); err != nil {
		return nil, err
	}
	b := m.newBuilder()
	for _, c := range m.maker(m.prog.Init).chain(m.prog.Init, syntax.OpAnd, nil) {
		if b.expr(c).fails || !m.doubles.Decided(c) { // later conjuncts must not hide this failure
			break
		}
		f, err := m.boolean(c)
		if err != nil {
			return nil, err
		}
		depth := min(lastSlot(c)+1, len(m.prog.Vars))
		s.conjuncts[depth] = append(s.conjuncts[depth], f)
	}
	return s, nil
}

func (s *initSearch) search(slot int) error {
	if s.steps++; s.steps&0xffff == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if len(s.found) == s.limit {
		return nil
	}
	for _, cut := range s.conjuncts[slot] {
		if !cut(&s.env) {
			return nil
		}
	}
	if slot == len(s.env.state) {
		return s.addIfInitial()
	}
	v := &s.m.prog.Vars[slot]
	for x := int64(v.Low); x <= int64(v.High); x++ {
		s.env.state[slot] = int32(x)
		if err := s.search(slot + 1); err != nil {
			return err
		}
	}
	return nil
}

// addIfInitial adds the current valuation if it satisfies the init expression.
func (s *initSearch) addIfInitial() error {
	holds := s.initExpr(&s.env)
	if err := s.m.takeError(&s.env); err != nil {
		return err
	}
	if !holds {
		return nil
	}
	s.found = append(s.found, slices.Clone(s.env.state))
	return nil
}

// lastSlot returns the greatest slot that e reads; -1 if it reads none, and MaxInt32 for an unknown kind of expression.
func lastSlot(e sema.Expr) int {
	last := -1
	sema.Inspect(e, func(e sema.Expr) bool {
		switch e := e.(type) {
		case *sema.Const, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		case *sema.Var:
			last = max(last, e.Slot)
		default:
			last = math.MaxInt32
		}
		return true
	})
	return last
}
