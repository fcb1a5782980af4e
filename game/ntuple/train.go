package ntuple

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"tilecheck/game"
)

// Training says how a network learns.
type Training struct {
	Games int64
	// Rate is the learning rate of the first game, above 0 and at most 1. It falls linearly to a hundredth of it at the last game.
	Rate float64
	Seed uint64
	// Each, if not nil, is called after every game with the number of games so far and the score.
	Each func(games int64, score int)
}

// DefaultRate is the learning rate if none is given.
const DefaultRate = 0.1

// Train has the network play games and learn from each move: the value of the board after a move becomes more like the score of the next move and the
// value of the board after that, or like 0 if no move is left (TD(0) of afterstates). A step is divided evenly among the weights of a board. The
// moves are those that the network prefers; no other is explored, since new tiles are random.
//
// Each update needs the weights that the last one left, so games are played one after the other. The result depends on the training and the network
// only. On an error, which is that of ctx or game.ErrOverflow, the network has learned from the games so far.
//
// Source: Szubert and Jaśkowski 2014, figure 6 (TD-AFTERSTATE); there, the rate is constant.
func (n *Network) Train(ctx context.Context, training Training) error {
	switch {
	case training.Games < 1:
		return fmt.Errorf("%d games, want at least 1", training.Games)
	case !(training.Rate > 0 && training.Rate <= 1):
		return fmt.Errorf("learning rate is %v, want a number above 0 and at most 1", training.Rate)
	}
	rng := rand.New(rand.NewPCG(training.Seed, 0))
	for played := range training.Games {
		if err := ctx.Err(); err != nil {
			return err
		}
		rate := training.Rate * (1 - 0.99*float64(played)/float64(training.Games))
		score, err := n.learn(rate/float64(n.lookups()), rng)
		if err != nil {
			return fmt.Errorf("game %d: %w", played, err)
		}
		if training.Each != nil {
			training.Each(played+1, score)
		}
	}
	n.note = fmt.Sprintf("%d games, seed %d, rate %v, TD(0) of afterstates", training.Games, training.Seed, training.Rate)
	return nil
}

// lookups returns the number of weights of a board.
func (n *Network) lookups() int {
	total := 0
	for _, images := range n.images {
		total += len(images)
	}
	return total
}

// learn plays one game, and updates the weights after each move. step is the learning rate for a single weight. It returns the score of the game.
func (n *Network) learn(step float64, rng *rand.Rand) (score int, err error) {
	board := n.rules.Start(rng)
	var lastBoard game.Board // the board after the last move
	var lastValue float64
	for isFirst := true; ; isFirst = false {
		legal := n.rules.Legal(board)
		if legal == 0 {
			if !isFirst {
				n.addToWeights(lastBoard, float64(step*-lastValue))
			}
			return score, nil
		}
		_, moved, gain, value, err := n.Best(n.rules, board, legal)
		if err != nil {
			return score, err
		}
		if !isFirst {
			n.addToWeights(lastBoard, float64(step*(float64(gain)+value-lastValue)))
			value = n.Value(moved) // the update may have changed it
		}
		score += gain
		lastBoard, lastValue = moved, value
		board = n.rules.AddRandom(moved, rng)
	}
}

// addToWeights adds delta to each weight that a board selects. A weight that several images of a tuple select gets delta several times.
func (n *Network) addToWeights(board game.Board, delta float64) {
	board = n.knownTiles(board)
	for number, images := range n.images {
		weights := n.weights[number]
		for _, shifts := range images {
			index := n.index(board, shifts)
			weights[index] = float32(float64(weights[index]) + delta)
		}
	}
}

// Round rounds the weights to multiples of 2^-bits. A file with rounded weights is shorter.
func (n *Network) Round(bits int) {
	scale := float64(int64(1) << bits)
	for _, weights := range n.weights {
		for i, weight := range weights {
			weights[i] = float32(math.RoundToEven(float64(weight)*scale) / scale)
		}
	}
}
