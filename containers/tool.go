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

// Tool describes how to run a tool in an image.
type Tool struct {
	// Name is the name of the tool in labels and messages.
	Name string
	// Program is the start of every command line, before the arguments of the run.
	Program []string
	// Env is added to the environment of the image.
	Env map[string]string
	// Memory returns arguments that keep the tool below the memory limit of its
	// container, in bytes, unless args set a limit; nil if there are none.
	Memory func(limit int64, args []string) []string
	// Missing returns advice for the case that the image is not on the machine.
	Missing func(image string) string
}

// argv returns the command line in the container. Three time limits follow each other: the tool's own limit, if its arguments set one; then
// timeout(1), after which the container can be used again; then the end of the container.
func (t Tool) argv(command runner.Command) []string {
	var argv []string
	if limit := command.Limits.Time; limit > 0 {
		argv = append(argv, "timeout", "-k", seconds(killAfter), seconds(limit+grace))
	}
	argv = append(argv, t.Program...)
	if t.Memory != nil && command.Limits.Memory > 0 {
		argv = append(argv, t.Memory(command.Limits.Memory, command.Args)...)
	}
	return append(argv, command.Args...)
}

// grace is the time after Limits.Time in which a tool can end by itself and report why.
const grace = 500 * time.Millisecond

// seconds returns a duration in the notation of timeout(1).
func seconds(duration time.Duration) string {
	return strconv.FormatFloat(duration.Seconds(), 'f', 3, 64) + "s"
}

const (
	// killAfter is the time between the two signals of timeout(1), TERM and KILL.
	killAfter = 250 * time.Millisecond
	// endAfter is the time after which the container is ended, if timeout(1) did not
	// end the tool.
	endAfter = killAfter + 200*time.Millisecond
	// workDir contains one folder for each run.
	workDir = "/work"
	// toolUser is the user and group that run every tool. The image need not know them.
	toolUser     = 65534
	maxProcesses = 512
	tmpBytes     = 256 << 20
)

// containerRequest returns the request for a container that idles (cat) and ends when
// its standard input is closed, so it cannot outlive this process. opts are applied
// before the isolation settings, so they cannot change those.
func containerRequest(tool Tool, image Image, limits runner.Limits, opts []testcontainers.ContainerCustomizer) (testcontainers.GenericContainerRequest, error) {
	request := testcontainers.GenericContainerRequest{ContainerRequest: testcontainers.ContainerRequest{Image: image.ID}}
	resources := testcontainers.WithHostConfigModifier(func(host *container.HostConfig) {
		host.Memory = limits.Memory
		host.NanoCPUs = int64(limits.CPUs * 1e9)
	})
	isolation := testcontainers.WithHostConfigModifier(func(host *container.HostConfig) {
		host.NetworkMode = "none"
		host.ReadonlyRootfs = true
		host.CapAdd, host.CapDrop = nil, []string{"ALL"}
		host.SecurityOpt = []string{"no-new-privileges"}
		host.Privileged = false
		host.MemorySwap = host.Memory // no swap on top
		host.PidsLimit = new(int64(maxProcesses))
		host.Ulimits = []*container.Ulimit{{Name: "core"}}
		host.LogConfig = container.LogConfig{Type: "none"}
		host.Tmpfs = map[string]string{"/tmp": fmt.Sprintf("rw,noexec,nosuid,nodev,size=%d,mode=1777", tmpBytes)}
		host.Mounts = []mount.Mount{{Type: mount.TypeVolume, Target: workDir}}
		host.AutoRemove = true
	})
	config := testcontainers.WithConfigModifier(func(config *container.Config) {
		config.User = fmt.Sprintf("%d:%d", toolUser, toolUser)
		config.Hostname = "localhost" // log4j looks up the host name, which fails without a network
		config.WorkingDir = workDir
		config.OpenStdin, config.StdinOnce = true, true
	})
	idle := testcontainers.CustomizeRequestOption(func(request *testcontainers.GenericContainerRequest) error {
		request.Entrypoint, request.Cmd = []string{"cat"}, nil
		return nil
	})
	for _, customizer := range append(append([]testcontainers.ContainerCustomizer{resources}, opts...), isolation, config, idle) {
		if err := customizer.Customize(&request); err != nil {
			return request, fmt.Errorf("container of %s: %w", tool.Name, err)
		}
	}
	return request, nil
}

// runDir returns the folder of the run with a number.
func runDir(number int) string { return path.Join(workDir, strconv.Itoa(number)) }
