package induced

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// forward is one pass of a survey. It passes visiting probabilities from each layer of equal sums of tiles to the layers above.
type forward struct {
	*survey
	result    *Part
	maxStates int                       // largest number of states
	lastPass  []layer                   // layers of an earlier pass, whose decisions are reused
	pending   map[int][]*table[float64] // visiting probabilities of boards in layers to come, by half of the sum and memory
}

// visit is a board with its visiting probability.
type visit struct {
	board       game.Board
	probability float64
}

// decision is what a strategy does on some boards: moves with their probabilities.
type decision []weightedMove

type weightedMove struct {
	dir    game.Dir
	memory int
	prob   float64 // approximate, used for the cutoff only
	lo, hi Fixed   // the probability rounded down and up
}

// run makes the pass: it computes the visiting probabilities of the boards, layer by layer with growing sums of tiles. It reports whether the pass
// was completed within the limits of states and time.
func (f *forward) run(ctx context.Context) (bool, error) {
	f.spawnEach(0, 1, func(firstBoard game.Board, probability float64) {
		if !firstBoard.AtLeast(f.opt.Max) {
			f.spawnEach(firstBoard, probability, func(board game.Board, probability float64) { f.addVisit(board, 0, probability) })
		}
	})
	for half := 0; len(f.pending) > 0; half++ {
		nextTables := f.pending[half]
		delete(f.pending, half)
		current, visits := make(layer, f.strategy.Memory()), make([][]visit, f.strategy.Memory())
		for memory := range nextTables {
			visits[memory] = f.boardsAboveCutoff(nextTables[memory])
			f.result.states += len(visits[memory])
		}
		if f.result.states > f.maxStates {
			return false, nil
		}
		for memory := range visits {
			completed, err := f.fillLayer(ctx, half, memory, visits[memory], &current[memory])
			if err != nil || !completed {
				return false, err
			}
		}
		f.result.layers = append(f.result.layers, current)
		if f.opt.Progress != nil {
			f.opt.Progress(PartProgress{Pass: f.passes, States: f.result.states, Limit: f.maxStates})
		}
		if completed, err := f.addSuccessors(ctx, current, visits); err != nil || !completed {
			return false, err
		}
	}
	return true, nil
}

// boardsAboveCutoff returns the boards of a table whose visiting probability is at least the cutoff, in ascending order. A nil table has none.
func (f *forward) boardsAboveCutoff(probabilities *table[float64]) []visit {
	if probabilities == nil {
		return nil
	}
	var visits []visit
	for _, slot := range probabilities.slots {
		if slot.board != 0 && slot.value >= f.result.cutoff {
			visits = append(visits, visit{slot.board, slot.value})
		}
	}
	slices.SortFunc(visits, func(a, b visit) int {
		if a.board < b.board {
			return -1
		}
		return 1
	})
	return visits
}

// chunk is the number of boards between two checks of the context and the time.
const chunk = 4096

// boardsOf returns the boards of a layer with a memory, none if the layer does not exist.
func boardsOf(layers []layer, half, memory int) boards {
	if half >= len(layers) || memory >= len(layers[half]) {
		return boards{}
	}
	return layers[half][memory]
}

// fillLayer sets the boards of a layer with a memory, and the decisions of the strategy on them. It asks the strategy only for boards without a
// decision from an earlier pass. It returns false if the time is over.
func (f *forward) fillLayer(ctx context.Context, half, memory int, visits []visit, filled *boards) (bool, error) {
	filled.boards, filled.decisions = make([]game.Board, len(visits)), make([]uint32, len(visits))
	sources := []boards{boardsOf(f.lastPass, half, memory), boardsOf(f.guideLayers, half, memory)}
	positions := make([]int, len(sources))
	var undecided []int
	for i, visited := range visits {
		filled.boards[i] = visited.board
		isComplete := false
		for j := 0; j < len(sources) && !isComplete; j++ {
			filled.decisions[i], positions[j], isComplete = sources[j].find(visited.board, positions[j])
		}
		if !isComplete {
			undecided = append(undecided, i)
		}
	}
	for group := range slices.Chunk(undecided, chunk) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if f.overdue() {
			return false, nil
		}
		if err := f.askStrategy(memory, group, filled); err != nil {
			return false, err
		}
	}
	return true, nil
}

