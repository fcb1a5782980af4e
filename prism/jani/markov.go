package jani

import (
	"slices"

	"tilecheck/prism/syntax"
)

// raceCommands converts the edges with rates of a Markov automaton to commands of the embedded MDP. A command is enabled only if no edge without
// a rate is enabled (maximal progress). The probability of an edge is its rate divided by the exit rate.
//
// Source: Guck et al., Analysis of Timed and Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4.
func (t *translator) raceCommands(steps []stepCommands, modules []int) []*syntax.Command {
	groups := t.groupRateCommands()
	race := t.newRace(groups, t.noImmediate(steps, modules, nil))
	t.addRaceRewards(race) // time becomes a reward: the mean sojourn time
	var commands []*syntax.Command
	for _, group := range groups {
		guard := race.isWaiting
		if group.isAtLocation() {
			guard = conjunction(group.location(), isPositive(group.rate), t.noImmediate(steps, modules, group))
		}
		commands = append(commands, &syntax.Command{Guard: guard, Updates: t.raceUpdates(race, group), Span: t.document.span})
	}
	return commands
}

// noImmediate returns the condition that no edge without a rate is enabled, so that time can pass. With a group, it is the condition in the location of the
// group. It returns nil if there are no edges without a rate.
func (t *translator) noImmediate(steps []stepCommands, modules []int, group *raceGroup) syntax.Expr {
	guards := immediateGuards(steps, modules, group.isAtOtherLocation)
	t.addSize(t.document.span.Start, len(guards))
	anyImmediate := joinWith(syntax.OpOr, guards)
	if anyImmediate == nil {
		return nil
	}
	return &syntax.Unary{Op: syntax.OpNot, X: anyImmediate, Span: t.document.span}
}

// isPositive returns the condition that an expression is greater than 0.
func isPositive(expr syntax.Expr) syntax.Expr {
	span := spanAt(expr.Pos())
	return &syntax.Binary{Op: syntax.OpGt, X: expr, Y: zeroExpr(span), OpPos: span.Start, Span: span}
}

// raceGroup is a group of edges with rates that race only with each other: in each state, all enabled edges with rates are in one group.
type raceGroup struct {
	edges []*combinedCommand
	// rate is the exit rate, if all edges are those of one instance in one location, and otherwise nil.
	rate syntax.Expr
}

// isAtLocation reports whether the edges are those of one instance in one location.
func (g *raceGroup) isAtLocation() bool { return g != nil && g.rate != nil }

// first returns the first edge of the group.
func (g *raceGroup) first() *edgeInstance { return g.edges[0].edges[0] }

// location returns the condition that the instance is in the location of the group.
func (g *raceGroup) location() syntax.Expr {
	return g.first().instance.atLocation(g.first().location, g.first().pos)
}

// isAtOtherLocation reports whether an edge is in another location of the instance than the edges of the group.
func (g *raceGroup) isAtOtherLocation(edge *edgeInstance) bool {
	return g.isAtLocation() && edge.instance == g.first().instance && edge.location != g.first().location
}

// groupRateCommands groups the edges with rates. If they all belong to one instance, there is a group for each of its locations, in the order of
// the locations. Otherwise there is one group with all edges.
func (t *translator) groupRateCommands() []*raceGroup {
	if len(t.rateCommands) == 0 {
		return nil
	}
	instance := t.rateCommands[0].edges[0].instance
	isOther := func(command *combinedCommand) bool {
		return len(command.edges) > 1 || command.edges[0].instance != instance
	}
	if instance.location == nil || slices.ContainsFunc(t.rateCommands, isOther) {
		return []*raceGroup{{edges: t.rateCommands}}
	}
	groupByLocation := make([]*raceGroup, len(instance.automaton.locations))
	for _, command := range t.rateCommands {
		edge := command.edges[0]
		group := groupByLocation[edge.location]
		if group == nil {
			group = &raceGroup{}
			groupByLocation[edge.location] = group
		}
		group.edges = append(group.edges, command)
		group.rate = joinWith(syntax.OpAdd, []syntax.Expr{group.rate, whenEnabled(edge.guard, command.rate)})
		t.addSize(edge.pos, sizeOfRate)
	}
	return slices.DeleteFunc(groupByLocation, func(group *raceGroup) bool { return group == nil })
}

