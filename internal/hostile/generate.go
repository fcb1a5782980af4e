package hostile

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

const (
	maxStates     = 9
	maxSchedulers = 96
)

// Level is how unpleasant models are.
type Level int

// The levels: Plain models have ordinary numbers, Extreme models numbers such as
// 1e-400, both plainly written, and Hostile models write them in forms that mislead.
const (
	Hostile Level = iota
	Extreme
	Plain
)

// New returns the model of a number. The same seed and number give the same
// model, text and queries.
func New(seed, number uint64, level Level) *Model {
	r := rand.New(rand.NewPCG(seed, number))
	for {
		w := &writer{Rand: r, level: level}
		if m := w.randomModel(); m.Size() <= maxStates && m.numSchedulers() <= maxSchedulers {
			return m
		}
	}
}

// branch is one update: a weight and a new value of the module's variable.
type branch struct {
	weight   *big.Rat
	newValue int
}

type command struct {
	action   string
	ownValue int // value of the own variable
	guard    set // of the other one
	branches []branch
	text     string
}

// item is an item of a reward structure.
type item struct {
	action string
	states set
	value  *big.Rat
}

func (w *writer) randomModel() *Model {
	w.kind = pick(w, "dtmc", "dtmc", "mdp", "ctmc")
	w.limit = [2]int{1 + w.IntN(5), -1}
	modules := 1
	if w.one(3) {
		w.limit = [2]int{1 + w.IntN(2), 1 + w.IntN(2)}
		modules = 2
	}
	var commands [2][]command
	for k := range modules {
		commands[k] = w.randomCommands(k, modules)
	}
	result := &Model{Kind: w.kind, writer: w}
	deadlock := result.explore(commands, nil)
	items := w.randomItems(deadlock, hasAction(commands[0], "a") || hasAction(commands[1], "a"))
	result.explore(commands, items)
	result.Text = w.text(commands, modules, items)
	return result
}

func (w *writer) randomCommands(module, modules int) []command {
	var commands []command
	for value := range w.limit[module] + 1 {
		n := 1
		switch {
		case w.kind == "mdp" && modules == 1:
			n = pick(w, 1, 1, 2, 3)
		case w.kind == "mdp" || w.one(5):
			n = pick(w, 1, 1, 2)
		}
		for range n {
			commands = append(commands, w.command(module, value, modules))
		}
	}
	return commands
}

func (w *writer) command(module, value, modules int) command {
	result := command{ownValue: value, action: pick(w, "", "a"), guard: set{"true", func([2]int) bool { return true }}}
	if modules == 2 && w.one(4) {
		result.guard = w.some(0, 1-module)
	}
	var position *[2]int
	if modules == 1 {
		position = &[2]int{value, 0}
	}
	weights := w.randomWeights()
	texts := make([]string, len(weights))
	for index, weight := range weights {
		newValue := w.IntN(w.limit[module] + 1)
		if w.one(2) {
			newValue = value + w.IntN(w.limit[module]+1-value) // upwards, so that there are several bottom components
		}
		result.branches = append(result.branches, branch{weight, newValue})
		texts[index] = w.number(weight, position)
	}
	if lastIndex := len(weights) - 1; w.kind != "ctmc" && lastIndex > 0 && (w.one(2) || !short(weights[lastIndex])) {
		texts[lastIndex] = "1-" + strings.Join(texts[:lastIndex], "-")
	}
	guard := w.is(module, value)
	if result.guard.text != "true" {
		guard = "(" + guard + ") & " + result.guard.text
	}
	for index, b := range result.branches {
		texts[index] = fmt.Sprintf("%s:(%s'=%d)", texts[index], variable(module), b.newValue)
	}
	result.text = fmt.Sprintf("  [%s] %s -> %s;\n", result.action, guard, strings.Join(texts, " + "))
	return result
}

