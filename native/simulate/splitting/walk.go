package splitting

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/result"
)

// position is a place on a path: a state, and the time or the number of steps at which it was entered.
type position struct {
	state []int32
	time  float64
}

// walker draws paths.
type walker struct {
	chain   *chain
	monitor *compile.Monitor
	random  compile.Stream
	steps   int64 // of all paths
	nondet  bool  // a state with several choices was met
}

// attains reports whether a node has an importance, which the target always has.
func (w *walker) attains(n int32, importance float64) bool {
	met := &w.chain.nodes[n]
	return met.status == reached || met.status == undecided && met.importance >= importance
}

// walk draws a path until it attains an importance or fails, and returns where it ends. visit, unless nil, gets each node and the time
// at which it is entered.
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
		if time > w.monitor.High || w.monitor.HighStrict && time >= w.monitor.High {
			return from, false, nil
		}
		n = current.successors[w.draw(current)]
	}
}

// draw draws the index of a successor.
func (w *walker) draw(current *node) int {
	x := w.random.Unit()
	k, _ := slices.BinarySearchFunc(current.cumulative, x, func(sum, x float64) int {
		if sum > x {
			return 1
		}
		return -1
	})
	return min(k, len(current.successors)-1)
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

// duration draws the sojourn time in a node of a CTMC; in other models it is a step.
func (w *walker) duration(current *node) float64 {
	if w.chain.continuous {
		return w.random.Exponential(current.rate)
	}
	return 1
}

// spread returns the start of each of n paths: the positions are taken equally often in expectation, by systematic sampling,
// which keeps the estimate unbiased.
func (w *walker) spread(positions []position, n int) func(i int) position {
	offset := w.random.Unit()
	return func(i int) position {
		return positions[min(int((float64(i)+offset)/float64(n)*float64(len(positions))), len(positions)-1)]
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
