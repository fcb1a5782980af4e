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
	"tilecheck/internal/printable"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
)

// Failure is the error of shards that could not be run.
type Failure struct {
	Code int    // the exit code of the last of them, -1 if its task was lost
	Msg  string // what to look at
}

func (e *Failure) Error() string { return e.Msg }

// Driver runs what is in a directory to its end.
type Driver struct {
	Work    *Work
	Backend Backend
	// Merge merges and prints the shards, which it gets in order. A *shard.More asks for others.
	Merge func(ctx context.Context, files []string) error
	// Progress and Note tell people what happens; nil for nobody.
	Progress func(progress.Progress)
	Note     func(text string)
	// Retries is how often a shard may fail and be run again.
	Retries int

	finished map[int]bool
	of       string             // the job of the partial files
	streams  map[string]*stream // of all finished shards
	tries    map[int]int        // runs that failed
	polls    int                // answers of the back end
	gone     map[TaskID]gone
	before   map[TaskID]bool  // gone when this driver attached
	judged   map[TaskID]bool  // whose failures are counted
	failed   map[int]*Failure // for good
	maxTasks int
	met      bool      // the back end has answered
	silent   time.Time // since when the back end has not answered
	told     string
	said     map[string]bool   // why shards were run again
	ended    map[TaskID]string // what the back end said of tasks that ended
	spent    spent
}

// spent is how long finished shards took.
type spent struct {
	shards  int
	seconds float64
}

const (
	// defaultTasks is how many tasks a round has at most.
	defaultTasks = 64
	// aim is how long a task should take, in seconds: starting one costs about one.
	aim = 60
	// lagging is how long the file of a shard is waited for that says it is finished.
	lagging = 2 * time.Minute
	// silence is how long a back end may not answer, which is how long one may be
	// restarted or upgraded.
	silence = 10 * time.Minute
)