// randomWeights returns probabilities that sum to one, or rates.
func (w *writer) randomWeights() []*big.Rat {
	n := 1 + w.IntN(3)
	if w.kind == "ctmc" {
		weights := make([]*big.Rat, n)
		for i := range weights {
			weights[i] = parseNumber(pick(w, "0.5", "1", "2", "3.5", "1/3", "0.1", "0.3", "7", "0.5", "1", "2", "1/49", "1e-3", "10"))
			if w.nasty(6) {
				weights[i] = parseNumber(pick(w, "1e-17", "1e-17", "1e-9", "1e-9", "1e3"))
			}
			if w.nasty(60) {
				weights[i] = parseNumber(pick(w, "1e-320", "1e-400", "1e9", "1e17"))
			}
		}
		return weights
	}
	remaining := rat(1, 1)
	var weights []*big.Rat
	for range n - 1 {
		probability := mul(remaining, parseNumber(pick(w, "0.1", "0.25", "0.5", "1/3", "0.3", "0.7", "2/3", "1/49", "48/49", "1/7", "1/2")))
		if w.nasty(4) {
			probability = parseNumber(pick(w, "1e-17", "1e-17", "1e-9", "1e-320", "1e-400", "1e-5"))
			if w.one(3) {
				probability = sub(remaining, probability)
			}
		}
		if probability.Sign() <= 0 || probability.Cmp(remaining) >= 0 || !short(probability) && !short(sub(rat(1, 1), probability)) {
			break
		}
		weights = append(weights, probability)
		remaining = sub(remaining, probability)
	}
	return append(weights, remaining)
}

// randomItems returns a reward structure. Where there are deadlocks, transitions have
// no rewards: what the added loop earns is another question.
func (w *writer) randomItems(hasDeadlock, hasAction bool) []item {
	var items []item
	for range 1 + w.IntN(3) {
		newItem := item{action: "*", states: w.some(1, -1), value: w.reward()}
		if !hasDeadlock && w.one(3) {
			if newItem.action = ""; hasAction && w.one(2) {
				newItem.action = "a"
			}
		}
		items = append(items, newItem)
	}
	return items
}

func (w *writer) reward() *big.Rat {
	x := parseNumber(pick(w, "0", "1", "2.5", "1/3", "0.3", "1", "7", "1/49", "3", "100"))
	if w.nasty(4) {
		x = parseNumber(pick(w, "1e-17", "1e-17", "1e16", "1e-320", "1e-400", "1.7e308", "8e307", "1e310", "1e-9"))
	}
	return x
}

// explore finds the states and their choices, and says whether there is a deadlock.
func (m *Model) explore(commands [2][]command, items []item) (hasDeadlock bool) {
	writer := m.writer
	m.states, m.choices, m.stateRewards = nil, nil, nil
	index := map[[2]int]int{}
	indexOf := func(valuation [2]int) int {
		i, ok := index[valuation]
		if !ok {
			i = len(m.states)
			index[valuation] = i
			m.states = append(m.states, valuation)
		}
		return i
	}
	indexOf([2]int{})
	var distributions [][][]step
	for i := 0; i < len(m.states) && len(m.states) <= maxStates; i++ {
		enabled := writer.enabledDistributions(commands, m.states[i])
		if len(enabled) == 0 {
			hasDeadlock = true
			enabled = append(enabled, []step{{weight: rat(1, 1), target: m.states[i]}})
			enabled[0][0].loop = true
		}
		for _, steps := range enabled {
			for _, s := range steps {
				indexOf(s.target)
			}
		}
		distributions = append(distributions, enabled)
	}
	if len(m.states) > maxStates {
		return hasDeadlock
	}
	for i, enabled := range distributions {
		m.stateRewards = append(m.stateRewards, sumOfItems(items, "*", m.states[i]))
		m.choices = append(m.choices, m.choicesOf(enabled, index, items, m.states[i]))
	}
	return hasDeadlock
}

// step is a branch of the composed model.
type step struct {
	weight *big.Rat
	target [2]int
	action string
	loop   bool // added to a deadlock
}