// sizeOfRate is the size of a rate in a sum: the sum, the condition and its two numbers.
const sizeOfRate = 4

// whenEnabled returns the value of an expression if a guard holds, and else 0. A guard that is nil holds.
func whenEnabled(guard, value syntax.Expr) syntax.Expr {
	if guard == nil {
		return value
	}
	return &syntax.Cond{Condition: guard, Then: value, Else: zeroExpr(spanAt(value.Pos())), Span: spanAt(value.Pos())}
}

// race holds the expressions that describe how the edges with rates race in a state.
type race struct {
	isWaiting syntax.Expr // whether time passes in the state
	rate      syntax.Expr // the exit rate of the state
	deadlock  syntax.Expr // whether the state has no enabled edge
}

// newRace declares two formulas: the exit rate of a state, and the condition that time passes in the state. Time passes if the exit rate is
// positive and no edge without a rate is enabled.
func (t *translator) newRace(groups []*raceGroup, noImmediate syntax.Expr) *race {
	span := t.document.span
	rate := t.defineFormula("exit_rate", t.totalRate(groups))
	isZero := &syntax.Binary{Op: syntax.OpEq, X: rate, Y: zeroExpr(span), OpPos: span.Start, Span: span}
	waits := t.defineFormula("waits", conjunction(isPositive(rate), noImmediate))
	t.rate = &syntax.Cond{Condition: waits, Then: rate, Else: zeroExpr(span), Span: span}
	return &race{isWaiting: waits, rate: rate, deadlock: conjunction(isZero, noImmediate)}
}

// dividedByRate returns an expression divided by the exit rate.
func (r *race) dividedByRate(expr syntax.Expr, span syntax.Span) syntax.Expr {
	return quotientOf(expr, r.rate, span)
}

// quotientOf returns left/right.
func quotientOf(left, right syntax.Expr, span syntax.Span) syntax.Expr {
	return &syntax.Binary{Op: syntax.OpDiv, X: left, Y: right, OpPos: span.Start, Span: span}
}

// totalRate returns an expression for the exit rate of a state, the sum of the rates of the enabled edges.
func (t *translator) totalRate(groups []*raceGroup) syntax.Expr {
	span := t.document.span
	if len(groups) > 0 && groups[0].isAtLocation() {
		return t.rateByLocation(groups)
	}
	total := zeroExpr(span)
	for _, edge := range t.rateCommands {
		enabledRate := &syntax.Cond{Condition: edge.command.Guard, Then: edge.rate, Else: zeroExpr(span), Span: span}
		total = joinWith(syntax.OpAdd, []syntax.Expr{total, enabledRate})
	}
	t.addSize(span.Start, sizeOfRate*len(t.rateCommands))
	return total
}

// rateByLocation returns an expression for the exit rate of a state. Nested conditions search for the location of the state by bisection. The
// groups are ordered by location.
func (t *translator) rateByLocation(groups []*raceGroup) syntax.Expr {
	span := t.document.span
	t.addSize(span.Start, sizeOfRate)
	if len(groups) == 1 {
		return &syntax.Cond{Condition: groups[0].location(), Then: groups[0].rate, Else: zeroExpr(span), Span: span}
	}
	middle := len(groups) / 2
	firstEdge := groups[middle].first()
	isBelow := &syntax.Binary{
		Op: syntax.OpLt, X: &syntax.Ident{Name: firstEdge.instance.location.name, Span: span}, Y: &syntax.IntLit{Value: int32(firstEdge.location), Span: span},
		OpPos: span.Start, Span: span,
	}
	return &syntax.Cond{Condition: isBelow, Then: t.rateByLocation(groups[:middle]), Else: t.rateByLocation(groups[middle:]), Span: span}
}

