package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tilecheck/internal/noun"
	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// buildSpace makes a space from the columns of a UMB file.
func (file *umbFile) buildSpace() (*explicit.Space, error) {
	if err := file.checkComplete(); err != nil {
		return nil, err
	}
	builder := &umbBuilder{
		umbFile:  file,
		assembly: newAssembly(newLines(Source{Name: file.src.Name}), sparseKind(file.modelType), file.numStates, file.opts),
	}
	builder.intervals = file.modelType == syntax.IDTMC || file.modelType == syntax.IMDP
	model, err := builder.buildModel()
	if err != nil {
		return nil, err
	}
	imported := &explicit.Imported{File: file.src.Name, Type: file.modelType, Actions: builder.assembly.names, Model: model, Normalised: builder.normalised}
	if file.owners != nil {
		imported.Players, model.Player = file.playerNames(), file.owners
	}
	if err := builder.addRewards(imported); err != nil {
		return nil, err
	}
	if file.markov {
		rates, err := file.exitRates()
		if err != nil {
			return nil, err
		}
		if err := completeAutomaton(imported, rates, file.opts.Exact); err != nil {
			return nil, err
		}
	}
	if err := builder.checkDeadlocks(file.opts); err != nil {
		return nil, err
	}
	return builder.importSpace(imported)
}

// buildModel returns the model with its transitions, actions and labels.
func (builder *umbBuilder) buildModel() (*sparse.Model, error) {
	if err := builder.readActionNames(); err != nil {
		return nil, err
	}
	if err := builder.addRows(); err != nil {
		return nil, err
	}
	model := builder.finish()
	if model == nil {
		return nil, builder.errs
	}
	if model.Kind == sparse.CTMC && !builder.opts.Exact { // a rate is the rounded product of two rounded numbers
		model.Err = 1.01 * 4 * sema.UnitRoundoff
	}
	sets, err := builder.declaredSets()
	if err != nil {
		return nil, err
	}
	builder.setLabels(model, sets)
	if len(builder.errs) > 0 {
		return nil, builder.errs
	}
	return model, nil
}

// exitRates returns the exit rates of the states of a Markov automaton.
func (file *umbFile) exitRates() (*rewardColumn, error) {
	rates := newColumn(file.numStates, file.opts.Exact)
	for state := range file.numStates {
		rate, err := file.exitRate.get(state, file.opts.Exact)
		if err == nil && !(rate.float >= 0) {
			err = fmt.Errorf("found the exit rate %v, wanted none below 0", rate.float)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: state %d: %w", umb.ExitRates, state, err)
		}
		rates.set(state, rate)
	}
	return rates, nil
}

// checkComplete returns an error if the file lacks a part that every model of its type has.
func (file *umbFile) checkComplete() error {
	for _, part := range []struct {
		name   string
		absent bool
	}{
		{umb.Targets, file.targets == nil},
		{umb.Probabilities, file.modelType != syntax.LTS && !file.probability.Present()},
		{umb.ExitRates, file.timed() && !file.exitRate.Present()},
		{umb.StatePlayers, file.modelType == syntax.SMG && file.owners == nil},
		{umb.Initial, file.initial == nil || file.initial.Empty()},
	} {
		if part.absent {
			return fmt.Errorf("the file %s is missing or empty", part.name)
		}
	}
	system := &file.index.System
	if uint64(file.initial.Count()) != system.InitialStates {
		return fmt.Errorf("%s: found %d initial states, wanted %d as %s says", umb.Initial, file.initial.Count(), system.InitialStates, umb.IndexFile)
	}
	if file.stateChoices == nil && file.numChoices != file.numStates {
		return fmt.Errorf("the file %s is missing, and states have other numbers of choices than one", umb.StateChoices)
	}
	if file.choiceRows == nil && file.numBranches != file.numChoices {
		return fmt.Errorf("the file %s is missing, and choices have other numbers of branches than one", umb.ChoiceRows)
	}
	if !file.hasChoices() && file.stateChoices != nil {
		for i, offset := range file.stateChoices {
			if offset != uint32(i) {
				return fmt.Errorf("%s: found a state without exactly one choice, wanted one in each of %s", umb.StateChoices, noun.WithArticle(file.modelType.String()))
			}
		}
	}
	return nil
}

