package explicit

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// unit is the greatest relative error of one rounding.
const unit = 0x1p-53

// closeTo is the greatest relative error that a double computed by the model may
// have. Where it may be greater the number is computed with fractions.
const closeTo = 0x1p-40

// closeEnough is the greatest relative error for which nobody looks whether it
// is smaller: some roundings.
const closeEnough = 0x1p-48

// amount is what is known about a number in every state: its double is within
// err of it, relatively, which is NaN where that is not known. A double with
// such an error has the number's sign, zero included. The number lies between
// lo and hi and is, unless zero, at least tiny in size.
type amount struct{ err, lo, hi, tiny float64 }

func unknown() amount { return amount{err: math.NaN()} }

func (a amount) most() float64 { return max(math.Abs(a.lo), math.Abs(a.hi)) }

// checked gives up an amount that is not close, or where doubles may be near the
// ends of their range.
func (a amount) checked() amount {
	if !(a.err <= closeTo && a.most() <= sparse.MaxNumber && a.tiny >= sparse.MinNumber) {
		return unknown()
	}
	return a
}

// analysis knows what is computed well in all states.
type analysis struct {
	doubles sema.Doubles
	kept    sema.Memo[amount]
}

// of analyses an expression; nil is the constant 1.
func (n *analysis) of(e sema.Expr) amount {
	if e == nil {
		return amount{0, 1, 1, 1}
	}
	if e.Type() == sema.Int {
		lo, hi := n.doubles.Range(e)
		return amount{0, lo, hi, 1}
	}
	if x, ok := n.kept.Get(e); ok {
		return x
	}
	return n.kept.Put(e, n.number(e))
}

func (n *analysis) number(e sema.Expr) amount {
	switch e := e.(type) {
	case *sema.Const:
		return constant(e)
	case *sema.Unary:
		x := n.of(e.X)
		x.lo, x.hi = -x.hi, -x.lo
		return x
	case *sema.Binary:
		return n.binary(e).checked()
	case *sema.Cond:
		return n.of(e.A).or(n.of(e.B))
	case *sema.Call:
		if e.Func != sema.FuncMin && e.Func != sema.FuncMax {
			return unknown()
		}
		x := n.of(e.Args[0])
		for _, a := range e.Args[1:] {
			x = x.or(n.of(a))
		}
		return x
	}
	return unknown()
}

func constant(c *sema.Const) amount {
	x, err := sema.Enclose(c, nil)
	if err != nil {
		return unknown()
	}
	return exactly(c.Val.Float, enclosureError(c.Val.Float, x)).checked()
}

// exactly is the amount of one double.
func exactly(f, err float64) amount {
	if f == 0 {
		return amount{err, 0, 0, math.Inf(1)}
	}
	return amount{err, f, f, math.Abs(f)}
}

// or is one of two amounts, or their minimum or maximum: numbers of different
// sign are not confused, others only if they are within the error of each other.
func (a amount) or(b amount) amount {
	return amount{max(a.err, b.err), min(a.lo, b.lo), max(a.hi, b.hi), min(a.tiny, b.tiny)}
}

func (n *analysis) binary(e *sema.Binary) amount {
	x, y := n.of(e.X), n.of(e.Y)
	switch e.Op {
	case syntax.OpMul:
		return x.times(y, x.tiny*y.tiny)
	case syntax.OpDiv:
		// Where y is zero there is no number, neither with doubles nor exactly.
		most := 1 / y.tiny
		inverse := amount{y.err, -most, most, 1 / y.most()}
		if y.lo >= 0 {
			inverse.lo = 0
		}
		if y.hi <= 0 {
			inverse.hi = 0
		}
		return x.times(inverse, x.tiny/y.most())
	case syntax.OpAdd:
		return x.plus(y)
	case syntax.OpSub:
		return x.plus(amount{y.err, -y.hi, -y.lo, y.tiny})
	}
	return unknown()
}

func (a amount) times(b amount, tiny float64) amount {
	out := amount{err: 1.01 * (a.err + b.err + unit), tiny: tiny}
	out.lo = min(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi)
	out.hi = max(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi)
	return out
}

// plus adds. Where the signs are different nothing is known unless the sum keeps
// away from zero.
func (a amount) plus(b amount) amount {
	out := amount{lo: a.lo + b.lo, hi: a.hi + b.hi}
	if a.lo >= 0 && b.lo >= 0 || a.hi <= 0 && b.hi <= 0 {
		out.err, out.tiny = 1.01*(max(a.err, b.err)+unit), min(a.tiny, b.tiny)
		return out
	}
	size := a.most() + b.most()
	least := max(out.lo, -out.hi) - 1e-9*size // the ends are rounded themselves
	if !(least > 0) {
		return unknown()
	}
	off := a.err*a.most() + b.err*b.most()
	out.err, out.tiny = 1.01*(off/least+unit), least
	return out
}

