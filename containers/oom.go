package containers

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"
)

// The files in which the kernel counts the processes that it killed because memory
// ran out, for version 2 and version 1 of cgroups. Every container has one of them.
//
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
const (
	counterV2 = "/sys/fs/cgroup/memory.events"
	counterV1 = "/sys/fs/cgroup/memory/memory.oom_control"
)

// watchOOM closes c.oom when the engine reports that the kernel killed a process because memory ran out. It watches until ctx ends, because the
// engine may report after the run.
func (c *Container) watchOOM(ctx context.Context, id string) {
	notifications := c.docker.client.Events(ctx, client.EventsListOptions{
		Filters: make(client.Filters).Add("container", id).Add("event", string(events.ActionOOM)),
	})
	go func() {
		select {
		case <-notifications.Messages:
			close(c.oom)
		case <-notifications.Err:
		}
	}()
}

// outOfMemory reports whether the kernel killed a process in the container because
// memory ran out. It reads the kernel's counter. If the container has ended, it
// waits for the engine's report: exit status 137 alone can have other causes.
func (c *Container) outOfMemory(ctx context.Context) bool {
	if killed, err := c.countKilled(ctx); err == nil {
		return killed > 0
	}
	select {
	case <-c.oom:
		return true
	case <-time.After(settleTime):
		return false
	}
}

// wasOutOfMemory reports whether the engine has reported that memory ran out.
func (c *Container) wasOutOfMemory() bool {
	select {
	case <-c.oom:
		return true
	default:
		return false
	}
}

// countKilled returns the number of processes that the kernel killed because memory ran out. It reads the kernel's counter in the container.
func (c *Container) countKilled(ctx context.Context) (int, error) {
	exec, err := c.docker.client.ExecCreate(ctx, c.GetContainerID(), client.ExecCreateOptions{
		Cmd: []string{"cat", counterV2, counterV1}, AttachStdout: true, // only one of the files exists
	})
	if err != nil {
		return 0, err
	}
	attached, err := c.docker.client.ExecAttach(ctx, exec.ID, client.ExecAttachOptions{})
	if err != nil {
		return 0, err
	}
	defer attached.Close()
	if err := attached.Conn.SetReadDeadline(time.Now().Add(removeLimit)); err != nil {
		return 0, err
	}
	var text bytes.Buffer
	if err := demultiplex(&text, nil, attached.Reader); err != nil {
		return 0, err
	}
	return killedCount(text.String())
}

// killedCount parses the text of the kernel's file and returns its counter.
func killedCount(text string) (int, error) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "oom_kill" {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, errors.New("the kernel does not count")
}
