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
	// minPaths is the least number of paths that must get ahead; if fewer do, more paths are drawn.
	minPaths = 20
	// minProgress is the least difference between two levels.
	minProgress = 0.5
	// levelShare is the fraction of the paths that should attain the next level. The optimum in theory is e^-2.
	levelShare = 0.2
	// maxLevels limits the number of levels.
	maxLevels = 1000
)

// level is a threshold of importance.
type level struct {
	importance float64
	paths      int     // the number of paths that a replication with fixed effort starts to attain the level
	share      float64 // the share of the pilot run's paths from the level before that attained the level
}

// importanceRecord is a position of a path with a greater importance than all earlier positions.
type importanceRecord struct {
	importance float64
	position   position
}

// chooseLevels returns increasing levels of importance; the last level is the target. The levels are selected so that about the same share of
// the paths from each level reaches the next level.
func (walker *walker) chooseLevels(ctx context.Context) ([]level, error) {
	var levels []level
	importance, startPositions := math.Inf(-1), []position{{state: walker.chain.initialState}}
	for range maxLevels {
		drawn, paths, err := walker.recordPaths(ctx, startPositions, importance)
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("no path of %d reached more than level %d: the importance function does not lead to the target", maxPilotPaths, len(levels))}
		}
		importance = nextLevel(drawn, paths)
		startPositions = firstPositions(paths, importance)
		attained := len(startPositions)
		levels = append(levels, level{importance, pathsForLevel(drawn, attained), float64(attained) / float64(drawn)})
		if math.IsInf(importance, 1) {
			return levels, nil
		}
	}
	return nil, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("the target was not reached in %d levels", maxLevels)}
}

// firstPositions returns, for each path, its first position with at least the given importance. It omits paths without such a position.
func firstPositions(paths [][]importanceRecord, importance float64) []position {
	var positions []position
	for _, path := range paths {
		if k := slices.IndexFunc(path, func(record importanceRecord) bool { return record.importance >= importance }); k >= 0 {
			positions = append(positions, path[k].position)
		}
	}
	return positions
}

// pathsForLevel returns the number of paths that a replication starts at a level, so about expectedHits paths attain the level.
// In the pilot run, attained of the drawn paths attained the level.
func pathsForLevel(drawn, attained int) int {
	const minPaths, maxPaths, expectedHits = 500, 100_000, 100
	return min(max(minPaths, expectedHits*drawn/attained), maxPaths)
}

// nextLevel returns the importance that a share levelShare of the drawn paths attains, as the next level. drawn is the number of these paths; paths contains
// those that rose above the last level, each as a list of positions with increasing importance. If too few paths rose, it returns the importance that all of
// them attain.
func nextLevel(drawn int, paths [][]importanceRecord) float64 {
	var greatest []float64
	for _, path := range paths {
		greatest = append(greatest, path[len(path)-1].importance)
	}
	slices.Sort(greatest)
	return greatest[max(len(greatest)-int(levelShare*float64(drawn)), 0)]
}

// recordPaths draws paths from the positions in starts. It returns their number, and for each path that rises above level the positions of its record
// importances. If too few paths rise above level, it discards all of them and draws four times as many.
func (walker *walker) recordPaths(ctx context.Context, starts []position, level float64) (drawn int, paths [][]importanceRecord, err error) {
	minImportance := max(level, walker.chain.nodes[0].importance) + minProgress
	for count := pilotPaths; count <= maxPilotPaths && len(paths) < minPaths; count *= 4 {
		drawn, paths = count, nil
		start := walker.systematicStarts(starts, count)
		for i := range count {
			path, err := walker.recordPath(ctx, start(i), minImportance)
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

// recordPath draws a path until it reaches the target or fails. It returns each position at which the importance is greater than at all earlier positions
// and at least minImportance.
func (walker *walker) recordPath(ctx context.Context, from position, minImportance float64) ([]importanceRecord, error) {
	var records []importanceRecord
	greatest := minImportance
	_, _, err := walker.drawPath(ctx, from, math.Inf(-1), math.Inf(1), func(nodeNumber int32, time float64) {
		enteredNode := &walker.chain.nodes[nodeNumber]
		importance := enteredNode.importance
		if enteredNode.status == reached { // targets count as states of infinite importance
			importance = math.Inf(1)
		}
		isRecord := importance > greatest || len(records) == 0 && importance == greatest
		if enteredNode.status != failed && isRecord {
			greatest = importance
			records = append(records, importanceRecord{importance, position{enteredNode.state, time}})
		}
	})
	return records, err
}