// relativeError bounds the relative difference between f and x. It is infinite
// if one of them is zero, and for what is no number.
func relativeError(f float64, x *big.Rat) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return math.Inf(1)
	}
	d := new(big.Rat).SetFloat64(f)
	d.Sub(d, x)
	if d.Sign() == 0 {
		return 0
	}
	if x.Sign() == 0 || f == 0 {
		return math.Inf(1)
	}
	e, _ := d.Quo(d.Abs(d), new(big.Rat).Abs(x)).Float64()
	return 1.01 * e
}

// enclosureError is relativeError for a number that may only be known to be
// between two others; it is infinite where they say little.
func enclosureError(f float64, x sema.Enclosed) float64 {
	lo, hi, ok := x.Ends()
	if !ok || lo.Sign() != hi.Sign() {
		return math.Inf(1)
	}
	return max(relativeError(f, lo), relativeError(f, hi))
}

// weightErrors bounds how far the computed weights are from what the model
// says: 1-0.9 is a tenth, but not in doubles. Not safe for concurrent use.
type weightErrors struct {
	p *sema.Program
	// updates[m][c][u] is a probability of an update.
	updates [][][]factor
	// full[m][c] says that the probabilities of a command are constants that
	// sum to one, exactly.
	full [][]bool
	// moves[i] is about the product of a move's probabilities; it has as many
	// moves as have been met.
	moves []move
}

// factor is what is known about a probability in every state. Where that is
// nothing, num evaluates it, its double is off by slack at most, and met has how far
// it was in states that were met.
type factor struct {
	amount
	num   compile.Evaluator
	slack float64
	met   *met
}

// met keeps numbers for expressions with the same values of some variables: many
// states share those of the few that a probability has.
type met struct {
	vars []int // slots
	low  []int32
	size []uint64
	kept map[uint64]float64
}

// maxMet is how many numbers are kept.
const maxMet = 1 << 16

// newMet returns nil where values have no number of 64 bits.
func newMet(p *sema.Program, e sema.Expr) *met {
	x := &met{kept: make(map[uint64]float64)}
	all := uint64(1)
	sema.Inspect(e, func(e sema.Expr) bool {
		if v, ok := e.(*sema.Var); ok && !slices.Contains(x.vars, v.Slot) {
			low, high := p.Vars[v.Slot].Low, p.Vars[v.Slot].High
			if !p.Vars[v.Slot].Bounded {
				low, high = math.MinInt32, math.MaxInt32
			}
			size := uint64(int64(high) - int64(low) + 1)
			over, next := bits.Mul64(all, size)
			if all = next; over != 0 {
				all = 0
			}
			x.vars, x.low, x.size = append(x.vars, v.Slot), append(x.low, low), append(x.size, size)
		}
		return true
	})
	if all == 0 {
		return nil
	}
	return x
}

// key is the number of the values that the variables have.
func (x *met) key(state []int32) uint64 {
	k := uint64(0)
	for i, v := range x.vars {
		k = k*x.size[i] + uint64(int64(state[v])-int64(x.low[i]))
	}
	return k
}

// error is stateError for the factor of an expression.
func (x *factor) error(e sema.Expr, f float64, state []int32) (float64, error) {
	if x.met == nil {
		return stateError(e, f, state)
	}
	k := x.met.key(state)
	if off, ok := x.met.kept[k]; ok {
		return off, nil
	}
	off, err := stateError(e, f, state)
	if err == nil && len(x.met.kept) < maxMet {
		x.met.kept[k] = off
	}
	return off, err
}

// move is what is known about all weights of a move: err is as in amount, and
// exactSum says that they sum to one.
type move struct {
	err      float64
	exactSum bool
}

func newWeightErrors(m *compile.Model) (*weightErrors, error) {
	w := &weightErrors{p: m.Program()}
	known := analysis{doubles: sema.NewDoubles(w.p)}
	for _, mod := range w.p.Modules {
		var updates [][]factor
		var full []bool
		for _, c := range mod.Commands {
			fs := make([]factor, len(c.Updates))
			for i, u := range c.Updates {
				if fs[i].amount = known.of(u.Prob); !math.IsNaN(fs[i].err) {
					continue
				}
				var err error
				if fs[i].num, err = m.Evaluator(u.Prob); err != nil {
					return nil, err
				}
				fs[i].slack, fs[i].met = known.doubles.Error(u.Prob), newMet(w.p, u.Prob)
			}
			updates, full = append(updates, fs), append(full, sumsToOne(c.Updates))
		}
		w.updates, w.full = append(w.updates, updates), append(w.full, full)
	}
	return w, nil
}

