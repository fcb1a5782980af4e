package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"tilecheck/native/check"
	"tilecheck/result"
)

// checkReduced checks a property on the bisimulation quotient of the model. If bisimulation does not preserve the property,
// it checks the whole model, and adds a warning.
func (model *exploredModel) checkReduced(ctx context.Context, property *check.Property) result.Verdict {
	start := time.Now()
	reduced, err := model.quotient(ctx, property)
	failure, isFailure := errors.AsType[*result.Failure](err)
	switch {
	case isFailure && failure.Class == result.Unsupported && model.outputs.Partition == nil:
		verdict := model.checker.Check(ctx, property)
		verdict.Warnings = append(slices.Clip(verdict.Warnings), "not reduced: "+failure.Message)
		return verdict
	case err != nil:
		return result.Verdict{Err: check.Failure(err, property.File, property.Pos)}
	}
	verdict := check.New(reduced.Space.Compiled(), reduced.Space, model.checkOptions).Check(ctx, property)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// quotient returns the quotient of the model for a property. If the job has a partition file to read, its blocks are the
// states of the quotient. Otherwise quotient computes the coarsest partition, and writes it if the job has a partition file
// to write.
func (model *exploredModel) quotient(ctx context.Context, property *check.Property) (*check.Reduced, error) {
	file := model.outputs.Partition
	if file == nil {
		return check.Reduce(ctx, model.space.Compiled(), model.space, []*check.Property{property}, nil)
	}
	if file.Text == nil {
		reduced, err := check.Reduce(ctx, model.space.Compiled(), model.space, []*check.Property{property}, nil)
		if err != nil {
			return nil, err
		}
		return reduced, file.Write(file.File, func(w io.Writer) error { return check.WritePartition(ctx, w, model.space, reduced.Partition) })
	}
	partition, err := check.ReadPartition(ctx, file.File, file.Text, model.space)
	if err != nil {
		return nil, err
	}
	reduced, err := check.Reduce(ctx, model.space.Compiled(), model.space, []*check.Property{property}, partition)
	if err == nil || ctx.Err() != nil {
		return reduced, err
	}
	return nil, fmt.Errorf("%s: %w", file.File, err)
}
