// Package disk explores state spaces that are larger than memory, and keeps their states and transitions in a directory.
//
// The states are a sorted set of packed states (Set): the number of a state is its rank in this set. Exploration is breadth-first with
// delayed duplicate detection: the successors of a layer are sorted, and one pass over them and the known states finds those that are
// new. When all states are known, they are expanded once more, and their transitions become compressed columns (Columns), in chunks
// that are read sequentially.
//
// All work is done in a Directory. Each finished step is recorded in its manifest, so a process that is killed loses one step, and
// the next process gets the same files. Several processes can share the work in one directory (Team).
//
// Source: Korf, Delayed duplicate detection (IJCAI 2003); Stern and Dill, Using magnetic disk instead of main memory in the Murphi
// verifier (CAV 1998); Hartmanns and Hermanns, Explicit model checking of very large MDP using partitioning and secondary storage
// (ATVA 2015).
package disk
