// Package shard distributes numbered work over processes and merges the results.
//
// The work is a stream of numbered jobs: the samples of a property,
// the games of a strategy, the runs of a suite. A process that does one [Part]
// records the results of each stream in a [Ledger], and writes it to a file
// ([Ledger.Write]). Another process reads the files of all parts ([Read], [Join])
// and runs the same command again with a ledger that has the results: where the
// first processes drew samples, it reads the recorded ones. So the output of a merge
// is computed by the same code as that of a single process, from the same numbers.
//
// There are two kinds of streams. If the length is known beforehand, a part has
// one range ([Part.Range]). If the samples decide when the stream ends, a part has a
// block ([Part.Block]), and there may be more parts than planned: a part I of N
// with I > N has a later block. Whether such a stream ends is decided from the
// longest complete prefix of the numbers only, never from the results that arrive first: short paths
// arrive early, so these results would be biased.
//
// Source: Bulychev, David, Larsen, Legay, Mikučionis and Poulsen, Checking and
// Distributing Statistical Model Checking, NFM 2012 (the bias of unordered samples);
// Younes, Ymer: a statistical model checker, CAV 2005.
//
// The package draws no samples and does not interpret results.
package shard
