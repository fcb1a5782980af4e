package kubernetes_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes"
	"tilecheck/cluster/kubernetes/kubetest"
	"tilecheck/cluster/settings"
	"tilecheck/internal/needs"
	"tilecheck/internal/shard"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// shards is a staged program: it does a shard, and counts its runs.
type shards struct {
	t    *testing.T
	code func(index, run int) int // the file is written if it is 0, 2 or 3

	mu   sync.Mutex
	runs map[int]int
}

func (*shards) Where() string { return "test" }

// Run implements runner.Commander.
func (s *shards) Run(ctx context.Context, c runner.Command) (runner.Exit, error) {
	var part shard.Part
	var file string
	for i, w := range c.Args {
		switch w {
		case "--shard":
			index, of, _ := strings.Cut(c.Args[i+1], "/")
			part.Index, _ = strconv.Atoi(index)
			part.Count, _ = strconv.Atoi(of)
		case "--partial":
			file = c.Args[i+1]
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[part.Index]++
	code := 0
	if s.code != nil {
		code = s.code(part.Index, s.runs[part.Index])
	}
	if code != 0 && code != 2 && code != 3 {
		_, err := c.Stderr.Write([]byte("tilecheck: it went wrong\n"))
		return runner.Exit{Code: code}, err
	}
	l := shard.Record(part)
	l.Put(&shard.Piece{Stream: "s", First: int64(part.Index - 1), End: int64(part.Index), Data: []byte{byte(part.Index)}})
	var text bytes.Buffer
	words := []string{"play", "random", "--seed", "1"}
	err := errors.Join(l.Write(&text, &shard.Job{Build: "test", Args: words, Means: words}), os.WriteFile(file+".tmp", text.Bytes(), 0o666), ctx.Err())
	if err == nil {
		err = os.Rename(file+".tmp", file)
	}
	return runner.Exit{Code: code}, err
}

// asked are settings that are complete.
func asked() settings.Settings {
	return settings.Settings{Tasks: 4, Kubernetes: settings.Kubernetes{Image: "tilecheck:1", Claim: "shared", RunAs: "1000:1000", Namespace: "team", Context: "test"}}
}

func needsUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		needs.Have(t, needs.System, errors.New("pods have no such paths"))
	}
}

