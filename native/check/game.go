package check

import (
	"math"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// game reports whether the model is a stochastic game.
func (e *evaluation) game() bool { return e.property.Program.Type == syntax.SMG }

// beginCoalition evaluates the operator within <<...>> for a coalition of players, until end is called. In the states of its
// players the coalition chooses, and optimises the value as the operator says; the other players choose in all other states,
// and do the opposite. An operator outside of <<...>> is evaluated for all players together, as in PRISM-games.
func (e *evaluation) beginCoalition(f *logic.Formula) (end func(), err error) {
	switch kind := logic.Of(f.Operand).Kind; {
	case f.Box:
		return nil, e.unsupported(f.X, "found [[...]] for a stochastic game, want <<...>> of the players who choose")
	case kind != logic.Probability && kind != logic.Reward:
		return nil, e.unsupported(f.X, "found %s in <<...>> of a stochastic game, want a P or an R operator", logic.Describe(f.Operand))
	case e.fair():
		return nil, e.unsupported(f.X, "found <<...>> of a stochastic game and fair schedulers")
	}
	m := e.space.Model()
	coalition := sparse.NewSet(m.NumStates())
	member := make([]bool, len(e.space.Program().Players))
	for i := range member {
		member[i] = f.AllPlayers
	}
	for _, i := range f.Players {
		member[i] = true
	}
	for s, player := range m.Player {
		if member[player] {
			coalition.Add(s)
		}
	}
	some, before := e.some, e.coalition
	e.some, e.coalition = true, coalition
	return func() { e.some, e.coalition = some, before }, nil
}

// sides returns the game in which the coalition optimises in a direction, and the other players in the opposite one. Without a
// coalition all players optimise in the given direction.
func (e *evaluation) sides(dir solve.Direction) *solve.Game {
	return solve.NewGame(e.graph, e.maximizer(dir))
}

// maximizer returns the states in which the value is maximized if the coalition optimises in a direction.
func (e *evaluation) maximizer(dir solve.Direction) *sparse.Set {
	out := e.coalition
	if out == nil {
		out = e.all()
	}
	if dir == solve.Min {
		return out.Complement()
	}
	return out
}

// sides returns the game on a product of the model, in which a pair belongs to the owner of its state.
func (p *productModel) sides(e *evaluation, dir solve.Direction) *solve.Game {
	maximizer, out := e.maximizer(dir), sparse.NewSet(p.NumStates())
	for i, s := range p.pairs {
		if maximizer.Has(int(s.state)) {
			out.Add(i)
		}
	}
	return solve.NewGame(p.Graph, out)
}

// gameLTL returns the value of any path formula for a coalition of players. A formula or negation that a finite part of a path
// decides is reachability in the product with the automaton of these parts. Others are parity objectives in the product with
// a deterministic parity automaton.
func (e *evaluation) gameLTL(x sema.Expr, dir solve.Direction) (*numbers, error) {
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return nil, err
	}
	negation := automata.Unary(automata.Not, f)
	switch {
	case automata.CoSafe(f):
		return a.gameReach(f, dir)
	case automata.CoSafe(negation):
		v, err := a.gameReach(negation, dir.Opposite())
		if err != nil {
			return nil, err
		}
		return e.complement(v), nil
	}
	v, err := a.gameParity(f, dir)
	if err != nil {
		return nil, a.tooLargeError(err)
	}
	return v, nil
}

// gameReach returns the value of a co-safe formula.
func (a *abstraction) gameReach(f *automata.Formula, dir solve.Direction) (*numbers, error) {
	p, err := a.product(automata.New(f, automata.Limits{}))
	if err != nil {
		return nil, a.tooLargeError(err)
	}
	values, err := p.sides(a.evaluation, dir).Until(a.ctx, p.all(), p.states(automata.Accepted), a.opts)
	return a.fromProduct(p, automatonMemory{&automatonReader{auto: p.auto, letters: a.letters}}, p.auto.Initial(), values, err)
}

