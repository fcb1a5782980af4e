package solve

import (
	"math"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// climb solves a component with choices by scheduler iteration, in a way that suits
// large ones. Under one scheduler most unknowns are on no cycle, and those that are make
// small components. Between two schedulers there are some sweeps over all choices: they
// carry an improvement further than the unknowns next to it. What is found is proved as
// in direct. It reports whether that succeeded; the bounds are unchanged when it did not.
// It is given up after so many operations as budget says; then more is set.
//
// Source: Puterman, Markov Decision Processes (1994), section 6.5.
func (l *localSystem) solveByPolicyIteration(mt *meter, eps, budget float64) (ok, overBudget bool, err error) {
	p := newPolicyIteration(l, mt, budget)
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
	return l.proveInductive(low, high, slack, 1e-3, eps), false, mt.did(2 * l.work())
}

// policy is a scheduler of a component, which has a choice for each unknown.
type policyIteration struct {
	system    *localSystem
	mt        *meter
	choice    []uint32
	workLimit float64 // the work at which to give up
	budget    float64 // of an elimination

	// What follows is of the equations under the choices made, if fresh.
	fresh         bool
	decomposition *sparse.Components
	components    []*eliminationSolver // the components of several unknowns, in their order
	index         []uint32             // of each unknown in its component
}

// newPolicy starts with the choices that are best for the lower bounds, but not with
// ones by which a component is never left.
func newPolicyIteration(l *localSystem, mt *meter, budget float64) *policyIteration {
	n := len(l.choiceStart) - 1
	p := &policyIteration{system: l, mt: mt, choice: make([]uint32, n), workLimit: mt.totalWork() + budget, budget: budget, index: make([]uint32, n)}
	for k := range p.choice {
		_, p.choice[k] = l.lowerUpdateOffGrid(k, l.lower)
	}
	if !l.min || !l.hasRewards {
		return p
	}
	p.decompose()
	out := l.properScheduler()
	left := sparse.NewSet(n)
	for i := range p.decomposition.Num() {
		members := p.decomposition.Members(i)
		leaves := slices.ContainsFunc(members, func(k uint32) bool {
			j := p.choice[k]
			return j == sparse.None || l.exit[j] > 0 || slices.ContainsFunc(p.row(k), func(t uint32) bool { return left.Has(int(t)) })
		})
		for _, k := range members {
			if leaves {
				left.Add(int(k))
			} else {
				p.choice[k], p.fresh = out[k], false
			}
		}
	}
	return p
}

func (p *policyIteration) exhausted() bool { return p.mt.totalWork() > p.workLimit }

// row returns the columns of the choice made for k.
func (p *policyIteration) row(k uint32) []uint32 {
	j := p.choice[k]
	if j == sparse.None {
		return nil
	}
	return p.system.col[p.system.termStart[j]:p.system.termStart[j+1]]
}

// of returns a constant of the choice made for k.
func (p *policyIteration) chosen(constants []float64, k int) float64 {
	if j := p.choice[k]; j != sparse.None {
		return constants[j]
	}
	return 0
}

func (p *policyIteration) constant(k int) float64 {
	lo, hi := p.chosen(p.system.constLower, k), p.chosen(p.system.constUpper, k)
	return lo + (hi-lo)/2
}

// rounds is how many schedulers are tried. Each is better than the one before, and a
// few dozen do on any model; but where rounding is as large as what is gained they go
// round in circles, which on two unknowns would take the budget years.
const maxSchedulers = 1000

// iterate improves the choices until improve has none better, and returns the
// solution of x = P x + gain; nil when it finds none.
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

// improvements is the number of sweeps between two schedulers.
const sweepsPerImprovement = 4

// improve takes better choices, beyond rounding, in a few sweeps that start from x, and
// reports whether there were any.
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
		if err := p.mt.did(l.work()); err != nil || !better {
			return changed, err
		}
	}
	return changed, nil
}

// accuracy is the relative difference beyond which a choice is better than another.
func (p *policyIteration) tolerance() float64 {
	for _, d := range p.components {
		if d.iterative {
			return 1e-9
		}
	}
	return 1e-12
}

// slack returns a solution of w = P w + x, and more where there is a grid, that is not
// much below P w + x for any choice that is as good as the best, or nearly.
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
		for k, now := range p.choice {
			most := w[k]
			for _, j := range nearOptimal[start[k]:start[k+1]] {
				if v := rhs(k) + l.terms(j, w); j != now && v > most+x[k]/2 {
					most, p.choice[k], changed = v, j, true
				}
			}
			w[k] = most
		}
		return changed, p.mt.did(len(nearOptimal))
	})
}

// solve solves x = P x + gain under the choices made. It returns nil when that
// takes too long or too large numbers. Where it is iterated it starts from a guess.
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
	return x, p.mt.did(len(p.system.choiceStart) * 8)
}

// solvePart solves the equations of a component, those of its successors being solved.
func (p *policyIteration) solveComponent(solver *eliminationSolver, members []uint32, x, guess []float64, rhs func(k int) float64) (bool, error) {
	solver.guess = make([]float64, len(members))
	localRHS := make([]float64, len(members))
	for i, k := range members {
		// Those of the component itself are zero still.
		solver.guess[i], localRHS[i] = guess[k], rhs(int(k))+p.system.terms(p.choice[k], x)
	}
	solution, err := solver.solve(p.mt, func(i int) float64 { return localRHS[i] })
	if solution == nil || err != nil {
		return false, err
	}
	for i, k := range members {
		x[k] = solution[i]
	}
	return true, nil
}

// decompose finds the components of the equations under the choices made.
func (p *policyIteration) decompose() {
	m := &sparse.Model{Kind: sparse.DTMC, Start: make([]uint32, 1, len(p.choice)+1), Target: make([]uint32, 0, 2*len(p.choice))}
	for k := range p.choice {
		m.Target = append(m.Target, p.row(uint32(k))...)
		m.Start = append(m.Start, uint32(len(m.Target)))
	}
	p.decomposition = m.Components(nil, nil)
}

// part copies the equations of a component of several unknowns.
func (p *policyIteration) componentSolver(members []uint32) *eliminationSolver {
	l := p.system
	subsystem := &localSystem{choiceStart: make([]uint32, 0, len(members)+1), termStart: make([]uint32, 0, len(members)+1), exit: make([]float64, 0, len(members))}
	solver := &eliminationSolver{system: subsystem, choice: make([]uint32, len(members)), budget: p.budget, precision: 4 * unit}
	for i, k := range members {
		p.index[k] = uint32(i)
	}
	id := p.decomposition.ID[members[0]]
	for i, k := range members {
		j := p.choice[k]
		solver.choice[i] = uint32(i)
		subsystem.choiceStart, subsystem.termStart = append(subsystem.choiceStart, uint32(i)), append(subsystem.termStart, uint32(len(subsystem.col)))
		exit := l.exit[j]
		for t := l.termStart[j]; t < l.termStart[j+1]; t++ {
			if to := l.col[t]; p.decomposition.ID[to] == id {
				subsystem.col, subsystem.weight = append(subsystem.col, p.index[to]), append(subsystem.weight, l.weight[t])
			} else {
				exit += l.weight[t]
			}
		}
		subsystem.exit = append(subsystem.exit, exit)
	}
	subsystem.choiceStart, subsystem.termStart = append(subsystem.choiceStart, uint32(len(members))), append(subsystem.termStart, uint32(len(subsystem.col)))
	return solver
}
