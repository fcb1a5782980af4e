package witness

import (
	"context"
	"math/big"
)

// Set is a set of the most probable paths of a chain.
type Set struct {
	// Paths are the most probable paths of the set, at most as many as the caller wants to keep.
	Paths []*Path
	// Count is the number of paths in the set.
	Count int
	// Sum is the total probability of all Count paths.
	Sum *big.Rat
	// Enough says that Sum exceeds the bound, or reaches it if reaching it is sufficient.
	Enough bool
	// All says that the set has all paths of the chain.
	All bool
	// Steps is the length of the longest path.
	Steps int
}

// Exceed returns the smallest set of paths whose total probability exceeds a bound, or reaches it if
// reach is true. It adds paths in decreasing order of probability. Enough is false if all paths together do
// not exceed the bound, if limit paths do not, or if the sum seems to converge to the bound. Set.Paths has
// the first keep paths. If the context ends, the error is the context's, the set has the paths found so far,
// and Sum is a lower bound.
func Exceed(ctx context.Context, p *Paths, bound *big.Rat, reach bool, limit, keep int) (*Set, error) {
	s := &Set{}
	total := newPathSum(p.chain.products)
	err := ctx.Err()
	for err == nil && !s.Enough && !s.All && s.Count < limit && total.undecided < maxUndecided {
		err = s.addNext(ctx, p, total, bound, reach, keep)
	}
	if err == nil {
		s.Sum, err = total.sum(ctx)
	}
	if err != nil {
		s.Sum, _ = total.lower.Rat(nil)
	}
	return s, err
}

// addNext adds the next path to the set and to total, or sets All after the last one. It sets Enough if total
// now exceeds the bound, or reaches it if reach is true.
func (s *Set) addNext(ctx context.Context, p *Paths, total *pathSum, bound *big.Rat, reach bool, keep int) error {
	next, err := p.nextEntry()
	if err != nil {
		return err
	}
	if next == nil {
		s.All = true
		return nil
	}
	if s.Count < keep {
		s.Paths = append(s.Paths, p.path(*next))
	}
	s.Count++
	s.Steps = max(s.Steps, int(next.steps)-1) // the step to the goal does not count
	total.add(next.product)
	order, err := total.compare(ctx, bound)
	if err != nil {
		return err
	}
	s.Enough = order > 0 || order == 0 && reach
	return ctx.Err()
}

// pathSum is the sum of the probabilities of paths. It counts how often each product occurs, from which the
// exact sum can be computed, and keeps bounds on the sum for fast comparison.
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

// newPathSum returns the sum of no paths.
func newPathSum(p *products) *pathSum {
	return &pathSum{
		products: p, count: map[product]int64{}, bounds: map[product][2]*big.Float{},
		lower: new(big.Float).SetPrec(boundBits).SetMode(big.ToNegativeInf), upper: new(big.Float).SetPrec(boundBits).SetMode(big.ToPositiveInf),
	}
}

// add adds the probability of one path.
func (t *pathSum) add(p product) {
	if t.count[p] == 0 {
		t.distinct = append(t.distinct, p)
		exact := t.products.rat(p)
		t.bounds[p] = [2]*big.Float{rounded(exact, big.ToNegativeInf), rounded(exact, big.ToPositiveInf)}
	}
	t.count[p]++
	t.lower.Add(t.lower, t.bounds[p][0])
	t.upper.Add(t.upper, t.bounds[p][1])
}

// rounded returns a fraction rounded to boundBits bits.
func rounded(exact *big.Rat, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(boundBits).SetMode(mode).SetRat(exact)
}

// compare returns the sign of the exact sum minus a bound. It computes the exact sum only if the bounds on
// the sum do not decide.
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
	sum, term := new(big.Rat), new(big.Rat)
	for _, p := range t.distinct {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		term.SetInt64(t.count[p])
		term.Mul(term, t.products.rat(p))
		sum.Add(sum, term)
	}
	return sum, nil
}
