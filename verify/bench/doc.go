// Package bench measures tools on cases: it runs every tool on every case a number of times, judges the answers as package
// regress does, and records what each run used. It also compares two sets of records.
//
// The embedded engine runs in a process of its own, so that it is measured in the same way as the other tools.
package bench
