package ending

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Interrupt is the reason if the user, or the system, wants the process to end. errors.Is reports it as context.Canceled.
type Interrupt struct{ Signal string } // such as SIGINT

// Error says what happened.
func (i *Interrupt) Error() string { return "interrupted by " + i.Signal }

// Is makes it a context.Canceled.
func (i *Interrupt) Is(target error) bool { return target == context.Canceled }

// Limit is the reason if a time limit is reached. errors.Is reports it as context.DeadlineExceeded.
type Limit struct{ After time.Duration }

// Error says what happened.
func (l *Limit) Error() string { return fmt.Sprintf("time limit of %v reached", l.After) }

// Is makes it a context.DeadlineExceeded.
func (l *Limit) Is(target error) bool { return target == context.DeadlineExceeded }

// Memory is the reason if a process uses more memory than allowed, in bytes. Like every limit, errors.Is reports it as
// context.DeadlineExceeded.
type Memory struct{ Limit int64 }

// Error says what happened.
func (m *Memory) Error() string { return fmt.Sprintf("memory limit of %d MB reached", m.Limit>>20) }

// Is makes it a context.DeadlineExceeded.
func (m *Memory) Is(target error) bool { return target == context.DeadlineExceeded }

// Reason returns the message for an error that ended a context. Errors of this package keep the text that wraps them; others
// become "time limit reached" or "interrupted".
func Reason(err error) string {
	switch {
	case Requested(err):
		return err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "time limit reached"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return err.Error()
}

// Requested reports whether an error comes from a signal or a limit of the user, and not from work that was stopped for internal
// reasons.
func Requested(err error) bool {
	_, interrupt := errors.AsType[*Interrupt](err)
	_, limit := errors.AsType[*Limit](err)
	_, memory := errors.AsType[*Memory](err)
	return interrupt || limit || memory
}

// reasoned is a context whose Err is the reason of its end. ended is not among its values, because derived contexts would then
// find it and return its error.
type reasoned struct {
	context.Context // the parent
	deadline        time.Time
	once            sync.Once
	err             atomic.Pointer[error]
	ended           context.Context
	release         func()      // cancels ended
	forget          func() bool // stops waiting for the parent
}

func (r *reasoned) Done() <-chan struct{} { return r.ended.Done() }

func (r *reasoned) Err() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (r *reasoned) Deadline() (time.Time, bool) {
	deadline, ok := r.Context.Deadline()
	if !r.deadline.IsZero() && (!ok || r.deadline.Before(deadline)) {
		return r.deadline, true
	}
	return deadline, ok
}

// AfterFunc lets derived contexts work without a goroutine; see context.AfterFunc.
func (r *reasoned) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(r.ended, f) }

func (r *reasoned) end(err error) {
	r.once.Do(func() {
		r.err.Store(&err)
		r.release()
	})
	r.forget()
}

func newReasoned(parent context.Context) *reasoned {
	c := &reasoned{Context: parent, forget: func() bool { return true }}
	c.ended, c.release = context.WithCancel(context.Background())
	if err := parent.Err(); err != nil {
		c.end(err)
		return c
	}
	var ready sync.Mutex // forget is set before it is called
	ready.Lock()
	defer ready.Unlock()
	c.forget = context.AfterFunc(parent, func() {
		ready.Lock()
		defer ready.Unlock()
		c.end(parent.Err())
	})
	return c
}

// Ender returns a context that ends with its parent or when end is called. The error of whichever comes first is its Err.
func Ender(parent context.Context) (ctx context.Context, end func(reason error)) {
	c := newReasoned(parent)
	return c, c.end
}

// After is context.WithTimeout with a *Limit as the reason. A limit of 0 means no limit.
func After(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(parent)
	}
	c := newReasoned(parent)
	c.deadline = time.Now().Add(limit)
	timer := time.AfterFunc(limit, func() { c.end(&Limit{limit}) })
	if time.Until(c.deadline) <= 0 { // no work may start before the timer fires
		c.end(&Limit{limit})
	}
	return c, func() {
		timer.Stop()
		c.end(context.Canceled)
	}
}
