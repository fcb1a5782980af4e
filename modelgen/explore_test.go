package modelgen

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
)

// An explorer of generated models, slow and plain: modules synchronise on the actions that they share, and every command has one.

// branch is a probability and the valuation it leads to.
type branch struct {
	p    *big.Rat
	next valuation
}

type explorer struct {
	*evaluator
	vars    []string
	start   valuation
	actions []string
	modules [][]exploredCommand
}

type exploredCommand struct {
	action  string
	guard   func(valuation) int
	updates []exploredUpdate
}

type exploredUpdate struct {
	p      func(valuation) *big.Rat
	names  []string
	values []func(valuation) int
}

func newExplorer(t *testing.T, m *syntax.Model) *explorer {
	x := &explorer{evaluator: newEvaluator(t, m), start: valuation{}}
	for _, module := range modules(m) {
		for _, v := range module.Vars {
			x.vars = append(x.vars, v.Name.Name)
			x.start[v.Name.Name] = x.compile(v.Init)(nil)
		}
		var commands []exploredCommand
		for _, c := range module.Commands {
			if !slices.Contains(x.actions, c.Action.Name) {
				x.actions = append(x.actions, c.Action.Name)
			}
			commands = append(commands, x.command(c))
		}
		x.modules = append(x.modules, commands)
	}
	for _, item := range m.Items {
		if c, ok := item.(*syntax.ConstDecl); ok && c.Type == syntax.ConstDouble {
			x.rats[c.Name.Name] = x.rational(c.Value)(nil)
		}
	}
	return x
}

func (x *explorer) command(c *syntax.Command) exploredCommand {
	ec := exploredCommand{action: c.Action.Name, guard: x.compile(c.Guard)}
	for _, u := range c.Updates {
		eu := exploredUpdate{p: func(valuation) *big.Rat { return big.NewRat(1, 1) }}
		if u.Prob != nil {
			eu.p = x.rational(u.Prob)
		}
		for _, a := range u.Assigns {
			eu.names = append(eu.names, a.Name.Name)
			eu.values = append(eu.values, x.compile(a.Value))
		}
		ec.updates = append(ec.updates, eu)
	}
	return ec
}

// rational is compile for probabilities.
func (e *evaluator) rational(x syntax.Expr) func(valuation) *big.Rat {
	switch x := x.(type) {
	case *syntax.Paren:
		return e.rational(x.X)
	case *syntax.DoubleLit:
		r, _ := new(big.Rat).SetString(x.Text)
		return func(valuation) *big.Rat { return r }
	case *syntax.Ident:
		if _, ok := e.formulas[x.Name]; !ok {
			return func(valuation) *big.Rat { return e.rats[x.Name] }
		}
	case *syntax.Cond:
		c, a, b := e.compile(x.Condition), e.rational(x.Then), e.rational(x.Else)
		return func(v valuation) *big.Rat {
			if c(v) != 0 {
				return a(v)
			}
			return b(v)
		}
	case *syntax.Binary:
		a, b := e.rational(x.X), e.rational(x.Y)
		switch x.Op {
		case syntax.OpSub:
			return func(v valuation) *big.Rat { return new(big.Rat).Sub(a(v), b(v)) }
		case syntax.OpDiv:
			return func(v valuation) *big.Rat { return new(big.Rat).Quo(a(v), b(v)) }
		}
	}
	f := e.compile(x)
	return func(v valuation) *big.Rat { return big.NewRat(int64(f(v)), 1) }
}

// choices returns the choices of a state, without branches of probability 0.
func (x *explorer) choices(v valuation) [][]branch {
	var all [][]branch
	for _, action := range x.actions {
		choices := [][]branch{{{big.NewRat(1, 1), v}}}
		for _, commands := range x.modules {
			if !slices.ContainsFunc(commands, func(c exploredCommand) bool { return c.action == action }) {
				continue
			}
			var joint [][]branch
			for _, c := range commands {
				if c.action == action && c.guard(v) != 0 {
					for _, so := range choices {
						joint = append(joint, c.extend(v, so))
					}
				}
			}
			choices = joint
		}
		all = append(all, choices...)
	}
	return all
}

