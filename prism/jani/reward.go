package jani

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// reward is an expression that properties accumulate, or evaluate in a state. It becomes a reward
// structure.
type reward struct {
	expr       *jsonValue
	span       syntax.Span
	isOnSteps  bool // accumulated on every step
	isInStates bool // accumulated in every state; with time, per unit of time
	isOnExits  bool // on every step, the value in the state before; only with time
	isMean     bool // the mean over destinations with different rewards
	// timeReward is the reward of a state, or per unit of time.
	timeReward  syntax.Expr
	name        string
	isUnnamed   bool // has no name in PRISM's language
	declaration *syntax.Rewards
	err         *syntax.Error
}

// key returns a text that is equal for equal rewards.
func (r *reward) key() string {
	var text strings.Builder
	writeJSON(&text, r.expr)
	fmt.Fprintf(&text, " %t %t %t", r.isOnSteps, r.isInStates, r.isOnExits)
	return text.String()
}

// writeJSON writes a value as compact JSON.
func writeJSON(out *strings.Builder, value *jsonValue) {
	switch value.kind {
	case null:
		out.WriteString("null")
	case boolean:
		out.WriteString(value.describe())
	case number:
		out.WriteString(value.text)
	case text:
		out.WriteString(`"` + value.text + `"`)
	case array:
		separator := "["
		for _, element := range value.elements {
			out.WriteString(separator)
			writeJSON(out, element)
			separator = ","
		}
		out.WriteString("]")
	case object:
		separator := "{"
		for _, member := range value.members {
			out.WriteString(separator + `"` + member.key + `":`)
			writeJSON(out, member.value)
			separator = ","
		}
		out.WriteString("}")
	}
}

// collectRewards creates the reward structures: one for each transient variable with a number, and one for each reward that a property mentions.
func (t *translator) collectRewards() {
	for _, declared := range t.document.globals {
		variable := t.globalScope.names[declared.name].slot
		if variable != nil && variable.isTransient && variable.valueType.kind != boolType {
			value := &jsonValue{kind: text, text: declared.name, Span: declared.Span}
			t.addReward(&reward{expr: value, span: declared.Span, isOnSteps: true, isInStates: true, name: declared.prismName, isUnnamed: declared.prismName == ""})
		}
	}
	for _, property := range t.document.properties {
		t.addRewardsOf(property.expr)
	}
	usedNames := make(names)
	for _, reward := range t.rewards {
		if !reward.isUnnamed {
			reward.name = usedNames.unusedName(reward.preferredName())
		}
		t.declareReward(reward)
	}
}

// declareReward declares a reward structure with its state rewards. It also marks the transient variables on which its step rewards depend.
func (t *translator) declareReward(reward *reward) {
	reward.declaration = &syntax.Rewards{Span: reward.span}
	if !reward.isUnnamed {
		reward.declaration.Name = &syntax.Ident{Name: reward.name, Span: reward.span}
	}
	if reward.isInStates {
		t.addStateReward(reward)
	}
	if reward.isOnSteps {
		t.visitReads(reward.expr, t.globalScope, map[*function]bool{}, func(variable *slot) {
			variable.affectsReward = variable.affectsReward || variable.isTransient
		})
	}
}

// preferredName returns the name that the reward structure should have: the name of the variable, or else "reward".
func (r *reward) preferredName() string {
	switch {
	case r.name != "":
		return r.name
	case r.expr.kind == text:
		return r.expr.text
	}
	return "reward"
}

// addStateReward adds the state reward to a reward structure, unless it is 0.
func (t *translator) addStateReward(reward *reward) {
	reward.err = catchAbort(func() {
		reward.timeReward = t.translateExpr(reward.expr, &exprContext{scope: t.globalScope})
		if !isNumber(reward.timeReward, "0") {
			item := &syntax.RewardItem{Guard: trueExpr(reward.span), Value: reward.timeReward, Span: reward.span}
			reward.declaration.Items = append(reward.declaration.Items, item)
		}
	})
}

// trueExpr returns the literal true.
func trueExpr(span syntax.Span) syntax.Expr { return &syntax.BoolLit{Value: true, Span: span} }

// addReward adds a reward to the list of rewards. If the list already has an equal reward, it returns this reward instead.
func (t *translator) addReward(newReward *reward) *reward {
	key := newReward.key()
	isEqual := func(existing *reward) bool { return existing.key() == key }
	if i := slices.IndexFunc(t.rewards, isEqual); i >= 0 {
		return t.rewards[i]
	}
	t.rewards = append(t.rewards, newReward)
	return newReward
}

