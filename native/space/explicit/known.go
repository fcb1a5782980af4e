package explicit

import (
	"context"
	"errors"

	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Known is a runner.StateSpace that can be had as a space.
type Known interface {
	runner.StateSpace
	// Space returns the states, with the fractions that are asked for.
	Space(ctx context.Context, f Fractions) (*Space, error)
}

// Fractions says which fractions a space has.
type Fractions int

const (
	// NoFractions is for callers that compute with float64.
	NoFractions Fractions = iota
	// Normalised fractions are divided by their sum where that is 1 but for rounding, as by Options.Normalise.
	Normalised
	// StrictFractions sum to exactly 1.
	StrictFractions
)

// Given returns the space of the states of a job.
func Given(ctx context.Context, states runner.StateSpace, f Fractions) (*Space, error) {
	known, ok := states.(Known)
	if !ok {
		return nil, errors.New("nobody has read the files of states")
	}
	return known.Space(ctx, f)
}

var _ Known = (*Space)(nil)

// Declares implements runner.StateSpace: a job may be about a space that is there.
func (s *Space) Declares() *sema.Model { return s.Program().Model() }

// Files implements runner.StateSpace.
func (s *Space) Files() []runner.File { return nil }

// Space implements Known. It returns s, whatever numbers it has.
func (s *Space) Space(context.Context, Fractions) (*Space, error) { return s, nil }
