package containers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// victim is the image that a process of this test uses that is killed.
const victim = "TILECHECK_TEST_VICTIM"

// beVictim starts a run that does not end and says which session it belongs to.
func beVictim() {
	ctx := context.Background()
	d, err := Connect(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := NewPool(ctx, d, Options{Tool: fake(), Image: os.Getenv(victim)})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := command("say", d.session.id+"\n", "sleep", "1h")
	c.Limits.Time = time.Hour
	c.Stdout = os.Stdout
	_, err = p.Run(ctx, c)
	fmt.Println(err)
}

// TestProcessKilled kills a process that has a container without a chance to
// remove it, and without Ryuk: the container goes all the same.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), victim+"="+l.image, "TESTCONTAINERS_RYUK_DISABLED=true")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || len(l.ids(t, lines.Text())) != 1 {
		t.Fatalf("no container of session %q", lines.Text())
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	for until := time.Now().Add(time.Minute); len(l.ids(t, lines.Text())) > 0; time.Sleep(pollEvery) {
		if time.Now().After(until) {
			t.Fatal("the container is still there a minute later")
		}
	}
}
