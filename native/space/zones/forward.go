package zones

import (
	"context"
	"slices"

	"tilecheck/internal/zone"
)

// forward finds the reachable locations and zones.
type forward struct {
	*automaton
	limits  []int64 // of the clocks by number, for the extrapolation
	pairs   [][2]int
	waiting []locationZone
	warning string // a reachable state that violates an invariant
}

// locationZone is a set of states with the same location.
type locationZone struct {
	location *location
	zone     zone.Zone
}

// explore finds the reachable locations with their zones. The error is a *TimelockError if there is a timelock. The timer, which no
// command sets, begins with any value.
func (a *automaton) explore(ctx context.Context) (*forward, error) {
	f := &forward{automaton: a, limits: append([]int64{0}, a.Limits...)}
	if a.timer > 0 {
		f.limits = append(f.limits, 0)
	}
	for _, pair := range a.Pairs {
		f.pairs = append(f.pairs, [2]int{a.constraint.clockOf[pair[0]], a.constraint.clockOf[pair[1]]})
	}
	first, err := a.initial()
	if err != nil {
		return nil, err
	}
	start := zone.All(a.constraint.clocks)
	for clock := 1; clock <= len(a.Clocks); clock++ {
		start, _ = start.And(clock, 0, zone.AtMost(0))
	}
	f.enter(first, start)
	for len(f.waiting) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.memory.exceeded(0) {
			return nil, f.memory.limitError(len(f.locations), len(f.locations)-len(f.waiting))
		}
		found := f.waiting[0]
		f.waiting = f.waiting[1:]
		if err := f.expand(found); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// enter adds states in which a location is entered, unless they were found before.
func (f *forward) enter(l *location, z zone.Zone) {
	for _, part := range f.extrapolate(z) {
		if isCovered(l.entered, part) {
			continue
		}
		l.entered = l.entered.Add(part)
		f.memory.add(1, 0, 2)
		f.waiting = append(f.waiting, locationZone{l, part})
	}
}

// isCovered reports whether one zone of a federation includes a zone.
func isCovered(f zone.Federation, z zone.Zone) bool {
	for _, other := range f {
		if other.Includes(z) {
			return true
		}
	}
	return false
}

// extrapolate returns zones that include a zone, and of which there are finitely many. A zone is first divided by the comparisons of two
// clocks, which the extrapolation must not change.
//
// Source: Bengtsson and Yi, On clock difference constraints and termination in reachability analysis of timed automata (ICFEM 2003).
func (f *forward) extrapolate(z zone.Zone) zone.Federation {
	parts := []zone.Zone{z}
	orders := []zone.Zone{zone.All(z.Clocks())}
	for _, pair := range f.pairs {
		var finer, finerOrders []zone.Zone
		for i, part := range parts {
			for _, order := range f.orders(pair) {
				if both, ok := part.Intersect(order); ok {
					together, _ := orders[i].Intersect(order)
					finer, finerOrders = append(finer, both), append(finerOrders, together)
				}
			}
		}
		parts, orders = finer, finerOrders
	}
	var result zone.Federation
	for i, part := range parts {
		if larger, ok := part.Extrapolate(f.limits).Intersect(orders[i]); ok {
			result = append(result, larger)
		}
	}
	return result
}

// orders returns the zones in which the first clock of a pair is less than, equal to and greater than the second one.
func (f *forward) orders(pair [2]int) []zone.Zone {
	all := zone.All(f.constraint.clocks)
	less, _ := all.And(pair[0], pair[1], zone.Below(0))
	equal, _ := all.And(pair[0], pair[1], zone.AtMost(0))
	equal, _ = equal.And(pair[1], pair[0], zone.AtMost(0))
	greater, _ := all.And(pair[1], pair[0], zone.Below(0))
	return []zone.Zone{less, equal, greater}
}

// expand lets time pass, takes all transitions, and looks for timelocks.
func (f *forward) expand(found locationZone) error {
	l := found.location
	reached := l.afterDelay(found.zone)
	if f.warning == "" {
		for _, violating := range (zone.Federation{found.zone}).Minus(l.invariant) {
			f.warning = f.text(l, violating)
			break
		}
	}
	stuck := reached.Minus(l.live)
	for _, at := range slices.Concat(stuck.Minus(l.beforeDelay), stuck) {
		return &TimelockError{f.text(l, at)}
	}
	l.reached = l.reached.Union(reached)
	f.memory.add(len(reached), 0, 1)
	for _, t := range l.transitions {
		for _, part := range reached {
			at, ok := part.Intersect(t.guard)
			if !ok {
				continue
			}
			if t.branches == nil {
				if err := f.addBranches(t); err != nil {
					return err
				}
			}
			for i := range t.branches {
				f.enter(t.branches[i].to, t.branches[i].after(at))
			}
		}
	}
	return nil
}

// afterDelay returns the states of a location after some time, or none, has passed.
func (l *location) afterDelay(z zone.Zone) zone.Federation {
	var result zone.Federation
	for _, invariant := range l.invariant {
		if start, ok := z.Intersect(invariant.WithLowerBounds()); ok {
			if later, ok := start.Up().Intersect(invariant); ok {
				result = result.Add(later)
			}
		}
	}
	return result.Add(z)
}

// beforeDelayAvoiding returns the states of a location from which the passage of some time, or none, leads to a zone, without any of the bad states
// before or then. The zone has no bad state.
func (l *location) beforeDelayAvoiding(z zone.Zone, bad zone.Federation) zone.Federation {
	var result zone.Federation
	for _, invariant := range l.invariant {
		target, ok := z.Intersect(invariant)
		if !ok {
			continue
		}
		for _, before := range target.DownAvoiding(bad) {
			if allowed, ok := before.Intersect(invariant.WithLowerBounds()); ok {
				result = result.Add(allowed)
			}
		}
	}
	return result.Add(z)
}
