package induced

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"tilecheck/game"
	"tilecheck/game/strategy"
	"tilecheck/internal/noun"
)

// Options say which game is explored.
type Options struct {
	Rules *game.Rules
	// Max is the exponent of the winning tile: 2 to game.MaxExponent, 11 for 2048.
	Max int
	// P2 is the probability that a new tile is a 2 and not a 4, in (0,1]; nil means 9/10.
	P2 *big.Rat
	// MaxStates is the greatest number of states; 0 means DefaultMaxStates.
	MaxStates int
}

// DefaultMaxStates is the default of Options.MaxStates. A chain of that size takes about 3 GiB.
const DefaultMaxStates = 10_000_000

// SizeError says that a chain has too many states.
type SizeError struct{ Limit int }

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the strategy reaches more than %d states", e.Limit)
}

func (o Options) probabilityOf2() *big.Rat {
	if o.P2 == nil {
		return big.NewRat(game.FourOdds-1, game.FourOdds)
	}
	return o.P2
}

func (o Options) maxStates() int {
	if o.MaxStates == 0 {
		return DefaultMaxStates
	}
	return o.MaxStates
}

func (o Options) validate() error {
	probability := o.probabilityOf2()
	switch {
	case o.Rules == nil:
		return errors.New("no rules are given, want those of a board")
	case o.Max < 2 || o.Max > game.MaxExponent:
		return fmt.Errorf("the winning tile is 2^%d, want 2^2 to 2^%d", o.Max, game.MaxExponent)
	case probability.Sign() <= 0 || probability.Cmp(big.NewRat(1, 1)) > 0:
		return fmt.Errorf("the probability of a 2 is %s, want it above 0 and up to 1", probability.RatString())
	case o.MaxStates < 0:
		return fmt.Errorf("the number of states is %d, want at least 1", o.MaxStates)
	}
	return nil
}

// State is a board, after a new tile or with the winning tile, with the memory of the strategy; the memory is 0 if the game is over.
type State struct {
	Board  game.Board
	Memory int
}

// Outcome says whether the game in a state goes on, is won or is lost.
type Outcome uint8

// The outcomes of a state.
const (
	Playing Outcome = iota
	Won
	Lost
)

// Chain is the Markov chain that a strategy induces on the game, made from the rules alone. States are numbered in the order of discovery.
type Chain struct {
	opt              Options
	strategy         strategy.Strategy
	states           []State
	outcomes         []Outcome
	starts           []uint32   // the states after the first two tiles, in the order of both spawns
	order            []uint32   // the states with Playing, by the sum of their tiles, so that successors come later
	choices          [][]choice // by state; none if the game is over
	actProbabilities []*big.Rat // by state: the probability that a shield acts; nil means 0
}

// choice is a move with its successors in the order of spawns. A winning move has one successor, without a new tile.
type choice struct {
	dir         game.Dir
	score       int
	probability *big.Rat
	memory      int
	targets     []uint32
}

// UnfinishedError says that an exploration was stopped, and how many states it had expanded and found.
type UnfinishedError struct {
	Decided, Found int // states
	Err            error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%v: %s were explored, %d more were found", e.Err, noun.Count(e.Decided, "state"), e.Found-e.Decided)
}

// Unwrap returns the reason.
func (e *UnfinishedError) Unwrap() error { return e.Err }

// Explore returns the Markov chain that a strategy induces: all states that it reaches with positive probability. The error is a *SizeError if there
// are too many states, an *UnfinishedError if ctx ends, or an error of the strategy.
func Explore(ctx context.Context, s strategy.Strategy, opt Options) (*Chain, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	opt.P2 = opt.probabilityOf2()
	exploration := &explorer{
		Chain: &Chain{opt: opt, strategy: s}, chooser: s.Chooser(), index: map[State]uint32{}, layers: map[int][]uint32{},
	}
	if err := exploration.run(ctx); err != nil {
		return nil, err
	}
	return exploration.Chain, nil
}

// Len returns the number of states, without the empty board.
func (c *Chain) Len() int { return len(c.states) }

// explorer builds a chain by layers; the boards of a layer have the same sum of tiles.
type explorer struct {
	*Chain
	chooser    strategy.Chooser
	index      map[State]uint32
	layers     map[int][]uint32 // states that are not expanded yet, by half the sum of their tiles
	unexpanded int              // number of states in layers
}

