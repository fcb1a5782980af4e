package zones

import (
	"context"

	"tilecheck/internal/zone"
)

// surelyAvoiding returns, for each location, the clock valuations from which some scheduler surely avoids the bad states, until the target is reached or
// forever. The result includes the target. It is the greatest fixed point of avoidingZones: the search begins with all valuations that are not bad, and
// removes others until nothing changes.
func (automaton *automaton) surelyAvoiding(ctx context.Context, target, badZones []zone.Federation) ([]zone.Federation, error) {
	result := make([]zone.Federation, len(automaton.locations))
	waiting := &locationQueue{isWaiting: make([]bool, len(automaton.locations))}
	for _, location := range automaton.locations {
		result[location.number] = automaton.zonesWithReached(location, automaton.constraintsIn(location).allValuations().Minus(badZones[location.number]))
		waiting.addLocation(location)
	}
	for len(waiting.locations) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		location := waiting.takeFirst()
		old := result[location.number]
		if len(old) == 0 {
			continue
		}
		avoiding := automaton.zonesWithReached(location, automaton.avoidingZones(location, result, target[location.number], badZones[location.number]))
		isUnchanged := len(old.Minus(avoiding)) == 0
		if isUnchanged {
			continue
		}
		result[location.number] = avoiding
		for _, incoming := range location.incoming {
			waiting.addLocation(incoming.transition.source)
		}
	}
	return result, nil
}

// locationQueue has each waiting location once.
type locationQueue struct {
	locations []*location
	isWaiting []bool // by location
}

// addLocation adds a location at the end, unless it is waiting.
func (queue *locationQueue) addLocation(location *location) {
	if !queue.isWaiting[location.number] {
		queue.isWaiting[location.number] = true
		queue.locations = append(queue.locations, location)
	}
}

// takeFirst removes the first location.
func (queue *locationQueue) takeFirst() *location {
	first := queue.locations[0]
	queue.locations = queue.locations[1:]
	queue.isWaiting[first.number] = false
	return first
}

// zonesWithReached returns those zones of a federation that contain a reachable state of the location. Other zones do not matter for the property.
func (automaton *automaton) zonesWithReached(location *location, federation zone.Federation) zone.Federation {
	var result zone.Federation
	for _, clockZone := range federation {
		if location.reachedZones.Intersects(clockZone) {
			result = append(result, clockZone)
		}
	}
	return result
}

// avoidingZones returns the clock valuations of a location from which bad states can be avoided in one step: time passes forever, or until the target is
// reached, or until a transition is taken whose branches all lead to avoiding states. avoiding has the valuations of the avoiding states of each location.
func (automaton *automaton) avoidingZones(location *location, avoiding []zone.Federation, target, badZones zone.Federation) zone.Federation {
	var result zone.Federation
	for _, clockZone := range target {
		result = result.Union(location.beforeDelayAvoiding(clockZone, badZones))
	}
	result = result.Union(location.waitingForever(badZones))
	for _, transition := range location.transitions {
		if transition.branches == nil {
			continue
		}
		for _, clockZone := range transition.valuationsLeadingInto(avoiding, zone.Federation{transition.guard}.Minus(badZones)) {
			result = result.Union(location.beforeDelayAvoiding(clockZone, badZones))
		}
	}
	return result
}

// valuationsLeadingInto returns the valuations in from for which every branch of the transition leads into targets, which has a set of valuations for each
// location.
func (transition *transition) valuationsLeadingInto(targets []zone.Federation, from zone.Federation) zone.Federation {
	for i := range transition.branches {
		branch := &transition.branches[i]
		var before zone.Federation
		for _, clockZone := range targets[branch.target.number] {
			if valuations, ok := branch.zoneBefore(clockZone); ok {
				before = before.Add(valuations)
			}
		}
		from = from.Intersect(before)
	}
	return from
}

// waitingForever returns the clock valuations of a location from which time can pass forever without entering a bad state. There are none if the invariant
// has an upper bound of a clock.
func (location *location) waitingForever(badZones zone.Federation) zone.Federation {
	if len(location.invariant) == 0 {
		return nil
	}
	invariant := location.invariant[0]
	for clock := 1; clock <= invariant.Clocks(); clock++ {
		if invariant.Bound(clock, 0) != zone.Infinite {
			return nil
		}
	}
	result := zone.Federation{invariant.WithLowerBounds()}
	for _, clockZone := range badZones {
		result = result.Minus(zone.Federation{clockZone.Down()})
	}
	return result
}
