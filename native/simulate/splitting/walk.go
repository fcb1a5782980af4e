package splitting

import (
	"context"
	"fmt"
	"math"

	"tilecheck/prism/compile"
	"tilecheck/result"
)

// position is a position on a path: a state, and the time at which the path entered it. In discrete time, it is the number of steps.
type position struct {
	state []int32
	time  float64
}

// walker draws paths.
type walker struct {
	chain      *chain
	monitor    *compile.Monitor
	random     compile.Stream
	steps      int64 // the number of steps of all paths
	hasChoices bool  // a path has entered a state with several choices
}

// attains reports whether a node has at least the given importance. A target node has every importance.
func (walker *walker) attains(n int32, importance float64) bool {
	enteredNode := &walker.chain.nodes[n]
	return enteredNode.status == reached || enteredNode.status == undecided && enteredNode.importance >= importance
}

// outcome is the reason why a path ended.
type outcome uint8

const (
	lost     outcome = iota // the path can no longer satisfy the formula
	attained                // it entered a state with enough importance
	fell                    // it entered a state with too little importance
)

// drawPath draws a path until it enters a state with an importance of at least high or below low, or until it fails. end is the position of this state, and
// why says which of these happened. If visit is not nil, drawPath calls it for each node on the path, with the time of entry.
func (walker *walker) drawPath(ctx context.Context, from position, low, high float64, visit func(number int32, time float64)) (end position, why outcome, err error) {
	if len(walker.chain.nodes) > maxStoredStates {
		if err := walker.chain.reset(); err != nil {
			return from, lost, err
		}
	}
	nodeNumber, err := walker.chain.nodeNumber(from.state)
	if err != nil {
		return from, lost, err
	}
	for steps, time := int64(0), from.time; ; steps++ {
		if visit != nil {
			visit(nodeNumber, time)
		}
		if walker.attains(nodeNumber, high) {
			return position{walker.chain.nodes[nodeNumber].state, time}, attained, nil
		}
		if err := walker.beginStep(ctx, nodeNumber, steps); err != nil {
			return from, lost, err
		}
		current := &walker.chain.nodes[nodeNumber]
		switch {
		case current.status != undecided:
			return from, lost, nil
		case current.importance < low:
			return position{current.state, time}, fell, nil
		}
		time += walker.stepDuration(current)
		isLate := time > walker.monitor.High || walker.monitor.IsHighStrict && time == walker.monitor.High
		if isLate {
			return from, lost, nil
		}
		if nodeNumber, err = walker.chain.drawSuccessor(nodeNumber, &walker.random); err != nil {
			return from, lost, err
		}
	}
}

// beginStep counts a step and expands the node in which the step begins, unless the node is already expanded. steps is the number of earlier steps of
// the path. It returns an error if the path is too long.
func (walker *walker) beginStep(ctx context.Context, nodeNumber int32, steps int64) error {
	walker.steps++
	if walker.steps%1024 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if steps >= walker.monitor.MaxPath && math.IsInf(walker.monitor.High, 1) {
		return &result.Failure{Class: result.PathLength, Message: fmt.Sprintf("a path was not decided after %d steps: want more with --max-path", steps)}
	}
	if !walker.chain.nodes[nodeNumber].isExpanded && walker.chain.nodes[nodeNumber].status == undecided {
		if err := walker.chain.expandNode(nodeNumber); err != nil {
			return err
		}
		walker.hasChoices = walker.hasChoices || walker.chain.nodes[nodeNumber].numChoices > 1 && !walker.chain.isContinuous
	}
	return nil
}

// stepDuration draws the sojourn time in a node of a CTMC. In other models it is one step.
func (walker *walker) stepDuration(current *node) float64 {
	if walker.chain.isContinuous {
		return walker.random.Exponential(current.exitRate)
	}
	return 1
}

// systematicStarts returns a function that gives the start position of each of n paths, by systematic sampling: path i begins near the fraction i/n of the
// list of positions, with one random offset for all paths. Each path has each position with the same probability, so the estimate is unbiased.
func (walker *walker) systematicStarts(positions []position, n int) func(i int) position {
	offset := walker.random.Unit()
	return func(i int) position {
		fraction := (float64(i) + offset) / float64(n)
		index := int(fraction * float64(len(positions)))
		return positions[min(index, len(positions)-1)] // rounding can make the fraction 1
	}
}

// drawFixedEffort draws one replication with fixed effort and returns its estimate of the probability: the product, over all levels, of the fraction of
// paths that reach the level.
func (walker *walker) drawFixedEffort(ctx context.Context, levels []level) (float64, error) {
	starts, estimate := []position{{state: walker.chain.initialState}}, 1.0
	for i := range levels {
		attainedPositions, err := walker.attainLevel(ctx, starts, &levels[i])
		if err != nil || len(attainedPositions) == 0 {
			return 0, err
		}
		estimate *= float64(len(attainedPositions)) / float64(levels[i].paths)
		starts = attainedPositions
	}
	return estimate, nil
}

// attainLevel draws paths that begin at the positions in starts. It returns the positions at which paths attained the level.
func (walker *walker) attainLevel(ctx context.Context, starts []position, level *level) ([]position, error) {
	var positions []position
	start := walker.systematicStarts(starts, level.paths)
	for i := range level.paths {
		end, why, err := walker.drawPath(ctx, start(i), math.Inf(-1), level.importance, nil)
		if err != nil {
			return nil, err
		}
		if why == attained {
			positions = append(positions, end)
		}
	}
	return positions, nil
}
