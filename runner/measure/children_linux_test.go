package measure

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/runner"
)

// burnVariable is the environment variable that makes the test program compute, as the program that is measured.
const burnVariable = "TILECHECK_TEST_BURN"

func TestMain(m *testing.M) {
	switch os.Getenv(burnVariable) {
	case "":
		os.Exit(m.Run())
	case "parent":
		burnInChildren()
	case "child":
		burn()
	}
}

// burnTime is the CPU time that each of the three children uses.
const burnTime = 4 * time.Second

// burn computes until this process has used burnTime.
func burn() {
	for used(syscall.RUSAGE_SELF) < burnTime {
		for x := uint64(1); x%(1<<20) != 0; x++ {
		}
	}
}

// burnInChildren starts three processes that compute at the same time, and prints the CPU time that the kernel reports for this process and for them.
func burnInChildren() {
	var children []*exec.Cmd
	for range 3 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), burnVariable+"=child")
		if err := child.Start(); err != nil {
			fail(err)
		}
		children = append(children, child)
	}
	for _, child := range children {
		if err := child.Wait(); err != nil {
			fail(err)
		}
	}
	fmt.Fprintln(os.Stderr, int64(used(syscall.RUSAGE_SELF)+used(syscall.RUSAGE_CHILDREN)))
}

// fail ends the program that is measured.
func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// used returns the CPU time of this process, or of its children that have ended.
func used(who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		fail(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestTimeOfChildren compares the CPU time of a control group with two other counts, for a program that computes in three children for 12 seconds: with
// that of getrusage, in microseconds, and with that of /usr/bin/time, if it is installed, in hundredths of a second.
func TestTimeOfChildren(t *testing.T) {
	needs.Full(t)
	name, args := os.Args[0], []string(nil)
	timer, err := exec.LookPath("/usr/bin/time")
	isTimed := err == nil
	if isTimed {
		name, args = timer, []string{"-f", "%U %S", os.Args[0]}
	}
	tool := grouped(t, name, Options{}, burnVariable+"=parent")
	exit, text := runWith(t, tool, args, runner.Limits{})
	var rusage int64
	var user, system float64
	if _, err := fmt.Sscan(text, &rusage, &user, &system); exit.Code != 0 || err != nil && isTimed {
		t.Fatalf("exit code %d, %v in %q", exit.Code, err, text)
	}
	usage := tool.TakeUsage()
	compare := func(counter string, want float64) {
		if got := usage.CPU.Seconds(); want < 0.99*3*burnTime.Seconds() || !within(got, want) {
			t.Errorf("%s: %.3f seconds, want the %.3f of %s within 1 %%", usage.Method, got, want, counter)
		}
		t.Logf("%s: %v, %s has %.3f s, %+.3f %%", usage.Method, usage.CPU, counter, want, 100*(usage.CPU.Seconds()/want-1))
	}
	compare("getrusage", time.Duration(rusage).Seconds())
	if isTimed {
		compare("/usr/bin/time", user+system)
	}
}