// addRewardsOf adds the rewards that a property, or a part of a property, mentions.
func (t *translator) addRewardsOf(value *jsonValue) {
	if t.isRewardOperator(value) {
		t.addReward(t.rewardOf(value))
	}
	for _, element := range value.elements {
		t.addRewardsOf(element)
	}
	for _, member := range value.members {
		if member.key == "reward-bounds" {
			t.addBoundedRewards(member.value)
		}
		t.addRewardsOf(member.value)
	}
}

// addBoundedRewards adds the rewards in a list of reward bounds.
func (t *translator) addBoundedRewards(bounds *jsonValue) {
	for _, bound := range bounds.elements {
		if bound.get("exp") != nil && bound.get("accumulate") != nil {
			t.addReward(t.rewardOf(bound))
		}
	}
}

// isRewardOperator reports whether a value is an operator that accumulates or evaluates a reward.
func (t *translator) isRewardOperator(value *jsonValue) bool {
	op := value.get("op")
	if op == nil || value.get("exp") == nil {
		return false
	}
	switch op.text {
	case "Emin", "Emax", "Smin", "Smax":
		return t.isReward(value, op.text)
	}
	return false
}

// isReward reports whether an operator becomes an R operator in PRISM's language, not an S operator.
func (t *translator) isReward(value *jsonValue, op string) bool {
	isExpectation := op == "Emin" || op == "Emax"
	return isExpectation || value.get("accumulate") != nil || !t.isBool(value.get("exp"), &exprContext{scope: t.globalScope})
}

// rewardOf returns the reward that an operator accumulates or evaluates.
func (t *translator) rewardOf(value *jsonValue) *reward {
	result := &reward{expr: value.get("exp"), span: value.get("exp").Span}
	accumulate := value.get("accumulate")
	if accumulate == nil {
		// Without accumulate, the operator evaluates the expression in a state. As in Storm, the long-run average of a transient variable
		// includes the values that edges assign.
		isLongRun := strings.HasPrefix(value.get("op").text, "S")
		variable := t.globalScope.names[result.expr.text].slot
		result.isInStates = true
		result.isOnSteps = isLongRun && result.expr.kind == text && variable != nil && variable.isTransient
		return result
	}
	hasTime := t.document.hasTime()
	for _, word := range accumulate.elements {
		switch {
		case word.text == "steps":
			result.isOnSteps = true
		case word.text == "exit" && hasTime:
			result.isOnExits = true
		case word.text == "exit":
			result.isInStates = true // PRISM's language calls a reward on exit a state reward
		case word.text == "time" && hasTime:
			result.isInStates = true
		}
	}
	return result
}

// findReward returns the reward structure for the reward of an operator. Of several structures with equal items it returns the first, so that properties share
// it.
func (t *translator) findReward(value *jsonValue) *reward {
	reward := t.addReward(t.rewardOf(value))
	if reward.err != nil {
		panic(abortError{reward.err})
	}
	for _, earlierReward := range t.rewards {
		if earlierReward == reward {
			break
		}
		if earlierReward.err == nil && earlierReward.isMean == reward.isMean && sameItems(earlierReward.declaration.Items, reward.declaration.Items) {
			return earlierReward
		}
	}
	return reward
}

// structureOperand returns the expression by which an R operator selects a reward structure: its name or, if it has none, its number.
func (t *translator) structureOperand(reward *reward) syntax.Expr {
	if !reward.isUnnamed {
		return &syntax.Quoted{Name: reward.name, Span: reward.span}
	}
	number := 1
	for _, earlierReward := range t.rewards[:slices.Index(t.rewards, reward)] {
		if earlierReward.err == nil { // the model lacks the others
			number++
		}
	}
	return &syntax.IntLit{Value: int32(number), Span: reward.span}
}

// sameItems reports whether two reward structures have equal items and are not empty.
func sameItems(first, second []*syntax.RewardItem) bool {
	return len(first) > 0 && slices.EqualFunc(first, second, sameItem)
}

// sameItem reports whether two reward items have the same action, guard and value.
func sameItem(first, second *syntax.RewardItem) bool {
	return first.IsTransition == second.IsTransition &&
		actionName(first) == actionName(second) &&
		syntax.ExprString(first.Guard) == syntax.ExprString(second.Guard) &&
		syntax.ExprString(first.Value) == syntax.ExprString(second.Value)
}

// actionName returns the name of the action of a reward item, or "" if it has no action.
func actionName(item *syntax.RewardItem) string {
	if item.Action == nil {
		return ""
	}
	return item.Action.Name
}

// stepRewardsAfter returns the rewards that a step earns, one for each reward structure; nil in place of a reward if the structure has no step rewards. values
// has the values that the step assigns to variables.
func (t *translator) stepRewardsAfter(values map[*slot]sizedExpr) []syntax.Expr {
	rewards := make([]syntax.Expr, len(t.rewards))
	for i, reward := range t.rewards {
		if reward.err == nil && (reward.isOnSteps || reward.isOnExits) {
			reward.err = catchAbort(func() { rewards[i] = t.stepReward(reward, values) })
		}
	}
	return rewards
}

