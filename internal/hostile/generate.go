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
		if m := w.model(); m.Size() <= maxStates && m.schedulers() <= maxSchedulers {
			return m
		}
	}
}

// branch is one update: a weight and a new value of the module's variable.
type branch struct {
	p  *big.Rat
	to int
}

type command struct {
	action   string
	from     int // value of the own variable
	guard    set // of the other one
	branches []branch
	text     string
}

// item is an item of a reward structure.
type item struct {
	action string
	where  set
	value  *big.Rat
}

func (w *writer) model() *Model {
	w.kind = pick(w, "dtmc", "dtmc", "mdp", "ctmc")
	w.limit = [2]int{1 + w.IntN(5), -1}
	modules := 1
	if w.one(3) {
		w.limit = [2]int{1 + w.IntN(2), 1 + w.IntN(2)}
		modules = 2
	}
	var commands [2][]command
	for k := range modules {
		commands[k] = w.commands(k, modules)
	}
	m := &Model{Kind: w.kind, w: w}
	deadlock := m.explore(commands, nil)
	items := w.items(deadlock, has(commands[0], "a") || has(commands[1], "a"))
	m.explore(commands, items)
	m.Text = w.text(commands, modules, items)
	return m
}

func (w *writer) commands(k, modules int) []command {
	var out []command
	for i := range w.limit[k] + 1 {
		n := 1
		switch {
		case w.kind == "mdp" && modules == 1:
			n = pick(w, 1, 1, 2, 3)
		case w.kind == "mdp" || w.one(5):
			n = pick(w, 1, 1, 2)
		}
		for range n {
			out = append(out, w.command(k, i, modules))
		}
	}
	return out
}

func (w *writer) command(k, i, modules int) command {
	c := command{from: i, action: pick(w, "", "a"), guard: set{"true", func([2]int) bool { return true }}}
	if modules == 2 && w.one(4) {
		c.guard = w.some(0, 1-k)
	}
	var at *[2]int
	if modules == 1 {
		at = &[2]int{i, 0}
	}
	weights := w.weights()
	texts := make([]string, len(weights))
	for l, p := range weights {
		to := w.IntN(w.limit[k] + 1)
		if w.one(2) {
			to = i + w.IntN(w.limit[k]+1-i) // upwards, so that there are several bottom components
		}
		c.branches = append(c.branches, branch{p, to})
		texts[l] = w.number(p, at)
	}
	if last := len(weights) - 1; w.kind != "ctmc" && last > 0 && (w.one(2) || !short(weights[last])) {
		texts[last] = "1-" + strings.Join(texts[:last], "-")
	}
	guard := w.is(k, i)
	if c.guard.text != "true" {
		guard = "(" + guard + ") & " + c.guard.text
	}
	for l, b := range c.branches {
		texts[l] = fmt.Sprintf("%s:(%s'=%d)", texts[l], variable(k), b.to)
	}
	c.text = fmt.Sprintf("  [%s] %s -> %s;\n", c.action, guard, strings.Join(texts, " + "))
	return c
}

// weights returns probabilities that sum to one, or rates.
func (w *writer) weights() []*big.Rat {
	n := 1 + w.IntN(3)
	if w.kind == "ctmc" {
		out := make([]*big.Rat, n)
		for i := range out {
			out[i] = parse(pick(w, "0.5", "1", "2", "3.5", "1/3", "0.1", "0.3", "7", "0.5", "1", "2", "1/49", "1e-3", "10"))
			if w.nasty(6) {
				out[i] = parse(pick(w, "1e-17", "1e-17", "1e-9", "1e-9", "1e3"))
			}
			if w.nasty(60) {
				out[i] = parse(pick(w, "1e-320", "1e-400", "1e9", "1e17"))
			}
		}
		return out
	}
	left := rat(1, 1)
	var out []*big.Rat
	for range n - 1 {
		p := mul(left, parse(pick(w, "0.1", "0.25", "0.5", "1/3", "0.3", "0.7", "2/3", "1/49", "48/49", "1/7", "1/2")))
		if w.nasty(4) {
			p = parse(pick(w, "1e-17", "1e-17", "1e-9", "1e-320", "1e-400", "1e-5"))
			if w.one(3) {
				p = sub(left, p)
			}
		}
		if p.Sign() <= 0 || p.Cmp(left) >= 0 || !short(p) && !short(sub(rat(1, 1), p)) {
			break
		}
		out = append(out, p)
		left = sub(left, p)
	}
	return append(out, left)
}

// items returns a reward structure. Where there are deadlocks, transitions have
// no rewards: what the added loop earns is another question.
func (w *writer) items(deadlock, action bool) []item {
	var out []item
	for range 1 + w.IntN(3) {
		it := item{action: "*", where: w.some(1, -1), value: w.reward()}
		if !deadlock && w.one(3) {
			if it.action = ""; action && w.one(2) {
				it.action = "a"
			}
		}
		out = append(out, it)
	}
	return out
}

