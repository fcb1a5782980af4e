package pareto

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/explicit/solve"
)

// Oracle answers for weights of at least zero, of which one is positive.
type Oracle func(ctx context.Context, weights []*big.Rat) (*Answer, error)

// Answer is a point that can be had, and a number that weights·x exceeds for none.
type Answer struct {
	Point []*big.Rat
	Bound *big.Rat
}

// Curve is what is known of the points that can be had. With a point, all points
// that are nowhere greater can be had, too.
type Curve struct {
	oracle Oracle
	aims   int
	points [][]*big.Rat
	planes []plane
	// coarse is the number of bits to which weights are rounded; 0 is not at all.
	coarse uint
}

// plane is a half-space weights·x <= bound.
type plane struct {
	weights []*big.Rat
	bound   *big.Rat
}

// New returns a curve of which nothing is known. Weights are rounded to so many bits,
// since those that a linear program comes to are long: an exact oracle needs them all (0).
func New(aims int, oracle Oracle, coarse uint) *Curve {
	return &Curve{oracle: oracle, aims: aims, coarse: coarse}
}

// Best is the solution of a linear program over a curve. Point is nil where there is
// none: no point reaches the least values. It is a mean of points: Parts has the part
// of each answer of the oracle, in the order in which they were asked for.
type Best struct {
	Point, Parts []*big.Rat
	Upper        *big.Rat
}

// ErrOpen says that bounds are too wide to tell whether some point reaches the least values.
var ErrOpen = errors.New("the least values are too near the boundary of what can be had")

// maxQuestions is far more than are asked of any curve that ends.
const maxQuestions = 10_000

// Maximize returns the greatest gain·x of the points x that can be had with x >= least,
// in which nil is no limit; gain is nowhere negative. The bounds are within width of
// each other, relatively, unless those of the oracle are not.
func (c *Curve) Maximize(ctx context.Context, gain, least []*big.Rat, width float64) (*Best, error) {
	for i := len(c.planes); i < c.aims; i++ { // a box to begin with
		if _, err := c.ask(ctx, unit(c.aims, i)); err != nil {
			return nil, err
		}
	}
	for range maxQuestions {
		upper, err := c.outside(ctx, gain, least)
		if upper == nil {
			return &Best{}, err
		}
		point, parts, err := c.inside(ctx, gain, least)
		switch {
		case err != nil:
			return nil, err
		case point != nil && near(dot(gain, point), upper, width):
			return &Best{point, parts, upper}, nil
		}
		progress, err := c.refine(ctx, gain, least, point != nil, upper)
		switch {
		case err != nil:
			return nil, err
		case !progress && point == nil:
			return nil, ErrOpen
		case !progress:
			return &Best{point, parts, upper}, nil
		}
	}
	return nil, ErrOpen
}

// near reports whether two numbers differ by no more than width, relatively.
func near(lower, upper *big.Rat, width float64) bool {
	d := new(big.Rat).Sub(upper, lower)
	if d.Sign() <= 0 {
		return true
	}
	size := new(big.Rat).Abs(upper)
	if l := new(big.Rat).Abs(lower); l.Cmp(size) > 0 {
		size = l
	}
	return d.Cmp(size.Mul(size, new(big.Rat).SetFloat64(width))) <= 0
}

