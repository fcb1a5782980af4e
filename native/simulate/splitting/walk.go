package splitting

import (
	"context"
	"fmt"
	"math"
	"slices"

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
	chain   *chain
	monitor *compile.Monitor
	random  compile.Stream
	steps   int64 // the number of steps of all paths
	nondet  bool  // a path has entered a state with several choices
}

// attains reports whether the importance of a node is at least the given one. A node of the target always attains it.
func (w *walker) attains(n int32, importance float64) bool {
	entered := &w.chain.nodes[n]
	return entered.status == reached || entered.status == undecided && entered.importance >= importance
}

// walk draws a path until it attains an importance or fails. It returns the position at which the path attained the importance;
// attained is false if the path failed. If visit is not nil, walk calls it with each node and the time at which the path entered it.
func (w *walker) walk(ctx context.Context, from position, importance float64, visit func(n int32, time float64)) (at position, attained bool, err error) {
	if len(w.chain.nodes) > maxKept {
		if err := w.chain.reset(); err != nil {
			return from, false, err
		}
	}
	n, err := w.chain.number(from.state)
	if err != nil {
		return from, false, err
	}
	for steps, time := int64(0), from.time; ; steps++ {
		if visit != nil {
			visit(n, time)
		}
		if w.attains(n, importance) {
			return position{w.chain.nodes[n].state, time}, true, nil
		}
		if err := w.checkStep(ctx, n, steps); err != nil {
			return from, false, err
		}
		current := &w.chain.nodes[n]
		if current.status != undecided {
			return from, false, nil
		}
		time += w.duration(current)
		isLate := time > w.monitor.High || w.monitor.HighStrict && time == w.monitor.High
		if isLate {
			return from, false, nil
		}
		n = current.successors[w.draw(current)]
	}
}

// draw draws a successor by the probabilities and returns its index.
func (w *walker) draw(current *node) int {
	random := w.random.Unit()
	index, _ := slices.BinarySearchFunc(current.cumulative, random, func(sum, random float64) int {
		if sum > random {
			return 1
		}
		return -1
	})
	return min(index, len(current.successors)-1)
}

// checkStep expands the current node, and returns an error if the path is too long or the context ends.
func (w *walker) checkStep(ctx context.Context, n int32, steps int64) error {
	w.steps++
	if w.steps%1024 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if steps >= w.monitor.MaxPath && math.IsInf(w.monitor.High, 1) {
		return &result.Failure{Class: result.PathLength, Message: fmt.Sprintf("a path was not decided after %d steps: want more with --max-path", steps)}
	}
	if !w.chain.nodes[n].expanded && w.chain.nodes[n].status == undecided {
		if err := w.chain.expand(n); err != nil {
			return err
		}
		w.nondet = w.nondet || w.chain.nodes[n].choices > 1 && !w.chain.continuous
	}
	return nil
}

// duration draws the sojourn time in a node of a CTMC. In other models it is one step.
func (w *walker) duration(current *node) float64 {
	if w.chain.continuous {
		return w.random.Exponential(current.rate)
	}
	return 1
}

// spread returns a function that selects the start of each of n paths, by systematic sampling. The starts are at equal distances in
// the list of positions, after a random offset. In expectation each position is selected equally often, so the estimate is unbiased.
func (w *walker) spread(positions []position, n int) func(i int) position {
	offset := w.random.Unit()
	return func(i int) position {
		fraction := (float64(i) + offset) / float64(n)
		index := int(fraction * float64(len(positions)))
		return positions[min(index, len(positions)-1)] // rounding can make the fraction 1
	}
}

// replicate returns the estimate of one replication: the product of the fractions of paths that attain each level.
func (w *walker) replicate(ctx context.Context, levels []level) (float64, error) {
	starts, estimate := []position{{state: w.chain.initial}}, 1.0
	for _, level := range levels {
		var attained []position
		start := w.spread(starts, level.paths)
		for i := range level.paths {
			at, ok, err := w.walk(ctx, start(i), level.importance, nil)
			if err != nil {
				return 0, err
			}
			if ok {
				attained = append(attained, at)
			}
		}
		if len(attained) == 0 {
			return 0, nil
		}
		estimate *= float64(len(attained)) / float64(level.paths)
		starts = attained
	}
	return estimate, nil
}
