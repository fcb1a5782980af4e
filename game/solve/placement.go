package solve

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tilecheck/game"
)

// Placement is what an opponent chooses: the N-th empty cell, -1 if chance chooses it; the exponent of the new tile, 0 if chance chooses it.
type Placement struct{ N, Exp int }

// Odds say how often a new tile is a 2: Twos times in Total.
type Odds[V int64 | float64] struct{ Twos, Total V }

// LeastPlacement returns the placement that an opponent chooses to minimize the value, and that least value; it must be less than most. value returns
// the value of the board with a tile of exponent exp in the n-th empty cell, for the player to move. If that is at least limit, it may return any
// number from limit on. Of equal placements the first is chosen: by cell, and a 2 before a 4. Tiles of probability 0 are not chosen.
//
// If enough is not nil and returns true for the least value so far, the search ends early with it. against must not be Chance.
func LeastPlacement[V int64 | float64](
	against Against, odds Odds[V], empties int, most V, value func(n, exp int, limit V) (V, error), enough func(V) bool,
) (least V, at Placement, err error) {
	least = most
	// take reports whether the search is over.
	take := func(v V, p Placement) bool {
		if v < least {
			least, at = v, p
		}
		return enough != nil && enough(least)
	}
	weight := [...]V{1: odds.Twos, 2: odds.Total - odds.Twos}
	switch against {
	case Worst:
		for n := range empties {
			for exp := 1; exp <= 2; exp++ {
				if weight[exp] == 0 {
					continue
				}
				v, err := value(n, exp, least)
				if err != nil || take(v, Placement{n, exp}) {
					return least, at, err
				}
			}
		}
	case WorstCell:
		for n := range empties {
			var mean V
			for exp := 1; exp <= 2; exp++ {
				if weight[exp] == 0 {
					continue
				}
				v, err := value(n, exp, most)
				if err != nil {
					return least, at, err
				}
				mean += weight[exp] * v
			}
			if take(mean/odds.Total, Placement{n, 0}) {
				return least, at, nil
			}
		}
	case WorstTile:
		for exp := 1; exp <= 2; exp++ {
			if weight[exp] == 0 {
				continue
			}
			var sum V
			for n := range empties {
				v, err := value(n, exp, most)
				if err != nil {
					return least, at, err
				}
				sum += v
			}
			if take(sum/V(empties), Placement{-1, exp}) {
				return least, at, nil
			}
		}
	default:
		panic("solve: chance chooses no tile")
	}
	return least, at, nil
}

// Place adds a new tile to a board after a move, or to the empty board, as the opponent of the problem chooses. If the opponent does not choose the
// cell or the tile, this is drawn at random; against Chance, both are. It returns an error if the board does not occur in a game.
func (t *Table) Place(board game.Board, rng *rand.Rand) (game.Board, error) {
	if t.problem.Against == Chance {
		return t.AddRandom(board, rng), nil
	}
	_, placement, err := t.opponentPlacement(board)
	if err != nil {
		return 0, err
	}
	if placement.N < 0 {
		placement.N = rng.IntN(t.rules.NumEmptyCells(board))
	}
	if placement.Exp == 0 {
		placement.Exp = 1
		if rng.Uint32N(t.problem.Total) >= t.problem.Twos {
			placement.Exp = 2
		}
	}
	return t.rules.Spawn(board, placement.N, placement.Exp), nil
}

// opponentPlacement returns the placement of the opponent on a board, and its value. On the empty board, the value takes the placement of the second
// tile into account.
func (t *Table) opponentPlacement(board game.Board) (float64, Placement, error) {
	odds := Odds[float64]{float64(t.problem.Twos), float64(t.problem.Total)}
	return LeastPlacement(t.problem.Against, odds, t.rules.NumEmptyCells(board), math.Inf(1), func(empty, exponent int, _ float64) (float64, error) {
		next := t.rules.Spawn(board, empty, exponent)
		if board == 0 && !t.won(next) {
			value, _, err := t.opponentPlacement(next)
			return value, err
		}
		value, _, ok := t.Value(next)
		if !ok {
			return 0, fmt.Errorf("no game of %v comes to the board %v", t.problem, next)
		}
		return value, nil
	}, nil)
}
