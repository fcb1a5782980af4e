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

// Where the kernel counts the processes that it killed for memory: cgroup
// version 2, and 1. The files exist in every container of the one or the other.
//
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
const (
	counterV2 = "/sys/fs/cgroup/memory.events"
	counterV1 = "/sys/fs/cgroup/memory/memory.oom_control"
)

// watch waits for the engine's word that the system killed for memory, until ctx
// ends. The word may come a while after the run that it is about.
func (c *Container) watch(ctx context.Context, id string) {
	told := c.docker.client.Events(ctx, client.EventsListOptions{
		Filters: make(client.Filters).Add("container", id).Add("event", string(events.ActionOOM)),
	})
	go func() {
		select {
		case <-told.Messages:
			close(c.oom)
		case <-told.Err:
		}
	}()
}

// outOfMemory reports whether the system killed for memory in the container. It
// asks the kernel, which knows at once. Where the container has ended it waits
// for the engine's word, because the exit status of 137 alone may be anybody's.
func (c *Container) outOfMemory(ctx context.Context) bool {
	if killed, err := c.countKilled(ctx); err == nil {
		return killed > 0
	}
	select {
	case <-c.oom:
		return true
	case <-time.After(settle):
		return false
	}
}

// wasOutOfMemory reports what the engine has told so far.
func (c *Container) wasOutOfMemory() bool {
	select {
	case <-c.oom:
		return true
	default:
		return false
	}
}

// countKilled asks the kernel how many processes it killed for memory.
func (c *Container) countKilled(ctx context.Context) (int, error) {
	exec, err := c.docker.client.ExecCreate(ctx, c.GetContainerID(), client.ExecCreateOptions{
		Cmd: []string{"cat", counterV2, counterV1}, AttachStdout: true, // one of them is not there
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

// killedCount finds the counter in the text of its file.
func killedCount(text string) (int, error) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "oom_kill" {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, errors.New("the kernel does not count")
}
