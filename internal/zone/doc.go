// Package zone has sets of clock valuations that constraints on clocks and on differences of clocks describe.
//
// A [Zone] is a nonempty convex set of clock valuations. It is stored as a difference bound matrix in canonical form: no bound can be
// tightened without losing valuations. So two zones are equal if their matrices are. A [Federation] is a finite union of zones.
//
// Clocks are numbered from 1 and are never negative; the reference clock 0 is always 0. A zone is immutable.
//
// Source: Bengtsson and Yi, Timed automata: semantics, algorithms and tools (LNCS 3098, 2004).
package zone
