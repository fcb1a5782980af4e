//go:build unix

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// converse starts a shell with a script, which first writes its process id to the returned file.
func converse(t *testing.T, ctx context.Context, script string) (c *Conversation, pid string) {
	t.Helper()
	tool, err := New("sh")
	if err != nil {
		t.Fatal(err)
	}
	pid = filepath.Join(t.TempDir(), "pid")
	c, err = tool.In(t.TempDir(), "PID="+pid).Converse(ctx, []string{"-c", "echo $$ >$PID; " + script})
	if err != nil {
		t.Fatal(err)
	}
	return c, pid
}

// gone fails unless the process of a file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// A busy system takes a moment to end a process that was killed and is not our child.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		zombie := strings.Contains(string(stat), ") Z ") // it has ended, and nobody has asked yet how
		err := syscall.Kill(pid, 0)
		if errors.Is(err, syscall.ESRCH) || zombie {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there: %v", pid, err)
		}
	}
}

func TestConversation(t *testing.T) {
	const long = time.Minute
	c, pid := converse(t, t.Context(), `read hello; while read a b; do echo "got $b"; done`)
	c.Tell("hello")
	for _, word := range []string{"one", "two"} {
		if got, err := c.Ask("say "+word, long); got != "got "+word || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	gone(t, pid)

	for name, test := range map[string]struct {
		script string
		limit  time.Duration
		want   string
	}{
		"crash":  {`read a; echo oh >&2; echo no >&2; exit 3`, long, `sent "x": the program ended with exit code 3 without an answer; its last words are "no"`},
		"signal": {`read a; kill -9 $$`, long, `sent "x": the program ended with exit code 137 without an answer`},
		"slow":   {`echo wait >&2; while :; do sleep 1; done`, 200 * time.Millisecond, `sent "x": no answer within 200ms; its last words are "wait"`},
		"deaf":   {`trap "" TERM; while :; do sleep 1; done`, 200 * time.Millisecond, `sent "x": no answer within 200ms`},
		"flood":  {`head -c 100000 /dev/zero; sleep 100`, long, `sent "x": an answer is longer than 65536 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			c, pid := converse(t, t.Context(), test.script)
			if _, err := c.Ask("x", test.limit); err == nil || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
			c.Close()
			gone(t, pid)
		})
	}
}

// TestConversationEndsWithItsContext also ends what the program has started.
func TestConversationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, pid := converse(t, ctx, `sleep 1000 & echo $! >$PID; read a; wait`)
	go func() {
		for {
			if text, err := os.ReadFile(pid); err == nil && len(text) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := c.Ask("x", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the error of the context", err)
	}
	c.Close()
	gone(t, pid)
}

// TestAnswersNobodyAskedFor: a second line for one question is no answer to the next one.
func TestAnswersNobodyAskedFor(t *testing.T) {
	c, _ := converse(t, t.Context(), "while read question; do echo left; echo right; done")
	defer c.Close()
	for range 100 {
		answer, err := c.Ask("board", 10*time.Second)
		if err != nil {
			if !strings.Contains(err.Error(), `before "board" was sent`) {
				t.Error(err)
			}
			return
		}
		if answer == "" {
			t.Fatal("an empty answer")
		}
		time.Sleep(10 * time.Millisecond) // the second line arrives
	}
	t.Error("100 answers, want an error about the second line")
}

// TestProgramThatDoesNotRead: the pipe to the program is full at some time, and Ask ends within its limit.
func TestProgramThatDoesNotRead(t *testing.T) {
	c, _ := converse(t, t.Context(), "sleep 60")
	defer c.Close()
	if _, err := c.Ask(strings.Repeat("x", 1<<20), 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("%v, want no answer", err)
	}
}

// TestLastAnswer: the answer of a program that ends with it is not lost.
func TestLastAnswer(t *testing.T) {
	for range 20 {
		c, _ := converse(t, t.Context(), "read question; echo left")
		if answer, err := c.Ask("board", 10*time.Second); answer != "left" || err != nil {
			t.Errorf("%q, %v, want left", answer, err)
		}
		c.Close()
	}
}
