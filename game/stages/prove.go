package stages

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"runtime"
	"slices"

	"tilecheck/game"
)

// Options are options of Prove. The bound does not depend on them.
type Options struct {
	Workers  int             // goroutines; 0 means one for each processor
	Memory   int64           // bytes that a stage may need; 0 means no limit
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

// Prove computes the values of all stages, from the last one to the first. The error is that of ctx, or names a stage that is too large.
func Prove(ctx context.Context, plan *Plan, options Options) (*Proof, error) {
	sizes := plan.layerSizes()
	if err := plan.checkSize(sizes, options.Memory); err != nil {
		return nil, err
	}
	moves, err := newMoves(plan.Shape)
	if err != nil {
		return nil, err
	}
	s := &solver{
		Plan: plan, moves: moves, ctx: ctx, workers: cmp.Or(options.Workers, runtime.GOMAXPROCS(0)),
		stages: make([]*stageValues, len(plan.Stages)), lowers: map[int]*halves{},
		buffers: new(buffers),
	}
	for stage := len(plan.Stages) - 1; stage >= 0; stage-- {
		if err := s.solve(stage, plan.greatestAfterMove(stage)); err != nil {
			return nil, err
		}
		s.release(stage)
		if options.Progress != nil {
			options.Progress(len(plan.Stages) - stage)
		}
	}
	boards := int64(0)
	for _, layers := range sizes {
		for _, size := range layers {
			boards += size
		}
	}
	return &Proof{Plan: plan, Bound: s.startValue(), Boards: boards}, nil
}

// release drops the values of the stages that no stage before this one leads to, except those of the first stage.
func (s *solver) release(stage int) {
	for later := max(1, stage); later < min(stage+1+lookAhead, len(s.stages)); later++ {
		if s.firstSource(later) == stage {
			s.stages[later] = nil
		}
	}
}

// sources yields the earlier stages that lead to a stage, in ascending order.
func (p *Plan) sources(stage int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for earlier := max(0, stage-lookAhead); earlier < stage; earlier++ {
			if p.leads(earlier, stage) && !yield(earlier) {
				return
			}
		}
	}
}

// leads reports whether a stage leads to a later one. A stage with the same locked tiles as the one before it is entered from that one only.
func (p *Plan) leads(stage, later int) bool {
	next := &p.Stages[later]
	return (later == stage+1 || !next.sameLocked(&p.Stages[later-1])) && p.Stages[stage].leadsTo(next)
}

// firstSource returns the first stage that leads to a stage, or the stage itself if none does.
func (p *Plan) firstSource(stage int) int {
	for source := range p.sources(stage) {
		return source
	}
	return stage
}

// greatestAfterMove returns the greatest layer of the afterstates by which the game enters a stage: a move of another stage, or the first tile.
func (p *Plan) greatestAfterMove(stage int) (layer int) {
	layer = halfValue(2) // the first tile is at most a 4
	for source := range p.sources(stage) {
		layer = max(layer, p.Stages[source].lockedSum()+p.Stages[source].Sum/2-p.Stages[stage].lockedSum())
	}
	return min(layer, p.Stages[stage].Sum/2)
}

// startValue returns the value of the game: the mean over the first two tiles, rounded down.
func (s *solver) startValue() uint32 {
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

// layerSizes returns the number of boards of each layer of each stage.
func (p *Plan) layerSizes() (sizes [][]int64) {
	for i := range p.Stages {
		sizes = append(sizes, p.Stages[i].layerSizes(p.Shape))
	}
	return sizes
}

// checkSize returns an error if a stage needs more memory than the limit, or has a layer with more boards than 32 bits can number. sizes are those of
// layerSizes. A limit of 0 means no limit.
func (p *Plan) checkSize(sizes [][]int64, limit int64) error {
	for i := range p.Stages {
		if size := slices.Max(sizes[i]); size > math.MaxUint32 {
			return fmt.Errorf("stage %d has %d boards with the same sum, and fewer than 2^32 boards can be numbered: want smaller units or less slack", i+1, size)
		}
		if needed := p.memoryOf(i, sizes); limit > 0 && needed > limit {
			return fmt.Errorf("stage %d needs about %d MB of memory, and the limit is %d MB: want smaller units or less slack", i+1, needed>>20, limit>>20)
		}
	}
	return nil
}

// The memory of the tables, in bytes.
const (
	boardBytes = 4     // a value, or a mean
	halfBytes  = 200   // a half with its successors
	keptBytes  = 1.125 // a board of a layer whose means are kept: a bit, and a mean for about a quarter of the boards, those after a move
)

// memoryOf returns about how many bytes the solution of a stage needs: values and means of a layer, the values of the next two layers, the kept means of this
// and of later stages, and the halves.
func (p *Plan) memoryOf(stage int, sizes [][]int64) int64 {
	greatest, layers := int64(0), sizes[stage]
	for layer, size := range layers {
		needed := 2 * size
		for _, next := range layers[layer+1 : min(layer+3, len(layers))] {
			needed += next
		}
		greatest = max(greatest, needed)
	}
	kept := int64(0)
	for later := stage; later < min(stage+1+lookAhead, len(p.Stages)); later++ {
		if p.firstSource(later) > stage {
			continue
		}
		for _, size := range sizes[later][:p.greatestAfterMove(later)+1] {
			kept += size
		}
	}
	halves := math.Pow(float64(p.Stages[stage].Small), float64(2*p.Shape.Cols)) // upper ones, or lower ones
	return boardBytes*greatest + int64(keptBytes*float64(kept)+2*halfBytes*halves)
}

// layerSizes returns the number of boards of each layer: placements of the locked tiles, times arrangements of small tiles on the other cells.
func (s *Stage) layerSizes(shape game.Shape) []int64 {
	inRow := func(tiles int) int64 { return new(big.Int).Binomial(int64(shape.Cols), int64(tiles)).Int64() }
	upperPlacements := int64(len(s.Columns))
	if s.Columns == nil {
		upperPlacements = inRow(s.Upper)
	}
	sizes := make([]int64, s.Sum/2+1)
	sizes[0] = upperPlacements * inRow(len(s.Locked)-s.Upper)
	for range shape.Cells() - len(s.Locked) {
		for layer := len(sizes) - 1; layer >= 0; layer-- {
			for exponent := 1; exponent < s.Small && halfValue(exponent) <= layer; exponent++ {
				sizes[layer] += sizes[layer-halfValue(exponent)]
			}
		}
	}
	return sizes
}
