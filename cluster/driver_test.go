package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tilecheck/cluster/settings"
	"tilecheck/internal/shard"
)

// writePart writes what a shard of the job finds: the numbers of its range.
func writePart(t testing.TB, j *Job, index int, name string) {
	t.Helper()
	l := shard.Record(shard.Part{Index: index, Count: j.Shards})
	l.Put(&shard.Piece{Stream: "s", First: int64(index - 1), End: int64(index), Data: []byte{byte(index)}})
	var text bytes.Buffer
	if err := l.Write(&text, &shard.Job{Build: j.Build, Args: j.Words, Means: j.Words}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+".tmp", text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		t.Fatal(err)
	}
}

// fake is a cluster that does a shard whenever it is asked how far it is, and goes
// wrong as it is told to.
type fake struct {
	t     *testing.T
	tasks map[TaskID][]int // that are not done
	known map[string]bool  // rounds by name
	runs  map[int]int      // of each shard
	most  int
	rng   *rand.Rand

	lose    func(shard, run int) bool // the task is lost in the run of a shard
	code    func(shard, run int) int  // that the run ends with, without a file if it is not 0, 2 or 3
	silent  int                       // answers that are errors, next
	refuse  error
	rounds  []*Round
	cancels int
}

func newFake(t *testing.T, seed uint64) *fake {
	return &fake{
		t: t, tasks: map[TaskID][]int{}, known: map[string]bool{}, runs: map[int]int{}, most: 1000, rng: rand.New(rand.NewPCG(seed, 1)),
		lose: func(int, int) bool { return false }, code: func(int, int) int { return 0 },
	}
}

var errSilent = errors.New("no answer")

func (f *fake) answers() error {
	if f.silent > 0 {
		f.silent--
		return errSilent
	}
	return nil
}

func (f *fake) Name() string                        { return "fake" }
func (f *fake) Detached() bool                      { return true }
func (f *fake) Pace(time.Duration) time.Duration    { return time.Microsecond }
func (f *fake) Lag() time.Duration                  { return 0 }
func (f *fake) Limits(context.Context) (int, error) { return f.most, f.answers() }

func (f *fake) Find(_ context.Context, r *Round) (string, error) {
	if f.known[r.Name] {
		return r.Name, f.answers()
	}
	return "", f.answers()
}

func (f *fake) Submit(_ context.Context, r *Round) (string, error) {
	if f.refuse != nil {
		return "", f.refuse
	}
	if f.known[r.Name] {
		f.t.Errorf("round %d is submitted twice", r.Number)
	}
	f.known[r.Name] = true
	f.rounds = append(f.rounds, r)
	for i, shards := range r.Tasks {
		f.tasks[TaskID{r.Number, i + 1}] = slices.Clone(shards)
	}
	return r.Name, f.answers() // the answer may be lost
}

func (f *fake) Cancel(context.Context, []*Round) error {
	f.cancels++
	clear(f.tasks)
	return nil
}

func (f *fake) Live(_ context.Context, rounds []*Round) (Live, error) {
	live := Live{Tasks: map[TaskID]bool{}}
	for id := range f.tasks {
		live.Tasks[id] = true
	}
	if err := f.answers(); err != nil || len(f.tasks) == 0 {
		return live, err
	}
	ids := slices.SortedFunc(maps.Keys(f.tasks), func(a, b TaskID) int { return (a.Round-b.Round)*1000 + a.Task - b.Task })
	f.step(ids[f.rng.IntN(len(ids))])
	return live, nil
}

