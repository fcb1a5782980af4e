package editor

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// operatorTexts says what the words of properties mean.
var operatorTexts = map[string]string{
	"P":    "**Probability** that a path has the property in the brackets. `P=?` asks for its value; `P>=p` asks whether it is at least p, in an MDP under every scheduler.",
	"Pmin": "**Smallest probability** that any scheduler gives: the choices of the model are made so that the property in the brackets holds as rarely as possible.",
	"Pmax": "**Largest probability** that any scheduler gives: the choices of the model are made so that the property in the brackets holds as often as possible.",
	"Rmin": "**Smallest expected reward** that any scheduler gives.",
	"Rmax": "**Largest expected reward** that any scheduler gives.",
	"R":    "**Expected reward** over all paths. `R{\"name\"}` names the reward structure; without a name it is the first one. `min` and `max` are over all schedulers. The brackets say which rewards count.",
	"S":    "**Steady state**: the long-run probability of the states where the formula holds. In a CTMC it is the fraction of time, otherwise of steps.",
	"E":    "**Some path** from the state has the property in the brackets.",
	"A":    "**Every path** from the state has the property in the brackets.",
	"X":    "**Next**: the formula holds in the next state.",
	"F":    "**Finally**: the path reaches a state where the formula holds.",
	"G":    "**Globally**: the formula holds in every state of the path.",
	"U":    "**Until**: the right formula becomes true, and the left one holds in every state before.",
	"W":    "**Weak until**: as U, or the left formula holds forever.",

	"filter":   "**Filter**: evaluates the property in all states where the last formula holds (all states, if there is none), and makes one value of the results.",
	"multi":    "**Multi-objective**: several objectives under one scheduler. With two or more `=?` it is their Pareto curve.",
	"multilex": "**Lexicographic objectives** of an MDP, in Storm's dialect: the optimum of the first objective, of the second one among the schedulers that are optimal for the first, and so on.",
	"quantile": "**Quantile**, in Storm's dialect: the least bounds on rewards with which the property holds, or the greatest ones if greater bounds violate it. With several bounds it is the list of all such points.",
	"||":       "**Condition**, in Storm's dialect: the probability, or expected reward, of what stands on its left over the paths that satisfy the formula on its right.",
}

// rewardTexts says what the words in the brackets of R mean.
var rewardTexts = map[string]string{
	"F": "**Reward until** a state is reached where the formula holds. It is infinite if that is not certain.",
	"C": "**Cumulative reward**: the sum of all rewards of the path; with a bound, up to this step or time.",

	"Cdiscount": "**Discounted reward**: the sum of the rewards of all steps, where that of step i, from 0 on, counts factor^i times.",
	"discount":  "**Discount factor**: the reward of step i, from 0 on, counts factor^i times.",
	"I":         "**Instantaneous reward**: the reward of the state at this step or time.",
	"S":         "**Long-run average** of the reward: per unit of time in a CTMC, otherwise per step.",
}

// releaseText says what R means between two formulas.
const releaseText = "**Release**: the right formula holds until and including the state where the left one becomes true, or forever."

// filterTexts says what the operators of filters make of the values of the states.
var filterTexts = map[string]string{
	"min": "the smallest value", "max": "the largest value", "argmin": "the states with the smallest value", "argmax": "the states with the largest value",
	"count": "the number of states where the property is true", "sum": "the sum of the values", "avg": "the mean of the values",
	"first": "the value of the first state", "range": "the smallest and the largest value", "forall": "whether the property is true in every state",
	"exists": "whether the property is true in some state", "state": "the value of the only state", "print": "prints the states and their values, except zeros and false",
	"printall": "prints all states and their values",
}

// operatorAt returns the meaning of the operator at an offset of a properties file, as Markdown, and its range. It returns false for a model, and if
// no operator is there.
func (d *document) operatorAt(offset int) (text string, where Range, ok bool) {
	if !d.isProps() {
		return "", Range{}, false
	}
	i := d.lexemeFrom(offset)
	if i > 0 && (i == len(d.lexemes()) || int(d.lexemes()[i].from) > offset) {
		i-- // the cursor is behind the word
	}
	if i >= len(d.lexemes()) {
		return "", Range{}, false
	}
	token := d.lexemes()[i]
	where = Range{int(token.from), int(token.to)}
	if bars, ok := d.conditionAt(i); ok {
		return operatorTexts["||"], bars, true
	}
	isWord := token.class == syntax.Keyword || token.class == syntax.Name
	if offset < where.From || offset > where.To || !isWord {
		return "", Range{}, false
	}
	text, ok = d.wordText(i)
	return text, where, ok
}

