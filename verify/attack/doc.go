// Package attack tests the embedded engine with random models whose answers it computes by itself. Its oracles share no code with the engine: they
// compute fractions from the model's own data structure, which also prints the model's text. Every answer of every mode is compared with the oracle's.
// A mode is a way to ask for the same answers, such as bounds, fractions, certificates, a quotient, states on disk, or states that were exported and read back.
//
//	go test ./verify/attack                                     a fixed seed, for less than a second
//	go test ./verify/attack -seed 7 -duration 1h -v -timeout 2h as long as asked
//	go test ./verify/attack -seed 7 -number 123 -v              one model again, as an alarm names it
//	go test ./verify/attack -duration 5m -v -kind pta,infinite -mode default,exact   some kinds of models, in some modes
//
// The package has only tests.
package attack
