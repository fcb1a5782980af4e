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

// checkReduced checks a property on the quotient of the model by bisimulation. If no quotient preserves the property, it checks the whole model
// and adds a warning.
func (model *exploredModel) checkReduced(ctx context.Context, property *check.Property) result.Verdict {
	start := time.Now()
	reduced, err := model.quotient(ctx, property)
	failure, isFailure := errors.AsType[*result.Failure](err)
	isUnsupported := isFailure && failure.Class == result.Unsupported
	if isUnsupported && model.outputs.Partition == nil {
		verdict := model.checker.Check(ctx, property)
		verdict.Warnings = append(slices.Clip(verdict.Warnings), "not reduced: "+failure.Message)
		return verdict
	}
	if err != nil {
		return result.Verdict{Err: check.Failure(err, property.File, property.Pos)}
	}
	verdict := check.New(reduced.Space.Compiled(), reduced.Space, model.checkOptions).Check(ctx, property)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// quotient returns the quotient of the model for a property. If the job has a partition file to read, the file determines the blocks. If the job
// has a partition file to write, the coarsest partition is computed and written to it.
func (model *exploredModel) quotient(ctx context.Context, property *check.Property) (*check.Reduced, error) {
	file, properties := model.outputs.Partition, []*check.Property{property}
	if file != nil && file.Text != nil {
		partition, err := check.ReadPartition(ctx, file.File, file.Text, model.space)
		if err != nil {
			return nil, err
		}
		reduced, err := check.Reduce(ctx, model.space.Compiled(), model.space, properties, partition)
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%s: %w", file.File, err)
		}
		return reduced, err
	}
	reduced, err := check.Reduce(ctx, model.space.Compiled(), model.space, properties, nil)
	if err != nil || file == nil {
		return reduced, err
	}
	return reduced, file.Write(file.File, func(w io.Writer) error { return check.WritePartition(ctx, w, model.space, reduced.Partition) })
}
