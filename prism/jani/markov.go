package jani

import "tilecheck/prism/syntax"

// raceCommand combines all edges with rates of a Markov automaton into one command of the embedded MDP. The command is enabled only if no edge
// without a rate is enabled (maximal progress). Each edge wins the race with its rate divided by the exit rate.
//
// Source: Guck et al., Analysis of Timed and Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4.
func (t *translator) raceCommand(immediateGuards []syntax.Expr) *syntax.Command {
	race := t.newRace(immediateGuards)
	updates := t.raceUpdates(race)
	t.addRaceRewards(race) // time becomes a reward: the mean sojourn time
	if len(t.rateCommands) == 0 {
		return nil
	}
	return &syntax.Command{Guard: race.waits, Updates: updates, Span: t.doc.span}
}

// race holds the expressions that describe how the edges with rates race in a state.
type race struct {
	waits    syntax.Expr // whether time passes in the state
	rate     syntax.Expr // the exit rate of the state
	deadlock syntax.Expr // whether the state has no enabled edge
}

// newRace declares formulas for the exit rate of a state and for the condition that time passes in the state. Time passes if the exit rate is
// positive and no immediate guard holds.
func (t *translator) newRace(immediateGuards []syntax.Expr) *race {
	span := t.doc.span
	rate := t.defineFormula("exit_rate", t.totalRate())
	var noImmediate syntax.Expr
	if anyImmediate := joinWith(syntax.OpOr, immediateGuards); anyImmediate != nil {
		noImmediate = &syntax.Unary{Op: syntax.OpNot, X: anyImmediate, Span: span}
	}
	isPositive := &syntax.Binary{Op: syntax.OpGt, X: rate, Y: zeroExpr(span), OpPos: span.Start, Span: span}
	isZero := &syntax.Binary{Op: syntax.OpEq, X: rate, Y: zeroExpr(span), OpPos: span.Start, Span: span}
	waits := t.defineFormula("waits", conjunction(isPositive, noImmediate))
	t.rate = &syntax.Cond{C: waits, T: rate, E: zeroExpr(span), Span: span}
	return &race{waits: waits, rate: rate, deadlock: conjunction(isZero, noImmediate)}
}

// dividedByRate returns an expression divided by the exit rate.
func (r *race) dividedByRate(expr syntax.Expr, span syntax.Span) syntax.Expr {
	return &syntax.Binary{Op: syntax.OpDiv, X: expr, Y: r.rate, OpPos: span.Start, Span: span}
}

// totalRate returns the sum of the rates of the enabled edges.
func (t *translator) totalRate() syntax.Expr {
	span := t.doc.span
	total := zeroExpr(span)
	for _, edge := range t.rateCommands {
		enabledRate := &syntax.Cond{C: edge.command.Guard, T: edge.rate, E: zeroExpr(span), Span: span}
		total = joinWith(syntax.OpAdd, []syntax.Expr{total, enabledRate})
	}
	const sizeOfSummand = 4 // the sum, the condition and its two numbers
	t.addSize(span.Start, sizeOfSummand*len(t.rateCommands))
	return total
}

// raceUpdates returns the updates of all edges with rates, each with its probability to win the race.
func (t *translator) raceUpdates(race *race) []*syntax.Update {
	const sizeOfProbability = 6 // the quotient with its rates and conditions
	span := t.doc.span
	var updates []*syntax.Update
	for _, edge := range t.rateCommands {
		for _, update := range edge.command.Updates {
			enabledRate := &syntax.Cond{C: edge.command.Guard, T: update.Prob, E: zeroExpr(span), Span: span}
			updates = append(updates, &syntax.Update{Prob: race.dividedByRate(enabledRate, span), Assigns: update.Assigns, Span: update.Span})
		}
		t.addSize(span.Start, sizeOfProbability*len(edge.command.Updates))
	}
	return updates
}

// addRaceRewards adds the mean sojourn time, the rewards per unit of time and the rewards of edges with rates.
func (t *translator) addRaceRewards(race *race) {
	span := t.doc.span
	for _, reward := range t.rewards {
		reward.decl.Items = nil // immediate states have no sojourn time
	}
	race.addTimeReward(t.result.Time, oneExpr(span), span)
	for i, reward := range t.rewards {
		if reward.err == nil {
			t.addRaceReward(race, i, reward)
		}
	}
}

// addRaceReward adds to one reward structure its reward per unit of time and its rewards of edges with rates.
func (t *translator) addRaceReward(race *race, index int, reward *reward) {
	span := t.doc.span
	if perTime := reward.timeReward; perTime != nil && !isNumber(perTime, "0") {
		race.addTimeReward(reward.decl, perTime, span)
	}
	for _, edge := range t.rateCommands {
		earned := edge.stepRewards[index]
		if earned == nil || isNumber(earned, "0") {
			continue
		}
		item := &syntax.RewardItem{
			Guard: conjunction(race.waits, edge.command.Guard),
			Value: race.dividedByRate(productOf(edge.rate, earned), span), // the reward times the probability to win the race
			Span:  reward.span,
		}
		reward.decl.Items = append(reward.decl.Items, item)
	}
}

// addTimeReward adds a reward per unit of time to a reward structure. As in PRISM, a deadlock has exit rate 1.
func (r *race) addTimeReward(decl *syntax.Rewards, perTime syntax.Expr, span syntax.Span) {
	decl.Items = append(decl.Items,
		&syntax.RewardItem{Guard: r.waits, Value: r.dividedByRate(perTime, span), Span: decl.Span},
		&syntax.RewardItem{Guard: r.deadlock, Value: perTime, Span: decl.Span})
}

func zeroExpr(span syntax.Span) syntax.Expr { return &syntax.IntLit{Span: span} }
func oneExpr(span syntax.Span) syntax.Expr  { return &syntax.IntLit{Value: 1, Span: span} }

// defineFormula declares a formula for an expression and returns the name of the formula.
func (t *translator) defineFormula(name string, expr syntax.Expr) syntax.Expr {
	ident := &syntax.Ident{Name: t.usedNames.unused(name), Span: t.doc.span}
	t.formulas = append(t.formulas, &syntax.FormulaDecl{Name: ident, X: expr, Span: t.doc.span})
	return ident
}

// NotTimed is the message for a time bound that is not supported in a Markov automaton.
const NotTimed = "bounds on the time of a Markov automaton are supported with F and U that have no other bounds"

// Elapse replaces the time bound of F or U by a cost bound, because the embedded MDP of a Markov automaton has no time. It returns false for
// other operators, and for operators with cost bounds.
func Elapse(expr *syntax.Temporal) bool {
	if expr.Op != syntax.Future && expr.Op != syntax.Until || len(expr.Costs) > 0 {
		return false
	}
	expr.Costs = []*syntax.CostBound{{Word: "time", Timed: true, Bound: expr.Bound, Span: expr.Bound.Span}}
	expr.Bound = nil
	return true
}
