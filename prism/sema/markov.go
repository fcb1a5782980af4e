package sema

import (
	"math/big"

	"tilecheck/prism/syntax"
)

// race is how the Markovian commands of a Markov automaton race in a state.
type race struct {
	rate     Expr // the sum of the rates of the enabled Markovian commands
	waits    Expr // whether time passes: a Markovian command is enabled and no other one
	deadlock Expr // whether no command is enabled
}

// addMarkovian keeps a Markovian command for embed.
func (c *checker) addMarkovian(command Command) {
	if !c.isMarkovAutomaton {
		c.add(phaseOurs, command.Pos, "found a Markovian command (<>) in a model of type %s, want it in a Markov automaton (ma)", c.model.typ)
	}
	c.markovian = append(c.markovian, command)
}

// embed replaces the Markovian commands by one command of the embedded MDP. By maximal progress it is enabled only if no other
// command is; then each Markovian update wins with its rate divided by the exit rate of the state.
//
// Source: Guck et al., Analysis of Timed and Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4.
func (c *checker) embed() {
	if c.system != nil {
		c.add(phaseOurs, c.items.systems[0].Pos(), "a system block of a Markov automaton is not supported")
		return
	}
	race := c.newRace()
	c.race = race
	c.model.rate = &Cond{Base{Double, syntax.Pos{}}, race.waits, race.rate, number(0)}
	if len(c.markovian) == 0 {
		return
	}
	command := Command{Action: Unlabelled, Guard: race.waits, Pos: c.markovian[0].Pos}
	for _, markovian := range c.markovian {
		for _, update := range markovian.Updates {
			enabledRate := &Cond{Base{Double, update.Pos}, markovian.Guard, update.Prob, number(0)}
			update.Prob = race.perRate(enabledRate)
			command.Updates = append(command.Updates, update)
		}
	}
	c.model.modules[0].Commands = append(c.model.modules[0].Commands, command)
}

// newRace returns the race of the model.
func (c *checker) newRace() *race {
	rate := number(0)
	for _, command := range c.markovian {
		sum := number(0)
		for _, update := range command.Updates {
			sum = operation(syntax.OpAdd, Double, sum, update.Prob)
		}
		rate = operation(syntax.OpAdd, Double, rate, &Cond{Base{Double, command.Pos}, command.Guard, sum, number(0)})
	}
	idle := &Unary{Base{Bool, syntax.Pos{}}, syntax.OpNot, c.immediate()}
	return &race{
		rate:     rate,
		waits:    operation(syntax.OpAnd, Bool, idle, operation(syntax.OpGt, Bool, rate, number(0))),
		deadlock: operation(syntax.OpAnd, Bool, idle, operation(syntax.OpEq, Bool, rate, number(0))),
	}
}

// immediate returns the condition that a command without rates is enabled. An action is enabled if each module that has it in
// its alphabet has such a command that is enabled.
func (c *checker) immediate() Expr {
	var steps []Expr
	for action := Unlabelled; action < len(c.model.actions); action++ {
		var participants []Expr
		for _, module := range c.model.modules {
			var guards []Expr
			for _, command := range module.Commands {
				if command.Action == action {
					guards = append(guards, command.Guard)
				}
			}
			if len(guards) > 0 {
				participants = append(participants, joined(syntax.OpOr, guards))
			}
		}
		together := syntax.OpAnd
		if action == Unlabelled {
			together = syntax.OpOr
		}
		if len(participants) > 0 {
			steps = append(steps, joined(together, participants))
		}
	}
	return joined(syntax.OpOr, steps)
}

// embedReward returns the items of the embedded MDP for a reward item. A reward per unit of time is earned for the mean sojourn
// time, and by a deadlock for one unit, as in PRISM. Other models keep the item.
func (c *checker) embedReward(item RewardItem) []RewardItem {
	if c.race == nil || item.Transition {
		return []RewardItem{item}
	}
	waiting, stuck := item, item
	waiting.Guard = operation(syntax.OpAnd, Bool, c.race.waits, item.Guard)
	waiting.Value = c.race.perRate(item.Value)
	stuck.Guard = operation(syntax.OpAnd, Bool, c.race.deadlock, item.Guard)
	return []RewardItem{waiting, stuck}
}

// perRate returns an expression divided by the exit rate.
func (r *race) perRate(expr Expr) Expr { return operation(syntax.OpDiv, Double, expr, r.rate) }

// joined joins expressions with a Boolean operator; it returns false for none.
func joined(op syntax.Op, exprs []Expr) Expr {
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
func operation(op syntax.Op, typ Type, left, right Expr) Expr {
	return &Binary{Base{typ, right.Pos()}, op, left, right}
}

// number returns a constant of type double.
func number(value int64) Expr {
	return &Const{Base{Double, syntax.Pos{}}, RatValue(big.NewRat(value, 1))}
}
