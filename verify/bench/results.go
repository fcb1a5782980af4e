package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	record "tilecheck/report/bench"
)

// Results is a file of results that grows while tools are measured.
type Results struct {
	Runs []record.Run // the runs that the file had when it was opened
	file *os.File
}

// OpenResults opens a file of results, or creates it. If an interrupted run has left an incomplete last line, that line is removed.
func OpenResults(name string) (*Results, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	runs, err := record.Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	completeSize := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err := file.Truncate(completeSize); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := file.Seek(completeSize, 0); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Results{runs, file}, nil
}

// Append writes a run at the end of the file.
func (r *Results) Append(run *record.Run) error {
	if err := run.Write(r.file); err != nil {
		return fmt.Errorf("%s: %w", r.file.Name(), err)
	}
	return nil
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
