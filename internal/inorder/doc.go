// Package inorder does numbered jobs on several goroutines and hands their
// results over in the order of their numbers, so that nothing that is computed
// from them depends on the number of goroutines.
//
//	err := inorder.Run(ctx, inorder.Jobs[float64]{
//		End:   1000,
//		Start: func(context.Context) (inorder.Worker[float64], error) { return newWorker() },
//		Take:  func(i int64, x *float64) bool { sum += *x; return true },
//	})
//
// Workers take consecutive jobs, many at a time when these are quick. A result
// waits in memory for the ones before it, and a worker that is too far ahead
// waits for the slowest.
//
// The package draws no random numbers: a job that wants some derives their
// stream from its number.
package inorder