// gameParity returns the value of a formula by its parity automaton.
func (a *abstraction) gameParity(f *automata.Formula, dir solve.Direction) (*numbers, error) {
	auto, err := automata.NewParity(f, automata.Limits{})
	if err != nil {
		return nil, err
	}
	a.letters = newLetters(a.graph.NumStates(), a.sets)
	memory := parityMemory{auto, a.letters}
	starts := make([]productState, a.graph.NumStates())
	for s := range starts {
		if starts[s], err = memory.Step(productState{auto: auto.Initial()}, uint32(s)); err != nil {
			return nil, err
		}
	}
	x, err := sparse.NewProduct(a.ctx, a.graph.Model, memory, starts, nil, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	p := &productModel{Graph: sparse.NewGraph(x.Model), pairs: x.Pairs, startStates: x.Start, choice: x.Choice}
	priority := make([]int, p.NumStates())
	for i, s := range p.pairs {
		priority[i] = auto.Priority(s.auto)
	}
	values, err := p.sides(a.evaluation, dir).Parity(a.ctx, priority, a.opts)
	return a.fromProduct(p, memory, auto.Initial(), values, err)
}

// fromProduct returns the values of the states of the model, and records the strategies, from a solution on the product with an
// automaton. err is that of the solution.
func (a *abstraction) fromProduct(p *productModel, automaton sparse.Memory[productState], initial int, values *solve.Values, err error) (*numbers, error) {
	v, err := a.toNumbers(values, err)
	if err != nil {
		return nil, err
	}
	if err := a.noteController(p, automaton, initial, values); err != nil {
		return nil, err
	}
	return p.project(v), nil
}

// parityMemory is the sparse.Memory of the product with a parity automaton.
type parityMemory struct {
	auto    *automata.Parity
	letters *letters
}

// State returns the state of the model.
func (m parityMemory) State(p productState) uint32 { return p.state }

// Step returns the pair after a transition to state t of the model.
func (m parityMemory) Step(p productState, t uint32) (productState, error) {
	q, err := m.auto.Step(p.auto, m.letters.distinct[m.letters.numberOf[t]])
	return productState{t, q}, err
}

// Absorbing reports whether the automaton has accepted or rejected.
func (m parityMemory) Absorbing(p productState) bool { return m.auto.Decided(p.auto) }

// gameUntil returns the value of an until formula, with or without a step bound, for a coalition of players.
func (e *evaluation) gameUntil(p *logic.Path, left, right *sparse.Set, dir solve.Direction) (*numbers, error) {
	if p.Bound == nil {
		return e.toNumbers(e.sides(dir).Until(e.ctx, left, right, e.opts))
	}
	steps, err := e.steps(p)
	if err != nil {
		return nil, err
	}
	return e.toNumbers(e.sides(dir).BoundedUntil(e.ctx, left, right, steps, e.stepping(max(steps.Low, steps.High))))
}

// gameReward returns the value of a reward objective in a game, for the current coalition or for all players together.
func (e *evaluation) gameReward(f *logic.Formula, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	o, x := f.Objective, e.sides(dir)
	switch o.Form {
	case logic.Cumulative, logic.Instantaneous:
		steps, err := e.rewardSteps(o)
		if err != nil {
			return nil, err
		}
		if o.Form == logic.Instantaneous {
			return e.toNumbers(x.InstantReward(e.ctx, r, steps, e.stepping(steps)))
		}
		return e.toNumbers(x.CumulReward(e.ctx, r, steps, e.stepping(steps)))
	case logic.CoSafe:
		return e.coSafeReward(o.X, r, dir)
	case logic.LongRun:
		return e.toNumbers(x.LongRun(e.ctx, r, e.opts))
	case logic.TotalReward:
		return e.toNumbers(x.TotalReward(e.ctx, r, e.opts))
	case logic.ReachReward, logic.UntilReached, logic.ZeroUnlessReached:
		target, err := e.nested(o.Target)
		if err != nil {
			return nil, err
		}
		switch o.Form {
		case logic.ReachReward:
			return e.toNumbers(x.ReachReward(e.ctx, r, target, e.opts))
		case logic.UntilReached:
			return e.toNumbers(x.UntilReached(e.ctx, r, target, e.opts))
		}
		return e.toNumbers(x.ZeroUnlessReached(e.ctx, r, target, e.opts))
	}
	return nil, e.unsupported(o.X, "found %s in an R operator of a game, want F, Fc, F0, C, C<=k, I=k, S or a co-safe path formula", logic.Describe(o.X))
}
