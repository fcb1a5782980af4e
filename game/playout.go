package game

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Habit is a player that looks at nothing but which moves are legal: for each of the 16 sets of them, the directions to draw from.
type Habit [16]directions

// directions are twelve directions, two bits each, of which one is drawn: any number of legal moves divides twelve.
type directions uint32

const drawn = 12

// Habit returns the player of the list.
func (p Preference) Habit() *Habit {
	return newHabit(func(legal Moves, _ int) Dir { return p.Choose(legal) })
}

func newHabit(choose func(legal Moves, draw int) Dir) *Habit {
	var habit Habit
	for legal := Moves(1); int(legal) < len(habit); legal++ {
		for draw := range drawn {
			habit[legal] |= directions(choose(legal, draw)) << (2 * draw)
		}
	}
	return &habit
}

// Playout is a game to be played to its end, and what came of it.
type Playout struct {
	Board Board // where it starts, the move being next; after PlayOut, where no move is legal
	Moves int   // PlayOut adds the moves made
	Score int   // PlayOut adds their scores
}

// PlayOut plays the games until no move is legal. It draws from rng once for each move and the tile after it, in an order that depends
// on the games alone. The error is ErrOverflow; the games are then of no use.
func (r *Rules) PlayOut(games []Playout, habit *Habit, rng *rand.Rand) error {
	for i := range games {
		games[i].Score -= worth(games[i].Board)
	}
	// Two games are played in turns: the processor works on one while it waits for the other.
	turns := make([]*Playout, 0, 2)
	for waiting := games; ; {
		for len(turns) < cap(turns) && len(waiting) > 0 {
			turns, waiting = append(turns, &waiting[0]), waiting[1:]
		}
		if len(turns) == 0 {
			return nil
		}
		over, err := r.takeTurns(turns, habit, rng)
		if err != nil {
			return err
		}
		turns[over].Score += worth(turns[over].Board)
		turns = slices.Delete(turns, over, over+1)
	}
}

// takeTurns plays a move of each game in turn, until a game is over. It returns the index of this game.
func (r *Rules) takeTurns(games []*Playout, habit *Habit, rng *rand.Rand) (numOver int, err error) {
	var moved [4]Board
	for {
		for i, playout := range games {
			legal, overflow := r.Moved(playout.Board, &moved)
			if legal == 0 {
				return i, nil
			}
			choice, draw := bits.Mul64(rng.Uint64(), drawn)
			dir := Dir(habit[legal&15] >> (2 * choice & 31) & 3)
			if overflow != 0 && overflow.Has(dir) {
				return i, ErrOverflow
			}
			newBoard, exponent, ok := r.placeTile(moved[dir&3], draw, drawn)
			if !ok {
				continue // the draw is rejected, and repeated at the next turn of the game
			}
			playout.Board = newBoard
			playout.Moves++
			playout.Score -= int(exponent-1) * 4 // the worth of the new tile
		}
	}
}

// worth returns the score of the merges that make the tiles of a board out of 2s. A tile of 2^k takes k-1 rounds of merges, and each round scores 2^k
// in total.
func worth(board Board) int {
	sum := 0
	for ; board != 0; board >>= 4 {
		if exponent := int(board & 15); exponent > 0 {
			sum += (exponent - 1) << exponent
		}
	}
	return sum
}
