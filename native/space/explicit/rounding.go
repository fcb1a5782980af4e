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

// unit is the unit roundoff: the largest relative error of one rounding.
const unit = 0x1p-53

// maxError is the largest relative error that a float64 weight or reward may have. A number with a
// larger error is computed with fractions.
const maxError = 0x1p-40

// negligibleError is the size of an error bound, a few roundings, that is not worth tightening.
const negligibleError = 0x1p-48

// numberFacts holds what is known about an expression in all states. Its float64 value has the
// relative error err at most, NaN if no bound is known. With such a bound the float64 has the
// right sign, or is zero if the value is. The value lies between lo and hi and is zero or at least
// minAbs in absolute value.
type numberFacts struct{ err, lo, hi, minAbs float64 }

func unknown() numberFacts { return numberFacts{err: math.NaN()} }

// magnitude returns the largest absolute value.
func (a numberFacts) magnitude() float64 { return max(math.Abs(a.lo), math.Abs(a.hi)) }

// checked returns unknown facts if the error is too large or the value may leave the range of
// float64.
func (a numberFacts) checked() numberFacts {
	if !(a.err <= maxError && a.magnitude() <= sparse.MaxNumber && a.minAbs >= sparse.MinNumber) {
		return unknown()
	}
	return a
}

// analysis computes the facts of expressions.
type analysis struct {
	floats sema.FloatAnalysis
	kept   sema.Memo[numberFacts]
}

// of returns the facts of an expression; nil stands for the constant 1.
func (n *analysis) of(e sema.Expr) numberFacts {
	if e == nil {
		return numberFacts{0, 1, 1, 1}
	}
	if e.Type() == sema.Int {
		lo, hi := n.floats.Range(e)
		return numberFacts{0, lo, hi, 1}
	}
	if x, ok := n.kept.Get(e); ok {
		return x
	}
	return n.kept.Put(e, n.number(e))
}