// askStrategy asks the strategy for its decisions on the boards with the given indices, in parallel.
func (f *forward) askStrategy(memory int, indices []int, filled *boards) error {
	answers, errs := make([][]strategy.Choice, len(indices)), make([]error, len(f.choosers))
	var wg sync.WaitGroup
	for worker, chooser := range f.choosers {
		wg.Go(func() {
			for i := worker; i < len(indices) && errs[worker] == nil; i += len(f.choosers) {
				b := filled.boards[indices[i]]
				if answers[i], errs[worker] = chooser.Decide(b, f.opt.Rules.Legal(b), memory); errs[worker] != nil {
					errs[worker] = fmt.Errorf("decide on the board %s: %w", boardText(f.opt.Rules, b), errs[worker])
				}
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	for i, choices := range answers {
		filled.decisions[indices[i]] = f.decisionNumber(choices)
	}
	return nil
}

// decisionNumber returns the index of a decision in v.decisions. Equal decisions have the same index.
func (v *survey) decisionNumber(choices []strategy.Choice) uint32 {
	var text strings.Builder
	for _, choice := range choices {
		fmt.Fprintf(&text, "%d %d %s,", choice.Dir, choice.Memory, choice.Prob.RatString())
	}
	if index, isKnown := v.decisionIndex[text.String()]; isKnown {
		return index
	}
	index := uint32(len(v.decisions))
	v.decisionIndex[text.String()] = index
	var result decision
	for _, choice := range choices {
		nearest, _ := choice.Prob.Float64()
		result = append(result, weightedMove{choice.Dir, choice.Memory, nearest, fixedOf(choice.Prob, false), fixedOf(choice.Prob, true)})
	}
	v.decisions = append(v.decisions, result)
	return index
}

// addSuccessors adds the visiting probabilities of a layer's boards to those of their successors. It returns false if the time is over.
func (f *forward) addSuccessors(ctx context.Context, current layer, visits [][]visit) (bool, error) {
	for memory := range current {
		for i, visited := range visits[memory] {
			if i%chunk == 0 {
				if err := ctx.Err(); err != nil {
					return false, err
				}
				if f.overdue() {
					return false, nil
				}
			}
			for _, move := range f.decisions[current[memory].decisions[i]] {
				afterstate, _, err := f.opt.Rules.Move(visited.board, move.dir)
				if err != nil {
					return false, fmt.Errorf("move %s on the board %s: %w", move.dir, boardText(f.opt.Rules, visited.board), err)
				}
				if !afterstate.AtLeast(f.opt.Max) {
					f.spawnEach(afterstate, visited.probability*move.prob, func(board game.Board, probability float64) { f.addVisit(board, move.memory, probability) })
				}
			}
		}
	}
	return true, nil
}

// spawnEach calls each with the boards after a new tile and their shares of the probability p.
func (f *forward) spawnEach(board game.Board, probability float64, yield func(board game.Board, probability float64)) {
	empties := f.opt.Rules.NumEmptyCells(board)
	probability /= float64(game.FourOdds * empties)
	for cell := range f.opt.Rules.Shape().Cells() {
		if board>>(4*cell)&15 == 0 {
			yield(board|1<<(4*cell), probability*(game.FourOdds-1))
			yield(board|2<<(4*cell), probability)
		}
	}
}

// addVisit adds to the visiting probability of a board, unless the game is over there.
func (f *forward) addVisit(board game.Board, memory int, probability float64) {
	if board.AtLeast(f.opt.Max) || f.opt.Rules.Legal(board) == 0 {
		return
	}
	half := halfSum(board)
	if f.pending[half] == nil {
		f.pending[half] = make([]*table[float64], f.strategy.Memory())
	}
	if f.pending[half][memory] == nil {
		f.pending[half][memory] = newTable[float64](0)
	}
	*f.pending[half][memory].valueAt(f.representative(board)) += probability
}
