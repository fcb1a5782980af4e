package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// solveByPolicyIteration solves a component with several choices, in a way that suits large ones: it
// decomposes the chain that each scheduler induces, whose components usually are small, and improves by
// several sweeps, which carry an improvement further than one. The result must be proved as in
// solveByElimination. Otherwise ok is false, and the bounds are unchanged; overBudget says that a
// larger budget may help.
//
// Source: Puterman, Markov Decision Processes (1994), section 6.5.
func (l *localSystem) solveByPolicyIteration(meter *meter, eps, budget float64) (ok, overBudget bool, err error) {
	p := newPolicyIteration(l, meter, budget)
	x, err := p.run(l.lower, p.constant, p.improve)
	if x == nil || err != nil {
		return false, p.exhausted(), err
	}
	low, high := x, x
	if l.inherited > 0 || l.underflowed || l.inheritedAbs > 0 {
		if low, err = p.solve(x, func(k int) float64 { return p.chosen(l.constLower, k) }); low == nil || err != nil {
			return false, false, err
		}
		if high, err = p.solve(x, func(k int) float64 { return p.chosen(l.constUpper, k) }); high == nil || err != nil {
			return false, false, err
		}
	}
	slack, err := p.solveSlack(x)
	if slack == nil || err != nil {
		return false, p.exhausted(), err
	}
	return l.proveInductive(low, high, slack, 1e-3, eps), false, meter.addWork(2 * l.work())
}

// policyIteration holds the current scheduler of a component, and the solver of the chain that it
// induces.
type policyIteration struct {
	system    *localSystem
	meter     *meter
	choice    []uint32
	workLimit float64 // the total work of mt at which it gives up
	budget    float64 // operations that one elimination may take

	// fresh says that the following fields belong to the current scheduler.
	fresh         bool
	decomposition *sparse.Components
	components    []*eliminationSolver // solvers of the components with several unknowns, in their order
	index         []uint32             // of each unknown in its component
}

// newPolicyIteration starts with the scheduler that is optimal for the lower bounds. Where a minimum
// needs it, choices are replaced such that every component is left.
func newPolicyIteration(l *localSystem, meter *meter, budget float64) *policyIteration {
	n := len(l.choiceStart) - 1
	p := &policyIteration{system: l, meter: meter, choice: make([]uint32, n), workLimit: meter.totalWork() + budget, budget: budget, index: make([]uint32, n)}
	for k := range p.choice {
		_, p.choice[k] = l.lowerUpdateOffGrid(k, l.lower)
	}
	if l.min && l.hasRewards {
		p.makeProper()
	}
	return p
}

// makeProper replaces the choices in components of the induced chain that are never left.
func (p *policyIteration) makeProper() {
	p.decompose()
	proper := p.system.properScheduler()
	leaving := sparse.NewSet(len(p.choice))
	for i := range p.decomposition.Num() {
		members := p.decomposition.Members(i)
		leaves := slices.ContainsFunc(members, func(k uint32) bool {
			j := p.choice[k]
			return j == sparse.None || p.system.exit[j] > 0 || slices.ContainsFunc(p.row(k), func(t uint32) bool { return leaving.Has(int(t)) })
		})
		for _, k := range members {
			if leaves {
				leaving.Add(int(k))
			} else {
				p.choice[k], p.fresh = proper[k], false
			}
		}
	}
}

func (p *policyIteration) exhausted() bool { return p.meter.totalWork() > p.workLimit }

// row returns the columns of the current choice of k.
func (p *policyIteration) row(k uint32) []uint32 {
	j := p.choice[k]
	if j == sparse.None {
		return nil
	}
	return p.system.col[p.system.termStart[j]:p.system.termStart[j+1]]
}

// chosen returns the entry of the current choice of k, or 0 if it has none.
func (p *policyIteration) chosen(constants []float64, k int) float64 {
	if j := p.choice[k]; j != sparse.None {
		return constants[j]
	}
	return 0
}

// constant returns the midpoint of the constant of the current choice of k.
func (p *policyIteration) constant(k int) float64 {
	lo, hi := p.chosen(p.system.constLower, k), p.chosen(p.system.constUpper, k)
	return lo + (hi-lo)/2
}

// maxSchedulers limits the iteration. A few dozen schedulers are enough for all known models; but where
// improvements are as small as rounding errors, schedulers may repeat without end.
const maxSchedulers = 1000

// run improves the scheduler until improve finds no better choice. It returns the solution of x = P x +
// rhs for the last scheduler, or nil if it gives up.
func (p *policyIteration) run(x []float64, rhs func(k int) float64, improve func(x []float64) (bool, error)) ([]float64, error) {
	for range maxSchedulers {
		var err error
		if x, err = p.solve(x, rhs); x == nil || err != nil {
			return nil, err
		}
		if p.exhausted() {
			return nil, nil
		}
		changed, err := improve(x)
		if err != nil || !changed {
			return x, err
		}
		p.fresh = false
	}
	return nil, nil
}

// sweepsPerImprovement is the number of sweeps between two evaluations.
const sweepsPerImprovement = 4

// improve switches to choices that are better by more than the rounding error, in a few sweeps that
// start from x. It reports whether there were any.
func (p *policyIteration) improve(x []float64) (bool, error) {
	l := p.system
	threshold := 1 - p.tolerance()
	changed := false
	for range sweepsPerImprovement {
		better := false
		for k, current := range p.choice {
			if current == sparse.None {
				continue
			}
			best, value := current, l.constantMidpoint(current)+l.terms(current, x)
			for j := l.choiceStart[k]; j < l.choiceStart[k+1]; j++ {
				v := l.constantMidpoint(j) + l.terms(j, x)
				if l.min && v < value*threshold || !l.min && v*threshold > value {
					best, value = j, v
				}
			}
			x[k] = value
			if best != current {
				p.choice[k], better = best, true
			}
		}
		changed = changed || better
		if err := p.meter.addWork(l.work()); err != nil || !better {
			return changed, err
		}
	}
	return changed, nil
}

