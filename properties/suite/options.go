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
}

// Simulation has the switches that begin with -sim; zero is not given.
type Simulation struct {
	Method                                        string
	Samples, PathLength, MinSamples               int64
	Error, HalfWidth, Approximation, MaxRewardSum float64 // -simconf, -simwidth, -simapprox, -simmaxrwd
}

// ignored are switches that say how PRISM computes, or what it prints, with the
// number of their arguments.
func ignored(name string) (args int, ok bool) {
	switch name {
	case "explicit", "ex", "hybrid", "h", "sparse", "s", "mtbdd", "m", "power", "pow", "pwr", "jacobi", "jac",
		"gaussseidel", "gs", "bgaussseidel", "bgs", "pgaussseidel", "pgs", "bpgaussseidel", "bpgs", "jor", "sor", "bsor",
		"psor", "bpsor", "valiter", "politer", "modpoliter", "intervaliter", "ii", "topological", "relative", "rel",
		"absolute", "abs", "nopre", "noprob0", "noprob1", "noprerel", "nofair", "fixdl", "nossdetect", "pathviaautomata",
		"nodasimplify", "pmaxquotient", "linprog", "lp", "verbose", "v", "extraddinfo", "extrareachinfo", "nocompact",
		"zerorewardcheck", "nobscc", "cuddmem", "test", "testall", "simmanual", "ng", "noexportheaders":
		return 0, true
	case "omega", "epsilon", "e", "maxiters", "gridresolution", "transientmethod", "heuristic", "cuddmaxmem", "cuddepsilon",
		"javamaxmem", "javastack", "javaparams", "timeout", "sccmethod", "multimaxpoints", "paretoepsilon", "ptamethod",
		"exportmodelprecision", "mainlog", "symm", "aroptions", "fauepsilon", "faudelta", "sumroundoff":
		return 1, true
	}
	return 0, false
}

// Options reads the switches. A switch that it does not know is an error.
//
// Source: PrismCL.java and PrismSettings.java of PRISM 4.10.
func (r Run) Options() (Options, error) {
	o := Options{Model: r.Model, Props: r.Props}
	p := &switches{Options: &o, run: r, args: r.Args}
	for len(p.args) > 0 && p.err == nil {
		p.next()
	}
	return o, p.err
}

// switches is what is left of the arguments.
type switches struct {
	*Options
	run  Run
	args []string
	err  error
}

// next reads one switch.
func (p *switches) next() {
	word := p.take()
	name, ok := strings.CutPrefix(word, "-")
	if !ok {
		p.file(word)
		return
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), ":")
	switch name {
	case "const":
		p.Consts = append(p.Consts, p.take())
	case "property", "prop":
		p.Select = append(p.Select, strings.Split(p.take(), ",")...)
	case "dtmc", "mdp", "ctmc":
		p.Type = map[string]syntax.ModelType{"dtmc": syntax.DTMC, "mdp": syntax.MDP, "ctmc": syntax.CTMC}[name]
	case "exact":
		p.Exact = true
	case "fair":
		p.Fair = true
	case "nofixdl":
		p.NoFixDeadlocks = true
	case "noprobchecks":
		p.NoProbChecks = true
	case "param":
		p.Params = p.take()
	case "transient", "tr":
		p.Transient = p.take()
	case "steadystate", "ss":
		p.Steady = true
	default:
		p.other(name, word)
	}
}

// other reads the switches that come in groups.
func (p *switches) other(name, word string) {
	n, known := ignored(name)
	switch {
	case known:
		for range n {
			p.take()
		}
	case strings.HasPrefix(name, "sim"):
		p.simulation(name)
	case strings.HasPrefix(name, "import"):
		p.Imports = append(p.Imports, []string{word, p.take()})
	case name == "exportrewards":
		p.Exports = append(p.Exports, []string{word, p.take(), p.take()})
	case slices.Contains([]string{"exportmatlab", "exportrows", "exportordered", "exportunordered"}, name):
		p.Exports = append(p.Exports, []string{word})
	case strings.HasPrefix(name, "export"):
		p.Exports = append(p.Exports, []string{word, p.take()})
	default:
		p.fail("unknown switch %q", word)
	}
}

func (p *switches) simulation(name string) {
	if p.Simulation == nil {
		p.Simulation = &Simulation{}
	}
	s := p.Simulation
	switch name {
	case "sim":
	case "simmethod":
		s.Method = p.take()
	case "simsamples":
		s.Samples = p.integer()
	case "simvar":
		s.MinSamples = p.integer()
	case "simpathlen":
		s.PathLength = p.integer()
	case "simconf":
		s.Error = p.number()
	case "simwidth":
		s.HalfWidth = p.number()
	case "simapprox":
		s.Approximation = p.number()
	case "simmaxrwd":
		s.MaxRewardSum = p.number()
	default:
		p.fail("unknown switch %q", "-"+name)
	}
}

// file takes a word without a dash: the model, then the properties.
func (p *switches) file(word string) {
	switch name := path.Join(p.run.Dir, word); {
	case p.Model == "":
		p.Model = name
	case p.Props == "":
		p.Props = name
	default:
		p.fail("file %q, want a model and a properties file at most", word)
	}
}

func (p *switches) take() string {
	if len(p.args) == 0 {
		p.fail("the last switch lacks an argument")
		return ""
	}
	word := p.args[0]
	p.args = p.args[1:]
	return word
}

func (p *switches) integer() int64 {
	word := p.take()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		p.fail("found %q, want an integer", word)
	}
	return n
}

func (p *switches) number() float64 {
	word := p.take()
	x, err := strconv.ParseFloat(word, 64)
	if err != nil {
		p.fail("found %q, want a number", word)
	}
	return x
}

func (p *switches) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: "+format, append([]any{p.run}, args...)...)
	}
}
