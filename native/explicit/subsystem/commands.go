package subsystem

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Numbering numbers the commands of a text, module after module: those of a module
// that is another one renamed are that one's.
type Numbering struct {
	first  []int // of each module
	module []int // of each command
}

// NewNumbering returns that of a program.
func NewNumbering(prog *sema.Program) *Numbering {
	n := &Numbering{first: make([]int, len(prog.Modules))}
	for i, m := range prog.Modules {
		if m.Base != "" {
			continue
		}
		n.first[i] = len(n.module)
		for range m.Commands {
			n.module = append(n.module, i)
		}
	}
	for i := range prog.Modules {
		base := i
		for prog.Modules[base].Base != "" {
			name := prog.Modules[base].Base
			base = slices.IndexFunc(prog.Modules, func(m sema.Module) bool { return m.Name == name })
		}
		n.first[i] = n.first[base]
	}
	return n
}

// Len returns the number of commands.
func (n *Numbering) Len() int { return len(n.module) }

// Number returns the number of a command.
func (n *Numbering) Number(c compile.CommandRef) int { return n.first[c.Module] + c.Command }

// Command returns the command with a number.
func (n *Numbering) Command(i int) compile.CommandRef {
	m := n.module[i]
	return compile.CommandRef{Module: m, Command: i - n.first[m]}
}

// Commands returns commands that are enough: of the model whose other commands are
// taken out. In an MDP that is any scheduler's; in a Markov chain a transition that
// several commands make needs all of them, and the share of what is taken out is
// lost. Those that the given states need are tried. For paths that miss something,
// and in Markov chains, it is the chain of the question that they are taken out of.
func Commands(ctx context.Context, q *Question, states *Found) (*Found, error) {
	u := &uses{q: q, numbers: NewNumbering(q.Space.Program())}
	if err := u.find(ctx); err != nil {
		return nil, err
	}
	score := u.score(states.Kept)
	kept := sparse.NewSet(u.numbers.Len())
	var order []int
	for c, x := range score {
		if !math.IsInf(x, 1) {
			kept.Add(c)
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a)) })
	enough := func(kept *sparse.Set) (answer, *big.Rat, error) { return u.enough(ctx, kept) }
	a, lower, err := enough(kept)
	if err != nil {
		return nil, err
	}
	if a != yes {
		return nil, errors.New("the commands of the states are not shown to be enough")
	}
	f, err := minimize(ctx, kept, order, enough, lower)
	if err != nil {
		return nil, err
	}
	f.Of = u.numbers.Len()
	return f, nil
}

// uses are the commands that choices and transitions need.
type uses struct {
	q       *Question
	numbers *Numbering
	// ways[c] are the sets of commands, each of which makes choice c of an MDP.
	ways [][][]int
	// steps[s][t] are the commands that lead from state s of a Markov chain to t.
	steps map[uint64][]int
}

// chained reports whether commands are taken out of the chain.
func (u *uses) chained() bool {
	return u.q.Space.Model().Kind != sparse.MDP || u.q.Aim.Miss
}

// find notes the commands of every choice.
func (u *uses) find(ctx context.Context) error {
	m := u.q.Space.Model()
	if m.Kind == sparse.MDP {
		u.ways = make([][][]int, m.NumChoices())
	} else {
		u.steps = map[uint64][]int{}
	}
	return u.q.Space.Commands(ctx, func(s, choice int, c *compile.Choice, targets []int) {
		var commands []int
		for _, ref := range c.Commands {
			commands = append(commands, u.numbers.Number(ref))
		}
		if u.ways != nil {
			u.ways[choice] = append(u.ways[choice], commands)
			return
		}
		for _, t := range targets {
			key := uint64(s)<<32 | uint64(t)
			for _, n := range commands {
				if !slices.Contains(u.steps[key], n) {
					u.steps[key] = append(u.steps[key], n)
				}
			}
		}
	})
}

// needs returns the commands of a transition of the chain from node v to w.
func (u *uses) needs(v, w uint32) [][]int {
	c := u.q.Chain
	if u.steps != nil {
		return [][]int{u.steps[uint64(c.State[v])<<32|uint64(c.State[w])]}
	}
	return u.ways[c.Choice[v]]
}

