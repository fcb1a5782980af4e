package ending

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Interrupt is the reason when the user, or the system, wants the process to
// end. It is a context.Canceled.
type Interrupt struct{ Signal string } // such as SIGINT

// Error says what happened.
func (i *Interrupt) Error() string { return "interrupted by " + i.Signal }

// Is makes it a context.Canceled.
func (i *Interrupt) Is(target error) bool { return target == context.Canceled }

// Limit is the reason when a time limit is over. It is a context.DeadlineExceeded.
type Limit struct{ After time.Duration }

// Error says what happened.
func (l *Limit) Error() string { return fmt.Sprintf("time limit of %v reached", l.After) }

// Is makes it a context.DeadlineExceeded.
func (l *Limit) Is(target error) bool { return target == context.DeadlineExceeded }

// Memory is the reason when a process takes more memory than it may, in bytes. It is a
// context.DeadlineExceeded, as every limit.
type Memory struct{ Limit int64 }

// Error says what happened.
func (m *Memory) Error() string { return fmt.Sprintf("memory limit of %d MB reached", m.Limit>>20) }

// Is makes it a context.DeadlineExceeded.
func (m *Memory) Is(target error) bool { return target == context.DeadlineExceeded }

// Reason returns an error that ended a context in words: those of this package
// with what was put around them, or others for a context that is not its own.
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

// Requested reports whether an error comes from the user's signal or limit, and
// not from work that was given up for a reason of its own.
func Requested(err error) bool {
	_, interrupt := errors.AsType[*Interrupt](err)
	_, limit := errors.AsType[*Limit](err)
	_, memory := errors.AsType[*Memory](err)
	return interrupt || limit || memory
}

// reasoned is a context whose Err says why it ended. What it waits with is not
// among its values: contexts derived from it would see through to that one's error.
type reasoned struct {
	context.Context // the parent
	deadline        time.Time
	once            sync.Once
	err             atomic.Pointer[error]
	ended           context.Context
	release         func()      // ends ended
	forget          func() bool // the parent
}

func (r *reasoned) Done() <-chan struct{} { return r.ended.Done() }

func (r *reasoned) Err() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (r *reasoned) Deadline() (time.Time, bool) {
	at, ok := r.Context.Deadline()
	if !r.deadline.IsZero() && (!ok || r.deadline.Before(at)) {
		return r.deadline, true
	}
	return at, ok
}

// AfterFunc spares derived contexts a goroutine; see context.AfterFunc.
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

// Ender returns a context that ends with its parent, or with the reason that end
// is called with, whichever is first.
func Ender(parent context.Context) (ctx context.Context, end func(reason error)) {
	c := newReasoned(parent)
	return c, c.end
}

// After is context.WithTimeout with a *Limit for a reason. A limit of 0 is none.
func After(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(parent)
	}
	c := newReasoned(parent)
	c.deadline = time.Now().Add(limit)
	timer := time.AfterFunc(limit, func() { c.end(&Limit{limit}) })
	if time.Until(c.deadline) <= 0 { // nobody is to begin before the timer is heard
		c.end(&Limit{limit})
	}
	return c, func() {
		timer.Stop()
		c.end(context.Canceled)
	}
}
