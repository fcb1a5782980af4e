package explicit

import (
	"context"
	"errors"

	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// SpaceSource is a runner.StateSpace that can return an explicit state space.
type SpaceSource interface {
	runner.StateSpace
	// Space returns the space, with rational weights if exact is set.
	Space(ctx context.Context, exact bool) (*Space, error)
}

// SpaceOf returns the explicit state space of a job. The error says that the job has none.
func SpaceOf(ctx context.Context, states runner.StateSpace, exact bool) (*Space, error) {
	source, ok := states.(SpaceSource)
	if !ok {
		return nil, errors.New("the files of the state space were not read")
	}
	return source.Space(ctx, exact)
}

var _ SpaceSource = (*Space)(nil)

// Declares implements runner.StateSpace, so that a job can use a space that is built already.
func (s *Space) Declares() *sema.Model { return s.Program().Model() }

// Files implements runner.StateSpace.
func (s *Space) Files() []runner.File { return nil }

// Space implements SpaceSource. It returns s, whether or not s has rational weights.
func (s *Space) Space(context.Context, bool) (*Space, error) { return s, nil }
