package strategy

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"tilecheck/game"
)

// tieRule says which of several best moves is made.
type tieRule string

const (
	tiesRandom tieRule = "random" // each of them is equally likely
	tiesFirst  tieRule = "first"  // the first, in the order of the directions' values
)

func parseTies(o *options) tieRule {
	return tieRule(o.word("ties", string(tiesRandom), string(tiesFirst)))
}

// sampler is the Player of a strategy that draws a value of every legal move, independently, and makes the move with the largest.
type sampler struct {
	rules *game.Rules
	ties  tieRule
	// value draws the value of a move that scores score and leads to next.
	value func(next game.Board, score int, rng *rand.Rand) (int64, error)
}

func (s *sampler) Start() {}

// Choose makes the only legal move without drawing its value.
func (s *sampler) Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	best, most, equal := legal.At(0), int64(0), 0
	if legal.Len() == 1 {
		return best, nil
	}
	for i := range legal.Len() {
		next, score, err := s.rules.Move(b, legal.At(i))
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
			// The j-th of equals replaces the one before with probability 1/j: each stays with the same probability.
			equal++
			if rng.IntN(equal) == 0 {
				best = legal.At(i)
			}
		}
	}
	return best, nil
}

// ranker is the Chooser that agrees with a sampler.
type ranker struct {
	rules *game.Rules
	ties  tieRule
	// scale is what a point of score adds to the value of a move.
	scale int64
	// rest returns the distribution of the value of a move that leads to next, without its score. Symmetric boards have the same;
	// next is canonical.
	rest func(next game.Board, b *budget) (*distribution, error)
	// decided has the probabilities of the legal moves, by what they lead to.
	decided map[[4]branch][]*big.Rat
}

// branch is what a legal move leads to.
type branch struct {
	legal bool
	next  game.Board // canonical
	gain  int64      // what its score adds to its value
}

// Decide computes the distributions of the values of all legal moves, and how likely each is the best. What it does for a set of
// branches is kept for the next call: on small boards the same come again and again.
func (r *ranker) Decide(b game.Board, legal game.Moves, _ int) ([]Choice, error) {
	if legal.Len() == 1 {
		return certain(legal.At(0), 0), nil
	}
	var branches [4]branch
	for i := range legal.Len() {
		next, score, err := r.rules.Move(b, legal.At(i))
		if err != nil {
			return nil, err
		}
		next, _ = r.rules.Canonical(next)
		branches[i] = branch{true, next, r.scale * int64(score)}
	}
	probs, err := r.rank(branches, legal.Len())
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

// rank returns the probability of each of the first n branches to be chosen.
func (r *ranker) rank(branches [4]branch, n int) ([]*big.Rat, error) {
	if probs, ok := r.decided[branches]; ok {
		return probs, nil
	}
	var b budget
	ds := make([]*distribution, n)
	for i, move := range branches[:n] {
		if same := slices.Index(branches[:i], move); same >= 0 {
			ds[i] = ds[same]
			continue
		}
		d, err := r.rest(move.next, &b)
		if err != nil {
			return nil, err
		}
		ds[i] = d.shifted(move.gain)
	}
	probs, err := chances(ds, r.ties, &b)
	if err != nil {
		return nil, err
	}
	const many = 1 << 10 // sets of branches; the probabilities can be long
	if r.decided == nil || len(r.decided) >= many {
		r.decided = map[[4]branch][]*big.Rat{}
	}
	r.decided[branches] = probs
	return probs, nil
}

// chances returns, for independent values, one of each of ds, the probability of each to be the largest, where ties are broken by the
// rule. The same distribution may be there several times.
func chances(ds []*distribution, rule tieRule, b *budget) ([]*big.Rat, error) {
	total, words := big.NewInt(shares), 0.0
	like := make([]int, len(ds)) // the first that has the same probability
	for i, d := range ds {
		total.Mul(total, d.total)
		words += wordsOf(d.total)
		like[i] = i
		if rule == tiesRandom {
			like[i] = slices.Index(ds, d)
		}
	}
	last := slices.Max(like) // gets what the others leave
	weights := make([]*big.Int, len(ds))
	for i := range weights {
		weights[i] = new(big.Int)
	}
	for s := newSweep(ds); s.next(); {
		for i := range ds {
			if i == last || i != like[i] || s.at[i] == nil {
				continue
			}
			if err := b.work(words * words / 2); err != nil {
				return nil, err
			}
			weights[i].Add(weights[i], s.largest(i, rule))
		}
	}
	weights[last].Set(total)
	equals := int64(0)
	for i := range ds {
		if like[i] == last {
			equals++
		} else {
			weights[last].Sub(weights[last], weights[like[i]])
		}
	}
	weights[last].Quo(weights[last], big.NewInt(equals))
	out := make([]*big.Rat, len(ds))
	for i := range out {
		out[i] = new(big.Rat).SetFrac(weights[like[i]], total)
	}
	return out, nil
}

// shares is a multiple of the number of moves that may be tied, 1 to 4.
const shares = 12

// largest returns the weight, times shares, of drawing the value of the sweep from distribution i and nothing better from the others,
// counting a tie as the share that i has in it.
func (s *sweep) largest(i int, rule tieRule) *big.Int {
	tied := []*big.Int{s.at[i]} // by the number of others that are tied with i
	for j := range s.ds {
		switch {
		case j == i:
		case rule == tiesFirst && j < i:
			tied[0] = new(big.Int).Mul(tied[0], s.below[j])
		case rule == tiesFirst:
			tied[0] = new(big.Int).Mul(tied[0], s.upTo[j])
		default:
			tied = timesLinear(tied, s.below[j], s.at[j])
		}
	}
	sum := new(big.Int)
	for others, w := range tied {
		sum.Add(sum, new(big.Int).Mul(w, big.NewInt(int64(shares/(others+1)))))
	}
	return sum
}

// timesLinear multiplies a polynomial, constant term first, by constant + linear x; nil is 0.
func timesLinear(p []*big.Int, constant, linear *big.Int) []*big.Int {
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
