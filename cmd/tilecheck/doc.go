// Command tilecheck is a bridge to the probabilistic model checkers PRISM and
// Storm and a verification harness with an engine of its own.
//
// This package wires flags to packages: it is the only place that prints,
// exits, or reads the environment. Results go to standard output, progress and
// warnings to standard error. The exit codes are listed in exit.go.
package main
