package foreign

import "strings"

// Reasons why several switches cannot be translated, or are not needed.
const (
	ownMethod           = "the engine selects its method by itself, and reports bounds of its values"
	onlyLog             = "it only changes the log of the other program"
	noDiagrams          = "tilecheck uses no decision diagrams"
	alwaysDone          = "tilecheck always does this"
	exportFormats       = "tilecheck export writes a model as files of states or as JANI"
	clockMethods        = "timed automata are checked with digital clocks or with regions: see --clocks"
	noParameterSettings = "the computation of functions of parameters has no such settings"
)

// Switches returns all switches of PRISM 4.10 and of Storm 1.14. PRISM accepts its switches with one dash or two.
//
// Source: prism -help; Storm's settings modules.
func Switches() []Switch {
	var t switchTable
	t.addModel()
	t.addAnswers()
	t.addSampling()
	t.addOutput()
	t.addMethods()
	return t
}

// switchTable is a list of switches. Its methods get the switches of a group as one text: spaces separate switches, commas separate the names
// of one switch.
type switchTable []Switch

// add adds switches that differ only in their names.
func (t *switchTable) add(names string, s Switch) {
	for namesOfOne := range strings.FieldsSeq(names) {
		s.Names = strings.Split(namesOfOne, ",")
		*t = append(*t, s)
	}
}

// translated adds switches that mean these words of a command of tilecheck; an empty command stands for check.
func (t *switchTable) translated(names string, numArguments int, command, words string) {
	t.add(names, Switch{NumArguments: numArguments, Command: command, Words: words})
}

// needless adds switches that are not needed.
func (t *switchTable) needless(names string, numArguments int, reason string) {
	t.add(names, Switch{NumArguments: numArguments, Reason: reason, IsNeedless: true})
}

// absent adds switches that cannot be translated. The reason says why, or what the user can do instead.
func (t *switchTable) absent(names string, numArguments int, reason string) {
	t.add(names, Switch{NumArguments: numArguments, Reason: reason})
}

// addModel adds the switches for the model, its constants and properties.
func (t *switchTable) addModel() {
	t.translated("const,constants", 1, "", "--const {1}")
	t.translated("property,prop,pf,pctl,csl", 1, "", "--prop {1}")
	t.add("prism jani explicit-drn,drn explicit-umb,umb", Switch{NumArguments: 1, Words: "{1}", NamesModel: true})
	t.add("janiproperty,jprop", Switch{Reason: "tilecheck always checks the properties of a JANI model", IsNeedless: true})
	t.add("importmodel importtrans importstates importlabels importstaterewards importtransrewards", Switch{NumArguments: 1, Words: "{1}", NamesStates: true})
	t.translated("dtmc", 0, "", "--dtmc")
	t.translated("mdp", 0, "", "--mdp")
	t.translated("ctmc", 0, "", "--ctmc")
	t.translated("nofixdl,ndl", 0, "", "--no-fix-deadlocks")
	t.translated("fair", 0, "", "--fair")
	t.translated("param", 1, "", "--param {1}")
	t.translated("test,testall", 0, "test", "")
	t.absent("importpepa", 0, "tilecheck does not read models in PEPA")
	t.absent("importprismpp", 1, "tilecheck does not read files for PRISM's preprocessor")
	t.absent("importinitdist", 1, "tilecheck distribution starts in the initial states of the model")
	t.absent("importresults", 1, "tilecheck test compares results with the RESULT comments in a properties file")
	t.absent("explicit-imca,imca", 1, "tilecheck does not read IMCA's files, want .drn or .umb")
	t.absent("importobs", 1, "tilecheck reads observations from DRN and UMB files")
	t.absent("exp", 2, "tilecheck does not read Storm's pairs of files, want .drn or .umb")
	t.absent("transrew staterew choicelab", 1, "tilecheck does not read Storm's pairs of files, want .drn or .umb")
	t.absent("qvbs", 1, "tilecheck test --qvbs runs the benchmarks in a directory")
	t.absent("qvbsroot", 1, "tilecheck test --qvbs runs the benchmarks in a directory")
	t.absent("propsasmulti", 0, "write the properties as one multi(...)")
	t.absent("uncertainty-resolution", 1, "minmax, maxmin and so on behind P or R say how intervals are resolved")
}

