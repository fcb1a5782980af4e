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

// failure returns an error that says why nothing could be run.
func failure(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf(format, args...)}
}

// unreachable returns the failure for an engine that does not answer.
func unreachable(err error) *result.Failure {
	return failure("Docker does not answer (%v); start it (`systemctl start docker`, or Docker Desktop), or set DOCKER_HOST to where it is", err)
}

// noEngine is the failure if no engine is configured and none is found.
type noEngine struct{ *result.Failure }

// Unwrap returns the failure.
func (a noEngine) Unwrap() error { return a.Failure }

// Absent reports whether an error of Connect means that no engine is configured
// and that there is none at the usual places: no socket exists there. A socket that
// does not answer or may not be opened counts as an engine.
func Absent(err error) bool {
	_, ok := errors.AsType[noEngine](err)
	return ok
}

// noAnswer reports whether an error means that the engine did not answer. It returns false for an answer that reports an error.
func noAnswer(err error) bool {
	var network net.Error
	var errno syscall.Errno
	return client.IsErrConnectionFailed(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) || errors.As(err, &errno)
}

// classify converts an error of Docker's client to a failure that a user can act on. doing says what failed. It does not change nil or an error of
// the context.
func classify(doing string, err error) error {
	switch {
	case err == nil || isContext(err):
		return err
	case noAnswer(err):
		return unreachable(err)
	}
	if failure, ok := errors.AsType[*result.Failure](err); ok {
		return failure
	}
	return failure("%s: %v", doing, err)
}
