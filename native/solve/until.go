package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// Until returns bounds on the extremal probability of `left U right` from each state. In a CTMC it is the
// probability in the embedded chain. If a scheduler is requested, it never waits forever in an end component.
//
// Source: graph precomputation as in Baier and Katoen (2008), section 10.6; components in topological order,
// Ciesinski et al. (QEST 2008); end components collapsed for the maximum, Haddad and Monmege (2018); upper
// bounds by optimistic value iteration, Hartmanns and Kaminski (CAV 2020); fractions by policy iteration with
// elimination.
func Until(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, direction Direction, opts Options) (*Values, error) {
	if graph.Intervals() {
		return robustUntil(ctx, graph, left, right, direction, opts)
	}
	system, err := newSystem(graph, nil, direction, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	values := system.values
	if values.Scheduler == nil && !opts.Exact {
		values.setAll(right, 1)
		if ok, err := system.solveAcyclic(ctx, opts, left.Minus(right)); ok || err != nil {
			return values, err
		}
	}
	analysis, err := computeProb01(ctx, graph, left, right, direction)
	if err != nil {
		return nil, err
	}
	values.setAll(analysis.oneStates, 1)
	if values.Scheduler != nil {
		analysis.writeChoices(graph, right, values.Scheduler)
	}
	system.maybe = analysis.maybeStates()
	return system.solve(ctx, opts, direction == Max)
}

// prob01 is the result of graph analysis for Until: the states whose extremal probability is 0, and the states where it is 1.
type prob01 struct {
	direction             Direction
	zeroStates, oneStates *sparse.Set
}

// computeProb01 finds the states whose extremal probability of `left U right` is 0 or 1, by the graph algorithms Prob0 and Prob1.
func computeProb01(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, direction Direction) (prob01, error) {
	if direction == Min {
		return prob01{direction, graph.Prob0E(left, right), graph.Prob1A(left, right)}, nil
	}
	oneStates, err := graph.Prob1E(ctx, left, right)
	return prob01{direction, graph.Prob0A(left, right), oneStates}, err
}

// maybeStates returns the states whose probability is between 0 and 1.
func (analysis prob01) maybeStates() *sparse.Set {
	return analysis.zeroStates.Union(analysis.oneStates).Complement()
}

// writeChoices writes choices that attain the minimum 0 or the maximum 1.
func (analysis prob01) writeChoices(graph *sparse.Graph, right *sparse.Set, scheduler []uint32) {
	if analysis.direction == Min {
		graph.Remain(analysis.zeroStates, scheduler)
	} else {
		graph.Attract(analysis.oneStates, right, scheduler)
	}
}
