package disk

import (
	"context"
	"errors"
	"os"
	"sync"

	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
)

// WriteRewards evaluates the reward structure Program.Rewards[index], and writes a number for each choice to a new file: the reward of the state plus the
// reward of the choice. A deadlock has one number, the reward of the state. The choices have the order of columns. It returns the name of the file and a
// bound on the relative error of the numbers.
func (space *Space) WriteRewards(ctx context.Context, columns *Columns, index int) (name string, relErr float64, err error) {
	name = space.Directory.NewName("rewards")
	file, err := space.Directory.createFile(name)
	if err != nil {
		return "", 0, err
	}
	space.Directory.Expect(8 * columns.Choices)
	var writers []*rewardWriter
	tasks := newTasks(len(columns.Chunks))
	var wg sync.WaitGroup
	for _, expander := range space.expanders {
		evaluator, err := expander.ChoiceRewards(index)
		if err != nil {
			tasks.recordFailure(0, err)
			break
		}
		writer := &rewardWriter{Space: space, file: file, columns: columns, evaluator: evaluator}
		writers = append(writers, writer)
		wg.Go(func() { tasks.runAll(ctx, func(task int) error { return writer.writeRewards(ctx, task) }) })
	}
	wg.Wait()
	if err := errors.Join(tasks.err, file.Close()); err != nil {
		return "", 0, errors.Join(err, space.Directory.removeFile(name))
	}
	for _, writer := range writers {
		relErr = max(relErr, writer.evaluator.RelErr())
	}
	return name, relErr, nil
}

// rewardWriter writes the rewards of choices in one goroutine.
type rewardWriter struct {
	*Space
	file      *os.File
	columns   *Columns
	evaluator *explicit.ChoiceRewards
	states    []uint64
	totals    []float64
	encoded   []byte
}

// writeRewards evaluates the rewards of the choices of one chunk, and writes them to the file.
func (writer *rewardWriter) writeRewards(ctx context.Context, chunk int) (err error) {
	header := &writer.columns.Chunks[chunk]
	firstBlock, endBlock := int(header.First/setBlock), int((header.First+header.States+setBlock-1)/setBlock)
	if writer.states, err = writer.States.NewCursor().Range(writer.states[:0], firstBlock, endBlock); err != nil {
		return err
	}
	writer.totals = writer.totals[:0]
	batchWords := statesPerExpansion * writer.Packing.Words
	for first := 0; first < len(writer.states); first += batchWords {
		states := writer.states[first:min(first+batchWords, len(writer.states))]
		if writer.totals, err = writer.evaluator.AppendTotals(ctx, writer.totals, states); err != nil {
			return err
		}
	}
	if writer.opts.Progress != nil {
		writer.reportStates(header.First, "evaluating rewards")
	}
	writer.encoded = appendLittleEndian(writer.encoded[:0], writer.totals)
	return outputAt{writer.Directory, writer.file, 8 * header.FirstChoice}.writeAll(writer.encoded)
}

// reportStates reports the number of states that a step is done with.
func (space *Space) reportStates(done int64, detail string) {
	space.reportMutex.Lock()
	defer space.reportMutex.Unlock()
	space.opts.Progress(progress.Progress{Done: done, Target: space.States.Count, Unit: progress.States, Detail: detail})
}
