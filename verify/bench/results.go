package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"tilecheck/internal/filelock"
	record "tilecheck/report/bench"
)

// Results is a file of results that grows while tools are measured.
type Results struct {
	Runs []record.Run // the runs that the file had when it was opened
	file *os.File
}

// OpenResults opens or creates a file of results, for this process alone. It removes an incomplete last line of an interrupted run.
func OpenResults(name string) (*Results, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	runs, err := continueResults(file, name)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Results{runs, file}, nil
}

// continueResults locks a file of results and returns its runs. It removes an incomplete last line, and moves to the end of the file, where new
// runs are appended.
func continueResults(file *os.File, name string) ([]record.Run, error) {
	if err := filelock.Take(file); errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: another bench writes to it", name)
	} else if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	runs, err := record.Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	linesSize := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err := file.Truncate(linesSize); err != nil {
		return nil, err
	}
	_, err = file.Seek(linesSize, io.SeekStart)
	return runs, err
}

// Append writes a run to the end of the file of results.
func (r *Results) Append(run *record.Run) error {
	if err := run.Write(r.file); err != nil {
		return fmt.Errorf("%s: %w", r.file.Name(), err)
	}
	return nil
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
