// Package steps bounds step-bounded and time-bounded values: rule 4 of package
// certify. A certificate has no columns for them, only, for a time bound, a uniformisation rate
// and a precision. This package computes the values backwards, once rounded down and once rounded up.
//
//	bounds, err := (&steps.Problem{...}).Values(ctx)
//
// # The mathematics
//
// Steps. Let x be lower bounds of a function of the states, and opt the minimum or maximum
// over the choices of a state. Then r + P x for the optimal choice, rounded down, is a lower
// bound of the function one step earlier, since opt and P are monotone; likewise for upper bounds, rounded up.
//
// Time (uniformisation), in a CTMC with exit rates E and jump probabilities P. Let q >= E(s) for
// all states s that can move; the others keep their value. U x = x + E/q (P x - x) is the mean of x
// after a step of the uniformised chain, which makes steps at the rate q in every state (Jensen). Of these,
// N happen within the time t, and N has the Poisson distribution P(N=k) = w(k) with mean m = qt. So the mean of x
// at time t is the sum of w(k) U^k x. And the mean of the integral of x up to t is the sum
// of P(N>k)/q U^k x, because a step lasts 1/q on average, and the k-th begins within t if N > k.
//
// Weights. v(k) = m^k/k! is proportional to w(k). Starting from the greatest one, v(k+1)
// = v(k) m/(k+1) and v(k-1) = v(k) k/m, rounded. Above the last computed one, n, all others together
// are at most v(n+1) / (1 - m/(n+2)); below the first computed one, n, at most v(n-1) / (1 - (n-1)/m).
// Since all w sum to 1, c(k) = v(k), rounded down, divided by all v together, rounded up, is
// a lower bound of w(k). Let c(k) be lower bounds of w(k), or of P(N>k)/q, which are sums of
// weights. The exact weights sum to C = 1, or to E(N)/q = t. So for values of x between
// 0 and M the mean is at least the sum of c(k) U^k x, and at most that sum plus
// (C - sum of c) M. That difference covers both the terms cut off and the rounding.
//
// If a state reaches, through states that can move, only states where x is the same, it keeps
// that value exactly. All other states are "varying".
//
// L U[a,b] R: first uniformise over the time b-a, where L\R can move, from the values 1 in R and 0 elsewhere (without b:
// start from the unbounded probability); then over the time a, where L can move, from these values in L and 0 elsewhere.
package steps
