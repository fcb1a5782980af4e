package main

import (
	"context"
	"io"
	"testing"

	"tilecheck/internal/ending"
)

// A question that nobody answers does not keep the program.
func TestQuestionEnds(t *testing.T) {
	ctx, end := ending.Ender(context.Background())
	in, out := io.Pipe()
	defer out.Close()
	env := &environment{system: system{stdin: in, stderr: io.Discard}}
	go end(&ending.Interrupt{Signal: "SIGTERM"})
	if _, err := env.readLine(ctx); err == nil || err.Error() != "interrupted by SIGTERM" {
		t.Errorf("%v, want the end of the wait", err)
	}
	in, answer := io.Pipe() // the question that nobody answered still reads the first one
	env = &environment{system: system{stdin: in, stderr: io.Discard}}
	go func() { _, _ = io.WriteString(answer, "y\n"); answer.Close() }()
	if got, err := env.readLine(context.Background()); got != "y\n" || err != nil {
		t.Errorf("%q, %v, want the answer", got, err)
	}
}