// umbBuilder builds a model from the columns of a UMB file. UMB calls a transition a branch.
type umbBuilder struct {
	*umbFile
	*assembly
	actionOfNumber []sparse.Action // by number in the file
	// firstBranchOf has the first branch of each transition, because a transition can merge several branches. It is nil, to
	// save memory, as long as each transition i has branch i as its first.
	firstBranchOf  []uint32
	mergedBranches map[uint32][]uint32 // by first branch, the branches that were merged into it
	branches       []umbBranch
	edgesOfRow     edgeSet
}

// umbBranch is a branch of a row.
type umbBranch struct {
	edge
	branch int
	weight number
	high   number // the upper bound of an interval
}

// readActionNames reads the names of the actions. An action without a name gets PRISM's name for it,
// "_" and its number.
func (builder *umbBuilder) readActionNames() error {
	system := &builder.index.System
	for i := range int(max(system.ChoiceActions, system.BranchActions)) {
		name, err := builder.readActionName(i)
		if err != nil {
			return err
		}
		if !utf8.ValidString(name) || name != "" && !isWord(name) {
			return fmt.Errorf("found the action %s, wanted a word", quote([]byte(name)))
		}
		builder.actionOfNumber = append(builder.actionOfNumber, builder.assembly.actionNumber(name))
	}
	return nil
}

// readActionName returns the name of the action with a number.
func (builder *umbBuilder) readActionName(number int) (string, error) {
	if builder.actionOffsets == nil {
		return "_" + strconv.Itoa(number+1), nil
	}
	names := builder.umbFile.actionStrings
	start, end := builder.actionOffsets[number], builder.actionOffsets[number+1]
	if int(end) > len(names) {
		return "", fmt.Errorf("found the name of action %d at %d to %d, wanted it below %d", number, start, end, len(names))
	}
	return string(names[start:end]), nil
}

// actionOf returns the action of a choice of an MDP, or of a branch of a Markov chain.
func (builder *umbBuilder) actionOf(index int) sparse.Action {
	switch {
	case builder.actionOfNumber == nil:
		return sparse.NoAction
	case builder.umbFile.actionNumbers == nil: // every action has number 0
		return builder.actionOfNumber[0]
	}
	return builder.actionOfNumber[builder.umbFile.actionNumbers[index]]
}

// branchesOf returns the range of branches of a choice.
func (builder *umbBuilder) branchesOf(choice int) (lo, hi int) {
	if builder.choiceRows == nil {
		return choice, choice + 1
	}
	return int(builder.choiceRows[choice]), int(builder.choiceRows[choice+1])
}

// hasNoBranches reports whether a state is a deadlock: it has no choice, or one choice without
// branches.
func (builder *umbBuilder) hasNoBranches(state int) bool {
	first, end := builder.choicesOf(state)
	if first+1 == end {
		lo, hi := builder.branchesOf(first)
		return lo == hi
	}
	return first == end
}

// choicesOf returns the range of choices of a state.
func (builder *umbBuilder) choicesOf(state int) (first, end int) {
	if builder.stateChoices == nil {
		return state, state + 1
	}
	return int(builder.stateChoices[state]), int(builder.stateChoices[state+1])
}

// addRows adds the transitions of all states to the model. It allocates memory for them in advance,
// and afterwards drops the columns that are no longer needed.
func (builder *umbBuilder) addRows() error {
	builder.reserveRows()
	defer func() { builder.umbFile.targets, builder.choiceRows, builder.umbFile.actionNumbers = nil, nil, nil }()
	for state := range builder.umbFile.numStates {
		if state&0xfff == 0 {
			if err := builder.ctx.Err(); err != nil {
				return err
			}
		}
		if builder.hasNoBranches(state) {
			continue // a skipped state becomes a deadlock
		}
		if err := builder.addState(state); err != nil {
			return err
		}
		if len(builder.errs) >= maxErrors {
			return builder.errs
		}
	}
	return nil
}

// reserveRows allocates memory for all transitions, including the self-loops of deadlocks.
func (builder *umbBuilder) reserveRows() {
	numDeadlocks := 0
	for state := range builder.umbFile.numStates {
		if builder.hasNoBranches(state) {
			numDeadlocks++
		}
	}
	builder.builder.Grow(builder.umbFile.numStates, builder.umbFile.numChoices+numDeadlocks, builder.numBranches+numDeadlocks)
}

// addState adds a state with its choices.
func (builder *umbBuilder) addState(state int) error {
	first, end := builder.choicesOf(state)
	builder.startState(state)
	for choice := first; choice < end; choice++ {
		if err := builder.addChoice(state, choice); err != nil {
			return fmt.Errorf("state %d, choice %d: %w", state, choice-first, err)
		}
	}
	return nil
}

