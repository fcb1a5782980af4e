package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tilecheck/cluster"
	"tilecheck/cluster/settings"
	"tilecheck/internal/needs"
	"tilecheck/runner"
)

// said is a Slurm whose programs say what they are told to, with an exit code.
type said struct {
	t       *testing.T
	answers map[string]answered // by program
	calls   []string
}

type answered struct {
	stdout, stderr string
	code           int
}

func (s *said) tools(program string) (runner.Commander, []string, error) {
	return &saidTool{s, program}, nil, nil
}

type saidTool struct {
	*said
	program string
}

func (s *saidTool) Where() string { return s.program }

func (s *saidTool) Run(_ context.Context, c runner.Command) (runner.Exit, error) {
	s.calls = append(s.calls, s.program+" "+strings.Join(c.Args, " "))
	a := s.answers[s.program]
	fmt.Fprint(c.Stdout, a.stdout)
	fmt.Fprint(c.Stderr, a.stderr)
	return runner.Exit{Code: a.code}, nil
}

func newSlurm(t *testing.T, answers map[string]answered) (*Slurm, *said) {
	t.Helper()
	s := &said{t: t, answers: answers}
	slurm, err := New(s.tools, "/shared/job")
	if err != nil {
		t.Fatal(err)
	}
	return slurm, s
}

// round is one of a job with words that a shell, or sbatch, would like to read.
func round(t *testing.T, dir string, words ...string) *cluster.Round {
	t.Helper()
	for _, name := range []string{"rounds", "log", "parts", "runs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	sum := strings.Repeat("0123456789abcdef", 4)
	job := &cluster.Job{Words: words, Shards: 7, Dir: "/home/u", Build: "b", Binary: cluster.Staged{Digest: sum}, Tree: sum}
	return &cluster.Round{
		Number: 1, Name: "tilecheck-01234567-1", Tasks: [][]int{{1, 4}, {2}}, Job: job, Dir: cluster.Dir(dir),
		Settings: settings.Settings{Partition: "main", Account: "acc", Time: "1-0", Memory: 1<<30 + 1, CPUs: 2, Sbatch: []string{"--qos=short"}},
	}
}

// The lines that sbatch reads are those that were asked for, and the words of the
// command arrive as they are.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		needs.Have(t, needs.System, err)
	}
	dir := t.TempDir()
	hostile := []string{"check", "a b", "it's", "$(touch hacked)", "`id`", "\n#SBATCH --wrap=id\n", "\\", "-", "", "*", "shard", "\"$shard\"", "--", "x y"}
	r := round(t, dir, hostile...)
	text := Script(r)
	var options []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" { // where sbatch stops reading
			break
		}
		if option, ok := strings.CutPrefix(line, "#SBATCH "); ok {
			options = append(options, strings.TrimSpace(option))
		}
	}
	want := []string{
		"--job-name=tilecheck-01234567-1", "--array=1-2", "--requeue", "--chdir=" + dir, "--output=" + dir + "/log/1-%a.log", "--open-mode=append",
		"--partition=main", "--account=acc", "--time=1-0", "--mem=1025M", "--cpus-per-task=2", "--qos=short",
	}
	if !slices.Equal(options, want) {
		t.Errorf("sbatch reads %q, want %q", options, want)
	}
	// The program is one that writes down its arguments, and the file.
	program := r.Dir.Program(r.Job)
	body := `#!/bin/sh
for a; do printf '%s\000' "$a"; done > ` + dir + `/args
pwd > ` + dir + `/pwd; echo "$GOMAXPROCS" >> ` + dir + `/pwd
eval "for last; do case \$last in */parts/*) part=\$last;; esac; done"
case "$FAIL" in *"${part##*/}"*) exit 137;; esac
echo done > "$part"
`
	err := errors.Join(
		os.MkdirAll(filepath.Dir(program), 0o777), os.WriteFile(program, []byte(body), 0o777), os.MkdirAll(r.Dir.Work(r.Job), 0o777),
		os.WriteFile(r.Dir.Tasks(1), []byte("1 4\n2\n"), 0o666), os.WriteFile(filepath.Join(dir, "script"), []byte(text), 0o666),
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) int {
		cmd := exec.Command("sh", filepath.Join(dir, "script"))
		cmd.Env = append(append(os.Environ(), "SLURM_CPUS_ON_NODE=3", "SLURMD_NODENAME=n7"), env...)
		out, err := cmd.CombinedOutput()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatalf("%v\n%s", err, out)
		}
		return cmd.ProcessState.ExitCode()
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	if code := run("SLURM_ARRAY_TASK_ID=1", "SLURM_RESTART_COUNT=2", "FAIL=1.part"); code != 137 {
		t.Errorf("exit code %d, want that of the shard without a file", code)
	}
	got := strings.Split(strings.TrimSuffix(read("args"), "\x00"), "\x00")
	wantArgs := slices.Concat(hostile[:12], []string{"--shard", "4/7", "--partial", dir + "/parts/4.part"}, hostile[12:])
	if !slices.Equal(got, wantArgs) {
		t.Errorf("the command gets\n%q, want\n%q", got, wantArgs)
	}
	if want := r.Dir.Work(r.Job) + "\n3\n"; read("pwd") != want {
		t.Errorf("it runs in, on processors: %q, want %q", read("pwd"), want)
	}
	for shard, want := range map[string]string{"1": "137 ", "4": "0 "} {
		if record := read("runs/1-" + shard); !strings.HasPrefix(record, want) || !strings.HasSuffix(record, " n7 2\n") {
			t.Errorf("record of shard %s: %q", shard, record)
		}
	}
	if err := os.Remove(filepath.Join(dir, "args")); err != nil {
		t.Fatal(err)
	}
	if code := run("SLURM_ARRAY_TASK_ID=2", "SLURM_RESTART_COUNT=9"); code != 1 || !strings.HasPrefix(read("args"), "open ") {
		t.Errorf("a task that was requeued nine times runs, exit code %d", code)
	}
	if code := run("SLURM_ARRAY_TASK_ID=2"); code != 0 || !strings.Contains(read("args"), "2/7") {
		t.Errorf("exit code %d, %q", code, read("args"))
	}
	if err := os.Remove(filepath.Join(dir, "args")); err != nil {
		t.Fatal(err)
	}
	if code := run("SLURM_ARRAY_TASK_ID=2"); code != 0 || !strings.HasPrefix(read("args"), "open ") {
		t.Errorf("a shard that is finished is run again, exit code %d", code)
	}
	if read("hacked") == "" || read("inputs/0123456789abcdef/hacked") == "" {
		t.Error("the shell has read a word")
	}
}

