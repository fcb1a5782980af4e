package attack

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
)

// branch is a transition with its probability or, in a CTMC, its rate.
type branch struct {
	target int
	weight *big.Rat
	text   string // of the weight with parameters; empty for one without
}

// choice is a command of a state. Its distribution is one of a set, of which nature picks: the vertices of an interval model, else only one.
type choice struct {
	vertices [][]branch
	reward   *big.Rat // of the transitions
	bounds   []string // the intervals of the branches, if there are several vertices
}

// system is a model with numbered states, of which state 0 is initial. All states are reachable.
type system struct {
	kind    string // PRISM's keyword; "ma" is printed as JANI
	choices [][]choice
	reward  vector // of the states
	owner   []int  // of a game: the player of each state, 0 or 1
	sets    map[string][]bool
	// width is how many values the second variable of the text has; 1 for a text with one variable.
	width int
	// observation is what the player of a POMDP sees of each state.
	observation []int
	// names are the expressions of the states in a text that is not written by this file; nil for others.
	names []string
	// rate is the exit rate of each Markovian state of a Markov automaton; nil for a probabilistic state.
	rate vector
}

// maker makes random models.
type maker struct{ *rand.Rand }

func (r maker) one(n int) bool { return r.IntN(n) == 0 }

// pick returns a random one of several values.
func pick[T any](r maker, values ...T) T { return values[r.IntN(len(values))] }

// fraction returns a random fraction between 0 and 1, both excluded.
func (r maker) fraction() *big.Rat {
	if r.one(30) {
		return pick(r, big.NewRat(1, 1_000_000), big.NewRat(999_999, 1_000_000))
	}
	denominator := pick(r, 2, 3, 4, 5, 7, 10, 10, 100)
	return big.NewRat(int64(1+r.IntN(denominator-1)), int64(denominator))
}

// amount returns a random reward or rate.
func (r maker) amount() *big.Rat {
	return big.NewRat(int64(1+r.IntN(9)), int64(pick(r, 1, 1, 2, 3, 10)))
}

// distribution returns a distribution over at most three of n states.
func (r maker) distribution(n int) []branch {
	targets := r.Perm(n)
	switch size := min(1+r.IntN(3), n); size {
	case 1:
		return []branch{{targets[0], one(), ""}}
	case 2:
		p := r.fraction()
		return []branch{{targets[0], p, ""}, {targets[1], sub(one(), p), ""}}
	default:
		p, q := r.fraction(), r.fraction()
		rest := sub(one(), p)
		return []branch{{targets[0], p, ""}, {targets[1], mul(rest, q), ""}, {targets[2], mul(rest, sub(one(), q)), ""}}
	}
}

// rates returns the rates of a state of a CTMC.
func (r maker) rates(n int) []branch {
	row := r.distribution(n)
	for i := range row {
		row[i].weight = r.amount()
	}
	return row
}

// system returns a random model of n states at most, with c choices at most in a state.
func (r maker) system(kind string, n, c int) *system {
	m := &system{kind: kind, choices: make([][]choice, n), reward: make(vector, n), sets: map[string][]bool{}, width: pick(r, 1, 1, 2)}
	for s := range n {
		m.reward[s] = new(big.Rat)
		if r.one(2) {
			m.reward[s] = r.amount()
		}
		m.owner = append(m.owner, r.IntN(2))
		for range 1 + r.IntN(c) {
			m.choices[s] = append(m.choices[s], r.choice(kind, n))
		}
		if r.one(6) { // an absorbing state
			m.choices[s] = []choice{{vertices: [][]branch{{{s, one(), ""}}}, reward: new(big.Rat)}}
			if r.one(2) {
				m.reward[s] = new(big.Rat)
			}
		}
	}
	m = m.reachable()
	m.owner[0], m.owner[len(m.owner)-1] = 0, 1 // both players own a state
	for _, name := range []string{"a", "b"} {
		m.sets[name] = r.set(len(m.choices))
	}
	return m
}

