//go:build !unix

package compile

import (
	"testing"
	"time"
)

// cpuTime is not known here.
func cpuTime(*testing.B) time.Duration { return 0 }