// addAnswers adds the switches that decide what is computed, and how accurately.
func (t *switchTable) addAnswers() {
	t.add("exact", Switch{NumArguments: 0, Words: "--exact", OptionalValues: "rationals floats"})
	t.translated("epsilon,e,precision,eps", 1, "", "--epsilon {1}")
	t.translated("timeout,t", 1, "", "--timeout {1}")
	t.translated("javamaxmem,cuddmaxmem,maxmem", 1, "", "--memory {1}")
	t.translated("state-limit", 1, "", "--max-states {1}")
	t.translated("bisimulation,bisim", 0, "", "--reduce")
	t.translated("counterexample,cex", 0, "", "--witness")
	t.absent("version", 0, "use tilecheck --version")
	t.translated("steadystate,ss", 0, "distribution", "")
	t.translated("transient,tr", 1, "distribution", "--time {1}")
	t.absent("parametric", 0, "use --param with the names of the parameters")
	t.absent("expvisittimes", 0, "a property asks for the expected visits: R=? [ C ] with a reward structure that counts them")
	t.absent("noprobchecks", 0, "probabilities that do not sum to 1 are an error")
	t.absent("sumroundoff", 1, "probabilities that do not sum to 1 are an error, unless rounding explains it")
	t.absent("nobuild", 0, "use tilecheck lint, which reads a model without building its states")
	t.translated("symm", 1, "", "--symmetry")
	t.absent("aroptions", 1, clockMethods)
	t.absent("nomaxprog", 0, "Markov automata make maximal progress")
	t.absent("location-elimination", 0, "tilecheck translates JANI models without changing them")
	t.absent("build-out-of-bounds-state build-overlapping-guards-label", 0, "a value outside its range is an error, and tilecheck lint finds overlapping guards")
	t.absent("to-nondet to-discrete eliminate-chains", 0, "tilecheck checks a model without changing it")
	t.absent("ec-label-behavior permute", 1, "tilecheck checks a model without changing it")
	t.absent("cextype shortestpath-maxk", 1, "--witness=K lists K paths, and --subsystem lists commands")
	t.absent("dir", 1, "file names are relative to the current directory")
	t.absent("settings config,c", 1, "all settings are flags of the command line")
	t.absent("ng", 0, "tilecheck has no such server; tilecheck serve is for browsers")
	t.absent("keywords,kw", 0, "docs/language.md describes the language")
	t.absent("gridresolution", 1, "tilecheck computes lower and upper bounds for POMDPs; --beliefs limits the number of explored beliefs")
	t.absent("exportiterations", 0, "tilecheck does not show iterations")
}

// addSampling adds the switches for simulation.
func (t *switchTable) addSampling() {
	t.add("sim", Switch{Needs: "--method sim"}) // unless -simmethod names the method
	t.translated("simmethod", 1, "", "--method {1}")
	sampled := func(names, words string) { t.add(names, Switch{NumArguments: 1, Words: words, Needs: "--method sim"}) }
	sampled("simsamples", "--samples {1}")
	sampled("simconf", "--confidence {1-}")
	sampled("simwidth simapprox", "--width {1}")
	sampled("simpathlen", "--max-path {1}")
	sampled("simmaxrwd", "--max-reward {1}")
	t.needless("simmanual", 0, "the confidence interval is valid for any variance")
	t.needless("simvar", 1, "the confidence interval is valid for any variance")
	t.translated("simpath", 2, "simulate", "--steps {1} --format csv > {2}")
}

