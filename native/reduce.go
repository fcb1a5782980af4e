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

// checkReduced checks a property on its quotient. If bisimulation does not preserve the property, it checks the whole model and
// warns.
func (b *states) checkReduced(ctx context.Context, p *check.Property) result.Verdict {
	start := time.Now()
	r, err := b.quotient(ctx, p)
	f, known := errors.AsType[*result.Failure](err)
	switch {
	case known && f.Class == result.Unsupported && b.wants.Partition == nil:
		v := b.checker.Check(ctx, p)
		v.Warnings = append(slices.Clip(v.Warnings), "not reduced: "+f.Message)
		return v
	case err != nil:
		return result.Verdict{Err: check.Failure(err, p.File, p.Pos)}
	}
	v := check.New(r.Space.Compiled(), r.Space, b.checking).Check(ctx, p)
	v.Seconds = time.Since(start).Seconds()
	return v
}

// quotient returns the quotient of the model for a property: by the partition of a file if the job has one, and otherwise by the
// coarsest partition, which it writes to a file if the job wants it.
func (b *states) quotient(ctx context.Context, p *check.Property) (*check.Reduced, error) {
	f := b.wants.Partition
	if f == nil {
		return check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, nil)
	}
	if f.Text == nil {
		r, err := check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, nil)
		if err != nil {
			return nil, err
		}
		return r, f.Write(f.File, func(w io.Writer) error { return check.WritePartition(ctx, w, b.space, r.Partition) })
	}
	given, err := check.ReadPartition(ctx, f.File, f.Text, b.space)
	if err != nil {
		return nil, err
	}
	r, err := check.Reduce(ctx, b.space.Compiled(), b.space, []*check.Property{p}, given)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	return r, err
}
