package witness

import (
	"context"
	"math/big"
)

// Set is the likeliest paths of a chain, as many as were wanted.
type Set struct {
	// Paths are the first of them.
	Paths []*Path
	Count int
	// Sum is their probability together.
	Sum *big.Rat
	// Enough says that Sum exceeds, or reaches, what it was to.
	Enough bool
	// All says that there are no more paths.
	All bool
	// Steps is the number of steps of the longest one.
	Steps int
}

// Exceed takes paths, from the likeliest on, until their sum exceeds a bound, or
// reaches it: no smaller set of paths does so. It gives up after limit paths, and
// where the sum comes ever closer to the bound, as it does if that is the
// probability of all paths; then, and where there are no more, Enough is false. The first keep of them are
// returned. If the context ends, the error is its error, the set has the paths found so far, and Sum is a
// lower bound.
func Exceed(ctx context.Context, p *Paths, bound *big.Rat, reach bool, limit, keep int) (*Set, error) {
	s := &Set{}
	t := newTally(p.chain.products)
	err := ctx.Err()
	for err == nil && s.Count < limit && !s.Enough && t.close < maxClose {
		var e *entry
		if e, err = p.next(); err != nil {
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
		s.Sum, _ = t.lo.Rat(nil)
	}
	return s, err
}

// tally adds up products: how many there are of each, and bounds of the sum.
type tally struct {
	products *products
	count    map[product]int64
	order    []product
	bounds   map[product][2]*big.Float
	lo, hi   *big.Float
	close    int // how often the bounds did not tell the sum from what it was compared with
}

// tallyBits is the precision of the bounds: what they leave open is added up exactly.
const tallyBits = 256

// maxClose is how often the sum may be that close to the bound.
const maxClose = 8

func newTally(p *products) *tally {
	return &tally{
		products: p, count: map[product]int64{}, bounds: map[product][2]*big.Float{},
		lo: new(big.Float).SetPrec(tallyBits).SetMode(big.ToNegativeInf), hi: new(big.Float).SetPrec(tallyBits).SetMode(big.ToPositiveInf),
	}
}

func (t *tally) add(p product) {
	if t.count[p] == 0 {
		t.order = append(t.order, p)
		r := t.products.rat(p)
		t.bounds[p] = [2]*big.Float{rounded(r, big.ToNegativeInf), rounded(r, big.ToPositiveInf)}
	}
	t.count[p]++
	t.lo.Add(t.lo, t.bounds[p][0])
	t.hi.Add(t.hi, t.bounds[p][1])
}

func rounded(r *big.Rat, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(tallyBits).SetMode(mode).SetRat(r)
}

// compare compares the sum with a bound, exactly.
func (t *tally) compare(ctx context.Context, bound *big.Rat) (int, error) {
	if t.lo.Cmp(rounded(bound, big.ToPositiveInf)) > 0 {
		return 1, nil
	}
	if t.hi.Cmp(rounded(bound, big.ToNegativeInf)) < 0 {
		return -1, nil
	}
	t.close++
	sum, err := t.sum(ctx)
	if err != nil {
		return 0, err
	}
	return sum.Cmp(bound), nil
}

// sum adds up exactly.
func (t *tally) sum(ctx context.Context) (*big.Rat, error) {
	sum, x := new(big.Rat), new(big.Rat)
	for _, p := range t.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum.Add(sum, x.Mul(t.products.rat(p), x.SetInt64(t.count[p])))
	}
	return sum, nil
}
