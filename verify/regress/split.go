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

// suiteStream is the name of the stream in which each part records the hash of the suite.
const suiteStream = "suite"

// suiteHash returns a hash of the suite: of its engines, its tests with their property instances, and the imported files.
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

// recordResults writes the results of this shard, and the hash of the suite, to the ledger Options.Split.
func (r *suiteRun) recordResults(hash []byte) error {
	ledger := r.options.Ledger
	switch {
	case ledger.Replaying(): // the results are already recorded
		return ledger.Err()
	case !ledger.Recording():
		return nil
	}
	for _, run := range r.runs {
		if err := run.recordResults(); err != nil {
			return err
		}
	}
	shardPart := ledger.Part()
	ledger.Put(&shard.Piece{Stream: suiteStream, First: int64(shardPart.Index) - 1, End: int64(shardPart.Index), Data: hash})
	return nil
}

// checkSameSuite returns an error if a shard was recorded with another suite. hash is the hash of the current suite.
func (r *suiteRun) checkSameSuite(hash []byte) error {
	ledger := r.options.Ledger
	hashes := shard.Stream{Name: suiteStream, End: int64(ledger.Part().Count)} // each part has recorded one hash
	checkHash := func(piece *shard.Piece) (more bool, err error) {
		recorded, err := piece.Load()
		if err != nil {
			return false, err
		}
		if !bytes.Equal(recorded, hash) {
			return false, errors.New("the part was recorded with another suite: its tests have changed since then")
		}
		return true, nil
	}
	return ledger.Replay(hashes, checkHash)
}

// streamName returns the name of the ledger's stream with the results of the run.
func (run *testRun) streamName() string {
	// The number is necessary, because two tests may have the same identity and different expectations.
	return fmt.Sprintf("test %d, %s, on %s", run.number, shortID(run.identity()), run.engine.DisplayName())
}

// recordedRun has the recorded results of a run.
type recordedRun struct {
	RunResults      json.RawMessage `json:"whole"`
	InstanceResults json.RawMessage `json:"results,omitempty"` // absent if no instance was judged
	Notes           []string        `json:"notes,omitempty"`
}

// recordResults writes the results of the run to the ledger, the file with the results of this shard.
func (run *testRun) recordResults() error {
	var recorded recordedRun
	var err error
	if recorded.RunResults, err = report.EncodeResults(run.runResults); err != nil {
		return err
	}
	if run.instanceResults != nil {
		if recorded.InstanceResults, err = report.EncodeResults(run.instanceResults); err != nil {
			return err
		}
	}
	recorded.Notes = run.notes
	return run.options.Ledger.PutJSON(&shard.Piece{Stream: run.streamName(), End: 1, Timed: true}, recorded)
}

// replay reads the results of the run from the ledger instead of running the test. If the shard of the test is absent, it adds a result that says
// so.
func (run *testRun) replay() {
	ledger := run.options.Ledger
	isRecorded := false
	err := ledger.Replay(shard.Stream{Name: run.streamName(), End: 1}, func(piece *shard.Piece) (more bool, err error) {
		isRecorded = true
		return true, run.decode(piece)
	})
	if err == nil && !isRecorded {
		failure := &result.Failure{Class: result.Interrupted, Message: "this test was not run: " + shard.Missing(ledger.Absent())}
		run.runResults = append(run.runResults, run.errorResult(run.engine, failure))
	}
}

// decode sets the results of the run from the record that a shard has written. It returns an error if the record is about other property instances.
func (run *testRun) decode(piece *shard.Piece) error {
	var recorded recordedRun
	err := piece.Decode(&recorded)
	if err != nil {
		return err
	}
	if run.runResults, err = report.DecodeResults(recorded.RunResults); err != nil {
		return err
	}
	run.notes = recorded.Notes
	if recorded.InstanceResults == nil {
		return nil
	}
	if run.instanceResults, err = report.DecodeResults(recorded.InstanceResults); err != nil {
		return err
	}
	if len(run.instanceResults) != len(run.instances) {
		return fmt.Errorf("found %d results, want %d", len(run.instanceResults), len(run.instances))
	}
	for i, instance := range run.instances {
		if err := run.completeRecorded(&run.instanceResults[i], instance); err != nil {
			return err
		}
	}
	return nil
}

// completeRecorded restores the texts of a recorded result from the files of the test, because JSON loses text that is not UTF-8. It returns an
// error if the result is about another property instance.
func (run *testRun) completeRecorded(recorded *report.TestResult, instance *propertyInstance) error {
	engine, valuation := run.engine.DisplayName(), result.Valuation(instance.constants()).String()
	if recorded.Property != instance.task.Text || recorded.Engine != engine || result.Valuation(recorded.Constants).String() != valuation {
		return fmt.Errorf("found the result of %s of %s %v, want %s of %s %s",
			recorded.Engine, recorded.Property, recorded.Constants, engine, instance.task.Text, valuation)
	}
	complete := run.newResult(run.engine, instance)
	complete.Outcome, complete.Got, complete.Reason, complete.Verdict = recorded.Outcome, recorded.Got, recorded.Reason, recorded.Verdict
	complete.Log, complete.Cached, complete.Seconds, complete.Run = recorded.Log, recorded.Cached, recorded.Seconds, recorded.Run
	*recorded = complete
	return nil
}
