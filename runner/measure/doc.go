// Package measure runs tools on this machine and says what each run used: processor time, wall time and peak memory of
// all of its processes together, on given cores and within given limits, and what disturbed the measurement.
//
//	tool := measure.New(program, measure.Options{Cores: []int{1}, Memory: 4 << 30})
//	exit, err := tool.Run(ctx, command)
//	usage := tool.Take()
//
// Control groups count, where this process may make some (see [tilecheck/internal/cgroup]). Elsewhere the kernel's count of
// the processes that were waited for is taken, and the memory is that of the largest process: the usage says which.
package measure