// number analyses an expression of type Double.
func (n *analysis) number(e sema.Expr) numberFacts {
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

func constant(c *sema.Const) numberFacts {
	x, err := sema.Enclose(c, nil)
	if err != nil {
		return unknown()
	}
	return exactly(c.Val.Float, enclosureError(c.Val.Float, x)).checked()
}

// exactly returns the facts of a single float64 with the given relative error.
func exactly(f, err float64) numberFacts {
	if f == 0 {
		return numberFacts{err, 0, 0, math.Inf(1)}
	}
	return numberFacts{err, f, f, math.Abs(f)}
}

// or returns facts that hold for either of two numbers, and for their minimum and maximum: these
// pick the wrong number only if the two are within their errors.
func (a numberFacts) or(b numberFacts) numberFacts {
	return numberFacts{max(a.err, b.err), min(a.lo, b.lo), max(a.hi, b.hi), min(a.minAbs, b.minAbs)}
}

func (n *analysis) binary(e *sema.Binary) numberFacts {
	x, y := n.of(e.X), n.of(e.Y)
	switch e.Op {
	case syntax.OpMul:
		return x.times(y, x.minAbs*y.minAbs)
	case syntax.OpDiv:
		// Division by zero is an error in float64 and in exact arithmetic.
		magnitude := 1 / y.minAbs
		inverse := numberFacts{y.err, -magnitude, magnitude, 1 / y.magnitude()}
		if y.lo >= 0 {
			inverse.lo = 0
		}
		if y.hi <= 0 {
			inverse.hi = 0
		}
		return x.times(inverse, x.minAbs/y.magnitude())
	case syntax.OpAdd:
		return x.plus(y)
	case syntax.OpSub:
		return x.plus(numberFacts{y.err, -y.hi, -y.lo, y.minAbs})
	}
	return unknown()
}

// times returns the facts of a product, whose absolute value is at least minAbs.
func (a numberFacts) times(b numberFacts, minAbs float64) numberFacts {
	out := numberFacts{err: 1.01 * (a.err + b.err + unit), minAbs: minAbs}
	out.lo = min(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi)
	out.hi = max(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi)
	return out
}

// plus returns the facts of a sum. If the signs may differ, the error is bounded only if the sum
// cannot be close to zero.
func (a numberFacts) plus(b numberFacts) numberFacts {
	out := numberFacts{lo: a.lo + b.lo, hi: a.hi + b.hi}
	if a.lo >= 0 && b.lo >= 0 || a.hi <= 0 && b.hi <= 0 {
		out.err, out.minAbs = 1.01*(max(a.err, b.err)+unit), min(a.minAbs, b.minAbs)
		return out
	}
	total := a.magnitude() + b.magnitude()
	least := max(out.lo, -out.hi) - 1e-9*total // the bounds are rounded themselves
	if !(least > 0) {
		return unknown()
	}
	off := a.err*a.magnitude() + b.err*b.magnitude()
	out.err, out.minAbs = 1.01*(off/least+unit), least
	return out
}

// relativeError bounds the relative difference between f and x. It is infinite if only one of them
// is zero, or if f is not finite.
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

// enclosureError is relativeError for a number in an enclosure. It is infinite if the enclosure
// may contain both signs.
func enclosureError(f float64, x sema.Enclosed) float64 {
	lo, hi, ok := x.Ends()
	if !ok || lo.Sign() != hi.Sign() {
		return math.Inf(1)
	}
	return max(relativeError(f, lo), relativeError(f, hi))
}

// weightErrors bounds the differences between the float64 weights and the exact weights of the
// model: 1-0.9 is a tenth only exactly. Not safe for concurrent use.
type weightErrors struct {
	p *sema.Program
	// updates[m][c][u] describes the probability of update u of command c of module m.
	updates [][][]factor
	// sumIsOne[m][c] says that the probabilities of a command are constants with sum 1.
	sumIsOne [][]bool
	// moves[i] describes the product of the probabilities of move i, for the moves seen so far.
	moves []moveError
}

// factor describes a probability. If no error bound holds in every state, num evaluates it,
// absErr bounds its absolute error, and valueCache holds relative errors computed earlier.
type factor struct {
	numberFacts
	num        compile.Evaluator
	absErr     float64
	valueCache *valueCache
}

// valueCache caches a number per valuation of some variables. A probability has few variables, so
// many states share an entry.
type valueCache struct {
	vars    []int // slots
	low     []int32
	size    []uint64
	numbers map[uint64]float64
}

// maxCached is the largest number of entries of a valueCache.
const maxCached = 1 << 16

// newValueCache returns a cache for the variables of e; nil if their valuations do not fit 64
// bits.
func newValueCache(p *sema.Program, e sema.Expr) *valueCache {
	x := &valueCache{numbers: make(map[uint64]float64)}
	count := uint64(1)
	sema.Inspect(e, func(e sema.Expr) bool {
		if v, ok := e.(*sema.Var); ok && !slices.Contains(x.vars, v.Slot) {
			low, high := p.Vars[v.Slot].Low, p.Vars[v.Slot].High
			if !p.Vars[v.Slot].Bounded {
				low, high = math.MinInt32, math.MaxInt32
			}
			size := uint64(int64(high) - int64(low) + 1)
			overflow, next := bits.Mul64(count, size)
			if count = next; overflow != 0 {
				count = 0
			}
			x.vars, x.low, x.size = append(x.vars, v.Slot), append(x.low, low), append(x.size, size)
		}
		return true
	})
	if count == 0 {
		return nil
	}
	return x
}

// key numbers the current values of the variables.
func (x *valueCache) key(state []int32) uint64 {
	k := uint64(0)
	for i, v := range x.vars {
		k = k*x.size[i] + uint64(int64(state[v])-int64(x.low[i]))
	}
	return k
}

// error is stateError, with a cache.
func (x *factor) error(e sema.Expr, f float64, state []int32) (float64, error) {
	if x.valueCache == nil {
		return stateError(e, f, state)
	}
	k := x.valueCache.key(state)
	if off, ok := x.valueCache.numbers[k]; ok {
		return off, nil
	}
	off, err := stateError(e, f, state)
	if err == nil && len(x.valueCache.numbers) < maxCached {
		x.valueCache.numbers[k] = off
	}
	return off, err
}

// moveError describes the weights of a move: err is as in numberFacts, and exactSum says that
// their exact sum is 1.
type moveError struct {
	err      float64
	exactSum bool
}

func newWeightErrors(m *compile.Model) (*weightErrors, error) {
	w := &weightErrors{p: m.Program()}
	known := analysis{floats: sema.NewFloatAnalysis(w.p)}
	for _, mod := range w.p.Modules {
		var updates [][]factor
		var sumIsOne []bool
		for _, c := range mod.Commands {
			fs := make([]factor, len(c.Updates))
			for i, u := range c.Updates {
				if fs[i].numberFacts = known.of(u.Prob); !math.IsNaN(fs[i].err) {
					continue
				}
				var err error
				if fs[i].num, err = m.Evaluator(u.Prob); err != nil {
					return nil, err
				}
				fs[i].absErr, fs[i].valueCache = known.floats.Error(u.Prob), newValueCache(w.p, u.Prob)
			}
			updates, sumIsOne = append(updates, fs), append(sumIsOne, sumsToOne(c.Updates))
		}
		w.updates, w.sumIsOne = append(w.updates, updates), append(w.sumIsOne, sumIsOne)
	}
	return w, nil
}

// sumsToOne reports whether the probabilities are constants with sum 1.
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

// needsFractions is the error for a state whose weights must be computed with fractions.
type needsFractions struct{ error }

// of bounds the relative error of every weight of a state: the errors of the product of
// probabilities, of adding weights with equal targets, and of dividing by the sum. If
// probabilities do not sum to 1 exactly, the exact weights are those divided by their sum, and the
// difference counts as an error. state is called only if the bound depends on the state. The error
// is needsFractions if no small bound is known.
func (w *weightErrors) of(state func() []int32, moves []compile.Move, cs compile.PackedChoices) (float64, error) {
	for i := len(w.moves); i < len(moves); i++ {
		w.moves = append(w.moves, w.static(moves[i]))
	}
	maxErr, terms := 0.0, 0
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
		maxErr = max(maxErr, e+rounded)
	}
	return 1.01 * (maxErr + float64(terms+1)*unit), nil
}

