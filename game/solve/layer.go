package solve

import (
	"context"
	"fmt"
	"time"
)

// layer is the boards of one sum: a record of each process, with its parts.
type layer struct {
	records []*record
	owners  []int // of parts: whose record has them
	sum     int
	count   uint64
}

// of returns the record that has a part.
func (l *layer) of(part int) *record { return l.records[l.owners[part]] }

func (l *layer) close() {
	if l == nil {
		return
	}
	for _, r := range l.records {
		_ = r.Close() // only read
	}
}

// What the records of a process are, by the first part of their names.
const (
	positionsName   = "positions"
	aftersName      = "afterstates"
	outgoingName    = "outgoing" // afterstates as one process found them, of parts of all
	valuesName      = "values"
	afterValuesName = "aftervalues"
	runName         = "run"
	doneName        = "done"
)

// name returns the name of a record of a process.
func (s *solver) name(kind string, sum, process int) string {
	name := fmt.Sprintf("%s-%d", kind, sum)
	if s.alone() {
		return name
	}
	return name + suffix(process, s.share.Of)
}

// suffix ends the names of what one of several processes makes.
func suffix(process, of int) string { return fmt.Sprintf("-%dof%d", process, of) }

// mine returns the name of a record of this process.
func (s *solver) ownName(kind string, sum int) string { return s.name(kind, sum, s.share.Index) }

// alone reports whether there is one process.
func (s *solver) alone() bool { return s.share.Of == 1 }

// open opens a layer. It waits for the records of other processes.
func (s *solver) open(ctx context.Context, kind string, sum int) (*layer, error) {
	l := &layer{owners: s.owners, sum: sum}
	for process := 1; process <= s.share.Of; process++ {
		r, err := s.await(ctx, s.name(kind, sum, process))
		if err != nil {
			l.close()
			return nil, err
		}
		l.records = append(l.records, r)
		l.count += r.count
	}
	return l, nil
}

// openMine opens a record of this process; the error is errNoRecord where there is none.
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

const (
	minPause = time.Millisecond // between looks for the record of another process
	maxPause = 200 * time.Millisecond
)

// await opens a record, and waits for it where another process makes it.
func (s *solver) await(ctx context.Context, name string) (*record, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		r, err := s.openNamed(name)
		if err != errNoRecord || s.alone() {
			return r, err
		}
		if err := s.checkPublished(); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// removeMine removes a record of this process that no process reads any more.
func (s *solver) removeOwn(kind string, sum int) error { return s.store.remove(s.ownName(kind, sum)) }
