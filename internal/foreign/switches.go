package foreign

import "strings"

// Switch is a switch of PRISM or Storm with its translation: the Words of tilecheck's command line that
// mean the same, or the reason Why there are none.
type Switch struct {
	Names []string // without dashes; the first is the one that is shown
	Takes int      // arguments of the switch
	Words string   // of tilecheck; {1} and {2} stand for the arguments
	// Command is the command that the words belong to; empty means check.
	Command string
	// Why says why there are no words.
	Why string
	// Needless says that the switch is not needed: tilecheck always does what it asks for, or it does
	// not change an answer.
	Needless bool
	// Modifies says that the words can belong to any command that other switches need.
	Modifies bool
	// Input says that the switch names the model, in Storm.
	Input bool
	// States says that the switch names a file of states.
	States bool
	// May lists the possible values of an optional argument.
	May string
}

// Explain returns a sentence that says which command line means the same, or why there is none.
func (s *Switch) Explain() string {
	name := "-" + s.Names[0]
	command := s.Command
	if command == "" {
		command = "check"
	}
	switch {
	case s.Why != "" && s.Needless:
		return name + " is not needed: " + s.Why
	case s.Why != "":
		return name + " has no counterpart in tilecheck: " + s.Why
	case s.Words == "" || strings.HasPrefix(s.Words, "{"):
		return strings.TrimSpace(name + " means: tilecheck " + command + " MODEL" + arguments(strings.TrimPrefix(s.Words, "{1}")))
	case s.Modifies:
		return name + " means:" + arguments(s.Words)
	}
	return name + " means: tilecheck " + command + " MODEL" + arguments(s.Words)
}

// arguments returns words for a message, with the names of arguments instead of their numbers, and a space before them.
func arguments(words string) string {
	if words == "" {
		return ""
	}
	return " " + strings.NewReplacer("{1}", "ARGUMENT", "{1-}", "1-ARGUMENT", "{2}", "FILE").Replace(words)
}

// byName returns the switches by all their names.
func byName() map[string]*Switch {
	out := make(map[string]*Switch)
	for _, s := range Switches() {
		for _, name := range s.Names {
			out[name] = &s
		}
	}
	return out
}

// isSetting reports whether a switch is a setting of one of Storm's modules, such as module:option.
// These settings are about solvers, and change no answer.
func isSetting(name string) bool {
	module, _, ok := strings.Cut(name, ":")
	return ok && Lookup(module) == nil
}

