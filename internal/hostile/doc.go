// Package hostile makes models that are unpleasant for a model checker, and knows
// their answers. It is for tests only.
//
//	m := hostile.New(seed, i)
//	m.Text                // in PRISM's language
//	for _, q := range m.Queries(8) { q.Text; q.Want }
//
// A model is made as fractions first and written afterwards: its probabilities,
// rates, rewards and guards as expressions whose value with real numbers is known
// because of how they were put together, and whose value with doubles is wrong:
// 1e-17, 1e-400, 0.1+0.2, (v+1e16)-1e16, a reward of 1.7e308, floor(0.29*100).
//
// Answers come from the fractions, by the plainest means there are: elimination
// over big.Rat, all memoryless schedulers one by one, matrix exponentials with 512
// bits. The package imports nothing of this module, so that it can judge all of it.
package hostile
