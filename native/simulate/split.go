package simulate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"tilecheck/internal/noun"
	"tilecheck/internal/shard"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/stats"
)

// smallestBlock is the least number of samples that a part draws at once, if the samples decide when to stop.
const smallestBlock = 1000

// sampleStream describes to package shard how the samples of a split check are numbered and divided among the processes.
func (checker *checker) sampleStream() shard.Stream {
	if n, isFixed := checker.plan.Samples(); isFixed {
		return shard.Stream{Name: checker.opts.Stream, End: n}
	}
	parts := int64(checker.opts.Split.Part().Count)
	// The number of samples is not known in advance. In the first round, all processes together draw half of the number that is likely to be enough.
	return shard.Stream{Name: checker.opts.Stream, End: math.MaxInt64, Block: max(smallestBlock, checker.plan.Likely()/(2*parts))}
}

// recordsOnlySummary reports whether a part records only the sum of its samples. Otherwise it records each sample, because the order of the samples
// matters.
func (checker *checker) recordsOnlySummary() bool {
	_, isFixed := checker.plan.Samples()
	return isFixed && !checker.objective.Reward
}

// recordPieces draws the samples of this process, if several processes share a check. For each piece of consecutive samples it records a summary of their
// outcomes or, if a summary is not enough, a log with every outcome.
func (checker *checker) recordPieces(ctx context.Context, s *sampler) error {
	return checker.opts.Split.Do(ctx, checker.sampleStream(), func(piece *shard.Piece) (err error) {
		s.firstSample, s.endSample = piece.First, piece.End
		if checker.recordsOnlySummary() {
			piece.Data, err = checker.recordSummary(ctx, s)
		} else {
			piece.Data, err = checker.recordLog(ctx, s)
		}
		piece.Mean = checker.finiteMean()
		return err
	})
}

// recordSummary draws samples and returns their summary.
func (checker *checker) recordSummary(ctx context.Context, s *sampler) ([]byte, error) {
	if err := s.drawAll(ctx); err != nil {
		return nil, err
	}
	return json.Marshal(checker.newSummary())
}

// recordLog draws the samples of a piece, and returns a compressed log of their outcomes.
func (checker *checker) recordLog(ctx context.Context, s *sampler) ([]byte, error) {
	log := newLog(checker.objective.Reward)
	s.countOutcome = func(outcome *compile.Outcome) bool {
		log.addOutcome(outcome)
		checker.countOutcome(outcome)
		return checker.failedOutcome == nil
	}
	if err := s.drawAll(ctx); err != nil {
		return nil, err
	}
	return log.compressedBytes()
}

// finiteMean returns the mean of the samples so far. It returns nil if there are no samples, or if the mean is not finite.
func (checker *checker) finiteMean() *float64 {
	if checker.sampleStatistics().Count() == 0 {
		return nil
	}
	mean := checker.sampleStatistics().Mean()
	if math.IsInf(mean, 0) || math.IsNaN(mean) {
		return nil
	}
	return &mean
}

// replayPiece counts the samples that another process has recorded in a piece. more reports whether the sampling plan needs further samples.
func (checker *checker) replayPiece(piece *shard.Piece) (more bool, err error) {
	numSamples := piece.End - piece.First
	if !checker.recordsOnlySummary() {
		data, err := piece.Load()
		if err != nil {
			return false, err
		}
		return readLog(data, numSamples, checker.objective.Reward, checker.countOutcome)
	}
	var summary pieceSummary
	if err := piece.Decode(&summary); err != nil {
		return false, err
	}
	if err := summary.validate(numSamples); err != nil {
		return false, err
	}
	return checker.addSummary(&summary), nil
}

// pieceSummary is the sum of samples, and the outcome that ended them, if there is one.
type pieceSummary struct {
	Samples   int64
	Successes int64
	Steps     int64
	MinSteps  int64
	MaxSteps  int64
	Nondet    int64
	Overlap   int64
	Failed    *failedPath `json:",omitempty"`
}

// failedPath is an outcome of a path without a value. The rewards and times of such a path are not used.
type failedPath struct {
	Status  compile.Status
	Steps   int64
	Nondet  int64
	Overlap int64
	Err     *compile.StateError `json:",omitempty"`
}

// failedPathOf returns the record of an outcome without a value.
func failedPathOf(outcome *compile.Outcome) *failedPath {
	return &failedPath{outcome.Status, outcome.Steps, outcome.Nondet, outcome.Overlap, outcome.Err}
}