// step does the next shard of a task.
func (f *fake) step(id TaskID) {
	r := f.rounds[0]
	for _, other := range f.rounds {
		if other.Number == id.Round {
			r = other
		}
	}
	s := f.tasks[id][0]
	if f.tasks[id] = f.tasks[id][1:]; len(f.tasks[id]) == 0 {
		delete(f.tasks, id)
	}
	part := r.Dir.Part(strconv.Itoa(s))
	if _, err := os.Stat(part); err == nil {
		return
	}
	f.runs[s]++
	if f.lose(s, f.runs[s]) {
		delete(f.tasks, id)
		return
	}
	code := f.code(s, f.runs[s])
	if code == 0 || code == 2 || code == 3 {
		writePart(f.t, r.Job, s, part)
	}
	record := fmt.Sprintf("%d 1 node 0\n", code)
	if err := os.WriteFile(r.Dir.Run(r.Number, strconv.Itoa(s)), []byte(record), 0o666); err != nil {
		f.t.Error(err)
	}
}

// request is for a command without files.
func request(t *testing.T, shards int) Request {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("program"), 0o777); err != nil {
		t.Fatal(err)
	}
	words := []string{"play", "random", "--seed", "1"}
	return Request{Given: words[:2], Words: words, Shards: shards, Dir: t.TempDir(), Build: "test", Program: program, Backend: "fake"}
}

func create(t *testing.T, q Request) *Work {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "job"), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// drive runs a job, and returns the indices of the shards that were merged.
func drive(t *testing.T, w *Work, f *fake, retries int) (merged []int, err error) {
	t.Helper()
	d := &Driver{Work: w, Backend: f, Retries: retries, Merge: func(_ context.Context, files []string) error {
		merged = nil
		for _, name := range files {
			x, err := shard.Read(name)
			if err != nil {
				return err
			}
			merged = append(merged, x.Index)
		}
		return nil
	}}
	return merged, errors.Join(d.Run(t.Context()))
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// Whatever is lost, every shard is merged once and in order, and what is finished is not run again.
func TestEveryShardIsMerged(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		q := request(t, 1+rng.IntN(40))
		q.Settings.Tasks = 1 + rng.IntN(10)
		w := create(t, q)
		f := newFake(t, seed)
		f.lose = func(_, run int) bool { return run <= 2 && rng.IntN(4) == 0 }
		f.code = func(_, run int) int {
			if run <= 2 && rng.IntN(5) == 0 {
				return []int{1, 137, 139}[rng.IntN(3)]
			}
			return []int{0, 2, 3}[rng.IntN(3)]
		}
		f.silent = rng.IntN(5)
		if len(w.Rounds) == 0 {
			f.silent = 0 // the first answer says how large rounds are
		}
		merged, err := drive(t, w, f, 5)
		if err != nil || !slices.Equal(merged, upTo(q.Shards)) {
			t.Fatalf("seed %d: %v, merged %v of %d", seed, err, merged, q.Shards)
		}
		for _, r := range f.rounds {
			if len(r.Tasks) > q.Settings.Tasks {
				t.Errorf("seed %d: round %d has %d tasks, want at most %d", seed, r.Number, len(r.Tasks), q.Settings.Tasks)
			}
		}
	}
}

// A driver that is killed at any moment, which is between two answers, goes on
// where it was: no round is submitted twice, and no finished shard is run again.
func TestKilledDriver(t *testing.T) {
	for kill := range 40 {
		q := request(t, 9)
		q.Settings.Tasks = 3
		w := create(t, q)
		f := newFake(t, uint64(kill))
		ctx, cancel := context.WithCancel(t.Context())
		left := kill
		dying := &mortal{f, func() {
			if left--; left < 0 {
				cancel()
			}
		}}
		merged := false
		merge := func(context.Context, []string) error { merged = true; return nil }
		err := (&Driver{Work: w, Backend: dying, Retries: 3, Merge: merge}).Run(ctx)
		cancel()
		w.Close()
		if err == nil && merged {
			continue
		}
		if w, err = Open(string(w.Dir)); err != nil {
			t.Fatal(err)
		}
		got, err := drive(t, w, f, 3)
		w.Close()
		if err != nil || !slices.Equal(got, upTo(9)) {
			t.Fatalf("killed after %d answers: %v, merged %v", kill, err, got)
		}
		for s, n := range f.runs {
			if n != 1 {
				t.Errorf("killed after %d answers: shard %d was run %d times", kill, s, n)
			}
		}
	}
}

