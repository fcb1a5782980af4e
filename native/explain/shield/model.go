package shield

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// moduleName is the name of the module that Model adds.
const moduleName = "shield"

// Model returns the text of the model with an additional module. The module synchronises with the actions, and blocks an action
// in the states where it is not allowed. Commands without an action get stronger guards. Unreachable states are ignored.
//
// It is an error if two choices of a state have the same action and the shield allows only one of them. A system block is an error too.
func (shield *Shield) Model(ctx context.Context, tree *syntax.Model) ([]byte, error) {
	builder := &guardBuilder{shield: shield, actionSamples: map[int][]sample{}, commandSamples: map[compile.CommandRef][]sample{}}
	if err := builder.collect(ctx); err != nil {
		return nil, err
	}
	shielded := *tree
	shielded.Items = slices.Clone(tree.Items)
	if err := builder.strengthenGuards(ctx, &shielded); err != nil {
		return nil, err
	}
	text, err := builder.moduleText(ctx, tree)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	var output bytes.Buffer
	if err := syntax.Fprint(&output, &shielded, syntax.Options{}); err != nil {
		return nil, err
	}
	if text != "" {
		fmt.Fprintf(&output, "\n%s", text)
	}
	return output.Bytes(), nil
}

// guardBuilder computes the guards that enforce a shield. For each action, and for each command without an action, it collects the states in which the
// action or command is enabled, and whether the shield allows it there.
type guardBuilder struct {
	shield         *Shield
	actionSamples  map[int][]sample // by action
	commandSamples map[compile.CommandRef][]sample
}

// collect records a sample for each reachable state in which an action, or a command without an action, is enabled: the state, and whether the
// shield allows the action or command there. It is an error if the shield allows only one of two choices of a state with the same action.
func (builder *guardBuilder) collect(ctx context.Context) error {
	shield := builder.shield
	reachable := shield.reachableStates()
	var conflict error // says that the shield allows only one of two choices with the same action
	err := shield.Space.Commands(ctx, func(s, choice int, command *compile.Choice, _ []int) {
		if conflict != nil || !reachable.Has(s) {
			return
		}
		current := sample{shield.Space.State(nil, s), shield.Allowed.Has(choice)}
		if command.Action == sema.Unlabelled {
			builder.commandSamples[command.Commands[0]] = append(builder.commandSamples[command.Commands[0]], current)
			return
		}
		conflict = builder.addActionSample(command.Action, current)
	})
	return cmp.Or(conflict, err)
}

// addActionSample records whether the shield allows an action in a state. It is an error if the same state has been recorded with the opposite answer,
// because a module cannot distinguish two choices with the same action.
func (builder *guardBuilder) addActionSample(action int, current sample) error {
	samples := builder.actionSamples[action]
	last := len(samples) - 1
	if last < 0 || !slices.Equal(samples[last].state, current.state) {
		builder.actionSamples[action] = append(samples, current)
		return nil
	}
	if samples[last].isAllowed == current.isAllowed {
		return nil
	}
	return fmt.Errorf("in state %s only some choices of action %s are allowed, and a module cannot distinguish them: want a file .json or files of states (.all, .umb)",
		builder.shield.Space.Compiled().StateText(current.state), builder.shield.Space.Program().Actions[action])
}

// reachableStates returns the states that are reachable by the allowed choices.
func (shield *Shield) reachableStates() *sparse.Set {
	return shield.restricted().Reachable()
}

// strengthenGuards changes each command without an action that the shield forbids in some reachable state: its new guard is false in these states. It
// replaces the modules of these commands in the model.
func (builder *guardBuilder) strengthenGuards(ctx context.Context, model *syntax.Model) error {
	numModules := 0 // the number of modules before the current item
	for i, item := range model.Items {
		switch item.(type) {
		case *syntax.Module, *syntax.RenamedModule:
			strengthened, err := builder.strengthenModule(ctx, item, numModules)
			if err != nil {
				return err
			}
			model.Items[i] = strengthened
			numModules++
		}
	}
	return nil
}