// extend returns the branches of a choice after the command, enabled in v, has joined in.
func (c exploredCommand) extend(v valuation, so []branch) []branch {
	var joint []branch
	for _, b := range so {
		for _, u := range c.updates {
			p := new(big.Rat).Mul(b.p, u.p(v))
			if p.Sign() == 0 {
				continue
			}
			next := maps.Clone(b.next)
			for i, name := range u.names {
				next[name] = u.values[i](v)
			}
			joint = append(joint, branch{p, next})
		}
	}
	return joint
}

func (x *explorer) key(v valuation) string {
	values := make([]int, len(x.vars))
	for i, name := range x.vars {
		values[i] = v[name]
	}
	return fmt.Sprint(values)
}

// explored is a state space with floating-point probabilities.
type explored struct {
	size
	choices    [][][]step
	fail, wins []bool
}

type step struct {
	p    float64
	next int
}

func (x *explorer) explore() explored {
	var out explored
	index := map[string]int{}
	var states []valuation
	visit := func(v valuation) int {
		k := x.key(v)
		if i, ok := index[k]; ok {
			return i
		}
		index[k] = len(states)
		states = append(states, v)
		return len(states) - 1
	}
	visit(x.start)
	fail, success := x.name("fail"), x.name("success")
	for i := 0; i < len(states); i++ {
		out.fail = append(out.fail, fail(states[i]) != 0)
		out.wins = append(out.wins, success(states[i]) != 0)
		out.lost += fail(states[i])
		var steps [][]step
		for _, choice := range x.choices(states[i]) {
			steps = append(steps, x.steps(states[i], choice, visit))
			out.size.choices++
			out.transitions += len(choice)
		}
		if len(steps) == 0 {
			x.t.Errorf("deadlock in %v", states[i])
		}
		out.choices = append(out.choices, steps)
	}
	out.states = len(states)
	return out
}

func (x *explorer) steps(from valuation, choice []branch, visit func(valuation) int) []step {
	sum := new(big.Rat)
	var steps []step
	for _, b := range choice {
		p, _ := b.p.Float64()
		steps = append(steps, step{p, visit(b.next)})
		sum.Add(sum, b.p)
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		x.t.Errorf("probabilities in %v sum to %s", from, sum)
	}
	return steps
}

// probability is value iteration until nothing changes by 1e-14. From below it converges to the truth; how fast is that of drawing again,
// at worst a factor of 3/4 a round, so that what is left is below 1e-13.
func (m explored) probability(goal []bool, maximise bool) float64 {
	x := make([]float64, m.states)
	for delta := 1.0; delta > 1e-14; {
		delta = 0
		for s := range x {
			best := math.NaN()
			for _, c := range m.choices[s] {
				sum := 0.0
				for _, step := range c {
					sum += step.p * x[step.next]
				}
				if math.IsNaN(best) || (sum > best) == maximise {
					best = sum
				}
			}
			if goal[s] {
				best = 1
			}
			delta = max(delta, math.Abs(best-x[s]))
			x[s] = best
		}
	}
	return x[0]
}

