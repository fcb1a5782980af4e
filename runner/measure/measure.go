package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"tilecheck/internal/cgroup"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// Options say how runs are measured.
type Options struct {
	Cores  []int // the processors that the tool may use; all if empty
	Memory int64 // the limit in bytes; 0 for none
}

// Usage has the times and the memory that one or more runs used.
type Usage struct {
	// Method is the source of the numbers: "cgroup v2", "cgroup v1", or "rusage" if no control group could be made. It is empty if nothing ran.
	Method string
	// Reason says why no control group could be made.
	Reason            string
	CPU, User, System time.Duration
	Wall              time.Duration
	PeakMemory        int64 // bytes
	// OutOfMemory says that a process was killed because of the memory limit.
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

// TakeUsage returns the total usage of the runs since the last call.
func (t *Tool) TakeUsage() Usage {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	total := t.total
	t.total = Usage{}
	return total
}

// Run implements runner.Commander. It adds the usage of the run to the total that Take returns.
func (t *Tool) Run(ctx context.Context, command runner.Command) (exit runner.Exit, err error) {
	meter := &meter{cores: t.options.Cores}
	group, groupErr := cgroup.New(cgroup.Limits{Memory: t.options.Memory, Cores: t.options.Cores})
	if groupErr == nil {
		meter.group = group
		defer func() { err = errors.Join(err, group.Close()) }()
	}
	observedBefore := observe(t.options.Cores)
	exit, err = t.program.Measured(meter).Run(ctx, command)
	usage, usageErr := meter.usage(groupErr)
	usage.Wall = exit.Elapsed
	usage.Interference = observedBefore.interference(observe(t.options.Cores), usage.CPU)
	usage.Interference.Throttled = usage.Interference.Throttled || meter.throttled
	if usage.OutOfMemory && exit.Cause != runner.Cancelled {
		exit.Cause = runner.OutOfMemory
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.total.add(&usage)
	return exit, errors.Join(err, usageErr)
}

// meter measures the usage of one run.
type meter struct {
	group     *cgroup.Group // nil if none could be made
	poll      *poll         // reads the memory of all processes without a group
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

// usage returns the usage after the run. reason is the error if there is no control group.
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

// waitedUsage returns the usage that the system reports for the process and the descendants for which it waited. If the memory was polled, it is the
// memory of all processes together, else of the largest one.
func (m *meter) waitedUsage(reason error) Usage {
	usage := Usage{Method: "rusage", Reason: strings.ReplaceAll(reason.Error(), "\n", "; ")}
	if m.state != nil {
		usage.User, usage.System = m.state.UserTime(), m.state.SystemTime()
		usage.CPU = usage.User + usage.System
		usage.PeakMemory = largestProcess(m.state)
	}
	if m.poll != nil {
		usage.PeakMemory = max(usage.PeakMemory, m.poll.end())
	}
	return usage
}
