package belief

import "slices"

// assembly makes a controller of the choices in an abstraction.
type assembly struct {
	*search
	model   *abstraction
	choice  []uint32 // of the abstraction's states
	hopeful bool     // as the abstraction
	// fallback is the strategy of the pool for what was not foreseen.
	fallback int
	out      Controller
	number   map[place]int
	queue    []place
}

// place is where a controller is: at a node of the search, or, if node is -1, in a
// strategy of the pool with something shown.
type place struct {
	node, policy int
	shown        uint32
}

// assemble returns the controller that follows the choices of an abstraction: where it
// ends, the best strategy of the pool; where a mixture stands for a belief, the
// likeliest of its points. What is shown and cannot be there, by such a point, is
// answered by the strategy of the pool that is best from the start.
func (s *search) assemble(a *abstraction, choice []uint32, hopeful bool) *Controller {
	w := &assembly{search: s, model: a, choice: choice, hopeful: hopeful, number: map[place]int{}}
	if len(s.nodes) > 0 && s.nodes[0].at != nil {
		_, w.fallback = s.pool.bound(s.nodes[0].at)
	}
	w.visit(place{node: 0})
	for i := 0; i < len(w.queue); i++ {
		w.node(i)
	}
	return &w.out
}

func (w *assembly) visit(p place) int {
	if p.node >= 0 && w.nodes[p.node].at == nil {
		n := &w.nodes[p.node]
		p = place{-1, n.worth.by, n.shown}
	}
	n, known := w.number[p]
	if !known {
		n = len(w.queue)
		w.number[p] = n
		w.queue = append(w.queue, p)
	}
	return n
}

// node writes a node.
func (w *assembly) node(i int) {
	p := w.queue[i]
	n := Node{Observation: p.shown}
	var known []branch
	fallback := p.policy
	if p.node >= 0 {
		fallback = w.fallback
	}
	if p.node < 0 {
		n.Action = w.pool.policies[p.policy][p.shown]
	} else {
		at := &w.nodes[p.node]
		n.Observation = at.shown
		if c := w.choice[firstNode+p.node]; int(c) < w.model.graph.NumChoices() {
			first, _ := w.model.graph.Choices(firstNode + p.node)
			n.Action = int(c) - first
		}
		known = at.acts[n.Action].on
	}
	for _, shown := range w.followers(n.Observation, n.Action) {
		to := place{-1, fallback, shown}
		for j := range known {
			if b := &known[j]; b.shown == shown {
				to = w.target(b)
			}
		}
		n.Next = append(n.Next, Edge{shown, w.visit(to)})
	}
	w.out.Nodes = append(w.out.Nodes, n)
}

// target returns where a branch leads.
func (w *assembly) target(b *branch) place {
	if !b.replaced() {
		return place{node: b.to[0].node}
	}
	if !w.hopeful {
		return place{-1, b.worth.by, b.shown}
	}
	best := b.to[0]
	for _, p := range b.to[1:] {
		if p.share.Cmp(best.share) > 0 {
			best = p
		}
	}
	return place{node: best.node}
}

// followers returns what may be shown after an action, in increasing order.
func (s *search) followers(shown uint32, action int) []uint32 {
	var out []uint32
	for st, o := range s.Observation {
		if o != shown || s.over.Has(st) {
			continue
		}
		for _, t := range s.row(uint32(st), action) {
			if !s.over.Has(int(t.to)) {
				out = append(out, s.Observation[t.to])
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}