// create makes the directory of a job of n shards.
func create(t *testing.T, n int, s settings.Settings) *cluster.Work {
	t.Helper()
	needsUnix(t)
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("program"), 0o777); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "job")
	if err := kubernetes.Complete(&s, dir); err != nil {
		t.Fatal(err)
	}
	words := []string{"play", "random", "--seed", "1"}
	w, err := cluster.Create(dir, cluster.Request{Given: words, Words: words, Shards: n, Dir: t.TempDir(), Build: "test", Program: program, Backend: "kubernetes", Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// start returns a cluster whose pods do the shards of a job with a program.
func start(t *testing.T, w *cluster.Work, program *shards) *kubetest.Cluster {
	program.t, program.runs = t, make(map[int]int)
	c := kubetest.New(t)
	c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
		command := pod.Spec.Containers[0].Command
		round, err := strconv.Atoi(strings.TrimPrefix(command[3], "--round="))
		if want := []string{w.Dir.Program(&w.Job), "submit", "task", command[3], string(w.Dir)}; err != nil || !slices.Equal(command, want) {
			t.Errorf("a pod runs %q", command)
		}
		var log bytes.Buffer
		tool := func(string, string, ...string) (runner.Commander, error) { return program, nil }
		code, err := cluster.Perform(ctx, string(w.Dir), round, index+1, tool, cluster.Place{Host: pod.Spec.NodeName}, &log)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		return kubetest.Outcome{Code: code, Message: log.String()}
	}
	return c
}

// quick is a back end that is asked often, and whose files are seen at once.
type quick struct{ cluster.Backend }

func (quick) Pace(time.Duration) time.Duration { return 5 * time.Millisecond }
func (quick) Lag() time.Duration               { return 5 * time.Millisecond }

// drive runs a job to its end, and returns the shards that were merged.
func drive(ctx context.Context, t *testing.T, w *cluster.Work, tool kubernetes.Tool, notes *[]string) (merged []int, err error) {
	t.Helper()
	d := &cluster.Driver{
		Work: w, Backend: quick{kubernetes.New(tool, w.Settings)}, Retries: 2,
		Note: func(text string) {
			if notes != nil {
				*notes = append(*notes, text)
			}
		},
		Merge: func(_ context.Context, files []string) error {
			for _, name := range files {
				x, err := shard.Read(name)
				if err != nil {
					return err
				}
				merged = append(merged, x.Index)
			}
			return nil
		},
	}
	return merged, d.Run(ctx)
}

// doubled is the double of kubectl.
func doubled(c *kubetest.Cluster) kubernetes.Tool {
	return func() (runner.Commander, []string, error) { return c.Commander(), nil, nil }
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// tools runs a test with the double of kubectl, and with kubectl itself where it is.
func tools(t *testing.T, f func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool)) {
	t.Run("double", func(t *testing.T) {
		f(t, func(_ *testing.T, c *kubetest.Cluster) kubernetes.Tool { return doubled(c) })
	})
	t.Run("kubectl", func(t *testing.T) {
		if !needs.Asked(t, needs.KubectlTool) {
			needs.Full(t) // its processes take seconds together
		}
		path := needs.Kubectl(t)
		f(t, func(t *testing.T, c *kubetest.Cluster) kubernetes.Tool {
			dir := t.TempDir()
			config := filepath.Join(dir, "config")
			if err := os.WriteFile(config, []byte(c.Serve(t)), 0o600); err != nil {
				t.Fatal(err)
			}
			tool, err := local.New(path)
			if err != nil {
				t.Fatal(err)
			}
			return func() (runner.Commander, []string, error) {
				return tool.In(dir, "KUBECONFIG="+config, "HOME="+dir), nil, nil
			}
		})
	})
}

// What ends well: all shards are merged, those whose tests failed among them, and what ends badly is said.
func TestDriver(t *testing.T) {
	always := func(code int) func(int, int) int {
		return func(index, _ int) int {
			if index == 2 {
				return code
			}
			return 0
		}
	}
	once := func(code int) func(int, int) int {
		return func(_, run int) int {
			if run == 1 {
				return code
			}
			return 0
		}
	}
	for _, tt := range []struct {
		name string
		code func(index, run int) int
		runs int // of shard 2
		fail string
	}{
		{"all is well", nil, 1, ""},
		{"an expectation fails", always(2), 1, ""},
		{"engines disagree", always(3), 1, ""},
		{"it goes wrong once", once(1), 2, ""},
		{"killed once", once(137), 2, ""},
		// Four runs in each of three rounds.
		{"it always goes wrong", always(1), 12, "exit code 1 on node-"},
		{"usage", always(80), 1, "exit code 80 on node-"},
		{"limit", always(4), 1, "exit code 4 on node-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tools(t, func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool) {
				w := create(t, 4, asked())
				program := &shards{code: tt.code}
				c := start(t, w, program)
				merged, err := drive(t.Context(), t, w, tool(t, c), nil)
				switch {
				case tt.fail == "" && (err != nil || !slices.Equal(merged, upTo(4))):
					t.Errorf("merged %v: %v", merged, err)
				case tt.fail != "" && (err == nil || !strings.Contains(err.Error(), "shard 2: "+tt.fail) || !strings.Contains(err.Error(), "it went wrong")):
					t.Errorf("merged %v: error %v, want one with %s", merged, err, tt.fail)
				}
				if program.runs[2] != tt.runs {
					t.Errorf("shard 2 was run %d times, want %d", program.runs[2], tt.runs)
				}
			})
		})
	}
}

// Pods that are evicted are no failures, and those on nodes that are lost are replaced.
func TestDisruption(t *testing.T) {
	for name, outcome := range map[string]kubetest.Outcome{
		"evicted": {Code: 143, Disrupted: true}, "evicted with 80": {Code: 80, Disrupted: true}, "lost": {Lost: true},
		"memory": {Code: 137, Reason: "OOMKilled"},
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t, 9, asked())
			program := &shards{}
			c := start(t, w, program)
			work := c.Run
			var mu sync.Mutex
			lost := 0
			c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
				mu.Lock()
				lost++
				first := lost <= 3
				mu.Unlock()
				if first {
					return outcome
				}
				return work(ctx, pod, index)
			}
			merged, err := drive(t.Context(), t, w, doubled(c), nil)
			if err != nil || !slices.Equal(merged, upTo(9)) {
				t.Fatalf("merged %v: %v", merged, err)
			}
			rounds := 1
			if outcome.Lost {
				rounds = 2 // their own cluster would wait for the nodes
			}
			if got := len(c.Jobs()); got != rounds {
				t.Errorf("%d Jobs, want %d", got, rounds)
			}
			for i, n := range program.runs {
				if n != 1 {
					t.Errorf("shard %d was run %d times", i, n)
				}
			}
		})
	}
}

