package jani

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// reward is an expression that properties accumulate, or evaluate in a state. It becomes a reward
// structure.
type reward struct {
	expr     *jsonValue
	span     syntax.Span
	onSteps  bool // accumulated on every step
	inStates bool // accumulated in every state; with time, per unit of time
	onExits  bool // on every step, the value in the state before; only with time
	isMean   bool // the mean over destinations with different rewards
	// timeReward is the reward of a state, or per unit of time.
	timeReward syntax.Expr
	name       string
	decl       *syntax.Rewards
	err        *syntax.Error
}

// key returns a text that is equal for equal rewards.
func (r *reward) key() string {
	var text strings.Builder
	writeJSON(&text, r.expr)
	for _, flag := range []bool{r.onSteps, r.inStates, r.onExits} {
		if flag {
			text.WriteString("+")
		} else {
			text.WriteString("-")
		}
	}
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
		out.WriteString("[")
		for i, element := range value.elements {
			if i > 0 {
				out.WriteString(",")
			}
			writeJSON(out, element)
		}
		out.WriteString("]")
	case object:
		out.WriteString("{")
		for i, member := range value.members {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString(`"` + member.key + `":`)
			writeJSON(out, member.value)
		}
		out.WriteString("}")
	}
}

// collectRewards creates the reward structures: one for each numeric transient variable, then those for
// the rewards in properties.
func (t *translator) collectRewards() {
	for _, declared := range t.doc.globals {
		variable := t.global.names[declared.name].slot
		if variable == nil || !variable.transient || variable.typ.kind == boolType {
			continue
		}
		exp := &jsonValue{kind: text, text: declared.name, Span: declared.Span}
		t.addReward(&reward{expr: exp, span: declared.Span, onSteps: true, inStates: true, name: declared.name})
	}
	for _, property := range t.doc.properties {
		t.addRewardsOf(property.expr)
	}
	usedNames := make(names)
	for _, reward := range t.rewards {
		name := reward.name
		if name == "" {
			name = "reward"
			if reward.expr.kind == text {
				name = reward.expr.text
			}
		}
		reward.name = usedNames.unused(name)
		reward.decl = &syntax.Rewards{Name: &syntax.Ident{Name: reward.name, Span: reward.span}, Span: reward.span}
		if reward.inStates {
			reward.err = catchRefusal(func() {
				reward.timeReward = t.expr(reward.expr, &exprContext{scope: t.global})
				if expr := reward.timeReward; !isNumber(expr, "0") {
					reward.decl.Items = append(reward.decl.Items, &syntax.RewardItem{Guard: trueExpr(reward.span), Value: expr, Span: reward.span})
				}
			})
		}
		if reward.onSteps {
			t.visitReads(reward.expr, t.global, map[*function]bool{}, func(variable *slot) { variable.affectsReward = variable.affectsReward || variable.transient })
		}
	}
}

func trueExpr(span syntax.Span) syntax.Expr { return &syntax.BoolLit{Value: true, Span: span} }

// addReward adds a reward, or returns an equal one that exists.
func (t *translator) addReward(r *reward) *reward {
	key := r.key()
	i := slices.IndexFunc(t.rewards, func(existing *reward) bool { return existing.key() == key })
	if i >= 0 {
		return t.rewards[i]
	}
	t.rewards = append(t.rewards, r)
	return r
}

// addRewardsOf adds the rewards that a property mentions.
func (t *translator) addRewardsOf(value *jsonValue) {
	if op := value.get("op"); op != nil && value.get("exp") != nil {
		switch op.text {
		case "Emin", "Emax", "Smin", "Smax":
			if t.isReward(value, op.text) {
				t.addReward(t.rewardOf(value))
			}
		}
	}
	for _, element := range value.elements {
		t.addRewardsOf(element)
	}
	for _, member := range value.members {
		if member.key == "reward-bounds" {
			for _, bound := range member.value.elements {
				if bound.get("exp") != nil && bound.get("accumulate") != nil {
					t.addReward(t.rewardOf(bound))
				}
			}
		}
		t.addRewardsOf(member.value)
	}
}

// isReward reports whether an operator becomes an R operator in PRISM's language. Smin and Smax of a
// Boolean expression become S operators instead.
func (t *translator) isReward(value *jsonValue, op string) bool {
	return op[0] == 'E' || value.get("accumulate") != nil || !t.isBool(value.get("exp"), &exprContext{scope: t.global})
}

// rewardOf returns the reward that an operator accumulates or evaluates. Without time, a reward on exit
// is what PRISM's language calls a state reward.
func (t *translator) rewardOf(value *jsonValue) *reward {
	reward := &reward{expr: value.get("exp"), span: value.get("exp").Span}
	accumulate := value.get("accumulate")
	if accumulate == nil {
		// The expression is evaluated, not accumulated. For Storm and the models of QComp, the
		// long-run average of a transient variable includes the values that edges assign.
		reward.inStates = true
		variable := t.global.names[reward.expr.text].slot
		reward.onSteps = value.get("op").text[0] == 'S' && reward.expr.kind == text && variable != nil && variable.transient
		return reward
	}
	for _, when := range accumulate.elements {
		switch when.text {
		case "steps":
			reward.onSteps = true
		case "exit":
			if t.doc.hasTime() {
				reward.onExits = true
			} else {
				reward.inStates = true
			}
		case "time":
			reward.inStates = reward.inStates || t.doc.hasTime()
		}
	}
	return reward
}