// addOutput adds the switches that write files.
func (t *switchTable) addOutput() {
	t.translated("exportresults", 1, "", "--export-results {1}")
	t.translated("exportstrat,exportstrategy,exportscheduler", 1, "", "--export-scheduler {1}")
	t.translated("exportadv", 1, "", "--export-scheduler {1}")
	t.translated("exportadvmdp", 1, "", "--export-scheduler {1}")
	t.translated("exportmodel", 1, "export", "-o {1}")
	t.add("exportbuild", Switch{NumArguments: 1, Command: "export", Words: "-o {1}", OptionalValues: "auto dot drdd drn json umb"})
	t.translated("exportexplicit", 1, "export", "-o {1}.drn")
	t.translated("exporttrans", 1, "export", "-o {1}.tra")
	t.translated("exportstates", 1, "export", "-o {1}.sta")
	t.translated("exportlabels", 1, "export", "-o {1}.lab")
	t.translated("exportstaterewards", 1, "export", "-o {1}.srew")
	t.translated("exporttransrewards", 1, "export", "-o {1}.trew")
	t.translated("exportrewards", 2, "export", "-o {1}.srew -o {2}.trew")
	t.translated("exporttransdot", 1, "export", "-o {1}.dot --no-valuations")
	t.translated("exporttransdotstates", 1, "export", "-o {1}.dot")
	t.translated("exportdot", 1, "export", "-o {1}.dot")
	t.translated("exportsteadystate,exportss", 1, "distribution", "-o {1}")
	t.add("exporttransient,exporttr", Switch{NumArguments: 1, Command: "distribution", Words: "-o {1}", Needs: "--time TIME"})
	exported := func(names string, numArguments int, words string) {
		t.add(names, Switch{NumArguments: numArguments, Words: words, Needs: "-o FILE", FitsAnyCommand: true})
	}
	exported("exportmatlab", 0, "--matlab")
	exported("exportrows", 0, "--distribution-rows")
	exported("noexportheaders", 0, "--no-headers")
	exported("exportmodelprecision,digits", 1, "--precision {1}")
	t.absent("exportproplabels", 1, "use tilecheck export -o m.lab --props FILE --only-props-labels")
	t.absent("exportobs", 1, "DRN and UMB files contain the observations")
	t.absent("exportvector exportresult", 1, "the property filter(printall, PROPERTY, true) prints the values of all states, and the page of tilecheck serve shows them")
	t.absent("exportsccs exportbsccs exportmecs", 1, "tilecheck info prints the numbers of components")
	t.absent("exportprism exportprismconst prism2jani exportjanidot", 1, exportFormats)
	t.absent("exportdigital", 1, "tilecheck export -o m.all writes the states of the MDP of digital clocks, not its text")
	t.absent("exporttarget exportprodtrans exportprodstates exportprodvector exportcdf,cdf", 1, "tilecheck does not write products with automata")
	t.absent("exportpropaut", 1, "tilecheck does not write automata")
	t.absent("exportdd", 1, noDiagrams)
	t.absent("exportpareto", 1, "--format json prints the points of a Pareto curve as the value of the property")
	t.absent("exportmrmc", 0, "tilecheck does not write MRMC's files")
	t.needless("exportordered,ordered", 0, alwaysDone)
	t.absent("exportunordered,unordered", 0, "tilecheck writes transitions in order")
	t.needless("compression dot-maxwidth", 1, "a file is compressed if its name ends in .gz")
}

// addMethods adds the switches that decide how values are computed, and do not change the values.
func (t *switchTable) addMethods() {
	t.needless("mtbdd,m sparse,s hybrid,h explicit,ex", 0, ownMethod)
	t.needless(`
		sound intervaliter,ii valiter politer modpoliter topological power,pow,pwr jacobi,jac gaussseidel,gs bgaussseidel,bgs
		pgaussseidel,pgs bpgaussseidel,bpgs jor sor bsor psor bpsor`, 0, ownMethod)
	t.needless(`
		relative,rel absolute,abs nopre noprob0 noprob1 noprerel nofair zerorewardcheck nossdetect pathviaautomata nodasimplify
		pmaxquotient linprog,lp nocompact ddsanity statistics,stats no-simplify force-require-unique lp-eq-unique-actions
		lp-use-nontrivial-bounds filterrewzero symmetricupdates ddexact repr origvars dynreorder`, 0, ownMethod)
	t.needless(`
		omega maxiters maxiter,i heuristic engine eqsolver ddlib lpsolver smtsolver transientmethod sccmethod,bsccmethod ltl2datool
		ltl2dasyntax multimaxpoints paretoepsilon sbl sbmax gsl,sorl gsmax,sormax cuddepsilon ddextrastatevars ddextraactionvars
		fauepsilon faudelta fauarraythreshold fauintervals fauinitival explorder,eo int-bits vimult lp-objective-type soromega
		powmult mamethod kappa upper-bound-factor purescheds algorithm sigmode maxabs`, 1, ownMethod)
	t.needless("paramprecision paramsplit parambisim paramfunction paramelimorder paramrandompoints paramsubsumeregions paramdagmaxerror", 1, noParameterSettings)
	t.needless("ptamethod", 1, clockMethods)
	t.needless("fixdl buildfull buildstateval build-all-labels prismcompat,pc buildchoicelab buildchoiceorig buildobsval explchecks,ec check-zeno", 0, alwaysDone)
	t.needless(`
		verbose,v extraddinfo extrareachinfo javaversion dddebug ddtraceall ddtracefollowcopies dddebugwarnfatal dddebugwarnoff debug
		trace timemem,tm`, 0, onlyLog)
	t.needless("mainlog ddtrace javastack javaparams logfile,l signal-timeout progress", 1, onlyLog)
}
