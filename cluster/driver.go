package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/cluster/settings"
	"tilecheck/internal/atomicfile"
	"tilecheck/internal/noun"
	"tilecheck/internal/printable"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
)

// Failure is the error for shards that failed too often.
type Failure struct {
	Code int    // exit code of the last run, -1 if its task disappeared
	Msg  string // what happened
	Log  string // the log of the run; empty if it is removed
	Rest string // what follows from it
}

func (e *Failure) Error() string {
	if e.Log == "" {
		return e.Msg + e.Rest
	}
	return e.Msg + " (" + e.Log + ")" + e.Rest
}

// Driver runs all shards of a job and merges them.
type Driver struct {
	Work    *Work
	Backend Backend
	// Merge merges the shards, given their partial files in order, and prints the result. The error *shard.More requests more shards.
	Merge func(ctx context.Context, files []string) error
	// Progress and Note report to the user; nil: no reports.
	Progress func(progress.Progress)
	Note     func(text string)
	// Retries is how often a failed shard is run again.
	Retries int

	finished     map[int]bool
	jobID        string                   // of the partial files
	streams      map[string]*sampleStream // samples of all finished shards
	failedRuns   map[int]int              // number of failed runs, by shard
	polls        int                      // number of answers of the back end
	gone         map[TaskID]goneSince
	goneBefore   map[TaskID]bool  // tasks that were gone when this driver attached
	counted      map[TaskID]bool  // tasks whose failure is counted
	failed       map[int]*Failure // shards that are not run again
	maxTasks     int
	answered     bool      // the back end has answered
	silentSince  time.Time // time since which the back end has not answered; zero if it answers
	lastNote     string
	notedReasons map[string]bool   // reasons of failed runs that were reported
	ended        map[TaskID]string // why tasks ended, according to the back end
	timing       shardTiming
}

// shardTiming has the number and the total running time of finished shards.
type shardTiming struct {
	shards  int
	seconds float64
}

const (
	// defaultTasks is the default of the largest number of tasks in a round.
	defaultTasks = 64
	// targetSeconds is the intended running time of a task; starting one takes about a second.
	targetSeconds = 60
	// fileTimeout is how long the driver waits for the partial file of a shard whose record says that it is finished.
	fileTimeout = 2 * time.Minute
	// maxSilence is how long a back end may not answer; it may be restarted or upgraded in that time.
	maxSilence = 10 * time.Minute
)

// Run runs all shards and returns the result of Merge. If ctx ends first, the tasks of a detached back end continue.
func (d *Driver) Run(ctx context.Context) error {
	d.finished, d.failedRuns, d.gone = map[int]bool{}, map[int]int{}, map[TaskID]goneSince{}
	d.goneBefore = map[TaskID]bool{}
	d.streams, d.notedReasons, d.counted, d.failed = map[string]*sampleStream{}, map[string]bool{}, map[TaskID]bool{}, map[int]*Failure{}
	numShards := d.Work.Job.Shards
	for _, round := range d.Work.Rounds {
		for _, shards := range round.Tasks {
			numShards = max(numShards, slices.Max(shards))
		}
	}
	for {
		if err := d.waitForShards(ctx, numShards); err != nil {
			if _, failed := errors.AsType[*Failure](err); failed { // without this shard the others cannot be merged
				err = errors.Join(err, d.Cancel(ctx))
			}
			return err
		}
		var files []string
		for i := range numShards {
			files = append(files, d.Work.Dir.Part(strconv.Itoa(i+1)))
		}
		err := d.Merge(ctx, files)
		moreShards, ok := errors.AsType[*shard.More](err)
		if !ok {
			return err
		}
		if moreShards.Want <= numShards || moreShards.Want > settings.MaxShards {
			return fmt.Errorf("the merge wants %d shards, which cannot be: there are %d, and at most %d", moreShards.Want, numShards, settings.MaxShards)
		}
		numShards = moreShards.Want
	}
}

// waitForShards submits shards and waits until the shards 1 to numShards are finished.
func (d *Driver) waitForShards(ctx context.Context, numShards int) error {
	for start := time.Now(); ; {
		live, isAnswered, err := d.liveTasks(ctx)
		if err != nil {
			return err
		}
		if err := d.readFinished(numShards); err != nil { // after liveTasks, so that a task that has just ended is not taken for lost
			return err
		}
		d.reportProgress(numShards, live)
		if len(d.finished) >= numShards {
			return nil
		}
		if isAnswered {
			if err := d.submitMissing(ctx, numShards, live); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.Backend.Pace(time.Since(start))):
		}
	}
}