// raceUpdates returns the updates of the edges of a group. The probability of an update is its rate divided by the exit rate. If the edge is disabled in a
// state, the probability is 0.
func (t *translator) raceUpdates(race *race, group *raceGroup) []*syntax.Update {
	const sizeOfProbability = 6 // the quotient with its rates and conditions
	span := t.document.span
	var updates []*syntax.Update
	for _, edge := range group.edges {
		for _, update := range edge.command.Updates {
			var probability syntax.Expr
			if group.isAtLocation() {
				probability = quotientOf(whenEnabled(edge.edges[0].guard, update.Prob), group.rate, span)
			} else {
				enabledRate := &syntax.Cond{Condition: edge.command.Guard, Then: update.Prob, Else: zeroExpr(span), Span: span}
				probability = race.dividedByRate(enabledRate, span)
			}
			updates = append(updates, &syntax.Update{Prob: probability, Assigns: update.Assigns, Span: update.Span})
		}
		t.addSize(span.Start, sizeOfProbability*len(edge.command.Updates))
	}
	return updates
}

// addRaceRewards replaces the rewards of the Markov automaton by expected rewards of the steps of its embedded MDP. The step from a state in which edges with
// rates race earns the mean sojourn time (for the reward structure of the time), the rewards per unit of time, and the rewards of the edges with rates.
func (t *translator) addRaceRewards(race *race) {
	span := t.document.span
	for _, reward := range t.rewards {
		reward.declaration.Items = nil // immediate states have no sojourn time
	}
	race.addTimeReward(t.result.Time, oneExpr(span), span)
	for i, reward := range t.rewards {
		if reward.err == nil {
			t.addRaceReward(race, i, reward)
		}
	}
}

// addRaceReward adds the reward per unit of time, and the rewards of the edges with rates, to the reward structure with this index in t.rewards.
func (t *translator) addRaceReward(race *race, index int, reward *reward) {
	if timeReward := reward.timeReward; timeReward != nil && !isNumber(timeReward, "0") {
		race.addTimeReward(reward.declaration, timeReward, t.document.span)
	}
	for _, edge := range t.rateCommands {
		if edgeReward := edge.stepRewards[index]; edgeReward != nil && !isNumber(edgeReward, "0") {
			race.addEdgeReward(edge, edgeReward, reward, t.document.span)
		}
	}
}

// addEdgeReward adds the reward of an edge with a rate to a reward structure. In a state in which time passes, the edge is taken with the probability
// rate/exitRate, so its expected reward is rate*edgeReward/exitRate.
func (r *race) addEdgeReward(edge *combinedCommand, edgeReward syntax.Expr, reward *reward, span syntax.Span) {
	item := &syntax.RewardItem{
		Guard: conjunction(r.isWaiting, edge.command.Guard),
		Value: r.dividedByRate(productOf(edge.rate, edgeReward), span),
		Span:  reward.span,
	}
	reward.declaration.Items = append(reward.declaration.Items, item)
}

// addTimeReward adds a reward per unit of time to a reward structure: in a state in which time passes, the reward times the mean sojourn time 1/exitRate. As
// in PRISM, a deadlock has exit rate 1.
func (r *race) addTimeReward(declaration *syntax.Rewards, perTime syntax.Expr, span syntax.Span) {
	declaration.Items = append(declaration.Items,
		&syntax.RewardItem{Guard: r.isWaiting, Value: r.dividedByRate(perTime, span), Span: declaration.Span},
		&syntax.RewardItem{Guard: r.deadlock, Value: perTime, Span: declaration.Span})
}

func zeroExpr(span syntax.Span) syntax.Expr { return &syntax.IntLit{Span: span} }
func oneExpr(span syntax.Span) syntax.Expr  { return &syntax.IntLit{Value: 1, Span: span} }

// defineFormula declares a formula for an expression and returns an identifier of the formula. Its name is the given one, or a similar unused name.
func (t *translator) defineFormula(name string, expr syntax.Expr) syntax.Expr {
	ident := &syntax.Ident{Name: t.usedNames.unusedName(name), Span: t.document.span}
	t.formulas = append(t.formulas, &syntax.FormulaDecl{Name: ident, X: expr, Span: t.document.span})
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
