package boxes

import (
	"errors"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// errMustDivide says that the states of a box do not all behave in the same way. evaluation.proposal divides the box.
var errMustDivide = errors.New("the states of a box behave differently")

// program computes the choices of all states of a box at once.
type program struct {
	*sema.Program
	expander         compile.Expander // tells which evaluation fails in a state
	commands         [][]command      // by module
	synchronisations []synchronisation
	rewards          []rewardItem
	evaluation       evaluation
	successorValues  []int32 // the memory of the boxes that choices returns
}

// command is a compiled command.
type command struct {
	guard   *expression
	updates []update
	weights []*big.Rat // of the updates, in the last box
	// hasConstants says that weights are valid in all boxes.
	hasConstants bool
}

// update is a compiled update of a command.
type update struct {
	weight  *number
	assigns []assign
}

// assign is a compiled assignment of an update.
type assign struct {
	slot  int
	value *expression
}

// rewardItem is a compiled item of a reward structure.
type rewardItem struct {
	source *sema.RewardItem
	guard  *expression
	value  *number
}

// synchronisation is a set of modules that move together under an action, or one module that moves alone. participants has the commands of each module.
type synchronisation struct {
	action       int
	participants [][]*command
	// enabled has the enabled commands of each participant, and selected the number of one of them; commands are the selected ones.
	enabled  [][]*command
	selected []int
	commands []*command
}

// number is an expression whose value is a fraction. It is known only in boxes in which each of its variables has one value.
type number struct {
	source   sema.Expr
	slots    []int
	constant *big.Rat // nil if the value depends on variables
}

// newProgram compiles the commands of a model for evaluation in boxes, and the reward structure with index structure. If structure is -1, there are no
// rewards.
func newProgram(compiled *compile.Model, structure int) *program {
	source := compiled.Program()
	result := &program{Program: source, expander: compiled.NewExpander()}
	for i := range source.Modules {
		var commands []command
		for j := range source.Modules[i].Commands {
			commands = append(commands, newCommand(&source.Modules[i].Commands[j]))
		}
		result.commands = append(result.commands, commands)
	}
	for module := range source.Modules {
		result.addSynchronisation(sema.Unlabelled, []int{module})
	}
	for action := range source.Actions {
		var modules []int
		for module := range source.Modules {
			if slices.Contains(source.Modules[module].Alphabet, action) {
				modules = append(modules, module)
			}
		}
		result.addSynchronisation(action, modules)
	}
	if structure >= 0 {
		for i := range source.Rewards[structure].Items {
			item := &source.Rewards[structure].Items[i]
			result.rewards = append(result.rewards, rewardItem{item, newExpression(item.Guard), newNumber(item.Value)})
		}
	}
	return result
}

// addSynchronisation adds the combinations of commands of the given modules with an action, one command of each module. It adds nothing if a module has no
// command with the action, because then the action is blocked.
func (p *program) addSynchronisation(action int, modules []int) {
	result := synchronisation{action: action}
	for _, module := range modules {
		var commands []*command
		for i := range p.commands[module] {
			if p.Modules[module].Commands[i].Action == action {
				commands = append(commands, &p.commands[module][i])
			}
		}
		if len(commands) == 0 {
			return
		}
		result.participants = append(result.participants, commands)
	}
	result.enabled, result.selected = make([][]*command, len(modules)), make([]int, len(modules))
	if len(modules) > 0 {
		p.synchronisations = append(p.synchronisations, result)
	}
}

func newCommand(source *sema.Command) command {
	result := command{guard: newExpression(source.Guard)}
	for i := range source.Updates {
		compiled := update{weight: newNumber(source.Updates[i].Prob)}
		for _, assignment := range source.Updates[i].Assigns {
			compiled.assigns = append(compiled.assigns, assign{assignment.Slot, newExpression(assignment.Value)})
		}
		result.updates = append(result.updates, compiled)
	}
	result.weights = make([]*big.Rat, len(result.updates))
	return result
}

func newNumber(source sema.Expr) *number {
	result := &number{source: source}
	if source == nil {
		result.constant = big.NewRat(1, 1)
		return result
	}
	if constant, ok := source.(*sema.Const); ok {
		result.constant = constant.Val.Rat
	}
	result.slots = sema.SlotsOf(source)
	return result
}

// choice is a way to leave the states of a box. Its reward is that of the states and of the choice; nil for 0.
type choice struct {
	action   int
	reward   *big.Rat
	branches []branch
}

// branch is a probabilistic alternative of a choice. Its box has exactly the successors of the states.
type branch struct {
	weight *big.Rat
	box    box
}

// choices returns the choices that all states of a box have; a deadlock has none. In a DTMC it merges them into one choice, in which each of them is equally
// likely. The error is errMustDivide if the states do not have the same choices. The next call overwrites the boxes of the successors.
func (p *program) choices(b box) ([]choice, error) {
	p.evaluation.box, p.successorValues = b, p.successorValues[:0]
	var choices []choice
	for i := range p.synchronisations {
		sync := &p.synchronisations[i]
		isEnabled, err := p.findEnabled(sync)
		if err != nil {
			return nil, err
		}
		for hasNext := isEnabled; hasNext; hasNext = sync.nextCombination() {
			branches, err := p.branches(sync.combination())
			if err != nil {
				return nil, err
			}
			choices = append(choices, choice{action: sync.action, branches: branches})
		}
	}
	for i := range choices {
		var err error
		isEarned := func(item *sema.RewardItem) bool { return !item.IsTransition || item.Action == choices[i].action }
		if choices[i].reward, err = p.reward(isEarned); err != nil {
			return nil, err
		}
	}
	if p.Type == syntax.DTMC && len(choices) > 1 {
		choices = []choice{uniformChoice(choices)}
	}
	for i := range choices {
		choices[i].mergeEqualBranches()
	}
	return choices, nil
}

// uniformChoice returns a choice that stands for several enabled choices of a DTMC state, each with the same probability. Its reward is their mean reward.
func uniformChoice(choices []choice) choice {
	result := choice{action: sema.Unlabelled, reward: new(big.Rat)}
	share := big.NewRat(1, int64(len(choices)))
	for _, choice := range choices {
		if choice.reward != nil {
			result.reward.Add(result.reward, new(big.Rat).Mul(share, choice.reward))
		}
		for _, alternative := range choice.branches {
			result.branches = append(result.branches, branch{new(big.Rat).Mul(share, alternative.weight), alternative.box})
		}
	}
	return result
}

// mergeEqualBranches replaces all branches by one if their boxes are equal.
func (c *choice) mergeEqualBranches() {
	isDifferent := func(other branch) bool { return !other.box.equals(c.branches[0].box) }
	if len(c.branches) > 1 && !slices.ContainsFunc(c.branches, isDifferent) {
		c.branches = []branch{{one, c.branches[0].box}}
	}
}

// findEnabled finds the enabled commands of each module that takes part in a synchronisation. isEnabled is false if some module has no enabled command in
// any state of the box, because this module blocks the synchronisation. The error is errMustDivide if no module does so, and a guard holds in some states
// of the box only.
func (p *program) findEnabled(sync *synchronisation) (isEnabled bool, err error) {
	var proposal split
	for i, commands := range sync.participants {
		sync.enabled[i], sync.selected[i] = sync.enabled[i][:0], 0
		mayBeEnabled := false
		for _, command := range commands {
			holds, isKnown := command.guard.value(&p.evaluation)
			if !isKnown && err == nil {
				err, proposal = p.undecided(), p.evaluation.proposal
			}
			mayBeEnabled = mayBeEnabled || !isKnown || holds == 1
			if isKnown && holds == 1 {
				sync.enabled[i] = append(sync.enabled[i], command)
			}
		}
		if !mayBeEnabled {
			return false, nil
		}
	}
	p.evaluation.proposal = proposal
	return true, err
}

// combination returns the selected command of each participant. It is valid until the next call.
func (sync *synchronisation) combination() []*command {
	sync.commands = sync.commands[:0]
	for i, selected := range sync.selected {
		sync.commands = append(sync.commands, sync.enabled[i][selected])
	}
	return sync.commands
}

// nextCombination selects the next combination of one enabled command of each module. It returns false after the last combination.
func (sync *synchronisation) nextCombination() bool {
	for i := range sync.selected {
		sync.selected[i]++
		if sync.selected[i] < len(sync.enabled[i]) {
			return true
		}
		sync.selected[i] = 0
	}
	return false
}

// undecided returns the error of an evaluation whose result is unknown: errMustDivide if the evaluation has proposed a split, and otherwise the error of the
// model in the box.
func (p *program) undecided() error {
	if p.evaluation.hasProposal {
		return errMustDivide
	}
	return p.failure()
}

// failure returns the error of the model in the first state of the box.
func (p *program) failure() error {
	if _, err := p.expander.Expand(p.evaluation.box.low); err != nil {
		return err
	}
	return p.unsupported(syntax.Pos{}, "found a number that is not a fraction, or that rounding changes, want fractions for boxes of states")
}

// unsupported returns the error for a part of the program.
func (p *program) unsupported(pos syntax.Pos, message string) error {
	return &compile.UnsupportedError{File: p.File, Pos: pos, Msg: message}
}

// branches returns the branches of a choice, in which the given commands are executed together. Each combination of one update of each command is a branch,
// unless its probability is 0.
func (p *program) branches(commands []*command) ([]branch, error) {
	for _, command := range commands {
		if err := p.checkWeights(command); err != nil {
			return nil, err
		}
	}
	var branches []branch
	selected := make([]int, len(commands))
	for hasNext := true; hasNext; hasNext = nextUpdates(commands, selected) {
		weight := one
		for i, command := range commands {
			switch factor := command.weights[selected[i]]; {
			case weight == one:
				weight = factor
			case len(command.updates) > 1:
				weight = new(big.Rat).Mul(weight, factor)
			}
		}
		if weight.Sign() == 0 {
			continue
		}
		successor, err := p.successor(commands, selected)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{weight, successor})
	}
	return branches, nil
}

