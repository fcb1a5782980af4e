package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tilecheck/runner"
)

// Conversation is a running program that answers questions. A question is a line on its standard input, an answer is a line on its standard output.
// Only one goroutine at a time may use it.
type Conversation struct {
	ctx       context.Context
	cancel    context.CancelFunc
	in        *os.File
	answers   chan string // closed when there are no more
	stderr    lastLine
	toolEnded chan struct{} // closed when the program has ended; then exit and err are set
	exit      runner.Exit
	err       error
}

const (
	// maxAnswer is the length of the longest answer, in bytes.
	maxAnswer = 1 << 16
	// closeDelay is how long a program may take to end after its standard input was closed.
	closeDelay = 300 * time.Millisecond
)

// Converse starts the tool for a conversation, in the directory of In or else in the current directory. The tool and its child processes end when the
// context ends, or with Close.
func (t *Tool) Converse(ctx context.Context, args []string) (*Conversation, error) {
	inputReader, inputWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if t.dir == "" {
		t = t.In(".", t.env...)
	}
	conversation := &Conversation{ctx: ctx, in: inputWriter, answers: make(chan string), toolEnded: make(chan struct{})}
	toolContext, cancel := context.WithCancel(ctx)
	conversation.cancel = cancel
	outputReader, outputWriter := io.Pipe()
	go conversation.readAnswers(toolContext, outputReader)
	go func() {
		defer close(conversation.toolEnded)
		conversation.exit, conversation.err = t.start(toolContext, runner.Command{Args: args, Stdout: outputWriter, Stderr: &conversation.stderr}, inputReader)
		err := errors.Join(inputReader.Close(), outputWriter.Close())
		if conversation.err == nil {
			conversation.err = err
		}
	}()
	return conversation, nil
}

// readAnswers sends the output lines of the program to the channel answers, until the program or the context ends.
func (c *Conversation) readAnswers(ctx context.Context, r *io.PipeReader) {
	defer close(c.answers)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		select {
		case c.answers <- strings.TrimSuffix(lines.Text(), "\r"):
		case <-ctx.Done():
			r.CloseWithError(ctx.Err())
			return
		}
	}
	r.CloseWithError(fmt.Errorf("an answer is longer than %d bytes", maxAnswer))
}

// Tell writes a line for which the program writes no answer. The next Ask reports an error of writing.
func (c *Conversation) Tell(line string) { io.WriteString(c.in, line+"\n") }

// Ask writes a line to the program and returns the line that it answers. It returns an error if the context or the program ends, if there is no answer
// within the limit, or if the program has written a line before the question, because then answers and questions do not match.
func (c *Conversation) Ask(line string, limit time.Duration) (string, error) {
	select {
	case answer, isOpen := <-c.answers:
		if isOpen {
			return "", fmt.Errorf("found the line %q before %q was sent, want one line for each question", answer, line)
		}
	default:
	}
	c.in.SetWriteDeadline(time.Now().Add(limit))
	c.Tell(line)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case answer, isOpen := <-c.answers:
		if isOpen {
			return answer, nil
		}
		<-c.toolEnded
		return "", fmt.Errorf("sent %q: %w", line, c.ended())
	case <-c.ctx.Done():
		return "", c.ctx.Err()
	case <-timer.C:
		return "", fmt.Errorf("sent %q: no answer within %v%s", line, limit, c.stderr.note())
	}
}

// ended returns the error about a program that ended before it answered.
func (c *Conversation) ended() error {
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case c.err != nil:
		return c.err
	case c.exit.Cause == runner.Refused:
		return fmt.Errorf("an answer is longer than %d bytes", maxAnswer)
	}
	return fmt.Errorf("the program ended with exit code %d without an answer%s", c.exit.Code, c.stderr.note())
}

// Close closes the standard input of the program, so that the program ends by itself. After closeDelay it kills the program and its child processes.
// It returns when the program has ended.
func (c *Conversation) Close() error {
	err := c.in.Close()
	timer := time.NewTimer(closeDelay)
	defer timer.Stop()
	answers := c.answers
	for waiting := true; waiting; {
		select {
		case _, isOpen := <-answers: // ignore further lines
			if !isOpen {
				answers = nil
			}
		case <-c.toolEnded:
			waiting = false
		case <-timer.C:
			waiting = false
		}
	}
	c.cancel()
	<-c.toolEnded
	return err
}

// lastLine keeps the last line that was written to it.
type lastLine struct {
	mutex sync.Mutex
	text  []byte
}

// Write implements io.Writer. It keeps the end of the text.
func (l *lastLine) Write(data []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	const maxLength = 4096
	l.text = append(l.text, data...)
	if excess := len(l.text) - maxLength; excess > 0 {
		l.text = slices.Clone(l.text[excess:])
	}
	return len(data), nil
}

// note returns the last line for a message; it is empty if nothing was written.
func (l *lastLine) note() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	text := bytes.TrimSpace(l.text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("; its last words are %q", text)
}
