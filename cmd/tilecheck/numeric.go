package main

import (
	"fmt"

	"github.com/docker/go-units"

	"tilecheck/internal/shard"
	"tilecheck/result"
	"tilecheck/runner"
)

// numericFlags say how the state space is built and its values are computed.
type numericFlags struct {
	Exact     bool      `help:"Compute in rational arithmetic: values are fractions."`
	Float     bool      `rare:"" help:"Stop when the values change by less than --epsilon (here 1e-6 by default), as PRISM and Storm do: the value has no bounds."`
	Epsilon   float64   `help:"Relative width of bounds (default: 1e-8)." want:"(0,0.1]" placeholder:"E"`
	MaxStates int       `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory    byteCount `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
}

// checkFlags are numericFlags with the flags of check for schedulers, POMDPs and quotients.
type checkFlags struct {
	numericFlags `embed:""`

	Fair    bool `rare:"" help:"Only fair schedulers: in a state that is visited infinitely often, they make each choice infinitely often."`
	Beliefs int  `rare:"" help:"Greatest number of beliefs of a POMDP to explore (default: 16384)." placeholder:"N"`
	Reduce  bool `rare:"" help:"Check each property on the quotient by bisimulation (native engine)."`

	Disk   string `help:"P and R with states on disk; a stopped run continues." placeholder:"DIR" file:"keep"`
	Worker string `rare:"" help:"Be process I of N that work together, all with the same --disk on a shared disk and the same --memory." placeholder:"I/N"`

	Symmetry bool `rare:"" help:"Explore one of the states that differ only by a permutation of modules or in values that are not read again; skip states between (native engine)."`

	Boxes bool `rare:"" help:"Explore boxes of states that behave in the same way, and store no steps between without a choice (DTMC, MDP; native engine)."`

	Compose bool `rare:"" help:"Compose and minimise the automata without variables of a Markov automaton in JANI, such as a fault tree (native engine)."`

	Clocks string `rare:"" help:"Clocks of a PTA are digital, zones or regions (default: digital where that is exact; native engine)." enum:",digital,regions,zones" default:"" placeholder:"METHOD"`
}

// numeric returns the settings of the numerical computation.
func (f checkFlags) numeric(workers int) (runner.Numeric, error) {
	settings, err := f.numericFlags.numericSettings(workers)
	if err == nil {
		settings.Process, err = f.process()
	}
	settings.Disk = f.Disk
	settings.Boxes = f.Boxes
	settings.Clocks = runner.ClockMethod(f.Clocks)
	settings.Fair, settings.Reduce, settings.Symmetry, settings.Compose, settings.Beliefs = f.Fair, f.Reduce, f.Symmetry, f.Compose, f.Beliefs
	return settings, err
}

// process returns the part of --worker, which is 2/3 for the second of three processes; without the flag, the zero value. It returns a usage error if the
// flags contradict each other.
func (f checkFlags) process() (process shard.Part, err error) {
	if f.Worker == "" {
		return process, nil
	}
	process, err = shard.Parse(f.Worker)
	switch {
	case err != nil || process.Index > process.Count:
		return process, usageError("--worker is %q, want the number of this process and the number of processes, such as 2/3", f.Worker)
	case f.Disk == "":
		return process, usageError("--worker is given without --disk, want the directory that all processes share")
	case f.Memory == 0:
		return process, usageError("--worker is given without --memory, want the same --memory in all processes")
	}
	return process, nil
}

// byteCount is an amount of memory.
type byteCount int64

// minMemory is the smallest limit of memory that is accepted: a smaller number has lost its unit.
const minMemory = 1 << 10

// UnmarshalText parses an amount of memory such as "512MB" or "4g".
func (b *byteCount) UnmarshalText(text []byte) error {
	bytes, err := units.RAMInBytes(string(text))
	if err != nil || bytes <= 0 {
		return fmt.Errorf("%q is not an amount of memory, want one such as 512MB or 4GB", text)
	}
	if bytes < minMemory {
		return fmt.Errorf("%q is less than 1 kB, want an amount such as 512MB or 4GB", text)
	}
	*b = byteCount(bytes)
	return nil
}

// numericSettings returns the settings of the numerical computation.
func (f numericFlags) numericSettings(workers int) (runner.Numeric, error) {
	settings := runner.Numeric{Epsilon: f.Epsilon, MaxStates: f.MaxStates, MaxMemory: int64(f.Memory), Workers: workers}
	switch {
	case f.Exact && f.Float:
		return settings, usageError("--exact and --float exclude each other")
	case f.Exact:
		settings.Accuracy = result.Exact
	case f.Float:
		settings.Accuracy = result.Float
	}
	return settings, nil
}