// tolerance is the relative difference beyond which a choice counts as better.
func (p *policyIteration) tolerance() float64 {
	for _, d := range p.components {
		if d.iterative {
			return 1e-9
		}
	}
	return 1e-12
}

// solveSlack solves w = P w + x (plus a multiple of the grid), such that w is about an upper bound of P
// w + x for every choice that is optimal or nearly so.
func (p *policyIteration) solveSlack(x []float64) ([]float64, error) {
	l := p.system
	const tolerance = 1e-9
	start, nearOptimal := make([]uint32, len(x)+1), make([]uint32, 0, len(x))
	for k := range x {
		for j := l.choiceStart[k]; j < l.choiceStart[k+1]; j++ {
			if math.Abs(l.constantMidpoint(j)+l.terms(j, x)-x[k]) <= tolerance*x[k] {
				nearOptimal = append(nearOptimal, j)
			}
		}
		start[k+1] = uint32(len(nearOptimal))
	}
	rhs := func(k int) float64 { return x[k] + l.round.grid*0x1p39 }
	return p.run(x, rhs, func(w []float64) (bool, error) {
		changed := false
		for k, current := range p.choice {
			best := w[k]
			for _, j := range nearOptimal[start[k]:start[k+1]] {
				if v := rhs(k) + l.terms(j, w); j != current && v > best+x[k]/2 {
					best, p.choice[k], changed = v, j, true
				}
			}
			w[k] = best
		}
		return changed, p.meter.addWork(len(nearOptimal))
	})
}

// solve solves x = P x + rhs under the current scheduler, component by component. It returns nil if
// that takes too long or overflows. Iterative solvers start from guess.
func (p *policyIteration) solve(guess []float64, rhs func(k int) float64) ([]float64, error) {
	if !p.fresh {
		p.decompose()
		p.components = p.components[:0]
	}
	x := make([]float64, len(p.choice))
	nextComponent := 0
	for i := range p.decomposition.Num() {
		members := p.decomposition.Members(i)
		if len(members) == 1 {
			k := members[0]
			if x[k] = rhs(int(k)); p.choice[k] != sparse.None {
				x[k] += p.system.terms(p.choice[k], x)
			}
			continue
		}
		if nextComponent++; nextComponent > len(p.components) {
			p.components = append(p.components, p.componentSolver(members))
		}
		if ok, err := p.solveComponent(p.components[nextComponent-1], members, x, guess, rhs); !ok || err != nil {
			return nil, err
		}
	}
	p.fresh = true
	return x, p.meter.addWork(len(p.system.choiceStart) * 8)
}

// solveComponent solves a component whose successors are solved, and writes the solution to x.
func (p *policyIteration) solveComponent(solver *eliminationSolver, members []uint32, x, guess []float64, rhs func(k int) float64) (bool, error) {
	solver.guess = make([]float64, len(members))
	localRHS := make([]float64, len(members))
	for i, k := range members {
		// In x the component itself is still zero.
		solver.guess[i], localRHS[i] = guess[k], rhs(int(k))+p.system.terms(p.choice[k], x)
	}
	solution, err := solver.solve(p.meter, func(i int) float64 { return localRHS[i] })
	if solution == nil || err != nil {
		return false, err
	}
	for i, k := range members {
		x[k] = solution[i]
	}
	return true, nil
}

// decompose computes the strongly connected components of the induced chain.
func (p *policyIteration) decompose() {
	m := &sparse.Model{Kind: sparse.DTMC, Start: make([]uint32, 1, len(p.choice)+1), Target: make([]uint32, 0, 2*len(p.choice))}
	for k := range p.choice {
		m.Target = append(m.Target, p.row(uint32(k))...)
		m.Start = append(m.Start, uint32(len(m.Target)))
	}
	p.decomposition = m.Components(nil, nil)
}

// componentSolver builds the equations of a component with several unknowns.
func (p *policyIteration) componentSolver(members []uint32) *eliminationSolver {
	l := p.system
	local := &localSystem{choiceStart: make([]uint32, 0, len(members)+1), termStart: make([]uint32, 0, len(members)+1), exit: make([]float64, 0, len(members))}
	solver := &eliminationSolver{system: local, choice: make([]uint32, len(members)), budget: p.budget, precision: 4 * unit}
	for i, k := range members {
		p.index[k] = uint32(i)
	}
	id := p.decomposition.ID[members[0]]
	for i, k := range members {
		j := p.choice[k]
		solver.choice[i] = uint32(i)
		local.choiceStart, local.termStart = append(local.choiceStart, uint32(i)), append(local.termStart, uint32(len(local.col)))
		exit := l.exit[j]
		for t := l.termStart[j]; t < l.termStart[j+1]; t++ {
			if to := l.col[t]; p.decomposition.ID[to] == id {
				local.col, local.weight = append(local.col, p.index[to]), append(local.weight, l.weight[t])
			} else {
				exit += l.weight[t]
			}
		}
		local.exit = append(local.exit, exit)
	}
	local.choiceStart, local.termStart = append(local.choiceStart, uint32(len(members))), append(local.termStart, uint32(len(local.col)))
	return solver
}
