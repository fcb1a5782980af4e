// Package steps bounds values after a number of steps, or of a time: rule 4 of package
// certify. Nothing comes with a certificate but what is asked for and, for a time, a rate
// and a precision; the steps are made here, with numbers rounded down and up.
//
//	bounds, err := (&steps.Problem{...}).Values(ctx)
//
// # The mathematics
//
// Steps. Let x be lower bounds of a function of the states, and opt the minimum or maximum
// over the choices of a state. Then r + P x for the best choice, rounded down, is a lower
// bound of what it is worth a step earlier, since opt and P are monotone; likewise rounded up.
//
// Time, in a CTMC with exit rates E and the probabilities P of its jumps. Let q >= E(s) for
// all states s that move; others keep their value. U x = x + E/q (P x - x) is the mean of x
// after a step of a chain whose steps come at the rate q in every state (Jensen). Of these
// N happen in the time t, and P(N=k) = w(k), Poisson with the mean m = qt. So the mean of x
// at time t is the sum of w(k) U^k x. And the mean of the integral of x up to t is the sum
// of P(N>k)/q U^k x: a step lasts 1/q on average, the k-th begins within t if N > k.
//
// Weights. v(k) = m^k/k! is w(k) but for a factor, and from the greatest of them on, v(k+1)
// = v(k) m/(k+1) and v(k-1) = v(k) k/m, rounded. Above the last, n, all others together
// are at most v(n+1) / (1 - m/(n+2)), and below the first, n, at most v(n-1) / (1 - (n-1)/m).
// Since all w sum to 1, c(k) = v(k), rounded down, divided by all v together, rounded up, is
// a lower bound of w(k). Let c(k) be lower bounds of w(k), or of P(N>k)/q, which are sums of
// those. The weights themselves sum to C = 1, or to E(N)/q = t. So for a least and greatest
// value 0 and M of x the mean is at least the sum of c(k) U^k x, and at most that plus
// (C - sum of c) M: what is cut off, and what was rounded, is in that difference.
//
// A state that reaches only states where x is the same, through those that move, keeps
// that value exactly. All others are "varied".
//
// L U[a,b] R: U makes the steps of a time b-a in L\R from 1 in R, 0 elsewhere (without b: from
// the unbounded probability), then of a time a in L, from these values in L, 0 elsewhere.
package steps
