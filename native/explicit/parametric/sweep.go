package parametric

import (
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/explicit/ratfunc"
)

// maxNearer is how often a scheduler is looked for nearer to the end of the last piece.
const maxNearer = 1000

// maxPieces is how many pieces an answer may have.
const maxPieces = 1000

// sweep returns the answer for one parameter.
func (b *best) sweep(low, high *big.Rat) ([]Piece, error) {
	var out []Piece
	if low.Cmp(high) == 0 {
		f, err := b.optimal([]*big.Rat{low})
		if err != nil {
			return nil, err
		}
		return []Piece{{ratfunc.At(low), ratfunc.At(high), f.values[b.init]}}, nil
	}
	for at := ratfunc.At(low); ; {
		f, end, err := b.next(at, high)
		if err != nil {
			return nil, err
		}
		if x := f.values[b.init]; len(out) > 0 && out[len(out)-1].Value.Equal(x) {
			out[len(out)-1].High = end
		} else {
			out = append(out, Piece{at, end, x})
		}
		switch {
		case end.Fraction() && end.Low.Cmp(high) == 0:
			return out, nil
		case len(out) > maxPieces:
			return nil, fmt.Errorf("more than %d schedulers are best somewhere: want smaller bounds of the parameter", maxPieces)
		}
		at = end
	}
}

// next returns what is best next to a point, on its right, and up to where.
func (b *best) next(at ratfunc.Root, high *big.Rat) (*scheduled, ratfunc.Root, error) {
	point := high
	for range maxNearer {
		if err := b.ctx.Err(); err != nil {
			return nil, at, err
		}
		for at = at.Narrow(); at.High.Cmp(point) >= 0; {
			at = at.Narrow()
		}
		point = new(big.Rat).Add(at.High, point)
		point.Mul(point, big.NewRat(1, 2))
		f, err := b.optimal([]*big.Rat{point})
		if err != nil {
			return nil, at, err
		}
		if end, ok, err := b.reaches(f, at, point, high); ok || err != nil {
			return f, end, err
		}
	}
	return nil, at, errors.New("schedulers change too near to one another: want other bounds of the parameter")
}

// reaches reports whether a scheduler that is optimal at a point is so from another one on, and up to where.
func (b *best) reaches(f *scheduled, from ratfunc.Root, point, high *big.Rat) (end ratfunc.Root, ok bool, err error) {
	end = ratfunc.At(high)
	for _, x := range f.better {
		if err := b.ctx.Err(); err != nil {
			return end, false, err
		}
		s, err := f.signs(x)
		if err != nil {
			return end, false, err
		}
		if s.P.Sign(point) == 0 || s.Beyond(from, point) > 0 {
			return end, false, nil
		}
		if root, found := s.First(point, high); found && !root.Same(end) && root.Less(end) {
			end = root
		}
	}
	return end, true, nil
}

// maxDegree is the degree of the polynomials whose roots are looked for: of twice as much
// that takes half a minute.
const maxDegree = 120

// signs returns the counter of the places where the sign of a function changes.
func (f *scheduled) signs(x *ratfunc.Func) (*ratfunc.Sturm, error) {
	if f.sturm == nil {
		f.sturm = map[*ratfunc.Func]*ratfunc.Sturm{}
	}
	s := f.sturm[x]
	if s == nil {
		num, den := x.Lines()
		p := num.Times(den)
		if len(p) > maxDegree+1 {
			return nil, fmt.Errorf("which scheduler is best depends on the roots of a polynomial of degree %d, more than %d: want values for the parameter (--const)", len(p)-1, maxDegree)
		}
		s = ratfunc.NewSturm(p.Changes())
		f.sturm[x] = s
	}
	return s, nil
}
