package witness

import (
	"context"
	"math/big"
)

// Set is a set of the most probable paths of a chain.
type Set struct {
	// Paths are the first of them, at most as many as asked for.
	Paths []*Path
	Count int
	// Sum is the total probability of all Count paths.
	Sum *big.Rat
	// Enough says that Sum exceeds the bound, or reaches it if that was asked for.
	Enough bool
	// All says that there are no more paths.
	All bool
	// Steps is the length of the longest path.
	Steps int
}

// Exceed returns the smallest set of paths whose total probability exceeds a bound, or reaches it if
// reach is set: it takes paths in decreasing order of probability. Enough is false if there are too few
// paths, after limit paths, or if the sum converges to the bound, as it does if that is the probability
// of all paths. The first keep paths are returned. If the context ends, the error is the context's, the
// set has the paths found so far, and Sum is a lower bound.
func Exceed(ctx context.Context, p *Paths, bound *big.Rat, reach bool, limit, keep int) (*Set, error) {
	s := &Set{}
	t := newPathSum(p.chain.products)
	err := ctx.Err()
	for err == nil && s.Count < limit && !s.Enough && t.undecided < maxUndecided {
		var e *pathEntry
		if e, err = p.nextEntry(); err != nil {
			break
		}
		if s.All = e == nil; s.All {
			break
		}
		if s.Count < keep {
			s.Paths = append(s.Paths, p.path(*e))
		}
		s.Count++
		s.Steps = max(s.Steps, int(e.steps)-1)
		t.add(e.product)
		var c int
		if c, err = t.compare(ctx, bound); err == nil {
			s.Enough, err = c > 0 || c == 0 && reach, ctx.Err()
		}
	}
	if err == nil {
		s.Sum, err = t.sum(ctx)
	}
	if err != nil {
		s.Sum, _ = t.lower.Rat(nil)
	}
	return s, err
}

// pathSum sums the probabilities of paths: exactly as a multiset of products, and with bounds for fast
// comparison.
type pathSum struct {
	products     *products
	count        map[product]int64
	distinct     []product
	bounds       map[product][2]*big.Float
	lower, upper *big.Float
	undecided    int // number of comparisons that the bounds could not decide
}

// boundBits is the precision of the bounds.
const boundBits = 256

// maxUndecided is the number of undecided comparisons after which Exceed gives up.
const maxUndecided = 8

func newPathSum(p *products) *pathSum {
	return &pathSum{
		products: p, count: map[product]int64{}, bounds: map[product][2]*big.Float{},
		lower: new(big.Float).SetPrec(boundBits).SetMode(big.ToNegativeInf), upper: new(big.Float).SetPrec(boundBits).SetMode(big.ToPositiveInf),
	}
}

func (t *pathSum) add(p product) {
	if t.count[p] == 0 {
		t.distinct = append(t.distinct, p)
		r := t.products.rat(p)
		t.bounds[p] = [2]*big.Float{rounded(r, big.ToNegativeInf), rounded(r, big.ToPositiveInf)}
	}
	t.count[p]++
	t.lower.Add(t.lower, t.bounds[p][0])
	t.upper.Add(t.upper, t.bounds[p][1])
}

func rounded(r *big.Rat, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(boundBits).SetMode(mode).SetRat(r)
}

// compare compares the exact sum with a bound.
func (t *pathSum) compare(ctx context.Context, bound *big.Rat) (int, error) {
	if t.lower.Cmp(rounded(bound, big.ToPositiveInf)) > 0 {
		return 1, nil
	}
	if t.upper.Cmp(rounded(bound, big.ToNegativeInf)) < 0 {
		return -1, nil
	}
	t.undecided++
	sum, err := t.sum(ctx)
	if err != nil {
		return 0, err
	}
	return sum.Cmp(bound), nil
}

// sum returns the exact sum.
func (t *pathSum) sum(ctx context.Context) (*big.Rat, error) {
	sum, x := new(big.Rat), new(big.Rat)
	for _, p := range t.distinct {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum.Add(sum, x.Mul(t.products.rat(p), x.SetInt64(t.count[p])))
	}
	return sum, nil
}