// outcome converts the record of a path without a value to the outcome of a sample. It is an error if the fields of the record contradict each other.
func (failed *failedPath) outcome() (*compile.Outcome, error) {
	hasValue := failed.Status == compile.True || failed.Status == compile.False
	isKnown := failed.Status <= compile.Failed
	needsError := failed.Status == compile.Failed || failed.Status == compile.Deadlocked
	hasError := failed.Err != nil
	if hasValue || !isKnown || failed.Steps < 0 || needsError != hasError {
		return nil, fmt.Errorf("found an invalid failed path: %+v", *failed)
	}
	return &compile.Outcome{Status: failed.Status, Steps: failed.Steps, Nondet: failed.Nondet, Overlap: failed.Overlap, Err: failed.Err}, nil
}

// newSummary returns the counts of the samples so far, to be recorded for a piece of consecutive samples.
func (checker *checker) newSummary() *pieceSummary {
	counts := &pieceSummary{
		Samples: checker.successes.N, Successes: checker.successes.K, Nondet: checker.result.Nondet, Overlap: checker.result.Overlap,
		Steps: checker.pathLengths.totalSteps, MinSteps: checker.pathLengths.minSteps, MaxSteps: checker.pathLengths.maxSteps,
	}
	if checker.failedOutcome != nil {
		counts.Failed = failedPathOf(checker.failedOutcome)
	}
	return counts
}

// validate returns an error if the counts of a summary contradict each other, or if the summary does not have the expected number of samples. It may have
// fewer samples if its last path has no value, because such a path ends the sampling.
func (summary *pieceSummary) validate(expected int64) error {
	if !summary.hasValidSamples(expected) || !summary.hasValidCounts() || !summary.hasValidSteps() {
		return fmt.Errorf("found an inconsistent summary of %d samples: %+v", expected, *summary)
	}
	if summary.Failed == nil {
		return nil
	}
	_, err := summary.Failed.outcome()
	return err
}

// hasValidSamples reports whether the number of samples is the expected one, or less if a path failed.
func (summary *pieceSummary) hasValidSamples(expected int64) bool {
	if summary.Failed != nil {
		return summary.Samples >= 0 && summary.Samples < expected
	}
	return summary.Samples == expected
}

// hasValidCounts reports whether no count of samples is negative or greater than the number of all samples.
func (summary *pieceSummary) hasValidCounts() bool {
	for _, n := range []int64{summary.Successes, summary.Nondet, summary.Overlap} {
		if n < 0 || n > summary.Samples {
			return false
		}
	}
	return true
}

// hasValidSteps reports whether the least, the greatest and the total number of steps are in this order.
func (summary *pieceSummary) hasValidSteps() bool {
	if summary.Samples == 0 && summary.Steps != 0 {
		return false
	}
	return 0 <= summary.MinSteps && summary.MinSteps <= summary.MaxSteps && summary.MaxSteps <= summary.Steps
}

// addSummary adds the counts of a piece to the counts of the check. It reports whether more samples are needed: false if a path of the piece has no value.
func (checker *checker) addSummary(summary *pieceSummary) bool {
	checker.successes.Merge(stats.Bernoulli{N: summary.Samples, K: summary.Successes})
	checker.pathLengths.merge(stepStats{summary.Samples, summary.Steps, summary.MinSteps, summary.MaxSteps})
	checker.result.Nondet += summary.Nondet
	checker.result.Overlap += summary.Overlap
	if summary.Failed != nil {
		checker.failedOutcome, _ = summary.Failed.outcome() // validate has checked it
	}
	return checker.failedOutcome == nil
}

// merge adds the lengths of other paths to the statistics.
func (lengths *stepStats) merge(other stepStats) {
	switch {
	case other.numPaths == 0: // nothing to add
	case lengths.numPaths == 0:
		*lengths = other
	default:
		lengths.numPaths += other.numPaths
		lengths.totalSteps += other.totalSteps
		lengths.minSteps, lengths.maxSteps = min(lengths.minSteps, other.minSteps), max(lengths.maxSteps, other.maxSteps)
	}
}

// The first byte of a sample in a log.
const (
	trueFlag = 1 << iota
	choiceFlag
	overlapFlag
	failedPathFlag // a failedPath as JSON follows, and nothing behind it
	logBits
)

// sampleLog has samples one by one: a byte, the number of steps, and the reward.
type sampleLog struct {
	hasRewards     bool
	buffer         bytes.Buffer
	compressor     *flate.Writer
	encodedOutcome []byte
	err            error
}

// newLog returns an empty log of samples, with or without rewards.
func newLog(reward bool) *sampleLog {
	log := &sampleLog{hasRewards: reward}
	log.compressor, log.err = flate.NewWriter(&log.buffer, flate.BestSpeed)
	return log
}

// addOutcome appends the outcome of a sample to the log. After an error the log does not change; bytes returns the error.
func (log *sampleLog) addOutcome(outcome *compile.Outcome) {
	if log.err == nil {
		log.encodedOutcome, log.err = log.appendOutcome(log.encodedOutcome[:0], outcome)
	}
	if log.err == nil {
		_, log.err = log.compressor.Write(log.encodedOutcome)
	}
}