// What becomes of pods that never get to a record is in the error.
func TestReasons(t *testing.T) {
	for want, outcome := range map[string]kubetest.Outcome{
		"OOMKilled":                            {Code: 137, Reason: "OOMKilled"},
		`StartError: exec: "/x": no such file`: {Code: 128, Reason: "StartError", Message: "failed\nexec: \"/x\": no such file"},
		`exit code 1: bad \x1b[31m`:            {Code: 1, Message: "one\nbad \x1b[31m"},
	} {
		w := create(t, 2, asked())
		c := start(t, w, &shards{})
		c.Run = func(context.Context, *corev1.Pod, int) kubetest.Outcome { return outcome }
		_, err := drive(t.Context(), t, w, doubled(c), nil)
		if failure, ok := errors.AsType[*cluster.Failure](err); !ok || !strings.Contains(failure.Msg, "its task is gone: "+want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
		if outcome.Code == 128 && c.Started() != 2*3 {
			t.Errorf("%d pods were started, want one for each task and round: it would fail again", c.Started())
		}
	}
}

// A driver that is killed at any moment goes on where it was, and a Job that others
// deleted is submitted again; no shard is run twice in the first case.
func TestKilledDriver(t *testing.T) {
	tools(t, func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool) {
		for _, verb := range []string{"create", "list"} {
			w := create(t, 6, asked())
			program := &shards{}
			c := start(t, w, program)
			ctx, kill := context.WithCancel(t.Context())
			hold, release := context.WithCancel(t.Context())
			work := c.Run
			c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
				<-hold.Done()
				return work(ctx, pod, index)
			}
			c.Refuse = func(v string) *metav1.Status {
				if v == verb { // the request is done, and nobody hears of it
					kill()
				}
				return nil
			}
			run := tool(t, c)
			_, err := drive(ctx, t, w, run, nil)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("killed at %s: %v", verb, err)
			}
			w.Close()
			if w, err = cluster.Open(string(w.Dir)); err != nil {
				t.Fatal(err)
			}
			c.Allow()
			release()
			merged, err := drive(t.Context(), t, w, run, nil)
			w.Close()
			if err != nil || !slices.Equal(merged, upTo(6)) || len(c.Jobs()) != 1 {
				t.Errorf("killed at %s: merged %v, Jobs %v: %v", verb, merged, c.Jobs(), err)
			}
			for i, n := range program.runs {
				if n != 1 {
					t.Errorf("killed at %s: shard %d was run %d times", verb, i, n)
				}
			}
		}
	})
}

func TestGone(t *testing.T) {
	w := create(t, 6, asked())
	c := start(t, w, &shards{})
	work := c.Run
	var once sync.Once
	c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
		once.Do(func() { go c.Forget() })
		if strings.HasSuffix(pod.Labels["tilecheck/round"], "-1") {
			<-ctx.Done()
		}
		return work(ctx, pod, index)
	}
	merged, err := drive(t.Context(), t, w, doubled(c), nil)
	if err != nil || !slices.Equal(merged, upTo(6)) {
		t.Errorf("merged %v: %v", merged, err)
	}
}

// Cancel ends all pods.
func TestCancel(t *testing.T) {
	tools(t, func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool) {
		w := create(t, 6, asked())
		c := start(t, w, &shards{})
		var ended sync.WaitGroup
		ended.Add(4)
		c.Run = func(ctx context.Context, _ *corev1.Pod, _ int) kubetest.Outcome {
			defer ended.Done()
			<-ctx.Done()
			return kubetest.Outcome{Code: 143}
		}
		run := tool(t, c)
		ctx, stop := context.WithCancel(t.Context())
		c.Refuse = func(verb string) *metav1.Status {
			if verb == "list" {
				stop()
			}
			return nil
		}
		if _, err := drive(ctx, t, w, run, nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		c.Allow()
		d := &cluster.Driver{Work: w, Backend: kubernetes.New(run, w.Settings)}
		if err := d.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended.Wait()
		if len(c.Jobs()) > 0 {
			t.Errorf("Jobs %v are left", c.Jobs())
		}
		if err := d.Cancel(t.Context()); err != nil {
			t.Errorf("cancelled twice: %v", err)
		}
	})
}

