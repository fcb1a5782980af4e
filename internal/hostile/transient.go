package hostile

import (
	"math/big"
)

const (
	precision = 512 // bits of the arithmetic below
	digits    = 60  // of its results that are believed
	terms     = 40  // of the exponential series, whose argument is 2^-8 at most
)

func real(x *big.Rat) *big.Float { return new(big.Float).SetPrec(precision).SetRat(x) }

// generator is a matrix of rates between states, nonnegative off the diagonal.
type generator struct {
	rates     [][]*big.Rat // the diagonal is not looked at
	exitRates []*big.Rat
}

// withAbsorbing returns the rates of a continuous-time chain in which the states outside openStates are absorbing.
func (c *chain) withAbsorbing(openStates []bool) *generator {
	n := c.size()
	result := &generator{exitRates: zeros(n)}
	for i := range n {
		row := zeros(n)
		if openStates[i] && c.exitRates[i].Sign() > 0 {
			result.exitRates[i] = c.exitRates[i]
			for j := range n {
				row[j] = mul(c.probabilities[i][j], c.exitRates[i])
			}
		}
		result.rates = append(result.rates, row)
	}
	return result
}

// withRewardState adds a state whose value after some time is the reward that is earned in this time. rewardRates has the reward of each state
// per unit of time.
func (g *generator) withRewardState(rewardRates []*big.Rat) *generator {
	n := len(g.rates)
	result := &generator{exitRates: append(append([]*big.Rat(nil), g.exitRates...), new(big.Rat))}
	for i := range n {
		result.rates = append(result.rates, append(append([]*big.Rat(nil), g.rates[i]...), rewardRates[i]))
	}
	result.rates = append(result.rates, zeros(n+1))
	return result
}

// expectationAfter returns exp(Q time) stateValues for the generator matrix Q: the expectation of stateValues after the time. Uniformisation makes all
// entries nonnegative. So nothing is subtracted, and every entry has a small relative error. The exponential is computed for time/2^k, and
// squared k times, where k is the number of squarings.
func (g *generator) expectationAfter(time *big.Rat, stateValues []*big.Rat) []Value {
	n := len(g.rates)
	uniformRate := new(big.Rat)
	for i, exitRate := range g.exitRates {
		if rate := sub(exitRate, g.rates[i][i]); rate.Cmp(uniformRate) > 0 {
			uniformRate = rate
		}
		for j, rate := range g.rates[i] {
			if j != i && rate.Cmp(uniformRate) > 0 {
				uniformRate = rate // so that the terms of the series are below 1, also those of rewards
			}
		}
	}
	if uniformRate.Sign() == 0 || time.Sign() == 0 {
		return exactlyAll(stateValues[:n])
	}
	argument, squarings := mul(uniformRate, time), 0
	for argument.Cmp(rat(1, 256)) > 0 {
		argument = argument.Quo(argument, rat(2, 1))
		squarings++
	}
	power := newMatrix(n)
	for i := range n {
		for j := range n {
			x := quo(g.rates[i][j], uniformRate)
			if i == j {
				x = add(x, sub(rat(1, 1), quo(g.exitRates[i], uniformRate)))
			}
			power[i][j] = real(mul(x, argument))
		}
	}
	result := exponential(power, real(argument))
	for range squarings {
		result = result.times(result)
	}
	return result.apply(stateValues)
}

type matrix [][]*big.Float

// newMatrix returns a matrix of n rows and columns of zeros.
func newMatrix(n int) matrix {
	result := make(matrix, n)
	for i := range result {
		result[i] = make([]*big.Float, n)
		for j := range result[i] {
			result[i][j] = new(big.Float).SetPrec(precision)
		}
	}
	return result
}

// times returns the product of two matrices.
func (m matrix) times(factor matrix) matrix {
	n := len(m)
	product, term := newMatrix(n), new(big.Float).SetPrec(precision)
	for i := range n {
		for k := range n {
			if m[i][k].Sign() == 0 {
				continue
			}
			for j := range n {
				if factor[k][j].Sign() != 0 {
					product[i][j].Add(product[i][j], term.Mul(m[i][k], factor[k][j]))
				}
			}
		}
	}
	return product
}

// exponential returns exp(exponent - shift I) for a nonnegative matrix, where I is the identity matrix: the quotient of the power series of
// exp(exponent) and exp(shift).
func exponential(exponent matrix, shift *big.Float) matrix {
	n := len(exponent)
	sum, term := newMatrix(n), newMatrix(n)
	scale, scaleTerm := big.NewFloat(1).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for i := range n {
		sum[i][i].SetInt64(1)
		term[i][i].SetInt64(1)
	}
	for k := 1; k <= terms; k++ {
		term = term.times(exponent)
		scaleTerm.Mul(scaleTerm, shift)
		divisor := new(big.Float).SetPrec(precision).SetInt64(int64(k))
		scaleTerm.Quo(scaleTerm, divisor)
		scale.Add(scale, scaleTerm)
		for i := range n {
			for j := range n {
				term[i][j].Quo(term[i][j], divisor)
				sum[i][j].Add(sum[i][j], term[i][j])
			}
		}
	}
	for i := range n {
		for j := range n {
			sum[i][j].Quo(sum[i][j], scale)
		}
	}
	return sum
}

// apply returns intervals that contain the product of the matrix and a vector. Their relative width is the accuracy of the matrix.
func (m matrix) apply(vector []*big.Rat) []Value {
	slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
	intervals := make([]Value, len(m))
	for i := range m {
		sum := new(big.Rat)
		for j := range m {
			entry, _ := m[i][j].Rat(nil)
			sum.Add(sum, mul(entry, vector[j]))
		}
		intervals[i] = Value{Lo: mul(sum, sub(rat(1, 1), slack)), Hi: mul(sum, add(rat(1, 1), slack))}
	}
	return intervals
}

// intervalsAfter returns exp(Q time) stateValues like expectationAfter, for a vector of intervals.
func (g *generator) intervalsAfter(time *big.Rat, stateValues []Value) []Value {
	lower, upper := zeros(len(stateValues)), zeros(len(stateValues))
	for i, value := range stateValues {
		lower[i], upper[i] = value.Lo, value.Hi
	}
	result, upperResult := g.expectationAfter(time, lower), g.expectationAfter(time, upper)
	for i := range result {
		result[i].Hi = upperResult[i].Hi
	}
	return result
}
