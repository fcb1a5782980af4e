package subsystem

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Numbering numbers the commands in a model's text, module by module. Commands of a renamed module have
// the numbers of the original module.
type Numbering struct {
	firstNumbers []int // of each module: the number of its first command
	modules      []int // of each command
}

// NewNumbering numbers the commands of a program, module by module. A command of a renamed module has the same number as the original command.
func NewNumbering(program *sema.Program) *Numbering {
	numbering := &Numbering{firstNumbers: make([]int, len(program.Modules))}
	for i, module := range program.Modules {
		isRenamed := module.Base != ""
		if isRenamed {
			continue
		}
		numbering.firstNumbers[i] = len(numbering.modules)
		for range module.Commands {
			numbering.modules = append(numbering.modules, i)
		}
	}
	for i := range program.Modules {
		numbering.firstNumbers[i] = numbering.firstNumbers[originalModule(program, i)]
	}
	return numbering
}

// originalModule returns the index of the module that a renamed module was copied from, over several renamings, or the index itself.
func originalModule(program *sema.Program, index int) int {
	for program.Modules[index].Base != "" {
		baseName := program.Modules[index].Base
		index = slices.IndexFunc(program.Modules, func(module sema.Module) bool { return module.Name == baseName })
	}
	return index
}

// Len returns the number of commands.
func (numbering *Numbering) Len() int { return len(numbering.modules) }

// Number returns the number of a command.
func (numbering *Numbering) Number(command compile.CommandRef) int {
	return numbering.firstNumbers[command.Module] + command.Command
}

// Command returns the command with number i.
func (numbering *Numbering) Command(i int) compile.CommandRef {
	module := numbering.modules[i]
	return compile.CommandRef{Module: module, Command: i - numbering.firstNumbers[module]}
}

// Commands returns a minimal set of commands such that the model with only these commands violates the bound. It searches among the commands of
// the transitions between the given states. If several commands synchronise in a transition, the transition needs all of them.
//
// In an MDP, the maximum over all schedulers must violate the bound. In a Markov chain, and for violating paths, removing a command removes its
// transitions from question.Chain, and with them their probability.
func Commands(ctx context.Context, question *Question, states *Result) (*Result, error) {
	causes := &commandCauses{question: question, numbering: NewNumbering(question.Space.Program())}
	if err := causes.collect(ctx); err != nil {
		return nil, err
	}
	candidates := causes.commandsByScore(states.Members)
	allCommands := sparse.SetOf(causes.numbering.Len(), candidates...)
	test := func(keptCommands *sparse.Set) (sufficiency, *big.Rat, error) {
		return causes.sufficient(ctx, keptCommands)
	}
	result, lower, err := test(allCommands)
	switch {
	case err != nil:
		return nil, err
	case result != sufficient:
		return nil, errors.New("could not prove that the commands of the critical states violate the bound by themselves")
	}
	found, err := minimize(ctx, allCommands, candidates, test, lower)
	if err != nil {
		return nil, err
	}
	found.Candidates = causes.numbering.Len()
	return found, nil
}

// commandsByScore returns the commands of the transitions between the given states, in the order in which minimize tries to remove them:
// commands on less probable paths first.
func (causes *commandCauses) commandsByScore(states *sparse.Set) []int {
	scores := causes.commandScores(states)
	var commands []int
	for command := range scores {
		if !math.IsInf(scores[command], 1) {
			commands = append(commands, command)
		}
	}
	slices.SortFunc(commands, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a)) })
	return commands
}

// commandUse has the commands that cause each choice or transition.
type commandCauses struct {
	question  *Question
	numbering *Numbering
	// choiceCommands[c] are the sets of commands that cause choice c of an MDP. Each set is sufficient.
	choiceCommands [][][]int
	// stepCommands[s<<32|t] are the commands that lead from state s of a Markov chain to state t.
	stepCommands map[uint64][]int
}

// restrictsChain reports whether commands are removed from the chain rather than the model.
func (causes *commandCauses) restrictsChain() bool {
	return causes.question.Space.Model().Kind != sparse.MDP || causes.question.Formula.Violating
}

// collect records which commands cause each choice of an MDP, or each transition of a Markov chain.
func (causes *commandCauses) collect(ctx context.Context) error {
	model := causes.question.Space.Model()
	if model.Kind == sparse.MDP {
		causes.choiceCommands = make([][][]int, model.NumChoices())
	} else {
		causes.stepCommands = map[uint64][]int{}
	}
	return causes.question.Space.Commands(ctx, func(s, choice int, enabled *compile.Choice, targets []int) {
		var commands []int
		for _, reference := range enabled.Commands {
			commands = append(commands, causes.numbering.Number(reference))
		}
		if causes.choiceCommands != nil {
			causes.choiceCommands[choice] = append(causes.choiceCommands[choice], commands)
			return
		}
		for _, target := range targets {
			causes.addStepCommands(s, target, commands)
		}
	})
}

// addStepCommands adds commands to the set of commands that cause a transition from state s to target.
func (causes *commandCauses) addStepCommands(s, target int, commands []int) {
	key := uint64(s)<<32 | uint64(target)
	for _, command := range commands {
		if !slices.Contains(causes.stepCommands[key], command) {
			causes.stepCommands[key] = append(causes.stepCommands[key], command)
		}
	}
}