func unit(n, i int) []*big.Rat {
	out := zeros(n)
	out[i].SetInt64(1)
	return out
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

func dot(x, y []*big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for i := range x {
		sum.Add(sum, term.Mul(x[i], y[i]))
	}
	return sum
}

// ask has the oracle answer, and keeps what it says.
func (c *Curve) ask(ctx context.Context, weights []*big.Rat) (*Answer, error) {
	a, err := c.oracle(ctx, weights)
	if err != nil {
		return nil, err
	}
	c.points = append(c.points, a.Point)
	c.planes = append(c.planes, plane{weights, a.Bound})
	return a, nil
}

// outside returns the greatest gain in all half-spaces; nil if they exclude the least
// values. Its variables are how far each aim stays below the most that it alone can
// have, and how much each inequality has to spare.
func (c *Curve) outside(ctx context.Context, gain, least []*big.Rat) (*big.Rat, error) {
	p := &solve.LinearProgram{}
	most := make([]*big.Rat, c.aims)
	top := new(big.Rat)
	for i := range most {
		most[i] = c.planes[i].bound
		top.Add(top, new(big.Rat).Mul(gain[i], most[i]))
		p.Gain = append(p.Gain, new(big.Rat).Neg(gain[i]))
	}
	for i, t := range least {
		if t == nil {
			continue
		}
		p.Row(new(big.Rat).Sub(most[i], t), solve.Term{Var: i, Coeff: one()}, solve.Term{Var: p.Variable(), Coeff: one()})
	}
	for _, h := range c.planes[c.aims:] {
		var row []solve.Term
		for i, w := range h.weights {
			if w.Sign() > 0 {
				row = append(row, solve.Term{Var: i, Coeff: w})
			}
		}
		over := dot(h.weights, most)
		p.Row(over.Sub(over, h.bound), append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	best, _, err := p.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return best.Add(best, top), nil
}

func one() *big.Rat { return big.NewRat(1, 1) }

// inside returns the mean of points with the greatest gain, and their parts; nil if none
// of them reaches the least values. Its variables are the parts of the points.
func (c *Curve) inside(ctx context.Context, gain, least []*big.Rat) (mean, lambda []*big.Rat, err error) {
	p := &solve.LinearProgram{}
	var parts []solve.Term
	for j, x := range c.points {
		p.Gain = append(p.Gain, dot(gain, x))
		parts = append(parts, solve.Term{Var: j, Coeff: one()})
	}
	p.Row(one(), parts...)
	for i, t := range least {
		if t == nil {
			continue
		}
		var row []solve.Term
		for j, x := range c.points {
			if x[i].Sign() != 0 {
				row = append(row, solve.Term{Var: j, Coeff: x[i]})
			}
		}
		p.Row(t, append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	_, lambda, err = p.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	lambda = lambda[:len(c.points)]
	mean = zeros(c.aims)
	term := new(big.Rat)
	for j, x := range c.points {
		for i := range mean {
			mean[i].Add(mean[i], term.Mul(lambda[j], x[i]))
		}
	}
	return mean, lambda, nil
}

// refine asks about a plane that separates all points from what may be the best: the
// greatest gain that is not excluded, with the least values; or, where no mean of
// points reaches these, from them. It reports whether that brought anything new.
func (c *Curve) refine(ctx context.Context, gain, least []*big.Rat, reached bool, upper *big.Rat) (bool, error) {
	weights, _, err := c.separate(ctx, gain, least, reached, upper)
	if weights == nil || err != nil {
		return false, err
	}
	weights = c.round(weights)
	known := c.most(weights)
	a, err := c.ask(ctx, weights)
	if err != nil {
		return false, err
	}
	if dot(weights, a.Point).Cmp(known) > 0 {
		return true, nil
	}
	// Nothing better: then the plane must exclude something.
	now, err := c.outside(ctx, gain, least)
	return now == nil || now.Cmp(upper) < 0, err
}

// separate returns weights such that weights·x is less for all points than for the
// target, by as much as possible, and by how much; nil if there are none. Its variables
// are the weight of the gain, if that matters, those of the limited aims, and the distance.
func (c *Curve) separate(ctx context.Context, gain, least []*big.Rat, reached bool, upper *big.Rat) (weights []*big.Rat, by *big.Rat, err error) {
	type side struct {
		normal []*big.Rat
		target *big.Rat
	}
	var sides []side
	if reached {
		sides = append(sides, side{gain, upper})
	}
	for i, t := range least {
		if t != nil {
			sides = append(sides, side{unit(c.aims, i), t})
		}
	}
	p := &solve.LinearProgram{}
	var sum []solve.Term
	for range sides {
		sum = append(sum, solve.Term{Var: p.Variable(), Coeff: one()})
	}
	p.Row(one(), sum...)
	distance := p.Variable()
	p.Gain[distance] = one()
	for _, x := range c.points {
		var row []solve.Term
		for k, s := range sides {
			d := dot(s.normal, x)
			if d.Sub(s.target, d); d.Sign() != 0 {
				row = append(row, solve.Term{Var: k, Coeff: d})
			}
		}
		row = append(row, solve.Term{Var: distance, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})
		p.Row(new(big.Rat), row...)
	}
	best, parts, err := p.Maximize(ctx)
	switch {
	case errors.Is(err, solve.ErrInfeasible):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case best.Sign() == 0:
		return nil, nil, nil
	}
	weights = zeros(c.aims)
	term := new(big.Rat)
	for k, s := range sides {
		for i := range weights {
			weights[i].Add(weights[i], term.Mul(parts[k], s.normal[i]))
		}
	}
	return weights, best, nil
}

// most returns the greatest weighted sum of the points that are known.
func (c *Curve) most(weights []*big.Rat) *big.Rat {
	known := dot(weights, c.points[0])
	for _, x := range c.points[1:] {
		if v := dot(weights, x); v.Cmp(known) > 0 {
			known = v
		}
	}
	return known
}

// round makes weights short. Any will do, those near the best ones better.
func (c *Curve) round(weights []*big.Rat) []*big.Rat {
	greatest := slices.MaxFunc(weights, (*big.Rat).Cmp)
	out := make([]*big.Rat, len(weights))
	for i, w := range weights {
		out[i] = new(big.Rat).Quo(w, greatest)
		if c.coarse > 0 {
			scaled := new(big.Int).Lsh(out[i].Num(), c.coarse)
			scaled.Quo(scaled, out[i].Denom())
			out[i].SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), c.coarse))
		}
	}
	return out
}