// liveTasks asks the back end for its tasks. isAnswered is false if the back end does not answer.
func (d *Driver) liveTasks(ctx context.Context) (live Live, isAnswered bool, err error) {
	var unfinished []*Round
	for _, round := range d.Work.Rounds {
		if !d.roundFinished(round) {
			unfinished = append(unfinished, round)
		}
	}
	if len(unfinished) == 0 {
		d.answered = true
		return live, true, nil
	}
	if live, err = d.Backend.Live(ctx, unfinished); err != nil {
		return live, false, d.retryLater(ctx, err)
	}
	d.silentSince, d.ended = time.Time{}, live.Ended
	if !d.answered { // failures before this driver attached do not count
		d.answered = true
		for _, round := range unfinished {
			for i := range round.Tasks {
				if _, isLive := live.Tasks[TaskID{round.Number, i + 1}]; !isLive {
					d.goneBefore[TaskID{round.Number, i + 1}] = round.Handle != ""
				}
			}
		}
	}
	return live, true, nil
}

// roundFinished reports whether all shards of a round are finished.
func (d *Driver) roundFinished(round *Round) bool {
	for _, shards := range round.Tasks {
		for _, shard := range shards {
			if !d.finished[shard] {
				return false
			}
		}
	}
	return true
}

// readFinished reads and checks the new partial files.
func (d *Driver) readFinished(numShards int) error {
	entries, err := os.ReadDir(d.Work.Dir.path("parts"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		numberText, ok := strings.CutSuffix(entry.Name(), ".part")
		shardNumber, err := strconv.Atoi(numberText)
		if !ok || err != nil || shardNumber < 1 || shardNumber > numShards || strconv.Itoa(shardNumber) != numberText || d.finished[shardNumber] {
			continue // for example a temporary file
		}
		name := d.Work.Dir.Part(numberText)
		file, err := shard.Read(name)
		if err != nil {
			return fmt.Errorf("%w; remove the file, then attach computes shard %d again", err, shardNumber)
		}
		if expected := (shard.Part{Index: shardNumber, Count: d.Work.Job.Shards}); file.Part != expected {
			return fmt.Errorf("%s is shard %v, want %v", name, file.Part, expected)
		}
		if d.jobID == "" {
			d.jobID = file.ID()
		}
		if file.Build != d.Work.Job.Build || file.ID() != d.jobID || !slices.Equal(file.Args, d.Work.Job.Words) {
			return fmt.Errorf("%s is a shard of another job than its directory is for; remove the file, then attach computes shard %d again", name, shardNumber)
		}
		d.finished[shardNumber] = true
		d.countSamples(file)
		delete(d.failed, shardNumber)
	}
	return nil
}

// sampleStream adds up the samples of one random stream.
type sampleStream struct {
	jobs        int64
	sum, weight float64 // weighted sum of the means of its pieces, and the weight
}

func (d *Driver) countSamples(file *shard.File) {
	for _, piece := range file.Pieces() {
		stream := d.streams[piece.Stream]
		if stream == nil {
			stream = &sampleStream{}
			d.streams[piece.Stream] = stream
		}
		numSamples := piece.End - piece.First
		stream.jobs += numSamples
		if piece.Mean != nil && numSamples > 0 {
			stream.sum += *piece.Mean * float64(numSamples)
			stream.weight += float64(numSamples)
		}
	}
}

// reportProgress reports the numbers of running and waiting tasks and the samples so far.
func (d *Driver) reportProgress(numShards int, live Live) {
	running, waiting := 0, 0
	for _, isRunning := range live.Tasks {
		if isRunning {
			running++
		} else {
			waiting++
		}
	}
	if d.Progress == nil {
		return
	}
	var words []string
	if running > 0 {
		words = append(words, fmt.Sprintf("%d running", running))
	}
	if waiting > 0 {
		waitingText := fmt.Sprintf("%d waiting", waiting)
		if live.Waiting != "" {
			waitingText += " (" + printable.Line(live.Waiting) + ")"
		}
		words = append(words, waitingText)
	}
	var samples int64
	for _, stream := range d.streams {
		if samples += stream.jobs; len(d.streams) == 1 && stream.weight > 0 {
			words = append(words, fmt.Sprintf("%.4g so far", stream.sum/stream.weight))
		}
	}
	if samples > 0 {
		words = append(words, noun.Count(samples, "sample"))
	}
	if !d.silentSince.IsZero() {
		words = append(words, d.Backend.Name()+" does not answer")
	}
	d.Progress(progress.Progress{Property: d.Backend.Name(), Detail: strings.Join(words, ", "), Done: int64(len(d.finished)), Target: int64(numShards), Unit: progress.Shards})
}

// submitMissing submits the shards that are not finished and have no task.
func (d *Driver) submitMissing(ctx context.Context, numShards int, live Live) error {
	for _, round := range d.Work.Rounds { // a round without a handle may not have been submitted
		if round.Handle == "" && !d.roundFinished(round) {
			return d.submit(ctx, round)
		}
	}
	missing, err := d.missingShards(numShards, live)
	switch {
	case err != nil:
		return err
	case len(missing) == 0 && len(d.finished)+len(d.failed) >= numShards && len(live.Tasks) == 0:
		return d.failureError()
	case len(missing) == 0:
		return nil
	}
	if err := d.askLimit(ctx); err != nil {
		return d.retryLater(ctx, err)
	}
	round, err := d.Work.newRound(d.divide(missing))
	if err != nil {
		return err
	}
	return d.submit(ctx, round)
}

// missingShards returns the shards to submit: those that never were submitted, and those that are not finished although their task is gone.
func (d *Driver) missingShards(numShards int, live Live) (missing []int, err error) {
	lastTask := map[int]TaskID{} // the last task of each shard
	for _, round := range d.Work.Rounds {
		for i, shards := range round.Tasks {
			for _, shard := range shards {
				lastTask[shard] = TaskID{round.Number, i + 1}
			}
		}
	}
	d.polls++
	isSettling, firstGone := false, time.Now()
	for shard := 1; shard <= numShards; shard++ {
		id, isSubmitted := lastTask[shard]
		_, isLive := live.Tasks[id]
		switch {
		case d.finished[shard] || d.failed[shard] != nil:
		case isLive:
			delete(d.gone, id)
		case isSubmitted && !d.taskGone(shard, id):
			isSettling = true
		default:
			if gone, ok := d.gone[id]; ok && gone.at.Before(firstGone) {
				firstGone = gone.at
			}
			missing = append(missing, shard)
		}
	}
	if isSettling && time.Since(firstGone) < 3*d.Backend.Lag() { // wait, so that shards that are lost together are submitted together
		return nil, nil
	}
	counted := map[TaskID]bool{}
	for _, shard := range missing {
		if id, isSubmitted := lastTask[shard]; isSubmitted {
			if err := d.countFailure(shard, id); err != nil {
				return nil, err
			}
			counted[id] = true
		}
	}
	maps.Copy(d.counted, counted)
	return slices.DeleteFunc(missing, func(shard int) bool { return d.failed[shard] != nil }), nil
}

// goneSince says since which answer of the back end, and since when, a task is gone.
type goneSince struct {
	poll int
	at   time.Time
}

// taskGone reports whether a task of a shard has been gone for so long that the driver would see the files of the shard if it had finished.
func (d *Driver) taskGone(shard int, id TaskID) bool {
	if d.goneBefore[id] {
		return true
	}
	firstSeen, ok := d.gone[id]
	if !ok {
		firstSeen = goneSince{d.polls, time.Now()}
		d.gone[id] = firstSeen
		d.refreshDirectories()
	}
	wait := d.Backend.Lag()
	if run, hasRecord := d.readRunRecord(shard, id); hasRecord && slices.Contains([]int{0, 2, 3}, run.code) {
		wait += fileTimeout
	}
	return d.polls > firstSeen.poll && time.Since(firstSeen.at) >= wait
}

// refreshDirectories makes a network file system read directories again, which it does after a local change.
func (d *Driver) refreshDirectories() {
	for _, dir := range []string{"parts", "runs"} {
		if f, err := os.CreateTemp(d.Work.Dir.path(dir), ".look-*.tmp"); err == nil {
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}
}

// countFailure counts the failed run of a shard whose task is gone. It does not count a shard without a record if the task has finished another shard:
// then the shard did not fail, but the task ended, for example at its time limit.
func (d *Driver) countFailure(shard int, id TaskID) error {
	if d.goneBefore[id] || d.counted[id] {
		return nil
	}
	record, hasRecord := d.readRunRecord(shard, id)
	if !hasRecord {
		for _, other := range d.Work.Rounds[id.Round-1].Tasks[id.Task-1] {
			if d.finished[other] {
				return nil
			}
		}
	}
	d.failedRuns[shard]++
	failure := d.newFailure(shard, id, record, hasRecord)
	hopeless := d.failedRuns[shard] > d.Retries && len(d.finished) == 0
	switch {
	case hopeless: // the other shards would fail too
		failure.Rest = fmt.Sprintf("; run %d times, and no shard is finished", d.failedRuns[shard])
		return failure
	case hasRecord && (record.code == 80 || record.code == 4 || record.code == 126 || record.code == 127): // another run would end in the same way
		return failure
	case d.failedRuns[shard] > d.Retries:
		d.failed[shard] = failure
	default:
		if reason := d.reason(id, record, hasRecord); !d.notedReasons[reason] { // report each reason once
			d.notedReasons[reason] = true
			d.noteOnce("%v; it is run again", failure)
		}
	}
	return nil
}

// reason returns why the run of a shard failed.
func (d *Driver) reason(id TaskID, record runRecord, hasRecord bool) string {
	switch {
	case !hasRecord && d.ended[id] != "":
		return "its task is gone: " + printable.Line(d.ended[id])
	case !hasRecord:
		return "its task is gone"
	case record.code > 128:
		return fmt.Sprintf("killed by signal %d on %s", record.code-128, record.host)
	}
	return fmt.Sprintf("exit code %d on %s", record.code, record.host)
}

// newFailure returns the failure of a run. Its message is one line: the shard, what went wrong, and the last line of the log.
func (d *Driver) newFailure(shard int, id TaskID, record runRecord, hasRecord bool) *Failure {
	failure := &Failure{Code: record.code, Log: d.Work.Dir.Log(id.Round, strconv.Itoa(id.Task))}
	failure.Msg = fmt.Sprintf("shard %d: %s", shard, d.reason(id, record, hasRecord))
	if line := lastLine(failure.Log); line != "" {
		failure.Msg += ": " + line
	}
	return failure
}

// failureError returns the error for shards that failed too often.
func (d *Driver) failureError() error {
	var first int
	for shard := range d.failed {
		if first == 0 || shard < first {
			first = shard
		}
	}
	firstFailure := d.failed[first]
	failure := *firstFailure
	if numFailed := len(d.failed); numFailed > 1 {
		failure.Rest = fmt.Sprintf(", and %d other shards", numFailed-1)
	}
	failure.Rest += fmt.Sprintf("; run %d times; %d of %d shards are finished", d.failedRuns[first], len(d.finished), len(d.finished)+len(d.failed))
	return &failure
}

// runRecord is the record that a task writes after the run of a shard.
type runRecord struct {
	code     int
	seconds  float64
	host     string
	restarts int
}

// readRunRecord reads the record of a shard in a round. ok is false if there is none or it is malformed.
func (d *Driver) readRunRecord(shard int, id TaskID) (record runRecord, ok bool) {
	text, err := readRegular(d.Work.Dir.Run(id.Round, strconv.Itoa(shard)), 1024)
	if err != nil {
		return record, false
	}
	words := strings.Fields(string(text))
	if len(words) != 4 {
		return record, false
	}
	var errs [3]error
	record.code, errs[0] = strconv.Atoi(words[0])
	record.seconds, errs[1] = strconv.ParseFloat(words[1], 64)
	record.host = printable.Line(words[2])
	record.restarts, errs[2] = strconv.Atoi(words[3])
	return record, errors.Join(errs[:]...) == nil && record.seconds >= 0 && !math.IsInf(record.seconds, 0)
}

// lastLine returns the last line of a log that is not indented, because indented lines quote what a message is about. It reads only the end of the
// file.
func lastLine(name string) string {
	const maxBytes = 4096
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	buf := make([]byte, maxBytes)
	length, _ := file.ReadAt(buf, max(0, info.Size()-maxBytes))
	for _, line := range slices.Backward(strings.Split(string(buf[:length]), "\n")) {
		if text := strings.TrimSpace(line); text != "" && line[0] != ' ' && line[0] != '\t' {
			return printable.Line(text)
		}
	}
	return ""
}

// divide divides shards among as many tasks as the back end allows. If the time of a shard is known, it uses fewer tasks, so that each task takes at
// least about targetSeconds.
func (d *Driver) divide(shards []int) [][]int {
	numTasks := min(d.maxTasks, len(shards))
	d.measure()
	if d.timing.shards > 0 {
		numTasks = min(numTasks, max(1, int(math.Ceil(float64(len(shards))*d.timing.seconds/float64(d.timing.shards)/targetSeconds))))
	}
	tasks := make([][]int, numTasks)
	for i, shard := range shards {
		tasks[i%numTasks] = append(tasks[i%numTasks], shard)
	}
	return tasks
}

// askLimit asks the back end once for the largest number of tasks in a round.
func (d *Driver) askLimit(ctx context.Context) error {
	if d.maxTasks > 0 {
		return nil
	}
	limit, err := d.Backend.Limits(ctx)
	if err != nil && len(d.Work.Rounds) == 0 { // the back end has never accepted a round of this job
		return &Refused{err.Error()}
	}
	if err == nil {
		if d.maxTasks = max(1, limit); d.Backend.Detached() {
			d.maxTasks = min(d.maxTasks, cmp.Or(d.Work.Settings.Tasks, defaultTasks))
		}
	}
	return err
}

// retryLater handles an error of the back end. It returns nil if the driver should try again later, and an error if err is a *Refused or the back end has
// not answered for maxSilence.
func (d *Driver) retryLater(ctx context.Context, err error) error {
	refused, never := errors.AsType[*Refused](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case never:
		return refused
	case d.silentSince.IsZero():
		d.silentSince = time.Now()
		d.noteOnce("%s does not answer, waiting for it: %v", d.Backend.Name(), err)
	case time.Since(d.silentSince) > maxSilence:
		return fmt.Errorf("%s has not answered for %v: %w", d.Backend.Name(), maxSilence, err)
	}
	return nil
}

// measure computes the timing of finished shards from their records.
func (d *Driver) measure() {
	d.timing = shardTiming{}
	if d.Backend == nil || !d.Backend.Detached() { // starting a process costs almost nothing
		return
	}
	for _, round := range d.Work.Rounds {
		for i, shards := range round.Tasks {
			for _, shard := range shards {
				if record, ok := d.readRunRecord(shard, TaskID{round.Number, i + 1}); ok && d.finished[shard] {
					d.timing.shards++
					d.timing.seconds += record.seconds
				}
			}
		}
	}
}

// submit submits a round, unless a driver that was killed has done so. If the back end does not answer, a later call tries again.
func (d *Driver) submit(ctx context.Context, round *Round) error {
	handle, err := d.Backend.Find(ctx, round)
	if err == nil && handle == "" {
		handle, err = d.Backend.Submit(ctx, round)
	}
	if err != nil {
		return d.retryLater(ctx, err)
	}
	d.silentSince = time.Time{}
	round.Handle = handle
	if d.Backend.Detached() {
		numShards := 0
		for _, shards := range round.Tasks {
			numShards += len(shards)
		}
		d.noteOnce("%s has %s in %s: %s", d.Backend.Name(), noun.Count(numShards, "shard"), noun.Count(len(round.Tasks), "task"), handle)
	}
	return d.Work.saveState()
}

// noteOnce reports a text unless it is the same as the last one.
func (d *Driver) noteOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); d.Note != nil && text != d.lastNote {
		d.lastNote = text
		d.Note(text)
	}
}

// Cancel ends the tasks of all unfinished rounds.
func (d *Driver) Cancel(ctx context.Context) error {
	var unfinished []*Round
	for _, round := range d.Work.Rounds {
		if !d.roundFinished(round) {
			unfinished = append(unfinished, round)
		}
	}
	if len(unfinished) == 0 {
		return nil
	}
	return d.Backend.Cancel(ctx, unfinished)
}

// Sweep removes temporary files of killed tasks.
func (w *Work) Sweep() error {
	entries, err := os.ReadDir(w.Dir.path("parts"))
	for _, entry := range entries {
		if atomicfile.IsPart(entry.Name()) {
			if err := os.Remove(w.Dir.path("parts", entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return err
}
