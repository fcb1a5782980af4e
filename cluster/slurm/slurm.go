// Package slurm is the back end of package cluster for Slurm. A round is one array job. The package starts sbatch, squeue, scancel and scontrol,
// and reads what they print. It needs no accounting.
//
// Source: the manual pages of Slurm 22.05. Where the programs differ from the pages, the package follows slurm-wlm 22.05.8 of Debian 12.
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

// Slurm implements cluster.Backend.
type Slurm struct{ tools Tools }

var _ cluster.Backend = (*Slurm)(nil)

// Tools returns the commander that runs a program of Slurm, and the arguments to put before others. With ssh to a login node, these arguments
// contain the program.
type Tools func(program string) (tool runner.Commander, before []string, err error)

// New returns the back end that uses these tools. dir is the directory of the job. It must be a name that needs no quotes in a batch script, in
// options of sbatch, or in a shell at the other end of ssh.
func New(tools Tools, dir string) (*Slurm, error) {
	if !unquotedPath.MatchString(dir) {
		return nil, fmt.Errorf("found the directory %q, want a name that has only letters, digits and _./+=@,:-", dir)
	}
	return &Slurm{tools}, nil
}

// unquotedPath matches absolute paths that need no quotes in a shell.
var unquotedPath = regexp.MustCompile(`^/[A-Za-z0-9_./+=@,:-]+$`)

// maxOutput is the largest output of a program in bytes. squeue prints one line for each task, and there may be a million tasks.
const maxOutput = 64 << 20

// Name implements cluster.Backend.
func (*Slurm) Name() string { return "slurm" }

// Detached implements cluster.Backend.
func (*Slurm) Detached() bool { return true }

// Lag implements cluster.Backend. A client of NFS may show a new file some seconds late.
func (*Slurm) Lag() time.Duration { return 3 * time.Second }

// Pace implements cluster.Backend: squeue takes time of the controller, which other users need too.
func (*Slurm) Pace(elapsed time.Duration) time.Duration {
	return min(max(elapsed/20, 500*time.Millisecond), 15*time.Second)
}

// failure is the error of a program of Slurm.
type failure struct {
	program string
	message string // the last line that it printed
	code    int    // its exit code
}

func (f *failure) Error() string {
	if f.message == "" {
		return fmt.Sprintf("%s: exit code %d", f.program, f.code)
	}
	return f.program + ": " + f.message
}

