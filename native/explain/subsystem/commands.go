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
	for i, module := range prog.Modules {
		if module.Base != "" { // a renamed module
			continue
		}
		n.first[i] = len(n.module)
		for range module.Commands {
			n.module = append(n.module, i)
		}
	}
	for i := range prog.Modules {
		base := i
		for prog.Modules[base].Base != "" {
			name := prog.Modules[base].Base
			base = slices.IndexFunc(prog.Modules, func(module sema.Module) bool { return module.Name == name })
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

// Commands returns a minimal set of commands such that the model still violates the bound if all other
// commands are removed. It begins with the commands that transitions between the given states need. For an
// MDP the maximum over all schedulers must violate the bound. In Markov chains, and for paths that violate the
// formula (Formula.Violating), transitions are removed from the chain of the question instead: a transition
// that several commands cause together needs all of them, and the probability of removed transitions is lost.
func Commands(ctx context.Context, q *Question, states *Found) (*Found, error) {
	u := &commandUse{question: q, numbering: NewNumbering(q.Space.Program())}
	if err := u.collect(ctx); err != nil {
		return nil, err
	}
	score := u.commandScores(states.Kept)
	kept := sparse.NewSet(u.numbering.Len())
	var order []int
	for c := range score {
		if !math.IsInf(score[c], 1) {
			kept.Add(c)
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b, a)) })
	test := func(kept *sparse.Set) (sufficiency, *big.Rat, error) { return u.sufficient(ctx, kept) }
	result, lower, err := test(kept)
	if err != nil {
		return nil, err
	}
	if result != sufficient {
		return nil, errors.New("could not prove that the commands of the critical states violate the bound by themselves")
	}
	f, err := minimize(ctx, kept, order, test, lower)
	if err != nil {
		return nil, err
	}
	f.Candidates = u.numbering.Len()
	return f, nil
}

// commandUse relates choices and transitions to the commands that cause them.
type commandUse struct {
	question  *Question
	numbering *Numbering
	// alternatives[c] are the sets of commands that cause choice c of an MDP; each set does alone.
	alternatives [][][]int
	// stepCommands[s<<32|t] are the commands that lead from state s of a Markov chain to state t.
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
			commands = append(commands, u.numbering.Number(ref))
		}
		if u.alternatives != nil {
			u.alternatives[choice] = append(u.alternatives[choice], commands)
			return
		}
		for _, target := range targets {
			key := uint64(s)<<32 | uint64(target)
			for _, n := range commands {
				if !slices.Contains(u.stepCommands[key], n) {
					u.stepCommands[key] = append(u.stepCommands[key], n)
				}
			}
		}
	})
}

// commandSets returns sets of commands that cause the transition from node v to node w of the chain. The
// transition is possible if all commands of one set are kept.
func (u *commandUse) commandSets(from, to uint32) [][]int {
	chain := u.question.Chain
	if u.stepCommands != nil {
		return [][]int{u.stepCommands[uint64(chain.State[from])<<32|uint64(chain.State[to])]}
	}
	return u.alternatives[chain.Choice[from]]
}

// commandScores returns, for each command, the best score of a transition between the given states that needs
// the command; infinity if there is none. The score of a transition is the worse one of its two nodes, as
// pathScores returns it: lower scores belong to more probable paths.
func (u *commandUse) commandScores(states *sparse.Set) []float64 {
	chain := u.question.Chain
	out := make([]float64, u.numbering.Len())
	for i := range out {
		out[i] = math.Inf(1)
	}
	scores := pathScores(chain.Model, chain.Target)
	for v, s := range chain.State {
		if !states.Has(int(s)) || chain.Target.Has(v) {
			continue
		}
		first, end := chain.Model.Row(v)
		for i := first; i < end; i++ {
			w := chain.Model.Target[i]
			if !states.Has(int(chain.State[w])) {
				continue
			}
			sets := u.commandSets(uint32(v), w)
			if len(sets) == 0 {
				continue
			}
			for _, n := range sets[0] {
				out[n] = min(out[n], max(scores[v], scores[w]))
			}
		}
	}
	return out
}

// sufficient decides whether the model or the chain with only the kept commands violates the bound. The
// fraction is a lower bound on its probability.
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

// someSetIsKept reports whether all commands of one of the sets are kept.
func someSetIsKept(sets [][]int, kept *sparse.Set) bool {
	removed := func(n int) bool { return !kept.Has(n) }
	return slices.ContainsFunc(sets, func(commands []int) bool {
		return !slices.ContainsFunc(commands, removed)
	})
}

// restrictedChain returns the chain in which transitions that need removed commands lead to an
// additional absorbing state.
func (u *commandUse) restrictedChain(kept *sparse.Set) *sparse.Model {
	m := u.question.Chain.Model
	sink := uint32(m.NumStates())
	builder := sparse.NewDerivedBuilder(m, sparse.DTMC)
	for v := range sink {
		builder.State()
		builder.Copy(int(v), func(i int) uint32 {
			if target := m.Target[i]; target == v || someSetIsKept(u.commandSets(v, target), kept) {
				return target
			}
			return sink
		})
	}
	builder.State()
	builder.Loop(sink)
	out := builder.Finish()
	out.Initial = m.Initial
	return out
}

// restrictedModel returns the MDP without the choices that need removed commands. A state without
// choices gets a self-loop.
func (u *commandUse) restrictedModel(kept *sparse.Set) *sparse.Model {
	m := u.question.Space.Model()
	builder := sparse.NewDerivedBuilder(m, sparse.MDP)
	same := func(i int) uint32 { return m.Target[i] }
	for s := range m.NumStates() {
		builder.State()
		before := builder.NumChoices()
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if someSetIsKept(u.alternatives[c], kept) {
				builder.Copy(c, same)
			}
		}
		if builder.NumChoices() == before {
			builder.Loop(uint32(s))
		}
	}
	out := builder.Finish()
	out.Initial = m.Initial
	return out
}
