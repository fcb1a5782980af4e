// Package external computes probabilities and expected rewards in state spaces that are larger than memory. The states, their transitions and the bounds of
// their values are in a directory (package native/space/disk); a block of consecutive states is in memory at a time.
//
// Lower bounds come from value iteration from 0, block by block: the rows of a block and the values of the targets of its states are read,
// a few Gauss-Seidel sweeps run over the block, and its new values are written. All reads and writes are sequential. When a pass over all
// blocks changes little, upper bounds are guessed slightly above the lower ones, and passes over them prove or correct the guess. An
// inductive upper bound is above the least solution, so end components are not needed. The states with the probability 0 or 1, or with an infinite reward,
// are found before, if sets of states fit in memory.
//
// Source: Edelkamp, Jabbar and Bonet, External memory value iteration (ICAPS 2007); Hartmanns and Kaminski, Optimistic value iteration
// (CAV 2020).
package external