// run runs a program of Slurm and returns its standard output. If the program exits with an error, the error is a *failure.
func (s *Slurm) run(ctx context.Context, program string, args ...string) (string, error) {
	tool, firstArgs, err := s.tools(program)
	if err != nil {
		return "", err
	}
	reply, err := cluster.Call(ctx, program, tool, maxOutput, slices.Concat(firstArgs, args)...)
	if err != nil {
		return "", err
	}
	if reply.Code == 0 {
		return string(reply.Stdout), nil
	}
	printed := strings.TrimSpace(string(reply.Stderr))
	if printed == "" {
		printed = strings.TrimSpace(string(reply.Stdout))
	}
	message := strings.TrimPrefix(lastLine(printed), program+": error: ")
	return "", &failure{program, printable.Line(message), reply.Code}
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// Limits implements cluster.Backend. It returns MaxArraySize-1, because the indices of an array are less than MaxArraySize, and ours start with 1.
func (s *Slurm) Limits(ctx context.Context) (int, error) {
	output, err := s.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	match := maxArraySize.FindStringSubmatch(output)
	if match == nil {
		return 0, errors.New("scontrol show config: there is no MaxArraySize")
	}
	size, err := strconv.Atoi(match[1])
	if err != nil || size < 2 {
		return 0, fmt.Errorf("this cluster takes no array jobs: MaxArraySize is %s", match[1])
	}
	return size - 1, nil
}

var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)\s*$`)

// Submit implements cluster.Backend. It writes the batch script of the round and gives it to sbatch. It returns "job ID".
func (s *Slurm) Submit(ctx context.Context, round *cluster.Round) (string, error) {
	name, err := round.WriteScript("sh", Script(round))
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	output, err := s.run(ctx, "sbatch", "--parsable", name)
	if failure, ok := errors.AsType[*failure](err); ok && !failure.isTemporary() {
		return "", &cluster.Refused{Msg: failure.Error()}
	} else if err != nil {
		return "", err
	}
	// sbatch prints "17" or "17;cluster"; a plugin may print lines before it.
	id, _, _ := strings.Cut(lastLine(strings.TrimSpace(output)), ";")
	if !number.MatchString(id) {
		return "", fmt.Errorf("sbatch: found %q, want the number of a job", printable.Line(id))
	}
	return "job " + id, nil
}

// number matches the number of a job.
var number = regexp.MustCompile(`^[0-9]{1,18}$`)

// isTemporary reports whether the same command may succeed later. It may if the cause of the error is the controller or the network, and not the
// job. An unknown message counts as temporary if the program exited with another code than 1, as ssh does.
func (f *failure) isTemporary() bool {
	for _, words := range []string{
		"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Connection reset", "Connection timed out",
		"connect failure", "temporarily unable", "Resource temporarily unavailable", "Zero Bytes were transmitted",
		"Transport endpoint", "Slurm backup controller", "Slurm controller not responding",
	} {
		if strings.Contains(f.message, words) {
			return true
		}
	}
	isRefusal := strings.Contains(f.message, "Batch job submission failed") || strings.Contains(f.message, "sbatch:")
	return !isRefusal && f.code != 1
}

// Find implements cluster.Backend. It returns "" if Slurm has no job of the round. Slurm forgets a job when it has ended for MinJobAge.
func (s *Slurm) Find(ctx context.Context, round *cluster.Round) (string, error) {
	output, err := s.run(ctx, "squeue", "--noheader", "--me", "--states=all", "--name="+round.Name, "--format=%F")
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	if id == "" {
		return "", nil
	}
	if !number.MatchString(id) {
		return "", fmt.Errorf("squeue: found %q, want the number of a job", printable.Line(id))
	}
	return "job " + id, nil
}

// task is a task of an array job, as squeue prints it.
type task struct {
	round, index int
	id           string // the number of the job and the index: 17_3
	state        string // two letters, such as PD for pending
	reason       string // why a pending task waits
}

// isStuck reports whether Slurm could not start the task on its node. Slurm then holds the task until an administrator releases it.
func (t *task) isStuck() bool {
	reason := strings.ToLower(strings.ReplaceAll(t.reason, "_", " "))
	return t.state == pending && strings.Contains(reason, "requeued held")
}

// pending is the state of a task that waits.
const pending = "PD"

// queued returns the tasks of rounds that have not ended.
func (s *Slurm) queued(ctx context.Context, rounds []*cluster.Round) ([]task, error) {
	names := make([]string, len(rounds))
	numbers := make(map[string]int)
	for i, round := range rounds {
		names[i], numbers[round.Name] = round.Name, round.Number
	}
	var tasks []task
	for chunk := range slices.Chunk(names, maxArguments) {
		output, err := s.run(ctx, "squeue", "--noheader", "--me", "--array", "--name="+strings.Join(chunk, ","), "--format="+taskFormat)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(output) {
			if current, ok := parseTask(line, numbers); ok {
				tasks = append(tasks, current)
			}
		}
	}
	return tasks, nil
}

// maxArguments is the largest number of names or IDs in one call of a program.
const maxArguments = 500

// taskFormat is squeue's format of a task: name and number of the job, index, state, reason.
const taskFormat = "%j,%F,%K,%t,%r"

// parseTask parses a line of squeue in taskFormat. numbers has the numbers of the rounds by their names. It returns false for a line of another job
// or of a plugin.
func parseTask(line string, numbers map[string]int) (task, bool) {
	fields := strings.SplitN(strings.TrimSpace(line), ",", 5)
	if len(fields) != 5 {
		return task{}, false
	}
	name, job, indexText, state, reason := fields[0], fields[1], fields[2], fields[3], fields[4]
	index, err := strconv.Atoi(indexText)
	if err != nil || numbers[name] == 0 || !number.MatchString(job) {
		return task{}, false
	}
	return task{numbers[name], index, job + "_" + indexText, state, reason}, true
}

// Live implements cluster.Backend. It cancels the tasks that Slurm could not start on their nodes, and counts them as lost.
func (s *Slurm) Live(ctx context.Context, rounds []*cluster.Round) (cluster.Live, error) {
	tasks, err := s.queued(ctx, rounds)
	if err != nil {
		return cluster.Live{}, err
	}
	live := cluster.Live{Tasks: make(map[cluster.TaskID]bool)}
	var stuck []string
	for _, current := range tasks {
		id := cluster.TaskID{Round: current.round, Task: current.index}
		switch {
		case current.isStuck():
			stuck = append(stuck, current.id)
		case current.state == pending:
			isRunning := live.Tasks[id] // in a second job of the round
			live.Tasks[id], live.Waiting = isRunning, current.reason
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
	for _, current := range tasks {
		job, _, _ := strings.Cut(current.id, "_")
		if !slices.Contains(ids, job) {
			ids = append(ids, job)
		}
	}
	return s.cancel(ctx, ids)
}

// cancel cancels jobs, or tasks of jobs.
func (s *Slurm) cancel(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(ids, maxArguments) {
		if _, err := s.run(ctx, "scancel", chunk...); err != nil {
			return err
		}
	}
	return nil
}
