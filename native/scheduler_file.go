package native

import (
	"context"
	"io"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// schedulerFile is the file to which the scheduler of a property is written, with its format.
type schedulerFile struct {
	*runner.SchedulerFile
	file   string
	format scheduler.Format
	opt    scheduler.Options
}

// newSchedulerFile parses the target of a scheduler file. It returns nil for nil.
func newSchedulerFile(f *runner.SchedulerFile) (*schedulerFile, error) {
	if f == nil {
		return nil, nil
	}
	x := &schedulerFile{SchedulerFile: f}
	var err error
	x.file, x.format, x.opt, err = scheduler.ParseTarget(f.Target)
	return x, err
}

// checkAndExport checks a property and writes its scheduler. If there is no scheduler, the verdict keeps its value and has
// an error.
func (b *states) checkAndExport(ctx context.Context, p *check.Property) result.Verdict {
	if b.space.Program().Type == syntax.POMDP {
		a, v, err := b.checker.Automaton(ctx, p)
		if err == nil {
			err = b.export.Write(b.export.file, a.Write)
		}
		return withoutScheduler(p, v, err)
	}
	s, v, err := b.checker.Scheduler(ctx, p)
	if err == nil && s.Controller != nil {
		err = b.export.Write(b.export.file, func(w io.Writer) error {
			return scheduler.WriteController(ctx, w, s.Space, s.Controller, b.export.format, b.export.opt)
		})
	} else if err == nil && b.export.format == scheduler.Tree {
		err = b.writeDecisionTree(ctx, p, s, &v)
	} else if err == nil {
		err = b.export.Write(b.export.file, func(w io.Writer) error {
			return scheduler.Write(ctx, w, s.Space, s.Choices, b.export.format, b.export.opt)
		})
	}
	return withoutScheduler(p, v, err)
}

// withoutScheduler adds an error to a verdict: its scheduler was not found or not written.
func withoutScheduler(p *check.Property, v result.Verdict, err error) result.Verdict {
	if err != nil && v.Err == nil {
		return unfinished(v, noScheduler, check.Failure(err, p.File, p.Pos))
	}
	return v
}
