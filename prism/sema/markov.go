package sema

import (
	"math/big"

	"tilecheck/prism/syntax"
)

// race describes the race of the Markovian commands of a Markov automaton, as expressions over the state.
type race struct {
	exitRate   Expr // the sum of the rates of the enabled Markovian commands
	timePasses Expr // whether a Markovian command is enabled, and no other command
	deadlock   Expr // whether no command is enabled
}

// addMarkovianCommand records a Markovian command; it is an error in other models than Markov automata.
func (c *checker) addMarkovianCommand(command Command) {
	if !c.isMarkovAutomaton {
		c.addError(phaseOurs, command.Pos, "found a Markovian command (<>) in a model of type %s, want it in a Markov automaton (ma)", c.model.modelType)
	}
	c.markovianCommands = append(c.markovianCommands, command)
}

// embedMarkovianCommands replaces the Markovian commands (with rates) of a Markov automaton by one command of the embedded MDP. Because of maximal progress,
// time passes only while no other command is enabled, so the guard of the new command requires this. The probability of an update is its rate divided by the
// exit rate.
func (c *checker) embedMarkovianCommands() {
	if c.system != nil {
		c.addError(phaseOurs, c.items.systems[0].Pos(), "a system block of a Markov automaton is not supported")
		return
	}
	race := c.newRace()
	c.race = race
	c.model.rate = &Cond{Base{Double, syntax.Pos{}}, race.timePasses, race.exitRate, number(0)}
	if len(c.markovianCommands) == 0 {
		return
	}
	command := Command{Action: Unlabelled, Guard: race.timePasses, Pos: c.markovianCommands[0].Pos}
	for _, markovianCommand := range c.markovianCommands {
		for _, update := range markovianCommand.Updates {
			enabledRate := &Cond{Base{Double, update.Pos}, markovianCommand.Guard, update.Prob, number(0)}
			update.Prob = race.divideByExitRate(enabledRate)
			command.Updates = append(command.Updates, update)
		}
	}
	c.model.modules[0].Commands = append(c.model.modules[0].Commands, command)
}

// newRace returns expressions for the race between all enabled Markovian commands: the exit rate of a state, the condition that time passes in the
// state, and the condition that it is a deadlock.
func (c *checker) newRace() *race {
	exitRate := number(0)
	for _, command := range c.markovianCommands {
		commandRate := number(0)
		for _, update := range command.Updates {
			commandRate = operation(syntax.OpAdd, Double, commandRate, update.Prob)
		}
		enabledRate := &Cond{Base{Double, command.Pos}, command.Guard, commandRate, number(0)}
		exitRate = operation(syntax.OpAdd, Double, exitRate, enabledRate)
	}
	noImmediate := &Unary{Base{Bool, syntax.Pos{}}, syntax.OpNot, c.immediateIsEnabled()}
	return &race{
		exitRate:   exitRate,
		timePasses: operation(syntax.OpAnd, Bool, noImmediate, operation(syntax.OpGt, Bool, exitRate, number(0))),
		deadlock:   operation(syntax.OpAnd, Bool, noImmediate, operation(syntax.OpEq, Bool, exitRate, number(0))),
	}
}

// immediateIsEnabled returns the condition that an immediate command (one without rates) is enabled, alone or in a synchronisation.
func (c *checker) immediateIsEnabled() Expr {
	enabled := c.moduleConditions(Unlabelled)
	for action := range c.model.actions { // all participating modules must synchronise
		if participants := c.moduleConditions(action); len(participants) > 0 {
			enabled = append(enabled, joinWith(syntax.OpAnd, participants))
		}
	}
	return joinWith(syntax.OpOr, enabled)
}

// moduleConditions returns, for each module with an action in its alphabet, the condition that one of its commands with the action is enabled.
func (c *checker) moduleConditions(action int) []Expr {
	var conditions []Expr
	for _, module := range c.model.modules {
		if guards := module.guardsOf(action); len(guards) > 0 {
			conditions = append(conditions, joinWith(syntax.OpOr, guards))
		}
	}
	return conditions
}

// guardsOf returns the guards of the commands with an action.
func (m *Module) guardsOf(action int) []Expr {
	var guards []Expr
	for _, command := range m.Commands {
		if command.Action == action {
			guards = append(guards, command.Guard)
		}
	}
	return guards
}

// embedReward returns the reward items of the embedded MDP that replace a reward item. A state reward is earned for the mean sojourn time of the
// state, and in a deadlock for one unit of time, as in PRISM. Other items are not changed.
func (c *checker) embedReward(item RewardItem) []RewardItem {
	if c.race == nil || item.IsTransition {
		return []RewardItem{item}
	}
	sojourn, deadlock := item, item
	sojourn.Guard = operation(syntax.OpAnd, Bool, c.race.timePasses, item.Guard)
	sojourn.Value = c.race.divideByExitRate(item.Value)
	deadlock.Guard = operation(syntax.OpAnd, Bool, c.race.deadlock, item.Guard)
	return []RewardItem{sojourn, deadlock}
}

// divideByExitRate divides an expression by the exit rate.
func (r *race) divideByExitRate(expr Expr) Expr {
	return operation(syntax.OpDiv, Double, expr, r.exitRate)
}

// joinWith joins expressions by a Boolean operator. It returns false for an empty list.
func joinWith(op syntax.Op, exprs []Expr) Expr {
	if len(exprs) == 0 {
		return &Const{Base{Bool, syntax.Pos{}}, BoolValue(false)}
	}
	result := exprs[0]
	for _, expr := range exprs[1:] {
		result = operation(op, Bool, result, expr)
	}
	return result
}

// operation returns an infix operation at the position of its second operand.
func operation(op syntax.Op, valueType Type, left, right Expr) Expr {
	return &Binary{Base{valueType, right.Pos()}, op, left, right}
}

// number returns a constant of type double.
func number(value int64) Expr {
	return &Const{Base{Double, syntax.Pos{}}, RatValue(big.NewRat(value, 1))}
}
