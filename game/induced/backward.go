package induced

import (
	"context"
	"io"

	"tilecheck/game"
)

// Bound is what a part of the game proves. Every number is rounded to the safe side.
type Bound struct {
	// Optimal is a lower bound of the greatest winning probability that any strategy has.
	Optimal Fixed
	// Own contains the winning probability of the strategy on the boards of the part, as they are or canonical: what the part lacks is lost
	// for the lower end and won for the upper end.
	Own [2]Fixed
	// Boards is the number of boards that Optimal rests on: states without the memory.
	Boards int
}

// Prove computes the bounds of a part from the last boards to the first, and writes the certificate of Optimal unless w is nil. The error
// is that of w or of ctx.
func (p *Part) Prove(ctx context.Context, w io.Writer) (*Bound, error) {
	b := &backward{Part: p, own: map[int][]*table[[2]Fixed]{}, best: map[int]*table[Fixed]{}}
	var out *certificate
	if w != nil {
		out = newCertificate(w, p)
	}
	const first = 2 // half of 2+2, the least sum
	for half := len(p.layers) - 1; half >= first; half-- {
		entries, err := b.layer(ctx, half)
		if err != nil {
			return nil, err
		}
		b.bound.Boards += len(entries)
		if err := out.write(entries); err != nil {
			return nil, err
		}
		delete(b.own, half+3) // the first boards need the layers up to 4, the sum of two fours
		delete(b.best, half+3)
	}
	b.bound.Optimal = b.start(b.worth, false)
	for end := range b.bound.Own {
		b.bound.Own[end] = b.start(func(x game.Board) Fixed { return b.owned(x, 0, end) }, end == 1)
	}
	return &b.bound, out.finish(b.bound.Optimal)
}

// backward computes the values of layers. Boards and values are those of the player to move.
type backward struct {
	*Part
	own   map[int][]*table[[2]Fixed] // by half of the sum and memory
	best  map[int]*table[Fixed]      // by half of the sum
	bound Bound
}

// entry is a line of the certificate.
type entry struct {
	board game.Board
	dir   game.Dir
	value Fixed
}

// layer computes the values of a layer and returns its best moves.
func (b *backward) layer(ctx context.Context, half int) ([]entry, error) {
	l := b.layers[half]
	b.own[half] = make([]*table[[2]Fixed], b.survey.strategy.Memory())
	b.best[half] = newTable[Fixed](len(l[0].boards))
	var entries []entry
	for m := range l {
		own := newTable[[2]Fixed](len(l[m].boards))
		b.own[half][m] = own
		for i, board := range l[m].boards {
			if i%chunk == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			*own.at(board) = b.follow(board, b.survey.decisions[l[m].decisions[i]])
			if _, known := b.best[half].get(board); !known {
				e := b.optimize(board)
				*b.best[half].at(board) = e.value
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// follow returns the ends of the strategy's value on a board.
func (b *backward) follow(board game.Board, d decision) (ends [2]Fixed) {
	for _, mv := range d {
		after, _, _ := b.survey.opt.Rules.Move(board, mv.dir) // the forward pass has made it
		for end, p := range [2]Fixed{mv.lo, mv.hi} {
			up := end == 1
			ends[end] += p.times(b.mean(after, func(x game.Board) Fixed { return b.owned(x, mv.memory, end) }, up), up)
		}
	}
	ends[1] = min(ends[1], Scale)
	return ends
}

// optimize returns the move with the greatest value on a board, the first one of several.
func (b *backward) optimize(board game.Board) entry {
	best := entry{board: board}
	legal := b.survey.opt.Rules.Legal(board)
	for i := range legal.Len() {
		dir := legal.At(i)
		after, _, _ := b.survey.opt.Rules.Move(board, dir)
		if value := b.mean(after, b.worth, false); i == 0 || value > best.value {
			best.dir, best.value = dir, value
		}
	}
	return best
}

// mean is the expected value after a new tile, 1 when the game is won without one.
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

// start is the expected value after the first two tiles.
func (b *backward) start(value func(game.Board) Fixed, roundUp bool) Fixed {
	return b.mean(0, func(first game.Board) Fixed { return b.mean(first, value, roundUp) }, roundUp)
}

// worth is a lower bound of the optimal value.
func (b *backward) worth(x game.Board) Fixed {
	if x.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	x = b.survey.representative(x)
	value, _ := b.best[halfSum(x)].get(x)
	return value
}

// owned is an end of the strategy's value, with a memory.
func (b *backward) owned(x game.Board, memory, end int) Fixed {
	if x.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	x = b.survey.representative(x)
	if l := b.own[halfSum(x)]; l != nil {
		if ends, known := l[memory].get(x); known {
			return ends[end]
		}
	}
	if end == 0 || b.survey.opt.Rules.Legal(x) == 0 {
		return 0
	}
	return Scale
}
