package elimination

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// eliminator eliminates control states of one program.
type eliminator struct {
	program  *sema.Program
	observed *observed
	slots    map[sema.Expr][]int // the variables of expressions
	commands []command           // of all modules
	isFixed  []bool              // by command: it is not extended, because that makes it too large
	steps    int                 // of all paths
}

// command is a command, and what its guard says about the variables.
type command struct {
	*sema.Command
	index, module int
	guard         valuation // the values that the guard requires
	required      []int     // the slots of these values
}

// extended is a command of the new program.
type extended struct {
	*command
	outcomes []outcome
	rewards  []*big.Rat // earned in the eliminated states, by index into observed.rewards; nil if the command is not extended
}

// outcome is an update of an extended command.
type outcome struct {
	weight *big.Rat     // nil if the command is not extended beyond its own update
	source *sema.Update // the update of the command
	after  valuation    // what is known after it
	live   []bool       // by slot: the variables that may be read before they are written
}

// maxUpdates is the largest number of updates of an extended command. Each is compiled.
const maxUpdates = 1 << 12

// Eliminate returns a program with fewer states in which the property has the same value. It returns nil if nothing can be eliminated, or if the
// program or the property is not supported. It supports DTMCs and MDPs without synchronisation and with one initial state. The property is P with F,
// G, U, W, R and upper bounds on rewards, or an expected reward until a target or in total. When the context ends, it eliminates less.
//
// Source: Winkler, Lehnen and Katoen, 2022: a command continues with the commands that follow it, and dead variables are reset.
func Eliminate(ctx context.Context, property *logic.Property) *sema.Program {
	if !isSupported(property.Program) {
		return nil
	}
	observed := observe(property)
	if observed == nil {
		return nil
	}
	eliminator := newEliminator(property.Program, observed)
	for {
		commands := eliminator.reachableCommands(ctx)
		eliminator.findLive(commands)
		isReset := eliminator.resetDead(commands)
		if eliminator.fixLarge(commands) { // compute the other commands anew
			continue
		}
		if isReset || slices.ContainsFunc(commands, extended.isExtended) {
			return eliminator.newProgram(commands)
		}
		return nil
	}
}

// newEliminator returns an eliminator for a program. observed has the formulas and rewards on which the property depends.
func newEliminator(program *sema.Program, observed *observed) *eliminator {
	created := &eliminator{program: program, observed: observed, slots: map[sema.Expr][]int{}}
	for i := range program.Modules {
		for j := range program.Modules[i].Commands {
			source := &program.Modules[i].Commands[j]
			guard, required := created.requiredValues(source.Guard)
			created.commands = append(created.commands, command{source, len(created.commands), i, guard, required})
		}
	}
	created.isFixed = make([]bool, len(created.commands))
	return created
}

// fixLarge marks the extended commands with too many outcomes as fixed, so that they are not extended in the next round. isFixed reports whether there is such
// a command.
func (e *eliminator) fixLarge(commands []extended) (isFixed bool) {
	for i := range commands {
		if len(commands[i].outcomes) > max(maxUpdates, len(commands[i].Updates)) {
			e.isFixed[commands[i].index], isFixed = true, true
		}
	}
	return isFixed
}

// isSupported reports whether Eliminate supports a program: a DTMC or MDP with one initial state, whose modules do not synchronise.
func isSupported(program *sema.Program) bool {
	isMarkov := program.Type == syntax.DTMC || program.Type == syntax.MDP
	if !isMarkov || program.System != nil || program.Init != nil || program.HasParameters {
		return false
	}
	isUsed := make([]bool, len(program.Actions))
	for i := range program.Modules {
		if program.Modules[i].Invariant != nil {
			return false
		}
		for _, action := range program.Modules[i].Alphabet {
			if isUsed[action] {
				return false
			}
			isUsed[action] = true
		}
	}
	return true
}

// isExtended reports whether a command continues beyond one of its own updates.
func (x extended) isExtended() bool { return x.rewards != nil }

