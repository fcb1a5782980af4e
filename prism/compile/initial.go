package compile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// InitialStates returns the initial states in lexicographic order. A model without an init…endinit block has one initial
// state. The error says that there is no initial state, or that there are more than Options.MaxInitial.
func (m *Model) InitialStates(ctx context.Context) ([][]int32, error) {
	states, err := m.findInitial(ctx, m.options.MaxInitial+1)
	if len(states) > m.options.MaxInitial {
		return nil, &ManyInitialError{UnsupportedError{m.program.File, m.program.Init.Pos(), fmt.Sprintf("more than %d initial states", m.options.MaxInitial)}}
	}
	return states, err
}

// ManyInitialError says that a model has more initial states than Options.MaxInitial.
type ManyInitialError struct{ UnsupportedError }

// Unwrap returns the error as one of a model that cannot be executed.
func (e *ManyInitialError) Unwrap() error { return &e.UnsupportedError }

// pathStartState returns the only initial state of the model, where sample paths start. Several initial states are an error, as in PRISM.
//
// Source: PRISM's simulator, "Random choice of multiple initial states not yet supported".
func (m *Model) pathStartState() ([]int32, error) {
	states, err := m.findInitial(context.Background(), 2)
	if err != nil {
		return nil, err
	}
	if len(states) > 1 {
		return nil, &UnsupportedError{m.program.File, m.program.Init.Pos(), "several initial states, sample paths need a single initial state"}
	}
	return states[0], nil
}

// findInitial returns the first initial states in lexicographic order, at most limit. It returns an error if there is none, or if a variable
// has no bounds.
func (m *Model) findInitial(ctx context.Context, limit int) ([][]int32, error) {
	if m.program.Init == nil {
		return [][]int32{m.initialState()}, nil
	}
	for _, variable := range m.program.Vars {
		if variable.Type == sema.Int && !variable.IsBounded {
			message := fmt.Sprintf("init…endinit with the unbounded variable %q", variable.Name)
			return nil, &UnsupportedError{m.program.File, variable.Pos, message}
		}
	}
	search, err := m.newInitSearch(ctx, limit)
	if err != nil {
		return nil, err
	}
	if err := search.enumerateFrom(0); err != nil {
		return nil, err
	}
	if len(search.foundStates) == 0 {
		return nil, &UnsupportedError{m.program.File, m.program.Init.Pos(), "no valuation satisfies init…endinit"}
	}
	return search.foundStates, nil
}

// initialState returns the valuation with the declared initial values.
func (m *Model) initialState() []int32 {
	state := make([]int32, len(m.program.Vars))
	for i, variable := range m.program.Vars {
		state[i] = variable.Init
	}
	return state
}

// initSearch enumerates valuations variable by variable to find the initial states. It evaluates a conjunct of the init expression when all
// variables of the conjunct have values. A false conjunct excludes all values of the other variables.
type initSearch struct {
	ctx         context.Context
	model       *Model
	env         env
	initExpr    boolClosure
	conjuncts   [][]boolClosure // conjuncts[i] depend on slots 0..i-1 only
	limit       int
	steps       int
	foundStates [][]int32
}

// newInitSearch returns a search for the valuations that satisfy the init expression. Its conjuncts, up to the first one that may fail, are
// compiled separately: the search tests each of them as soon as its variables have values.
func (m *Model) newInitSearch(ctx context.Context, maxStates int) (*initSearch, error) {
	search := &initSearch{ctx: ctx, model: m, limit: maxStates, conjuncts: make([][]boolClosure, len(m.program.Vars)+1)}
	search.env.state = make([]int32, len(m.program.Vars))
	var err error
	if search.initExpr, err = m.boolClosure(m.program.Init); err != nil {
		return nil, err
	}
	builder := m.newGraphBuilder()
	conjuncts := m.newExprCompiler(m.program.Init).appendOperands(nil, m.program.Init, syntax.OpAnd)
	for _, conjunct := range conjuncts {
		if builder.expr(conjunct).mayFail || !m.floatAnalysis.IsDecided(conjunct) { // later conjuncts must not hide this failure
			break
		}
		conjunctHolds, err := m.boolClosure(conjunct)
		if err != nil {
			return nil, err
		}
		numNeeded := min(lastSlot(conjunct)+1, len(m.program.Vars)) // the conjunct depends on the first numNeeded variables
		search.conjuncts[numNeeded] = append(search.conjuncts[numNeeded], conjunctHolds)
	}
	return search, nil
}

// enumerateFrom tries all values of the variables from slot on, and collects the initial states, up to the limit. The variables before slot have
// values already.
func (s *initSearch) enumerateFrom(slot int) error {
	s.steps++
	const stepsPerPoll = 1 << 16
	if s.steps%stepsPerPoll == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if len(s.foundStates) == s.limit {
		return nil
	}
	// These conjuncts of init depend only on variables that have values already.
	for _, holds := range s.conjuncts[slot] {
		if !holds(&s.env) {
			return nil
		}
	}
	if slot == len(s.env.state) {
		return s.addIfInitial()
	}
	variable := &s.model.program.Vars[slot]
	for value := int64(variable.Low); value <= int64(variable.High); value++ {
		s.env.state[slot] = int32(value)
		if err := s.enumerateFrom(slot + 1); err != nil {
			return err
		}
	}
	return nil
}

// addIfInitial adds the current valuation if it satisfies the init expression.
func (s *initSearch) addIfInitial() error {
	isInitial := s.initExpr(&s.env)
	if err := s.model.takeError(&s.env); err != nil {
		return err
	}
	if isInitial {
		s.foundStates = append(s.foundStates, slices.Clone(s.env.state))
	}
	return nil
}

// lastSlot returns the greatest slot of the variables in an expression; -1 without variables. It returns MaxInt32 for an unknown kind of
// expression.
func lastSlot(expr sema.Expr) int {
	greatestSlot := -1
	sema.Inspect(expr, func(expr sema.Expr) bool {
		switch expr := expr.(type) {
		case *sema.Const, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		case *sema.Var:
			greatestSlot = max(greatestSlot, expr.Slot)
		default:
			greatestSlot = math.MaxInt32
		}
		return true
	})
	return greatestSlot
}
