package splitting

import (
	"context"
	"fmt"
	"math"

	"tilecheck/result"
)

// maxTrials limits the trials of a replication of RESTART. If the importance function misleads, trials multiply at the levels and never reach the target.
const maxTrials = 5_000_000

// trial is a path of RESTART between two events.
type trial struct {
	position position
	level    int // the number of levels that the path has attained and not fallen below
	birth    int // the level at which the trial began; 0 for a path from the initial state
}

// drawRestart draws one replication of RESTART and returns its estimate of the probability. Paths begin in the initial state. A trial that rises to a level
// is split into several trials; all but the first end when they fall below this level. The estimate is unbiased, because each trial that reaches the target
// is weighted with the inverse of the product of all splitting factors.
//
// Source: Villén-Altamirano and Villén-Altamirano, RESTART: a method for accelerating rare event simulations, 1991.
func (walker *walker) drawRestart(ctx context.Context, levels []level) (float64, error) {
	hits, numTrials, open := 0, 0, []trial(nil)
	for range levels[0].paths {
		open = append(open, trial{position: position{state: walker.chain.initialState}})
		for len(open) > 0 {
			current := open[len(open)-1]
			open = open[:len(open)-1]
			if numTrials++; numTrials > maxTrials {
				return 0, &result.Failure{Class: result.NonConverge, Message: fmt.Sprintf("a replication of RESTART has more than %d trials: the importance function does not lead to the target; want --method splitting", maxTrials)}
			}
			isHit, err := walker.drawTrial(ctx, levels, current, &open)
			if err != nil {
				return 0, err
			}
			if isHit {
				hits++
			}
		}
	}
	factors := 1.0
	for i := range levels[1:] {
		factors *= float64(splittingFactor(levels, i+1))
	}
	return float64(hits) / float64(levels[0].paths) / factors, nil
}

// drawTrial draws a trial (a path or a part of one) to its end, and reports whether it reached the target. When the trial rises to a level, drawTrial adds
// further trials that begin there to open. A trial ends when it falls below the level at which it began.
func (walker *walker) drawTrial(ctx context.Context, levels []level, current trial, open *[]trial) (isHit bool, err error) {
	for {
		low := math.Inf(-1)
		if current.level > 0 {
			low = levels[current.level-1].importance
		}
		end, why, err := walker.drawPath(ctx, current.position, low, levels[current.level].importance, nil)
		if err != nil || why == lost {
			return false, err
		}
		current.position = end
		switch {
		case why == fell && current.level == current.birth:
			return false, nil
		case why == fell:
			current.level--
		case current.level == len(levels)-1:
			return true, nil
		default: // the trial rose by one level; if a step attains several levels, the next iteration continues with the next level
			current.level++
			for range splittingFactor(levels, current.level) - 1 {
				*open = append(*open, trial{position: end, level: current.level, birth: current.level})
			}
		}
	}
}

// splittingFactor returns the number of trials into which a trial is split when it attains a level, counted from 1: so many that about one of them attains the next level.
func splittingFactor(levels []level, number int) int {
	return max(1, int(math.Round(1/levels[number].share)))
}
