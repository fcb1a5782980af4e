package zones

import (
	"context"
	"slices"

	"tilecheck/internal/zone"
)

// forward finds the reachable locations and zones.
type forward struct {
	*automaton
	extrapolationLimits []int64 // of the clocks by number, for the extrapolation
	clockPairs          [][2]int
	waitingZones        []locationZone
	violationWarning    string // a reachable state that violates an invariant
}

// locationZone is a set of states with the same location.
type locationZone struct {
	location *location
	zone     zone.Zone
}

// explore finds the reachable locations and their zones, from the initial location in which all clocks are 0. The timer of the property can
// start with any value. The error is a *TimelockError if there is a timelock.
func (automaton *automaton) explore(ctx context.Context) (*forward, error) {
	search := &forward{automaton: automaton, extrapolationLimits: append([]int64{0}, automaton.Limits...)}
	if automaton.timerClock > 0 {
		search.extrapolationLimits = append(search.extrapolationLimits, 0)
	}
	for _, pair := range automaton.Pairs {
		search.clockPairs = append(search.clockPairs, [2]int{automaton.clockConstraints.clockOfSlot[pair[0]], automaton.clockConstraints.clockOfSlot[pair[1]]})
	}
	first, err := automaton.initialLocation()
	if err != nil {
		return nil, err
	}
	start := zone.All(automaton.clockConstraints.numClocks) // all clocks of the model are 0
	for clock := 1; clock <= len(automaton.Clocks); clock++ {
		start, _ = start.And(clock, 0, zone.AtMost(0))
	}
	search.addEntryZone(first, start)
	for len(search.waitingZones) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if search.memory.exceedsLimit(0) {
			return nil, search.memory.limitError(len(search.locations), len(search.locations)-len(search.waitingZones))
		}
		next := search.waitingZones[0]
		search.waitingZones = search.waitingZones[1:]
		if err := search.expandZone(next); err != nil {
			return nil, err
		}
	}
	return search, nil
}

// addEntryZone records that a location is entered with the clock valuations of a zone, and queues them to be expanded. It extrapolates the zone first, and
// skips zones that are covered already.
func (search *forward) addEntryZone(location *location, clockZone zone.Zone) {
	for _, extrapolatedZone := range search.extrapolate(clockZone) {
		if isCovered(location.enteredZones, extrapolatedZone) {
			continue
		}
		location.enteredZones = location.enteredZones.Add(extrapolatedZone)
		search.memory.addUse(1, 0, 2)
		search.waitingZones = append(search.waitingZones, locationZone{location, extrapolatedZone})
	}
}

// isCovered reports whether some zone of a federation includes the given zone.
func isCovered(federation zone.Federation, clockZone zone.Zone) bool {
	for _, other := range federation {
		if other.Includes(clockZone) {
			return true
		}
	}
	return false
}

// extrapolate returns zones that together include the given zone. There are only finitely many such zones, so the exploration terminates. It first divides
// the zone by the comparisons of two clocks that the model contains, so that extrapolation does not change their results.
//
// Source: Bengtsson and Yi, On clock difference constraints and termination in reachability analysis of timed
// automata (ICFEM 2003).
func (search *forward) extrapolate(clockZone zone.Zone) zone.Federation {
	orders := []zone.Zone{zone.All(clockZone.Clocks())} // divide clockZone: each order fixes which clock of each pair is greater, or that both are equal
	for _, pair := range search.clockPairs {
		var finer []zone.Zone
		for _, order := range orders {
			finer = append(finer, intersections(clockZone, order, search.orderZones(pair))...)
		}
		orders = finer
	}
	var result zone.Federation
	for _, order := range orders {
		orderedZone, _ := clockZone.Intersect(order)
		if larger, ok := orderedZone.Extrapolate(search.extrapolationLimits).Intersect(order); ok {
			result = append(result, larger)
		}
	}
	return result
}

// intersections returns the intersection of order with each of the given zones. It omits intersections without a valuation of clockZone.
func intersections(clockZone, order zone.Zone, zones []zone.Zone) []zone.Zone {
	var result []zone.Zone
	for _, other := range zones {
		intersection, exists := order.Intersect(other)
		if exists && intersection.Intersects(clockZone) {
			result = append(result, intersection)
		}
	}
	return result
}

// orderZones returns the zones in which the first clock of a pair is less than, equal to and greater than the second one.
func (search *forward) orderZones(pair [2]int) []zone.Zone {
	allValuations := zone.All(search.clockConstraints.numClocks)
	less, _ := allValuations.And(pair[0], pair[1], zone.Below(0))
	equal, _ := allValuations.And(pair[0], pair[1], zone.AtMost(0))
	equal, _ = equal.And(pair[1], pair[0], zone.AtMost(0))
	greater, _ := allValuations.And(pair[1], pair[0], zone.Below(0))
	return []zone.Zone{less, equal, greater}
}

// expandZone adds the states that are reached from an entered zone by the passage of time, and then by the transitions of the location. The error is a
// *TimelockError if time cannot pass forever from such a state and no transition becomes possible.
func (search *forward) expandZone(entered locationZone) error {
	location := entered.location
	reached := location.afterDelay(entered.zone)
	violating := (zone.Federation{entered.zone}).Minus(location.invariant)
	if search.violationWarning == "" && len(violating) > 0 {
		search.violationWarning = search.stateText(location, violating[0])
	}
	// For the message, prefer a state in which no time can pass at all.
	stuck := reached.Minus(location.liveValuations)
	if timelocks := slices.Concat(stuck.Minus(location.beforeDelay), stuck); len(timelocks) > 0 {
		return &TimelockError{search.stateText(location, timelocks[0])}
	}
	location.reachedZones = location.reachedZones.Union(reached)
	search.memory.addUse(len(reached), 0, 1)
	for _, transition := range location.transitions {
		if err := search.takeTransition(transition, reached); err != nil {
			return err
		}
	}
	return nil
}

// takeTransition adds the states that are reached by a transition from the valuations in from. It computes the branches of the transition when it is first
// possible.
func (search *forward) takeTransition(transition *transition, from zone.Federation) error {
	for _, clockZone := range from {
		enabled, exists := clockZone.Intersect(transition.guard)
		if !exists {
			continue
		}
		if transition.branches == nil {
			if err := search.setBranches(transition); err != nil {
				return err
			}
		}
		for i := range transition.branches {
			search.addEntryZone(transition.branches[i].target, transition.branches[i].zoneAfter(enabled))
		}
	}
	return nil
}

// afterDelay returns the given zone and all states of the location that are reached from the zone by the passage of time.
func (location *location) afterDelay(clockZone zone.Zone) zone.Federation {
	var result zone.Federation
	for _, invariant := range location.invariant {
		start, exists := clockZone.Intersect(invariant.WithLowerBounds())
		if !exists {
			continue
		}
		if later, exists := start.Up().Intersect(invariant); exists {
			result = result.Add(later)
		}
	}
	return result.Add(clockZone)
}

// beforeDelayAvoiding returns the given zone, and all states of the location from which the passage of time leads into the zone without a bad state on the
// way. The zone itself must not contain a bad state.
func (location *location) beforeDelayAvoiding(clockZone zone.Zone, badZones zone.Federation) zone.Federation {
	var result zone.Federation
	for _, invariant := range location.invariant {
		target, exists := clockZone.Intersect(invariant)
		if !exists {
			continue
		}
		for _, before := range target.DownAvoiding(badZones) {
			if allowed, exists := before.Intersect(invariant.WithLowerBounds()); exists {
				result = result.Add(allowed)
			}
		}
	}
	return result.Add(clockZone)
}