// addChoice adds the transitions of a choice. Branches with the same target are merged; in a Markov
// chain, only those that also have the same action.
func (builder *umbBuilder) addChoice(state, choice int) error {
	if err := builder.readBranches(state, choice); err != nil {
		return err
	}
	action := sparse.NoAction
	if builder.hasChoices() {
		action = builder.actionOf(choice)
	}
	builder.assembly.startChoice(action, syntax.Pos{})
	for k := range builder.branches {
		branch := &builder.branches[k]
		builder.recordFirstBranch(branch.branch)
		numErrors := len(builder.errs)
		builder.nextHigh = branch.high
		builder.addTransition(branch.target, branch.weight, branch.action, 0, 0)
		if len(builder.errs) > numErrors {
			builder.addLocation(state, choice)
		}
	}
	builder.endRow()
	builder.addLocation(state, choice)
	return nil
}

// readBranches sets builder.branches to the branches of a choice with a positive weight, and merges branches that become one transition.
// In an interval model they are not merged, because addTransition reports a second transition with the same target.
func (builder *umbBuilder) readBranches(state, choice int) error {
	lo, hi := builder.branchesOf(choice)
	if lo == hi {
		return errors.New("found no branch, wanted one")
	}
	if builder.modelType == syntax.LTS && lo+1 < hi {
		return fmt.Errorf("found %d branches, wanted one in a choice of an LTS", hi-lo)
	}
	builder.branches = builder.branches[:0]
	builder.edgesOfRow.clear()
	isChain := !builder.hasChoices()
	for branch := lo; branch < hi; branch++ {
		weight, high, err := builder.branchWeight(state, branch)
		if err != nil {
			return fmt.Errorf("branch %d: %w", branch-lo, err)
		}
		if weight.isZero() && high.isZero() {
			continue
		}
		edge := edge{target: int(builder.umbFile.targets[branch])}
		if isChain {
			edge.action = builder.actionOf(branch)
		}
		index, isNew := builder.edgesOfRow.add(edge)
		if isNew || builder.intervals {
			builder.branches = append(builder.branches, umbBranch{edge, branch, weight, high})
		} else {
			builder.mergeBranch(&builder.branches[index], branch, weight)
		}
	}
	return nil
}

// mergeBranch adds the weight of a branch to an earlier branch with the same target, and records that the two were merged.
func (builder *umbBuilder) mergeBranch(into *umbBranch, branch int, weight number) {
	if into.weight.rat != nil {
		into.weight.rat = new(big.Rat).Add(into.weight.rat, weight.rat)
	}
	into.weight.float += weight.float
	if builder.mergedBranches == nil {
		builder.mergedBranches = make(map[uint32][]uint32)
	}
	builder.mergedBranches[uint32(into.branch)] = append(builder.mergedBranches[uint32(into.branch)], uint32(branch))
}

// addLocation adds the state and the choice to the texts of the diagnostics that do not have them yet, because a binary file has no
// lines for their positions.
func (builder *umbBuilder) addLocation(state, choice int) {
	for _, diagnostic := range builder.errs {
		hasLocation := !diagnostic.Pos.IsValid() && strings.HasPrefix(diagnostic.Msg, "state ")
		if !hasLocation {
			diagnostic.Pos = syntax.Pos{}
			diagnostic.Msg = fmt.Sprintf("state %d, choice number %d: %s", state, choice, diagnostic.Msg)
		}
	}
}

// branchWeight returns the probability or rate of a branch of a state. In an interval model the
// results are the bounds; otherwise high is zero.
func (builder *umbBuilder) branchWeight(state, branch int) (weight, high number, err error) {
	switch {
	case builder.modelType == syntax.LTS:
		return builder.one, number{}, nil
	case builder.intervals:
		return builder.branchInterval(branch)
	}
	weight, err = builder.probability.get(branch, builder.opts.Exact)
	if err != nil || builder.modelType != syntax.CTMC {
		return weight, number{}, err
	}
	rate, err := builder.exitRate.get(state, builder.opts.Exact)
	if weight.rat != nil && rate.rat != nil {
		weight.rat = new(big.Rat).Mul(weight.rat, rate.rat)
	}
	weight.float *= rate.float
	return weight, number{}, err
}

