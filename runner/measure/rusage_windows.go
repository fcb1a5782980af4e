package measure

import "os"

// largestProcess returns 0: the memory is unknown.
func largestProcess(*os.ProcessState) int64 { return 0 }
