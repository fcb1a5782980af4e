package ending

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

type key struct{}

// A limit that is over when it is set has ended its context at once.
func TestShortestLimit(t *testing.T) {
	for range 1000 {
		ctx, cancel := After(context.Background(), 1)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Fatalf("%v, want the end", ctx.Err())
		}
		cancel()
	}
}

// Every context that is derived from one of this package says why it ended, and
// is still what package context promises.
func TestErrSaysWhy(t *testing.T) {
	root, end := Ender(context.Background())
	derived, cancel := context.WithCancel(context.WithValue(root, key{}, 2))
	defer cancel()
	late, cancelLate := context.WithTimeout(derived, time.Hour)
	defer cancelLate()
	limited, cancelLimited := After(late, time.Hour)
	defer cancelLimited()
	if _, ok := limited.Deadline(); !ok {
		t.Error("a limited context has no deadline")
	}
	end(&Interrupt{"SIGHUP"})
	end(errors.New("a second reason"))
	for i, ctx := range []context.Context{root, derived, late, limited} {
		<-ctx.Done()
		err := ctx.Err()
		if err.Error() != "interrupted by SIGHUP" || !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("context %d: %v", i, err)
		}
	}
	again, cancelAgain := After(limited, time.Hour)
	defer cancelAgain()
	if err := again.Err(); err == nil || err.Error() != "interrupted by SIGHUP" {
		t.Errorf("a context of an ended one: %v", err)
	}
}

func TestLimit(t *testing.T) {
	root, end := Ender(context.Background())
	defer end(nil)
	ctx, cancel := After(root, 1500*time.Microsecond)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	<-child.Done()
	wrapped := fmt.Errorf("%w after 3 states", child.Err())
	if Reason(wrapped) != "time limit of 1.5ms reached after 3 states" || !errors.Is(wrapped, context.DeadlineExceeded) || !Requested(wrapped) {
		t.Errorf("%v", wrapped)
	}
	if root.Err() != nil {
		t.Errorf("the parent ended: %v", root.Err())
	}
	if got := Reason(context.Canceled); got != "interrupted" {
		t.Errorf("a foreign end is %q", got)
	}
	given, up := After(root, time.Hour)
	up()
	if err := given.Err(); err != context.Canceled || Requested(err) {
		t.Errorf("a limit that was given up: %v", err)
	}
}

func TestOnExit(t *testing.T) {
	ctx, clean := Keep(context.Background())
	got := ""
	OnExit(ctx, func() { got += "a" })
	OnExit(ctx, func() { got += "b" })()
	OnExit(ctx, func() { got += "c" })
	clean()
	OnExit(ctx, func() { got += "d" })
	clean()
	if got != "cad" {
		t.Errorf("%q, want cad", got)
	}
	OnExit(context.Background(), func() { t.Error("there is nobody to do it") })()
}