// run explores the states from the boards with two tiles, in the order of the sums of their tiles.
func (x *explorer) run(ctx context.Context) error {
	for _, firstBoard := range x.spawns(0) {
		for _, board := range x.spawns(firstBoard) {
			if firstBoard.AtLeast(x.opt.Max) {
				board = firstBoard // the first tile has won the game
			}
			x.starts = append(x.starts, x.stateNumber(board, 0))
		}
	}
	for half := 0; x.unexpanded > 0; half++ {
		for _, state := range x.layers[half] {
			if err := ctx.Err(); err != nil { // checked for each state, because a decision can take seconds
				return &UnfinishedError{len(x.order), len(x.states), context.Cause(ctx)}
			}
			x.order = append(x.order, state)
			x.unexpanded--
			if err := x.expand(state); err != nil {
				return err
			}
			if len(x.states) > x.opt.maxStates() {
				return &SizeError{x.opt.maxStates()}
			}
		}
		delete(x.layers, half)
	}
	return nil
}

// stateNumber returns the number of the state of a board and a memory, and adds the state if it is new. When the game is over, the memory counts as
// 0.
func (x *explorer) stateNumber(board game.Board, memory int) uint32 {
	outcome := Playing
	switch {
	case board.AtLeast(x.opt.Max):
		outcome, memory = Won, 0
	case x.opt.Rules.Lost(board):
		outcome, memory = Lost, 0
	}
	key := State{board, memory}
	if number, isKnown := x.index[key]; isKnown {
		return number
	}
	number := uint32(len(x.states))
	x.index[key] = number
	x.states = append(x.states, key)
	x.outcomes = append(x.outcomes, outcome)
	x.choices = append(x.choices, nil)
	x.actProbabilities = append(x.actProbabilities, nil)
	if outcome == Playing {
		x.layers[halfSum(board)] = append(x.layers[halfSum(board)], number)
		x.unexpanded++
	}
	return number
}

// expand computes the choices of a state and their successors.
func (x *explorer) expand(s uint32) error {
	rules, state := x.opt.Rules, x.states[s]
	decided, err := x.chooser.Decide(state.Board, rules.Legal(state.Board), state.Memory)
	if err != nil {
		return fmt.Errorf("decide on the board %s: %w", boardText(rules, state.Board), err)
	}
	if shield, ok := x.chooser.(strategy.Interventions); ok {
		x.actProbabilities[s] = shield.Acts()
	}
	for _, decision := range decided {
		afterstate, score, err := rules.Move(state.Board, decision.Dir)
		if err != nil {
			return fmt.Errorf("move %s on the board %s: %w", decision.Dir, boardText(rules, state.Board), err)
		}
		if afterstate == state.Board {
			return fmt.Errorf("decide on the board %s: %s is not legal", boardText(rules, state.Board), decision.Dir)
		}
		newChoice := choice{dir: decision.Dir, score: score, probability: decision.Prob, memory: decision.Memory}
		if afterstate.AtLeast(x.opt.Max) {
			newChoice.targets = []uint32{x.stateNumber(afterstate, 0)}
		} else {
			for _, board := range x.spawns(afterstate) {
				newChoice.targets = append(newChoice.targets, x.stateNumber(board, decision.Memory))
			}
		}
		x.choices[s] = append(x.choices[s], newChoice)
	}
	return nil
}

// spawnKinds returns the number of values that a new tile can have: 1 if it is always a 2, otherwise 2.
func (o Options) spawnKinds() int {
	if o.probabilityOf2().IsInt() {
		return 1
	}
	return 2
}

// spawns returns the boards after a new tile: first with a 2 in each empty cell, then with a 4 in each if 4s are possible.
func (x *explorer) spawns(board game.Board) []game.Board {
	empties, kinds := x.opt.Rules.NumEmptyCells(board), x.opt.spawnKinds()
	boards := make([]game.Board, 0, kinds*empties)
	for exponent := 1; exponent <= kinds; exponent++ {
		for empty := range empties {
			boards = append(boards, x.opt.Rules.Spawn(board, empty, exponent))
		}
	}
	return boards
}

// halfSum returns half the sum of the values of the tiles. A move does not change it, and a new tile adds 1 or 2.
func halfSum(board game.Board) int {
	sum := 0
	for ; board != 0; board >>= 4 {
		if exponent := board & 15; exponent != 0 {
			sum += 1 << (exponent - 1)
		}
	}
	return sum
}

// boardText returns a board as one line, in the format of game.Shape.Parse.
func boardText(rules *game.Rules, board game.Board) string {
	return strings.ReplaceAll(strings.TrimSpace(rules.Shape().Format(board)), "\n", " / ")
}
