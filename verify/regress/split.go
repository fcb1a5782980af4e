package regress

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"tilecheck/internal/shard"
	"tilecheck/report"
	"tilecheck/result"
)

// suiteStream is the stream with the mark of the suite, recorded by each part.
const suiteStream = "suite"

// mark returns a hash of the suite and its entrants: the tests, their results, and the imported states.
func (r *run) mark() []byte {
	h := sha256.New()
	for i := range r.entrants {
		fmt.Fprintf(h, "%q\n", r.entrants[i].Called())
	}
	for _, s := range r.subjects {
		fmt.Fprintf(h, "%q %q %q\n", s.identity(), s.Engines, s.imports)
		for _, it := range s.items {
			fmt.Fprintf(h, "%s %t\n", it.id, it.keep)
		}
	}
	return fmt.Appendf(nil, "%x", h.Sum(nil))
}

// finishSplit records the results of the part. If results are replayed, it returns the error of the ledger.
func (r *run) finishSplit(mark []byte) error {
	l := r.opt.Split
	switch {
	case l.Replaying():
		return l.Err()
	case !l.Recording():
		return nil
	}
	for _, u := range r.units {
		if err := u.record(); err != nil {
			return err
		}
	}
	p := l.Part()
	l.Put(&shard.Piece{Stream: suiteStream, First: int64(p.Index) - 1, End: int64(p.Index), Data: mark})
	return nil
}

// checkSuite checks that the parts are of this suite.
func (r *run) checkSuite(mark []byte) error {
	l := r.opt.Split
	return l.Replay(shard.Stream{Name: suiteStream, End: int64(l.Part().Of)}, func(p *shard.Piece) (more bool, err error) {
		data, err := p.Load()
		if err == nil && !bytes.Equal(data, mark) {
			err = errors.New("it is of a suite with other tests than there are now")
		}
		return true, err
	})
}

// stream names the unit: by its identity, and by its number, because tests may have the same identity and other
// expectations.
func (u *unit) stream() string {
	return fmt.Sprintf("test %d, %s, on %s", u.number, shortID(u.identity()), u.entrant.Called())
}

// recorded has the results of a unit.
type recorded struct {
	Whole   json.RawMessage `json:"whole"`
	Results json.RawMessage `json:"results,omitempty"` // absent if no item was judged
	Notes   []string        `json:"notes,omitempty"`
}

func (u *unit) record() error {
	var x recorded
	var err error
	if x.Whole, err = report.EncodeResults(u.whole); err != nil {
		return err
	}
	if u.results != nil {
		if x.Results, err = report.EncodeResults(u.results); err != nil {
			return err
		}
	}
	x.Notes = u.notes
	return u.opt.Split.PutJSON(&shard.Piece{Stream: u.stream(), End: 1, Timed: true}, x)
}

// replay reads the results that a part recorded. The ledger keeps an error. If the part is absent, the test was not run.
func (u *unit) replay() {
	l := u.opt.Split
	found := false
	err := l.Replay(shard.Stream{Name: u.stream(), End: 1}, func(p *shard.Piece) (more bool, err error) {
		found = true
		return true, u.decode(p)
	})
	if err == nil && !found { // finishSplit returns the error
		u.whole = append(u.whole, u.errorResult(u.entrant, &result.Failure{Class: result.Interrupted, Message: "this test was not run: " + shard.Missing(l.Absent())}))
	}
}

func (u *unit) decode(p *shard.Piece) error {
	var x recorded
	err := p.Decode(&x)
	if err != nil {
		return err
	}
	if u.whole, err = report.DecodeResults(x.Whole); err != nil {
		return err
	}
	u.notes = x.Notes
	if x.Results == nil {
		return nil
	}
	if u.results, err = report.DecodeResults(x.Results); err != nil {
		return err
	}
	if len(u.results) != len(u.items) {
		return fmt.Errorf("found %d results, want %d", len(u.results), len(u.items))
	}
	for i, it := range u.items {
		r := &u.results[i]
		if want := result.Valuation(it.constants()).String(); r.Property != it.task.Text || r.Engine != u.entrant.Called() || result.Valuation(r.Constants).String() != want {
			return fmt.Errorf("found the result of %s of %s %v, want %s of %s %s", r.Engine, r.Property, r.Constants, u.entrant.Called(), it.task.Text, want)
		}
		own := u.result(u.entrant, it) // with the texts of the files, which may not be UTF-8
		own.Outcome, own.Got, own.Reason, own.Verdict = r.Outcome, r.Got, r.Reason, r.Verdict
		own.Log, own.Cached, own.Seconds, own.Run = r.Log, r.Cached, r.Seconds, r.Run
		*r = own
	}
	return nil
}
