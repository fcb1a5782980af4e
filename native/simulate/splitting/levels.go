package splitting

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/result"
)

const (
	// pilotPaths is the number of paths that the pilot run starts at each level.
	pilotPaths = 1000
	// maxPilotPaths is the number of paths after which the pilot run stops searching for a next level.
	maxPilotPaths = 64 * pilotPaths
	// leastPaths is the least number of paths that must get ahead; if fewer do, more paths are drawn.
	leastPaths = 20
	// leastProgress is the least difference between two levels.
	leastProgress = 0.5
	// share is the fraction of the paths that should attain the next level. The optimum in theory is e^-2.
	share = 0.2
	// maxLevels limits the number of levels.
	maxLevels = 1000
)

// level is a threshold of importance.
type level struct {
	importance float64
	paths      int // the number of paths that a replication starts to attain the level
}

// record is the position at which a path first attained an importance.
type record struct {
	importance float64
	at         position
}

// chooseLevels returns increasing levels of importance. The last level is the target. It chooses each level so that about the same share
// of the paths from the level before attains it.
func (w *walker) chooseLevels(ctx context.Context) ([]level, error) {
	var levels []level
	importance, starts := math.Inf(-1), []position{{state: w.chain.initial}}
	for range maxLevels {
		drawn, paths, err := w.recordPaths(ctx, starts, importance)
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("no path of %d reached more than level %d: the importance function does not lead to the target", maxPilotPaths, len(levels))}
		}
		importance, starts = nextLevel(drawn, paths), starts[:0]
		for _, path := range paths {
			if k := slices.IndexFunc(path, func(r record) bool { return r.importance >= importance }); k >= 0 {
				starts = append(starts, path[k].at)
			}
		}
		levels = append(levels, level{importance, effort(drawn, len(starts))})
		if math.IsInf(importance, 1) {
			return levels, nil
		}
	}
	return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("the target was not reached in %d levels", maxLevels)}
}

// effort returns the number of paths that a replication starts, so that about expectedHits of them attain a level. drawn and attained
// are the numbers of paths in the pilot run that were drawn and that attained the level. Their quotient can be small although levels
// are chosen for a fixed share, because there may be no state between two levels.
func effort(drawn, attained int) int {
	const least, most, expectedHits = 500, 100_000, 100
	return min(max(least, expectedHits*drawn/attained), most)
}

// nextLevel returns the importance that the given share of the drawn paths attains. If fewer paths got ahead, it returns the least importance that
// all of them attained. paths has the records of the paths that got ahead.
func nextLevel(drawn int, paths [][]record) float64 {
	var greatest []float64
	for _, path := range paths {
		greatest = append(greatest, path[len(path)-1].importance)
	}
	slices.Sort(greatest)
	return greatest[max(len(greatest)-int(share*float64(drawn)), 0)]
}

// recordPaths draws paths from the starts, and returns their number and the records of the paths that got ahead: they attained a
// sufficiently greater importance than the level. If too few paths got ahead, it draws more.
func (w *walker) recordPaths(ctx context.Context, starts []position, level float64) (drawn int, paths [][]record, err error) {
	for n := pilotPaths; n <= maxPilotPaths && len(paths) < leastPaths; n *= 4 {
		drawn, paths = n, nil
		start := w.spread(starts, n)
		for i := range n {
			least := max(level, w.chain.nodes[0].importance) + leastProgress
			path, err := w.recordPath(ctx, start(i), least)
			if err != nil {
				return 0, nil, err
			}
			if len(path) > 0 {
				paths = append(paths, path)
			}
		}
	}
	return drawn, paths, nil
}

// recordPath draws a path from a position until it reaches the target or fails. It returns the records of increasing importance, of
// at least the given importance. The target has infinite importance.
func (w *walker) recordPath(ctx context.Context, from position, least float64) ([]record, error) {
	var records []record
	greatest := least
	_, _, err := w.walk(ctx, from, math.Inf(1), func(n int32, time float64) {
		entered := &w.chain.nodes[n]
		importance := entered.importance
		if entered.status == reached {
			importance = math.Inf(1)
		}
		isRecord := importance > greatest || len(records) == 0 && importance == greatest
		if entered.status != failed && isRecord {
			greatest = importance
			records = append(records, record{importance, position{entered.state, time}})
		}
	})
	return records, err
}