// Switches has one entry for each switch of PRISM 4.10 and of Storm 1.14. PRISM's have one dash or
// two.
//
// Source: prism -help; Storm's settings modules.
func Switches() []Switch {
	const (
		way     = "the engine selects its method by itself, and reports bounds of its values"
		seen    = "it only changes the log of the other program"
		symbols = "tilecheck uses no decision diagrams"
		always  = "tilecheck always does this"
		model   = "tilecheck export writes a model as files of states or as JANI"
		pta     = "timed automata are checked with digital clocks or with regions: see --clocks"
		stays   = "the computation of functions of parameters has no such settings"
	)
	var out []Switch
	add := func(names string, s Switch) {
		s.Names = strings.Fields(names)
		out = append(out, s)
	}
	words := func(names string, takes int, command, words string) {
		add(names, Switch{Takes: takes, Words: words, Command: command})
	}
	needless := func(names string, takes int, why string) {
		for name := range strings.FieldsSeq(names) {
			add(strings.ReplaceAll(name, ",", " "), Switch{Takes: takes, Why: why, Needless: true})
		}
	}
	absent := func(names string, takes int, why string) {
		for name := range strings.FieldsSeq(names) {
			add(strings.ReplaceAll(name, ",", " "), Switch{Takes: takes, Why: why})
		}
	}

	// The model, its constants and properties.
	words("const constants", 1, "", "--const {1}")
	words("property prop pf pctl csl", 1, "", "--prop {1}")
	add("prism", Switch{Takes: 1, Words: "{1}", Input: true})
	add("jani", Switch{Takes: 1, Words: "{1}", Input: true})
	add("explicit-drn drn", Switch{Takes: 1, Words: "{1}", Input: true})
	add("explicit-umb umb", Switch{Takes: 1, Words: "{1}", Input: true})
	add("janiproperty jprop", Switch{Why: "tilecheck always checks the properties of a JANI model", Needless: true})
	for name := range strings.FieldsSeq("model trans states labels staterewards transrewards") {
		add("import"+name, Switch{Takes: 1, Words: "{1}", States: true})
	}
	words("dtmc", 0, "", "--dtmc")
	words("mdp", 0, "", "--mdp")
	words("ctmc", 0, "", "--ctmc")
	words("nofixdl ndl", 0, "", "--no-fix-deadlocks")
	words("fair", 0, "", "--fair")
	words("param", 1, "", "--param {1}")
	words("test testall", 0, "test", "")
	absent("importpepa", 0, "tilecheck does not read models in PEPA")
	absent("importprismpp", 1, "tilecheck does not read files for PRISM's preprocessor")
	absent("importinitdist", 1, "tilecheck distribution starts in the initial states of the model")
	absent("importresults", 1, "tilecheck test compares results with the RESULT comments in a properties file")
	absent("explicit-imca,imca", 1, "tilecheck does not read IMCA's files, want .drn or .umb")
	absent("importobs", 1, "tilecheck reads observations from DRN and UMB files")
	absent("exp", 2, "tilecheck does not read Storm's pairs of files, want .drn or .umb")
	absent("transrew staterew choicelab", 1, "tilecheck does not read Storm's pairs of files, want .drn or .umb")
	absent("qvbs", 1, "tilecheck test --qvbs runs the benchmarks in a directory")
	absent("qvbsroot", 1, "tilecheck test --qvbs runs the benchmarks in a directory")
	absent("propsasmulti", 0, "write the properties as one multi(...)")
	absent("uncertainty-resolution", 1, "minmax, maxmin and so on behind P or R say how intervals are resolved")

	// What is computed, and how well.
	words("exact", 0, "", "--exact")
	out[len(out)-1].May = "rationals floats"
	words("epsilon e precision eps", 1, "", "--epsilon {1}")
	words("timeout t", 1, "", "--timeout {1}")
	words("javamaxmem cuddmaxmem maxmem", 1, "", "--memory {1}")
	words("state-limit", 1, "", "--max-states {1}")
	words("bisimulation bisim", 0, "", "--reduce")
	words("counterexample cex", 0, "", "--witness")
	absent("version", 0, "use tilecheck --version")
	words("steadystate ss", 0, "distribution", "")
	words("transient tr", 1, "distribution", "--time {1}")
	absent("parametric", 0, "use --param with the names of the parameters")
	absent("expvisittimes", 0, "a property asks for the expected visits: R=? [ C ] with a reward structure that counts them")
	absent("noprobchecks", 0, "probabilities that do not sum to 1 are an error")
	absent("sumroundoff", 1, "probabilities that do not sum to 1 are an error, unless rounding explains it")
	absent("nobuild", 0, "use tilecheck lint, which reads a model without building its states")
	words("symm", 1, "", "--symmetry")
	absent("aroptions", 1, pta)
	absent("nomaxprog", 0, "Markov automata make maximal progress")
	absent("location-elimination", 0, "tilecheck translates JANI models without changing them")
	absent("build-out-of-bounds-state build-overlapping-guards-label", 0, "a value outside its range is an error, and tilecheck lint finds overlapping guards")
	absent("to-nondet to-discrete eliminate-chains", 0, "tilecheck checks a model without changing it")
	absent("ec-label-behavior permute", 1, "tilecheck checks a model without changing it")
	absent("cextype shortestpath-maxk", 1, "--witness=K lists K paths, and --subsystem lists commands")
	absent("dir", 1, "file names are relative to the current directory")
	absent("settings config,c", 1, "all settings are flags of the command line")
	absent("ng", 0, "tilecheck has no such server; tilecheck serve is for browsers")
	absent("keywords,kw", 0, "docs/language.md describes the language")
	absent("gridresolution", 1, "tilecheck computes lower and upper bounds for POMDPs; --beliefs limits the number of explored beliefs")
	absent("exportiterations", 0, "tilecheck does not show iterations")

	// Sampling.
	words("sim", 0, "", "--method sim")
	words("simmethod", 1, "", "--method {1}")
	words("simsamples", 1, "", "--samples {1}")
	words("simconf", 1, "", "--confidence {1-}")
	words("simwidth", 1, "", "--width {1}")
	words("simapprox", 1, "", "--width {1}")
	words("simpathlen", 1, "", "--max-path {1}")
	words("simmaxrwd", 1, "", "--max-reward {1}")
	needless("simmanual", 0, "the confidence interval is valid for any variance")
	needless("simvar", 1, "the confidence interval is valid for any variance")
	words("simpath", 2, "simulate", "--steps {1} --format csv > {2}")

	// Files that are written.
	words("exportresults", 1, "", "--export-results {1}")
	words("exportstrat exportstrategy exportscheduler", 1, "", "--export-scheduler {1}")
	words("exportadv", 1, "", "--export-scheduler {1}:type=induced")
	words("exportadvmdp", 1, "", "--export-scheduler {1}:type=induced")
	words("exportmodel", 1, "export", "-o {1}")
	words("exportbuild", 1, "export", "-o {1}")
	out[len(out)-1].May = "auto dot drdd drn json umb"
	words("exportexplicit", 1, "export", "-o {1}.drn")
	words("exporttrans", 1, "export", "-o {1}.tra")
	words("exportstates", 1, "export", "-o {1}.sta")
	words("exportlabels", 1, "export", "-o {1}.lab")
	words("exportstaterewards", 1, "export", "-o {1}.srew")
	words("exporttransrewards", 1, "export", "-o {1}.trew")
	words("exportrewards", 2, "export", "-o {1}.srew -o {2}.trew")
	words("exporttransdot", 1, "export", "-o {1}.dot --no-valuations")
	words("exporttransdotstates", 1, "export", "-o {1}.dot")
	words("exportdot", 1, "export", "-o {1}.dot")
	words("exportsteadystate exportss exporttransient exporttr", 1, "distribution", "-o {1}")
	add("exportmatlab", Switch{Words: "--matlab", Modifies: true})
	add("exportrows", Switch{Words: "--distribution-rows", Modifies: true})
	add("noexportheaders", Switch{Words: "--no-headers", Modifies: true})
	add("exportmodelprecision digits", Switch{Takes: 1, Words: "--precision {1}", Modifies: true})
	absent("exportproplabels", 1, "use tilecheck export -o m.lab --props FILE --only-props-labels")
	absent("exportobs", 1, "DRN and UMB files contain the observations")
	absent("exportvector exportresult", 1, "the page of tilecheck serve shows the values of all states")
	absent("exportsccs exportbsccs exportmecs", 1, "tilecheck info prints the numbers of components")
	absent("exportprism exportprismconst exportdigital prism2jani exportjanidot", 1, model)
	absent("exporttarget exportprodtrans exportprodstates exportprodvector exportcdf,cdf", 1, "tilecheck does not write products with automata")
	absent("exportpropaut", 1, "tilecheck does not write automata")
	absent("exportdd", 1, symbols)
	absent("exportpareto", 1, "--format json prints the points of a Pareto curve as the value of the property")
	absent("exportmrmc", 0, "tilecheck does not write MRMC's files")
	needless("exportordered,ordered", 0, always)
	absent("exportunordered,unordered", 0, "tilecheck writes transitions in order")
	needless("compression dot-maxwidth", 1, "a file is compressed if its name ends in .gz")

	// How it is computed, which changes no answer.
	needless("mtbdd,m sparse,s hybrid,h explicit,ex", 0, way)
	needless("sound intervaliter,ii valiter politer modpoliter topological power,pow,pwr jacobi,jac gaussseidel,gs bgaussseidel,bgs pgaussseidel,pgs bpgaussseidel,bpgs jor sor bsor psor bpsor", 0, way)
	needless("relative,rel absolute,abs nopre noprob0 noprob1 noprerel nofair zerorewardcheck nossdetect pathviaautomata nodasimplify pmaxquotient linprog,lp nocompact ddsanity statistics,stats no-simplify force-require-unique lp-eq-unique-actions lp-use-nontrivial-bounds filterrewzero symmetricupdates ddexact repr origvars dynreorder", 0, way)
	needless("omega maxiters maxiter,i heuristic engine eqsolver ddlib lpsolver smtsolver transientmethod sccmethod,bsccmethod ltl2datool ltl2dasyntax multimaxpoints paretoepsilon sbl sbmax gsl,sorl gsmax,sormax cuddepsilon ddextrastatevars ddextraactionvars fauepsilon faudelta fauarraythreshold fauintervals fauinitival explorder,eo int-bits vimult lp-objective-type soromega powmult mamethod kappa upper-bound-factor purescheds algorithm sigmode maxabs", 1, way)
	needless("paramprecision paramsplit parambisim paramfunction paramelimorder paramrandompoints paramsubsumeregions paramdagmaxerror", 1, stays)
	needless("ptamethod", 1, pta)
	needless("fixdl buildfull buildstateval build-all-labels prismcompat,pc buildchoicelab buildchoiceorig buildobsval explchecks,ec check-zeno", 0, always)
	needless("verbose,v extraddinfo extrareachinfo javaversion dddebug ddtraceall ddtracefollowcopies dddebugwarnfatal dddebugwarnoff debug trace timemem,tm", 0, seen)
	needless("mainlog ddtrace javastack javaparams logfile,l signal-timeout progress", 1, seen)
	return out
}