// nextUpdates changes selected to the next combination of one update of each command. It returns false after the last combination.
func nextUpdates(commands []*command, selected []int) bool {
	for i, command := range commands {
		selected[i]++
		if selected[i] < len(command.updates) {
			return true
		}
		selected[i] = 0
	}
	return false
}

// checkWeights evaluates the probabilities of the updates of a command in the box, and stores them in command.weights. It returns an error unless they are
// nonnegative fractions whose sum is exactly 1.
func (p *program) checkWeights(command *command) error {
	if command.hasConstants {
		return nil
	}
	sum, hasConstants := new(big.Rat), true
	for i := range command.updates {
		weight, err := p.value(command.updates[i].weight)
		if err != nil {
			return err
		}
		if weight.Sign() < 0 {
			return p.failure()
		}
		command.weights[i] = weight
		hasConstants = hasConstants && command.updates[i].weight.constant != nil
		sum.Add(sum, weight)
	}
	if sum.Cmp(one) != 0 {
		return p.failure()
	}
	command.hasConstants = hasConstants
	return nil
}

// one is the probability 1. Nothing changes it.
var one = big.NewRat(1, 1)

// value returns the value that a number has in all states of the box. The error is errMustDivide if a variable in the number has several values in the box,
// because a number is evaluated in one state only.
func (p *program) value(n *number) (*big.Rat, error) {
	if n.constant != nil {
		return n.constant, nil
	}
	e := &p.evaluation
	if i := slices.IndexFunc(n.slots, e.box.isWide); i >= 0 {
		e.proposal, e.hasProposal = e.box.halving(n.slots[i]), true
		return nil, errMustDivide
	}
	value, isExact, err := sema.EvalExact(n.source, e.box.low)
	if err != nil || !isExact || value.Rat == nil {
		return nil, p.failure()
	}
	return value.Rat, nil
}

