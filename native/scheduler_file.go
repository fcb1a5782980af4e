package native

import (
	"context"
	"fmt"
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

// newSchedulerFile parses where and how a scheduler is written: the name of the file, the format and its options. It returns nil if target is
// nil.
func newSchedulerFile(target *runner.SchedulerFile) (*schedulerFile, error) {
	if target == nil {
		return nil, nil
	}
	file := &schedulerFile{SchedulerFile: target}
	var err error
	file.file, file.format, file.opt, err = scheduler.ParseTarget(target.Target)
	return file, err
}

// checkAndExport checks a property and writes its scheduler to a file. If there is no scheduler to write, the verdict has the value and an
// error.
func (model *exploredModel) checkAndExport(ctx context.Context, property *check.Property) result.Verdict {
	if model.space.Program().Type == syntax.POMDP {
		automaton, verdict, err := model.checker.Automaton(ctx, property)
		if err == nil {
			err = model.export.Write(model.export.file, automaton.Write)
		}
		return withoutScheduler(property, verdict, err)
	}
	foundScheduler, verdict, err := model.checker.Scheduler(ctx, property)
	if err == nil {
		err = model.writeScheduler(ctx, property, foundScheduler, &verdict)
	}
	return withoutScheduler(property, verdict, err)
}

// writeScheduler writes a scheduler in the format that the job selects. A scheduler with memory is written as a controller, any other scheduler
// as a list or as a decision tree. A tree adds warnings to the verdict.
func (model *exploredModel) writeScheduler(ctx context.Context, property *check.Property, foundScheduler *check.Scheduler, verdict *result.Verdict) error {
	export := model.export
	switch {
	case foundScheduler.Controller != nil:
		return export.Write(export.file, func(w io.Writer) error {
			return scheduler.WriteController(ctx, w, foundScheduler.Space, foundScheduler.Controller, export.format, export.opt)
		})
	case model.space.Program().Type == syntax.IDTMC && export.format != scheduler.InducedModel && export.format != scheduler.Dot:
		return fmt.Errorf("found format %v for an interval Markov chain, which has no choices: the probabilities that nature picks are written as type=induced (.tra) or type=dot", export.format)
	case export.format == scheduler.Tree:
		return model.writeDecisionTree(ctx, property, foundScheduler, verdict)
	}
	return export.Write(export.file, func(w io.Writer) error {
		return scheduler.Write(ctx, w, foundScheduler.Space, foundScheduler.Choices, export.format, export.opt)
	})
}

// withoutScheduler adds an error to the verdict of a property if its scheduler was not found or not written. err
// is nil if it was written.
func withoutScheduler(property *check.Property, verdict result.Verdict, err error) result.Verdict {
	if err != nil && verdict.Err == nil {
		return unfinished(verdict, noScheduler, check.Failure(err, property.File, property.Pos))
	}
	return verdict
}
