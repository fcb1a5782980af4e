package containers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/moby/moby/client"

	"tilecheck/result"
)

// failure is a reason why nothing could be run.
func failure(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf(format, args...)}
}

// unreachable says that there is no engine to talk to.
func unreachable(err error) *result.Failure {
	return failure("Docker does not answer (%v); start it (`systemctl start docker`, or Docker Desktop), or set DOCKER_HOST to where it is", err)
}

// absent is what is said where no engine is named and none is found.
type absent struct{ *result.Failure }

// Unwrap returns what is said.
func (a absent) Unwrap() error { return a.Failure }

// Absent reports whether an error of Connect means that nobody named an engine
// and that there is none at the usual places: no socket, neither one that does not
// answer nor one that may not be opened.
func Absent(err error) bool {
	_, ok := errors.AsType[absent](err)
	return ok
}

// lost reports whether err means that nobody answered, unlike an answer that
// something is wrong.
func lost(err error) bool {
	var network net.Error
	var errno syscall.Errno
	return client.IsErrConnectionFailed(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) || errors.As(err, &errno)
}

// classify turns an error of the client into a failure that a user can act on.
// An error of the context stays what it is.
func classify(doing string, err error) error {
	switch {
	case err == nil || isContext(err):
		return err
	case lost(err):
		return unreachable(err)
	}
	if f, ok := errors.AsType[*result.Failure](err); ok {
		return f
	}
	return failure("%s: %v", doing, err)
}
