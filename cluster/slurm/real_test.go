package slurm_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tilecheck/cluster/slurm/slurmtest"
	"tilecheck/internal/needs"
)

// program builds tilecheck as users of a cluster should: static.
func program(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tilecheck")
	cmd := exec.Command("go", "build", "-o", name, "tilecheck/cmd/tilecheck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// session is a user who has a Slurm.
type session struct {
	*testing.T
	c       *slurmtest.Cluster
	program string
	dir     string // where commands are given
}

// running is a command that was started.
type running struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	begun          time.Time
}

func (s *session) start(words ...string) *running {
	s.Helper()
	r := &running{Cmd: exec.Command(s.program, words...), begun: time.Now()}
	r.Dir, r.Stdout, r.Stderr = s.dir, &r.stdout, &r.stderr
	r.Env = append(os.Environ(), "TILECHECK_SLURM_PREFIX="+s.c.Prefix(), "NO_COLOR=1")
	if err := r.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = r.Process.Kill() }) // which has ended, unless the test has failed
	return r
}

// end waits for the end, and returns the exit code.
func (s *session) end(r *running) int {
	s.Helper()
	limit := time.AfterFunc(10*time.Minute, func() {
		s.Error("it goes on after ten minutes")
		_ = r.Process.Kill()
	})
	defer limit.Stop()
	err := r.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.Fatal(exit)
	}
	return r.ProcessState.ExitCode()
}

// alone returns what one process prints, and its exit code.
func (s *session) alone(words ...string) (string, int) {
	s.Helper()
	r := s.start(words...)
	code := s.end(r)
	s.Logf("alone: %v, exit code %d", time.Since(r.begun).Round(time.Second/10), code)
	return r.stdout.String(), code
}

// same fails unless a submitted command said what one process says.
func (s *session) same(r *running, code int, want string, wantCode int) {
	s.Helper()
	s.Logf("on the cluster: %v\n%s", time.Since(r.begun).Round(time.Second/10), &r.stderr)
	if code != wantCode || timeless(r.stdout.String()) != timeless(want) {
		s.Errorf("exit code %d, want %d, and\n%s\nwant\n%s", code, wantCode, &r.stdout, want)
	}
}

// finished counts the partial files of a job.
func (s *session) finished(dir string) int {
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.part"))
	if err != nil {
		s.Fatal(err)
	}
	return len(parts)
}

func (s *session) until(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not after five minutes: %s", what)
		}
	}
}

// runs reports whether a node runs a task.
func (s *session) runs(node string) bool {
	out, err := s.c.Run("squeue", "-h", "-t", "R", "-w", node, "-o", "%i")
	return err == nil && strings.TrimSpace(out) != ""
}

// idle fails unless Slurm has no tasks left.
func (s *session) idle() {
	s.Helper()
	s.until("no tasks", func() bool {
		out, err := s.c.Run("squeue", "-h", "-o", "%i %t")
		return err == nil && strings.TrimSpace(out) == ""
	})
}

// submit is a command in 18 shards.
func submit(dir string, words ...string) []string {
	return append([]string{"submit", "slurm", "--dir", dir, "--shards", "18", "--tasks", "9", "--"}, words...)
}

