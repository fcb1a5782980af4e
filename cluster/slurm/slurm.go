// Package slurm is Slurm as a back end of package cluster: a round is one array
// job, and what there is to know comes from sbatch, squeue, scancel and scontrol.
// Accounting is not needed.
//
// Source: the manual pages of Slurm 22.05; differences between the pages and the programs
// were seen with slurm-wlm 22.05.8 of Debian 12.
package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/cluster"
	"tilecheck/internal/printable"
	"tilecheck/runner"
)

// Slurm is a back end.
type Slurm struct{ tools Tools }

var _ cluster.Backend = (*Slurm)(nil)

// Tools returns what runs a program of Slurm, and the words before its arguments,
// which are those of a login node that is elsewhere.
type Tools func(program string) (tool runner.Commander, before []string, err error)

// New returns Slurm where these tools run. dir, the directory of the job, is one
// that needs no quotes anywhere: in a batch script, in options of sbatch and in
// what a shell at the other end of ssh reads.
func New(tools Tools, dir string) (*Slurm, error) {
	if !plain.MatchString(dir) {
		return nil, fmt.Errorf("found the directory %q, want a name that has only letters, digits and _./+=@,:-", dir)
	}
	return &Slurm{tools}, nil
}

var plain = regexp.MustCompile(`^/[A-Za-z0-9_./+=@,:-]+$`)

// maxOutput is how much one may print: squeue a line for each of a million tasks.
const maxOutput = 64 << 20

// Name implements cluster.Backend.
func (*Slurm) Name() string { return "slurm" }

// Detached implements cluster.Backend.
func (*Slurm) Detached() bool { return true }

// Lag implements cluster.Backend. Clients of NFS remember names for some seconds.
func (*Slurm) Lag() time.Duration { return 3 * time.Second }

// Pace implements cluster.Backend: squeue is work for a controller that others use, too.
func (*Slurm) Pace(elapsed time.Duration) time.Duration {
	return min(max(elapsed/20, 500*time.Millisecond), 15*time.Second)
}

// failure is what a program of Slurm says when it fails.
type failure struct {
	program, said string
	code          int
}

func (f *failure) Error() string {
	if f.said == "" {
		return fmt.Sprintf("%s: exit code %d", f.program, f.code)
	}
	return f.program + ": " + f.said
}

// run returns what a program prints.
func (s *Slurm) run(ctx context.Context, program string, args ...string) (string, error) {
	tool, before, err := s.tools(program)
	if err != nil {
		return "", err
	}
	reply, err := cluster.Call(ctx, program, tool, maxOutput, slices.Concat(before, args)...)
	if err != nil {
		return "", err
	}
	if reply.Code == 0 {
		return string(reply.Stdout), nil
	}
	said := strings.TrimSpace(string(reply.Stderr))
	if said == "" {
		said = strings.TrimSpace(string(reply.Stdout))
	}
	lines := strings.Split(said, "\n")
	return "", &failure{program, printable.Line(strings.TrimPrefix(lines[len(lines)-1], program+": error: ")), reply.Code}
}