// score returns, for each command, how unlikely the likeliest path of the chain is that needs it
// within some states; infinite for one that none needs.
func (u *uses) score(states *sparse.Set) []float64 {
	c := u.q.Chain
	out := make([]float64, u.numbers.Len())
	for i := range out {
		out[i] = math.Inf(1)
	}
	score := scores(c.Model, c.Target)
	for v, s := range c.State {
		if !states.Has(int(s)) || c.Target.Has(v) {
			continue
		}
		first, end := c.Model.Row(v)
		for i := first; i < end; i++ {
			w := c.Model.Target[i]
			if ways := u.needs(uint32(v), w); states.Has(int(c.State[w])) && len(ways) > 0 {
				for _, n := range ways[0] {
					out[n] = min(out[n], max(score[v], score[w]))
				}
			}
		}
	}
	return out
}

// enough is whether the commands that are kept are.
func (u *uses) enough(ctx context.Context, kept *sparse.Set) (answer, *big.Rat, error) {
	q := u.q
	if u.chained() {
		g := sparse.NewGraph(u.cutChain(kept))
		n := g.NumStates()
		right := sparse.NewSet(n)
		for v := range q.Chain.Target.All() {
			right.Add(v)
		}
		return q.judge(0, n, func(opts solve.Options) (*solve.Values, error) {
			return solve.Until(ctx, g, sparse.FullSet(n), right, solve.Max, opts)
		})
	}
	g := sparse.NewGraph(u.cutModel(kept))
	return q.judge(q.From, g.NumStates(), func(opts solve.Options) (*solve.Values, error) {
		if q.Aim.Low == 0 && q.Aim.High < 0 {
			return solve.Until(ctx, g, q.Aim.Left, q.Aim.Right, solve.Max, opts)
		}
		return solve.BoundedUntil(ctx, g, q.Aim.Left, q.Aim.Right, solve.Steps{Low: q.Aim.Low, High: q.Aim.High}, solve.Max, opts)
	})
}

// anyKept reports whether one of several sets is kept; the empty one always is.
func anyKept(ways [][]int, kept *sparse.Set) bool {
	return slices.ContainsFunc(ways, func(way []int) bool {
		return !slices.ContainsFunc(way, func(n int) bool { return !kept.Has(n) })
	})
}

// cutChain returns the chain without the transitions that need other commands: they
// lead to one more state, which is not left.
func (u *uses) cutChain(kept *sparse.Set) *sparse.Model {
	m := u.q.Chain.Model
	n := uint32(m.NumStates())
	out := &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}, Weights: m.Weights, Rats: m.Rats, Err: m.Err, Initial: m.Initial}
	for v := range n {
		first, end := m.Row(int(v))
		for i := first; i < end; i++ {
			t := m.Target[i]
			if t != v && !anyKept(u.needs(v, t), kept) {
				t = n
			}
			out.Target, out.Weight = append(out.Target, t), append(out.Weight, m.Weight[i])
		}
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	one := out.One()
	out.Target, out.Weight = append(out.Target, n), append(out.Weight, one)
	out.Start = append(out.Start, uint32(len(out.Target)))
	return out
}

// cutModel returns the MDP without the choices that need other commands. Where none is
// left, the state stays as it is.
func (u *uses) cutModel(kept *sparse.Set) *sparse.Model {
	m := u.q.Space.Model()
	out := &sparse.Model{Kind: sparse.MDP, First: []uint32{0}, Start: []uint32{0}, Weights: m.Weights, Rats: m.Rats, Err: m.Err, Initial: m.Initial}
	one := out.One()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		before := len(out.Start)
		for c := first; c < end; c++ {
			if !anyKept(u.ways[c], kept) {
				continue
			}
			from, to := m.Row(c)
			out.Target, out.Weight = append(out.Target, m.Target[from:to]...), append(out.Weight, m.Weight[from:to]...)
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		if len(out.Start) == before {
			out.Target, out.Weight = append(out.Target, uint32(s)), append(out.Weight, one)
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		out.First = append(out.First, uint32(len(out.Start)-1))
	}
	return out
}
