package explicit

import (
	"context"
	"errors"

	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// SpaceSource is a [runner.StateSpace] that can return its states as a Space.
type SpaceSource interface {
	runner.StateSpace
	// Space returns the states, with weights as fractions if f asks for them.
	Space(ctx context.Context, f Fractions) (*Space, error)
}

// Fractions says which fractions a space has.
type Fractions int

const (
	// NoFractions is for callers that compute with float64.
	NoFractions Fractions = iota
	// Normalised divides the fractions of a row by their sum if it is 1 within rounding, as Options.Normalise does.
	Normalised
	// StrictFractions sum to exactly 1.
	StrictFractions
)

// FractionsFor returns the kind of fractions that a caller needs: none unless exact is set. If normalise is set, the fractions of a row may
// have a sum that differs from 1 by rounding.
func FractionsFor(exact, normalise bool) Fractions {
	switch {
	case !exact:
		return NoFractions
	case normalise:
		return Normalised
	}
	return StrictFractions
}

// SpaceOf returns the states of a job as a Space. It is an error if the job does not have its states.
func SpaceOf(ctx context.Context, states runner.StateSpace, fractions Fractions) (*Space, error) {
	source, ok := states.(SpaceSource)
	if !ok {
		return nil, errors.New("the files of the state space were not read")
	}
	return source.Space(ctx, fractions)
}

var _ SpaceSource = (*Space)(nil)

// Declares implements runner.StateSpace, so that a job can use a Space that exists already.
func (space *Space) Declares() *sema.Model { return space.Program().Model() }

// Files implements runner.StateSpace.
func (space *Space) Files() []runner.File { return nil }

// Space implements SpaceSource. It returns the space itself, with any kind of weights.
func (space *Space) Space(context.Context, Fractions) (*Space, error) { return space, nil }
