package explicit

import (
	"fmt"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactExpander weighs the choices of a state with fractions. Which choices
// there are is what double arithmetic says; a guard that is another one with
// fractions is refused.
type exactExpander struct {
	m *compile.Model
	// doubtful are the commands whose guards compute with doubles.
	doubtful []*sema.Command
	// doubles are the assigned values that doubles may get wrong.
	doubles map[sema.Expr]bool
}

func newExactExpander(m *compile.Model) *exactExpander {
	x := &exactExpander{m: m, doubles: map[sema.Expr]bool{}}
	for i := range m.Program().Modules {
		commands := m.Program().Modules[i].Commands
		for j := range commands {
			if inexact(commands[j].Guard) {
				x.doubtful = append(x.doubtful, &commands[j])
			}
			for _, u := range commands[j].Updates {
				for _, a := range u.Assigns {
					if inexact(a.Value) {
						x.doubles[a.Value] = true
					}
				}
			}
		}
	}
	return x
}

// guards refuses a state in which a guard depends on the arithmetic.
func (x *exactExpander) guards(state []int32) error {
	for _, c := range x.doubtful {
		v, err := sema.Eval(c.Guard, state)
		if err != nil {
			return x.fail(state, c.Pos, err.Error())
		}
		w, _, err := sema.EvalExact(c.Guard, state)
		if err != nil {
			return x.fail(state, c.Pos, err.Error())
		}
		if v.Bool != w.Bool {
			return x.unsupported(state, c.Pos, fmt.Sprintf("guard is %v with doubles and %v with fractions", v.Bool, w.Bool))
		}
	}
	return nil
}

// exactChoice is a choice, or in a Markov chain a part of the row, whose
// transitions have one action. No two have the same target.
type exactChoice struct {
	action  int
	weights []*big.Rat
	targets [][]int32
}

// expand returns the choices; in a Markov chain those with the same action are
// one, and in a DTMC all are divided by their number.
func (x *exactExpander) expand(state []int32, cs *compile.Choices) ([]exactChoice, error) {
	var out []exactChoice
	for i := range cs.List {
		c, err := x.choice(state, &cs.List[i])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	switch x.m.Program().Type {
	case syntax.DTMC:
		n := big.NewRat(int64(len(out)), 1)
		for _, c := range out {
			for _, w := range c.weights {
				w.Quo(w, n)
			}
		}
		return merge(out), nil
	case syntax.CTMC:
		return merge(out), nil
	}
	return out, nil
}

// merge joins choices with the same action, in order of first appearance.
func merge(cs []exactChoice) []exactChoice {
	var out []exactChoice
	for _, c := range cs {
		i := slices.IndexFunc(out, func(d exactChoice) bool { return d.action == c.action })
		if i < 0 {
			out = append(out, c)
			continue
		}
		for j, w := range c.weights {
			out[i].add(c.targets[j], w)
		}
	}
	return out
}

func (c *exactChoice) add(target []int32, w *big.Rat) {
	for i, t := range c.targets {
		if slices.Equal(t, target) {
			c.weights[i].Add(c.weights[i], w)
			return
		}
	}
	c.targets, c.weights = append(c.targets, target), append(c.weights, w)
}

// choice goes through the combinations of the commands' updates, the first
// command's varying fastest.
func (x *exactExpander) choice(state []int32, c *compile.Choice) (exactChoice, error) {
	out := exactChoice{action: c.Action}
	var commands []*sema.Command
	var weights [][]*big.Rat
	for _, ref := range c.Commands {
		cmd := &x.m.Program().Modules[ref.Module].Commands[ref.Command]
		ws, err := x.weigh(state, cmd)
		if err != nil {
			return out, err
		}
		commands, weights = append(commands, cmd), append(weights, ws)
	}
	pick := make([]int, len(commands))
	for {
		w := big.NewRat(1, 1)
		for i, u := range pick {
			w.Mul(w, weights[i][u])
		}
		if w.Sign() > 0 {
			target, err := x.apply(state, commands, pick)
			if err != nil {
				return out, err
			}
			out.add(target, w)
		}
		if !advance(pick, commands) {
			return out, nil
		}
	}
}

func advance(pick []int, commands []*sema.Command) bool {
	for i, c := range commands {
		if pick[i]++; pick[i] < len(c.Updates) {
			return true
		}
		pick[i] = 0
	}
	return false
}

// weigh evaluates the probabilities of a command, whose sum must be one.
func (x *exactExpander) weigh(state []int32, c *sema.Command) ([]*big.Rat, error) {
	sum := new(big.Rat)
	var out []*big.Rat
	for i := range c.Updates {
		u := &c.Updates[i]
		w := big.NewRat(1, 1)
		if u.Prob != nil {
			v, exact, err := sema.EvalExact(u.Prob, state)
			if err != nil {
				return nil, x.fail(state, u.Pos, err.Error())
			}
			if !exact || v.Rat == nil {
				return nil, x.unsupported(state, u.Pos, fmt.Sprintf("probability %v is not a fraction", v))
			}
			w = v.Rat
		}
		if w.Sign() < 0 {
			return nil, x.fail(state, u.Pos, fmt.Sprintf("probability %s is negative", w.RatString()))
		}
		out = append(out, w)
		sum.Add(sum, w)
	}
	if x.m.Program().Type != syntax.CTMC && sum.Cmp(big.NewRat(1, 1)) != 0 {
		return nil, x.fail(state, c.Pos, fmt.Sprintf("probabilities sum to %s, exactly, not to 1", sum.RatString()))
	}
	return out, nil
}

func (x *exactExpander) apply(state []int32, commands []*sema.Command, pick []int) ([]int32, error) {
	target := slices.Clone(state)
	for i, c := range commands {
		u := &c.Updates[pick[i]]
		for _, a := range u.Assigns {
			v, err := x.value(a.Value, state)
			if err != nil {
				return nil, x.fail(state, a.Pos, err.Error())
			}
			target[a.Slot] = v.Int
			if v.Type == sema.Bool {
				target[a.Slot] = 0
				if v.Bool {
					target[a.Slot] = 1
				}
			}
		}
	}
	return target, nil
}

// value evaluates with fractions only where doubles may be wrong: they are faster.
func (x *exactExpander) value(e sema.Expr, state []int32) (sema.Value, error) {
	if !x.doubles[e] {
		return sema.Eval(e, state)
	}
	v, _, err := sema.EvalExact(e, state)
	return v, err
}

func (x *exactExpander) fail(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: x.m.Program().File, Pos: pos, State: x.m.StateText(state), Msg: msg}
}

// unsupported refuses what cannot be done with fractions.
func (x *exactExpander) unsupported(state []int32, pos syntax.Pos, msg string) error {
	return &compile.UnsupportedError{File: x.m.Program().File, Pos: pos, Msg: msg + " in state " + x.m.StateText(state)}
}

// exactInitial refuses a model whose initial states depend on the arithmetic.
func exactInitial(p *sema.Program) error {
	for i := range p.Vars {
		if v := &p.Vars[i]; v.Rounded {
			return &compile.UnsupportedError{File: p.File, Pos: v.Pos, Msg: fmt.Sprintf("the range or initial value of variable %q is another one with fractions than with doubles", v.Name)}
		}
	}
	if p.Init != nil && inexact(p.Init) {
		return &compile.UnsupportedError{File: p.File, Pos: p.Init.Pos(), Msg: "init…endinit computes with doubles, which fractions may contradict"}
	}
	return nil
}
