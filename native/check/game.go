package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// game reports whether the model is a stochastic game.
func (e *evaluation) game() bool { return e.p.Program.Type == syntax.SMG }

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
	maximizer := e.coalition
	if maximizer == nil {
		maximizer = e.all()
	}
	if dir == solve.Min {
		maximizer = maximizer.Complement()
	}
	return solve.NewGame(e.graph, maximizer)
}

// gameUntil returns the value of an until formula, with or without a step bound, for a coalition of players.
func (e *evaluation) gameUntil(p *logic.Path, left, right *sparse.Set, dir solve.Direction) (*numbers, error) {
	if p.Bound == nil {
		return e.solved(e.sides(dir).Until(e.ctx, left, right, e.opts))
	}
	steps, err := e.steps(p)
	if err != nil {
		return nil, err
	}
	return e.solved(e.sides(dir).BoundedUntil(e.ctx, left, right, steps, e.stepping(max(steps.Low, steps.High))))
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
			return e.solved(x.InstantReward(e.ctx, r, steps, e.stepping(steps)))
		}
		return e.solved(x.CumulReward(e.ctx, r, steps, e.stepping(steps)))
	case logic.TotalReward:
		return e.solved(x.TotalReward(e.ctx, r, e.opts))
	case logic.ReachReward, logic.UntilReached, logic.ZeroUnlessReached:
		target, err := e.nested(o.Target)
		if err != nil {
			return nil, err
		}
		switch o.Form {
		case logic.ReachReward:
			return e.solved(x.ReachReward(e.ctx, r, target, e.opts))
		case logic.UntilReached:
			return e.solved(x.UntilReached(e.ctx, r, target, e.opts))
		}
		return e.solved(x.ZeroUnlessReached(e.ctx, r, target, e.opts))
	}
	return nil, e.unsupported(o.X, "found %s in an R operator of a game, want F, Fc, F0, C, C<=k or I=k", logic.Describe(o.X))
}
