package zones

import (
	"context"

	"tilecheck/internal/zone"
)

// surelyAvoiding returns the states from which some scheduler avoids the bad states on every path, until the path reaches the target or forever. The
// result has the valuations of each location, and includes the target. It is the greatest fixed point of avoidingZones.
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

// zonesWithReached returns the zones of a federation that contain a reachable state of the location.
func (automaton *automaton) zonesWithReached(location *location, federation zone.Federation) zone.Federation {
	var result zone.Federation
	for _, clockZone := range federation {
		if location.reachedZones.Intersects(clockZone) {
			result = append(result, clockZone)
		}
	}
	return result
}

// avoidingZones returns the states of a location that can avoid bad states: they can wait for ever, or wait until the target, or wait until a
// transition whose branches all lead to avoiding states. avoiding has the avoiding states of each location.
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

// valuationsLeadingInto returns the valuations in from for which every branch of the transition leads into the target valuations. targets
// has the target valuations of each location.
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

// waitingForever returns the clock valuations of a location from which time can pass for ever without a bad state.
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