func sumOfItems(items []item, action string, valuation [2]int) *big.Rat {
	total := new(big.Rat)
	for _, current := range items {
		if current.action == action && current.states.in(valuation) {
			total.Add(total, current.value)
		}
	}
	return total
}

// enabledDistributions returns the distributions of a state: distributions of one module alone, and
// distributions of two modules that take an action together.
func (w *writer) enabledDistributions(commands [2][]command, valuation [2]int) [][]step {
	var distributions [][]step
	var synchronised [2][]command // with action "a", where both modules have it
	isShared := w.limit[1] >= 0 && hasAction(commands[0], "a") && hasAction(commands[1], "a")
	for k, moduleCommands := range commands {
		for _, first := range moduleCommands {
			if first.ownValue != valuation[k] || !first.guard.in(valuation) {
				continue
			}
			if isShared && first.action == "a" {
				synchronised[k] = append(synchronised[k], first)
				continue
			}
			var distribution []step
			for _, firstBranch := range first.branches {
				target := valuation
				target[k] = firstBranch.newValue
				distribution = append(distribution, step{weight: firstBranch.weight, target: target, action: first.action})
			}
			distributions = append(distributions, distribution)
		}
	}
	for _, first := range synchronised[0] {
		for _, second := range synchronised[1] {
			var distribution []step
			for _, firstBranch := range first.branches {
				for _, secondBranch := range second.branches {
					distribution = append(distribution, step{weight: mul(firstBranch.weight, secondBranch.weight), target: [2]int{firstBranch.newValue, secondBranch.newValue}, action: "a"})
				}
			}
			distributions = append(distributions, distribution)
		}
	}
	return distributions
}

func hasAction(commands []command, action string) bool {
	for _, c := range commands {
		if c.action == action {
			return true
		}
	}
	return false
}

// choicesOf makes choices of distributions. In a chain there is one: equally likely
// distributions in discrete time, all rates together in continuous time.
func (m *Model) choicesOf(enabled [][]step, index map[[2]int]int, items []item, valuation [2]int) []choice {
	var choices []choice
	for _, steps := range enabled {
		current := choice{weights: zeros(len(index)), reward: new(big.Rat)}
		for _, s := range steps {
			j := index[s.target]
			current.weights[j] = add(current.weights[j], s.weight)
			if !s.loop {
				current.reward = sumOfItems(items, s.action, valuation)
			}
		}
		choices = append(choices, current)
	}
	if m.Kind == "mdp" {
		return choices
	}
	combined, weightSum := choice{weights: zeros(len(index)), reward: new(big.Rat)}, new(big.Rat)
	for _, current := range choices {
		total := new(big.Rat)
		for j, weight := range current.weights {
			if m.Kind == "dtmc" {
				weight = quo(weight, rat(int64(len(choices)), 1))
			}
			total.Add(total, weight)
			combined.weights[j] = add(combined.weights[j], weight)
		}
		combined.reward.Add(combined.reward, mul(total, current.reward))
		weightSum.Add(weightSum, total)
	}
	combined.reward.Quo(combined.reward, weightSum)
	return []choice{combined}
}

func (w *writer) text(commands [2][]command, modules int, items []item) string {
	var b strings.Builder
	b.WriteString("rewards\n")
	for _, current := range items {
		action := ""
		if current.action != "*" {
			action = "[" + current.action + "] "
		}
		fmt.Fprintf(&b, "  %s%s : %s;\n", action, current.states.text, w.number(current.value, nil))
	}
	b.WriteString("endrewards\n")
	rewards := b.String()
	b.Reset()
	b.WriteString(w.kind + "\n" + strings.Join(w.consts, "\n") + "\n")
	for k := range modules {
		fmt.Fprintf(&b, "module m%d\n  %s : [0..%d];\n", k, variable(k), w.limit[k])
		for _, c := range commands[k] {
			b.WriteString(c.text)
		}
		b.WriteString("endmodule\n")
	}
	return b.String() + rewards
}
