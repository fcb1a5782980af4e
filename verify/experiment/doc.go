// Package experiment checks one property on many models of the game 2048, one for each strategy and tile to reach, with one engine or several: the
// thesis's experiment, and others like it. It compares the results with the thesis's Table 3.6 where that has a number. For these cells there are
// two models: one with the rules of the game, and one with the two wrong updates that give the table.
//
//	e, err := experiment.New(experiment.Options{Board: board, Strategies: []string{"random"}, Max: []int{128}, Job: job})
//	out, err := e.Run(ctx, engines)
//	err = out.Comparison.Write(w, format, opt)
package experiment
