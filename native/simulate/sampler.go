package simulate

import (
	"context"

	"tilecheck/internal/inorder"
	"tilecheck/prism/compile"
)

// sampler draws the samples first to end-1 of one runner.
type sampler struct {
	runner      compile.BatchRunner
	seed        uint64
	firstSample int64
	endSample   int64
	workers     int // 0 means one per processor
	// countOutcome gets every outcome in the order of the samples, each exactly once, until it returns false.
	countOutcome func(*compile.Outcome) (more bool)
	// reportProgress, if not nil, is called now and then between calls of countOutcome.
	reportProgress func()
}

// drawAll draws the samples from firstSample to endSample-1 in parallel, and passes their outcomes to countOutcome in order. It stops early if
// countOutcome returns false, or if the context ends.
func (sampler *sampler) drawAll(ctx context.Context) error {
	return inorder.Run(ctx, inorder.Jobs[compile.Outcome]{
		End:     sampler.endSample - sampler.firstSample,
		Workers: sampler.workers,
		Start:   sampler.startWorker,
		Take:    func(_ int64, outcome *compile.Outcome) bool { return sampler.countOutcome(outcome) },
		Tick:    sampler.reportProgress,
	})
}

// startWorker returns a worker that draws samples with its own copy of the runner.
func (sampler *sampler) startWorker(context.Context) (inorder.Worker[compile.Outcome], error) {
	runner, err := sampler.runner.Fork()
	return drawer{runner, sampler.seed, sampler.firstSample}, err
}

// drawer draws samples in one goroutine; job 0 is the sample base.
type drawer struct {
	compile.BatchRunner
	seed        uint64
	firstSample int64
}

// Do draws n samples. If the context ends, it returns no samples and an error.
func (d drawer) Do(ctx context.Context, first, n int64) ([]compile.Outcome, error) {
	outcomes := make([]compile.Outcome, n)
	if err := d.RunBatch(ctx, d.seed, uint64(d.firstSample+first), outcomes); err != nil {
		return nil, err
	}
	return outcomes, nil
}
