// Package experiment asks one property of many models of the game 2048, one for each strategy and tile to reach, on one engine or several: the
// thesis's experiment, and others like it. The numbers of the thesis's Table 3.6 stand beside those that are about the same. Where it has numbers, there are
// two models of each: by the rules of the game, and with the two wrong updates that give the table.
//
//	e, err := experiment.New(experiment.Options{Board: board, Strategies: []string{"random"}, Max: []int{128}, Job: job})
//	out, err := e.Run(ctx, engines)
//	err = out.Comparison.Write(w, format, opt)
package experiment