// mortal kills its driver between what the cluster did and what the driver hears of it.
type mortal struct {
	*fake
	next func()
}

func (m *mortal) Submit(ctx context.Context, r *Round) (string, error) {
	handle, err := m.fake.Submit(ctx, r)
	m.next()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return handle, err
}

func (m *mortal) Live(ctx context.Context, rounds []*Round) (Live, error) {
	m.next()
	if ctx.Err() != nil {
		return Live{}, ctx.Err()
	}
	return m.fake.Live(ctx, rounds)
}

// A merge that wants more gets exactly that.
func TestMore(t *testing.T) {
	w := create(t, request(t, 4))
	f := newFake(t, 1)
	var asked []int
	d := &Driver{Work: w, Backend: f, Merge: func(_ context.Context, files []string) error {
		asked = append(asked, len(files))
		if len(files) < 9 {
			return &shard.More{Have: len(files), Want: min(9, len(files)+3), Of: 4}
		}
		return nil
	}}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []int{4, 7, 9}) || len(f.runs) != 9 {
		t.Errorf("merged %v with %d shards run", asked, len(f.runs))
	}
	d.Merge = func(_ context.Context, files []string) error {
		return &shard.More{Have: len(files), Want: len(files), Of: 4}
	}
	if err := d.Run(t.Context()); err == nil {
		t.Error("a merge that wants what it has goes on for ever")
	}
}

