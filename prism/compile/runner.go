package compile

import (
	"context"
	"errors"
)

// BatchRunner is a Runner that can also draw many samples in one call. The
// interpreter and the machine implement it.
type BatchRunner interface {
	Runner
	// RunBatch draws the samples first, first+1, … of a seed, one per element of
	// dst: dst[i] is Run(NewStream(seed, first+i)). It polls the context, also
	// within a long path. The error is the context's or a failure of the
	// WebAssembly runtime; dst is then incomplete.
	RunBatch(ctx context.Context, seed, first uint64, dst []Outcome) error
	// Fork returns a Runner of the same model and monitor for another
	// goroutine, at little cost. Each must be closed.
	Fork() (BatchRunner, error)
	// Name returns the implementation: "machine" or "interpreter".
	Name() string
}

// NewRunner returns the machine; for a model that NewMachine does not support, it
// returns the interpreter.
func (m *Model) NewRunner(ctx context.Context, mon Monitor) (BatchRunner, error) {
	runner, err := m.NewMachine(ctx, mon)
	if _, ok := errors.AsType[*UnsupportedError](err); ok {
		return m.NewInterpreter(mon)
	}
	return runner, err
}
