package check

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/pareto"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

const (
	// curveWidth is how far a curve of bounds may be from the truth, relatively, unless
	// something else is asked for.
	curveWidth = 1e-6
	// maxCorners is far more than anybody reads.
	maxCorners = 10_000
)

// curve answers two queries, and bounds beside them: the corners of what can be had. It
// begins with the best of each, and asks between two corners for the farthest point
// from the line through them, until there is none.
func (m *multi) curve(x *sema.Multi, c *pareto.Curve, width float64) (result.Value, *result.Interval, error) {
	none := result.Value{}
	var queries []int
	for i, o := range m.objectives {
		if o.query {
			queries = append(queries, i)
		}
	}
	if len(queries) != 2 {
		return none, nil, m.unsupported(x, "found multi(...) with %d queries, want two at most", len(queries))
	}
	if !m.exact {
		m.weaken(result.Bounded)
		width = max(width, curveWidth)
	}
	k := &corners{multi: m, curve: c, queries: queries, width: width}
	err := k.find()
	switch {
	case errors.Is(err, errNever):
		return none, nil, m.unsupported(x, "found multi(...) whose objectives cannot be met, or only with an infinite reward")
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecided{x.Pos(), "the bounds of values leave open whether the objectives can be met together"}
	case err != nil:
		return none, nil, err
	case len(k.found) == 0:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	}
	out := result.Value{Kind: result.Curve, Num: k.precision}
	for _, at := range k.found {
		var point []float64
		for i, q := range queries {
			v, exact := m.objectives[q].value(at[i]).Float64()
			if point = append(point, v); !exact {
				out.Num = max(out.Num, math.Abs(v)*0x1p-52)
			}
		}
		out.Points = append(out.Points, point)
	}
	slices.SortStableFunc(out.Points, slices.Compare[[]float64])
	return out, nil, nil
}

// corners finds the corners of a curve.
type corners struct {
	*multi
	curve     *pareto.Curve
	queries   []int
	width     float64
	found     [][2]*big.Rat
	precision float64 // how far beyond the lines between them something may lie
}

func (k *corners) find() error {
	first, err := k.end(0)
	if first == nil || err != nil {
		return err
	}
	last, err := k.end(1)
	if err != nil {
		return err
	}
	k.found = append(k.found, *first)
	if k.same(*first, *last) {
		return nil
	}
	k.found = append(k.found, *last)
	return k.between(*first, *last)
}

// best returns the point that is best for some weights of the queries, and by how much a
// better one may exceed it, weighted.
func (k *corners) best(weights, least [2]*big.Rat) (*[2]*big.Rat, *big.Rat, error) {
	gain, bounds := k.aims()
	for i, q := range k.queries {
		gain[q] = weights[i]
		if least[i] != nil {
			bounds[q] = least[i]
		}
	}
	b, err := k.curve.Maximize(k.ctx, gain, bounds, k.width)
	if err != nil || b.Point == nil {
		return nil, nil, err
	}
	at := [2]*big.Rat{b.Point[k.queries[0]], b.Point[k.queries[1]]}
	return &at, b.Upper, nil
}

// end returns the point with the greatest value of one query, and of those the one with
// the greatest value of the other.
func (k *corners) end(i int) (*[2]*big.Rat, error) {
	var weights, least [2]*big.Rat
	weights[i], weights[1-i] = big.NewRat(1, 1), new(big.Rat)
	at, upper, err := k.best(weights, least)
	if at == nil || err != nil {
		return nil, err
	}
	k.note(at[i], upper)
	least[i] = at[i]
	weights[i], weights[1-i] = new(big.Rat), big.NewRat(1, 1)
	at, _, err = k.best(weights, least)
	return at, err
}

// note notes by how much a value may be exceeded.
func (k *corners) note(value, upper *big.Rat) {
	if d := new(big.Rat).Sub(upper, value); d.Sign() > 0 {
		_, more := result.Around(d)
		k.precision = max(k.precision, more)
	}
}

func (k *corners) same(x, y [2]*big.Rat) bool {
	for i := range x {
		d := new(big.Rat).Sub(x[i], y[i])
		size := new(big.Rat).Abs(x[i])
		if d.Abs(d).Cmp(size.Mul(size, new(big.Rat).SetFloat64(k.width))) > 0 {
			return false
		}
	}
	return true
}

// between finds the corners between two.
func (k *corners) between(x, y [2]*big.Rat) error {
	normal := [2]*big.Rat{new(big.Rat).Sub(y[1], x[1]), new(big.Rat).Sub(x[0], y[0])}
	if normal[0].Sign() <= 0 || normal[1].Sign() <= 0 || len(k.found) >= maxCorners {
		return nil
	}
	sum := new(big.Rat).Add(normal[0], normal[1])
	for i := range normal {
		normal[i] = normal[i].Quo(normal[i], sum)
	}
	weigh := func(z [2]*big.Rat) *big.Rat {
		v := new(big.Rat).Mul(normal[0], z[0])
		return v.Add(v, new(big.Rat).Mul(normal[1], z[1]))
	}
	at, upper, err := k.best(normal, [2]*big.Rat{})
	if at == nil || err != nil {
		return err
	}
	line := weigh(x)
	slack := new(big.Rat).Abs(line)
	slack.Mul(slack, new(big.Rat).SetFloat64(k.width))
	if slack.Add(slack, line); weigh(*at).Cmp(slack) <= 0 || k.same(*at, x) || k.same(*at, y) {
		k.note(line, upper)
		return nil
	}
	k.found = append(k.found, *at)
	if err := k.between(x, *at); err != nil {
		return err
	}
	return k.between(*at, y)
}
