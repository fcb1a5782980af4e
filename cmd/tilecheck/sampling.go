package main

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"tilecheck/runner"
	"tilecheck/stats"
)

// methodFlag chooses between the state space and sampling.
type methodFlag struct {
	Method method `help:"states (default): build the model. sim: sample paths; ci, aci, apmc, sprt: as in PRISM." placeholder:"METHOD"`
}

// method is the value of --method; empty if it is not given.
type method string

// UnmarshalText reads a method. Versions before 0.2.0 took exact for states.
func (m *method) UnmarshalText(text []byte) error {
	methods := []string{"states", "sim", "ci", "aci", "apmc", "sprt"}
	switch word := string(text); {
	case word == "exact":
		*m = "states"
	case slices.Contains(methods, word):
		*m = method(word)
	default:
		return fmt.Errorf("%q is no method, want one of %s", word, strings.Join(methods, ", "))
	}
	return nil
}

// workersFlag is for both methods.
type workersFlag struct {
	Workers int `rare:"" help:"Goroutines that draw samples or build the state space; the results do not depend on it (default: one per processor)." want:"[1,1024]" placeholder:"N"`
}

// samplingFlags are PRISM's -sim switches under shorter names. Pointers tell a
// flag that was given from its default, because which ones may be given
// together is part of their meaning.
type samplingFlags struct {
	Samples         *int64 `help:"Number of paths (default: 1000, or what --width needs)." placeholder:"N"`
	confidenceFlags `embed:""`
	Width           *float64 `help:"Half-width of the interval, such as 0.01; with ci and aci PRISM's, which is nominal (default: that of --samples)." placeholder:"W"`
	MaxPath         int64    `rare:"" help:"Steps after which a path is given up that has not decided the property." default:"10000" placeholder:"N"`
	MaxReward       float64  `rare:"" help:"Upper bound of the reward of a path: with it, rewards get a sound interval." placeholder:"R"`
	Seed            *uint64  `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
}

// confidenceFlags give the confidence of intervals.
type confidenceFlags struct {
	Confidence *float64 `help:"Confidence of the interval (default: 0.99)." want:"(0,1)" placeholder:"C"`
	Alpha      *float64 `hidden:"" help:"Former name: 1 - confidence." want:"[1e-15,1)"`
}

// given reports whether a confidence is given.
func (f confidenceFlags) given() bool { return f.Confidence != nil || f.Alpha != nil }

// confidence returns the confidence, or otherwise if none is given.
func (f confidenceFlags) confidence(otherwise float64) float64 {
	switch {
	case f.Confidence != nil:
		return *f.Confidence
	case f.Alpha != nil:
		return stats.Confidence(*f.Alpha)
	}
	return otherwise
}

// method returns the method asked for. The flags of the other one have no effect.
func (e *environment) method(m methodFlag, otherwise runner.Method) (runner.Method, error) {
	method := cmp.Or(runner.Method(m.Method), otherwise)
	return method, cmp.Or(
		e.refuseFlags(method == runner.States, "on the state space, want --method sim with it", "samples", "confidence", "alpha", "width", "max-path", "max-reward", "seed"),
		e.refuseFlags(method != runner.States, "on sampling, want --method states with it", "exact", "float", "epsilon", "max-states"),
	)
}

// simulation checks the flags and returns what they ask for. It draws a seed when none was given.
func (f samplingFlags) simulation(env *environment, method runner.Method, workers int) (runner.Simulation, error) {
	s := runner.Simulation{MaxPath: f.MaxPath, MaxReward: f.MaxReward, Workers: workers, Split: env.split}
	if f.Samples != nil && f.given() && f.Width != nil && method != runner.SPRT {
		return s, usageError("--samples, --confidence and --width are all given, want two of them: the third follows")
	}
	if f.Samples != nil {
		s.Samples = *f.Samples
	}
	s.Confidence = f.confidence(0)
	if f.Width != nil {
		if method == runner.APMC {
			s.Approximation = *f.Width
		} else {
			s.Width = *f.Width
			s.Valid = method == runner.Sim && f.Samples == nil
		}
	}
	var err error
	if method != runner.States {
		s.Seed, err = env.seedOr(f.Seed)
	}
	return s, err
}

// seedOr returns the given seed, or draws one that every reader of JSON keeps exactly.
func (e *environment) seedOr(given *uint64) (uint64, error) {
	switch {
	case given != nil:
		return *given, nil
	case e.split.Recording():
		return 0, usageError("--shard needs --seed: without one every shard draws another")
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) >> 11, nil
}