// commandSets returns the alternative sets of commands that cause the transition between two nodes of the chain. Each set is sufficient.
func (causes *commandCauses) commandSets(from, to uint32) [][]int {
	chain := causes.question.Chain
	if causes.stepCommands != nil {
		return [][]int{causes.stepCommands[uint64(chain.State[from])<<32|uint64(chain.State[to])]}
	}
	return causes.choiceCommands[chain.Choice[from]]
}

// commandScores returns the score of each command: the least score of its transitions between the given states, or infinity if it has no such
// transition. The score of a transition is the greater score of its two nodes. Nodes on more probable paths to a target have lower scores.
func (causes *commandCauses) commandScores(states *sparse.Set) []float64 {
	chain := causes.question.Chain
	bestScores := slices.Repeat([]float64{math.Inf(1)}, causes.numbering.Len())
	scores := pathScores(chain.Model, chain.Target)
	for node, s := range chain.State {
		if !states.Has(int(s)) || chain.Target.Has(node) {
			continue
		}
		first, end := chain.Model.Transitions(node)
		for _, target := range chain.Model.Target[first:end] {
			if !states.Has(int(chain.State[target])) {
				continue
			}
			score := max(scores[node], scores[target])
			for _, command := range causes.firstCommandSet(uint32(node), target) {
				bestScores[command] = min(bestScores[command], score)
			}
		}
	}
	return bestScores
}

// firstCommandSet returns the first set of commands that causes the transition between two nodes, or nil if there is no set.
func (causes *commandCauses) firstCommandSet(node, target uint32) []int {
	if sets := causes.commandSets(node, target); len(sets) > 0 {
		return sets[0]
	}
	return nil
}

// sufficient reports whether the model with only the kept commands violates the bound. If it does, the second result is a lower bound of the
// probability.
func (causes *commandCauses) sufficient(ctx context.Context, keptCommands *sparse.Set) (sufficiency, *big.Rat, error) {
	if causes.restrictsChain() {
		return causes.sufficientInChain(ctx, keptCommands)
	}
	question, formula := causes.question, causes.question.Formula
	graph := sparse.NewGraph(causes.restrictedModel(keptCommands))
	reachable := graph.ReachableFrom(sparse.SetOf(graph.NumStates(), question.From))
	left := formula.Left.Intersect(reachable) // other states do not matter
	isUnbounded := formula.Low == 0 && formula.High < 0
	return question.compareWithBound(question.From, reachable.Count(), func(opts solve.Options) (*solve.Values, error) {
		if isUnbounded {
			return solve.Until(ctx, graph, left, formula.Right, solve.Max, opts)
		}
		return solve.BoundedUntil(ctx, graph, left, formula.Right, solve.StepBound{Low: formula.Low, High: formula.High}, solve.Max, opts)
	})
}

// sufficientInChain reports whether the chain with only the kept commands violates the bound. If it does, the second result is a lower bound of the
// probability.
func (causes *commandCauses) sufficientInChain(ctx context.Context, keptCommands *sparse.Set) (sufficiency, *big.Rat, error) {
	graph := sparse.NewGraph(causes.restrictedChain(keptCommands))
	numNodes := graph.NumStates()
	target := sparse.SetOf(numNodes, slices.Collect(causes.question.Chain.Target.All())...)
	return causes.question.compareWithBound(0, numNodes, func(opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, graph, sparse.FullSet(numNodes), target, solve.Max, opts)
	})
}

// someSetIsKept reports whether all commands of one of the sets are kept.
func someSetIsKept(sets [][]int, keptCommands *sparse.Set) bool {
	return slices.ContainsFunc(sets, func(commands []int) bool { return containsAll(keptCommands, commands) })
}

// containsAll reports whether all commands are in a set.
func containsAll(set *sparse.Set, commands []int) bool {
	return !slices.ContainsFunc(commands, func(command int) bool { return !set.Has(command) })
}

// restrictedChain returns the chain in which each transition that no set of kept commands causes leads to an additional absorbing state, so that its
// probability is lost.
func (causes *commandCauses) restrictedChain(keptCommands *sparse.Set) *sparse.Model {
	chain := causes.question.Chain.Model
	sink := uint32(chain.NumStates())
	builder := sparse.NewDerivedBuilder(chain, sparse.DTMC)
	for node := range sink {
		builder.State()
		builder.Copy(int(node), func(transition int) uint32 {
			target := chain.Target[transition]
			if target == node || someSetIsKept(causes.commandSets(node, target), keptCommands) {
				return target
			}
			return sink
		})
	}
	builder.State()
	builder.Loop(sink)
	result := builder.Finish()
	result.Initial = chain.Initial
	return result
}

// restrictedModel returns the MDP without the choices that no set of kept commands causes. A state that loses all its choices gets a self-loop.
func (causes *commandCauses) restrictedModel(keptCommands *sparse.Set) *sparse.Model {
	model := causes.question.Space.Model()
	builder := sparse.NewDerivedBuilder(model, sparse.MDP)
	sameTarget := func(transition int) uint32 { return model.Target[transition] }
	for s := range model.NumStates() {
		builder.State()
		numChoicesBefore := builder.NumChoices()
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if someSetIsKept(causes.choiceCommands[choice], keptCommands) {
				builder.Copy(choice, sameTarget)
			}
		}
		if builder.NumChoices() == numChoicesBefore {
			builder.Loop(uint32(s))
		}
	}
	result := builder.Finish()
	result.Initial = model.Initial
	return result
}