// Limits implements cluster.Backend. The indices of an array are below MaxArraySize, and begin with 1 here.
func (s *Slurm) Limits(ctx context.Context) (int, error) {
	out, err := s.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	found := maxArraySize.FindStringSubmatch(out)
	if found == nil {
		return 0, errors.New("scontrol show config: there is no MaxArraySize")
	}
	n, err := strconv.Atoi(found[1])
	if err != nil || n < 2 {
		return 0, fmt.Errorf("this cluster takes no array jobs: MaxArraySize is %s", found[1])
	}
	return n - 1, nil
}

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)\s*$`)

// Submit implements cluster.Backend.
func (s *Slurm) Submit(ctx context.Context, r *cluster.Round) (string, error) {
	name, err := r.WriteScript("sh", Script(r))
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	out, err := s.run(ctx, "sbatch", "--parsable", name)
	if f, ok := errors.AsType[*failure](err); ok && !f.passing() {
		return "", &cluster.Refused{Msg: f.Error()}
	} else if err != nil {
		return "", err
	}
	// "17", or "17;cluster", perhaps behind lines of a plugin.
	lines := strings.Split(strings.TrimSpace(out), "\n")
	id, _, _ := strings.Cut(lines[len(lines)-1], ";")
	if !number.MatchString(id) {
		return "", fmt.Errorf("sbatch: found %q, want the number of a job", printable.Line(id))
	}
	return "job " + id, nil
}

var number = regexp.MustCompile(`^[0-9]{1,18}$`)

// passing reports whether the same command may succeed later, because the cause of the error is not the
// job: the controller, or the network in between, did not answer.
func (f *failure) passing() bool {
	for _, words := range []string{
		"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Connection reset", "Connection timed out",
		"connect failure", "temporarily unable", "Resource temporarily unavailable", "Zero Bytes were transmitted",
		"Transport endpoint", "Slurm backup controller", "Slurm controller not responding",
	} {
		if strings.Contains(f.said, words) {
			return true
		}
	}
	return !strings.Contains(f.said, "Batch job submission failed") && !strings.Contains(f.said, "sbatch:") && f.code != 1
}

// Find implements cluster.Backend. A job that has ended is known for MinJobAge.
func (s *Slurm) Find(ctx context.Context, r *cluster.Round) (string, error) {
	out, err := s.run(ctx, "squeue", "--noheader", "--me", "--states=all", "--name="+r.Name, "--format=%F")
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if id == "" {
		return "", nil
	}
	if !number.MatchString(id) {
		return "", fmt.Errorf("squeue: found %q, want the number of a job", printable.Line(id))
	}
	return "job " + id, nil
}

// task is a line of squeue.
type task struct {
	round, index int
	id           string // of the job: 17_3
	state        string // two letters
	reason       string // why it waits
}

// queued lists the tasks of rounds that have not ended.
func (s *Slurm) queued(ctx context.Context, rounds []*cluster.Round) ([]task, error) {
	names := make([]string, len(rounds))
	numbers := make(map[string]int)
	for i, r := range rounds {
		names[i], numbers[r.Name] = r.Name, r.Number
	}
	var out []task
	for some := range slices.Chunk(names, 500) {
		text, err := s.run(ctx, "squeue", "--noheader", "--me", "--array", "--name="+strings.Join(some, ","), "--format=%j,%F,%K,%t,%r")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			words := strings.SplitN(strings.TrimSpace(line), ",", 5)
			if len(words) != 5 || numbers[words[0]] == 0 {
				continue // of another job, or of a plugin
			}
			index, err := strconv.Atoi(words[2])
			if err != nil || !number.MatchString(words[1]) {
				continue
			}
			out = append(out, task{numbers[words[0]], index, words[1] + "_" + words[2], words[3], words[4]})
		}
	}
	return out, nil
}

// Live implements cluster.Backend. Slurm holds a task that could not be started on
// its node until an administrator comes: here it is lost.
func (s *Slurm) Live(ctx context.Context, rounds []*cluster.Round) (cluster.Live, error) {
	tasks, err := s.queued(ctx, rounds)
	if err != nil {
		return cluster.Live{}, err
	}
	live := cluster.Live{Tasks: make(map[cluster.TaskID]bool)}
	var stuck []string
	for _, t := range tasks {
		id := cluster.TaskID{Round: t.round, Task: t.index}
		switch {
		case t.state == "PD" && strings.Contains(strings.ToLower(strings.ReplaceAll(t.reason, "_", " ")), "requeued held"):
			stuck = append(stuck, t.id)
		case t.state == "PD":
			runs := live.Tasks[id] // in a second job of the round
			live.Tasks[id], live.Waiting = runs, t.reason
		default:
			live.Tasks[id] = true
		}
	}
	return live, s.cancel(ctx, stuck)
}

// Cancel implements cluster.Backend.
func (s *Slurm) Cancel(ctx context.Context, rounds []*cluster.Round) error {
	tasks, err := s.queued(ctx, rounds)
	if err != nil {
		return err
	}
	var ids []string
	for _, t := range tasks {
		job, _, _ := strings.Cut(t.id, "_")
		if !slices.Contains(ids, job) {
			ids = append(ids, job)
		}
	}
	return s.cancel(ctx, ids)
}

func (s *Slurm) cancel(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, 500) {
		if _, err := s.run(ctx, "scancel", some...); err != nil {
			return err
		}
	}
	return nil
}