// stepReward returns the reward that a step earns in one reward structure. values has the values that the step assigns.
func (t *translator) stepReward(reward *reward, values map[*slot]sizedExpr) syntax.Expr {
	var stepReward syntax.Expr
	if reward.isOnSteps {
		stepReward = t.translateExpr(reward.expr, &exprContext{scope: t.globalScope, assignedValues: values, forbidsStateVariables: true})
	}
	if !reward.isOnExits {
		return stepReward
	}
	onExit := t.translateExpr(reward.expr, &exprContext{scope: t.globalScope})
	if stepReward == nil || isNumber(stepReward, "0") {
		return onExit
	}
	return &syntax.Binary{Op: syntax.OpAdd, X: stepReward, Y: onExit, OpPos: onExit.Pos(), Span: reward.span}
}

// setExpectedRewards sets the rewards that a command earns. If the destinations of the command have different rewards, it earns their mean.
// Expected values of rewards stay the same.
func (t *translator) setExpectedRewards(command *combinedCommand, probabilities []syntax.Expr, rewardsOfDestinations [][]syntax.Expr) {
	unassignedRewards := t.stepRewardsAfter(map[*slot]sizedExpr{})
	var rewardClass strings.Builder
	dependsOnAssignments := false
	for i, reward := range t.rewards {
		stepReward := rewardsOfDestinations[0][i]
		if stepReward == nil || reward.err != nil {
			command.stepRewards = append(command.stepRewards, nil)
			continue
		}
		isOther := func(rewards []syntax.Expr) bool { return !sameExpr(rewards[i], stepReward) }
		if slices.ContainsFunc(rewardsOfDestinations, isOther) {
			stepReward = t.expectedReward(reward, probabilities, rewardsOfDestinations, i)
			reward.isMean = true
		}
		command.stepRewards = append(command.stepRewards, stepReward)
		if unassignedRewards[i] == nil || !sameExpr(stepReward, unassignedRewards[i]) {
			dependsOnAssignments = true
		}
		rewardClass.WriteString(syntax.ExprString(stepReward) + ";")
	}
	if dependsOnAssignments {
		command.rewardClass = rewardClass.String()
	}
}

// sameExpr reports whether two expressions have the same text.
func sameExpr(first, second syntax.Expr) bool {
	return syntax.ExprString(first) == syntax.ExprString(second)
}

// expectedReward returns the mean of the reward with index i over all destinations: the sum of probability times reward.
func (t *translator) expectedReward(reward *reward, probabilities []syntax.Expr, rewardsOfDestinations [][]syntax.Expr, rewardIndex int) syntax.Expr {
	var sum syntax.Expr
	for k, rewards := range rewardsOfDestinations {
		if isNumber(rewards[rewardIndex], "0") {
			continue
		}
		product := productOf(probabilities[k], rewards[rewardIndex])
		t.addSize(reward.span.Start, 4)
		if sum == nil {
			sum = product
		} else {
			sum = &syntax.Binary{Op: syntax.OpAdd, X: sum, Y: product, OpPos: reward.span.Start, Span: reward.span}
		}
	}
	return sum
}

// addStepRewards adds the rewards that a step earns to the reward structures. The items have the action of the step; nil stands for commands
// without an action.
func (t *translator) addStepRewards(step *step, action *syntax.Ident, rewards []syntax.Expr) {
	if action == nil {
		if t.silentRewardsAdded { // all silent steps share these rewards
			return
		}
		t.silentRewardsAdded = true
	}
	for i, expr := range rewards {
		reward := t.rewards[i]
		if expr == nil || isNumber(expr, "0") || reward.err != nil {
			continue
		}
		span := spanAt(step.pos)
		reward.declaration.Items = append(reward.declaration.Items, &syntax.RewardItem{IsTransition: true, Action: action, Guard: trueExpr(span), Value: expr, Span: span})
	}
}

// writeLabels declares a label for each Boolean transient variable.
func (t *translator) writeLabels() {
	usedNames := names{"init": true, "deadlock": true}
	for _, property := range t.document.properties {
		usedNames[property.name] = true
	}
	for _, declared := range t.document.globals {
		variable := t.globalScope.names[declared.name].slot
		if variable == nil || !variable.isTransient || variable.valueType.kind != boolType {
			continue
		}
		name := usedNames.unusedName(declared.prismName)
		t.labels[variable] = name
		if variable.isAmbiguous {
			continue
		}
		ident := &syntax.Ident{Name: name, Span: declared.Span}
		t.labelItems = append(t.labelItems, &syntax.LabelDecl{Name: ident, X: variable.valueInState(), Span: declared.Span})
	}
}