// findReward returns the reward structure for an operator, or an earlier structure with the same items.
func (t *translator) findReward(value *jsonValue) *reward {
	reward := t.addReward(t.rewardOf(value))
	if reward.err != nil {
		panic(refusal{reward.err})
	}
	for _, earlier := range t.rewards {
		if earlier != reward && earlier.err == nil && earlier.isMean == reward.isMean && sameItems(earlier.decl.Items, reward.decl.Items) {
			return earlier
		}
		if earlier == reward {
			break
		}
	}
	return reward
}

// sameItems reports whether two reward structures have equal items, at least one.
func sameItems(first, second []*syntax.RewardItem) bool {
	return len(first) > 0 && slices.EqualFunc(first, second, func(left, right *syntax.RewardItem) bool {
		name := func(i *syntax.RewardItem) string {
			if i.Action == nil {
				return ""
			}
			return i.Action.Name
		}
		return left.Transition == right.Transition && syntax.ExprString(left.Guard) == syntax.ExprString(right.Guard) && name(left) == name(right) && syntax.ExprString(left.Value) == syntax.ExprString(right.Value)
	})
}

// stepRewardsAfter returns the value of each step reward after the assignments in env; nil for rewards
// that steps do not earn.
func (t *translator) stepRewardsAfter(env map[*slot]sizedExpr) []syntax.Expr {
	rewards := make([]syntax.Expr, len(t.rewards))
	for i, reward := range t.rewards {
		if reward.err != nil || !reward.onSteps && !reward.onExits {
			continue
		}
		err := catchRefusal(func() {
			if reward.onSteps {
				rewards[i] = t.expr(reward.expr, &exprContext{scope: t.global, assigned: env, noStateVariables: true})
			}
			if reward.onExits {
				expr := t.expr(reward.expr, &exprContext{scope: t.global})
				if rewards[i] == nil || isNumber(rewards[i], "0") {
					rewards[i] = expr
				} else {
					rewards[i] = &syntax.Binary{Op: syntax.OpAdd, X: rewards[i], Y: expr, OpPos: expr.Pos(), Span: reward.span}
				}
			}
		})
		if err != nil {
			reward.err = err
		}
	}
	return rewards
}

// setExpectedRewards sets the rewards of a command. If they differ between destinations, the command
// earns their expectation; this does not change expected rewards.
func (t *translator) setExpectedRewards(command *combinedCommand, probabilities []syntax.Expr, perDestination [][]syntax.Expr) {
	withoutAssignments := t.stepRewardsAfter(map[*slot]sizedExpr{})
	var class strings.Builder
	differs := false
	for i, reward := range t.rewards {
		earned := perDestination[0][i]
		if earned == nil || reward.err != nil {
			command.stepRewards = append(command.stepRewards, nil)
			continue
		}
		isOther := func(rewards []syntax.Expr) bool {
			return syntax.ExprString(rewards[i]) != syntax.ExprString(earned)
		}
		if slices.ContainsFunc(perDestination, isOther) {
			earned = t.expectedReward(reward, probabilities, perDestination, i)
			reward.isMean = true
		}
		command.stepRewards = append(command.stepRewards, earned)
		rewardText := syntax.ExprString(earned)
		differs = differs || withoutAssignments[i] == nil || rewardText != syntax.ExprString(withoutAssignments[i])
		class.WriteString(rewardText + ";")
	}
	if differs {
		command.rewardClass = class.String()
	}
}

// expectedReward returns the sum of the rewards with index i of all destinations, each multiplied by
// the probability of the destination.
func (t *translator) expectedReward(reward *reward, probabilities []syntax.Expr, perDestination [][]syntax.Expr, i int) syntax.Expr {
	var sum syntax.Expr
	for k, rewards := range perDestination {
		if isNumber(rewards[i], "0") {
			continue
		}
		product := productOf(probabilities[k], rewards[i])
		t.addSize(reward.span.Start, 4)
		if sum == nil {
			sum = product
		} else {
			sum = &syntax.Binary{Op: syntax.OpAdd, X: sum, Y: product, OpPos: reward.span.Start, Span: reward.span}
		}
	}
	return sum
}

// addStepRewards adds the rewards of a step with an action to the reward structures. Silent steps share
// the rewards of unlabelled commands, which are added once.
func (t *translator) addStepRewards(step *step, action *syntax.Ident, rewards []syntax.Expr) {
	if action == nil {
		if t.silentRewardsAdded {
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
		reward.decl.Items = append(reward.decl.Items, &syntax.RewardItem{Transition: true, Action: action, Guard: trueExpr(span), Value: expr, Span: span})
	}
}

// writeLabels declares a label for each Boolean transient variable.
func (t *translator) writeLabels() {
	usedNames := names{"init": true, "deadlock": true}
	for _, property := range t.doc.properties {
		usedNames[property.name] = true
	}
	for _, declared := range t.doc.globals {
		variable := t.global.names[declared.name].slot
		if variable == nil || !variable.transient || variable.typ.kind != boolType {
			continue
		}
		t.labels[variable] = usedNames.unused(declared.name)
		if variable.ambiguous {
			continue
		}
		expr := variable.initial
		if variable.stateValue != nil {
			expr = variable.stateValue
		}
		t.labelItems = append(t.labelItems, &syntax.LabelDecl{Name: &syntax.Ident{Name: t.labels[variable], Span: declared.Span}, X: expr, Span: declared.Span})
	}
}
