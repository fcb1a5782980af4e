package compile

import (
	"context"
	"errors"
)

// BatchRunner is a Runner that also draws many samples in one call; both the
// interpreter and the machine are one.
type BatchRunner interface {
	Runner
	// RunBatch draws samples first, first+1, … under seed, one per element of
	// dst: dst[i] is Run(NewStream(seed, first+i)). It polls the context, also
	// within a long path. On an error, which is the context's or a failure of
	// the WebAssembly runtime, dst is incomplete.
	RunBatch(ctx context.Context, seed, first uint64, dst []Outcome) error
	// Fork returns a Runner of the same model and monitor for another
	// goroutine, at little cost. Each must be closed.
	Fork() (BatchRunner, error)
	// Name returns the implementation: "machine" or "interpreter".
	Name() string
}

// NewRunner returns the machine, or the interpreter for the models that
// NewMachine does not support.
func (m *Model) NewRunner(ctx context.Context, mon Monitor) (BatchRunner, error) {
	r, err := m.NewMachine(ctx, mon)
	if _, ok := errors.AsType[*UnsupportedError](err); ok {
		return m.NewInterpreter(mon)
	}
	return r, err
}
