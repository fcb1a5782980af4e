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

func parseTies(o *options) tieRule {
	return tieRule(o.word("ties", string(tiesRandom), string(tiesFirst)))
}

// moveSampler is the Player of a strategy that draws a random value for each legal move and makes the move with the largest value.
type moveSampler struct {
	rules *game.Rules
	ties  tieRule
	// value draws the value of a move that adds score and leads to next.
	value func(next game.Board, score int, rng *rand.Rand) (int64, error)
}

func (s *moveSampler) Start() {}

// Choose makes the only legal move without drawing a value.
func (s *moveSampler) Choose(board game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	best, most, equal := legal.At(0), int64(0), 0
	if legal.Len() == 1 {
		return best, nil
	}
	for i := range legal.Len() {
		next, score, err := s.rules.Move(board, legal.At(i))
		if err != nil {
			return 0, err
		}
		v, err := s.value(next, score, rng)
		switch {
		case err != nil:
			return 0, err
		case equal == 0 || v > most:
			best, most, equal = legal.At(i), v, 1
		case v == most && s.ties == tiesRandom:
			// The j-th of the equal moves replaces the current one with probability 1/j, so each of them is chosen with the same probability.
			equal++
			if rng.IntN(equal) == 0 {
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
	probs, err := r.chooseProbabilities(branches, legal.Len())
	if err != nil {
		return nil, err
	}
	var out []Choice
	for i, p := range probs {
		if p.Sign() > 0 {
			out = append(out, Choice{Dir: legal.At(i), Prob: new(big.Rat).Set(p)})
		}
	}
	return out, nil
}

// chooseProbabilities returns the probability of each of the first n moves to be chosen.
func (r *moveRanker) chooseProbabilities(branches [4]afterMove, n int) ([]*big.Rat, error) {
	if probs, ok := r.cache[branches]; ok {
		return probs, nil
	}
	var b workLimit
	ds := make([]*distribution, n)
	for i, move := range branches[:n] {
		if same := slices.Index(branches[:i], move); same >= 0 {
			ds[i] = ds[same]
			continue
		}
		d, err := r.restOfValue(move.next, &b)
		if err != nil {
			return nil, err
		}
		ds[i] = d.shifted(move.scoreValue)
	}
	probs, err := probabilitiesOfMax(ds, r.ties, &b)
	if err != nil {
		return nil, err
	}
	const many = 1 << 10 // size of the cache; the fractions can be long
	if r.cache == nil || len(r.cache) >= many {
		r.cache = map[[4]afterMove][]*big.Rat{}
	}
	r.cache[branches] = probs
	return probs, nil
}

// probabilitiesOfMax returns, for independent values with the distributions ds, the probability of each value to be the largest. rule breaks ties.
// A distribution may occur several times in ds.
func probabilitiesOfMax(ds []*distribution, rule tieRule, b *workLimit) ([]*big.Rat, error) {
	total, words := big.NewInt(tieUnit), 0.0
	same := make([]int, len(ds)) // index of the first distribution with the same probability
	for i, d := range ds {
		total.Mul(total, d.total)
		words += wordCount(d.total)
		same[i] = i
		if rule == tiesRandom {
			same[i] = slices.Index(ds, d)
		}
	}
	last := slices.Max(same) // its probability is the rest that the others leave
	weights := make([]*big.Int, len(ds))
	for i := range weights {
		weights[i] = new(big.Int)
	}
	for s := newValueSweep(ds); s.next(); {
		for i := range ds {
			if i == last || i != same[i] || s.weightAt[i] == nil {
				continue
			}
			if err := b.addWork(words * words / 2); err != nil {
				return nil, err
			}
			weights[i].Add(weights[i], s.weightOfMax(i, rule))
		}
	}
	weights[last].Set(total)
	equalCount := int64(0)
	for i := range ds {
		if same[i] == last {
			equalCount++
		} else {
			weights[last].Sub(weights[last], weights[same[i]])
		}
	}
	weights[last].Quo(weights[last], big.NewInt(equalCount))
	out := make([]*big.Rat, len(ds))
	for i := range out {
		out[i] = new(big.Rat).SetFrac(weights[same[i]], total)
	}
	return out, nil
}

// tieUnit is divisible by every possible number of tied moves, 1 to 4.
const tieUnit = 12

// weightOfMax returns the weight, times tieUnit, of the event that distribution i yields the current value of the sweep and no other distribution
// yields a larger one. A tie counts with the share of i in it.
func (s *valueSweep) weightOfMax(i int, rule tieRule) *big.Int {
	tied := []*big.Int{s.weightAt[i]} // weights by the number of other distributions that are tied with i
	for j := range s.ds {
		switch {
		case j == i:
		case rule == tiesFirst && j < i:
			tied[0] = new(big.Int).Mul(tied[0], s.weightBelow[j])
		case rule == tiesFirst:
			tied[0] = new(big.Int).Mul(tied[0], s.weightUpTo[j])
		default:
			tied = multiplyLinear(tied, s.weightBelow[j], s.weightAt[j])
		}
	}
	sum := new(big.Int)
	for others, w := range tied {
		sum.Add(sum, new(big.Int).Mul(w, big.NewInt(int64(tieUnit/(others+1)))))
	}
	return sum
}

// multiplyLinear multiplies a polynomial, given by its coefficients from the constant on, by constant + linear x; nil means 0.
func multiplyLinear(p []*big.Int, constant, linear *big.Int) []*big.Int {
	out := make([]*big.Int, len(p)+1)
	for k := range out {
		out[k] = new(big.Int)
	}
	for k, c := range p {
		out[k].Add(out[k], new(big.Int).Mul(c, constant))
		if linear != nil {
			out[k+1].Add(out[k+1], new(big.Int).Mul(c, linear))
		}
	}
	return out
}
