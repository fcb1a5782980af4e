package orbits

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// automorphisms compares a program with its images under permutations.
type automorphisms struct {
	program  *sema.Program
	original *reader
	images   []*reader // one for each generator of the group
}

// newAutomorphisms returns an error unless each generator maps the program to itself.
func newAutomorphisms(program *sema.Program, group *group) (*automorphisms, error) {
	if err := checkSupported(program); err != nil {
		return nil, err
	}
	shared := &terms{map[string]int{}}
	newReader := func(p *permutation) *reader { return &reader{shared, p, map[sema.Expr]term{}} }
	result := &automorphisms{program: program, original: newReader(identity(program))}
	modules := result.original.modules(program)
	for _, generator := range group.generators {
		image := newReader(generator)
		result.images = append(result.images, image)
		if err := checkVariables(program, generator); err != nil {
			return nil, err
		}
		if image.modules(program) != modules {
			return nil, fmt.Errorf("%s changes the commands of the model, want a permutation that maps each module to a module with the same commands", generator.name)
		}
		if image.expr(program.Init) != result.original.expr(program.Init) {
			return nil, fmt.Errorf("%s changes the formula of the initial states, want a permutation that keeps it", generator.name)
		}
	}
	return result, nil
}

// checkSupported returns an error unless the meaning of a program depends only on the parts that are compared.
func checkSupported(program *sema.Program) error {
	switch {
	case program.Type != syntax.DTMC && program.Type != syntax.CTMC && program.Type != syntax.MDP:
		return fmt.Errorf("symmetry is checked for a dtmc, a ctmc or an mdp, found %v", program.Type)
	case program.System != nil:
		return fmt.Errorf("symmetry is not checked for a system block, want the parallel composition of all modules")
	}
	return nil
}

// checkVariables returns an error unless each variable has the type, the range and the initial value of its image.
func checkVariables(program *sema.Program, p *permutation) error {
	for slot := range program.Vars {
		variable, image := &program.Vars[slot], &program.Vars[p.variable(slot)]
		if variable.Type != image.Type || variable.IsBounded != image.IsBounded || variable.Low != image.Low || variable.High != image.High || variable.Init != image.Init {
			return fmt.Errorf("%s maps %s to %s, want a variable with the same type, range and initial value", p.name, variable.Name, image.Name)
		}
	}
	return nil
}

// modules returns the number of the multiset of the modules.
func (reader *reader) modules(program *sema.Program) term {
	var modules []term
	for i := range program.Modules {
		modules = append(modules, reader.module(&program.Modules[i]))
	}
	return reader.multiset("modules", modules)
}

// module returns the number of a module: its actions and its commands, in any order.
func (reader *reader) module(module *sema.Module) term {
	var actions, commands []term
	for _, action := range module.Alphabet {
		actions = append(actions, reader.number("action", reader.permutation.action(action)))
	}
	for i := range module.Commands {
		commands = append(commands, reader.command(&module.Commands[i]))
	}
	return reader.number("module", reader.multiset("actions", actions), reader.multiset("commands", commands), reader.expr(module.Invariant))
}

// command returns the number of a command. The order of its updates and assignments does not matter.
func (reader *reader) command(command *sema.Command) term {
	var updates []term
	for i := range command.Updates {
		update := &command.Updates[i]
		var assignments []term
		for _, assignment := range update.Assigns {
			assignments = append(assignments, reader.number("assign", reader.permutation.variable(assignment.Slot), reader.expr(assignment.Value)))
		}
		updates = append(updates, reader.number("update", reader.expr(update.Prob), reader.expr(update.ProbHigh), reader.multiset("assignments", assignments)))
	}
	return reader.number("command", reader.permutation.action(command.Action), reader.expr(command.Guard), reader.multiset("updates", updates))
}

// rewards returns the number of a reward structure.
func (reader *reader) rewards(structure *sema.RewardStruct) term {
	var items []term
	for _, item := range structure.Items {
		items = append(items, reader.number("item", item.IsTransition, reader.permutation.action(item.Action), reader.expr(item.Guard), reader.expr(item.Value)))
	}
	return reader.multiset("rewards", items)
}

// checkExpr returns an error unless the generators preserve the value of a state formula in all states. name is for errors.
func (a *automorphisms) checkExpr(ctx context.Context, name string, expr sema.Expr) error {
	for _, image := range a.images {
		if err := ctx.Err(); err != nil {
			return err
		}
		if image.expr(expr) != a.original.expr(expr) && !a.isEqualEverywhere(expr, image.permutation) {
			return fmt.Errorf("%s changes %s, want the same value in each state and its image", image.permutation.name, name)
		}
	}
	return nil
}

// checkRewards returns an error unless the generators preserve a reward structure.
func (a *automorphisms) checkRewards(structure *sema.RewardStruct) error {
	for _, image := range a.images {
		if image.rewards(structure) != a.original.rewards(structure) {
			return fmt.Errorf("%s changes the rewards %q, want the same rewards in each state and its image", image.permutation.name, structure.Name)
		}
	}
	return nil
}

// maxValuations is the greatest number of valuations in which a formula is compared with its image.
const maxValuations = 1 << 14

// isEqualEverywhere reports whether a formula, such as x=y & y=z, has the same value in every state and in its image: for all values of the variables
// that matter. It returns false if there are too many values.
func (a *automorphisms) isEqualEverywhere(expr sema.Expr, p *permutation) bool {
	var slots []int // the variables of the formula, and those that are mapped to them
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if variable, ok := operand.(*sema.Var); ok {
			slots = append(slots, variable.Slot, slices.Index(p.variables, variable.Slot))
		}
		return true
	})
	slices.Sort(slots)
	isEqual := true
	isComplete := forValuations(a.program, slices.Compact(slots), maxValuations, func(state []int32) bool {
		image := make([]int32, len(state))
		for slot, value := range state {
			image[p.variable(slot)] = value
		}
		value, _, err := sema.EvalExact(expr, state)
		valueOfImage, _, imageErr := sema.EvalExact(expr, image)
		isEqual = err == nil && imageErr == nil && value.Type == sema.Bool && value.Bool == valueOfImage.Bool
		return isEqual
	})
	return isComplete && isEqual
}

// forValuations calls visit for all values of the variables in slots, in a valuation whose other values are 0, until visit returns false. It returns false
// without a visit if there are more than limit valuations.
func forValuations(program *sema.Program, slots []int, limit int64, visit func(state []int32) bool) bool {
	count := int64(1)
	for _, slot := range slots {
		variable := &program.Vars[slot]
		if count *= int64(variable.High) - int64(variable.Low) + 1; count > limit {
			return false
		}
	}
	state := make([]int32, len(program.Vars))
	for number := range count {
		for _, slot := range slots {
			variable := &program.Vars[slot]
			numValues := int64(variable.High) - int64(variable.Low) + 1
			state[slot] = variable.Low + int32(number%numValues)
			number /= numValues
		}
		if !visit(state) {
			return true
		}
	}
	return true
}
