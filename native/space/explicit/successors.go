package explicit

import (
	"context"
	"errors"

	"tilecheck/prism/compile"
)

// Successors expands packed states exactly as Build does, for callers that keep the states themselves. It is not safe for concurrent use;
// Fork returns another one for another goroutine.
type Successors struct {
	model  *compile.Model
	opts   Options
	worker *worker
	batch  *batch
}

// SuccessorRows are the rows of successive states in flat lists. State i has Choices[i] choices, 0 for a deadlock. Choice j has Transitions[j]
// transitions. A transition has a weight and the words of a packed target.
type SuccessorRows struct {
	Choices, Transitions []uint32
	Weights              []float64
	Targets              []uint64
	RelErr               float64 // bounds the relative error of the weights
	RangeErr             error   // a weight outside the range of float64
	Overlaps, Merged     int     // as Space.Overlaps and Space.Merged
}

// NewSuccessors returns an expander of packed states. It compiles the model to WebAssembly if possible; otherwise it interprets the model,
// and whyInterpreted says why.
func NewSuccessors(ctx context.Context, model *compile.Model, opts Options) (successors *Successors, whyInterpreted error, err error) {
	search := newExploration(model, opts)
	expander, err := search.newExpander(ctx)
	if err != nil {
		return nil, nil, err
	}
	successors, err = newSuccessors(ctx, model, opts, search.codec, expander)
	return successors, search.whyInterpreted, err
}

// newSuccessors returns an expander of packed states that uses the given expander of the model.
func newSuccessors(ctx context.Context, model *compile.Model, opts Options, codec *codec, expander compile.PackedExpander) (*Successors, error) {
	worker, err := newWorker(ctx, model, codec, expander, opts)
	if err != nil {
		return nil, errors.Join(err, expander.Close())
	}
	return &Successors{model: model, opts: opts, worker: worker, batch: &batch{}}, nil
}

// Fork returns an expander of the same model for another goroutine.
func (successors *Successors) Fork(ctx context.Context) (*Successors, error) {
	expander, err := successors.worker.expander.Fork(ctx)
	if err != nil {
		return nil, err
	}
	return newSuccessors(ctx, successors.model, successors.opts, successors.worker.codec, expander)
}

// Close releases the memory of the compiled model.
func (successors *Successors) Close() error { return successors.worker.expander.Close() }

// Expand returns the rows of some packed states. The next call overwrites them. If the model is wrong in a state,
// the error is a *compile.StateError about the first such state.
func (successors *Successors) Expand(ctx context.Context, states []uint64) (*SuccessorRows, error) {
	successors.batch.reset()
	successors.batch.states = append(successors.batch.states, states...)
	successors.worker.expandBatch(ctx, successors.batch)
	if successors.batch.err != nil {
		return nil, successors.batch.err
	}
	return &SuccessorRows{
		Choices: successors.batch.Choices, Transitions: successors.batch.Transitions, Weights: successors.batch.Weights, Targets: successors.batch.Targets,
		RelErr: successors.batch.relErr, RangeErr: successors.batch.rangeErr, Overlaps: successors.batch.numOverlaps, Merged: successors.batch.numMerged,
	}, nil
}
