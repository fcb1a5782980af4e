package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// Until returns bounds on the extremal probability of `left U right` from each state. In a CTMC it is
// that of the embedded chain. The scheduler, if asked for, reaches right where it can: it never waits
// forever in an end component.
//
// Source: graph precomputation as in Baier and Katoen (2008), section 10.6; components in topological
// order, Ciesinski et al. (QEST 2008); end components collapsed for the maximum, Haddad and Monmege
// (2018); upper bounds by optimistic value iteration, Hartmanns and Kaminski (CAV 2020); fractions by
// policy iteration with elimination.
func Until(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustUntil(ctx, g, left, right, dir, opts)
	}
	sys, err := newSystem(g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.prob = true
	v := sys.v
	if v.Scheduler == nil && !opts.Exact {
		v.set(right, 1)
		if ok, err := sys.acyclic(ctx, opts, left.Minus(right)); ok || err != nil {
			return v, err
		}
	}
	q, err := computeProb01(ctx, g, left, right, dir)
	if err != nil {
		return nil, err
	}
	v.set(q.one, 1)
	if v.Scheduler != nil {
		q.schedule(g, right, v.Scheduler)
	}
	sys.open = q.open()
	return sys.solve(ctx, opts, dir == Max)
}

// prob01 has the states whose extremal probability is 0 or 1.
type prob01 struct {
	dir       Direction
	zero, one *sparse.Set
}

// computeProb01 computes these states by graph analysis, Prob0 and Prob1.
func computeProb01(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, dir Direction) (prob01, error) {
	if dir == Min {
		return prob01{dir, g.Prob0E(left, right), g.Prob1A(left, right)}, nil
	}
	one, err := g.Prob1E(ctx, left, right)
	return prob01{dir, g.Prob0A(left, right), one}, err
}

// open returns the states whose probability is between 0 and 1.
func (q prob01) open() *sparse.Set { return q.zero.Union(q.one).Complement() }

// schedule writes choices that attain 0 or 1 where not all choices do.
func (q prob01) schedule(g *sparse.Graph, right *sparse.Set, how []uint32) {
	if q.dir == Min {
		g.Remain(q.zero, how)
	} else {
		g.Attract(q.one, right, how)
	}
}