// What cannot succeed is not tried again, what may is, a bounded number of times.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		code int
		lose bool
		runs int // of shard 2
		want int
	}{
		{"usage", 80, false, 1, 80},
		{"limit", 4, false, 1, 4},
		{"no program", 127, false, 1, 127},
		{"error", 1, false, 3, 1},
		{"killed", 137, false, 3, 137},
		{"lost", 0, true, 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := create(t, request(t, 3))
			f := newFake(t, 1)
			f.code = func(s, _ int) int {
				if s == 2 {
					return tt.code
				}
				return 0
			}
			f.lose = func(s, _ int) bool { return s == 2 && tt.lose }
			merged, err := drive(t, w, f, 2)
			failure, ok := errors.AsType[*Failure](err)
			if !ok || failure.Code != tt.want || merged != nil || !strings.Contains(err.Error(), "shard 2: ") {
				t.Fatalf("merged %v: %v", merged, err)
			}
			if f.runs[2] != tt.runs || f.cancels != 1 {
				t.Errorf("shard 2 was run %d times, want %d; cancelled %d times", f.runs[2], tt.runs, f.cancels)
			}
			f.code, f.lose = func(int, int) int { return 0 }, func(int, int) bool { return false }
			if merged, err = drive(t, w, f, 2); err != nil || !slices.Equal(merged, upTo(3)) { // what was wrong is mended
				t.Errorf("attached again: %v, merged %v", err, merged)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	w := create(t, request(t, 3))
	f := newFake(t, 1)
	f.refuse = &Refused{"no such partition"}
	if _, err := drive(t, w, f, 2); err == nil || err.Error() != "no such partition" {
		t.Errorf("%v", err)
	}
	f = newFake(t, 1)
	f.silent = 1
	w = create(t, request(t, 3))
	if _, err := drive(t, w, f, 2); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a cluster that does not answer at first: %v", err)
	}
}

// tardy is a cluster whose files are seen long after its tasks have ended.
type tardy struct {
	*fake
	hidden []string
	polls  int
}

func (f *tardy) Live(ctx context.Context, rounds []*Round) (Live, error) {
	live, err := f.fake.Live(ctx, rounds)
	if f.polls++; f.polls < 200 {
		parts, _ := filepath.Glob(rounds[0].Dir.Part("*"))
		for _, name := range parts {
			if err := os.Rename(name, name+".hidden"); err != nil {
				f.t.Error(err)
			}
			f.hidden = append(f.hidden, name)
		}
		return live, err
	}
	for _, name := range f.hidden {
		if err := os.Rename(name+".hidden", name); err != nil {
			f.t.Error(err)
		}
	}
	f.hidden = nil
	return live, err
}

// A shard whose record says that it is finished is waited for, and not run again.
func TestLateFiles(t *testing.T) {
	w := create(t, request(t, 6))
	f := &tardy{fake: newFake(t, 1)}
	d := &Driver{Work: w, Backend: f, Merge: func(context.Context, []string) error { return nil }}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for s, n := range f.runs {
		if n != 1 {
			t.Errorf("shard %d was run %d times", s, n)
		}
	}
	if len(f.rounds) != 1 {
		t.Errorf("%d rounds, want 1", len(f.rounds))
	}
}

// Shards of known cost are put together until a task is worth its start.
func TestBundle(t *testing.T) {
	w := create(t, request(t, 500))
	w.Settings = settings.Settings{Tasks: 50}
	f := newFake(t, 1)
	d := &Driver{Work: w, Backend: f, maxTasks: 50, finished: map[int]bool{}}
	if got := len(d.divide(upTo(500))); got != 50 {
		t.Errorf("%d tasks of unknown cost, want 50", got)
	}
	w.Rounds = []*Round{{Number: 1, Tasks: [][]int{{1}, {2}}}}
	for s, record := range map[string]string{"1": "0 5 n1 0\n", "2": "0 7 n1 0\n"} {
		if err := os.WriteFile(w.Dir.Run(1, s), []byte(record), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d.finished[1], d.finished[2] = true, true
	// 100 shards of 6 s are 600 s, 10 tasks of a minute.
	tasks := d.divide(upTo(100))
	if len(tasks) != 10 || len(slices.Concat(tasks...)) != 100 {
		t.Errorf("%d tasks, want 10", len(tasks))
	}
}

// Hostile records are none.
func TestRunRecords(t *testing.T) {
	w := create(t, request(t, 3))
	d := &Driver{Work: w}
	for text, want := range map[string]bool{
		"1 12 n1 0\n": true, "": false, "1 12 n1": false, "x 1 n1 0": false, "1 -1 n1 0": false, "1 NaN n1 0": false, "1 Inf n1 0": false,
		"99999999999999999999 1 n 0": false, strings.Repeat("1 ", 1000): false,
	} {
		if err := os.WriteFile(w.Dir.Run(1, "1"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.readRunRecord(1, TaskID{1, 1}); ok != want {
			t.Errorf("%.40q: %v, want %v", text, ok, want)
		}
	}
}

// The reason of a failed run is the message in its log, not the quoted line below the message.
func TestLastLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"first\n--prop:1:5: undeclared identifier\n  P=?[Fd=6]\n      ^\n\n": "--prop:1:5: undeclared identifier",
		"slurmstepd: error: cancelled":                                       "slurmstepd: error: cancelled",
		"":                                                                   "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(name); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// What others have put into a directory is named, and not merged.
func TestHostileDirectory(t *testing.T) {
	other := Job{Words: []string{"play", "random", "--seed", "2"}, Build: "test", Shards: 3}
	replace := func(name, text string) func(*testing.T, *Work) string {
		return func(t *testing.T, w *Work) string {
			path := w.Dir.path(name)
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	link := func(name string) func(*testing.T, *Work) string {
		return func(t *testing.T, w *Work) string {
			path := w.Dir.path(name)
			if err := errors.Join(os.RemoveAll(path), os.Symlink("/etc/passwd", path)); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	edit := func(old, new string) func(*testing.T, *Work) string {
		return func(t *testing.T, w *Work) string {
			text, err := os.ReadFile(w.Dir.stateFile())
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), old, new, 1)
			if changed == string(text) {
				t.Fatalf("there is no %s in %s", old, text)
			}
			return replace("submit.json", changed)(t, w)
		}
	}
	for name, spoil := range map[string]func(t *testing.T, w *Work) string{
		"foreign": func(t *testing.T, w *Work) string {
			writePart(t, &other, 2, w.Dir.Part("2"))
			return w.Dir.Part("2")
		},
		"other build": func(t *testing.T, w *Work) string {
			j := w.Job
			j.Build = "other"
			writePart(t, &j, 2, w.Dir.Part("2"))
			return w.Dir.Part("2")
		},
		"other index": func(t *testing.T, w *Work) string {
			writePart(t, &w.Job, 3, w.Dir.Part("2"))
			return w.Dir.Part("2")
		},
		"other number": func(t *testing.T, w *Work) string {
			j := w.Job
			j.Shards = 4
			writePart(t, &j, 2, w.Dir.Part("2"))
			return w.Dir.Part("2")
		},
		"truncated part":   replace("parts/2.part", "tilecheck shard 1\n{"),
		"no part":          replace("parts/1.part", "hello\n"),
		"linked part":      link("parts/2.part"),
		"linked log":       link("log/1-1.log"),
		"linked record":    link("runs/1-1"),
		"linked list":      link("rounds/1.tasks"),
		"linked folder":    link("parts"),
		"linked state":     link("submit.json"),
		"linked lock":      link("submit.lock"),
		"empty state":      replace("submit.json", ""),
		"truncated state":  replace("submit.json", `{"sha256":"00","state":{"version":1,`),
		"other state":      replace("submit.json", `{"sha256":"00","state":{"version":1}}`),
		"changed settings": edit(`"tasks":3`, `"tasks":4`),
		"changed words":    edit(`"play"`, `"rm"`),
		"changed program": func(t *testing.T, w *Work) string {
			path := w.Dir.Program(&w.Job)
			if err := os.WriteFile(path, []byte("another"), 0o777); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"linked program": func(t *testing.T, w *Work) string {
			return link(strings.TrimPrefix(w.Dir.Program(&w.Job), string(w.Dir)+"/"))(t, w)
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := request(t, 3)
			q.Settings.Tasks = 3
			w := create(t, q)
			w.Close()
			path := spoil(t, w)
			w, err := Open(string(w.Dir))
			if err == nil {
				var merged []int
				merged, err = drive(t, w, newFake(t, 1), 0)
				if merged != nil {
					t.Errorf("merged %v", merged)
				}
				w.Close()
			}
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line that names %s", err, path)
			}
		})
	}
}

// A state with a checksum of its own is not believed either.
func TestHostileState(t *testing.T) {
	for name, spoil := range map[string]func(w *Work){
		"time":     func(w *Work) { w.Settings.Time = "1\n#SBATCH --wrap=id" },
		"sbatch":   func(w *Work) { w.Settings.Sbatch = []string{"--output=/etc/passwd"} },
		"shards":   func(w *Work) { w.Job.Shards = 1 << 40 },
		"negative": func(w *Work) { w.Job.Shards = -1 },
		"words":    func(w *Work) { w.Job.Words = nil },
		"zero":     func(w *Work) { w.Job.Words = []string{"a\x00shard"} },
		"dir":      func(w *Work) { w.Job.Dir = "here" },
		"digest":   func(w *Work) { w.Job.Binary.Digest = "../../../../bin/sh" },
		"tree":     func(w *Work) { w.Job.Tree = strings.Repeat("g", 64) },
		"up":       func(w *Work) { w.Job.Up = 1 << 30 },
		"id":       func(w *Work) { w.ID = "$(id)" },
		"round":    func(w *Work) { w.Rounds = []*Round{{Number: 2, Tasks: [][]int{{1}}}} },
		"no round": func(w *Work) { w.Rounds = []*Round{nil} },
		"shard":    func(w *Work) { w.Rounds = []*Round{{Number: 1, Tasks: [][]int{{-1}}}} },
		"large":    func(w *Work) { w.Rounds = []*Round{{Number: 1, Tasks: [][]int{{1 << 60}}}} },
		"task":     func(w *Work) { w.Rounds = []*Round{{Number: 1, Tasks: [][]int{{}}}} },
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t, request(t, 3))
			spoil(w)
			if err := w.saveState(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if w, err := Open(string(w.Dir)); err == nil {
				w.Close()
				t.Error("it is believed")
			} else if !strings.Contains(err.Error(), "submit.json: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestOneDriver(t *testing.T) {
	w := create(t, request(t, 3))
	if _, err := Open(string(w.Dir)); err == nil || !strings.Contains(err.Error(), "another submit") {
		t.Errorf("%v", err)
	}
	if _, err := Create(string(w.Dir), request(t, 3)); err == nil {
		t.Error("a second job is in the directory")
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(full, request(t, 3)); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("%v", err)
	}
	if _, err := Open(full); err == nil || !strings.Contains(err.Error(), "no directory of submit") {
		t.Errorf("%v", err)
	}
}

// Tasks read what was there when the job was submitted, under the names that the command has for it.
func TestStage(t *testing.T) {
	q := request(t, 2)
	write := func(name, text string) {
		path := filepath.Join(q.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("here/a.prism", "a")
	write("suite/b..c/b.prism", "b")
	write("up.prism", "up")
	absolute := filepath.Join(q.Dir, "up.prism")
	q.Dir = filepath.Join(q.Dir, "here")
	q.Inputs = []string{"a.prism", "./a.prism", "../suite", "../up.prism", absolute}
	w := create(t, q)
	if len(w.Job.Inputs) != 4 || w.Job.Up != 1 {
		t.Errorf("%d inputs, %d up: %v", len(w.Job.Inputs), w.Job.Up, w.Job.Inputs)
	}
	for name, want := range map[string]string{"a.prism": "a", "../suite/b..c/b.prism": "b", "../up.prism": "up"} {
		if got, err := os.ReadFile(filepath.Join(w.Dir.Work(&w.Job), name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	w.Close()
	again, err := Describe(q)
	if err != nil || !again.Same(&w.Job) {
		t.Errorf("the same request is another job: %v", err)
	}
	if err := os.WriteFile(filepath.Join(q.Dir, "a.prism"), []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	if changed, err := Describe(q); err != nil || changed.Same(&w.Job) {
		t.Errorf("a request with another file is the same job: %v", err)
	}
	if _, err := Open(string(w.Dir)); err == nil || !strings.Contains(err.Error(), "a.prism has changed since") {
		t.Errorf("attached with another file: %v", err)
	}
	for name, dir := range map[string]string{"in the inputs": filepath.Join(q.Dir, "../suite/job"), "in its own": filepath.Join(q.Dir, "../suite")} {
		if _, err := Create(dir, q); err == nil {
			t.Errorf("a directory %s is taken", name)
		}
	}
	q.Inputs = []string{"missing.prism"}
	if _, err := Describe(q); err == nil {
		t.Error("a file that is not there is an input")
	}
}

// A driver that was killed while it staged files is followed by one that ends that.
func TestHalfStaged(t *testing.T) {
	q := request(t, 2)
	dir := filepath.Join(t.TempDir(), "job")
	j, err := Describe(q)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Dir(Dir(dir).Program(&j)) + ".tmp"
	if err := errors.Join(os.MkdirAll(half, 0o777), os.WriteFile(filepath.Join(half, "tilecheck"), []byte("pro"), 0o777)); err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir, q)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if w, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// Args keeps what is behind "--" where it is.
func TestArgs(t *testing.T) {
	j := Job{Words: []string{"play", "random", "--", "x"}, Shards: 5}
	want := []string{"play", "random", "--shard", "2/5", "--partial", "f", "--", "x"}
	if got := j.Args("2", "f"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSweep(t *testing.T) {
	w := create(t, request(t, 2))
	for _, name := range []string{".1.part.0123abcd.tilecheck-part", "notes.tmp", ".hidden"} {
		if err := os.WriteFile(w.Dir.path("parts", name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(w.Dir.path("parts"))
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want what is not ours", left, err)
	}
}
