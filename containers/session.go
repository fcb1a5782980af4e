package containers

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/client"
)

// Labels of the containers and images of this program. Containers also have the
// labels of testcontainers-go, which Ryuk needs.
const (
	// LabelProject is on everything that this program made.
	LabelProject = "tilecheck"
	// LabelSession identifies the process run that a container belongs to.
	LabelSession = "tilecheck.session"
	// LabelOwner is the process of that run: host, process ID and start time.
	LabelOwner = "tilecheck.owner"
	// LabelTool is the tool that a container runs or an image contains.
	LabelTool = "tilecheck.tool"
	// LabelVersion is the version of the tool in an image, as the tool prints it.
	LabelVersion = "tilecheck.version"
)

// session is one run of the program.
type session struct{ id, owner string }

// newSession returns the session of this process, with a random ID.
func newSession() session {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	pid := os.Getpid()
	return session{id: rand.Text(), owner: fmt.Sprintf("%s/%d/%s", host, pid, processStart(pid))}
}

// labels returns the labels of a container that runs the tool.
func (s session) labels(tool string) map[string]string {
	return map[string]string{LabelProject: "true", LabelSession: s.id, LabelOwner: s.owner, LabelTool: tool}
}

// processStart returns the start time of a process in the kernel's clock ticks since
// boot, which distinguishes it from a later process with the same ID. It is empty if
// the process is gone or the system has no /proc.
func processStart(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// Field 2, the name of the program, is in parentheses and may contain anything.
	// proc_pid_stat(5) counts fields from 1; the start time is field 22.
	const startTime = 22 - 3
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > startTime {
		return fields[startTime]
	}
	return ""
}

// processEnded reports whether the process of an owner label has certainly ended.
// For a process on another host, or without a start time, it returns false.
func processEnded(owner string) bool {
	parts := strings.Split(owner, "/")
	host, err := os.Hostname()
	if err != nil || len(parts) != 3 || parts[0] != host || parts[2] == "" {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && processStart(pid) != parts[2]
}

// Leftover is an existing container with our labels.
type Leftover struct {
	ID, Image, Tool, Session, State string
	Created                         time.Time
	Dead                            bool // its process has ended
}

// Leftovers returns the existing containers with the labels of this program, from all sessions.
func (d *Docker) Leftovers(ctx context.Context) ([]Leftover, error) {
	found, err := d.client.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", LabelSession)})
	if err != nil {
		return nil, classify("list containers", err)
	}
	var all []Leftover
	for _, container := range found.Items {
		all = append(all, Leftover{
			ID: container.ID, Image: container.Image, Tool: container.Labels[LabelTool], Session: container.Labels[LabelSession],
			State: string(container.State), Created: time.Unix(container.Created, 0), Dead: processEnded(container.Labels[LabelOwner]),
		})
	}
	return all, nil
}

// Sweep removes the containers of sessions whose process has ended. If all is true, it removes the containers of all sessions, also running ones. It
// returns the removed containers, also with an error.
func (d *Docker) Sweep(ctx context.Context, all bool) ([]Leftover, error) {
	found, err := d.Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	var swept []Leftover
	var errs []error
	for _, container := range found {
		if !all && !container.Dead {
			continue
		}
		if err := d.remove(ctx, container.ID); err != nil {
			errs = append(errs, classify("remove container "+container.ID[:12], err))
			continue
		}
		swept = append(swept, container)
	}
	return swept, errors.Join(errs...)
}
