package attack

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// copies is a model of interchangeable modules. The oracle composes them by itself.
type copies struct {
	maker
	kind     string
	number   int
	local    [][]branch // the unlabelled command of each local state; its targets are local
	joint    [][]branch // the command of each local state with the action go, which all modules synchronise on; nil for none
	reward   vector     // of each local state, for every module in it
	goReward *big.Rat   // the reward of the action
	tuples   [][]int
	product  *system
	// here is a local state that all modules are in if the label a holds; there is one that some module is in if b holds.
	here, there int
}

// copies returns a model of two or three interchangeable modules with questions.
func (r maker) copies() *instance {
	for {
		c := &copies{maker: r, kind: pick(r, "dtmc", "ctmc", "ctmc", "mdp"), number: 2, goReward: r.amount()}
		size := 2
		if c.kind != "mdp" {
			c.number, size = 2+r.IntN(2), 2+r.IntN(2)
		}
		for range size {
			distribution := r.distribution
			if c.kind == "ctmc" {
				distribution = r.rates
			}
			c.local, c.joint, c.reward = append(c.local, distribution(size)), append(c.joint, nil), append(c.reward, r.amount())
			if c.kind == "dtmc" || r.one(2) {
				c.joint[len(c.joint)-1] = distribution(size)
			}
		}
		c.compose(size)
		if m := c.product; len(m.choices) > 2 && (c.kind != "mdp" || m.resolutions() <= 300) {
			i := &instance{kind: "copies " + c.kind, file: "m.prism", text: c.text(), skip: []string{"drn", "drn exact"}}
			for range 6 {
				i.questions = append(i.questions, writer{r, m}.question())
			}
			return i
		}
	}
}

// compose builds the product of the modules.
func (c *copies) compose(size int) {
	c.tuples = [][]int{make([]int, c.number)}
	m := &system{kind: c.kind, sets: map[string][]bool{}}
	c.product = m
	for s := 0; s < len(c.tuples); s++ {
		tuple := c.tuples[s]
		var choices []choice
		reward := new(big.Rat)
		for k, local := range tuple {
			reward = add(reward, c.reward[local])
			if c.kind == "dtmc" {
				continue
			}
			var row []branch
			for _, b := range c.local[local] {
				next := slices.Clone(tuple)
				next[k] = b.target
				row = append(row, branch{c.index(next), b.weight, ""})
			}
			choices = append(choices, choice{vertices: [][]branch{row}, reward: new(big.Rat)})
		}
		if row := c.together(tuple, nil, one()); row != nil {
			choices = append(choices, choice{vertices: [][]branch{row}, reward: c.goReward})
		}
		m.choices, m.reward, m.owner = append(m.choices, choices), append(m.reward, reward), append(m.owner, 0)
	}
	c.here, c.there = c.IntN(size), c.IntN(size)
	for _, tuple := range c.tuples {
		m.names = append(m.names, c.expression(tuple))
		m.sets["a"] = append(m.sets["a"], !slices.ContainsFunc(tuple, func(local int) bool { return local != c.here }))
		m.sets["b"] = append(m.sets["b"], slices.Contains(tuple, c.there))
	}
}

// index returns the number of a state, which is added if it is new.
func (c *copies) index(tuple []int) int {
	for s := range c.tuples {
		if slices.Equal(c.tuples[s], tuple) {
			return s
		}
	}
	c.tuples = append(c.tuples, tuple)
	return len(c.tuples) - 1
}

// together returns the branches of the joint commands of the modules after the first ones, which have moved; nil if one has no such command.
func (c *copies) together(tuple, moved []int, weight *big.Rat) []branch {
	if len(moved) == c.number {
		return []branch{{c.index(slices.Clone(moved)), weight, ""}}
	}
	var row []branch
	for _, b := range c.joint[tuple[len(moved)]] {
		rest := c.together(tuple, append(slices.Clone(moved), b.target), mul(weight, b.weight))
		if rest == nil {
			return nil
		}
		row = append(row, rest...)
	}
	return row
}

// expression writes the expression of a state.
func (c *copies) expression(tuple []int) string {
	var parts []string
	for k, local := range tuple {
		parts = append(parts, fmt.Sprintf("x%d=%d", k, local))
	}
	return strings.Join(parts, " & ")
}

// text writes the modules, of which all but the first are renamed copies.
func (c *copies) text() string {
	var b, rewards strings.Builder
	fmt.Fprintf(&b, "%s\nmodule m0\n x0 : [0..%d];\n", c.kind, len(c.local)-1)
	for s := range c.local {
		updates := func(row []branch) string {
			var parts []string
			for _, b := range row {
				parts = append(parts, fmt.Sprintf("%s:(x0'=%d)", number(b.weight), b.target))
			}
			return strings.Join(parts, " + ")
		}
		if c.kind != "dtmc" {
			fmt.Fprintf(&b, " [] x0=%d -> %s;\n", s, updates(c.local[s]))
		}
		if c.joint[s] != nil {
			fmt.Fprintf(&b, " [go] x0=%d -> %s;\n", s, updates(c.joint[s]))
		}
		for k := range c.number {
			fmt.Fprintf(&rewards, " x%d=%d : %s;\n", k, s, number(c.reward[s]))
		}
	}
	b.WriteString("endmodule\n")
	for k := 1; k < c.number; k++ {
		fmt.Fprintf(&b, "module m%d = m0 [x0=x%d] endmodule\n", k, k)
	}
	fmt.Fprintf(&b, "rewards \"r\"\n%s", rewards.String())
	if slices.ContainsFunc(c.joint, func(row []branch) bool { return row != nil }) {
		fmt.Fprintf(&b, " [go] true : %s;\n", number(c.goReward))
	}
	b.WriteString("endrewards\n")
	all, some := make([]string, c.number), make([]string, c.number)
	for k := range c.number {
		all[k], some[k] = fmt.Sprintf("x%d=%d", k, c.here), fmt.Sprintf("x%d=%d", k, c.there)
	}
	fmt.Fprintf(&b, "label \"a\" = %s;\nlabel \"b\" = %s;\n", strings.Join(all, " & "), strings.Join(some, " | "))
	return b.String()
}
