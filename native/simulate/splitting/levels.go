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
	// maxPilotPaths is the number of paths after which the pilot run gives a level up.
	maxPilotPaths = 64 * pilotPaths
	// leastPaths is the number of paths that attain a level without which more are drawn.
	leastPaths = 20
	// leastProgress is the least difference between two levels.
	leastProgress = 0.5
	// share is the fraction of the paths that shall attain the next level; e^-2 is the best one in theory.
	share = 0.2
	// maxLevels limits the number of levels.
	maxLevels = 1000
)

// level is a threshold of importance.
type level struct {
	importance float64
	paths      int // that a replication starts to attain it
}

// record is where a path attained its importance.
type record struct {
	importance float64
	at         position
}

// chooseLevels returns increasing levels of importance, of which the last one is the target. They are chosen so that about the
// same share of paths attains each of them.
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

// effort returns the number of paths of which about wantedHits attain a level, if some of the paths that were drawn do. The
// share is small where no state lies between, such as the failures of components that are repaired fast.
func effort(drawn, attained int) int {
	const least, most, wantedHits = 500, 100_000, 100
	return min(max(least, wantedHits*drawn/attained), most)
}

// nextLevel returns the importance that a share of the paths of the pilot run attains, or the least one if fewer get ahead.
func nextLevel(drawn int, paths [][]record) float64 {
	var greatest []float64
	for _, path := range paths {
		greatest = append(greatest, path[len(path)-1].importance)
	}
	slices.Sort(greatest)
	return greatest[max(len(greatest)-int(share*float64(drawn)), 0)]
}

// recordPaths draws paths and returns, for each one that attains more than a level, the records of its importance. It draws
// more paths as long as few do.
func (w *walker) recordPaths(ctx context.Context, starts []position, level float64) (drawn int, paths [][]record, err error) {
	for n := pilotPaths; n <= maxPilotPaths && len(paths) < leastPaths; n *= 4 {
		drawn, paths = n, nil
		start := w.spread(starts, n)
		for i := range n {
			greatest := max(level, w.chain.nodes[0].importance) + leastProgress
			var path []record
			_, _, err := w.walk(ctx, start(i), math.Inf(1), func(n int32, time float64) {
				met := &w.chain.nodes[n]
				importance := met.importance
				if met.status == reached {
					importance = math.Inf(1)
				}
				if met.status != failed && importance >= greatest && (len(path) == 0 || importance > greatest) {
					greatest = importance
					path = append(path, record{importance, position{met.state, time}})
				}
			})
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
