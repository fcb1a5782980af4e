package measure

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"tilecheck/internal/cgroup"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// Options say how runs are measured.
type Options struct {
	Cores  []int // the processors that the tool may use; none for all
	Memory int64 // the limit in bytes; 0 for none
}

// Usage is what one or more runs used.
type Usage struct {
	// Method says who counted: "cgroup v2", "cgroup v1", or "rusage" where no control group can be made; it is empty if nothing ran.
	Method string
	// Reason says why no control group could be made.
	Reason            string
	CPU, User, System time.Duration
	Wall              time.Duration
	PeakMemory        int64 // bytes
	// OutOfMemory says that the limit of memory was hit.
	OutOfMemory  bool
	Interference Interference
}

// add adds the usage of a later run.
func (u *Usage) add(later *Usage) {
	u.Method, u.Reason = later.Method, later.Reason
	u.CPU += later.CPU
	u.User += later.User
	u.System += later.System
	u.Wall += later.Wall
	u.PeakMemory = max(u.PeakMemory, later.PeakMemory)
	u.OutOfMemory = u.OutOfMemory || later.OutOfMemory
	u.Interference.add(&later.Interference)
}

// Tool is a program whose runs are measured. Its runs must not overlap.
type Tool struct {
	program *local.Tool
	options Options
	mutex   sync.Mutex
	total   Usage
}

var _ runner.Commander = (*Tool)(nil)

// New returns a program as a tool whose runs are measured.
func New(program *local.Tool, options Options) *Tool {
	return &Tool{program: program, options: options}
}

// Where returns the path of the program.
func (t *Tool) Where() string { return t.program.Where() }

// Take returns what the runs since the last call used together.
func (t *Tool) Take() Usage {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	total := t.total
	t.total = Usage{}
	return total
}

// Run implements runner.Commander.
func (t *Tool) Run(ctx context.Context, command runner.Command) (exit runner.Exit, err error) {
	meter := &meter{cores: t.options.Cores}
	group, reason := cgroup.New(cgroup.Limits{Memory: t.options.Memory, Cores: t.options.Cores})
	if reason == nil {
		meter.group = group
		defer func() { err = errors.Join(err, group.Close()) }()
	}
	before := observe(t.options.Cores)
	exit, err = t.program.Measured(meter).Run(ctx, command)
	usage, counted := meter.usage(reason)
	usage.Wall = exit.Elapsed
	usage.Interference = before.interference(observe(t.options.Cores), usage.CPU)
	usage.Interference.Throttled = usage.Interference.Throttled || meter.throttled
	if usage.OutOfMemory && exit.Cause != runner.Cancelled {
		exit.Cause = runner.OutOfMemory
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.total.add(&usage)
	return exit, errors.Join(err, counted)
}

// meter counts what one run uses.
type meter struct {
	group     *cgroup.Group // nil: none could be made
	poll      *poll         // without a group
	cores     []int
	state     *os.ProcessState
	throttled bool
}

// Enter implements local.Meter.
func (m *meter) Enter(attributes *syscall.SysProcAttr) (leave func() error, err error) {
	if m.group == nil {
		return cgroup.Pin(m.cores)
	}
	return m.group.Enter(attributes)
}

// Started implements local.Meter.
func (m *meter) Started(process *os.Process) {
	if m.group == nil {
		m.poll = startPoll(process.Pid)
	}
}

// Kill implements local.Meter.
func (m *meter) Kill() error {
	if m.group == nil {
		return nil
	}
	return m.group.Kill()
}

// Ended implements local.Meter.
func (m *meter) Ended(state *os.ProcessState) { m.state = state }

// usage returns the counts after the run. reason says why there is no group.
func (m *meter) usage(reason error) (Usage, error) {
	if m.group == nil {
		return m.waitedUsage(reason), nil
	}
	counts, err := m.group.Usage()
	if err != nil {
		return Usage{}, err
	}
	m.throttled = counts.Throttled > 0
	return Usage{
		Method: m.group.Version(), CPU: counts.CPU, User: counts.User, System: counts.System,
		PeakMemory: counts.PeakMemory, OutOfMemory: counts.OutOfMemory,
	}, nil
}

// waitedUsage returns the counts of the processes that were waited for, and the memory that was seen of all.
func (m *meter) waitedUsage(reason error) Usage {
	out := Usage{Method: "rusage", Reason: reason.Error()}
	if m.state != nil {
		out.User, out.System = m.state.UserTime(), m.state.SystemTime()
		out.CPU = out.User + out.System
		out.PeakMemory = largestProcess(m.state)
	}
	if m.poll != nil {
		out.PeakMemory = max(out.PeakMemory, m.poll.end())
	}
	return out
}