// wordText returns the meaning of the word at lexeme i of a property; false if the word is no operator.
func (d *document) wordText(i int) (text string, ok bool) {
	word := d.word(d.lexemes()[i])
	if d.tokenIs(i-1, "(") && d.tokenIs(i-2, "filter") {
		meaning, ok := filterTexts[word]
		return operatorTexts["filter"] + " This one: " + meaning + ".", ok
	}
	text, ok = operatorTexts[word]
	if rewardText, isKnown := rewardTexts[word]; isKnown && d.inReward(i) {
		isSteadyState := word == "S" && !d.tokenIs(i+1, "]") // the operator S inside a reward operator
		if !isSteadyState {
			text, ok = rewardText, true
		}
	}
	if word == "R" && d.isRelease(i) {
		text = releaseText
	}
	if !ok {
		return "", false
	}
	return text + d.boundText(i), true
}

// conditionAt returns the range of the operator || if lexeme i is one of its two bars.
func (d *document) conditionAt(i int) (where Range, ok bool) {
	for _, first := range []int{i - 1, i} {
		if !d.tokenIs(first, "|") || !d.tokenIs(first+1, "|") {
			continue
		}
		firstBar, secondBar := d.lexemes()[first], d.lexemes()[first+1]
		if firstBar.to == secondBar.from {
			return Range{int(firstBar.from), int(secondBar.to)}, true
		}
	}
	return Range{}, false
}

// tokenIs reports whether lexeme i exists and has this text.
func (d *document) tokenIs(i int, text string) bool {
	return i >= 0 && i < len(d.lexemes()) && d.is(d.lexemes()[i], text)
}

// isRelease reports whether the word R at lexeme i is the temporal operator release, and not the reward operator. The lexeme behind R decides.
func (d *document) isRelease(i int) bool {
	behindReward := []string{"{", "min", "max", "=", "<", "<=", ">", ">="}
	return !slices.ContainsFunc(behindReward, func(text string) bool { return d.tokenIs(i+1, text) })
}

// inReward reports whether lexeme i is between the brackets of a reward operator, and not between further square brackets inside.
func (d *document) inReward(i int) bool {
	depth := 0
	for i--; i >= 0; i-- {
		switch {
		case d.tokenIs(i, "]"):
			depth++
		case d.tokenIs(i, "[") && depth > 0:
			depth--
		case d.tokenIs(i, "["):
			return d.opensReward(i)
		case d.tokenIs(i, ";"):
			return false
		}
	}
	return false
}

// opensReward reports whether the opening bracket at lexeme i belongs to a reward operator: the nearest operator before it is R.
func (d *document) opensReward(i int) bool {
	for i--; i >= 0 && !d.tokenIs(i, ";") && !d.tokenIs(i, "]"); i-- {
		switch word := d.word(d.lexemes()[i]); word {
		case "R", "Rmin", "Rmax":
			return true
		case "P", "Pmin", "Pmax", "S", "E", "A":
			return false
		}
	}
	return false
}

// boundText returns a sentence about the bound behind the operator at lexeme i, such as <=10; "" if there is none.
func (d *document) boundText(i int) string {
	word := d.word(d.lexemes()[i])
	canHaveBound := slices.Contains([]string{"F", "G", "U", "W", "R", "C"}, word)
	isReward := word == "R" && !d.isRelease(i)
	if !canHaveBound || isReward || i+1 >= len(d.lexemes()) {
		return ""
	}
	bound := d.boundAt(i + 1)
	if bound == "" {
		return ""
	}
	return " The bound `" + bound + "` counts steps; in a CTMC it is time."
}

// boundAt returns the text of the bound that begins at lexeme i, such as <=10, <=(k+1) or [1,5]; "" if no bound begins there.
func (d *document) boundAt(i int) string {
	first := d.lexemes()[i]
	isInterval := d.is(first, "[")
	if !isInterval && !slices.Contains([]string{"<=", "<", ">=", ">", "="}, d.word(first)) {
		return ""
	}
	last := i
	if !isInterval {
		last++ // behind the comparison
	}
	depth := 0 // the number of open brackets
	for ; last < len(d.lexemes()) && !d.tokenIs(last, ";"); last++ {
		switch {
		case d.tokenIs(last, "("), d.tokenIs(last, "["):
			depth++
		case d.tokenIs(last, ")"), d.tokenIs(last, "]"):
			depth--
		}
		if depth <= 0 {
			return strings.TrimSpace(string(d.text[first.from:d.lexemes()[last].to]))
		}
	}
	return ""
}
