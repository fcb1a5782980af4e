package belief

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// search is a part of the space of beliefs: those that are reached by exact steps as
// far as these go, then points of a grid.
type search struct {
	*stepper
	hope  *optimist
	pool  *pool
	nodes []node
	index map[string]int
	// limit and points are how many beliefs are looked into, exact ones and points of
	// the grid; resolution is that of the grid, 0 for none.
	limit, points, resolution int
	exact, grid               int // looked into so far
	edges                     int
	// partial says that some belief was not looked into, or replaced.
	partial bool
}

// node is a belief. One that is not looked into is only what it is worth.
type node struct {
	at    *belief // nil where it is not looked into
	shown uint32
	worth worth
	acts  []act
}

// worth bounds what a belief is worth, without looking into it: at most hope, and at
// least safe, by a strategy of the pool; the other way round for the direction Min.
type worth struct {
	hope, safe float64
	by         int
}

func (s *search) worthOf(b *belief) worth {
	hope := s.hope.bound(b)
	safe, by := s.pool.bound(b)
	return worth{hope, safe, by}
}

// act is an action under a belief: where it leads, and what it earns.
type act struct {
	on         []branch
	goal, fail *big.Rat
	reward     *big.Rat
}

// branch is what follows one observation: a belief, or a mixture around it.
type branch struct {
	chance *big.Rat
	shown  uint32
	to     []part
	worth  worth // where replaced
}

// part is a node with its share of a belief.
type part struct {
	node  int
	share *big.Rat
}

// replaced reports whether a mixture stands for the belief.
func (b *branch) replaced() bool { return len(b.to) != 1 || b.to[0].share != nil }

// maxBits is the size of the numbers of a belief from which it is replaced.
const maxBits = 1 << 13

// maxEdges is how many branches are kept: a gigabyte's worth.
const maxEdges = 1 << 22

// explore looks into beliefs in the order of a breadth-first search.
func (s *search) explore(ctx context.Context, start *belief) error {
	s.index = map[string]int{}
	s.admit(start, false)
	for i := 0; i < len(s.nodes); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := s.nodes[i].at
		switch {
		case at == nil:
		case s.edges > maxEdges:
			s.partial = true
			s.nodes[i].at, s.nodes[i].worth = nil, s.worthOf(at)
		default:
			acts := s.look(at) // which moves the nodes
			s.nodes[i].acts = acts
		}
	}
	return nil
}

// admit returns the node of a belief, new if need be.
func (s *search) admit(b *belief, onGrid bool) int {
	key := b.key()
	if i, known := s.index[key]; known {
		return i
	}
	open := s.exact < s.limit
	if onGrid {
		open = s.grid < s.points
	}
	n := node{at: b, shown: s.Observation[b.states[0]]}
	switch {
	case !open: // there may be many: neither the belief nor its key is kept
		s.partial = true
		n.at, n.worth = nil, s.worthOf(b)
	case onGrid:
		s.grid++
	default:
		s.exact++
	}
	if open {
		s.index[key] = len(s.nodes)
	}
	s.nodes = append(s.nodes, n)
	return len(s.nodes) - 1
}

// look takes every action once.
func (s *search) look(b *belief) []act {
	acts := make([]act, s.actions(b.states[0]))
	for k := range acts {
		out := s.step(b, k)
		a := &acts[k]
		a.goal, a.fail = new(big.Rat).SetFrac(out.goal, out.whole), new(big.Rat).SetFrac(out.fail, out.whole)
		for _, o := range out.on {
			b := branch{chance: new(big.Rat).SetFrac(o.weight, out.whole), shown: s.Observation[o.next.states[0]], to: s.place(o.next)}
			if b.replaced() {
				b.worth = s.worthOf(o.next)
			}
			a.on = append(a.on, b)
			s.edges += len(b.to)
		}
		if s.Reward != nil {
			a.reward = b.mean(func(st uint32) *big.Rat { return s.earned(st, s.at(st, k)) })
		}
	}
	return acts
}

// place returns the nodes that stand for a belief.
func (s *search) place(b *belief) []part {
	i, known := s.index[b.key()]
	if known {
		return []part{{node: i}}
	}
	if s.resolution == 0 || s.exact < s.limit && b.total.BitLen() <= maxBits {
		return []part{{node: s.admit(b, false)}}
	}
	corners := b.triangulate(s.resolution)
	if len(corners) == 1 { // it is a point of the grid itself
		return []part{{node: s.admit(b, true)}}
	}
	s.partial = true
	out := make([]part, len(corners))
	for i, c := range corners {
		out[i] = part{s.admit(c.at, true), c.share}
	}
	return out
}

// The states of a model of beliefs; node i is firstNode+i.
const (
	goal = iota
	failed
	firstNode
)