// What the API server refuses ends the driver with its words, and what passes is waited for.
func TestRefusals(t *testing.T) {
	forbidden := kubetest.Refusal(403, metav1.StatusReasonForbidden, `jobs.batch is forbidden: User "u" cannot create resource "jobs"`)
	busy := kubetest.Refusal(503, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request")
	tools(t, func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool) {
		for verb, refusal := range map[string]*metav1.Status{"create": forbidden, "get": forbidden, "authorize": busy} {
			w := create(t, 2, asked())
			c := start(t, w, &shards{})
			c.Refuse = func(v string) *metav1.Status {
				if v == verb {
					return refusal
				}
				return nil
			}
			_, err := drive(t.Context(), t, w, tool(t, c), nil)
			if never, ok := errors.AsType[*cluster.Refused](err); !ok || !strings.Contains(never.Msg, refusal.Message) || strings.Contains(never.Msg, "\n") {
				t.Errorf("%s: error %v, want one with %s", verb, err, refusal.Message)
			}
		}
		for _, verb := range []string{"create", "get", "list"} {
			w := create(t, 2, asked())
			c := start(t, w, &shards{})
			left := 2
			c.Refuse = func(v string) *metav1.Status {
				if v == verb && left > 0 {
					left--
					return busy
				}
				return nil
			}
			var notes []string
			merged, err := drive(t.Context(), t, w, tool(t, c), &notes)
			if err != nil || !slices.Equal(merged, upTo(2)) || !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "does not answer") }) {
				t.Errorf("%s: merged %v, notes %q: %v", verb, merged, notes, err)
			}
		}
		w := create(t, 2, asked())
		c := start(t, w, &shards{})
		c.NoLeave = true
		if _, err := drive(t.Context(), t, w, tool(t, c), nil); err == nil || err.Error() != "no leave to create Jobs in the namespace team" {
			t.Errorf("no leave: %v", err)
		}
		w = create(t, 2, asked())
		c = start(t, w, &shards{})
		c.LoseAnswer = "create"
		if merged, err := drive(t.Context(), t, w, tool(t, c), nil); err != nil || !slices.Equal(merged, upTo(2)) || len(c.Jobs()) != 1 {
			t.Errorf("an answer was lost: merged %v, Jobs %v: %v", merged, c.Jobs(), err)
		}
		w = create(t, 2, asked())
		c = start(t, w, &shards{})
		c.Old = true
		c.Run = func(ctx context.Context, _ *corev1.Pod, _ int) kubetest.Outcome {
			<-ctx.Done()
			return kubetest.Outcome{Code: 143}
		}
		if _, err := drive(t.Context(), t, w, tool(t, c), nil); err == nil || !strings.Contains(err.Error(), "1.29") || len(c.Jobs()) > 0 {
			t.Errorf("an old cluster: Jobs %v: %v", c.Jobs(), err)
		}
	})
}

// The context and the namespace are those that kubectl would use.
func TestResolve(t *testing.T) {
	tools(t, func(t *testing.T, tool func(*testing.T, *kubetest.Cluster) kubernetes.Tool) {
		s, err := kubernetes.New(tool(t, kubetest.New(t)), settings.Settings{}).Resolve(t.Context())
		if err != nil || s.Context != "test" || s.Namespace != "default" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// Tasks that wait say why.
func TestWaiting(t *testing.T) {
	w := create(t, 2, asked())
	c := start(t, w, &shards{})
	c.Pending = "ImagePullBackOff"
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, err := drive(ctx, t, w, doubled(c), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	live, err := kubernetes.New(doubled(c), w.Settings).Live(t.Context(), w.Rounds)
	if err != nil || live.Waiting != "ImagePullBackOff" || len(live.Tasks) != 2 || live.Tasks[cluster.TaskID{Round: 1, Task: 1}] {
		t.Errorf("%+v, %v", live, err)
	}
}

// What an API server says of a Job that nobody submitted so is an error, and no crash.
func TestHostileAnswers(t *testing.T) {
	w := create(t, 2, asked())
	c := start(t, w, &shards{})
	if merged, err := drive(t.Context(), t, w, doubled(c), nil); err != nil || len(merged) != 2 {
		t.Fatal(err)
	}
	job := func(status batchv1.JobStatus) batchv1.Job {
		return batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: w.Rounds[0].Name}, Status: status}
	}
	for _, tt := range []struct {
		answer any
		tasks  int // -1 for an error
	}{
		{batchv1.JobList{}, 0},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{})}}, 2},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "0", FailedIndexes: new("")})}}, 1},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "0", FailedIndexes: new("1")})}}, 0},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "0-1"})}}, 0},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "0-99999999999"})}}, -1},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "1-0"})}}, -1},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{CompletedIndexes: "-1"})}}, -1},
		{batchv1.JobList{Items: []batchv1.Job{job(batchv1.JobStatus{FailedIndexes: new("x")})}}, -1},
		{[]int{1}, -1},
		{"\x1b[31m", -1},
	} {
		tool := func() (runner.Commander, []string, error) { return answering{tt.answer}, nil, nil }
		live, err := kubernetes.New(tool, w.Settings).Live(t.Context(), w.Rounds)
		if (err != nil) != (tt.tasks < 0) || err == nil && len(live.Tasks) != tt.tasks {
			t.Errorf("%+v: %d tasks, %v, want %d", tt.answer, len(live.Tasks), err, tt.tasks)
		}
	}
}
