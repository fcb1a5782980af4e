package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// exactLocal is a local system of equations in rational arithmetic.
type exactLocal struct {
	min    bool
	first  []uint32 // choices of each unknown, numbered as in the local system
	rows   []exactRow
	choice []uint32   // of each unknown
	x      []*big.Rat // value of each unknown
	start  []uint32   // choices that leave every unknown
}

// exactRow says what a choice is worth: constant + sum of weight * x(col).
type exactRow struct {
	col      []uint32
	weight   []*big.Rat
	constant *big.Rat
}

// exactLocal copies the equations of a component that l has in doubles.
func (y *exactSystem) exactLocal(l *local, ws *workspace) *exactLocal {
	e := &exactLocal{min: l.min, first: l.first, start: l.leaving()}
	for k := range len(l.first) - 1 {
		for j := l.first[k]; j < l.first[k+1]; j++ {
			c := int(l.origin[j])
			r, _ := y.exactRow(y.g.Owner(uint32(c)), c, uint32(k), ws)
			e.rows = append(e.rows, r)
		}
	}
	e.choice = slices.Clone(l.how)
	return e
}

// exactRow is localRow, exactly. It reports false for a choice that does not
// leave the unknown.
func (y *exactSystem) exactRow(s, c int, home uint32, ws *workspace) (exactRow, bool) {
	constant, sum := y.gainRat(s, c), new(big.Rat)
	var r exactRow
	product := new(big.Rat)
	returns := y.g.Kind == sparse.CTMC
	first, end := y.g.Row(c)
	for i := first; i < end; i++ {
		t, w := int(y.g.Target[i]), y.g.Rat(i)
		switch k := ws.number[t]; {
		case k == home:
			returns = true
			continue
		case k != sparse.None:
			r.col, r.weight = append(r.col, k), append(r.weight, w)
		default:
			constant.Add(constant, product.Mul(w, y.value[t]))
		}
		sum.Add(sum, w)
	}
	if sum.Sign() == 0 {
		return r, false
	}
	if returns {
		constant.Quo(constant, sum)
		for i, w := range r.weight {
			r.weight[i] = new(big.Rat).Quo(w, sum)
		}
	}
	r.constant = constant
	return r, true
}

// worth returns what a choice is worth, given the values of the unknowns.
func (e *exactLocal) worth(j uint32) *big.Rat {
	r := &e.rows[j]
	if len(r.col) == 0 {
		return r.constant
	}
	sum, product := new(big.Rat).Set(r.constant), new(big.Rat)
	for i, k := range r.col {
		sum.Add(sum, product.Mul(r.weight[i], e.x[k]))
	}
	return sum
}

// iterate evaluates the choices and improves them until none is better. From
// choices that leave the component, improvement leads to such choices only.
func (e *exactLocal) iterate(mt *meter) error {
	ok, err := e.evaluate(mt)
	if err != nil {
		return err
	}
	if !ok {
		copy(e.choice, e.start)
		if _, err := e.evaluate(mt); err != nil {
			return err
		}
	}
	for e.improve() {
		if _, err := e.evaluate(mt); err != nil {
			return err
		}
	}
	return nil
}

// improve takes the best choice of each unknown where that is better than the
// one made, and reports whether it was anywhere.
func (e *exactLocal) improve() bool {
	changed := false
	for k, x := range e.x {
		for j := e.first[k]; j < e.first[k+1]; j++ {
			if j == e.choice[k] {
				continue
			}
			if v := e.worth(j); v.Cmp(x) != 0 && (v.Cmp(x) < 0) == e.min {
				x, e.choice[k], changed = v, j, true
			}
		}
	}
	return changed
}

// evaluate solves the equations of the choices made. It reports false when
// they do not leave the component.
func (e *exactLocal) evaluate(mt *meter) (bool, error) {
	el := newElimination(len(e.choice))
	for k, j := range e.choice {
		el.b[k] = []*big.Rat{new(big.Rat)}
		if j == sparse.None {
			continue
		}
		r := &e.rows[j]
		el.b[k][0].Set(r.constant)
		for i, t := range r.col {
			el.add(uint32(k), t, r.weight[i])
		}
	}
	if ok, err := el.run(mt); err != nil || !ok {
		return false, err
	}
	e.x = e.x[:0]
	for _, x := range el.substitute() {
		e.x = append(e.x, x[0])
	}
	return true, nil
}

// elimination removes unknowns from x = A x + b one by one, for several b at
// once. into[k] has the rows with a term in k; done holds the order of removal.
type elimination struct {
	a    []map[uint32]*big.Rat
	b    [][]*big.Rat // of each unknown
	into []map[uint32]bool
	done []uint32
	gone []bool
}

// newElimination returns n equations without terms; b is to be filled in.
func newElimination(n int) *elimination {
	el := &elimination{
		a: make([]map[uint32]*big.Rat, n), b: make([][]*big.Rat, n),
		into: make([]map[uint32]bool, n), gone: make([]bool, n),
	}
	for k := range n {
		el.a[k], el.into[k] = map[uint32]*big.Rat{}, map[uint32]bool{}
	}
	return el
}

// add adds w to the weight of t in row k.
func (el *elimination) add(k, t uint32, w *big.Rat) {
	old := el.a[k][t]
	if old == nil {
		old = new(big.Rat)
		el.a[k][t] = old
		el.into[t][k] = true
	}
	old.Add(old, w)
}

// run eliminates all unknowns. It reports false when one is never left.
func (el *elimination) run(mt *meter) (bool, error) {
	for range el.a {
		ok := el.eliminate(el.next())
		if err := mt.did(workPerPoll / 16); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// next returns the unknown whose removal creates the fewest terms, the first of them.
func (el *elimination) next() uint32 {
	best, cost := uint32(0), -1
	for k := range el.a {
		if el.gone[k] {
			continue
		}
		if c := len(el.a[k]) * len(el.into[k]); cost < 0 || c < cost {
			best, cost = uint32(k), c
		}
	}
	return best
}

// eliminate solves row k for its unknown and puts it into the others.
func (el *elimination) eliminate(k uint32) bool {
	if !el.normalise(k) {
		return false
	}
	product := new(big.Rat)
	for i := range el.into[k] {
		f := el.a[i][k]
		delete(el.a[i], k)
		for t, w := range el.a[k] {
			el.add(i, t, new(big.Rat).Mul(f, w))
		}
		for j, b := range el.b[i] {
			b.Add(b, product.Mul(f, el.b[k][j]))
		}
	}
	for t := range el.a[k] {
		delete(el.into[t], k)
	}
	el.gone[k] = true
	el.done = append(el.done, k)
	return true
}

// normalise moves the term of unknown k in its own row to the left.
func (el *elimination) normalise(k uint32) bool {
	self := el.a[k][k]
	if self == nil {
		return true
	}
	rest := new(big.Rat).Sub(big.NewRat(1, 1), self)
	if rest.Sign() <= 0 {
		return false
	}
	delete(el.a[k], k)
	delete(el.into[k], k)
	for _, w := range el.a[k] {
		w.Quo(w, rest)
	}
	for _, b := range el.b[k] {
		b.Quo(b, rest)
	}
	return true
}

// substitute returns the unknowns: each row has terms only in unknowns that
// were removed after its own.
func (el *elimination) substitute() [][]*big.Rat {
	product := new(big.Rat)
	for _, k := range slices.Backward(el.done) {
		for t, w := range el.a[k] {
			for j, b := range el.b[k] {
				b.Add(b, product.Mul(w, el.b[t][j]))
			}
		}
	}
	return el.b
}
