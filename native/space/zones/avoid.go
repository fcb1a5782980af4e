package zones

import (
	"context"

	"tilecheck/internal/zone"
)

// surelyAvoiding returns the greatest set of states from which some scheduler surely avoids bad states until it reaches the target, or for
// ever. The result has the valuations of each location and includes the target.
func (a *automaton) surelyAvoiding(ctx context.Context, target, bad []zone.Federation) ([]zone.Federation, error) {
	result := make([]zone.Federation, len(a.locations))
	waiting := &locationQueue{isWaiting: make([]bool, len(a.locations))}
	for _, l := range a.locations {
		result[l.number] = a.onlyReached(l, a.in(l).all().Minus(bad[l.number]))
		waiting.add(l)
	}
	for len(waiting.locations) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := waiting.next()
		old := result[l.number]
		if len(old) == 0 {
			continue
		}
		kept := a.onlyReached(l, a.avoidsFrom(l, result, target[l.number], bad[l.number]))
		if len(old.Minus(kept)) == 0 {
			continue
		}
		result[l.number] = kept
		for _, in := range l.incoming {
			waiting.add(in.transition.from)
		}
	}
	return result, nil
}

// locationQueue has each waiting location once.
type locationQueue struct {
	locations []*location
	isWaiting []bool // by location
}

// add adds a location at the end, unless it is waiting.
func (queue *locationQueue) add(l *location) {
	if !queue.isWaiting[l.number] {
		queue.isWaiting[l.number] = true
		queue.locations = append(queue.locations, l)
	}
}

// next removes the first location.
func (queue *locationQueue) next() *location {
	first := queue.locations[0]
	queue.locations = queue.locations[1:]
	queue.isWaiting[first.number] = false
	return first
}

// onlyReached leaves out the zones without a reachable state.
func (a *automaton) onlyReached(l *location, f zone.Federation) zone.Federation {
	var result zone.Federation
	for _, z := range f {
		if l.reached.Intersects(z) {
			result = append(result, z)
		}
	}
	return result
}

// avoidsFrom returns the states of a location that avoid bad ones for ever by waiting, or until they are in the target, or until a transition leads to
// avoiding surely.
func (a *automaton) avoidsFrom(l *location, avoiding []zone.Federation, target, bad zone.Federation) zone.Federation {
	var result zone.Federation
	for _, z := range target {
		result = result.Union(l.beforeDelayAvoiding(z, bad))
	}
	result = result.Union(l.waitingForever(bad))
	for _, t := range l.transitions {
		if t.branches == nil {
			continue
		}
		for _, z := range t.leadingInto(avoiding, zone.Federation{t.guard}.Minus(bad)) {
			result = result.Union(l.beforeDelayAvoiding(z, bad))
		}
	}
	return result
}

// leadingInto returns the valuations in from with which all branches of a transition lead into the given states. into has the valuations of
// each location.
func (t *transition) leadingInto(into []zone.Federation, from zone.Federation) zone.Federation {
	for i := range t.branches {
		branch := &t.branches[i]
		var before zone.Federation
		for _, z := range into[branch.to.number] {
			if part, ok := branch.before(z); ok {
				before = before.Add(part)
			}
		}
		from = from.Intersect(before)
	}
	return from
}

// waitingForever returns the states in which time can pass for ever without a bad state.
func (l *location) waitingForever(bad zone.Federation) zone.Federation {
	if len(l.invariant) == 0 {
		return nil
	}
	invariant := l.invariant[0]
	for clock := 1; clock <= invariant.Clocks(); clock++ {
		if invariant.Bound(clock, 0) != zone.Infinite {
			return nil
		}
	}
	result := zone.Federation{invariant.WithLowerBounds()}
	for _, z := range bad {
		result = result.Minus(zone.Federation{z.Down()})
	}
	return result
}
