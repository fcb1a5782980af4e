package explicit

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// ExitRates are the exit rates of the states of a Markov automaton: bounds and, if the model has fractions, fractions. The rate of an
// immediate state is 0. The rate of a deadlock is 1, as in Storm: time passes there.
type ExitRates struct {
	Low, High []float64
	Fractions []*big.Rat
}

// ExitRates returns bounds of the exit rate of each state of a Markov automaton. In an exact model they also have fractions.
func (space *Space) ExitRates() (*ExitRates, error) {
	rate := space.Program().Rate
	hasImportedRates := space.imported != nil && space.imported.exitRates != nil && space.quotient == nil
	switch {
	case rate == nil && hasImportedRates:
		return space.imported.exitRates, nil
	case rate == nil:
		return nil, errors.New("the exit rates of the states are unknown")
	}
	rates, err := space.computeExitRates(rate)
	if err != nil {
		return nil, err
	}
	for state := range space.model.NumStates() {
		if space.model.IsDeadlock(state) {
			rates.Low[state], rates.High[state] = 1, 1
			if rates.Fractions != nil {
				rates.Fractions[state] = big.NewRat(1, 1)
			}
		}
	}
	return rates, nil
}

// computeExitRates evaluates the exit rate of every state.
func (space *Space) computeExitRates(rate sema.Expr) (*ExitRates, error) {
	if space.model.Exact() {
		return space.exactExitRates(rate)
	}
	low, high, err := space.Values(rate)
	return &ExitRates{Low: low, High: high}, err
}

// exactExitRates returns the exit rate of each state as a fraction, with the nearest float64 bounds. An irrational rate is an error.
func (space *Space) exactExitRates(rate sema.Expr) (*ExitRates, error) {
	numStates := space.store.numStates
	rates := &ExitRates{Low: make([]float64, numStates), High: make([]float64, numStates), Fractions: make([]*big.Rat, numStates)}
	state := space.State(nil, 0)
	for i := range numStates {
		enclosed, err := sema.Enclose(rate, space.State(state, i))
		if err == nil && enclosed.Rat == nil {
			err = errors.New("an exit rate is not a fraction")
		}
		if err != nil {
			return nil, err
		}
		rates.Low[i], rates.High[i], rates.Fractions[i] = enclosed.Lo, enclosed.Hi, enclosed.Rat
	}
	return rates, nil
}

// Mean returns the middle of the bounds of the rate of a state.
func (r *ExitRates) Mean(state int) float64 { return r.Low[state] + (r.High[state]-r.Low[state])/2 }

// SojournTimes returns the mean time that a Markov automaton spends in each state before it leaves the state. The time is 0 in an immediate
// state.
func (space *Space) SojournTimes() (*sparse.Reward, error) {
	rates, err := space.ExitRates()
	if err != nil {
		return nil, err
	}
	times := &sparse.Reward{State: make([]float64, len(rates.Low))}
	for state := range times.State {
		if rates.High[state] > 0 {
			space.setSojournTime(times, rates, state)
		}
	}
	if space.model.Exact() {
		times.StateFractions = space.exactSojournTimes(rates)
	}
	return times, nil
}

// exactSojournTimes returns the sojourn times as fractions, with nil for 0.
func (space *Space) exactSojournTimes(rates *ExitRates) []*big.Rat {
	times := make([]*big.Rat, len(rates.Fractions))
	for state, rate := range rates.Fractions {
		if rates.High[state] > 0 {
			times[state] = new(big.Rat).Inv(rate)
		}
	}
	return times
}

// setSojournTime sets the sojourn time of a state to 1 / exit rate, as a float64, and updates the bound on the relative error.
func (space *Space) setSojournTime(times *sparse.Reward, rates *ExitRates, state int) {
	low, high := rates.Low[state], rates.High[state]
	times.State[state] = 1 / rates.Mean(state)
	times.RelErr = max(times.RelErr, higherOrderFactor*((high-low)/low+2*sema.UnitRoundoff))
	if !sparse.InRange(times.State[state]) || !(times.RelErr < 1) {
		times.RangeErr = &RangeError{File: space.Program().File, What: fmt.Sprintf("exit rate %.4g", rates.Mean(state))}
		times.RelErr = math.Inf(1)
	}
}
