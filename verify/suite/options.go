package suite

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Options is what the switches of a run ask for, as far as that is a question
// of what to compute and not of how: the engines and solution methods of PRISM
// are not in it.
type Options struct {
	// Model and Props are the files of the run, wherever they were named; empty
	// if there is none.
	Model, Props string
	Consts       []string         // arguments of -const
	Select       []string         // -property: names, or numbers from 1
	Type         syntax.ModelType // -dtmc, -mdp, -ctmc; TypeNone to leave the model's
	Exact        bool             // -exact
	Fair         bool             // -fair
	// NoFixDeadlocks is -nofixdl, NoProbChecks -noprobchecks.
	NoFixDeadlocks, NoProbChecks bool
	// Params are the parameters of -param, as written.
	Params string
	// Simulation is nil without -sim.
	Simulation *Simulation
	// Transient is a time of -transient, and Steady is -steadystate.
	Transient string
	Steady    bool
	// Imports and Exports are those switches, each with its arguments.
	Imports, Exports [][]string
	// Switches are all of them, in order.
	Switches []Switch
}

// Simulation has the switches that begin with -sim; zero is not given.
type Simulation struct {
	Method                                        string
	Samples, PathLength, MinSamples               int64
	Error, HalfWidth, Approximation, MaxRewardSum float64 // -simconf, -simwidth, -simapprox, -simmaxrwd
}

// Options reads the switches. A switch that it does not know is an error, a
// *syntax.Error where it is written.
//
// Source: PrismCL.java and PrismSettings.java of PRISM 4.10.
func (r Run) Options() (Options, error) {
	p := &reader{Options: &Options{Model: r.Model, Props: r.Props}, run: r}
	p.split()
	for i := range p.Switches {
		p.read(&p.Switches[i])
	}
	return *p.Options, p.err
}

// reader reads the switches of a run. The first error stays.
type reader struct {
	*Options
	run Run
	at  int // index of the current switch among the arguments
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = r.run.errorAt(r.at, fmt.Sprintf(format, args...))
	}
}

// split finds the switches and the files.
func (r *reader) split() {
	args := r.run.Args
	var names []int
	for i := 0; i < len(args); {
		r.at = i
		if !strings.HasPrefix(args[i], "-") {
			names = append(names, i)
			i++
			continue
		}
		s := Switch{Words: args[i : i+1 : i+1], index: i}
		n, known := arity(s.Name())
		if !known {
			r.fail("unknown switch %q", args[i])
		}
		if i+1+n > len(args) {
			r.fail("switch %s has too few arguments, want %d", args[i], n)
			n = len(args) - i - 1
		}
		s.Words = args[i : i+1+n : i+1+n]
		r.Switches = append(r.Switches, s)
		i += 1 + n
	}
	imported := slices.ContainsFunc(r.Switches, func(s Switch) bool {
		return s.Import() && s.Name() != "importresults" && s.Name() != "importpepa"
	})
	for _, i := range names {
		r.at = i
		r.file(args[i], imported)
	}
}

// file takes a word without a dash: the model, unless one is imported, then the
// properties.
func (r *reader) file(word string, imported bool) {
	switch name := path.Join(r.run.Dir, word); {
	case r.Model == "" && !imported:
		r.Model = name
	case r.Props == "":
		r.Props = name
	default:
		r.fail("file %q, want a model and a properties file at most", word)
	}
}

// read interprets a switch that has all its arguments.
func (r *reader) read(s *Switch) {
	if n, _ := arity(s.Name()); len(s.Words) != 1+n {
		return
	}
	r.at = s.index
	switch name := s.Name(); name {
	case "const":
		r.Consts = append(r.Consts, s.Words[1])
	case "property", "prop":
		r.Select = append(r.Select, strings.Split(s.Words[1], ",")...)
	case "dtmc", "mdp", "ctmc":
		r.Type = map[string]syntax.ModelType{"dtmc": syntax.DTMC, "mdp": syntax.MDP, "ctmc": syntax.CTMC}[name]
	case "exact":
		r.Exact = true
	case "fair":
		r.Fair = true
	case "nofixdl":
		r.NoFixDeadlocks = true
	case "noprobchecks":
		r.NoProbChecks = true
	case "param":
		r.Params = s.Words[1]
	case "transient", "tr":
		r.Transient = s.Words[1]
	case "steadystate", "ss":
		r.Steady = true
	default:
		r.group(s)
	}
}

// group reads the switches that come in groups.
func (r *reader) group(s *Switch) {
	switch {
	case s.Ignored():
	case s.Import():
		r.Imports = append(r.Imports, s.Words)
	case s.Export():
		r.Exports = append(r.Exports, s.Words)
	case strings.HasPrefix(s.Name(), "sim"):
		r.simulation(s)
	}
}

func (r *reader) simulation(s *Switch) {
	if r.Simulation == nil {
		r.Simulation = &Simulation{}
	}
	sim := r.Simulation
	switch s.Name() {
	case "simmethod":
		sim.Method = s.Words[1]
	case "simsamples":
		sim.Samples = r.integer(s.Words[1])
	case "simvar":
		sim.MinSamples = r.integer(s.Words[1])
	case "simpathlen":
		sim.PathLength = r.integer(s.Words[1])
	case "simconf":
		sim.Error = r.number(s.Words[1])
	case "simwidth":
		sim.HalfWidth = r.number(s.Words[1])
	case "simapprox":
		sim.Approximation = r.number(s.Words[1])
	case "simmaxrwd":
		sim.MaxRewardSum = r.number(s.Words[1])
	}
}

func (r *reader) integer(word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		r.fail("found %q, want an integer", word)
	}
	return n
}

func (r *reader) number(word string) float64 {
	x, err := strconv.ParseFloat(word, 64)
	if err != nil {
		r.fail("found %q, want a number", word)
	}
	return x
}
