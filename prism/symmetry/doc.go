// Package symmetry finds modules of a program that are interchangeable: if the states of two of them are swapped, nothing changes
// that a property can tell. The states of a model that differ only by the order of such modules then have the same value, and one
// of them stands for all.
//
//	classes := symmetry.Find(program, property.X)   // for example the processes of a mutual exclusion protocol
//
// Find compares the texts of commands, rewards and formulas. It finds the modules that renaming makes. FindPermutations finds
// permutations of variables within modules, such as the rotations of a ring of variables.
//
// Source: Kwiatkowska, Norman and Parker, Symmetry reduction for probabilistic model checking, CAV 2006.
package symmetry
