package containers

import (
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/testcontainers/testcontainers-go"

	"tilecheck/runner"
)

// Tool is how a tool is run in an image.
type Tool struct {
	// Name is the word for the tool in labels and messages.
	Name string
	// Program stands in front of the arguments of every run.
	Program []string
	// Env is set in addition to the environment of the image.
	Env map[string]string
	// Memory returns the arguments that keep the tool below a memory limit of its
	// container, in bytes, and that args do not already set; nil means that there
	// are none.
	Memory func(limit int64, args []string) []string
	// Missing says what to do when the image named is not there.
	Missing func(image string) string
}

// argv is the command that runs in the container. Three limits nest: the tool's
// own, if its arguments have one, timeout(1) a little later, which leaves the
// container to the next run, and the end of the container from outside.
func (t Tool) argv(c runner.Command) []string {
	var argv []string
	if limit := c.Limits.Time; limit > 0 {
		argv = append(argv, "timeout", "-k", seconds(killAfter), seconds(limit+grace))
	}
	argv = append(argv, t.Program...)
	if t.Memory != nil && c.Limits.Memory > 0 {
		argv = append(argv, t.Memory(c.Limits.Memory, c.Args)...)
	}
	return append(argv, c.Args...)
}

// grace is what a tool gets beyond its limit, to end by itself and say so.
const grace = 500 * time.Millisecond

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s"
}

const (
	// killAfter is how long a tool may take to end when its time is over.
	killAfter = 250 * time.Millisecond
	// endAfter is how much later the container is ended, if timeout(1) did not
	// end the tool.
	endAfter = killAfter + 200*time.Millisecond
	// workDir has one folder for each run.
	workDir = "/work"
	// nobody runs every tool; no image needs to know the user.
	nobody    = 65534
	processes = 512
	tmpBytes  = 256 << 20
)

// request describes a container that does nothing until it is told to, and ends
// when its standard input does: it cannot outlive the process that holds the
// other end. opts come first, so that they cannot take the walls down.
func request(tool Tool, image Image, limits runner.Limits, opts []testcontainers.ContainerCustomizer) (testcontainers.GenericContainerRequest, error) {
	req := testcontainers.GenericContainerRequest{ContainerRequest: testcontainers.ContainerRequest{Image: image.ID}}
	resources := testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
		h.Memory = limits.Memory
		h.NanoCPUs = int64(limits.CPUs * 1e9)
	})
	walls := testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
		h.NetworkMode = "none"
		h.ReadonlyRootfs = true
		h.CapAdd, h.CapDrop = nil, []string{"ALL"}
		h.SecurityOpt = []string{"no-new-privileges"}
		h.Privileged = false
		h.MemorySwap = h.Memory // no swap on top
		h.PidsLimit = new(int64(processes))
		h.Ulimits = []*container.Ulimit{{Name: "core"}}
		h.LogConfig = container.LogConfig{Type: "none"}
		h.Tmpfs = map[string]string{"/tmp": fmt.Sprintf("rw,noexec,nosuid,nodev,size=%d,mode=1777", tmpBytes)}
		h.Mounts = []mount.Mount{{Type: mount.TypeVolume, Target: workDir}}
		h.AutoRemove = true
	})
	config := testcontainers.WithConfigModifier(func(c *container.Config) {
		c.User = fmt.Sprintf("%d:%d", nobody, nobody)
		c.Hostname = "localhost" // what has no network still looks itself up (log4j)
		c.WorkingDir = workDir
		c.OpenStdin, c.StdinOnce = true, true
	})
	idle := testcontainers.CustomizeRequestOption(func(req *testcontainers.GenericContainerRequest) error {
		req.Entrypoint, req.Cmd = []string{"cat"}, nil
		return nil
	})
	for _, o := range append(append([]testcontainers.ContainerCustomizer{resources}, opts...), walls, config, idle) {
		if err := o.Customize(&req); err != nil {
			return req, fmt.Errorf("container of %s: %w", tool.Name, err)
		}
	}
	return req, nil
}

func runDir(n int) string { return path.Join(workDir, strconv.Itoa(n)) }