// branchInterval returns the bounds of the probability of a branch. Both may be zero.
func (builder *umbBuilder) branchInterval(branch int) (low, high number, err error) {
	if low, err = builder.probability.get(2*branch, true); err != nil {
		return low, high, err
	}
	if high, err = builder.probability.get(2*branch+1, true); err != nil {
		return low, high, err
	}
	isZero := low.isZero() && high.isZero()
	if !isZero && !isInterval(low, high) {
		err = fmt.Errorf("found the interval [%s,%s], wanted one of probabilities from 0 to 1", low.rat.RatString(), high.rat.RatString())
	}
	return low, high, err
}

// recordFirstBranch records the first branch of the next transition. firstBranchOf stays nil as long as every transition has the same
// index as its first branch. When a transition differs, the indices before it are stored, too.
func (builder *umbBuilder) recordFirstBranch(branch int) {
	nextTransition := builder.numTransitions
	if builder.firstBranchOf == nil {
		if branch == nextTransition {
			return
		}
		for transition := range nextTransition {
			builder.firstBranchOf = append(builder.firstBranchOf, uint32(transition))
		}
	}
	builder.firstBranchOf = append(builder.firstBranchOf, uint32(branch))
}

// declaredSets returns the labels, the initial states and the deadlocks, and checks them.
func (builder *umbBuilder) declaredSets() (declaredSets, error) {
	declared := declaredSets{init: builder.initial}
	seen := make(map[string]bool)
	for _, annotation := range builder.index.Annotations.Get("aps") {
		name := annotation.Name
		if annotation.Value.Alias != nil {
			name = *annotation.Value.Alias
		}
		if seen[name] {
			return declared, fmt.Errorf("found the label %s twice", quote([]byte(name)))
		}
		seen[name] = true
		set := builder.labels[annotation.Name]
		if set == nil {
			set = sparse.NewSet(builder.umbFile.numStates)
		}
		if err := builder.addDeclared(&declared, name, set); err != nil {
			return declared, err
		}
	}
	return declared, nil
}

// addDeclared adds a label. The labels deadlock and init must fit the transitions and the initial states.
func (builder *umbBuilder) addDeclared(declared *declaredSets, name string, set *sparse.Set) error {
	switch {
	case name == "deadlock":
		declared.deadlock = set
		for s := range set.All() {
			if !builder.selfLoops.Has(s) && !builder.assembly.deadlocks.Has(s) {
				return fmt.Errorf(`state %d has the label "deadlock" and transitions to other states`, s)
			}
		}
	case name == "init":
		if !set.Equal(builder.initial) {
			return errors.New(`the label "init" does not hold in exactly the initial states`)
		}
	case !syntax.IsIdent(name):
		return fmt.Errorf("found the label %s, wanted a word", quote([]byte(name)))
	default:
		declared.labels = append(declared.labels, sparse.Label{Name: name, States: set})
	}
	return nil
}

// addRewards adds the reward structures to the import.
func (builder *umbBuilder) addRewards(imported *explicit.Imported) error {
	for i, annotation := range builder.index.Annotations.Get("rewards") {
		reward, transitionRewards, err := builder.readReward(imported.Model, i, annotation)
		if err != nil {
			return fmt.Errorf("rewards/%s: %w", annotation.Name, err)
		}
		imported.Model.Rewards = append(imported.Model.Rewards, reward)
		imported.TransitionRewards = append(imported.TransitionRewards, transitionRewards)
	}
	return nil
}

// readReward reads the reward structure with index i. Its name is the alias of the annotation, or
// the identifier. If there is no alias and the identifier is the number i+1 or Storm's "default", the
// structure has no name.
func (builder *umbBuilder) readReward(model *sparse.Model, i int, annotation umb.Named[umb.Annotation]) (reward sparse.Reward, perTransition explicit.TransitionReward, err error) {
	name := annotation.Name
	if annotation.Value.Alias != nil {
		name = *annotation.Value.Alias
	} else if name == strconv.Itoa(i+1) || name == "default" {
		name = ""
	}
	if name != "" && !syntax.IsIdent(name) {
		return reward, perTransition, fmt.Errorf("found the name %s, wanted a word", quote([]byte(name)))
	}
	stateRewards, err := builder.readStateRewards(builder.rewards[annotation.Name+"/states"])
	if err != nil {
		return reward, perTransition, err
	}
	columns := &umbTransitionRewards{umbBuilder: builder, choices: builder.rewards[annotation.Name+"/choices"], branches: builder.rewards[annotation.Name+"/branches"]}
	transitionRewards, err := columns.read(model)
	if err != nil {
		return reward, perTransition, err
	}
	reward, perTransition = rewardStructure(model, name, stateRewards, transitionRewards)
	return reward, perTransition, nil
}

