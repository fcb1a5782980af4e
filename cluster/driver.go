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
	Msg  string // what happened, and in which log
}

func (e *Failure) Error() string { return e.Msg }

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

// Run runs all shards and returns the result of Merge. If ctx ends first, tasks continue if the back end is detached.
func (d *Driver) Run(ctx context.Context) error {
	d.finished, d.failedRuns, d.gone = map[int]bool{}, map[int]int{}, map[TaskID]goneSince{}
	d.goneBefore = map[TaskID]bool{}
	d.streams, d.notedReasons, d.counted, d.failed = map[string]*sampleStream{}, map[string]bool{}, map[TaskID]bool{}, map[int]*Failure{}
	want := d.Work.Job.Shards
	for _, round := range d.Work.Rounds {
		for _, shards := range round.Tasks {
			want = max(want, slices.Max(shards))
		}
	}
	for {
		if err := d.waitForShards(ctx, want); err != nil {
			if _, failed := errors.AsType[*Failure](err); failed { // without this shard the others cannot be merged
				err = errors.Join(err, d.Cancel(ctx))
			}
			return err
		}
		var files []string
		for i := range want {
			files = append(files, d.Work.Dir.Part(strconv.Itoa(i+1)))
		}
		err := d.Merge(ctx, files)
		more, ok := errors.AsType[*shard.More](err)
		if !ok {
			return err
		}
		if more.Want <= want || more.Want > settings.MaxShards {
			return fmt.Errorf("the merge wants %d shards, which cannot be: there are %d, and at most %d", more.Want, want, settings.MaxShards)
		}
		want = more.Want
	}
}

// waitForShards submits shards and waits until the shards 1 to want are finished.
func (d *Driver) waitForShards(ctx context.Context, want int) error {
	for begun := time.Now(); ; {
		live, known, err := d.liveTasks(ctx)
		if err != nil {
			return err
		}
		if err := d.readFinished(want); err != nil { // after liveTasks, so that a task that has just ended is not taken for lost
			return err
		}
		d.reportProgress(want, live)
		if len(d.finished) >= want {
			return nil
		}
		if known {
			if err := d.submitMissing(ctx, want, live); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.Backend.Pace(time.Since(begun))):
		}
	}
}