func (w *writer) reward() *big.Rat {
	x := parse(pick(w, "0", "1", "2.5", "1/3", "0.3", "1", "7", "1/49", "3", "100"))
	if w.nasty(4) {
		x = parse(pick(w, "1e-17", "1e-17", "1e16", "1e-320", "1e-400", "1.7e308", "8e307", "1e310", "1e-9"))
	}
	return x
}

// explore finds the states and their choices, and says whether there is a deadlock.
func (m *Model) explore(commands [2][]command, items []item) (deadlock bool) {
	w := m.w
	m.states, m.choices, m.state = nil, nil, nil
	index := map[[2]int]int{}
	find := func(at [2]int) int {
		i, ok := index[at]
		if !ok {
			i = len(m.states)
			index[at] = i
			m.states = append(m.states, at)
		}
		return i
	}
	find([2]int{})
	var raw [][][]step
	for i := 0; i < len(m.states) && len(m.states) <= maxStates; i++ {
		enabled := w.enabled(commands, m.states[i])
		if len(enabled) == 0 {
			deadlock = true
			enabled = append(enabled, []step{{p: rat(1, 1), to: m.states[i]}})
			enabled[0][0].loop = true
		}
		for _, steps := range enabled {
			for _, s := range steps {
				find(s.to)
			}
		}
		raw = append(raw, enabled)
	}
	if len(m.states) > maxStates {
		return deadlock
	}
	for i, enabled := range raw {
		m.state = append(m.state, sum(items, "*", m.states[i]))
		m.choices = append(m.choices, m.collect(enabled, index, items, m.states[i]))
	}
	return deadlock
}

// step is a branch of the composed model.
type step struct {
	p      *big.Rat
	to     [2]int
	action string
	loop   bool // added to a deadlock
}

func sum(items []item, action string, at [2]int) *big.Rat {
	x := new(big.Rat)
	for _, it := range items {
		if it.action == action && it.where.in(at) {
			x.Add(x, it.value)
		}
	}
	return x
}

// enabled returns the distributions of a state: distributions of one module alone, and
// distributions of two modules that take an action together.
func (w *writer) enabled(commands [2][]command, at [2]int) [][]step {
	var out [][]step
	var mine [2][]command // with action "a", where both modules have it
	shared := w.limit[1] >= 0 && has(commands[0], "a") && has(commands[1], "a")
	for k, cs := range commands {
		for _, c := range cs {
			if c.from != at[k] || !c.guard.in(at) {
				continue
			}
			if shared && c.action == "a" {
				mine[k] = append(mine[k], c)
				continue
			}
			var d []step
			for _, b := range c.branches {
				to := at
				to[k] = b.to
				d = append(d, step{p: b.p, to: to, action: c.action})
			}
			out = append(out, d)
		}
	}
	for _, c := range mine[0] {
		for _, e := range mine[1] {
			var d []step
			for _, b := range c.branches {
				for _, f := range e.branches {
					d = append(d, step{p: mul(b.p, f.p), to: [2]int{b.to, f.to}, action: "a"})
				}
			}
			out = append(out, d)
		}
	}
	return out
}

func has(cs []command, action string) bool {
	for _, c := range cs {
		if c.action == action {
			return true
		}
	}
	return false
}

// collect makes choices of distributions. In a chain there is one: equally likely
// distributions in discrete time, all rates together in continuous time.
func (m *Model) collect(enabled [][]step, index map[[2]int]int, items []item, at [2]int) []choice {
	var out []choice
	for _, steps := range enabled {
		c := choice{p: zeros(len(index)), reward: new(big.Rat)}
		for _, s := range steps {
			j := index[s.to]
			c.p[j] = add(c.p[j], s.p)
			if !s.loop {
				c.reward = sum(items, s.action, at)
			}
		}
		out = append(out, c)
	}
	if m.Kind == "mdp" {
		return out
	}
	all, weight := choice{p: zeros(len(index)), reward: new(big.Rat)}, new(big.Rat)
	for _, c := range out {
		total := new(big.Rat)
		for j, p := range c.p {
			if m.Kind == "dtmc" {
				p = quo(p, rat(int64(len(out)), 1))
			}
			total.Add(total, p)
			all.p[j] = add(all.p[j], p)
		}
		all.reward.Add(all.reward, mul(total, c.reward))
		weight.Add(weight, total)
	}
	all.reward.Quo(all.reward, weight)
	return []choice{all}
}

func (w *writer) text(commands [2][]command, modules int, items []item) string {
	var b strings.Builder
	b.WriteString("rewards\n")
	for _, it := range items {
		action := ""
		if it.action != "*" {
			action = "[" + it.action + "] "
		}
		fmt.Fprintf(&b, "  %s%s : %s;\n", action, it.where.text, w.number(it.value, nil))
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
