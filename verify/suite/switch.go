package suite

import (
	"slices"
	"strings"
)

// Switch is one switch of PRISM with its arguments.
type Switch struct {
	Words []string // "-const", "N=3"
	index int      // of the first word among the arguments
}

// Name returns the name of the switch: "exportmodel" for "-exportmodel:matlab". It has no dashes and no part after a colon.
func (s *Switch) Name() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s.Words[0], "-"), "-"), ":")
	return name
}

// Ignored reports whether tests ignore the switch, because it only changes how PRISM computes or what it prints.
func (s *Switch) Ignored() bool {
	_, ok := argsOfIgnored(s.Name())
	return ok
}

// Import reports whether the switch names a file to read.
func (s *Switch) Import() bool { return strings.HasPrefix(s.Name(), "import") }

// Export reports whether the switch names files to write, or their format.
func (s *Switch) Export() bool { return strings.HasPrefix(s.Name(), "export") && !s.Ignored() }

// Files returns the arguments of an import or export, with the parts after a colon.
func (s *Switch) Files() []string { return s.Words[1:] }

// argsOfIgnored returns the number of arguments of a switch that a test ignores, because the switch only changes how PRISM computes or prints. ok
// is false for other switches.
func argsOfIgnored(name string) (args int, ok bool) {
	switch name {
	case "explicit", "ex", "hybrid", "h", "sparse", "s", "mtbdd", "m", "power", "pow", "pwr", "jacobi", "jac",
		"gaussseidel", "gs", "bgaussseidel", "bgs", "pgaussseidel", "pgs", "bpgaussseidel", "bpgs", "jor", "sor", "bsor",
		"psor", "bpsor", "valiter", "politer", "modpoliter", "intervaliter", "ii", "topological", "relative", "rel",
		"absolute", "abs", "nopre", "noprob0", "noprob1", "noprerel", "nofair", "fixdl", "nossdetect", "pathviaautomata",
		"nodasimplify", "pmaxquotient", "linprog", "lp", "verbose", "v", "extraddinfo", "extrareachinfo", "nocompact",
		"zerorewardcheck", "nobscc", "cuddmem", "test", "testall", "simmanual", "ng", "noexportheaders":
		return 0, true
	case "omega", "epsilon", "e", "maxiters", "gridresolution", "transientmethod", "heuristic", "cuddmaxmem", "cuddepsilon",
		"javamaxmem", "javastack", "javaparams", "timeout", "sccmethod", "multimaxpoints", "paretoepsilon",
		"exportmodelprecision", "mainlog", "symm", "aroptions", "fauepsilon", "faudelta", "sumroundoff":
		return 1, true
	}
	return 0, false
}

// arity returns the number of arguments of a switch. ok is false for an unknown switch.
func arity(name string) (args int, ok bool) {
	if args, ok := argsOfIgnored(name); ok {
		return args, true
	}
	switch name {
	case "dtmc", "mdp", "ctmc", "exact", "fair", "nofixdl", "noprobchecks", "steadystate", "ss", "sim":
		return 0, true
	case "const", "property", "prop", "param", "ptamethod", "transient", "tr", "simmethod", "simsamples", "simvar", "simpathlen", "simconf",
		"simwidth", "simapprox", "simmaxrwd":
		return 1, true
	case "exportrewards":
		return 2, true
	}
	switch {
	case slices.Contains([]string{"exportmatlab", "exportrows", "exportordered", "exportunordered"}, name):
		return 0, true
	case strings.HasPrefix(name, "import"), strings.HasPrefix(name, "export"):
		return 1, true
	}
	return 0, false
}
