package parametric

import (
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/solve/ratfunc"
)

// maxBisections limits the search for a scheduler that is optimal right after the end of a piece.
const maxBisections = 1000

// maxPieces limits the pieces of an answer.
const maxPieces = 1000

// piecesBetween returns the optimal value as a piecewise function of the only parameter, on the whole range from low to high. Sturm chains find the
// exact roots of the advantages, where the optimal scheduler changes.
func (solver *mdpSolver) piecesBetween(low, high *big.Rat) ([]Piece, error) {
	if low.Cmp(high) == 0 {
		scheduler, err := solver.optimalAt([]*big.Rat{low})
		if err != nil {
			return nil, err
		}
		return []Piece{{ratfunc.FractionRoot(low), ratfunc.FractionRoot(high), scheduler.values[solver.initial]}}, nil
	}
	var pieces []Piece
	from := ratfunc.FractionRoot(low)
	for {
		scheduler, end, err := solver.optimalAfter(from, high)
		if err != nil {
			return nil, err
		}
		pieces = appendPiece(pieces, Piece{from, end, scheduler.values[solver.initial]})
		if end.IsFraction() && end.Low.Cmp(high) == 0 {
			return pieces, nil
		}
		if len(pieces) > maxPieces {
			return nil, fmt.Errorf("the value has more than %d pieces: want a smaller range of the parameter", maxPieces)
		}
		from = end
	}
}

// appendPiece appends a piece, or extends the last piece if it has the same function.
func appendPiece(pieces []Piece, next Piece) []Piece {
	if last := len(pieces) - 1; last >= 0 && pieces[last].Value.Equal(next.Value) {
		pieces[last].High = next.High
		return pieces
	}
	return append(pieces, next)
}

// optimalAfter returns a scheduler that is optimal on an interval that begins at from, and the end of this interval, which is at most high. It
// tries the schedulers that are optimal at points nearer and nearer to from.
func (solver *mdpSolver) optimalAfter(from ratfunc.Root, high *big.Rat) (scheduler *schedulerValue, end ratfunc.Root, err error) {
	point := high
	for range maxBisections {
		if err := solver.ctx.Err(); err != nil {
			return nil, from, err
		}
		from = from.Narrow()
		for from.High.Cmp(point) >= 0 {
			from = from.Narrow()
		}
		point = new(big.Rat).Add(from.High, point) // the middle between from and the last point
		point.Mul(point, big.NewRat(1, 2))
		scheduler, err := solver.optimalAt([]*big.Rat{point})
		if err != nil {
			return nil, from, err
		}
		end, isOptimal, err := solver.optimalUntil(scheduler, from, point, high)
		if isOptimal || err != nil {
			return scheduler, end, err
		}
	}
	return nil, from, errors.New("the optimal scheduler changes at values of the parameter that are too close to each other: want another range")
}

// optimalUntil reports whether a scheduler that is optimal at point is also optimal at all points between from and point. If so, end is the end of
// the interval in which it is optimal: the first root of an advantage after point, or high.
func (solver *mdpSolver) optimalUntil(scheduler *schedulerValue, from ratfunc.Root, point, high *big.Rat) (end ratfunc.Root, isOptimal bool, err error) {
	end = ratfunc.FractionRoot(high)
	for _, function := range scheduler.advantages {
		if err := solver.ctx.Err(); err != nil {
			return end, false, err
		}
		sequence, err := scheduler.sturmChain(function)
		if err != nil {
			return end, false, err
		}
		// Equal schedulers at point need not be equal beside it: the advantage may touch 0 there and be negative on both sides.
		advantage, _ := function.ValueAt([]*big.Rat{point})
		isTie := advantage != nil && advantage.Sign() == 0 && !function.IsZero()
		if isTie || sequence.CountAfter(from, point) > 0 { // a sign change after from, up to point
			return end, false, nil
		}
		root, hasRootAfter := sequence.FirstRoot(point, high)
		if hasRootAfter && !root.Equal(end) && root.Less(end) {
			end = root
		}
	}
	return end, true, nil
}

// maxDegree limits the polynomials whose roots are isolated: twice this degree takes half a minute.
const maxDegree = 120

// sturmChain returns the Sturm chain of a polynomial whose roots are the values of the parameter at which a function changes its sign. The
// results are cached.
func (value *schedulerValue) sturmChain(function *ratfunc.Func) (*ratfunc.Sturm, error) {
	if value.sturmCache == nil {
		value.sturmCache = map[*ratfunc.Func]*ratfunc.Sturm{}
	}
	chain := value.sturmCache[function]
	if chain == nil {
		num, den := function.Univariate()
		polynomial := num.Times(den)
		if len(polynomial) > maxDegree+1 {
			return nil, fmt.Errorf("the optimal scheduler depends on the roots of a polynomial of degree %d, more than %d: want values for the parameter (--const)", len(polynomial)-1, maxDegree)
		}
		chain = ratfunc.NewSturm(polynomial.OddSquareFree())
		value.sturmCache[function] = chain
	}
	return chain, nil
}
