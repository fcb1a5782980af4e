package stages

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/game"
)

// Options are options of Prove. The bound does not depend on them.
type Options struct {
	Workers  int             // goroutines; 0 means one for each processor
	Progress func(stage int) // called after each stage, with the number of stages that are finished; may be nil
}

// Proof is a lower bound of the probability that optimal play makes the winning tile of a plan.
type Proof struct {
	*Plan
	Bound  uint32 // in units of 1/Scale
	Boards int64  // boards with values, in all stages
}

// Probability returns the bound as a fraction.
func (p *Proof) Probability() *big.Rat { return big.NewRat(int64(p.Bound), Scale) }

// Float64 returns the bound, without rounding.
func (p *Proof) Float64() float64 { return float64(p.Bound) / Scale }

// Prove computes the values of all stages, from the last one to the first. The error is an error of ctx, or names a layer that is too large.
func Prove(ctx context.Context, plan *Plan, options Options) (*Proof, error) {
	if err := plan.checkLayers(); err != nil {
		return nil, err
	}
	s := &solver{
		Plan: plan, moves: newMoves(plan.Shape), ctx: ctx, workers: options.Workers,
		stages: make([]*stageValues, len(plan.Stages)), lowers: map[int]*rankedHalves{},
	}
	for stage := len(plan.Stages) - 1; stage >= 0; stage-- {
		if err := s.solve(stage, plan.greatestEntry(stage)); err != nil {
			return nil, err
		}
		if unneeded := stage + lookAhead; unneeded < len(s.stages) {
			s.stages[unneeded] = nil
		}
		if options.Progress != nil {
			options.Progress(len(plan.Stages) - stage)
		}
	}
	return &Proof{Plan: plan, Bound: s.firstTiles(), Boards: plan.boards()}, nil
}

// greatestEntry returns the greatest layer of a stage whose values another stage, or the start of the game, can use.
func (p *Plan) greatestEntry(stage int) (layer int) {
	layer = 2 * halfValue(2) // the first two tiles
	for earlier := max(0, stage-lookAhead); earlier < stage; earlier++ {
		all := p.Stages[earlier].lockedSum() + p.Stages[earlier].Sum/2
		layer = max(layer, all-p.Stages[stage].lockedSum()+halfValue(2))
	}
	return min(layer, p.Stages[stage].Sum/2)
}

// firstTiles returns the mean value over the first two tiles.
func (s *solver) firstTiles() uint32 {
	sum, cells := uint64(0), uint64(0)
	first := s.stages[0]
	for row := range s.shape.Rows {
		for col := range s.shape.Cols {
			for exponent, weight := range [...]uint64{1: game.FourOdds - 1, 2: 1} {
				if upper, lower, layer, ok := first.find(grid(exponent) << (16*row + 4*col)); ok {
					sum += weight * uint64(first.mean(upper, lower, layer))
				}
			}
			cells++
		}
	}
	return uint32(sum / (game.FourOdds * cells))
}

// boards returns the number of boards of all stages.
func (p *Plan) boards() (total int64) {
	for i := range p.Stages {
		for _, size := range p.Stages[i].layerSizes(p.Shape) {
			total += size
		}
	}
	return total
}

// checkLayers returns an error if a layer has more boards than 32 bits can number.
func (p *Plan) checkLayers() error {
	for i := range p.Stages {
		for layer, size := range p.Stages[i].layerSizes(p.Shape) {
			if size > maxLayer {
				return fmt.Errorf("stage %d has %d boards whose small tiles have the sum %d, want at most %d: smaller units or less slack", i, size, 2*layer, maxLayer)
			}
		}
	}
	return nil
}

// maxLayer is the greatest number of boards in a layer.
const maxLayer = 1<<32 - 1

// layerSizes returns the number of boards of each layer.
func (s *Stage) layerSizes(shape game.Shape) []int64 {
	placements := len(s.Columns)
	if s.Columns == nil {
		placements = binomial(shape.Cols, s.Upper)
	}
	placements *= binomial(shape.Cols, len(s.Locked)-s.Upper)
	sizes := make([]int64, s.Sum/2+1)
	sizes[0] = int64(placements)
	for range shape.Cells() - len(s.Locked) {
		for layer := len(sizes) - 1; layer >= 0; layer-- {
			for exponent := 1; exponent < s.Small && halfValue(exponent) <= layer; exponent++ {
				sizes[layer] += sizes[layer-halfValue(exponent)]
			}
		}
	}
	return sizes
}

// binomial returns the number of subsets with k of n elements.
func binomial(n, k int) int {
	result := 1
	for i := range k {
		result = result * (n - i) / (i + 1)
	}
	return result
}
