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

// suiteStream is the stream with the hash of the suite, recorded by each part.
const suiteStream = "suite"

// suiteHash returns a hash of the suite and its engines: of the tests, their results, and the imported states.
func (r *suiteRun) suiteHash() []byte {
	hash := sha256.New()
	for i := range r.engines {
		fmt.Fprintf(hash, "%q\n", r.engines[i].DisplayName())
	}
	for _, test := range r.tests {
		fmt.Fprintf(hash, "%q %q %q\n", test.identity(), test.Engines, test.importsHash)
		for _, instance := range test.instances {
			fmt.Fprintf(hash, "%s %t\n", instance.id, instance.selected)
		}
	}
	return fmt.Appendf(nil, "%x", hash.Sum(nil))
}

// recordResults records the results of the part, if the results are shared with other processes. If recorded results were replayed, it returns
// the error of the ledger.
func (r *suiteRun) recordResults(hash []byte) error {
	ledger := r.opt.Split
	switch {
	case ledger.Replaying():
		return ledger.Err()
	case !ledger.Recording():
		return nil
	}
	for _, run := range r.runs {
		if err := run.record(); err != nil {
			return err
		}
	}
	part := ledger.Part()
	ledger.Put(&shard.Piece{Stream: suiteStream, First: int64(part.Index) - 1, End: int64(part.Index), Data: hash})
	return nil
}

// checkSameSuite returns an error if a recorded part is of another suite.
func (r *suiteRun) checkSameSuite(hash []byte) error {
	ledger := r.opt.Split
	return ledger.Replay(shard.Stream{Name: suiteStream, End: int64(ledger.Part().Of)}, func(piece *shard.Piece) (more bool, err error) {
		data, err := piece.Load()
		if err == nil && !bytes.Equal(data, hash) {
			err = errors.New("it is of a suite with other tests than there are now")
		}
		return true, err
	})
}

// streamName returns the name under which the ledger has the results of the run. It has the number of the test, because two tests may have the
// same identity and different expectations.
func (u *testRun) streamName() string {
	return fmt.Sprintf("test %d, %s, on %s", u.number, shortID(u.identity()), u.engine.DisplayName())
}

// recordedRun has the results of a unit.
type recordedRun struct {
	RunResults      json.RawMessage `json:"whole"`
	InstanceResults json.RawMessage `json:"results,omitempty"` // absent if no instance was judged
	Notes           []string        `json:"notes,omitempty"`
}

// record writes the results of the run to the ledger.
func (u *testRun) record() error {
	var recorded recordedRun
	var err error
	if recorded.RunResults, err = report.EncodeResults(u.runResults); err != nil {
		return err
	}
	if u.instanceResults != nil {
		if recorded.InstanceResults, err = report.EncodeResults(u.instanceResults); err != nil {
			return err
		}
	}
	recorded.Notes = u.notes
	return u.opt.Split.PutJSON(&shard.Piece{Stream: u.streamName(), End: 1, Timed: true}, recorded)
}

// replay reads the results that a part recorded. The ledger keeps an error. If the part is absent, the result is that the test was not run.
func (u *testRun) replay() {
	ledger := u.opt.Split
	found := false
	err := ledger.Replay(shard.Stream{Name: u.streamName(), End: 1}, func(piece *shard.Piece) (more bool, err error) {
		found = true
		return true, u.decode(piece)
	})
	if err == nil && !found { // finishSplit returns the error
		u.runResults = append(u.runResults, u.errorResult(u.engine, &result.Failure{Class: result.Interrupted, Message: "this test was not run: " + shard.Missing(ledger.Absent())}))
	}
}

// decode sets the results of the run from a record, and checks that they are about the property instances of this test.
func (u *testRun) decode(piece *shard.Piece) error {
	var recorded recordedRun
	err := piece.Decode(&recorded)
	if err != nil {
		return err
	}
	if u.runResults, err = report.DecodeResults(recorded.RunResults); err != nil {
		return err
	}
	u.notes = recorded.Notes
	if recorded.InstanceResults == nil {
		return nil
	}
	if u.instanceResults, err = report.DecodeResults(recorded.InstanceResults); err != nil {
		return err
	}
	if len(u.instanceResults) != len(u.instances) {
		return fmt.Errorf("found %d results, want %d", len(u.instanceResults), len(u.instances))
	}
	for i, instance := range u.instances {
		read := &u.instanceResults[i]
		engine, valuation := u.engine.DisplayName(), result.Valuation(instance.constants()).String()
		if read.Property != instance.task.Text || read.Engine != engine || result.Valuation(read.Constants).String() != valuation {
			return fmt.Errorf("found the result of %s of %s %v, want %s of %s %s", read.Engine, read.Property, read.Constants, engine, instance.task.Text, valuation)
		}
		combined := u.newResult(u.engine, instance) // has the texts of the files, which may not be UTF-8
		combined.Outcome, combined.Got, combined.Reason, combined.Verdict = read.Outcome, read.Got, read.Reason, read.Verdict
		combined.Log, combined.Cached, combined.Seconds, combined.Run = read.Log, read.Cached, read.Seconds, read.Run
		*read = combined
	}
	return nil
}