// abstraction is a finite model of the space of beliefs.
type abstraction struct {
	graph  *sparse.Graph
	reward *sparse.Reward
}

// abstract returns the model: a hopeful one, in which a mixture of nodes may stand for
// a belief, or a safe one, in which its worth does.
func (s *search) abstract(hopeful, exact bool) (*abstraction, error) {
	w := &writer{search: s, hopeful: hopeful, exact: exact, b: sparse.NewBuilder(sparse.MDP)}
	for range firstNode {
		w.row(nil)
	}
	for i := range s.nodes {
		w.b.State()
		n := &s.nodes[i]
		if n.at == nil {
			w.leaf(n.worth)
			continue
		}
		for k := range n.acts {
			w.act(&n.acts[k])
		}
	}
	m, err := w.b.Finish()
	if err != nil {
		return nil, err
	}
	m.Initial = []uint32{firstNode}
	out := &abstraction{graph: sparse.NewGraph(m)}
	if s.Reward != nil {
		out.reward = &sparse.Reward{Name: s.Reward.Name, Choice: w.earned, Err: 0x1p-53}
		if exact {
			out.reward.ChoiceRat = w.earnedRat
		}
	}
	return out, nil
}

// writer writes the rows of an abstraction.
type writer struct {
	*search
	hopeful, exact bool
	b              *sparse.Builder
	states         int
	earned         []float64
	earnedRat      []*big.Rat
}

// cut returns the worth that counts.
func (w *writer) cut(x worth) float64 {
	if w.hopeful {
		return x.hope
	}
	return x.safe
}

// row begins a state that is never left, for goal and failed.
func (w *writer) row(reward *big.Rat) {
	w.b.State()
	w.choice(reward)
	w.add(w.states, big.NewRat(1, 1))
	w.states++
}

func (w *writer) choice(reward *big.Rat) {
	w.b.Choice(sparse.NoAction)
	if w.Reward == nil {
		return
	}
	if reward == nil {
		reward = new(big.Rat)
	}
	w.earned, w.earnedRat = append(w.earned, double(reward)), append(w.earnedRat, reward)
}

func (w *writer) add(to int, chance *big.Rat) {
	if w.exact {
		w.b.AddRat(to, chance, sparse.NoAction)
		return
	}
	w.b.Add(to, double(chance))
}

// act writes a choice.
func (w *writer) act(a *act) {
	well, badly := new(big.Rat).Set(a.goal), new(big.Rat).Set(a.fail)
	var earned *big.Rat
	if a.reward != nil {
		earned = new(big.Rat).Set(a.reward)
	}
	var on []part
	for i := range a.on {
		b := &a.on[i]
		if !w.hopeful && b.replaced() {
			w.settle(w.cut(b.worth), b.chance, well, badly, earned)
			continue
		}
		for _, p := range b.to {
			share := b.chance
			if p.share != nil {
				share = new(big.Rat).Mul(share, p.share)
			}
			on = append(on, part{p.node, share})
		}
	}
	w.choice(earned)
	w.add(goal, well)
	w.add(failed, badly)
	for _, p := range on {
		w.add(firstNode+p.node, p.share)
	}
}

// leaf writes the only choice of a belief that was not looked into.
func (w *writer) leaf(x worth) {
	well, badly := new(big.Rat), new(big.Rat)
	var earned *big.Rat
	if w.Reward != nil {
		earned = new(big.Rat)
	}
	w.settle(w.cut(x), big.NewRat(1, 1), well, badly, earned)
	w.choice(earned)
	w.add(goal, well)
	w.add(failed, badly)
}

// settle adds what comes of a value v with some chance. An infinite reward is that of
// never getting to the goal.
func (w *writer) settle(v float64, chance, well, badly, earned *big.Rat) {
	switch {
	case w.Reward == nil:
		x := new(big.Rat).Mul(chance, new(big.Rat).SetFloat64(v))
		well.Add(well, x)
		badly.Add(badly, x.Sub(chance, x))
	case math.IsInf(v, 1):
		badly.Add(badly, chance)
	default:
		well.Add(well, chance)
		earned.Add(earned, new(big.Rat).Mul(chance, new(big.Rat).SetFloat64(v)))
	}
}

// value solves the model, and returns what the nodes are worth.
func (s *search) value(ctx context.Context, a *abstraction, opts solve.Options) (*solve.Values, error) {
	n := a.graph.NumStates()
	target := sparse.SetOf(n, goal)
	if s.Reward != nil {
		return solve.ReachReward(ctx, a.graph, a.reward, target, s.Direction, opts)
	}
	return solve.Until(ctx, a.graph, sparse.FullSet(n), target, s.Direction, opts)
}
