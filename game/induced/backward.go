package induced

import (
	"context"
	"io"

	"tilecheck/game"
)

// Bound is the result of Part.Prove. Every number is rounded such that it remains a bound.
type Bound struct {
	// Optimal is a lower bound of the winning probability of optimal play.
	Optimal Fixed
	// Own is an interval for the winning probability of the strategy on the boards of the part (as they are, or canonical). Boards outside
	// the part count as lost for the lower end and as won for the upper end.
	Own [2]Fixed
	// Boards is the number of boards that Optimal depends on, without the memory.
	Boards int
}

// Prove computes the bounds of a part by backward induction. It writes the certificate of Optimal to w unless w is nil. The error is an error
// of w or of ctx.
func (p *Part) Prove(ctx context.Context, w io.Writer) (*Bound, error) {
	b := &backward{Part: p, strategyValues: map[int][]*table[[2]Fixed]{}, optimalValues: map[int]*table[Fixed]{}}
	var cert *certificate
	if w != nil {
		cert = newCertificate(w, p.survey.opt.Rules.Shape(), p.Canonical(), p.survey.opt.Max, p.survey.strategy.String())
	}
	const first = 2 // half of 2+2, the smallest sum
	for half := len(p.layers) - 1; half >= first; half-- {
		entries, err := b.computeLayer(ctx, half)
		if err != nil {
			return nil, err
		}
		b.bound.Boards += len(entries)
		if err := cert.write(entries); err != nil {
			return nil, err
		}
		delete(b.strategyValues, half+3) // a layer depends on the two layers above it only
		delete(b.optimalValues, half+3)
	}
	b.bound.Optimal = b.startMean(b.optimalValue, false)
	for end := range b.bound.Own {
		b.bound.Own[end] = b.startMean(func(x game.Board) Fixed { return b.strategyValue(x, 0, end) }, end == 1)
	}
	return &b.bound, cert.finish(b.bound.Optimal)
}

// backward computes the values of the layers. A value belongs to a board on which the player moves.
type backward struct {
	*Part
	strategyValues map[int][]*table[[2]Fixed] // by half of the sum and memory
	optimalValues  map[int]*table[Fixed]      // by half of the sum
	bound          Bound
}

// certificateEntry is an entry of the certificate: a board, its best move and a lower bound of its value.
type certificateEntry struct {
	board game.Board
	dir   game.Dir
	value Fixed
}

// computeLayer computes the values of a layer and returns its certificate entries.
func (b *backward) computeLayer(ctx context.Context, half int) ([]certificateEntry, error) {
	l := b.layers[half]
	b.strategyValues[half] = make([]*table[[2]Fixed], b.survey.strategy.Memory())
	b.optimalValues[half] = newTable[Fixed](len(l[0].boards))
	var entries []certificateEntry
	for m := range l {
		own := newTable[[2]Fixed](len(l[m].boards))
		b.strategyValues[half][m] = own
		for i, board := range l[m].boards {
			if i%chunk == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			*own.at(board) = b.evaluateMoves(board, b.survey.decisions[l[m].decisions[i]])
			if _, known := b.optimalValues[half].get(board); !known {
				e := b.bestMove(board)
				*b.optimalValues[half].at(board) = e.value
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// evaluateMoves returns the lower and the upper end of the strategy's value on a board.
func (b *backward) evaluateMoves(board game.Board, d decision) (ends [2]Fixed) {
	for _, mv := range d {
		after, _, _ := b.survey.opt.Rules.Move(board, mv.dir) // no error: the forward pass has made this move
		for end, p := range [2]Fixed{mv.lo, mv.hi} {
			up := end == 1
			ends[end] += p.times(b.mean(after, func(x game.Board) Fixed { return b.strategyValue(x, mv.memory, end) }, up), up)
		}
	}
	ends[1] = min(ends[1], Scale)
	return ends
}

// bestMove returns the move with the greatest value on a board, and the first one if several have it.
func (b *backward) bestMove(board game.Board) certificateEntry {
	best := certificateEntry{board: board}
	legal := b.survey.opt.Rules.Legal(board)
	for i := range legal.Len() {
		dir := legal.At(i)
		after, _, _ := b.survey.opt.Rules.Move(board, dir)
		if value := b.mean(after, b.optimalValue, false); i == 0 || value > best.value {
			best.dir, best.value = dir, value
		}
	}
	return best
}

// mean returns the expected value after a new tile. It is 1 if after has the winning tile.
func (b *backward) mean(after game.Board, value func(game.Board) Fixed, roundUp bool) Fixed {
	if after.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	var sum, n Fixed
	for i := range b.survey.opt.Rules.Shape().Cells() {
		if after>>(4*i)&15 == 0 {
			sum += (game.FourOdds-1)*value(after|1<<(4*i)) + value(after|2<<(4*i))
			n += game.FourOdds
		}
	}
	if roundUp {
		sum += n - 1
	}
	return sum / n
}

// startMean returns the expected value after the first two tiles.
func (b *backward) startMean(value func(game.Board) Fixed, roundUp bool) Fixed {
	return b.mean(0, func(first game.Board) Fixed { return b.mean(first, value, roundUp) }, roundUp)
}

// optimalValue returns a lower bound of the optimal value of x; 0 outside the part.
func (b *backward) optimalValue(x game.Board) Fixed {
	if x.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	x = b.survey.representative(x)
	value, _ := b.optimalValues[halfSum(x)].get(x)
	return value
}

// strategyValue returns the lower (end 0) or upper (end 1) bound of the strategy's value on x with a memory.
func (b *backward) strategyValue(x game.Board, memory, end int) Fixed {
	if x.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	x = b.survey.representative(x)
	if l := b.strategyValues[halfSum(x)]; l != nil {
		if ends, known := l[memory].get(x); known {
			return ends[end]
		}
	}
	if end == 0 || b.survey.opt.Rules.Legal(x) == 0 {
		return 0
	}
	return Scale
}
