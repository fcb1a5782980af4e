// Package measure runs tools on this machine and says what each run used: processor time, wall time and peak memory of
// all of its processes together, on given cores and within given limits, and what disturbed the measurement.
//
//	tool := measure.New(program, measure.Options{Cores: []int{1}, Memory: 4 << 30})
//	exit, err := tool.Run(ctx, command)
//	usage := tool.Take()
//
// Control groups count, where this process may make some (see [tilecheck/internal/cgroup]). Elsewhere the time is the kernel's
// count of the processes that were waited for. The memory is then the largest that was seen of all processes together in looks
// every 20 ms on Linux, or the peak of the largest process if that is more. The usage says who counted.
package measure
