package subsystem

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Numbering numbers the commands in a model's text, module by module. Commands of a renamed module have
// the numbers of the original module.
type Numbering struct {
	first  []int // of each module: the number of its first command
	module []int // of each command
}

// NewNumbering returns the numbering of a program.
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

// Command returns the command with number i.
func (n *Numbering) Command(i int) compile.CommandRef {
	m := n.module[i]
	return compile.CommandRef{Module: m, Command: i - n.first[m]}
}

// Commands returns a minimal set of commands that violates the bound when all other commands are
// removed from the model. It starts with the commands that the given states need. In an MDP all
// schedulers count. In a Markov chain a transition that several commands cause together needs all of
// them; the probability of removed transitions is lost. In Markov chains, and for paths that violate
// the formula (Formula.Violating), commands are removed from the chain of the question instead of the model.
func Commands(ctx context.Context, q *Question, states *Found) (*Found, error) {
	u := &commandUse{question: q, numbers: NewNumbering(q.Space.Program())}
	if err := u.collect(ctx); err != nil {
		return nil, err
	}
	score := u.commandScores(states.Kept)
	kept := sparse.NewSet(u.numbers.Len())
	var order []int
	for c, x := range score {
		if !math.IsInf(x, 1) {
			kept.Add(c)
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(result, b int) int { return cmp.Or(cmp.Compare(score[b], score[result]), cmp.Compare(b, result)) })
	test := func(kept *sparse.Set) (sufficiency, *big.Rat, error) { return u.sufficient(ctx, kept) }
	result, lower, err := test(kept)
	if err != nil {
		return nil, err
	}
	if result != sufficient {
		return nil, errors.New("it is not proved that the commands of the states are sufficient")
	}
	f, err := minimize(ctx, kept, order, test, lower)
	if err != nil {
		return nil, err
	}
	f.Candidates = u.numbers.Len()
	return f, nil
}

// commandUse relates choices and transitions to the commands that cause them.
type commandUse struct {
	question *Question
	numbers  *Numbering
	// alternatives[c] are sets of commands; each of them makes choice c of an MDP.
	alternatives [][][]int
	// stepCommands has the commands that lead from state s of a Markov chain to state t, by s<<32|t.
	stepCommands map[uint64][]int
}

// restrictsChain reports whether commands are removed from the chain rather than the model.
func (u *commandUse) restrictsChain() bool {
	return u.question.Space.Model().Kind != sparse.MDP || u.question.Formula.Violating
}

// collect records the commands of every choice or transition.
func (u *commandUse) collect(ctx context.Context) error {
	m := u.question.Space.Model()
	if m.Kind == sparse.MDP {
		u.alternatives = make([][][]int, m.NumChoices())
	} else {
		u.stepCommands = map[uint64][]int{}
	}
	return u.question.Space.Commands(ctx, func(s, choice int, c *compile.Choice, targets []int) {
		var commands []int
		for _, ref := range c.Commands {
			commands = append(commands, u.numbers.Number(ref))
		}
		if u.alternatives != nil {
			u.alternatives[choice] = append(u.alternatives[choice], commands)
			return
		}
		for _, t := range targets {
			key := uint64(s)<<32 | uint64(t)
			for _, n := range commands {
				if !slices.Contains(u.stepCommands[key], n) {
					u.stepCommands[key] = append(u.stepCommands[key], n)
				}
			}
		}
	})
}

// commandSets returns the sets of commands for the transition from node v to node w of the chain; one
// of them must be kept.
func (u *commandUse) commandSets(v, w uint32) [][]int {
	c := u.question.Chain
	if u.stepCommands != nil {
		return [][]int{u.stepCommands[uint64(c.State[v])<<32|uint64(c.State[w])]}
	}
	return u.alternatives[c.Choice[v]]
}

// commandScores returns, for each command, the score of the most probable path that needs it within the
// states; infinity if there is none.
func (u *commandUse) commandScores(states *sparse.Set) []float64 {
	c := u.question.Chain
	out := make([]float64, u.numbers.Len())
	for i := range out {
		out[i] = math.Inf(1)
	}
	scores := pathScores(c.Model, c.Target)
	for v, s := range c.State {
		if !states.Has(int(s)) || c.Target.Has(v) {
			continue
		}
		first, end := c.Model.Row(v)
		for i := first; i < end; i++ {
			w := c.Model.Target[i]
			if ways := u.commandSets(uint32(v), w); states.Has(int(c.State[w])) && len(ways) > 0 {
				for _, n := range ways[0] {
					out[n] = min(out[n], max(scores[v], scores[w]))
				}
			}
		}
	}
	return out
}

// sufficient decides whether the kept commands violate the bound.
func (u *commandUse) sufficient(ctx context.Context, kept *sparse.Set) (sufficiency, *big.Rat, error) {
	q := u.question
	if u.restrictsChain() {
		g := sparse.NewGraph(u.restrictedChain(kept))
		n := g.NumStates()
		right := sparse.NewSet(n)
		for v := range q.Chain.Target.All() {
			right.Add(v)
		}
		return q.compareWithBound(0, n, func(opts solve.Options) (*solve.Values, error) {
			return solve.Until(ctx, g, sparse.FullSet(n), right, solve.Max, opts)
		})
	}
	g := sparse.NewGraph(u.restrictedModel(kept))
	return q.compareWithBound(q.From, g.NumStates(), func(opts solve.Options) (*solve.Values, error) {
		if q.Formula.Low == 0 && q.Formula.High < 0 {
			return solve.Until(ctx, g, q.Formula.Left, q.Formula.Right, solve.Max, opts)
		}
		return solve.BoundedUntil(ctx, g, q.Formula.Left, q.Formula.Right, solve.Steps{Low: q.Formula.Low, High: q.Formula.High}, solve.Max, opts)
	})
}

// anySetKept reports whether all commands of some set are kept.
func anySetKept(ways [][]int, kept *sparse.Set) bool {
	return slices.ContainsFunc(ways, func(way []int) bool {
		return !slices.ContainsFunc(way, func(n int) bool { return !kept.Has(n) })
	})
}

// restrictedChain returns the chain in which transitions that need removed commands lead to an
// additional absorbing state.
func (u *commandUse) restrictedChain(kept *sparse.Set) *sparse.Model {
	m := u.question.Chain.Model
	sink := uint32(m.NumStates())
	b := sparse.NewDerivedBuilder(m, sparse.DTMC)
	for v := range sink {
		b.State()
		b.Copy(int(v), func(i int) uint32 {
			if t := m.Target[i]; t == v || anySetKept(u.commandSets(v, t), kept) {
				return t
			}
			return sink
		})
	}
	b.State()
	b.Loop(sink)
	out := b.Finish()
	out.Initial = m.Initial
	return out
}

// restrictedModel returns the MDP without the choices that need removed commands. A state without
// choices gets a self-loop.
func (u *commandUse) restrictedModel(kept *sparse.Set) *sparse.Model {
	m := u.question.Space.Model()
	b := sparse.NewDerivedBuilder(m, sparse.MDP)
	same := func(i int) uint32 { return m.Target[i] }
	for s := range m.NumStates() {
		b.State()
		before := b.NumChoices()
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if anySetKept(u.alternatives[c], kept) {
				b.Copy(c, same)
			}
		}
		if b.NumChoices() == before {
			b.Loop(uint32(s))
		}
	}
	out := b.Finish()
	out.Initial = m.Initial
	return out
}