// What a submitted command prints is what one process prints, whatever is killed in between.
func TestSlurm(t *testing.T) {
	c := slurmtest.Start(t)
	s := &session{t, c, program(t), t.TempDir()}
	die, err := os.ReadFile("../../examples/die.prism")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "die.prism"), die, 0o666); err != nil {
		t.Fatal(err)
	}
	job := func(name string) string { return filepath.Join(c.Shared, name) }
	run := func(name string, f func(s *session)) {
		t.Run(name, func(t *testing.T) { f(&session{t, c, s.program, s.dir}) })
	}
	run("sequential", func(s *session) { // the merge asks for more than the first 18 blocks
		words := []string{"check", "die.prism", "--prop", "P=? [ F d=6 ]", "--method", "ci", "--width", "0.002", "--seed", "3", "--format", "csv"}
		want, code := s.alone(words...)
		r := s.start(submit(job("sequential"), words...)...)
		end := s.end(r)
		s.same(r, end, want, code)
		if n := s.finished(job("sequential")); n <= 18 {
			s.Errorf("%d shards, want more than 18: the first 18 do not decide", n)
		}
		s.idle()
	})
	run("usage", func(s *session) {
		r := s.start(submit(job("usage"), "check", "die.prism", "--method", "sim")...)
		if code := s.end(r); code != 80 || !strings.Contains(r.stderr.String(), "no property") {
			s.Errorf("exit code %d, want 80\n%s", code, &r.stderr)
		}
		r = s.start(append([]string{"submit", "slurm", "--partition", "nowhere", "--dir", job("nowhere"), "--"}, "compare", "random")...)
		if code := s.end(r); code != 1 || !strings.Contains(r.stderr.String(), "nvalid partition") {
			s.Errorf("exit code %d, want 1\n%s", code, &r.stderr)
		}
		s.idle()
	})
	// The thesis's twenty cells.
	words := []string{"compare", "--samples", fmt.Sprint(needs.Number(t, "TILECHECK_SLURM_SAMPLES", 20_000)), "--seed", "7"}
	want, code := s.alone(words...)
	run("detach", func(s *session) {
		dir := job("detach")
		r := s.start(submit(dir, words...)...)
		s.until("a shard", func() bool { return s.finished(dir) > 0 })
		asked := time.Now()
		s.signal(r, syscall.SIGINT)
		if end := s.end(r); end != 1 || time.Since(asked) > time.Second || !strings.Contains(r.stderr.String(), "tilecheck submit attach "+dir) {
			s.Errorf("exit code %d after %v\n%s", end, time.Since(asked), &r.stderr)
		}
		if r.stdout.Len() > 0 {
			s.Errorf("it prints\n%s", &r.stdout)
		}
		r = s.start("submit", "--attach", dir)
		before := s.finished(dir)
		s.until("another shard", func() bool { return s.finished(dir) > before })
		s.signal(r, syscall.SIGINT)
		time.Sleep(200 * time.Millisecond)
		s.signal(r, syscall.SIGINT)
		if end := s.end(r); end != 1 || !strings.Contains(r.stderr.String(), "cancelling") {
			s.Errorf("exit code %d\n%s", end, &r.stderr)
		}
		s.idle()
		kept := s.finished(dir)
		if kept >= 18 {
			s.Errorf("%d shards are finished, want fewer: nothing was cancelled", kept)
		}
		r = s.start("submit", "attach", dir)
		end := s.end(r)
		s.same(r, end, want, code)
	})
	run("controller and submit", func(s *session) {
		dir := job("controller")
		r := s.start(submit(dir, words...)...)
		s.until("a shard", func() bool { return s.finished(dir) > 0 })
		c.RestartController()
		before := s.finished(dir)
		s.until("another shard", func() bool { return s.finished(dir) > before })
		s.signal(r, syscall.SIGKILL)
		s.end(r)
		s.Logf("%d of 18 shards when submit was killed\n%s", s.finished(dir), &r.stderr)
		r = s.start(submit(dir, words...)...) // the same command attaches
		end := s.end(r)
		s.same(r, end, want, code)
		s.idle()
		s.once(dir)
	})
	run("node", func(s *session) {
		s.killing("n2", job("node"), submit(job("node"), words...), want, code, nil)
	})
}

// TestSlurmSuite restarts the controller under a suite, while it knows the names of all
// nodes, and kills one.
func TestSlurmSuite(t *testing.T) {
	c := slurmtest.Start(t)
	s := &session{t, c, program(t), t.TempDir()}
	s.suite()
	words := []string{"test", "suite", "--no-cache", "--junit", "junit.xml"}
	want, code := s.alone(words...)
	if code != 2 || !strings.Contains(want, "499 passed") {
		t.Fatalf("exit code %d, want 2 and 499 passed\n%s", code, want)
	}
	report := filepath.Join(s.dir, "junit.xml")
	read := func() string {
		text, err := os.ReadFile(report)
		if err := errors.Join(err, os.Remove(report)); err != nil {
			t.Fatal(err)
		}
		return timeless(string(text))
	}
	alone := read()
	dir := filepath.Join(c.Shared, "suite")
	s.killing("n3", dir, submit(dir, words...), want, code, c.RestartController)
	if got := read(); got != alone || strings.Count(got, "<testcase") != 500 {
		t.Errorf("the report is another one, of %d results", strings.Count(got, "<testcase"))
	}
}

