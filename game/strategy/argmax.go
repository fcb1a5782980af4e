package strategy

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"tilecheck/game"
)

// tieRule says which of several best moves a strategy makes.
type tieRule string

const (
	tiesRandom tieRule = "random" // each with the same probability
	tiesFirst  tieRule = "first"  // the first in the order of game.Dir
)

func parseTies(opts *options) tieRule {
	return tieRule(opts.word("ties", string(tiesRandom), string(tiesFirst)))
}

// moveSampler is the Player of a strategy that draws a random value for each legal move and makes the move with the largest value.
type moveSampler struct {
	rules *game.Rules
	ties  tieRule
	// value draws the value of a move that adds score and leads to next.
	value func(next game.Board, score int, rng *rand.Rand) (int64, error)
}

func (s *moveSampler) Start() {}

// Choose draws a value for each legal move, and returns the move with the greatest value. If only one move is legal, it draws nothing.
func (s *moveSampler) Choose(board game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	best, greatest, ties := legal.At(0), int64(0), 0
	if legal.Len() == 1 {
		return best, nil
	}
	for i := range legal.Len() {
		next, score, err := s.rules.Move(board, legal.At(i))
		if err != nil {
			return 0, err
		}
		value, err := s.value(next, score, rng)
		switch {
		case err != nil:
			return 0, err
		case ties == 0 || value > greatest:
			best, greatest, ties = legal.At(i), value, 1
		case value == greatest && s.ties == tiesRandom:
			// The j-th of the equal moves replaces the current one with probability 1/j, so each of them is chosen with the same probability.
			ties++
			if rng.IntN(ties) == 0 {
				best = legal.At(i)
			}
		}
	}
	return best, nil
}

// moveRanker is the Chooser with the same probabilities as a moveSampler.
type moveRanker struct {
	rules *game.Rules
	ties  tieRule
	// scoreScale is the value of one point of score.
	scoreScale int64
	// restOfValue returns the distribution of a move's value without its score. next is the canonical board after the move; symmetric boards
	// have the same distribution.
	restOfValue func(next game.Board, b *workLimit) (*distribution, error)
	// cache has the probabilities of sets of legal moves, by their results.
	cache map[[4]afterMove][]*big.Rat
}

// afterMove is the result of a legal move.
type afterMove struct {
	legal      bool
	next       game.Board // canonical
	scoreValue int64      // value of the score of the move
}

// Decide computes the distributions of the values of all legal moves, and from them the probability of each move to be the best. It caches the
// result, because the same sets of moves occur often on small boards.
func (r *moveRanker) Decide(board game.Board, legal game.Moves, _ int) ([]Choice, error) {
	if legal.Len() == 1 {
		return singleChoice(legal.At(0), 0), nil
	}
	var branches [4]afterMove
	for i := range legal.Len() {
		next, score, err := r.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		next, _ = r.rules.Canonical(next)
		branches[i] = afterMove{true, next, r.scoreScale * int64(score)}
	}
	probabilities, err := r.chooseProbabilities(branches, legal.Len())
	if err != nil {
		return nil, err
	}
	var choices []Choice
	for i, probability := range probabilities {
		if probability.Sign() > 0 {
			choices = append(choices, Choice{Dir: legal.At(i), Prob: new(big.Rat).Set(probability)})
		}
	}
	return choices, nil
}

// chooseProbabilities returns, for each of the first count moves, the probability that it is chosen.
func (r *moveRanker) chooseProbabilities(branches [4]afterMove, count int) ([]*big.Rat, error) {
	if probabilities, ok := r.cache[branches]; ok {
		return probabilities, nil
	}
	var limit workLimit
	distributions := make([]*distribution, count)
	for i, move := range branches[:count] {
		if equal := slices.Index(branches[:i], move); equal >= 0 { // an equal move has the same distribution
			distributions[i] = distributions[equal]
			continue
		}
		restDistribution, err := r.restOfValue(move.next, &limit)
		if err != nil {
			return nil, err
		}
		distributions[i] = restDistribution.shifted(move.scoreValue)
	}
	probabilities, err := probabilitiesOfMax(distributions, r.ties, &limit)
	if err != nil {
		return nil, err
	}
	const cacheSize = 1 << 10 // size of the cache; the fractions can be long
	if r.cache == nil || len(r.cache) >= cacheSize {
		r.cache = map[[4]afterMove][]*big.Rat{}
	}
	r.cache[branches] = probabilities
	return probabilities, nil
}