// readStateRewards returns the rewards of all states, which are the numbers of a column of the file. It returns nil if the file does not have the
// column.
func (builder *umbBuilder) readStateRewards(column umbColumn) (*rewardColumn, error) {
	if !column.Present() {
		return nil, nil
	}
	rewards := newColumn(builder.umbFile.numStates, builder.opts.Exact)
	for state := range builder.umbFile.numStates {
		reward, err := column.get(state, builder.opts.Exact)
		if err != nil {
			return nil, fmt.Errorf("state %d: %w", state, err)
		}
		rewards.set(state, reward)
	}
	return rewards, nil
}

// umbTransitionRewards has the columns of the file from which the transition rewards of a structure are computed: the rewards of choices and of
// branches. The file may lack each of them.
type umbTransitionRewards struct {
	*umbBuilder
	choices, branches umbColumn
}

// read returns the transition rewards: the reward of the choice plus the reward of the branch. It returns nil if the file has neither column.
func (columns *umbTransitionRewards) read(model *sparse.Model) (*rewardColumn, error) {
	if !columns.choices.Present() && !columns.branches.Present() {
		return nil, nil
	}
	rewards := newColumn(model.NumTransitions(), columns.opts.Exact)
	transition, inFile := 0, 0 // inFile does not count self-loops of deadlocks
	for state := range columns.umbFile.numStates {
		if columns.assembly.deadlocks.Has(state) {
			transition++
			continue
		}
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			choiceReward, err := columns.choiceReward(state, choice-first)
			if err != nil {
				return nil, fmt.Errorf("state %d, choice %d: %w", state, choice-first, err)
			}
			firstTransition, endTransition := model.Row(choice)
			for range endTransition - firstTransition {
				reward, err := columns.addBranchReward(choiceReward, inFile, state)
				if err != nil {
					return nil, fmt.Errorf("state %d: %w", state, err)
				}
				rewards.set(transition, reward)
				transition++
				inFile++
			}
		}
	}
	return rewards, nil
}

// choiceReward returns the reward of choice k of a state; 0 if the file has no rewards of choices.
func (columns *umbTransitionRewards) choiceReward(state, k int) (number, error) {
	if columns.choices.Present() {
		return columns.choices.get(columns.choiceInFile(state, k), columns.opts.Exact)
	}
	if columns.opts.Exact {
		return number{rat: new(big.Rat)}, nil
	}
	return number{}, nil
}

// addBranchReward returns the sum of the reward of a choice and the reward of one of its transitions. transition is the number of the
// transition in the file, without the self-loops of deadlocks.
func (columns *umbTransitionRewards) addBranchReward(choiceReward number, transition, state int) (number, error) {
	if !columns.branches.Present() {
		return choiceReward, nil
	}
	branchReward, err := columns.branchReward(transition, state)
	return addNumbers(choiceReward, branchReward), err
}

// branchReward returns the reward of a transition: the mean reward of the branches that were merged into it.
func (columns *umbTransitionRewards) branchReward(transition, state int) (number, error) {
	first := transition
	if columns.firstBranchOf != nil {
		first = int(columns.firstBranchOf[transition])
	}
	merged := columns.mergedBranches[uint32(first)]
	reward, err := columns.branches.get(first, columns.opts.Exact)
	if err != nil || len(merged) == 0 {
		return reward, err
	}
	sum, totalWeight := number{}, number{}
	allEqual := true
	for _, branch := range append([]uint32{uint32(first)}, merged...) {
		other, rewardErr := columns.branches.get(int(branch), columns.opts.Exact)
		weight, _, weightErr := columns.branchWeight(state, int(branch))
		if err := errors.Join(rewardErr, weightErr); err != nil {
			return reward, err
		}
		if other.float != reward.float || compareRats(reward.rat, other.rat) != 0 {
			allEqual = false
		}
		totalWeight = addNumbers(totalWeight, weight)
		sum = addNumbers(sum, multiply(weight, other))
	}
	if allEqual { // the mean would be rounded
		return reward, nil
	}
	mean := number{float: sum.float / totalWeight.float}
	if totalWeight.rat != nil {
		mean.rat = new(big.Rat).Quo(sum.rat, totalWeight.rat)
	}
	return mean, nil
}

// choiceInFile returns the index in the file of choice k of a state.
func (builder *umbBuilder) choiceInFile(state, k int) int {
	if builder.stateChoices == nil {
		return state
	}
	return int(builder.stateChoices[state]) + k
}

