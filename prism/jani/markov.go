package jani

import "tilecheck/prism/syntax"

// raceCommand makes one command of all edges with rates of a Markov automaton. By maximal progress
// it is enabled only if no other edge is enabled; then the edges race, and each wins with its
// share of the total rate. The result is the embedded MDP, in which time becomes a reward: a
// reward per unit of time is multiplied by the mean sojourn time of the state.
//
// Source: Guck et al., Analysis of Timed and Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4.
func (t *translator) raceCommand(immediate []syntax.Expr) *syntax.Command {
	at := t.doc.at
	total := zero(at)
	for _, c := range t.delays {
		total = join(syntax.OpAdd, []syntax.Expr{total, &syntax.Cond{C: c.command.Guard, T: c.rate, E: zero(at), Span: at}})
	}
	t.charge(at.Start, 4*len(t.delays))
	for _, r := range t.rewards {
		r.decl.Items = nil // immediate states have no sojourn time
	}
	rate := t.formula("exit_rate", total)
	var none syntax.Expr
	if some := join(syntax.OpOr, immediate); some != nil {
		none = &syntax.Unary{Op: syntax.OpNot, X: some, Span: at}
	}
	compared := func(op syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: op, X: rate, Y: zero(at), OpPos: at.Start, Span: at}
	}
	waits := t.formula("waits", and(compared(syntax.OpGt), none))
	t.out.Rate = &syntax.Cond{C: waits, T: rate, E: zero(at), Span: at}
	dividedByRate := func(x syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: syntax.OpDiv, X: x, Y: rate, OpPos: at.Start, Span: at}
	}
	out := &syntax.Command{Guard: waits, Span: at}
	for _, c := range t.delays {
		for _, u := range c.command.Updates {
			share := &syntax.Cond{C: c.command.Guard, T: u.Prob, E: zero(at), Span: at}
			out.Updates = append(out.Updates, &syntax.Update{Prob: dividedByRate(share), Assigns: u.Assigns, Span: u.Span})
		}
		t.charge(at.Start, 6*len(c.command.Updates))
	}
	// addTimeReward adds x per unit of time to a structure.
	addTimeReward := func(decl *syntax.Rewards, x syntax.Expr) {
		decl.Items = append(decl.Items, &syntax.RewardItem{Guard: waits, Value: dividedByRate(x), Span: decl.Span},
			&syntax.RewardItem{Guard: and(compared(syntax.OpEq), none), Value: x, Span: decl.Span}) // a deadlock has rate 1 in PRISM
	}
	addTimeReward(t.out.Time, one(at))
	for i, r := range t.rewards {
		if r.refused != nil {
			continue
		}
		if x := r.timeReward; x != nil && !isNumber(x, "0") {
			addTimeReward(r.decl, x)
		}
		for _, c := range t.delays {
			if x := c.earned[i]; x != nil && !isNumber(x, "0") {
				r.decl.Items = append(r.decl.Items, &syntax.RewardItem{Guard: and(waits, c.command.Guard), Value: dividedByRate(times(c.rate, x)), Span: r.at})
			}
		}
	}
	if len(t.delays) == 0 {
		return nil
	}
	return out
}

func zero(at syntax.Span) syntax.Expr { return &syntax.IntLit{Span: at} }
func one(at syntax.Span) syntax.Expr  { return &syntax.IntLit{Value: 1, Span: at} }

// formula gives an expression a name, so that it is written and checked once.
func (t *translator) formula(name string, x syntax.Expr) syntax.Expr {
	id := &syntax.Ident{Name: t.usedNames.unused(name), Span: t.doc.at}
	t.formulas = append(t.formulas, &syntax.FormulaDecl{Name: id, X: x, Span: t.doc.at})
	return id
}

// NotTimed says which time bounds are supported in a Markov automaton.
const NotTimed = "bounds on the time of a Markov automaton are supported with F and U that have no other bounds"

// Elapse turns the time bound of an operator into a cost bound for the embedded model, which knows
// time only by the rates of its states. It returns false if that is not possible.
func (t *Translation) Elapse(x *syntax.Temporal) bool {
	if x.Op != syntax.Future && x.Op != syntax.Until || len(x.Costs) > 0 {
		return false
	}
	x.Costs = []*syntax.CostBound{{Word: "time", Rate: t.Rate, Bound: x.Bound, Span: x.Bound.Span}}
	x.Bound = nil
	return true
}