// choice returns a random choice of a kind of model.
func (r maker) choice(kind string, n int) choice {
	out := choice{reward: new(big.Rat)}
	if r.one(3) {
		out.reward = r.amount()
	}
	switch kind {
	case "ctmc":
		out.vertices = [][]branch{r.rates(n)}
	case "idtmc", "imdp":
		out.vertices, out.bounds = r.intervals(n)
	default:
		out.vertices = [][]branch{r.distribution(n)}
	}
	return out
}

// set returns a random set of n states, which has few states more often than many.
func (r maker) set(n int) []bool {
	set := make([]bool, n)
	for range 1 + r.IntN(2) {
		set[r.IntN(n)] = true
	}
	if r.one(4) {
		return not(set)
	}
	return set
}

// reachable returns the part of a model that is reachable from state 0, with new numbers.
func (m *system) reachable() *system {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		for _, c := range m.choices[order[i]] {
			for _, vertex := range c.vertices {
				for _, b := range vertex {
					if !slices.Contains(order, b.target) {
						order = append(order, b.target)
					}
				}
			}
		}
	}
	out := *m
	out.sets = map[string][]bool{}
	out.choices, out.reward, out.owner, out.rate = nil, nil, nil, nil
	for _, s := range order {
		var choices []choice
		for _, c := range m.choices[s] {
			renamed := choice{reward: c.reward, bounds: c.bounds}
			for _, vertex := range c.vertices {
				var row []branch
				for _, b := range vertex {
					row = append(row, branch{slices.Index(order, b.target), b.weight, b.text})
				}
				renamed.vertices = append(renamed.vertices, row)
			}
			choices = append(choices, renamed)
		}
		out.choices = append(out.choices, choices)
		out.reward = append(out.reward, m.reward[s])
		out.owner = append(out.owner, m.owner[s])
		if m.rate != nil {
			out.rate = append(out.rate, m.rate[s])
		}
	}
	for name, set := range m.sets {
		var kept []bool
		for _, s := range order {
			kept = append(kept, set[s])
		}
		out.sets[name] = kept
	}
	return &out
}

// at writes the expression that is true in a state, and move the update that leads to it.
func (m *system) at(s int) string {
	if m.names != nil {
		return m.names[s]
	}
	if m.width == 1 {
		return fmt.Sprintf("x=%d", s)
	}
	return fmt.Sprintf("x=%d & y=%d", s/m.width, s%m.width)
}

func (m *system) move(s int) string {
	if m.width == 1 {
		return fmt.Sprintf("(x'=%d)", s)
	}
	return fmt.Sprintf("(x'=%d)&(y'=%d)", s/m.width, s%m.width)
}

// members writes the expression of a set.
func (m *system) members(set []bool) string {
	var parts []string
	for s, member := range set {
		if member {
			parts = append(parts, "("+m.at(s)+")")
		}
	}
	if parts == nil {
		return "false"
	}
	return strings.Join(parts, " | ")
}

// action returns the action of choice c of state s. In a game it names the owner of the state.
func (m *system) action(s, c int) string {
	if m.kind == "smg" {
		return fmt.Sprintf("%c%d", "pq"[m.owner[s]], c)
	}
	return fmt.Sprintf("c%d", c)
}