// liveTasks asks the back end for its tasks. known is false if it does not answer.
func (d *Driver) liveTasks(ctx context.Context) (live Live, known bool, err error) {
	var open []*Round
	for _, round := range d.Work.Rounds {
		if !d.roundFinished(round) {
			open = append(open, round)
		}
	}
	if len(open) == 0 {
		d.answered = true
		return live, true, nil
	}
	if live, err = d.Backend.Live(ctx, open); err != nil {
		return live, false, d.retryLater(ctx, err)
	}
	d.silentSince, d.ended = time.Time{}, live.Ended
	if !d.answered { // failures before this driver attached do not count
		d.answered = true
		for _, round := range open {
			for i := range round.Tasks {
				if _, alive := live.Tasks[TaskID{round.Number, i + 1}]; !alive {
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
		for _, s := range shards {
			if !d.finished[s] {
				return false
			}
		}
	}
	return true
}

// readFinished reads and checks the new partial files.
func (d *Driver) readFinished(want int) error {
	entries, err := os.ReadDir(d.Work.Dir.path("parts"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, ok := strings.CutSuffix(entry.Name(), ".part")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 || n > want || strconv.Itoa(n) != number || d.finished[n] {
			continue // for example a temporary file
		}
		name := d.Work.Dir.Part(number)
		file, err := shard.Read(name)
		if err != nil {
			return fmt.Errorf("%w; without the file, attach runs shard %d again", err, n)
		}
		if want := (shard.Part{Index: n, Count: d.Work.Job.Shards}); file.Part != want {
			return fmt.Errorf("%s is shard %v, want %v", name, file.Part, want)
		}
		if d.jobID == "" {
			d.jobID = file.ID()
		}
		if file.Build != d.Work.Job.Build || file.ID() != d.jobID || !slices.Equal(file.Args, d.Work.Job.Words) {
			return fmt.Errorf("%s is a shard of another job than its directory is for; without the file, attach runs shard %d again", name, n)
		}
		d.finished[n] = true
		d.countSamples(file)
		delete(d.failed, n)
	}
	return nil
}

// sampleStream adds up the samples of one random stream.
type sampleStream struct {
	jobs        int64
	sum, weight float64 // weighted sum of the means of its pieces, and the weight
}

func (d *Driver) countSamples(file *shard.File) {
	for _, p := range file.Pieces() {
		s := d.streams[p.Stream]
		if s == nil {
			s = &sampleStream{}
			d.streams[p.Stream] = s
		}
		n := p.End - p.First
		s.jobs += n
		if p.Mean != nil && n > 0 {
			s.sum += *p.Mean * float64(n)
			s.weight += float64(n)
		}
	}
}

// reportProgress reports the numbers of running and waiting tasks and the samples so far.
func (d *Driver) reportProgress(want int, live Live) {
	running, waiting := 0, 0
	for _, runs := range live.Tasks {
		if runs {
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
		w := fmt.Sprintf("%d waiting", waiting)
		if live.Waiting != "" {
			w += " (" + printable.Line(live.Waiting) + ")"
		}
		words = append(words, w)
	}
	var samples int64
	for _, s := range d.streams {
		if samples += s.jobs; len(d.streams) == 1 && s.weight > 0 {
			words = append(words, fmt.Sprintf("%.4g so far", s.sum/s.weight))
		}
	}
	if samples > 0 {
		words = append(words, noun.Count(samples, "sample"))
	}
	if !d.silentSince.IsZero() {
		words = append(words, d.Backend.Name()+" does not answer")
	}
	d.Progress(progress.Progress{Property: d.Backend.Name(), Detail: strings.Join(words, ", "), Done: int64(len(d.finished)), Target: int64(want), Unit: progress.Shards})
}

// submitMissing submits the shards that are not finished and have no task.
func (d *Driver) submitMissing(ctx context.Context, want int, live Live) error {
	for _, round := range d.Work.Rounds { // a round without a handle may not have been submitted
		if round.Handle == "" && !d.roundFinished(round) {
			return d.submit(ctx, round)
		}
	}
	again, err := d.missingShards(want, live)
	switch {
	case err != nil:
		return err
	case len(again) == 0 && len(d.finished)+len(d.failed) >= want && len(live.Tasks) == 0:
		return d.failureError()
	case len(again) == 0:
		return nil
	}
	if err := d.askLimit(ctx); err != nil {
		return d.retryLater(ctx, err)
	}
	r, err := d.Work.newRound(d.divide(again))
	if err != nil {
		return err
	}
	return d.submit(ctx, r)
}

// missingShards returns the shards to submit: those that never were submitted, and those that are not finished although their task is gone.
func (d *Driver) missingShards(want int, live Live) (again []int, err error) {
	last := map[int]TaskID{} // the last task of each shard
	for _, round := range d.Work.Rounds {
		for i, shards := range round.Tasks {
			for _, s := range shards {
				last[s] = TaskID{round.Number, i + 1}
			}
		}
	}
	d.polls++
	settling, since := false, time.Now()
	for s := 1; s <= want; s++ {
		id, submitted := last[s]
		_, alive := live.Tasks[id]
		switch {
		case d.finished[s] || d.failed[s] != nil:
		case alive:
			delete(d.gone, id)
		case submitted && !d.taskGone(s, id):
			settling = true
		default:
			if g, ok := d.gone[id]; ok && g.at.Before(since) {
				since = g.at
			}
			again = append(again, s)
		}
	}
	if settling && time.Since(since) < 3*d.Backend.Lag() { // wait, so that shards that are lost together are submitted together
		return nil, nil
	}
	judged := map[TaskID]bool{}
	for _, s := range again {
		if id, submitted := last[s]; submitted {
			if err := d.countFailure(s, id); err != nil {
				return nil, err
			}
			judged[id] = true
		}
	}
	maps.Copy(d.counted, judged)
	return slices.DeleteFunc(again, func(s int) bool { return d.failed[s] != nil }), nil
}

// goneSince says since which answer of the back end, and since when, a task is gone.
type goneSince struct {
	poll int
	at   time.Time
}

// taskGone reports whether a task of shard s is gone for so long that the driver would see the files of a finished shard.
func (d *Driver) taskGone(s int, id TaskID) bool {
	if d.goneBefore[id] {
		return true
	}
	since, ok := d.gone[id]
	if !ok {
		since = goneSince{d.polls, time.Now()}
		d.gone[id] = since
		d.refreshDirectories()
	}
	wait := d.Backend.Lag()
	if run, ran := d.readRunRecord(s, id); ran && slices.Contains([]int{0, 2, 3}, run.code) {
		wait += fileTimeout
	}
	return d.polls > since.poll && time.Since(since.at) >= wait
}

// refreshDirectories makes a network file system read directories again, which it does after a local change.
func (d *Driver) refreshDirectories() {
	for _, dir := range []string{"parts", "runs"} {
		if f, err := os.CreateTemp(d.Work.Dir.path(dir), ".look-*.tmp"); err == nil {
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}
}

// countFailure counts the failed run of a shard whose task is gone. It does not count a shard without a record if the task finished others: the
// task then ended for a reason of its own, such as its time limit.
func (d *Driver) countFailure(shard int, id TaskID) error {
	if d.goneBefore[id] || d.counted[id] {
		return nil
	}
	run, ran := d.readRunRecord(shard, id)
	if !ran {
		for _, other := range d.Work.Rounds[id.Round-1].Tasks[id.Task-1] {
			if d.finished[other] {
				return nil
			}
		}
	}
	d.failedRuns[shard]++
	f := &Failure{Code: run.code, Msg: d.failureText(shard, id, run, ran)}
	hopeless := d.failedRuns[shard] > d.Retries && len(d.finished) == 0
	switch {
	case hopeless: // the other shards would fail too
		f.Msg += fmt.Sprintf("; run %d times, and no shard is finished", d.failedRuns[shard])
		return f
	case ran && (run.code == 80 || run.code == 4 || run.code == 126 || run.code == 127): // another run would end in the same way
		return f
	case d.failedRuns[shard] > d.Retries:
		d.failed[shard] = f
	default:
		if why := d.reason(id, run, ran); !d.notedReasons[why] { // report each reason once
			d.notedReasons[why] = true
			d.noteOnce("%s; it is run again", f.Msg)
		}
	}
	return nil
}

// reason returns why the run of a shard failed.
func (d *Driver) reason(id TaskID, run runRecord, ran bool) string {
	switch {
	case !ran && d.ended[id] != "":
		return "its task is gone: " + printable.Line(d.ended[id])
	case !ran:
		return "its task is gone"
	case run.code > 128:
		return fmt.Sprintf("killed by signal %d on %s", run.code-128, run.host)
	}
	return fmt.Sprintf("exit code %d on %s", run.code, run.host)
}

// failureText describes a failed run in one line, with the last line of its log.
func (d *Driver) failureText(shard int, id TaskID, run runRecord, ran bool) string {
	log := d.Work.Dir.Log(id.Round, strconv.Itoa(id.Task))
	var text strings.Builder
	fmt.Fprintf(&text, "shard %d: %s", shard, d.reason(id, run, ran))
	if line := lastLine(log); line != "" {
		fmt.Fprintf(&text, ": %s", line)
	}
	fmt.Fprintf(&text, " (%s)", log)
	return text.String()
}

// failureError returns the error for shards that failed too often.
func (d *Driver) failureError() error {
	var first int
	for s := range d.failed {
		if first == 0 || s < first {
			first = s
		}
	}
	f := d.failed[first]
	msg := f.Msg
	if n := len(d.failed); n > 1 {
		msg += fmt.Sprintf(", and %d other shards", n-1)
	}
	return &Failure{Code: f.Code, Msg: msg + fmt.Sprintf("; run %d times; %d of %d shards are finished", d.failedRuns[first], len(d.finished), len(d.finished)+len(d.failed))}
}

// runRecord is the record that a task writes after the run of a shard.
type runRecord struct {
	code     int
	seconds  float64
	host     string
	restarts int
}

// readRunRecord reads the record of a shard in a round. ok is false if there is none or it is malformed.
func (d *Driver) readRunRecord(shard int, id TaskID) (r runRecord, ok bool) {
	text, err := readRegular(d.Work.Dir.Run(id.Round, strconv.Itoa(shard)), 1024)
	if err != nil {
		return r, false
	}
	words := strings.Fields(string(text))
	if len(words) != 4 {
		return r, false
	}
	var errs [3]error
	r.code, errs[0] = strconv.Atoi(words[0])
	r.seconds, errs[1] = strconv.ParseFloat(words[1], 64)
	r.host = printable.Line(words[2])
	r.restarts, errs[2] = strconv.Atoi(words[3])
	return r, errors.Join(errs[:]...) == nil && r.seconds >= 0 && !math.IsInf(r.seconds, 0)
}

// lastLine returns the last line of a log that is not indented, because indented lines quote what a message is about. It reads only the end of the
// file.
func lastLine(name string) string {
	const most = 4096
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	buf := make([]byte, most)
	n, _ := file.ReadAt(buf, max(0, info.Size()-most))
	for _, line := range slices.Backward(strings.Split(string(buf[:n]), "\n")) {
		if text := strings.TrimSpace(line); text != "" && line[0] != ' ' && line[0] != '\t' {
			return printable.Line(text)
		}
	}
	return ""
}

// divide divides shards among as many tasks as allowed. If the time of a shard is known, it uses fewer tasks, so that each takes about targetSeconds.
func (d *Driver) divide(shards []int) [][]int {
	n := min(d.maxTasks, len(shards))
	d.measure()
	if d.timing.shards > 0 {
		n = min(n, max(1, int(math.Ceil(float64(len(shards))*d.timing.seconds/float64(d.timing.shards)/targetSeconds))))
	}
	tasks := make([][]int, n)
	for i, s := range shards {
		tasks[i%n] = append(tasks[i%n], s)
	}
	return tasks
}

// askLimit asks the back end once for the largest number of tasks in a round.
func (d *Driver) askLimit(ctx context.Context) error {
	if d.maxTasks > 0 {
		return nil
	}
	most, err := d.Backend.Limits(ctx)
	if err != nil && len(d.Work.Rounds) == 0 { // the back end has never accepted a round of this job
		return &Refused{err.Error()}
	}
	if err == nil {
		if d.maxTasks = max(1, most); d.Backend.Detached() {
			d.maxTasks = min(d.maxTasks, cmp.Or(d.Work.Settings.Tasks, defaultTasks))
		}
	}
	return err
}

// retryLater returns nil if the driver should ask a back end again that does not answer. It returns an error after maxSilence or if err is a *Refused.
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
			for _, s := range shards {
				if run, ok := d.readRunRecord(s, TaskID{round.Number, i + 1}); ok && d.finished[s] {
					d.timing.shards++
					d.timing.seconds += run.seconds
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
		n := 0
		for _, shards := range round.Tasks {
			n += len(shards)
		}
		d.noteOnce("%s has %s in %s: %s", d.Backend.Name(), noun.Count(n, "shard"), noun.Count(len(round.Tasks), "task"), handle)
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