// sumsToOne reports whether probabilities are constants whose sum is one.
func sumsToOne(us []sema.Update) bool {
	sum := new(big.Rat)
	for _, u := range us {
		c, ok := u.Prob.(*sema.Const)
		switch {
		case u.Prob == nil:
			sum.Add(sum, big.NewRat(1, 1))
		case ok && c.Val.Rat != nil:
			sum.Add(sum, c.Val.Rat)
		default:
			return false
		}
	}
	return sum.Cmp(big.NewRat(1, 1)) == 0
}

// doubtful is what weightErrors says of a state whose weights have to be
// computed with fractions.
type doubtful struct{ error }

// of bounds the relative error of every weight of a state: that of the product
// of the probabilities, of adding equal targets up, and of dividing by the sum.
// Where probabilities do not quite sum to one, that counts as an error, too: the
// weights meant are those divided by their sum. The state is only asked for
// where the error depends on it. The error is doubtful where no bound is small.
func (w *weightErrors) of(state func() []int32, moves []compile.Move, cs compile.PackedChoices) (float64, error) {
	for i := len(w.moves); i < len(moves); i++ {
		w.moves = append(w.moves, w.static(moves[i]))
	}
	worst, terms := 0.0, 0
	for i, mv := range cs.Moves {
		e := w.moves[mv].err
		if math.IsNaN(e) {
			var err error
			if e, err = w.dynamic(state(), moves[mv]); err != nil {
				return 0, err
			}
		}
		n := int(cs.Transitions[i])
		terms += n
		rounded := float64(n) * unit
		if w.p.Type != syntax.CTMC && !w.moves[mv].exactSum {
			sum := 0.0
			for _, x := range cs.Weights[terms-n : terms] {
				sum += x
			}
			e += math.Abs(sum-1) + e + rounded
		}
		worst = max(worst, e+rounded)
	}
	return 1.01 * (worst + float64(terms+1)*unit), nil
}

// static bounds the error of the product of a move's probabilities in every
// state; it is NaN where that depends on the state.
func (w *weightErrors) static(mv compile.Move) move {
	out := move{exactSum: true}
	least, most := 1.0, 1.0
	for _, ref := range mv.Commands {
		worst := amount{tiny: 1}
		for _, x := range w.updates[ref.Module][ref.Command] {
			worst = worst.or(x.amount) // max propagates NaN
		}
		out.err += worst.err + unit
		out.exactSum = out.exactSum && w.full[ref.Module][ref.Command]
		least, most = least*min(worst.tiny, 1), most*max(worst.hi, 1)
	}
	if !(least >= sparse.MinNumber && most <= sparse.MaxNumber) {
		out.err = math.NaN()
	}
	return out
}

// dynamic is static for one state.
func (w *weightErrors) dynamic(state []int32, mv compile.Move) (float64, error) {
	e, least, most := 0.0, 1.0, 1.0
	for _, ref := range mv.Commands {
		worst := amount{tiny: 1}
		for i := range w.updates[ref.Module][ref.Command] {
			x := &w.updates[ref.Module][ref.Command][i]
			known := x.amount
			if math.IsNaN(known.err) {
				f, err := x.num.Num(state)
				if err != nil {
					return 0, err
				}
				off := x.slack / math.Abs(f)
				if !(off <= closeEnough) {
					if off, err = x.error(w.p.Modules[ref.Module].Commands[ref.Command].Updates[i].Prob, f, state); err != nil {
						return 0, err
					}
				}
				known = exactly(f, 1.01*off)
			}
			worst = worst.or(known)
		}
		e += worst.err + unit
		least, most = least*worst.tiny, most*max(worst.hi, 1)
	}
	if !(least >= sparse.MinNumber && most <= sparse.MaxNumber) {
		return 0, doubtful{errors.New("a probability or rate is too small or too large for doubles")}
	}
	return e, nil
}

// stateError bounds the relative error of the double f of an expression in a
// state. The error is doubtful if that is not close to the exact value.
func stateError(e sema.Expr, f float64, state []int32) (float64, error) {
	x, err := sema.Enclose(e, state)
	if err != nil {
		return 0, doubtful{err}
	}
	off := enclosureError(f, x)
	if !(off <= closeTo) {
		return 0, doubtful{errors.New("a number is not close to the exact value")}
	}
	return off, nil
}