// successor returns the box that the states of the current box reach if each of the given commands makes its selected update. Each assigned variable must
// get one value, or its old value plus a constant; otherwise the error is errMustDivide.
func (p *program) successor(commands []*command, selected []int) (box, error) {
	e := &p.evaluation
	first := len(p.successorValues)
	p.successorValues = append(append(p.successorValues, e.box.low...), e.box.high...)
	result := newBox(p.successorValues[first:])
	for i, command := range commands {
		for _, assignment := range command.updates[selected[i]].assigns {
			assigned, isKnown := assignment.value.bounds(e)
			isMoved := assigned.slot == assignment.slot
			if !isKnown || !assigned.isSingle() && !isMoved {
				assignment.value.proposeAny(e)
				return box{}, p.undecided()
			}
			if err := p.checkRange(assignment.slot, assigned); err != nil {
				return box{}, err
			}
			result.low[assignment.slot], result.high[assignment.slot] = int32(assigned.low), int32(assigned.high)
		}
	}
	return result, nil
}

// checkRange returns an error if an assigned value is outside of the range of its variable. If the value differs between the states of the box, the error is
// errMustDivide, because it may be within the range in some states.
func (p *program) checkRange(slot int, assigned values) error {
	variable, e := &p.Vars[slot], &p.evaluation
	switch {
	case assigned.low >= int64(variable.Low) && assigned.high <= int64(variable.High):
		return nil
	case assigned.isSingle():
		return p.failure()
	}
	e.proposal, e.hasProposal = e.box.halving(slot), true
	return errMustDivide
}

// reward returns the sum of the reward items that selects accepts and whose guards hold in the box, or nil for 0. The error is errMustDivide if a guard or a
// reward differs between states of the box.
func (p *program) reward(selects func(*sema.RewardItem) bool) (*big.Rat, error) {
	var sum *big.Rat
	for i := range p.rewards {
		item := &p.rewards[i]
		if !selects(item.source) {
			continue
		}
		holds, isKnown := item.guard.value(&p.evaluation)
		if !isKnown {
			return nil, p.undecided()
		}
		if holds == 0 {
			continue
		}
		value, err := p.value(item.value)
		switch {
		case err != nil:
			return nil, err
		case value.Sign() < 0:
			return nil, p.unsupported(item.source.Pos, "found a negative reward, want rewards that are not negative for boxes of states")
		case sum == nil:
			sum = value
		default:
			sum = new(big.Rat).Add(sum, value)
		}
	}
	return sum, nil
}

// stateReward returns the reward of the states of a box, without that of a choice.
func (p *program) stateReward(b box) (*big.Rat, error) {
	p.evaluation.box = b
	return p.reward(func(item *sema.RewardItem) bool { return !item.IsTransition })
}
