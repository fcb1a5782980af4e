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
	var b strings.Builder
	writeJSON(&b, r.expr)
	for _, flag := range []bool{r.onSteps, r.inStates, r.onExits} {
		if flag {
			b.WriteString("+")
		} else {
			b.WriteString("-")
		}
	}
	return b.String()
}

// writeJSON writes a value as compact JSON.
func writeJSON(b *strings.Builder, v *jsonValue) {
	switch v.kind {
	case null:
		b.WriteString("null")
	case boolean:
		b.WriteString(v.describe())
	case number:
		b.WriteString(v.text)
	case text:
		b.WriteString(`"` + v.text + `"`)
	case array:
		b.WriteString("[")
		for i, e := range v.elements {
			if i > 0 {
				b.WriteString(",")
			}
			writeJSON(b, e)
		}
		b.WriteString("]")
	case object:
		b.WriteString("{")
		for i, m := range v.members {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(`"` + m.key + `":`)
			writeJSON(b, m.value)
		}
		b.WriteString("}")
	}
}

// collectRewards creates the reward structures: one for each numeric transient variable, then those for
// the rewards in properties.
func (t *translator) collectRewards() {
	for _, v := range t.doc.globals {
		variable := t.global.names[v.name].slot
		if variable == nil || !variable.transient || variable.typ.kind == boolType {
			continue
		}
		exp := &jsonValue{kind: text, text: v.name, Span: v.Span}
		t.addReward(&reward{expr: exp, span: v.Span, onSteps: true, inStates: true, name: v.name})
	}
	for _, p := range t.doc.properties {
		t.addRewardsOf(p.expr)
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
				if x := reward.timeReward; !isNumber(x, "0") {
					reward.decl.Items = append(reward.decl.Items, &syntax.RewardItem{Guard: trueExpr(reward.span), Value: x, Span: reward.span})
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
func (t *translator) addRewardsOf(v *jsonValue) {
	if op := v.get("op"); op != nil && v.get("exp") != nil {
		switch op.text {
		case "Emin", "Emax", "Smin", "Smax":
			if t.isReward(v, op.text) {
				t.addReward(t.rewardOf(v))
			}
		}
	}
	for _, e := range v.elements {
		t.addRewardsOf(e)
	}
	for _, m := range v.members {
		if m.key == "reward-bounds" {
			for _, b := range m.value.elements {
				if b.get("exp") != nil && b.get("accumulate") != nil {
					t.addReward(t.rewardOf(b))
				}
			}
		}
		t.addRewardsOf(m.value)
	}
}

// isReward reports whether an operator becomes an R operator in PRISM's language. Smin and Smax of a
// Boolean expression become S operators instead.
func (t *translator) isReward(v *jsonValue, op string) bool {
	return op[0] == 'E' || v.get("accumulate") != nil || !t.isBool(v.get("exp"), &exprContext{scope: t.global})
}

// rewardOf returns the reward that an operator accumulates or evaluates. Without time, a reward on exit
// is what PRISM's language calls a state reward.
func (t *translator) rewardOf(v *jsonValue) *reward {
	reward := &reward{expr: v.get("exp"), span: v.get("exp").Span}
	accumulate := v.get("accumulate")
	if accumulate == nil {
		// The expression is evaluated, not accumulated. For Storm and the models of QComp, the
		// long-run average of a transient variable includes the values that edges assign.
		reward.inStates = true
		variable := t.global.names[reward.expr.text].slot
		reward.onSteps = v.get("op").text[0] == 'S' && reward.expr.kind == text && variable != nil && variable.transient
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
func (t *translator) findReward(v *jsonValue) *reward {
	reward := t.addReward(t.rewardOf(v))
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
func sameItems(a, b []*syntax.RewardItem) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y *syntax.RewardItem) bool {
		name := func(i *syntax.RewardItem) string {
			if i.Action == nil {
				return ""
			}
			return i.Action.Name
		}
		return x.Transition == y.Transition && syntax.ExprString(x.Guard) == syntax.ExprString(y.Guard) && name(x) == name(y) && syntax.ExprString(x.Value) == syntax.ExprString(y.Value)
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
				x := t.expr(reward.expr, &exprContext{scope: t.global})
				if rewards[i] == nil || isNumber(rewards[i], "0") {
					rewards[i] = x
				} else {
					rewards[i] = &syntax.Binary{Op: syntax.OpAdd, X: rewards[i], Y: x, OpPos: x.Pos(), Span: reward.span}
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
	for i, x := range rewards {
		reward := t.rewards[i]
		if x == nil || isNumber(x, "0") || reward.err != nil {
			continue
		}
		span := syntax.Span{Start: step.pos, Stop: step.pos}
		reward.decl.Items = append(reward.decl.Items, &syntax.RewardItem{Transition: true, Action: action, Guard: trueExpr(span), Value: x, Span: span})
	}
}

// writeLabels declares a label for each Boolean transient variable.
func (t *translator) writeLabels() {
	usedNames := names{"init": true, "deadlock": true}
	for _, p := range t.doc.properties {
		usedNames[p.name] = true
	}
	for _, v := range t.doc.globals {
		variable := t.global.names[v.name].slot
		if variable == nil || !variable.transient || variable.typ.kind != boolType {
			continue
		}
		t.labels[variable] = usedNames.unused(v.name)
		if variable.ambiguous {
			continue
		}
		x := variable.initial
		if variable.stateValue != nil {
			x = variable.stateValue
		}
		t.labelItems = append(t.labelItems, &syntax.LabelDecl{Name: &syntax.Ident{Name: t.labels[variable], Span: v.Span}, X: x, Span: v.Span})
	}
}
