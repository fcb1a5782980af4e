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

// Labels that everything of ours carries. The keys of testcontainers-go stand
// beside them, for Ryuk.
const (
	// LabelProject is on everything that this program made.
	LabelProject = "tilecheck"
	// LabelSession is the run of the program that a container belongs to.
	LabelSession = "tilecheck.session"
	// LabelOwner is the process it belongs to: host, process and when it started.
	LabelOwner = "tilecheck.owner"
	// LabelTool is the tool that a container runs or an image holds.
	LabelTool = "tilecheck.tool"
	// LabelVersion is the version of the tool of an image, from its own banner.
	LabelVersion = "tilecheck.version"
)

// session is one run of the program.
type session struct{ id, owner string }

func newSession() session {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	pid := os.Getpid()
	return session{id: rand.Text(), owner: fmt.Sprintf("%s/%d/%s", host, pid, started(pid))}
}

func (s session) labels(tool string) map[string]string {
	return map[string]string{LabelProject: "true", LabelSession: s.id, LabelOwner: s.owner, LabelTool: tool}
}

// started is when a process started, in the kernel's clock ticks since boot, and
// tells it apart from a later one of the same number. It is empty where the
// system does not say or the process is gone.
func started(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the program, field 2, is in parentheses and may contain
	// anything; proc_pid_stat(5) counts from 1 and has the start in field 22.
	const startTime = 22 - 3
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > startTime {
		return fields[startTime]
	}
	return ""
}

// dead reports whether the process of an owner label has ended. Of a process
// on another host, or one that the system says nothing of, it knows nothing.
func dead(owner string) bool {
	parts := strings.Split(owner, "/")
	host, err := os.Hostname()
	if err != nil || len(parts) != 3 || parts[0] != host || parts[2] == "" {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && started(pid) != parts[2]
}

// Leftover is a container of ours that exists.
type Leftover struct {
	ID, Image, Tool, Session, State string
	Created                         time.Time
	Dead                            bool // its process has ended
}

// Leftovers lists the containers of ours, of every session.
func (d *Docker) Leftovers(ctx context.Context) ([]Leftover, error) {
	found, err := d.client.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", LabelSession)})
	if err != nil {
		return nil, classify("list containers", err)
	}
	var all []Leftover
	for _, c := range found.Items {
		all = append(all, Leftover{
			ID: c.ID, Image: c.Image, Tool: c.Labels[LabelTool], Session: c.Labels[LabelSession],
			State: string(c.State), Created: time.Unix(c.Created, 0), Dead: dead(c.Labels[LabelOwner]),
		})
	}
	return all, nil
}

// Sweep removes the containers of sessions whose process has ended without
// doing so, and with all those of every session, running ones included. It
// returns what it removed, also beside an error.
func (d *Docker) Sweep(ctx context.Context, all bool) ([]Leftover, error) {
	found, err := d.Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	var swept []Leftover
	var errs []error
	for _, c := range found {
		if !all && !c.Dead {
			continue
		}
		if err := d.remove(ctx, c.ID); err != nil {
			errs = append(errs, classify("remove container "+c.ID[:12], err))
			continue
		}
		swept = append(swept, c)
	}
	return swept, errors.Join(errs...)
}
