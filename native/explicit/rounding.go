package explicit

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// unit is the greatest relative error of one rounding.
const unit = 0x1p-53

// weightErrors bounds how far the computed weights are from what the model
// says: 1-0.9 is a tenth, but not in doubles. Not safe for concurrent use.
type weightErrors struct {
	p *sema.Program
	// updates[m][c][u] is the relative error of a probability in every state,
	// NaN where it depends on the state.
	updates [][][]float64
	// moves[i] is the error of the product of a move's probabilities, NaN as
	// above; it has as many moves as have been met.
	moves []float64
}

func newWeightErrors(p *sema.Program) *weightErrors {
	w := &weightErrors{p: p}
	for _, m := range p.Modules {
		var commands [][]float64
		for _, c := range m.Commands {
			errs := make([]float64, len(c.Updates))
			for i, u := range c.Updates {
				errs[i] = staticError(p, u.Prob)
			}
			commands = append(commands, errs)
		}
		w.updates = append(w.updates, commands)
	}
	return w
}

// of bounds the relative error of every weight of a state: that of the product
// of the probabilities, of adding equal targets up, and of dividing by the sum.
// Where probabilities do not quite sum to one, that counts as an error, too.
// The state is only asked for where the error depends on it.
func (w *weightErrors) of(state func() []int32, moves []compile.Move, cs compile.PackedChoices) (float64, error) {
	for i := len(w.moves); i < len(moves); i++ {
		w.moves = append(w.moves, w.static(moves[i]))
	}
	worst, terms := 0.0, 0
	for i, mv := range cs.Moves {
		e := w.moves[mv]
		if math.IsNaN(e) {
			var err error
			if e, err = w.dynamic(state(), moves[mv]); err != nil {
				return 0, err
			}
		}
		n := int(cs.Transitions[i])
		terms += n
		if w.p.Type != syntax.CTMC {
			sum := 0.0
			for _, x := range cs.Weights[terms-n : terms] {
				sum += x
			}
			if off := math.Abs(sum - 1); off > e+float64(n+1)*unit {
				e += off
			}
		}
		worst = max(worst, e+float64(n)*unit)
	}
	return 1.01 * (worst + float64(terms+1)*unit), nil
}

// static bounds the error of the product of a move's probabilities in every
// state; it is NaN where that depends on the state.
func (w *weightErrors) static(mv compile.Move) float64 {
	e := 0.0
	for _, ref := range mv.Commands {
		worst := 0.0
		for _, x := range w.updates[ref.Module][ref.Command] {
			worst = max(worst, x) // max propagates NaN
		}
		e += worst + unit
	}
	return e
}

// dynamic is static for one state.
func (w *weightErrors) dynamic(state []int32, mv compile.Move) (float64, error) {
	e := 0.0
	for _, ref := range mv.Commands {
		x, err := w.command(state, ref)
		if err != nil {
			return 0, err
		}
		e += x + unit
	}
	return e, nil
}

func (w *weightErrors) command(state []int32, ref compile.CommandRef) (float64, error) {
	worst := 0.0
	for i, e := range w.updates[ref.Module][ref.Command] {
		if math.IsNaN(e) {
			var err error
			if e, err = stateError(w.p.Modules[ref.Module].Commands[ref.Command].Updates[i].Prob, state); err != nil {
				return 0, err
			}
		}
		worst = max(worst, e)
	}
	return worst, nil
}

// stateError compares the double and the exact value of an expression in a
// state. Where there is no exact value, the double is what the model says.
func stateError(e sema.Expr, state []int32) (float64, error) {
	v, err := sema.Eval(e, state)
	if err != nil {
		return 0, err
	}
	x, exact, err := sema.EvalExact(e, state)
	if err != nil || !exact {
		return 0, err
	}
	return relativeError(v.Float, x.Rat), nil
}

// relativeError bounds the relative difference between f and x. It is infinite
// if x is zero and f is not.
func relativeError(f float64, x *big.Rat) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	d := new(big.Rat).SetFloat64(f)
	d.Sub(d, x)
	if d.Sign() == 0 {
		return 0
	}
	if x.Sign() == 0 {
		return math.Inf(1)
	}
	e, _ := d.Quo(d.Abs(d), new(big.Rat).Abs(x)).Float64()
	return 1.01 * e
}

// staticError bounds the relative error of evaluating an expression with
// doubles, in any state; NaN where no bound is known. nil is the constant 1.
func staticError(p *sema.Program, e sema.Expr) float64 {
	if e == nil || e.Type() != sema.Double {
		return 0
	}
	switch e := e.(type) {
	case *sema.Const:
		if e.Val.Rat == nil {
			return 0
		}
		return relativeError(e.Val.Float, e.Val.Rat)
	case *sema.Unary:
		return staticError(p, e.X)
	case *sema.Binary:
		return binaryError(p, e)
	case *sema.Cond:
		if inexact(e.C) {
			return math.NaN()
		}
		return max(staticError(p, e.A), staticError(p, e.B))
	case *sema.Call:
		if e.Func != sema.FuncMin && e.Func != sema.FuncMax {
			return math.NaN()
		}
		worst := 0.0
		for _, a := range e.Args {
			worst = max(worst, staticError(p, a))
		}
		return worst
	}
	return math.NaN()
}

func binaryError(p *sema.Program, e *sema.Binary) float64 {
	x, y := staticError(p, e.X), staticError(p, e.Y)
	switch e.Op {
	case syntax.OpMul, syntax.OpDiv:
		return 1.01 * (x + y + unit)
	case syntax.OpAdd:
		if positive(p, e.X) && positive(p, e.Y) {
			return 1.01 * (max(x, y) + unit)
		}
	}
	return math.NaN()
}

// inexact reports whether an expression may have another value with doubles than
// with fractions. Doubles compare well: what they say of integers and of
// constants that are doubles is the truth.
func inexact(e sema.Expr) bool {
	switch e := e.(type) {
	case *sema.Const:
		return e.T == sema.Double && (e.Val.Rat == nil || relativeError(e.Val.Float, e.Val.Rat) != 0)
	case *sema.Var:
		return false
	case *sema.Unary:
		return inexact(e.X)
	case *sema.Binary:
		return e.T == sema.Double || inexact(e.X) || inexact(e.Y)
	case *sema.Cond:
		return inexact(e.C) || inexact(e.A) || inexact(e.B)
	case *sema.Call:
		if e.T == sema.Double && e.Func != sema.FuncMin && e.Func != sema.FuncMax {
			return true
		}
		return slices.ContainsFunc(e.Args, inexact)
	}
	return true
}

// positive reports whether an expression is known not to be negative.
func positive(p *sema.Program, e sema.Expr) bool {
	switch e := e.(type) {
	case *sema.Const:
		return e.Val.Float >= 0
	case *sema.Var:
		return p.Vars[e.Slot].Low >= 0
	case *sema.Binary:
		switch e.Op {
		case syntax.OpAdd, syntax.OpMul, syntax.OpDiv:
			return positive(p, e.X) && positive(p, e.Y)
		}
	case *sema.Cond:
		return positive(p, e.A) && positive(p, e.B)
	case *sema.Call:
		if e.Func != sema.FuncMin && e.Func != sema.FuncMax {
			return false
		}
		for _, a := range e.Args {
			if !positive(p, a) {
				return false
			}
		}
		return true
	}
	return false
}