// text writes the model in PRISM's language.
func (m *system) text() string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(m.kind, "i") + "\n")
	b.WriteString(m.players())
	if m.observation != nil {
		b.WriteString("observables o endobservables\n")
	}
	fmt.Fprintf(&b, "module m\n x : [0..%d];\n", (len(m.choices)-1)/m.width)
	if m.width > 1 {
		fmt.Fprintf(&b, " y : [0..%d];\n", m.width-1)
	}
	if m.observation != nil {
		fmt.Fprintf(&b, " o : [0..%d] init %d;\n", slices.Max(m.observation), m.observation[0])
	}
	for s, choices := range m.choices {
		for i, c := range choices {
			fmt.Fprintf(&b, " [%s] %s -> %s;\n", m.action(s, i), m.at(s), m.updates(c))
		}
	}
	b.WriteString("endmodule\nrewards \"r\"\n")
	for s, reward := range m.reward {
		if reward.Sign() > 0 {
			fmt.Fprintf(&b, " %s : %s;\n", m.at(s), number(reward))
		}
		for i, c := range m.choices[s] {
			if c.reward.Sign() > 0 {
				fmt.Fprintf(&b, " [%s] %s : %s;\n", m.action(s, i), m.at(s), number(c.reward))
			}
		}
	}
	b.WriteString("endrewards\n")
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&b, "label %q = %s;\n", name, m.members(m.sets[name]))
	}
	return b.String()
}

// players writes the players of a game.
func (m *system) players() string {
	if m.kind != "smg" {
		return ""
	}
	var b strings.Builder
	for player, name := range []string{"one", "two"} {
		var actions []string
		for s, choices := range m.choices {
			for i := range choices {
				if action := "[" + m.action(s, i) + "]"; m.owner[s] == player && !slices.Contains(actions, action) {
					actions = append(actions, action)
				}
			}
		}
		if actions != nil {
			fmt.Fprintf(&b, "player %s %s endplayer\n", name, strings.Join(actions, ", "))
		}
	}
	return b.String()
}

// updates writes the updates of a choice.
func (m *system) updates(c choice) string {
	var parts []string
	for i, b := range c.vertices[0] {
		move := m.move(b.target)
		if m.observation != nil {
			move += fmt.Sprintf("&(o'=%d)", m.observation[b.target])
		}
		weight := cmp.Or(b.text, number(b.weight))
		if c.bounds != nil {
			weight = c.bounds[i]
		}
		parts = append(parts, weight+":"+move)
	}
	return strings.Join(parts, " + ")
}

// number writes a fraction, as a decimal number if that is exact with few digits.
func number(x *big.Rat) string {
	digits, exact := x.FloatPrec()
	switch {
	case exact && digits < 7:
		return x.FloatString(digits)
	case x.Num().BitLen() < 31 && x.Denom().BitLen() < 31:
		return x.RatString()
	}
	return fmt.Sprintf("%v.0/%v.0", x.Num(), x.Denom()) // integers of the language have 32 bits
}

// intervals returns the vertices of a random set of distributions, and its intervals.
func (r maker) intervals(n int) (vertices [][]branch, bounds []string) {
	row := r.distribution(n)
	lower, upper := make(vector, len(row)), make(vector, len(row))
	for i, b := range row {
		lower[i], upper[i] = b.weight, b.weight
		if !r.one(4) {
			lower[i] = mul(b.weight, pick(r, big.NewRat(1, 2), big.NewRat(9, 10), one()))
			if r.one(10) {
				lower[i] = new(big.Rat)
			}
			upper[i] = better(false, one(), mul(b.weight, pick(r, big.NewRat(3, 2), big.NewRat(11, 10), big.NewRat(2, 1))))
		}
		bounds = append(bounds, "["+number(lower[i])+","+number(upper[i])+"]")
	}
	seen := map[string]bool{}
	for free := range row { // a vertex has all probabilities but one at an end of their interval
		for ends := range 1 << len(row) {
			vertex, rest := slices.Clone(row), one()
			for i := range row {
				if i == free {
					continue
				}
				vertex[i].weight = lower[i]
				if ends>>i&1 == 1 {
					vertex[i].weight = upper[i]
				}
				rest = sub(rest, vertex[i].weight)
			}
			vertex[free].weight = rest
			if key := fmt.Sprint(vertex); rest.Cmp(lower[free]) >= 0 && rest.Cmp(upper[free]) <= 0 && !seen[key] {
				seen[key] = true
				vertices = append(vertices, vertex)
			}
		}
	}
	return vertices, bounds
}