// Every kind, policy and spawn mode is the game: no deadlock, probabilities that sum to 1, and the sizes and extremal probabilities of
// the independent account.
func TestModelsAreTheGame(t *testing.T) {
	configs := []Config{
		{Rows: 1, Cols: 2, Max: 4, Spawn: SpawnUniform},
		{Rows: 3, Cols: 1, Max: 8, Spawn: SpawnModule, Policy: Policy{Kind: RandomMoves}},
		{Rows: 1, Cols: 3, Max: 4, Policy: ThesisPolicies()[3].Policy},
		{Rows: 2, Cols: 2, Max: 4, Spawn: SpawnModule, Policy: Policy{Kind: RandomMoves}},
		{Rows: 2, Cols: 2, Max: 16, P2: "1", Spawn: SpawnUniform},
		{Rows: 2, Cols: 2, Max: 16, P2: "0.123"},
		{Rows: 3, Cols: 2, Max: 8},
	}
	for _, kind := range []Kind{Final, Combined, Prototype} {
		configs = append(configs, variants(Config{Kind: kind, Rows: 2, Cols: 2, Max: 16})...)
	}
	for i, cfg := range configs {
		if i%3 > 0 && !needs.OrFull(false, true) {
			continue
		}
		t.Run(fmt.Sprint(cfg.Args()[1:]), func(t *testing.T) {
			t.Parallel()
			m := newExplorer(t, build(t, cfg)).explore()
			o := newOracle(cfg)
			if want := o.explore(); m.size != want {
				t.Errorf("size %+v, want %+v", m.size, want)
			}
			for _, maximise := range []bool{false, true} {
				for _, goal := range []struct {
					name   string
					states []bool
					holds  func(position) bool
				}{{"fail", m.fail, o.lost}, {"success", m.wins, o.won}} {
					want, _ := o.probability(goal.holds, maximise).Float64()
					if got := m.probability(goal.states, maximise); math.Abs(got-want) > 1e-10 {
						t.Errorf("%s, maximum %t: %v, want %v", goal.name, maximise, got, want)
					}
				}
			}
		})
	}
}

// What the symbolic engines ask for: in every valuation that satisfies a command's guard, reachable or not, the probabilities sum to 1
// and no update leaves the range of its variable.
//
// Source: prism-semantics.md, section 2.4.
func TestUnreachableValuations(t *testing.T) {
	configs := []Config{{Kind: Prototype, Rows: 2, Cols: 2, Max: 8}, {Rows: 1, Cols: 4, Max: 8, Spawn: SpawnUniform}}
	for _, spawn := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
		configs = append(configs,
			Config{Rows: 2, Cols: 2, Max: 4, Spawn: spawn, Policy: Policy{Kind: RandomMoves}},
			Config{Kind: Combined, Rows: 2, Cols: 2, Max: 4, Spawn: spawn},
			Config{Rows: 2, Cols: 2, Max: 4, Spawn: spawn, P2: "1"},
		)
	}
	otherPhases := []string{"phase_01", "phase_10", "phase_11"}
	for _, cfg := range configs {
		t.Run(fmt.Sprint(cfg.Args()[1:]), func(t *testing.T) {
			if cfg.Kind == Prototype || cfg.Spawn == SpawnModule {
				needs.Full(t)
			}
			t.Parallel()
			m := build(t, cfg)
			x := newExplorer(t, m)
			// The prototype's modules look at their own phase, so one value for all of them will do.
			x.vars = slices.DeleteFunc(x.vars, func(name string) bool { return slices.Contains(otherPhases, name) })
			ranges := map[string]int{}
			for _, module := range modules(m) {
				for _, v := range module.Vars {
					ranges[v.Name.Name] = x.compile(v.High)(nil)
				}
			}
			v := valuation{}
			for {
				if cfg.Kind == Prototype {
					for _, name := range otherPhases {
						v[name] = v["phase_00"]
					}
				}
				x.checkCommands(v, ranges)
				if t.Failed() || !x.increment(v, ranges) {
					return
				}
			}
		})
	}
}

// increment goes to the next valuation in the ranges; it reports false after the last.
func (x *explorer) increment(v valuation, ranges map[string]int) bool {
	for _, name := range x.vars {
		if v[name]++; v[name] <= ranges[name] {
			return true
		}
		v[name] = 0
	}
	return false
}

func (x *explorer) checkCommands(v valuation, ranges map[string]int) {
	x.t.Helper()
	for _, commands := range x.modules {
		for _, c := range commands {
			if c.guard(v) == 0 {
				continue
			}
			sum := new(big.Rat)
			for _, b := range c.extend(v, []branch{{big.NewRat(1, 1), v}}) {
				sum.Add(sum, b.p)
				for name, value := range b.next {
					if high, ok := ranges[name]; !ok || value < 0 || value > high {
						x.t.Errorf("[%s] in %v: %s becomes %d", c.action, v, name, value)
					}
				}
			}
			if sum.Cmp(big.NewRat(1, 1)) != 0 {
				x.t.Errorf("[%s] in %v: the probabilities sum to %s", c.action, v, sum)
			}
		}
	}
}