// reachableCommands returns the extended commands that may be enabled in the initial state or after another one, in the order of the program.
func (e *eliminator) reachableCommands(ctx context.Context) []extended {
	initial := make(valuation, len(e.program.Vars))
	for slot := range initial {
		initial[slot] = knownValue(e.program.Vars[slot].Init)
	}
	e.steps = 0
	isReached := make([]bool, len(e.commands))
	waiting := []int{}
	addEnabled := func(state valuation) {
		for i := range e.commands {
			if !isReached[i] && e.mayBeEnabled(&e.commands[i], state) {
				isReached[i], waiting = true, append(waiting, i)
			}
		}
	}
	addEnabled(initial)
	// Extend each command that may be enabled, and then find the commands that its outcomes may enable.
	var commands []extended
	for len(waiting) > 0 {
		command := e.extend(ctx, &e.commands[waiting[0]])
		waiting = waiting[1:]
		commands = append(commands, command)
		for i := range command.outcomes {
			addEnabled(command.outcomes[i].after)
		}
	}
	slices.SortFunc(commands, func(left, right extended) int { return left.index - right.index })
	return commands
}

// newProgram returns the program with the given extended commands instead of its own. If the states that a command eliminates earn rewards, the command gets a
// new action with these rewards.
func (e *eliminator) newProgram(commands []extended) *sema.Program {
	program := *e.program
	program.Actions, program.Rewards = slices.Clone(program.Actions), slices.Clone(program.Rewards)
	program.Modules = slices.Clone(program.Modules)
	for i := range program.Modules {
		program.Modules[i].Commands = nil
	}
	for i := range commands {
		extended := &commands[i]
		copied := *extended.Command
		copied.Updates = make([]sema.Update, len(extended.outcomes))
		for j := range extended.outcomes {
			copied.Updates[j] = e.newUpdate(extended, &extended.outcomes[j])
		}
		module := &program.Modules[extended.module]
		if slices.ContainsFunc(extended.rewards, func(reward *big.Rat) bool { return reward.Sign() != 0 }) {
			copied.Action = len(program.Actions)
			program.Actions = append(program.Actions, fmt.Sprintf("eliminated %d", i))
			module.Alphabet = append(slices.Clip(module.Alphabet), copied.Action)
			e.addActionRewards(&program, extended, copied.Action)
		}
		module.Commands = append(module.Commands, copied)
	}
	return &program
}

// newUpdate returns the update of the new program for an outcome of an extended command: it assigns the known values after the outcome. If the outcome has no
// known weight, it keeps the probability and the other assignments of its original update.
func (e *eliminator) newUpdate(command *extended, outcome *outcome) sema.Update {
	update := *outcome.source
	update.Assigns = nil
	if outcome.weight != nil {
		update.Prob = sema.ConstantExpr(sema.RatValue(outcome.weight), command.Pos)
	} else {
		update.Assigns = slices.DeleteFunc(slices.Clone(outcome.source.Assigns), func(assign sema.Assign) bool { return outcome.after[assign.Slot].isKnown })
	}
	for slot, value := range outcome.after {
		if !value.isKnown || value == command.guard[slot] {
			continue
		}
		update.Assigns = append(update.Assigns, sema.Assign{Slot: slot, Value: sema.ConstantExpr(sema.ValueInState(e.program.Vars[slot].Type, value.value), command.Pos), Pos: command.Pos})
	}
	return update
}

// addActionRewards gives the action of an extended command the rewards of the command itself and of the eliminated states.
func (e *eliminator) addActionRewards(program *sema.Program, command *extended, action int) {
	for i, reward := range command.rewards {
		structure := &program.Rewards[e.observed.rewards[i]]
		items := slices.Clone(structure.Items)
		for _, item := range structure.Items {
			if item.IsTransition && item.Action == command.Action {
				item.Action = action
				items = append(items, item)
			}
		}
		structure.Items = append(items, sema.RewardItem{
			IsTransition: true, Action: action, Guard: sema.ConstantExpr(sema.BoolValue(true), command.Pos), Value: sema.ConstantExpr(sema.RatValue(reward), command.Pos), Pos: command.Pos,
		})
	}
}