// static bounds the error of a move's weights in every state; NaN if the bound depends on the
// state.
func (w *weightErrors) static(mv compile.Move) moveError {
	out := moveError{exactSum: true}
	least, maxAbs := 1.0, 1.0
	for _, ref := range mv.Commands {
		maxErr := numberFacts{minAbs: 1}
		for _, x := range w.updates[ref.Module][ref.Command] {
			maxErr = maxErr.or(x.numberFacts) // max propagates NaN
		}
		out.err += maxErr.err + unit
		out.exactSum = out.exactSum && w.sumIsOne[ref.Module][ref.Command]
		least, maxAbs = least*min(maxErr.minAbs, 1), maxAbs*max(maxErr.hi, 1)
	}
	if !(least >= sparse.MinNumber && maxAbs <= sparse.MaxNumber) {
		out.err = math.NaN()
	}
	return out
}

// dynamic bounds the error of a move's weights in one state.
func (w *weightErrors) dynamic(state []int32, mv compile.Move) (float64, error) {
	e, least, maxAbs := 0.0, 1.0, 1.0
	for _, ref := range mv.Commands {
		maxErr := numberFacts{minAbs: 1}
		for i := range w.updates[ref.Module][ref.Command] {
			x := &w.updates[ref.Module][ref.Command][i]
			known := x.numberFacts
			if math.IsNaN(known.err) {
				f, err := x.num.Num(state)
				if err != nil {
					return 0, err
				}
				off := x.absErr / math.Abs(f)
				if !(off <= negligibleError) {
					if off, err = x.error(w.p.Modules[ref.Module].Commands[ref.Command].Updates[i].Prob, f, state); err != nil {
						return 0, err
					}
				}
				known = exactly(f, 1.01*off)
			}
			maxErr = maxErr.or(known)
		}
		e += maxErr.err + unit
		least, maxAbs = least*maxErr.minAbs, maxAbs*max(maxErr.hi, 1)
	}
	if !(least >= sparse.MinNumber && maxAbs <= sparse.MaxNumber) {
		return 0, needsFractions{errors.New("a probability or rate is too small or too large for doubles")}
	}
	return e, nil
}

// stateError bounds the relative error of f, the float64 value of e in a state. The error is
// needsFractions if the bound exceeds maxError.
func stateError(e sema.Expr, f float64, state []int32) (float64, error) {
	x, err := sema.Enclose(e, state)
	if err != nil {
		return 0, needsFractions{err}
	}
	off := enclosureError(f, x)
	if !(off <= maxError) {
		return 0, needsFractions{errors.New("a number is not close to the exact value")}
	}
	return off, nil
}