// strengthenModule returns a module in which the guards of commands without an action are false in the states where the shield forbids these commands. If
// the shield forbids no command, it returns item itself, and otherwise a copy. moduleIndex is the index of the module in the program. It is an error if
// another module shares the text of a command that must change.
func (builder *guardBuilder) strengthenModule(ctx context.Context, item syntax.Item, moduleIndex int) (syntax.Item, error) {
	program := builder.shield.Space.Program()
	samplesOf := func(index int) []sample {
		return builder.commandSamples[compile.CommandRef{Module: moduleIndex, Command: index}]
	}
	var forbidden []int // the indices of the commands that are forbidden in some state
	for index := range program.Modules[moduleIndex].Commands {
		if slices.ContainsFunc(samplesOf(index), sample.isForbidden) {
			forbidden = append(forbidden, index)
		}
	}
	if len(forbidden) == 0 {
		return item, nil
	}
	original, hasText := item.(*syntax.Module)
	sharesText := !hasText || builder.isBase(moduleIndex)
	if sharesText {
		return nil, fmt.Errorf("a command of module %s without an action is not always allowed, and other modules share its text: want a file .json or files of states (.all, .umb)", program.Modules[moduleIndex].Name)
	}
	strengthened := *original
	strengthened.Commands = slices.Clone(original.Commands)
	for _, index := range forbidden {
		command, err := withCondition(original.Commands[index], separatingExpr(ctx, program.Vars, samplesOf(index)))
		if err != nil {
			return nil, err
		}
		strengthened.Commands[index] = command
	}
	return &strengthened, nil
}

// withCondition returns a copy of a command with the guard `guard & condition`.
func withCondition(command *syntax.Command, condition string) (*syntax.Command, error) {
	guard, err := syntax.ParseExpr("", []byte("("+syntax.ExprString(command.Guard)+") & ("+condition+")"))
	if err != nil {
		return nil, err
	}
	strengthened := *command
	strengthened.Guard = guard
	return &strengthened, nil
}

// isBase reports whether another module is a renamed copy of the given one.
func (builder *guardBuilder) isBase(moduleIndex int) bool {
	modules := builder.shield.Space.Program().Modules
	return slices.ContainsFunc(modules, func(other sema.Module) bool { return other.Base == modules[moduleIndex].Name })
}

// moduleText returns the text of a module that blocks actions in the states where the shield forbids them. It returns "" if the shield allows
// every action everywhere.
func (builder *guardBuilder) moduleText(ctx context.Context, tree *syntax.Model) (string, error) {
	program := builder.shield.Space.Program()
	var commands bytes.Buffer
	for action, name := range program.Actions {
		samples := builder.actionSamples[action]
		if slices.ContainsFunc(samples, sample.isForbidden) {
			fmt.Fprintf(&commands, "  [%s] %s -> true;\n", name, separatingExpr(ctx, program.Vars, samples))
		}
	}
	if commands.Len() == 0 {
		return "", nil
	}
	if err := checkModuleCanBeAdded(tree); err != nil {
		return "", err
	}
	return "// Enables an action only in states where its loss is allowed.\nmodule " + moduleName + "\n" + commands.String() + "endmodule\n", nil
}

// checkModuleCanBeAdded returns an error if a model has a system block, or a module with the name of the additional module.
func checkModuleCanBeAdded(tree *syntax.Model) error {
	for _, item := range tree.Items {
		switch item := item.(type) {
		case *syntax.System:
			return errors.New("the model has a system block, to which a module cannot be added: want a file .json or files of states (.all, .umb)")
		case *syntax.Module:
			if item.Name.Name == moduleName {
				return fmt.Errorf("the model has a module %s already", moduleName)
			}
		}
	}
	return nil
}

// sample is a state in which an action or command is enabled, and whether it is allowed there.
type sample struct {
	state     []int32
	isAllowed bool
}

func (sample sample) isForbidden() bool { return !sample.isAllowed }

// separatingExpr returns an expression over vars that is true in the allowed samples and false in the forbidden samples. It learns a decision tree
// greedily. If the context has ended, the expression is not usable, and the caller must return the error of the context.
//
// Source: Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), Gini impurity.
func separatingExpr(ctx context.Context, vars []sema.Variable, samples []sample) string {
	hasAllowed := slices.ContainsFunc(samples, func(s sample) bool { return s.isAllowed })
	hasForbidden := slices.ContainsFunc(samples, sample.isForbidden)
	switch {
	case !hasAllowed:
		return "false"
	case !hasForbidden || ctx.Err() != nil:
		return "true"
	}
	variable, threshold := bestSplit(len(vars), samples)
	var lowSamples, highSamples []sample
	for _, s := range samples {
		if s.state[variable] <= threshold {
			lowSamples = append(lowSamples, s)
		} else {
			highSamples = append(highSamples, s)
		}
	}
	name := vars[variable].Name
	condition, negation := fmt.Sprintf("%s<=%d", name, threshold), fmt.Sprintf("%s>%d", name, threshold)
	if vars[variable].Type == sema.Bool {
		condition, negation = "!"+name, name
	}
	return conditionalExpr(condition, negation, separatingExpr(ctx, vars, lowSamples), separatingExpr(ctx, vars, highSamples))
}

