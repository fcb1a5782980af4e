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
// immediate state is 0. The rate of a deadlock is 0 or, if it was read from a file, 1.
type ExitRates struct {
	Low, High []float64
	Rats      []*big.Rat
}

// ExitRates returns the exit rates of the states of a Markov automaton.
func (s *Space) ExitRates() (*ExitRates, error) {
	rate := s.Program().Rate
	hasImportedRates := s.imported != nil && s.imported.exitRates != nil && s.quotient == nil
	switch {
	case rate == nil && hasImportedRates:
		return s.imported.exitRates, nil
	case rate == nil:
		return nil, errors.New("the exit rates of the states are unknown")
	case s.model.Exact():
		return s.exactExitRates(rate)
	}
	rates := &ExitRates{}
	var err error
	rates.Low, rates.High, err = s.Values(rate)
	return rates, err
}

// exactExitRates evaluates the exit rate of every state as a fraction.
func (s *Space) exactExitRates(rate sema.Expr) (*ExitRates, error) {
	n := s.store.n
	rates := &ExitRates{Low: make([]float64, n), High: make([]float64, n), Rats: make([]*big.Rat, n)}
	state := s.State(nil, 0)
	for i := range n {
		enclosed, err := sema.Enclose(rate, s.State(state, i))
		if err == nil && enclosed.Rat == nil {
			err = errors.New("an exit rate is not a fraction")
		}
		if err != nil {
			return nil, err
		}
		rates.Low[i], rates.High[i], rates.Rats[i] = enclosed.Lo, enclosed.Hi, enclosed.Rat
	}
	return rates, nil
}

// Mean returns the middle of the bounds of the rate of a state.
func (r *ExitRates) Mean(state int) float64 { return r.Low[state] + (r.High[state]-r.Low[state])/2 }

// SojournTimes returns the mean time that a Markov automaton spends in each state. The time is 0 in an immediate
// state. As in PRISM, it is 1 in a deadlock.
func (s *Space) SojournTimes() (*sparse.Reward, error) {
	rates, err := s.ExitRates()
	if err != nil {
		return nil, err
	}
	times := &sparse.Reward{State: make([]float64, len(rates.Low))}
	for state := range times.State {
		switch {
		case rates.High[state] > 0:
			s.setSojournTime(times, rates, state)
		case s.model.IsDeadlock(state):
			times.State[state] = 1
		}
	}
	if s.model.Exact() {
		times.StateRat = s.exactSojournTimes(rates)
	}
	return times, nil
}

// exactSojournTimes returns the sojourn times as fractions, with nil for 0.
func (s *Space) exactSojournTimes(rates *ExitRates) []*big.Rat {
	times := make([]*big.Rat, len(rates.Rats))
	for state, rate := range rates.Rats {
		switch {
		case rates.High[state] > 0:
			times[state] = new(big.Rat).Inv(rate)
		case s.model.IsDeadlock(state):
			times[state] = big.NewRat(1, 1)
		}
	}
	return times
}

// setSojournTime sets the float64 sojourn time of a state to the reciprocal of its exit rate. It bounds the error.
func (s *Space) setSojournTime(times *sparse.Reward, rates *ExitRates, state int) {
	low, high := rates.Low[state], rates.High[state]
	times.State[state] = 1 / rates.Mean(state)
	times.Err = max(times.Err, higherOrderFactor*((high-low)/low+2*sema.UnitRoundoff))
	if !sparse.InRange(times.State[state]) || !(times.Err < 1) {
		times.Unfit = &RangeError{File: s.Program().File, What: fmt.Sprintf("exit rate %.4g", rates.Mean(state))}
		times.Err = math.Inf(1)
	}
}
