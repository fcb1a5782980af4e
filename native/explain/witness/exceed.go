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
	// ExceedsBound says that Sum exceeds the bound, or reaches it if reaching it is sufficient.
	ExceedsBound bool
	// HasAllPaths says that the set has all paths of the chain.
	HasAllPaths bool
	// Steps is the length of the longest path.
	Steps int
}

// Exceed returns the smallest set of paths whose total probability exceeds a bound, or equals it if orEqual is true. It adds paths in decreasing
// order of their probabilities, at most maxPaths paths. It also stops if the sum seems to converge to the bound. Set.ExceedsBound says whether the
// sum exceeds the bound, or equals it and orEqual is true. Set.Paths has only the first maxStored paths.
//
// If the context ends, the error is ctx.Err(), and Set.Sum is a lower bound.
func Exceed(ctx context.Context, paths *Paths, bound *big.Rat, orEqual bool, maxPaths, maxStored int) (*Set, error) {
	set := &Set{}
	total := newPathSum(paths.chain.products)
	err := ctx.Err()
	for err == nil && !set.isFinished(total, maxPaths) {
		err = set.addNext(ctx, paths, total, bound, orEqual, maxStored)
	}
	if err == nil {
		set.Sum, err = total.sum(ctx)
	}
	if err != nil {
		set.Sum, _ = total.lower.Rat(nil)
	}
	return set, err
}

// isFinished reports whether to add no more paths: the bound is exceeded, all paths are in the set, the set has maxPaths paths, or the sum seems
// to converge to the bound.
func (set *Set) isFinished(total *pathSum, maxPaths int) bool {
	return set.ExceedsBound || set.HasAllPaths || set.Count >= maxPaths || total.undecided >= maxUndecided
}

// addNext adds the next most probable path to the set, and its probability to total. It sets HasAllPaths if there is no next path, and
// ExceedsBound if total exceeds the bound, or equals it and orEqual is true. It stores the path if fewer than maxStored paths are stored.
func (set *Set) addNext(ctx context.Context, paths *Paths, total *pathSum, bound *big.Rat, orEqual bool, maxStored int) error {
	next, err := paths.nextEntry()
	if err != nil {
		return err
	}
	if next == nil {
		set.HasAllPaths = true
		return nil
	}
	if set.Count < maxStored {
		set.Paths = append(set.Paths, paths.path(*next))
	}
	set.Count++
	set.Steps = max(set.Steps, int(next.steps)-1) // the step to the goal does not count
	total.add(next.product)
	order, err := total.compare(ctx, bound)
	if err != nil {
		return err
	}
	set.ExceedsBound = order > 0 || order == 0 && orEqual
	return ctx.Err()
}

// pathSum is the sum of the probabilities of paths. It counts how often each product occurs, from which the
// exact sum can be computed, and keeps bounds on the sum for fast comparison.
type pathSum struct {
	products         *products
	counts           map[product]int64
	distinctProducts []product
	bounds           map[product][2]*big.Float
	lower, upper     *big.Float
	undecided        int // number of comparisons that the bounds could not decide
}

// boundBits is the precision of the bounds.
const boundBits = 256

// maxUndecided is the number of undecided comparisons after which Exceed gives up.
const maxUndecided = 8

// newPathSum returns the sum of no paths.
func newPathSum(p *products) *pathSum {
	return &pathSum{
		products: p, counts: map[product]int64{}, bounds: map[product][2]*big.Float{},
		lower: new(big.Float).SetPrec(boundBits).SetMode(big.ToNegativeInf), upper: new(big.Float).SetPrec(boundBits).SetMode(big.ToPositiveInf),
	}
}

// add adds the probability of one path to the sum: it counts the path for its product, and updates the floating-point bounds of the sum.
func (total *pathSum) add(added product) {
	if total.counts[added] == 0 {
		total.distinctProducts = append(total.distinctProducts, added)
		exact := total.products.fraction(added)
		total.bounds[added] = [2]*big.Float{rounded(exact, big.ToNegativeInf), rounded(exact, big.ToPositiveInf)}
	}
	total.counts[added]++
	total.lower.Add(total.lower, total.bounds[added][0])
	total.upper.Add(total.upper, total.bounds[added][1])
}

// rounded returns a fraction rounded to boundBits bits.
func rounded(exact *big.Rat, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(boundBits).SetMode(mode).SetRat(exact)
}

// compare returns the sign of the sum minus bound. It computes the exact sum only if floating-point bounds of the sum do not decide the sign.
func (total *pathSum) compare(ctx context.Context, bound *big.Rat) (int, error) {
	if total.lower.Cmp(rounded(bound, big.ToPositiveInf)) > 0 {
		return 1, nil
	}
	if total.upper.Cmp(rounded(bound, big.ToNegativeInf)) < 0 {
		return -1, nil
	}
	total.undecided++
	sum, err := total.sum(ctx)
	if err != nil {
		return 0, err
	}
	return sum.Cmp(bound), nil
}

// sum returns the exact sum of the probabilities of all added paths.
func (total *pathSum) sum(ctx context.Context) (*big.Rat, error) {
	sum, summand := new(big.Rat), new(big.Rat)
	for _, term := range total.distinctProducts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		summand.SetInt64(total.counts[term])
		summand.Mul(summand, total.products.fraction(term))
		sum.Add(sum, summand)
	}
	return sum, nil
}
