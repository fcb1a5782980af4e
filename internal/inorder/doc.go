// Package inorder runs numbered jobs on several goroutines and delivers their
// results in the order of the numbers, so that a result
// that is computed from them does not depend on the number of goroutines.
//
//	err := inorder.Run(ctx, inorder.Jobs[float64]{
//		End:   1000,
//		Start: func(context.Context) (inorder.Worker[float64], error) { return newWorker() },
//		Take:  func(i int64, x *float64) bool { sum += *x; return true },
//	})
//
// Workers take batches of consecutive jobs, whose size grows if the jobs are quick. A result
// waits in memory until all earlier ones are delivered, and a worker that is too far ahead
// waits for the slowest.
//
// The package draws no random numbers. A job that needs some derives its
// random stream from its number.
package inorder