// probabilitiesOfMax returns, for independent values with the given distributions, the probability of each value to be the largest. rule breaks ties.
// A distribution may occur several times. limit bounds the work.
func probabilitiesOfMax(distributions []*distribution, rule tieRule, limit *workLimit) ([]*big.Rat, error) {
	total, words := big.NewInt(tieUnit), 0.0
	same := make([]int, len(distributions)) // index of the first distribution with the same probability
	for i, current := range distributions {
		total.Mul(total, current.total)
		words += wordCount(current.total)
		same[i] = i
		if rule == tiesRandom {
			same[i] = slices.Index(distributions, current)
		}
	}
	last := slices.Max(same) // its probability is 1 minus the sum of the others
	weights := make([]*big.Int, len(distributions))
	for i := range weights {
		weights[i] = new(big.Int)
	}
	for sweep := newValueSweep(distributions); sweep.next(); {
		for i := range distributions {
			if i == last || i != same[i] || sweep.weightAt[i] == nil {
				continue
			}
			if err := limit.addWork(words * words / 2); err != nil {
				return nil, err
			}
			weights[i].Add(weights[i], sweep.weightOfMax(i, rule))
		}
	}
	weights[last].Set(total)
	equalCount := int64(0)
	for i := range distributions {
		if same[i] == last {
			equalCount++
		} else {
			weights[last].Sub(weights[last], weights[same[i]])
		}
	}
	weights[last].Quo(weights[last], big.NewInt(equalCount))
	probabilities := make([]*big.Rat, len(distributions))
	for i := range probabilities {
		probabilities[i] = new(big.Rat).SetFrac(weights[same[i]], total)
	}
	return probabilities, nil
}

// tieUnit is divisible by every possible number of tied moves, 1 to 4.
const tieUnit = 12

// weightOfMax returns the weight, times tieUnit, of the event that the distribution with an index yields the current value of the sweep and no other
// distribution yields a larger one. A tie among k distributions counts as 1/k.
func (s *valueSweep) weightOfMax(index int, rule tieRule) *big.Int {
	tied := []*big.Int{s.weightAt[index]} // weights by the number of other distributions that are tied with this one
	for other := range s.ds {
		switch {
		case other == index:
		case rule == tiesFirst && other < index:
			tied[0] = new(big.Int).Mul(tied[0], s.weightBelow[other])
		case rule == tiesFirst:
			tied[0] = new(big.Int).Mul(tied[0], s.weightUpTo[other])
		default:
			tied = multiplyLinear(tied, s.weightBelow[other], s.weightAt[other])
		}
	}
	sum := new(big.Int)
	for numTied, weight := range tied {
		sum.Add(sum, new(big.Int).Mul(weight, big.NewInt(int64(tieUnit/(numTied+1)))))
	}
	return sum
}

// multiplyLinear returns the product of a polynomial in x and the polynomial constant + linear*x. The first coefficient of a polynomial is the
// constant term. If linear is nil, it counts as 0.
func multiplyLinear(polynomial []*big.Int, constant, linear *big.Int) []*big.Int {
	product := make([]*big.Int, len(polynomial)+1)
	for power := range product {
		product[power] = new(big.Int)
	}
	for power, coefficient := range polynomial {
		product[power].Add(product[power], new(big.Int).Mul(coefficient, constant))
		if linear != nil {
			product[power+1].Add(product[power+1], new(big.Int).Mul(coefficient, linear))
		}
	}
	return product
}
