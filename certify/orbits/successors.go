package orbits

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// interpreter computes the choices of states with fractions, from the text of a program: the parallel composition of all modules. It serves nothing but
// the check, so it is short and slow.
type interpreter struct {
	program *sema.Program
	owners  [][]int // for each action, the modules that have it in their alphabets
}

// newInterpreter returns an interpreter of a program.
func newInterpreter(program *sema.Program) *interpreter {
	result := &interpreter{program: program, owners: make([][]int, len(program.Actions))}
	for i := range program.Modules {
		for _, action := range program.Modules[i].Alphabet {
			result.owners[action] = append(result.owners[action], i)
		}
	}
	return result
}

// choice is one way to leave a state. weight is the sum of its weights: 1, or the exit rate in a CTMC.
type choice struct {
	action   int // sema.Unlabelled for none
	weight   *big.Rat
	branches []branch
}

// branch is one possible result of a choice: its weight, and the values that it assigns to variables.
type branch struct {
	weight *big.Rat
	values map[int]int32 // by slot
}

// choices returns the choices of a state. A state without commands has a self-loop with the weight 1, as in PRISM.
func (interpreter *interpreter) choices(state []int32) ([]choice, error) {
	var found []choice
	for i := range interpreter.program.Modules {
		own, err := interpreter.enabled(i, sema.Unlabelled, state)
		if err != nil {
			return nil, err
		}
		found = append(found, own...)
	}
	for action, modules := range interpreter.owners {
		synchronised := []choice{{action: action, weight: big.NewRat(1, 1), branches: []branch{{weight: big.NewRat(1, 1)}}}}
		for _, module := range modules {
			own, err := interpreter.enabled(module, action, state)
			if err != nil {
				return nil, err
			}
			synchronised = combinations(synchronised, own)
		}
		if len(modules) > 0 {
			found = append(found, synchronised...)
		}
	}
	if len(found) == 0 {
		found = []choice{{action: sema.Unlabelled, weight: big.NewRat(1, 1), branches: []branch{{weight: big.NewRat(1, 1)}}}}
	}
	return found, nil
}

// enabled returns the commands of a module with an action that are enabled in a state, as choices.
func (interpreter *interpreter) enabled(module, action int, state []int32) ([]choice, error) {
	var found []choice
	for i := range interpreter.program.Modules[module].Commands {
		command := &interpreter.program.Modules[module].Commands[i]
		if command.Action != action {
			continue
		}
		holds, _, err := sema.EvalExact(command.Guard, state)
		if err != nil {
			return nil, err
		}
		if !holds.Bool {
			continue
		}
		enabled, err := interpreter.choiceOf(command, state)
		if err != nil {
			return nil, err
		}
		found = append(found, enabled)
	}
	return found, nil
}

// choiceOf returns the choice of one command in a state.
func (interpreter *interpreter) choiceOf(command *sema.Command, state []int32) (choice, error) {
	result := choice{action: command.Action, weight: new(big.Rat)}
	for i := range command.Updates {
		update := &command.Updates[i]
		weight, err := interpreter.fraction(update.Prob, state)
		if err != nil {
			return result, err
		}
		if update.ProbHigh != nil || weight.Sign() < 0 {
			return result, fmt.Errorf("%s:%v: found an interval or a negative weight, want a weight of at least 0", interpreter.program.File, update.Pos)
		}
		if weight.Sign() == 0 {
			continue
		}
		values := map[int]int32{}
		for _, assignment := range update.Assigns {
			value, _, err := sema.EvalExact(assignment.Value, state)
			if err != nil {
				return result, err
			}
			values[assignment.Slot] = storedValue(value)
		}
		result.weight.Add(result.weight, weight)
		result.branches = append(result.branches, branch{weight, values})
	}
	isProbability := interpreter.program.Type != syntax.CTMC
	switch {
	case result.weight.Sign() == 0:
		return result, fmt.Errorf("%s:%v: found weights that are all 0, want a positive one", interpreter.program.File, command.Pos)
	case isProbability && result.weight.Cmp(big.NewRat(1, 1)) != 0:
		return result, fmt.Errorf("%s:%v: the probabilities sum to %v, want 1", interpreter.program.File, command.Pos, result.weight.RatString())
	}
	return result, nil
}

