// Package ratfunc does exact arithmetic on rational functions of named parameters: quotients of polynomials
// with integer coefficients.
//
// A [Ring] makes the [Func] of numbers and parameters; the methods of Func are arithmetic. Common factors of
// numerator and denominator are cancelled by a heuristic gcd (Char, Geddes, Gonnet: GCDHEU, 1989). If it
// fails, a function has more terms than necessary, but the right value.
//
// Signs of functions are proved: for one parameter by isolating the roots of polynomials ([Sturm], [Root]),
// for several by Bernstein coefficients ([Func.NotNegative]).
package ratfunc
