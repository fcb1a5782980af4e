//go:build unix

package compile

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process, which other processes on a
// busy machine disturb less than the time of day.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