// TestSlurmBench measures cases on three nodes, of which one is killed: each case is measured so often on one machine, and the runs are in one file.
func TestSlurmBench(t *testing.T) {
	c := slurmtest.Start(t)
	s := &session{t, c, program(t), t.TempDir()}
	const cases, repetitions = 20, 3
	for i := range cases {
		for ending, text := range map[string]string{
			"":       "dtmc module m s:[0..2]; [] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [] s>0 -> true; endmodule\n",
			".props": "// RESULT: 1/2\nP=? [ F s=1 ]\n",
		} {
			if err := os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("coin%02d.prism%s", i, ending)), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := filepath.Join(c.Shared, "bench")
	r := s.start(submit(dir, "bench", "coin*.prism", "--repetitions", fmt.Sprint(repetitions), "-o", "results.jsonl", "--format", "csv")...)
	s.until("finished shards", func() bool { return s.finished(dir) > 0 })
	c.Kill("n2")
	if code := s.end(r); code != 0 || strings.Count(r.stdout.String(), ",native,right,") != cases {
		t.Errorf("exit code %d, want %d cases\n%s\n%s", code, cases, &r.stdout, &r.stderr)
	}
	results, err := os.ReadFile(filepath.Join(s.dir, "results.jsonl"))
	if err != nil || strings.Count(string(results), "\n") != cases*repetitions {
		t.Errorf("%d runs, want %d: %v", strings.Count(string(results), "\n"), cases*repetitions, err)
	}
	s.idle()
	t.Logf("%s", r.stderr.String())
	if method := regexp.MustCompile(`"measured":"[^"]*"`).FindString(string(results)); method == "" {
		t.Error("the runs do not say how they were measured")
	} else {
		t.Log(method)
	}
}

// TestSlurmSolve solves a board on three nodes, of which one is killed and the others
// go on: the file is that of one process.
func TestSlurmSolve(t *testing.T) {
	c := slurmtest.Start(t)
	s := &session{t, c, program(t), t.TempDir()}
	board := []string{"solve", "--size", "3", "--max", fmt.Sprint(needs.Number(t, "TILECHECK_SLURM_MAX", 512))}
	alone := filepath.Join(s.dir, "alone.2048")
	if out, code := s.alone(append(board, "--out", alone)...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	shared := filepath.Join(c.Shared, "tilecheck")
	if err := os.Link(s.program, shared); err != nil {
		text, err := os.ReadFile(s.program)
		if err = errors.Join(err, os.WriteFile(shared, text, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(c.Shared, "board.2048")
	worker := shared + " " + strings.Join(board, " ") + " --out " + file + " --worker $((SLURM_PROCID + 1))/3"
	script := "#!/bin/sh\nexec srun --ntasks 3 --distribution cyclic --kill-on-bad-exit sh -c 'exec " + worker + "'\n"
	if err := os.WriteFile(filepath.Join(c.Shared, "solve.sh"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	id, err := c.Run("sbatch", "--parsable", "--requeue", "--nodes", "2-3", "--ntasks", "3", "--chdir", c.Shared, filepath.Join(c.Shared, "solve.sh"))
	if err != nil {
		t.Fatal(id)
	}
	s.until("layers, on all nodes", func() bool {
		layers, err := filepath.Glob(file + ".work/positions-*")
		return err == nil && len(layers) > 5 && s.runs("n1") && s.runs("n2") && s.runs("n3")
	})
	c.Kill("n3")
	killed := time.Now()
	s.until("the end", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	s.idle()
	t.Logf("ended %v after its begin, %v after the node was killed", time.Since(begun).Round(time.Second), time.Since(killed).Round(time.Second))
	out, err := c.Run("sacct", "-D", "-X", "-n", "-P", "-j", strings.TrimSpace(id), "-o", "JobID,State,NodeList,Elapsed")
	if err != nil || !strings.Contains(out, "NODE_FAIL") || !strings.Contains(out, "COMPLETED") {
		t.Errorf("accounting shows no lost node, or no end: %v\n%s", err, out)
	}
	t.Log(out)
	want, err1 := os.ReadFile(alone)
	got, err2 := os.ReadFile(file)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is another one: %d bytes, want %d: %v", len(got), len(want), err)
	}
}

// killing has a job run while something happens, and a node is killed, whose tasks run
// again elsewhere.
func (s *session) killing(node, dir string, words []string, want string, code int, before func()) {
	s.Helper()
	r := s.start(words...)
	s.until("a shard", func() bool { return s.finished(dir) > 0 })
	if before != nil {
		before()
	}
	s.until("a task on the node", func() bool { return s.runs(node) })
	s.c.Kill(node)
	killed := time.Now()
	end := s.end(r)
	s.Logf("ended %v after the node was killed", time.Since(killed).Round(time.Second))
	s.same(r, end, want, code)
	s.idle()
	s.once(dir)
	out, err := s.c.Run("sacct", "-D", "-X", "-n", "-P", "-o", "JobID,State,NodeList,Elapsed")
	if err != nil || !strings.Contains(out, "NODE_FAIL|"+node) {
		s.Errorf("accounting shows no lost task on %s: %v\n%s", node, err, out)
	}
	for line := range strings.Lines(out) {
		if id, rest, _ := strings.Cut(line, "|"); strings.HasPrefix(rest, "NODE_FAIL|"+node) {
			s.Log(strings.TrimSpace(line))
			if !strings.Contains(out, id+"|COMPLETED") && !strings.Contains(out, id+"|FAILED") {
				s.Errorf("%s was not requeued:\n%s", id, out)
			}
		}
	}
}

// suite writes a suite of 500 results, one of them wrong, each of which takes a while.
func (s *session) suite() {
	s.Helper()
	dir := filepath.Join(s.dir, "suite")
	if err := os.Mkdir(dir, 0o777); err != nil {
		s.Fatal(err)
	}
	// It takes 1800 steps to come to 900, give or take 42: that 8000 do not suffice has no chance worth a digit.
	const model = "dtmc module M x:[0..1000]; [] x<1000 -> 0.5:(x'=x+1) + 0.5:true; [] x=1000 -> true; endmodule\n"
	for i := range 25 {
		var props strings.Builder
		for k := range 20 {
			result := "1"
			if i == 3 && k == 4 {
				result = "0.5"
			}
			fmt.Fprintf(&props, "// RESULT: %s\nP=? [ F<=%d x=900 ];\n", result, 8000+100*i+k)
		}
		name := filepath.Join(dir, fmt.Sprintf("m%d", i))
		err := errors.Join(os.WriteFile(name+".prism", []byte(model), 0o666), os.WriteFile(name+".props", []byte(props.String()), 0o666))
		if err != nil {
			s.Fatal(err)
		}
	}
}

func (s *session) signal(r *running, sig syscall.Signal) {
	if err := r.Process.Signal(sig); err != nil {
		s.Error(err)
	}
}

// once fails if a shard was run to its end twice.
func (s *session) once(dir string) {
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil {
		s.Fatal(err)
	}
	ended := map[string]int{}
	for _, name := range runs {
		_, shard, _ := strings.Cut(filepath.Base(name), "-")
		text, err := os.ReadFile(name)
		if err != nil {
			s.Error(err)
		}
		if code := string(text)[:2]; code == "0 " || code == "2 " {
			ended[shard]++
		}
	}
	for shard, n := range ended {
		if n > 1 {
			s.Errorf("shard %s was run %d times", shard, n)
		}
	}
	// A node that was killed may have taken the records of what its two processors had just finished along.
	if n := len(ended); n < 16 || n > 18 || s.finished(dir) != 18 {
		s.Errorf("%d shards have a record, and %d a file, want 18", n, s.finished(dir))
	}
}

// timeless is a text without the time that something took, and without the width of
// columns that follows from it: behind the seed in CSV, in attributes of JUnit, and for people.
func timeless(text string) string {
	for _, p := range [][2]string{
		{`,3,[0-9.e-]+,`, ",3,TIME,"},
		{` (time|timestamp)="[^"]*"`, ""},
		{`<?\b([0-9]+m)?[0-9]+(\.[0-9]+)?(ns|µs|ms|s)\b`, "TIME"},
		{` +`, " "},
		{`--+`, "--"},
	} {
		text = regexp.MustCompile(p[0]).ReplaceAllString(text, p[1])
	}
	return text
}
