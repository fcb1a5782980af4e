// Package ratfunc computes with rational functions of named parameters: quotients of
// polynomials with whole coefficients. Nothing is rounded.
//
// A [Ring] has the names; it makes the [Func] that stand for numbers and for parameters, and
// everything else is arithmetic on those. Numerator and denominator have no common factor
// that the search for one finds, which is heuristic: it takes the two at a large number, where
// the greatest common divisor is that of numbers, and reads that off as a polynomial again
// (Char, Geddes, Gonnet: GCDHEU, 1989). A divisor that it finds is one; where it gives up, a
// function is written larger than it must be, and is the same function.
//
// Signs are proved: of functions of one parameter by the roots of polynomials ([Sturm], [Root]), which are
// isolated between fractions, of several by Bernstein coefficients ([Func.NotNegative]).
package ratfunc
