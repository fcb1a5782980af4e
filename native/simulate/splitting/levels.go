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
	// share is the fraction of the paths that shall attain the next level; e^-2 is the best one in theory.
	share = 0.2
	// maxLevels limits the number of levels.
	maxLevels = 1000
)

// record is where a path attained its importance.
type record struct {
	importance float64
	at         position
}

// chooseLevels returns increasing levels of importance, of which the last one is the target. They are chosen so that about the
// same share of paths attains each of them.
func (w *walker) chooseLevels(ctx context.Context) ([]float64, error) {
	var levels []float64
	level, starts := math.Inf(-1), []position{{}}
	for range maxLevels {
		paths, err := w.recordPaths(ctx, starts, level)
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("no path of %d reached more than level %d: the importance function does not lead to the target", maxPilotPaths, len(levels))}
		}
		level = nextLevel(paths)
		levels = append(levels, level)
		if math.IsInf(level, 1) {
			return levels, nil
		}
		starts = starts[:0]
		for _, path := range paths {
			if k := slices.IndexFunc(path, func(r record) bool { return r.importance >= level }); k >= 0 {
				starts = append(starts, path[k].at)
			}
		}
	}
	return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("the target was not reached in %d levels", maxLevels)}
}

// nextLevel returns the importance that a share of the paths of the pilot run attains, or the least one if fewer get ahead.
func nextLevel(paths [][]record) float64 {
	var greatest []float64
	for _, path := range paths {
		greatest = append(greatest, path[len(path)-1].importance)
	}
	slices.Sort(greatest)
	return greatest[max(len(greatest)-int(share*pilotPaths), 0)]
}

// recordPaths draws paths and returns, for each one that attains more than a level, the records of its importance. It draws
// more paths as long as none does.
func (w *walker) recordPaths(ctx context.Context, starts []position, level float64) (paths [][]record, err error) {
	for n := pilotPaths; n <= maxPilotPaths && len(paths) == 0; n *= 4 {
		start := w.spread(starts, n)
		for i := range n {
			greatest := level
			if math.IsInf(level, -1) { // the initial state is no progress
				greatest = w.chain.nodes[0].importance
			}
			var path []record
			_, _, err := w.walk(ctx, start(i), math.Inf(1), func(at position) {
				met := &w.chain.nodes[at.node]
				importance := met.importance
				if met.status == reached {
					importance = math.Inf(1)
				}
				if met.status != failed && importance > greatest {
					greatest = importance
					path = append(path, record{importance, at})
				}
			})
			if err != nil {
				return nil, err
			}
			if len(path) > 0 {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}
