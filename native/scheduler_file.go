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

// export is the file for the scheduler of a property, and its format.
type export struct {
	*runner.SchedulerFile
	file   string
	format scheduler.Format
	opt    scheduler.Options
}

// newExport reads the target of a scheduler; nil stands for none.
func newExport(f *runner.SchedulerFile) (*export, error) {
	if f == nil {
		return nil, nil
	}
	x := &export{SchedulerFile: f}
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
		return unexported(p, v, err)
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
	return unexported(p, v, err)
}

// unexported adds to a verdict the error of writing its scheduler.
func unexported(p *check.Property, v result.Verdict, err error) result.Verdict {
	if err != nil && v.Err == nil {
		return unfinished(v, noScheduler, check.Failure(err, p.File, p.Pos))
	}
	return v
}