// importSpace makes a space of the model. It uses the valuations of the file if they are valid and
// distinct; otherwise a warning says why not.
func (builder *umbBuilder) importSpace(imported *explicit.Imported) (*explicit.Space, error) {
	imported.Warnings = slices.Concat(imported.Warnings, builder.umbFile.warnings, builder.assembly.warnings())
	if builder.valuations != nil {
		space, problem, err := builder.importValuations(imported)
		if problem == "" {
			return space, err
		}
		imported.Warnings = append(imported.Warnings, fmt.Sprintf("the valuations of %s are not used, and its states have one variable x, their number: %s", builder.umbFile.src.Name, problem))
	}
	imported.Vars, imported.Valuation = numberVariable(builder.umbFile.numStates)
	return explicit.Import(imported)
}

// importValuations makes a space with the valuations of the file. problem says why they cannot be used; it is "" if they
// can.
func (builder *umbBuilder) importValuations(imported *explicit.Imported) (space *explicit.Space, problem string, err error) {
	vars, values, problem := builder.readValuations()
	if problem != "" {
		return nil, problem, nil
	}
	imported.Vars, imported.Valuation = vars, values
	space, err = explicit.Import(imported)
	if duplicate, ok := errors.AsType[*explicit.DuplicateError](err); ok {
		return nil, fmt.Sprintf("states %d and %d have the same valuation", duplicate.First, duplicate.Second), nil
	}
	return space, "", err
}

// readValuations returns the variables and a function that unpacks their values in a state. problem
// says why the valuations cannot be used; it is "" if they can.
func (builder *umbBuilder) readValuations() (vars []sema.Variable, valuation func(state int) []int32, problem string) {
	width := builder.valuationSize()
	padded := make([]byte, width+9)
	for state := range builder.umbFile.numStates {
		copy(padded, builder.valuations[state*width:(state+1)*width])
		for i := range builder.variables {
			variable := &builder.variables[i]
			if value := variable.unpack(padded); !variable.include(value, state == 0) {
				return nil, nil, fmt.Sprintf("variable %s is %d in state %d, which is out of its range", variable.name, value, state)
			}
		}
	}
	for i := range builder.variables {
		declared, problem := builder.variables[i].declare()
		if problem != "" {
			return nil, nil, problem
		}
		vars = append(vars, declared)
	}
	values := make([]int32, len(builder.variables))
	return vars, func(state int) []int32 {
		copy(padded, builder.valuations[state*width:(state+1)*width])
		for i := range builder.variables {
			values[i] = int32(builder.variables[i].unpack(padded))
		}
		return values
	}, ""
}

// include extends the range of a variable without a declared range by a value; isFirst is set for its first value. It
// reports whether the value has 32 bits and is in the declared range.
func (variable *umbVariable) include(value int64, isFirst bool) bool {
	if int64(int32(value)) != value {
		return false
	}
	if variable.bounded {
		return variable.kind != sema.Int || variable.low <= value && value <= variable.high
	}
	if isFirst {
		variable.low, variable.high = value, value
	}
	variable.low, variable.high = min(variable.low, value), max(variable.high, value)
	return true
}

// declare returns the variable of the program. problem says why its range cannot be used; it is "" if it can.
func (variable *umbVariable) declare() (declared sema.Variable, problem string) {
	declared = sema.Variable{Name: variable.name, Type: variable.kind, Low: int32(variable.low), High: int32(variable.high)}
	if variable.kind == sema.Bool {
		declared.Low, declared.High = 0, 1
		return declared, ""
	}
	if int64(declared.Low) != variable.low || int64(declared.High) != variable.high {
		return declared, fmt.Sprintf("variable %s has the range [%d..%d]", variable.name, variable.low, variable.high)
	}
	return declared, ""
}

// unpack returns the value of a variable in a packed valuation, which must be followed by 9 more
// bytes.
func (variable *umbVariable) unpack(packed []byte) int64 {
	firstByte, shift := variable.bitOffset/8, variable.bitOffset%8
	bits := binary.LittleEndian.Uint64(packed[firstByte:]) >> shift
	if shift > 0 {
		bits |= uint64(packed[firstByte+8]) << (64 - shift)
	}
	if variable.numBits < 64 {
		bits &= 1<<variable.numBits - 1
	}
	switch {
	case variable.kind == sema.Bool && bits != 0:
		return 1
	case variable.signed && variable.numBits < 64 && bits>>(variable.numBits-1) != 0:
		bits |= ^uint64(0) << variable.numBits
	}
	return int64(bits) + variable.valueOffset
}
