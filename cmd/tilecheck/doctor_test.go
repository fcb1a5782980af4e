package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestVersionTimeout checks the error of a tool that does not print its version, and that an interrupt stays an interrupt.
func TestVersionTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waitForEnd := func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		if _, err := withVersionTimeout(t.Context(), waitForEnd); err == nil || err.Error() != "it did not print its version within 20s" {
			t.Errorf("a tool that hangs: %v", err)
		}
		interrupted, interrupt := context.WithCancel(t.Context())
		interrupt()
		if _, err := withVersionTimeout(interrupted, waitForEnd); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupt: %v", err)
		}
		version, err := withVersionTimeout(t.Context(), func(context.Context) (string, error) { return "4.10", nil })
		if version != "4.10" || err != nil {
			t.Errorf("version %q, %v", version, err)
		}
	})
}