// Run returns what the merge returned. If the context ends first, the tasks go on
// where the back end lets them.
func (d *Driver) Run(ctx context.Context) error {
	d.finished, d.tries, d.gone = map[int]bool{}, map[int]int{}, map[TaskID]gone{}
	d.before = map[TaskID]bool{}
	d.streams, d.said, d.judged, d.failed = map[string]*stream{}, map[string]bool{}, map[TaskID]bool{}, map[int]*Failure{}
	want := d.Work.Job.Shards
	for _, r := range d.Work.Rounds {
		for _, shards := range r.Tasks {
			want = max(want, slices.Max(shards))
		}
	}
	for {
		if err := d.finish(ctx, want); err != nil {
			if _, failed := errors.AsType[*Failure](err); failed { // the others are of no use
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

// finish returns when all shards up to want are finished.
func (d *Driver) finish(ctx context.Context, want int) error {
	for begun := time.Now(); ; {
		live, known, err := d.live(ctx)
		if err != nil {
			return err
		}
		if err := d.scan(want); err != nil { // after the tasks were listed: what has ended since is finished
			return err
		}
		d.tell(want, live)
		if len(d.finished) >= want {
			return nil
		}
		if known {
			if err := d.step(ctx, want, live); err != nil {
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

// live asks for the tasks. A back end that does not answer is waited for.
func (d *Driver) live(ctx context.Context) (live Live, known bool, err error) {
	var open []*Round
	for _, r := range d.Work.Rounds {
		if !d.done(r) {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		d.met = true
		return live, true, nil
	}
	if live, err = d.Backend.Live(ctx, open); err != nil {
		return live, false, d.wait(ctx, err)
	}
	d.silent, d.ended = time.Time{}, live.Ended
	if !d.met { // what is gone when a driver attaches has another chance
		d.met = true
		for _, r := range open {
			for i := range r.Tasks {
				if _, alive := live.Tasks[TaskID{r.Number, i + 1}]; !alive {
					d.before[TaskID{r.Number, i + 1}] = r.Handle != ""
				}
			}
		}
	}
	return live, true, nil
}

// done reports whether all shards of a round are finished.
func (d *Driver) done(r *Round) bool {
	for _, shards := range r.Tasks {
		for _, s := range shards {
			if !d.finished[s] {
				return false
			}
		}
	}
	return true
}

// scan reads the partial files that are new.
func (d *Driver) scan(want int) error {
	entries, err := os.ReadDir(d.Work.Dir.in("parts"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), ".part")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 || n > want || strconv.Itoa(n) != number || d.finished[n] {
			continue // temporary files among them
		}
		name := d.Work.Dir.Part(number)
		f, err := shard.Read(name)
		if err != nil {
			return fmt.Errorf("%w; without the file, attach runs shard %d again", err, n)
		}
		if want := (shard.Part{Index: n, Of: d.Work.Job.Shards}); f.Part != want {
			return fmt.Errorf("%s is shard %v, want %v", name, f.Part, want)
		}
		if d.of == "" {
			d.of = f.ID()
		}
		if f.Build != d.Work.Job.Build || f.ID() != d.of || !slices.Equal(f.Args, d.Work.Job.Words) {
			return fmt.Errorf("%s is a shard of another job than its directory is for; without the file, attach runs shard %d again", name, n)
		}
		d.finished[n] = true
		d.count(f)
		delete(d.failed, n)
	}
	return nil
}

// stream is what is known so far of samples that belong together.
type stream struct {
	jobs       int64
	sum, weigh float64 // of their means
}

func (d *Driver) count(f *shard.File) {
	for _, p := range f.Pieces() {
		s := d.streams[p.Stream]
		if s == nil {
			s = &stream{}
			d.streams[p.Stream] = s
		}
		n := p.End - p.First
		s.jobs += n
		if p.Mean != nil && n > 0 {
			s.sum += *p.Mean * float64(n)
			s.weigh += float64(n)
		}
	}
}

// tell reports progress.
func (d *Driver) tell(want int, live Live) {
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
		if samples += s.jobs; len(d.streams) == 1 && s.weigh > 0 {
			words = append(words, fmt.Sprintf("%.4g so far", s.sum/s.weigh))
		}
	}
	if samples > 0 {
		words = append(words, fmt.Sprintf("%d samples", samples))
	}
	if !d.silent.IsZero() {
		words = append(words, d.Backend.Name()+" does not answer")
	}
	d.Progress(progress.Progress{Property: d.Backend.Name(), Detail: strings.Join(words, ", "), Done: int64(len(d.finished)), Target: int64(want), Unit: progress.Shards})
}

// step submits what is neither finished nor with a task.
func (d *Driver) step(ctx context.Context, want int, live Live) error {
	for _, r := range d.Work.Rounds { // one whose submission nobody has seen
		if r.Handle == "" && !d.done(r) {
			return d.submit(ctx, r)
		}
	}
	again, err := d.lost(want, live)
	switch {
	case err != nil:
		return err
	case len(again) == 0 && len(d.finished)+len(d.failed) >= want && len(live.Tasks) == 0:
		return d.failures()
	case len(again) == 0:
		return nil
	}
	if err := d.limit(ctx); err != nil {
		return d.wait(ctx, err)
	}
	r, err := d.Work.begin(d.bundle(again))
	if err != nil {
		return err
	}
	return d.submit(ctx, r)
}

// lost returns the shards that were not submitted yet, and those to be run again:
// they are not finished, and their task is gone.
func (d *Driver) lost(want int, live Live) (again []int, err error) {
	last := map[int]TaskID{} // the task that had a shard last
	for _, r := range d.Work.Rounds {
		for i, shards := range r.Tasks {
			for _, s := range shards {
				last[s] = TaskID{r.Number, i + 1}
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
		case submitted && !d.isGone(s, id):
			settling = true
		default:
			if g, ok := d.gone[id]; ok && g.at.Before(since) {
				since = g.at
			}
			again = append(again, s)
		}
	}
	if settling && time.Since(since) < 3*d.Backend.Lag() { // what is lost together is to be submitted together
		return nil, nil
	}
	judged := map[TaskID]bool{}
	for _, s := range again {
		if id, submitted := last[s]; submitted {
			if err := d.judge(s, id); err != nil {
				return nil, err
			}
			judged[id] = true
		}
	}
	maps.Copy(d.judged, judged)
	return slices.DeleteFunc(again, func(s int) bool { return d.failed[s] != nil }), nil
}

// gone is since when a task is.
type gone struct {
	poll int
	at   time.Time
}

// isGone reports whether it is believed that a task is gone without having
// finished a shard. Its files may be there, and not yet be seen here.
func (d *Driver) isGone(s int, id TaskID) bool {
	if d.before[id] {
		return true
	}
	since, ok := d.gone[id]
	if !ok {
		since = gone{d.polls, time.Now()}
		d.gone[id] = since
		d.look()
	}
	wait := d.Backend.Lag()
	if run, ran := d.run(s, id); ran && slices.Contains([]int{0, 2, 3}, run.code) {
		wait += lagging
	}
	return d.polls > since.poll && time.Since(since.at) >= wait
}

// look has a file system that remembers what a directory had look again: it does
// so in a directory that was changed from here.
func (d *Driver) look() {
	for _, dir := range []string{"parts", "runs"} {
		if f, err := os.CreateTemp(d.Work.Dir.in(dir), ".look-*.tmp"); err == nil {
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}
}

// judge counts the run of a shard whose task is gone and that is not finished. A
// task that has finished other shards ended for a reason of its own, such as its
// limit of time, and the shards behind are not to blame.
func (d *Driver) judge(shard int, id TaskID) error {
	if d.before[id] || d.judged[id] {
		return nil
	}
	run, ran := d.run(shard, id)
	if !ran {
		for _, other := range d.Work.Rounds[id.Round-1].Tasks[id.Task-1] {
			if d.finished[other] {
				return nil
			}
		}
	}
	d.tries[shard]++
	f := &Failure{Code: run.code, Msg: d.failure(shard, id, run, ran)}
	hopeless := d.tries[shard] > d.Retries && len(d.finished) == 0
	switch {
	case hopeless: // as are the others
		f.Msg += fmt.Sprintf("; run %d times, and no shard is finished", d.tries[shard])
		return f
	case ran && (run.code == 80 || run.code == 4 || run.code == 126 || run.code == 127): // the same again every time
		return f
	case d.tries[shard] > d.Retries:
		d.failed[shard] = f
	default:
		if why := d.why(id, run, ran); !d.said[why] { // once of all shards
			d.said[why] = true
			d.note("%s; it is run again", f.Msg)
		}
	}
	return nil
}

// why says what became of the run of a shard.
func (d *Driver) why(id TaskID, run run, ran bool) string {
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

// failure says in one line what became of the run of a shard.
func (d *Driver) failure(shard int, id TaskID, run run, ran bool) string {
	log := d.Work.Dir.Log(id.Round, strconv.Itoa(id.Task))
	var b strings.Builder
	fmt.Fprintf(&b, "shard %d: %s", shard, d.why(id, run, ran))
	if line := lastLine(log); line != "" {
		fmt.Fprintf(&b, ": %s", line)
	}
	fmt.Fprintf(&b, " (%s)", log)
	return b.String()
}

// failures is the error of shards that failed too often.
func (d *Driver) failures() error {
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
	return &Failure{Code: f.Code, Msg: msg + fmt.Sprintf("; run %d times; %d of %d shards are finished", d.tries[first], len(d.finished), len(d.finished)+len(d.failed))}
}

// run is a record that a task wrote.
type run struct {
	code     int
	seconds  float64
	host     string
	restarts int
}

// run reads the record of a shard in a round. One that says nothing is none.
func (d *Driver) run(shard int, id TaskID) (r run, ok bool) {
	text, err := read(d.Work.Dir.Run(id.Round, strconv.Itoa(shard)), 1024)
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

// lastLine returns the last line of a log, of which only the end is read.
func lastLine(name string) string {
	const most = 4096
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, most)
	n, _ := f.ReadAt(buf, max(0, info.Size()-most))
	lines := strings.Split(strings.TrimSpace(string(buf[:n])), "\n")
	return printable.Line(strings.TrimSpace(lines[len(lines)-1]))
}

// bundle puts shards into tasks: so many that no task takes longer than it must,
// and so few that a task is worth its start, where the time of shards is known.
func (d *Driver) bundle(shards []int) [][]int {
	n := min(d.maxTasks, len(shards))
	d.time()
	if d.spent.shards > 0 {
		n = min(n, max(1, int(math.Ceil(float64(len(shards))*d.spent.seconds/float64(d.spent.shards)/aim))))
	}
	tasks := make([][]int, n)
	for i, s := range shards {
		tasks[i%n] = append(tasks[i%n], s)
	}
	return tasks
}

// limit asks once how many tasks a round may have.
func (d *Driver) limit(ctx context.Context) error {
	if d.maxTasks > 0 {
		return nil
	}
	most, err := d.Backend.Limits(ctx)
	if err != nil && len(d.Work.Rounds) == 0 { // nothing was ever submitted from here
		return &Refused{err.Error()}
	}
	if err == nil {
		if d.maxTasks = max(1, most); d.Backend.Detached() {
			d.maxTasks = min(d.maxTasks, cmp.Or(d.Work.Settings.Tasks, defaultTasks))
		}
	}
	return err
}

// wait lets a back end be asked again that does not answer, unless that has lasted
// too long or it never will.
func (d *Driver) wait(ctx context.Context, err error) error {
	refused, never := errors.AsType[*Refused](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case never:
		return refused
	case d.silent.IsZero():
		d.silent = time.Now()
		d.note("%s does not answer, waiting for it: %v", d.Backend.Name(), err)
	case time.Since(d.silent) > silence:
		return fmt.Errorf("%s has not answered for %v: %w", d.Backend.Name(), silence, err)
	}
	return nil
}

// time learns from the records how long finished shards took.
func (d *Driver) time() {
	d.spent = spent{}
	if d.Backend == nil || !d.Backend.Detached() { // a process costs nothing to start
		return
	}
	for _, r := range d.Work.Rounds {
		for i, shards := range r.Tasks {
			for _, s := range shards {
				if run, ok := d.run(s, TaskID{r.Number, i + 1}); ok && d.finished[s] {
					d.spent.shards++
					d.spent.seconds += run.seconds
				}
			}
		}
	}
}

// submit submits a round, unless that was done by a driver that was killed. A back
// end that does not answer is asked again.
func (d *Driver) submit(ctx context.Context, r *Round) error {
	handle, err := d.Backend.Find(ctx, r)
	if err == nil && handle == "" {
		handle, err = d.Backend.Submit(ctx, r)
	}
	if err != nil {
		return d.wait(ctx, err)
	}
	d.silent = time.Time{}
	r.Handle = handle
	if d.Backend.Detached() {
		n := 0
		for _, shards := range r.Tasks {
			n += len(shards)
		}
		d.note("%s has %d shards in %d tasks: %s", d.Backend.Name(), n, len(r.Tasks), handle)
	}
	return d.Work.save()
}

// note tells something once.
func (d *Driver) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); d.Note != nil && text != d.told {
		d.told = text
		d.Note(text)
	}
}

// Cancel ends the tasks of all rounds that are not finished.
func (d *Driver) Cancel(ctx context.Context) error {
	var open []*Round
	for _, r := range d.Work.Rounds {
		if !d.done(r) {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return d.Backend.Cancel(ctx, open)
}

// Sweep removes what tasks that were killed have left beside partial files.
func (w *Work) Sweep() error {
	entries, err := os.ReadDir(w.Dir.in("parts"))
	for _, e := range entries {
		if atomicfile.IsPart(e.Name()) {
			if err := os.Remove(w.Dir.in("parts", e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return err
}
