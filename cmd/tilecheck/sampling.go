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
	Method method `help:"states: the state space. Or sample: sim, ci, aci, apmc, sprt, splitting, restart. Default: ${methodDefault}." placeholder:"METHOD"`
}

// method is the value of --method; empty if it is not given.
type method string

// UnmarshalText parses the name of a method. It accepts "exact" for "states", because "exact" was its name before version 0.2.0.
func (m *method) UnmarshalText(text []byte) error {
	methods := []string{"states", "sim", "ci", "aci", "apmc", "sprt", "splitting", "restart"}
	switch word := string(text); {
	case word == "exact":
		*m = "states"
	case slices.Contains(methods, word):
		*m = method(word)
	default:
		return fmt.Errorf("%q is not a method, want one of %s", word, strings.Join(methods, ", "))
	}
	return nil
}

// workersFlag is the number of goroutines, for both methods.
type workersFlag struct {
	Workers int `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
}

// samplingFlags are PRISM's -sim switches under shorter names. Fields are
// pointers where nil, which means that the flag was not given, differs from the
// default: only some of the flags may be given together.
type samplingFlags struct {
	Samples         *int64 `help:"Number of paths (default: 1000, or what --width needs)." placeholder:"N"`
	confidenceFlags `embed:""`
	Width           *float64 `help:"Half-width of intervals; sprt: indifference region (0.05)." placeholder:"W"`
	MaxPath         int64    `rare:"" help:"Steps after which a path that has not decided the property is given up." default:"10000" placeholder:"N"`
	MaxReward       float64  `rare:"" help:"Bound of a path's absolute reward: with it, mean rewards get a valid interval." placeholder:"R"`
	Seed            *uint64  `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
}

// confidenceFlags give the confidence of intervals.
type confidenceFlags struct {
	Confidence *float64 `help:"Confidence of the interval (default: 0.99)." want:"(0,1)" placeholder:"C"`
	Alpha      *float64 `hidden:"" help:"Former name: 1 - confidence." want:"[1e-15,1)"`
}

// isConfidenceGiven reports whether the command line has a confidence.
func (f confidenceFlags) isConfidenceGiven() bool { return f.Confidence != nil || f.Alpha != nil }

// confidence returns the confidence that --confidence or --alpha sets, or else the default.
func (f confidenceFlags) confidence(defaultConfidence float64) float64 {
	switch {
	case f.Confidence != nil:
		return *f.Confidence
	case f.Alpha != nil:
		return stats.Confidence(*f.Alpha)
	}
	return defaultConfidence
}

// method returns the method that --method names, or else the default. It returns a usage error if another flag has no effect with this method.
func (e *environment) method(flag methodFlag, defaultMethod runner.Method) (runner.Method, error) {
	method := cmp.Or(runner.Method(flag.Method), defaultMethod)
	return method, cmp.Or(
		e.refuseFlags(method == runner.States, "on the state space, want --method sim with it", "samples", "confidence", "alpha", "width", "max-path", "max-reward", "quantiles", "seed"),
		e.refuseFlags(method != runner.States, "on sampling, want --method states with it", "exact", "float", "epsilon", "max-states", "reduce", "symmetry", "boxes", "compose", "disk", "worker"),
	)
}

// simulation returns the settings of sampling that the flags describe. Without --seed, it draws a random seed.
func (f samplingFlags) simulation(env *environment, method runner.Method, workers int) (runner.Simulation, error) {
	settings := runner.Simulation{MaxPath: f.MaxPath, MaxReward: f.MaxReward, Workers: workers, Split: env.shard}
	if f.Samples != nil && f.isConfidenceGiven() && f.Width != nil && method != runner.SPRT {
		return settings, usageError("--samples, --confidence and --width are all given, want at most two of them: they determine the third")
	}
	if f.Samples != nil {
		settings.Samples = *f.Samples
	}
	settings.Confidence = f.confidence(0)
	if f.Confidence != nil && *f.Confidence < 0.5 && method != runner.States && !env.quiet {
		fmt.Fprintf(env.stderr, "warning: --confidence %g is a confidence of %g %%; PRISM's -simconf %g is --confidence %g\n",
			*f.Confidence, 100**f.Confidence, *f.Confidence, stats.Confidence(*f.Confidence))
	}
	switch {
	case f.Width != nil && method == runner.APMC:
		settings.Approximation = *f.Width
	case f.Width != nil:
		settings.Width = *f.Width
		settings.Valid = method == runner.Sim && f.Samples == nil
	}
	if method == runner.States {
		return settings, nil
	}
	var err error
	settings.Seed, err = env.seedOrRandom(f.Seed)
	return settings, err
}

// seedOrRandom returns the given seed. If it is nil, it draws a random seed below 2^53, because every JSON reader represents such a number exactly.
func (e *environment) seedOrRandom(seed *uint64) (uint64, error) {
	switch {
	case seed != nil:
		return *seed, nil
	case e.shard.Recording():
		return 0, usageError("--shard needs --seed: without it, each shard would draw a different seed")
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(random[:]) >> 11, nil
}
