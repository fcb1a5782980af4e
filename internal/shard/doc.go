// Package shard splits numbered work over processes and puts it together again.
//
// Work that splits is a stream of jobs with numbers: the samples of a property,
// the games of a strategy, the runs of a suite. A process that does one [Part]
// records what it found of each stream in a [Ledger], and writes that to a file
// ([Ledger.Write]). Another process reads the files of all parts ([Read], [Join])
// and runs the same command again, on a ledger that has the answers: where the
// first ones drew samples it takes those that were drawn. So what a merge prints
// is computed by the code of a single process, from the same numbers.
//
// Streams are of two kinds. Of one whose length is known beforehand, a part owns
// one range ([Part.Range]). Of one that the samples themselves end, a part owns a
// block ([Part.Block]), and there may be more parts than were planned: part I of N
// goes on with the blocks behind N. What ends such a stream is decided on the
// longest prefix of the numbers alone, never on who finished first: paths that end
// early are finished early, and tend to be of one kind.
//
// Source: Bulychev, David, Larsen, Legay, Mikučionis and Poulsen, Checking and
// Distributing Statistical Model Checking, NFM 2012 (the bias of unordered samples);
// Younes, Ymer: a statistical model checker, CAV 2005.
//
// The package does not know what a sample is, and draws none.
package shard