// fraction returns the value of an expression, which must be a fraction.
func (interpreter *interpreter) fraction(expr sema.Expr, state []int32) (*big.Rat, error) {
	value, isExact, err := sema.EvalExact(expr, state)
	switch {
	case err != nil:
		return nil, err
	case value.Type == sema.Int:
		return big.NewRat(int64(value.Int), 1), nil
	case !isExact || value.Rat == nil:
		return nil, fmt.Errorf("%s:%v: found a number that is not a fraction, want a fraction", interpreter.program.File, expr.Pos())
	}
	return value.Rat, nil
}

// storedValue returns a value as it is stored in a valuation.
func storedValue(value sema.Value) int32 {
	if value.Type == sema.Bool {
		if value.Bool {
			return 1
		}
		return 0
	}
	return value.Int
}

// combinations returns all pairs of choices, which happen together: their weights are multiplied.
func combinations(left, right []choice) []choice {
	var pairs []choice
	for _, first := range left {
		for _, second := range right {
			pair := choice{action: first.action, weight: new(big.Rat).Mul(first.weight, second.weight)}
			for _, firstBranch := range first.branches {
				for _, secondBranch := range second.branches {
					pair.branches = append(pair.branches, firstBranch.with(secondBranch))
				}
			}
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// with returns the branch that makes the assignments of both branches.
func (b branch) with(other branch) branch {
	values := make(map[int]int32, len(b.values)+len(other.values))
	for slot, value := range b.values {
		values[slot] = value
	}
	for slot, value := range other.values {
		values[slot] = value
	}
	return branch{new(big.Rat).Mul(b.weight, other.weight), values}
}

// apply writes the successor of a state to target. It is an error if a value is outside of the range of its variable.
func (b branch) apply(program *sema.Program, target, state []int32) error {
	copy(target, state)
	for slot, value := range b.values {
		if variable := &program.Vars[slot]; value < variable.Low || value > variable.High {
			return fmt.Errorf("found the value %d of %s, want %d to %d", value, variable.Name, variable.Low, variable.High)
		}
		target[slot] = value
	}
	return nil
}

// maxInitialValuations is the greatest number of valuations that are tested for the formula of the initial states.
const maxInitialValuations = 1 << 22

// initialStates calls visit for each initial state of the program.
func (interpreter *interpreter) initialStates(ctx context.Context, visit func(state []int32) error) error {
	program := interpreter.program
	if program.Init == nil {
		state := make([]int32, len(program.Vars))
		for slot := range program.Vars {
			state[slot] = program.Vars[slot].Init
		}
		return visit(state)
	}
	var slots []int
	for slot := range program.Vars {
		slots = append(slots, slot)
	}
	var failed error
	isComplete := forValuations(program, slots, maxInitialValuations, func(state []int32) bool {
		holds, _, err := sema.EvalExact(program.Init, state)
		if failed = cmp.Or(ctx.Err(), err); failed == nil && holds.Bool {
			failed = visit(append([]int32(nil), state...))
		}
		return failed == nil
	})
	if !isComplete {
		return fmt.Errorf("the variables have more than %d valuations, want at most as many for the search for initial states", maxInitialValuations)
	}
	return failed
}

// reward returns what a reward structure earns in a state: for the state itself, or for a transition with an action.
func (interpreter *interpreter) reward(structure *sema.RewardStruct, state []int32, isTransition bool, action int) (*big.Rat, error) {
	sum := new(big.Rat)
	for i := range structure.Items {
		item := &structure.Items[i]
		if item.IsTransition != isTransition || isTransition && item.Action != action {
			continue
		}
		holds, _, err := sema.EvalExact(item.Guard, state)
		if err != nil || !holds.Bool {
			if err != nil {
				return nil, err
			}
			continue
		}
		value, err := interpreter.fraction(item.Value, state)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, value)
	}
	return sum, nil
}
