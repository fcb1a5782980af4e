package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// exactLocal is a local system of equations in rational arithmetic.
type exactLocal struct {
	*local
	rows   []exactRow // by choice
	common *big.Int   // a common denominator of the constants
	choice []uint32   // of each unknown
	// The value of unknown k is num[k] / (den * common).
	num []*big.Int
	den *big.Int
}

// exactRow says what a choice is worth, times scale: constant + sum of
// coef * x(col). All but the constant are integers.
type exactRow struct {
	scale    *big.Int
	unit     *big.Int // a common denominator of the weights, which a reward is multiplied by
	col      []uint32
	coef     []*big.Int
	constant *big.Rat
	integer  *big.Int // constant times the common denominator
}

// exactLocal copies the equations of a component that l has in doubles.
func (y *system) exactLocal(l *local, ws *workspace) *exactLocal {
	e := &exactLocal{local: l, choice: slices.Clone(l.how)}
	for _, c := range l.origin {
		s := y.g.Owner(c)
		e.rows = append(e.rows, y.exactRow(s, int(c), ws.number[s], ws, y.reward.GainRat(s, int(c))))
	}
	e.common = integral(e.rows)
	return e
}

// integral multiplies the constants by a common denominator, which it returns.
func integral(rows []exactRow) *big.Int {
	common := big.NewInt(1)
	var quo, left big.Int
	for i := range rows {
		d := rows[i].constant.Denom()
		if quo.QuoRem(common, d, &left); left.Sign() != 0 {
			left.GCD(nil, nil, common, d)
			common = new(big.Int).Mul(common, quo.Quo(d, &left))
		}
	}
	for i := range rows {
		c := rows[i].constant
		quo.Quo(common, c.Denom())
		rows[i].integer = new(big.Int).Mul(c.Num(), &quo)
	}
	return common
}

// exactRow is localRow, exactly, for a gain given. The choice must leave home.
func (y *system) exactRow(s, c int, home uint32, ws *workspace, gain *big.Rat) exactRow {
	first, end := y.g.Row(c)
	scale := big.NewInt(1) // a common denominator of the weights
	var quo, left big.Int
	for i := first; i < end; i++ {
		d := y.g.Rat(i).Denom()
		if quo.QuoRem(scale, d, &left); left.Sign() != 0 {
			left.GCD(nil, nil, scale, d)
			scale = new(big.Int).Mul(scale, quo.Quo(d, &left))
		}
	}
	r := exactRow{scale: scale, unit: scale}
	returns := y.g.Kind == sparse.CTMC
	sum := new(big.Int)
	y.sum.reset()
	y.sum.addRat(gain)
	for i := first; i < end; i++ {
		t, w := int(y.g.Target[i]), y.g.Rat(i)
		k := ws.number[t]
		if k == home {
			returns = true
			continue
		}
		coef := new(big.Int).Quo(scale, w.Denom())
		coef.Mul(coef, w.Num())
		sum.Add(sum, coef)
		if k != sparse.None {
			r.col, r.coef = append(r.col, k), append(r.coef, coef)
			continue
		}
		y.term.reset()
		y.term.addRat(y.v.Exact[t])
		y.sum.addProduct(w, &y.term)
	}
	y.sum.num.Mul(&y.sum.num, scale)
	r.constant = y.sum.rat()
	if returns {
		r.scale = sum
	}
	return r
}

// iterate evaluates the choices and improves them until none is better. From
// choices that leave the component, improvement leads to such choices only.
func (e *exactLocal) iterate(mt *meter) error {
	if !e.leaves() {
		e.choice = e.leaving()
	}
	for {
		if err := e.evaluate(mt); err != nil {
			return err
		}
		if !e.improve() {
			return nil
		}
	}
}

// leaves reports whether every unknown is left with probability one under the
// choices made.
func (e *exactLocal) leaves() bool {
	users := e.users()
	left := make([]bool, len(e.choice))
	var queue []uint32
	for k, j := range e.choice {
		if left[k] = j == sparse.None || e.exit[j] > 0; left[k] {
			queue = append(queue, uint32(k))
		}
	}
	for at := 0; at < len(queue); at++ {
		for _, j := range users.of(queue[at]) {
			if k := users.owner[j]; e.choice[k] == j && !left[k] {
				left[k] = true
				queue = append(queue, k)
			}
		}
	}
	return len(queue) == len(left)
}

// worth returns what a choice is worth, times its scale and both denominators.
func (e *exactLocal) worth(j uint32) *big.Int {
	r := &e.rows[j]
	sum, product := new(big.Int).Mul(r.integer, e.den), new(big.Int)
	for i, k := range r.col {
		sum.Add(sum, product.Mul(r.coef[i], e.num[k]))
	}
	return sum
}

// improve takes the best choice of each unknown where that is better than the
// one made, and reports whether it was anywhere.
func (e *exactLocal) improve() bool {
	changed := false
	one := big.NewInt(1)
	var left, right big.Int
	for k, x := range e.num {
		scale := one
		now := e.choice[k]
		for j := e.first[k]; j < e.first[k+1]; j++ {
			if j == now {
				continue
			}
			v := e.worth(j)
			if how := left.Mul(v, scale).Cmp(right.Mul(x, e.rows[j].scale)); how != 0 && (how < 0) == e.min {
				x, scale = v, e.rows[j].scale
				e.choice[k], changed = j, true
			}
		}
	}
	return changed
}

// evaluate solves the equations of the choices made.
func (e *exactLocal) evaluate(mt *meter) error {
	nothing := exactRow{scale: big.NewInt(1), integer: new(big.Int)} // of what cannot be left
	rows := make([]*exactRow, len(e.choice))
	for k, j := range e.choice {
		rows[k] = &nothing
		if j != sparse.None {
			rows[k] = &e.rows[j]
		}
	}
	f, err := newLifting(mt, rows)
	if err == nil {
		e.num, e.den, err = f.solve(mt, func(k int) *big.Int { return rows[k].integer })
	}
	return err
}

// value returns the value of an unknown.
func (e *exactLocal) value(k uint32) *big.Rat {
	return new(big.Rat).SetFrac(e.num[k], new(big.Int).Mul(e.den, e.common))
}
