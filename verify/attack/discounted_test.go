package attack

import (
	"fmt"
	"math/big"

	"tilecheck/prism/syntax"
)

// discounted returns a random DTMC or MDP with questions about discounted rewards. It is read in Storm's dialect: PRISM's language has no discounts.
func (r maker) discounted() *instance {
	for {
		kind, choices := "dtmc", 1
		if r.one(2) {
			kind, choices = "mdp", 3
		}
		m := r.system(kind, 3+r.IntN(4), choices)
		if len(m.choices) < 3 || m.resolutions() > 300 {
			continue
		}
		i := &instance{kind: "discounted", file: "m.prism", text: m.text(), dialect: syntax.Storm}
		if m.width > 1 { // as for other finite models
			i.skip = []string{"drn", "drn exact"}
		}
		for range 5 {
			w := writer{r, m}
			i.questions = append(i.questions, w.questionAbout(w.discountedReward()))
		}
		return i
	}
}

// discountedReward returns the quantity R of a discounted reward, of all steps or of the first ones.
func (w writer) discountedReward() quantity {
	discount, k := w.fraction(), w.IntN(6)
	if w.one(2) {
		return quantity{`R{"r"}`, "[ Cdiscount=" + number(discount) + " ]", func(g goal) vector {
			return w.value(g, func(c *chain) vector { return c.discountedReward(discount) })
		}, false}
	}
	return quantity{`R{"r"}`, fmt.Sprintf("[ C<=%d discount=%s ]", k, number(discount)), func(g goal) vector {
		x := indicator(constant(w.n(), false))
		for range k {
			for s := range x {
				x[s] = mul(x[s], discount)
			}
			x = w.step(g, x, true)
		}
		return x
	}, false}
}

// discountedReward returns the reward of all steps, where that of step k counts with the factor discount^k.
func (c *chain) discountedReward(discount *big.Rat) vector {
	e := newEquations(len(c.rows))
	for s, row := range c.rows {
		e.constants[s] = c.reward[s]
		for _, b := range row {
			e.add(s, b.target, mul(b.weight, discount))
		}
	}
	return e.solve()
}