// appendOutcome appends the outcome of a sample to entry: a byte of flags, the number of steps and, for a reward property, the reward. A path without a
// value, such as a path that is too long, is stored as a flag and JSON.
func (log *sampleLog) appendOutcome(entry []byte, outcome *compile.Outcome) ([]byte, error) {
	if outcome.Status != compile.True && outcome.Status != compile.False {
		text, err := json.Marshal(failedPathOf(outcome))
		return append(append(entry, failedPathFlag), text...), err
	}
	flags := byte(0)
	if outcome.Status == compile.True {
		flags |= trueFlag
	}
	if outcome.Nondet > 0 {
		flags |= choiceFlag
	}
	if outcome.Overlap > 0 {
		flags |= overlapFlag
	}
	entry = append(entry, flags)
	entry = binary.AppendUvarint(entry, uint64(outcome.Steps))
	if log.hasRewards {
		entry = binary.LittleEndian.AppendUint64(entry, math.Float64bits(outcome.Reward))
	}
	return entry, nil
}

// compressedBytes closes the log and returns its compressed contents, or the first error.
func (log *sampleLog) compressedBytes() ([]byte, error) {
	if log.err == nil {
		log.err = log.compressor.Close()
	}
	return log.buffer.Bytes(), log.err
}

// readLog decodes a log and passes its outcomes to countOutcome, in order, until countOutcome returns false. more is true if countOutcome always returned
// true. hasRewards says that the log has a reward for each sample. It returns an error if the log does not contain exactly numSamples samples.
func readLog(data []byte, numSamples int64, hasRewards bool, countOutcome func(*compile.Outcome) bool) (more bool, err error) {
	reader := bufio.NewReader(flate.NewReader(bytes.NewReader(data)))
	for range numSamples {
		outcome, err := readSample(reader, hasRewards)
		if err != nil {
			return false, err
		}
		if !countOutcome(outcome) {
			return false, nil
		}
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		return false, fmt.Errorf("found more than %d samples", numSamples)
	}
	return true, nil
}

// readSample reads the outcome of one sample from a log. hasRewards says that the outcome has a reward.
func readSample(reader *bufio.Reader, hasRewards bool) (*compile.Outcome, error) {
	flags, err := reader.ReadByte()
	if err != nil {
		return nil, fmt.Errorf("the samples end early: %w", err)
	}
	if flags == failedPathFlag {
		failed := new(failedPath)
		if err := json.NewDecoder(io.LimitReader(reader, 1<<20)).Decode(failed); err != nil {
			return nil, err
		}
		return failed.outcome()
	}
	steps, err := binary.ReadUvarint(reader)
	if err != nil || flags >= failedPathFlag || steps > math.MaxInt64 {
		return nil, fmt.Errorf("found an invalid sample: flags %d, %d steps, %w", flags, steps, err)
	}
	outcome := newOutcome(flags, int64(steps))
	if hasRewards {
		var bits [8]byte
		if _, err := io.ReadFull(reader, bits[:]); err != nil {
			return nil, fmt.Errorf("the samples end early: %w", err)
		}
		outcome.Reward = math.Float64frombits(binary.LittleEndian.Uint64(bits[:]))
	}
	return outcome, nil
}

// newOutcome returns the outcome that the flags of a log entry and a number of steps describe. The flags are those that appendOutcome writes.
func newOutcome(flags byte, steps int64) *compile.Outcome {
	outcome := &compile.Outcome{Status: compile.False, Steps: steps}
	if flags&trueFlag != 0 {
		outcome.Status = compile.True
	}
	if flags&choiceFlag != 0 {
		outcome.Nondet = 1
	}
	if flags&overlapFlag != 0 {
		outcome.Overlap = 1
	}
	return outcome
}

// missingSamplesError returns the error of a split check that has too few samples. If parts are missing, the error names them. Otherwise it requests
// more samples from all parts, and returns planError, the error of the sampling plan.
func (checker *checker) missingSamplesError(planError error) error {
	split := checker.opts.Split
	parts := split.Absent()
	if len(parts) == 0 {
		split.Want(checker.sampleStream(), checker.plan.Forecast(checker.sampleStatistics()))
		return planError
	}
	found := noun.Count(checker.result.Samples, "sample")
	if numSamples, isFixed := checker.plan.Samples(); isFixed {
		found = fmt.Sprintf("%d of %s", checker.result.Samples, noun.Count(numSamples, "sample"))
	}
	return &result.Failure{Class: result.Interrupted, Message: fmt.Sprintf("from %s: %s", found, shard.Missing(parts)), MissesShards: true}
}
