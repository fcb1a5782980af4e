//go:build !js

package native

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/native/check/parametric"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// piecewise is the value of a property as a piecewise function of the parameters. It has several pieces only for
// an MDP with one parameter. The function of each piece is the value of a scheduler in the whole region, so the
// value is the least or the greatest of all functions.
type piecewise struct {
	pieces    []parametric.Piece
	isMinimum bool
}

// onePiece returns a value with one function in the whole region. A nil function stands for infinity and gives
// nil. If err is not nil, it returns err.
func onePiece(function *ratfunc.Func, err error) (*piecewise, error) {
	if function == nil || err != nil {
		return nil, err
	}
	return &piecewise{pieces: []parametric.Piece{{Value: function}}}, nil
}

// functions returns the distinct functions of the pieces.
func (function *piecewise) functions() []*ratfunc.Func {
	var distinct []*ratfunc.Func
	for _, piece := range function.pieces {
		if !slices.ContainsFunc(distinct, piece.Value.Equal) {
			distinct = append(distinct, piece.Value)
		}
	}
	return distinct
}

// String returns the function as an expression of PRISM's language: a rational function, or the minimum or maximum of several.
func (function *piecewise) String() string {
	var formulas []string
	for _, rationalFunction := range function.functions() {
		formulas = append(formulas, rationalFunction.String())
	}
	switch {
	case len(formulas) == 1:
		return formulas[0]
	case function.isMinimum:
		return "min(" + strings.Join(formulas, ", ") + ")"
	}
	return "max(" + strings.Join(formulas, ", ") + ")"
}

// piecesText returns the text ": function from bound to bound, …", with the function and the interval of each piece. It returns "" if the function has
// one piece. A function with several pieces has one parameter only.
func (function *piecewise) piecesText() string {
	if len(function.pieces) == 1 {
		return ""
	}
	var pieceTexts []string
	for _, piece := range function.pieces {
		pieceTexts = append(pieceTexts, fmt.Sprintf("%s from %s to %s", piece.Value, rootText(piece.Low), rootText(piece.High)))
	}
	return ": " + strings.Join(pieceTexts, ", ")
}

// rootText returns a root as text: a fraction if the root is rational, else a decimal with ten digits.
func rootText(root ratfunc.Root) string {
	maxWidth := big.NewRat(1, 1e12) // less than the last digit that is printed
	for !root.IsFraction() && new(big.Rat).Sub(root.High, root.Low).Cmp(maxWidth) > 0 {
		root = root.Narrow()
	}
	if root.IsFraction() {
		return root.Low.RatString()
	}
	approximate, _ := root.Low.Float64()
	return fmt.Sprintf("about %.10g", approximate)
}

// valueAt returns the value of the function at a point: the minimum or maximum of the functions of its pieces. It ignores functions that have a pole at
// the point, and returns nil if all functions have.
func (function *piecewise) valueAt(point []*big.Rat) *big.Rat {
	var best *big.Rat
	for _, rationalFunction := range function.functions() {
		value, isDefined := rationalFunction.ValueAt(point)
		if !isDefined {
			continue // a pole
		}
		if best == nil || function.isBetter(value, best) {
			best = value
		}
	}
	return best
}

// isBetter reports whether value is less than best, for a minimum, or greater than best, for a maximum.
func (function *piecewise) isBetter(value, best *big.Rat) bool {
	if function.isMinimum {
		return value.Cmp(best) < 0
	}
	return value.Cmp(best) > 0
}

// fractionOf returns an exact number as a fraction.
func fractionOf(value sema.Value) *big.Rat {
	if value.Type == sema.Int {
		return big.NewRat(int64(value.Int), 1)
	}
	return value.Rat
}

// combine returns the sum, difference, product or quotient of two piecewise functions, of which at most one may have several
// pieces. A function with several pieces can only be multiplied with a number, or divided by one. unsupported returns the error for an unsupported expression, from a description of it.
func combine(op syntax.Op, left, right *piecewise, unsupported func(found string) error) (*piecewise, error) {
	result := &piecewise{isMinimum: left.isMinimum}
	if len(right.pieces) > 1 {
		isSubtrahend := op == syntax.OpSub // a difference is greatest where the subtrahend is least
		result.isMinimum = right.isMinimum != isSubtrahend
	}
	hasSeveralPieces := len(left.pieces) > 1 || len(right.pieces) > 1
	if hasSeveralPieces && op != syntax.OpAdd && op != syntax.OpSub {
		factor, isConstant := right.pieces[0].Value.Constant()
		if len(right.pieces) > 1 {
			factor, isConstant = left.pieces[0].Value.Constant()
		}
		if isDivisor := op == syntax.OpDiv && len(right.pieces) > 1; !isConstant || isDivisor {
			return nil, unsupported("products of values that several schedulers attain")
		}
		isNegative := factor.Sign() < 0 // the greatest value times -1 is the least one
		result.isMinimum = result.isMinimum != isNegative
	}
	for _, leftPiece := range left.pieces {
		for _, rightPiece := range right.pieces {
			combined := rightPiece // with the interval of the function that has several pieces
			if len(left.pieces) > 1 {
				combined = leftPiece
			}
			var ok bool
			combined.Value, ok = applyOp(op, leftPiece.Value, rightPiece.Value)
			if !ok {
				return nil, unsupported("this formula")
			}
			result.pieces = append(result.pieces, combined)
		}
	}
	return result, nil
}

// applyOp returns `left op right` for +, -, * or /. ok is false for any other operator, and for a division by the function 0.
func applyOp(op syntax.Op, left, right *ratfunc.Func) (combined *ratfunc.Func, ok bool) {
	switch {
	case op == syntax.OpAdd:
		return left.Add(right), true
	case op == syntax.OpSub:
		return left.Sub(right), true
	case op == syntax.OpMul:
		return left.Mul(right), true
	case op == syntax.OpDiv && !right.IsZero():
		return left.Quo(right), true
	}
	return nil, false
}