// conditionalExpr returns the expression `condition ? lowExpr : highExpr`, simplified if lowExpr or highExpr is true or false. negation is the negation of
// condition.
func conditionalExpr(condition, negation, lowExpr, highExpr string) string {
	switch {
	case lowExpr == "true" && highExpr == "false":
		return condition
	case lowExpr == "false" && highExpr == "true":
		return negation
	case lowExpr == "true":
		return "(" + condition + " | " + highExpr + ")"
	case lowExpr == "false":
		return "(" + negation + " & " + highExpr + ")"
	case highExpr == "true":
		return "(" + negation + " | " + lowExpr + ")"
	case highExpr == "false":
		return "(" + condition + " & " + lowExpr + ")"
	}
	return "(" + condition + " ? " + lowExpr + " : " + highExpr + ")"
}

// bestSplit returns the variable and the value whose test `variable <= value` divides the samples with the least Gini impurity.
func bestSplit(numVars int, samples []sample) (variable int, value int32) {
	leastImpurity := math.Inf(1)
	for candidate := range numVars {
		threshold, impurity := bestThreshold(candidate, samples)
		if impurity < leastImpurity {
			leastImpurity, variable, value = impurity, candidate, threshold
		}
	}
	return variable, value
}

// valueCount has the numbers of allowed and forbidden samples in which a variable has a value.
type valueCount struct {
	value              int32
	allowed, forbidden float64
}

// impurity returns the Gini impurity of the samples, times their number.
func (count valueCount) impurity() float64 {
	return count.allowed * count.forbidden / (count.allowed + count.forbidden)
}

// bestThreshold returns the threshold whose test `variable <= threshold` divides the samples with the least Gini impurity. The impurity is
// infinite if the variable has the same value in all samples.
func bestThreshold(variable int, samples []sample) (threshold int32, leastImpurity float64) {
	var low, high valueCount // the samples that satisfy the test, and the samples that do not
	counts := countValues(variable, samples)
	for _, count := range counts {
		high.allowed += count.allowed
		high.forbidden += count.forbidden
	}
	leastImpurity = math.Inf(1)
	for _, count := range counts[:len(counts)-1] { // all samples satisfy the test with the last value
		low.allowed += count.allowed
		low.forbidden += count.forbidden
		high.allowed -= count.allowed
		high.forbidden -= count.forbidden
		if impurity := low.impurity() + high.impurity(); impurity < leastImpurity {
			threshold, leastImpurity = count.value, impurity
		}
	}
	return threshold, leastImpurity
}

// add counts a sample.
func (count *valueCount) add(s sample) {
	if s.isAllowed {
		count.allowed++
	} else {
		count.forbidden++
	}
}

// countValues counts, for each value of a variable, the allowed and the forbidden samples with this value. The values are in increasing order.
func countValues(variable int, samples []sample) []valueCount {
	minimum, maximum := samples[0].state[variable], samples[0].state[variable]
	for _, s := range samples {
		minimum, maximum = min(minimum, s.state[variable]), max(maximum, s.state[variable])
	}
	numValues := int64(maximum) - int64(minimum) + 1
	isSparse := numValues > int64(len(samples))+64
	if isSparse {
		return countFewValues(variable, samples)
	}
	counts := make([]valueCount, numValues)
	for i := range counts {
		counts[i].value = minimum + int32(i)
	}
	for _, s := range samples {
		counts[int64(s.state[variable])-int64(minimum)].add(s)
	}
	return slices.DeleteFunc(counts, func(count valueCount) bool { return count.allowed+count.forbidden == 0 })
}

// countFewValues returns the same as countValues. It uses a map, for a variable with few values in a large range.
func countFewValues(variable int, samples []sample) []valueCount {
	indexOf := map[int32]int{} // the index of each value in counts
	var counts []valueCount
	for _, current := range samples {
		value := current.state[variable]
		i, isKnown := indexOf[value]
		if !isKnown {
			i = len(counts)
			indexOf[value] = i
			counts = append(counts, valueCount{value: value})
		}
		counts[i].add(current)
	}
	slices.SortFunc(counts, func(a, b valueCount) int { return cmp.Compare(a.value, b.value) })
	return counts
}
