package solve

import (
	"context"
	"fmt"

	"tilecheck/internal/processes"
	"tilecheck/internal/shard"
)

// layer has the boards of one sum, in one record of each process.
type layer struct {
	records []*record
	owners  []int // index of the record that has each part
	sum     int
	count   uint64
}

// recordOf returns the record that has a part.
func (l *layer) recordOf(part int) *record { return l.records[l.owners[part]] }

func (l *layer) close() {
	if l == nil {
		return
	}
	for _, record := range l.records {
		_ = record.Close() // the file was only read, so an error does not matter
	}
}

// The kinds of records; they are the first part of the names of records.
const (
	positionsName   = "positions"
	aftersName      = "afterstates"
	outgoingName    = "outgoing" // afterstates that one process found, in all parts
	valuesName      = "values"
	afterValuesName = "aftervalues"
	runName         = "run"
	doneName        = "done"
)

// name returns the name of a record of a process.
func (s *solver) name(kind string, sum, process int) string {
	name := fmt.Sprintf("%s-%d", kind, sum)
	if s.singleProcess() {
		return name
	}
	return name + processes.Suffix(shard.Part{Index: process, Count: s.share.Count})
}

// ownName returns the name of a record of this process.
func (s *solver) ownName(kind string, sum int) string { return s.name(kind, sum, s.share.Index) }

// singleProcess reports whether one process solves the problem.
func (s *solver) singleProcess() bool { return s.share.Count == 1 }

// open opens the records of all processes with the boards of a layer. It waits for the records of other processes.
func (s *solver) open(ctx context.Context, kind string, sum int) (*layer, error) {
	opened := &layer{owners: s.owners, sum: sum}
	for process := 1; process <= s.share.Count; process++ {
		record, err := s.await(ctx, s.name(kind, sum, process))
		if err != nil {
			opened.close()
			return nil, err
		}
		opened.records = append(opened.records, record)
		opened.count += record.count
	}
	return opened, nil
}

// openOwn opens a record of this process; the error is errNoRecord if there is none.
func (s *solver) openOwn(kind string, sum int) (*record, error) {
	return s.openNamed(s.ownName(kind, sum))
}

func (s *solver) openNamed(name string) (*record, error) {
	r, err := s.store.open(name)
	if err == nil {
		r.order = s.order()
	}
	return r, err
}

// await opens a record. If another process is to write the record, await waits for it.
func (s *solver) await(ctx context.Context, name string) (opened *record, err error) {
	err = processes.Await(ctx, func() (bool, error) {
		opened, err = s.openNamed(name)
		if err != errNoRecord || s.singleProcess() {
			return true, err
		}
		return false, s.checkPublished()
	})
	return opened, err
}

// removeOwn removes a record of this process that no process needs any more.
func (s *solver) removeOwn(kind string, sum int) error { return s.store.remove(s.ownName(kind, sum)) }
