package serve

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A question that waits for the work of another one says so, and that it has begun.
func TestWaiting(t *testing.T) {
	h := New(Options{Limits: Limits{Work: 1, Time: time.Minute}})
	h.work <- struct{}{} // the work of another question
	question := `{"model":"dtmc module m x:[0..1]; [] x<1 -> (x'=1); endmodule","props":"P=? [ F x=1 ];","select":[0]}`
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		h.Answer(context.WithoutCancel(t.Context()), "check", strings.NewReader(question), func(line []byte, _ Outcome) error { lines <- string(line); return nil })
	}()
	if got := <-lines; got != "{\"waiting\":true}\n" {
		t.Fatalf("the first line is %q", got)
	}
	<-h.work
	if got := <-lines; got != "{\"waiting\":false}\n" {
		t.Errorf("the second line is %q", got)
	}
	var last string
	for last = range lines {
	}
	if !strings.HasPrefix(last, `{"answer"`) {
		t.Errorf("the last line is %q", last)
	}
}
