package jani

import "tilecheck/prism/syntax"

// raceCommand combines all edges with rates of a Markov automaton into one command. By maximal progress
// it is enabled only if no other edge is enabled; then the edges race, and each wins with its rate
// divided by the total rate. The result is the embedded MDP, in which time becomes a reward: a
// reward per unit of time is multiplied by the mean sojourn time of the state.
//
// Source: Guck et al., Analysis of Timed and Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4.
func (t *translator) raceCommand(immediate []syntax.Expr) *syntax.Command {
	span := t.doc.span
	total := zeroExpr(span)
	for _, delay := range t.rateCommands {
		total = joinWith(syntax.OpAdd, []syntax.Expr{total, &syntax.Cond{C: delay.command.Guard, T: delay.rate, E: zeroExpr(span), Span: span}})
	}
	t.addSize(span.Start, 4*len(t.rateCommands))
	for _, reward := range t.rewards {
		reward.decl.Items = nil // immediate states have no sojourn time
	}
	rate := t.defineFormula("exit_rate", total)
	var noImmediate syntax.Expr
	if anyImmediate := joinWith(syntax.OpOr, immediate); anyImmediate != nil {
		noImmediate = &syntax.Unary{Op: syntax.OpNot, X: anyImmediate, Span: span}
	}
	compareRate := func(op syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: op, X: rate, Y: zeroExpr(span), OpPos: span.Start, Span: span}
	}
	waits := t.defineFormula("waits", conjunction(compareRate(syntax.OpGt), noImmediate))
	t.result.Rate = &syntax.Cond{C: waits, T: rate, E: zeroExpr(span), Span: span}
	dividedByRate := func(expr syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: syntax.OpDiv, X: expr, Y: rate, OpPos: span.Start, Span: span}
	}
	race := &syntax.Command{Guard: waits, Span: span}
	for _, delay := range t.rateCommands {
		for _, update := range delay.command.Updates {
			share := &syntax.Cond{C: delay.command.Guard, T: update.Prob, E: zeroExpr(span), Span: span}
			race.Updates = append(race.Updates, &syntax.Update{Prob: dividedByRate(share), Assigns: update.Assigns, Span: update.Span})
		}
		t.addSize(span.Start, 6*len(delay.command.Updates))
	}
	// addTimeReward adds a reward of expr per unit of time to a structure.
	addTimeReward := func(decl *syntax.Rewards, expr syntax.Expr) {
		decl.Items = append(decl.Items, &syntax.RewardItem{Guard: waits, Value: dividedByRate(expr), Span: decl.Span},
			&syntax.RewardItem{Guard: conjunction(compareRate(syntax.OpEq), noImmediate), Value: expr, Span: decl.Span}) // a deadlock has rate 1 in PRISM
	}
	addTimeReward(t.result.Time, oneExpr(span))
	for i, reward := range t.rewards {
		if reward.err != nil {
			continue
		}
		if expr := reward.timeReward; expr != nil && !isNumber(expr, "0") {
			addTimeReward(reward.decl, expr)
		}
		for _, delay := range t.rateCommands {
			if expr := delay.stepRewards[i]; expr != nil && !isNumber(expr, "0") {
				reward.decl.Items = append(reward.decl.Items, &syntax.RewardItem{Guard: conjunction(waits, delay.command.Guard), Value: dividedByRate(productOf(delay.rate, expr)), Span: reward.span})
			}
		}
	}
	if len(t.rateCommands) == 0 {
		return nil
	}
	return race
}

func zeroExpr(span syntax.Span) syntax.Expr { return &syntax.IntLit{Span: span} }
func oneExpr(span syntax.Span) syntax.Expr  { return &syntax.IntLit{Value: 1, Span: span} }

// defineFormula declares a formula for an expression that is used several times, and returns its name.
func (t *translator) defineFormula(name string, expr syntax.Expr) syntax.Expr {
	ident := &syntax.Ident{Name: t.usedNames.unused(name), Span: t.doc.span}
	t.formulas = append(t.formulas, &syntax.FormulaDecl{Name: ident, X: expr, Span: t.doc.span})
	return ident
}

// NotTimed says which time bounds are supported in a Markov automaton.
const NotTimed = "bounds on the time of a Markov automaton are supported with F and U that have no other bounds"

// Elapse replaces the time bound of an operator by a cost bound for the embedded model, in which time
// exists only as the rates of states. It returns false if that is not possible.
func (t *Translation) Elapse(expr *syntax.Temporal) bool {
	if expr.Op != syntax.Future && expr.Op != syntax.Until || len(expr.Costs) > 0 {
		return false
	}
	expr.Costs = []*syntax.CostBound{{Word: "time", Rate: t.Rate, Bound: expr.Bound, Span: expr.Bound.Span}}
	expr.Bound = nil
	return true
}