// Answers are recorded from slurm-wlm 22.05.8, where nothing else is said.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	r := round(t, dir, "compare")
	ctx := t.Context()

	s, _ := newSlurm(t, map[string]answered{"scontrol": {stdout: "MailProg                = /usr/bin/mail\nMaxArraySize            = 1001\nMaxBatchRequeue         = 5\n"}})
	if n, err := s.Limits(ctx); n != 1000 || err != nil {
		t.Errorf("%d tasks, %v, want 1000", n, err)
	}
	for _, text := range []string{"", "MaxArraySize = 0\n", "MaxArraySize = 99999999999999999999\n"} {
		s, _ := newSlurm(t, map[string]answered{"scontrol": {stdout: text}})
		if n, err := s.Limits(ctx); err == nil {
			t.Errorf("%q: %d tasks, want an error", text, n)
		}
	}

	for out, want := range map[string]string{"17\n": "job 17", "17;cluster\n": "job 17", "hello from a plugin\n17\n": "job 17", "": "", "x\n": "", "-1\n": ""} {
		s, calls := newSlurm(t, map[string]answered{"sbatch": {stdout: out}})
		got, err := s.Submit(ctx, r)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", out, got, err, want)
		}
		if calls.calls[0] != "sbatch --parsable "+dir+"/rounds/1.sh" {
			t.Errorf("%q", calls.calls)
		}
	}
	for text, never := range map[string]bool{
		"sbatch: error: invalid partition specified: nowhere\nsbatch: error: Batch job submission failed: Invalid partition name specified\n": true,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n":                                  false,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n":                                               false,
		"sbatch: unrecognized option '--qoss=1'\nTry \"sbatch --help\" for more information\n":                                                true,
	} {
		s, _ := newSlurm(t, map[string]answered{"sbatch": {stderr: text, code: 1}})
		_, err := s.Submit(ctx, r)
		if _, refused := errors.AsType[*cluster.Refused](err); refused != never || err == nil {
			t.Errorf("%q: %v, want an error for good: %v", text, err, never)
		}
	}
	s, _ = newSlurm(t, map[string]answered{"sbatch": {stderr: "ssh: connect to host login port 22: Connection refused\n", code: 255}})
	if _, err := s.Submit(ctx, r); err == nil {
		t.Error("no error")
	} else if _, refused := errors.AsType[*cluster.Refused](err); refused {
		t.Errorf("a login node that is away is for good: %v", err)
	}

	queue := `tilecheck-01234567-1,1,1,R,None
tilecheck-01234567-1,1,2,PD,Resources, UnavailableNodes:n1
tilecheck-01234567-1,3,1,PD,Priority
tilecheck-01234567-9,1,7,R,None
tilecheck-01234567-1,1,5,PD,launch failed requeued held
tilecheck-01234567-1,1,N/A,R,None
nonsense
`
	s, calls := newSlurm(t, map[string]answered{"squeue": {stdout: queue}})
	live, err := s.Live(ctx, []*cluster.Round{r})
	if want := map[cluster.TaskID]bool{{Round: 1, Task: 1}: true, {Round: 1, Task: 2}: false}; err != nil || !reflect.DeepEqual(live.Tasks, want) {
		t.Errorf("%v, %v, want %v", live, err, want)
	}
	if calls.calls[1] != "scancel 1_5" {
		t.Errorf("a task that nobody will start is not cancelled: %q", calls.calls)
	}
	calls.calls = nil
	if err := s.Cancel(ctx, []*cluster.Round{r}); err != nil || calls.calls[1] != "scancel 1 3" {
		t.Errorf("%v, %q", err, calls.calls)
	}
	s, calls = newSlurm(t, map[string]answered{"squeue": {}})
	if err := s.Cancel(ctx, []*cluster.Round{r}); err != nil || len(calls.calls) != 1 {
		t.Errorf("%v, %q", err, calls.calls)
	}
	s, _ = newSlurm(t, map[string]answered{"squeue": {stderr: "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", code: 1}})
	if _, err := s.Live(ctx, []*cluster.Round{r}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line", err)
	}
	for out, want := range map[string]string{"17\n17\n18\n": "job 17", "": "", "\x1b[2J\n": ""} {
		s, _ := newSlurm(t, map[string]answered{"squeue": {stdout: out}})
		got, err := s.Find(ctx, r)
		if got != want || (out == "\x1b[2J\n") != (err != nil) || err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %q, %v", out, got, err)
		}
	}
}

func TestDirectory(t *testing.T) {
	for dir, ok := range map[string]bool{
		"/scratch/u/job-1": true, "/a/b.c_d+e@f=g": true, "/a b": false, "/a'b": false, "/a%j": false, "/a\n#SBATCH": false, "/$x": false, "a": false, "/ä": false, "/a;b": false, "/a#b": false,
	} {
		if _, err := New(nil, dir); (err == nil) != ok {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
