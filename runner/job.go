package runner

import (
	"io"

	"tilecheck/internal/shard"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Job is the work of a [Check]: a model and properties, how to check them, and the outputs besides the verdicts. Only the model is
// mandatory; the zero value of every other field is a default.
type Job struct {
	// File names the model in diagnostics; Model is its text.
	File  string
	Model []byte
	// States replaces Model if the states are known already; nil otherwise.
	States StateSpace
	// PropsFile names the properties file in diagnostics; Properties is its text.
	PropsFile  string
	Properties []byte
	// Props are further properties, each the text of a properties file of its
	// own. They may use the constants, labels and properties of Properties. As
	// with PRISM's switch -prop, a text that is a list of numbers and names of
	// properties of the file selects those; unlike there, the other texts are
	// checked, too.
	Props []string
	// PropNames are the names of the texts of Props in diagnostics; a text without a name has none.
	PropNames []string
	// Dialect is the language of the texts. With Storm's, a model gets the reward structure that the
	// operator T stands for, if a property has one.
	Dialect syntax.Dialect
	// Select lists the properties to check by name or by 1-based number, in
	// the order given; empty means all.
	Select []string
	// Consts gives values to constants that have none, each element as PRISM's
	// -const: "N=4,p=0.1:0.1:0.5". Ranges make an experiment: every combination is checked.
	Consts []string
	// Params leaves constants open, so that values are functions of them, each element as PRISM's
	// -param: "p,q=0.2:0.8". Only the embedded engine supports it, with the method States.
	Params []string
	// LeaveOpen leaves open every constant of the model, and of the properties that are checked, that has no value. The program can then be written, but not explored: see
	// [sema.Model.InstantiateSymbolic].
	LeaveOpen bool
	// Generated recognises generated models, of which verdicts say more; nil recognises none.
	Generated Recognizer

	Settings
	Outputs
}

// Settings say how an engine checks the properties.
type Settings struct {
	// Method is how to check; empty is States.
	Method Method
	// Simulation is read by the statistical methods, Numeric by States.
	Simulation Simulation
	Numeric    Numeric
	// NoFixDeadlocks makes a deadlock an error. By default a deadlock gets a self-loop.
	NoFixDeadlocks bool
}

// Outputs say what an engine writes and reports besides the verdicts. A nil field is not wanted.
type Outputs struct {
	// Scheduler is the file for the scheduler that attains the value of a property.
	// The job must have one property and one valuation.
	Scheduler *SchedulerFile
	// Certificate is the file for the certificates of all answers.
	// It takes Numeric.Accuracy result.Proven and one valuation of the model's constants.
	Certificate *CertificateFile
	// Partition is the partition by which the model is reduced; nil is the coarsest one, which is not written.
	// The job must have Numeric.Reduce, one property and one valuation.
	Partition *PartitionFile
	// Witness asks for witnesses of operators P.
	Witness *Witness
	// Progress is called from time to time with the progress of a property, never concurrently.
	Progress func(Progress)
	// Verdict is called with each verdict as soon as it is there, in the order of the verdicts that the engine returns. The
	// embedded engine calls it; an engine that answers all properties at once need not.
	Verdict func(*result.Verdict)
}

// Recognizer recognises models that a generator made.
type Recognizer interface {
	// Warning returns a warning for values over all schedulers of a model; empty for none.
	Warning(m *syntax.Model) string
	// Columns returns the number of columns of the board that the variables of a program are; 0 if they are none.
	Columns(p *sema.Program) int
}

// Witness says which paths are listed as witnesses of a property.
type Witness struct {
	// Paths is the number of paths, at least one.
	Paths int
	// Misses asks, for a value, also for the paths on which the formula does not hold.
	Misses bool
	// Part asks for a critical subsystem, in which the bound is exceeded. Model, unless
	// nil, writes it as a model.
	Part  bool
	Model func(text []byte) error
}

// StateSpace is a state space that is known before the check. Engines look for further
// methods that they need: the embedded engine for explicit.SpaceSource.
type StateSpace interface {
	// Declares returns the variables, labels and reward structures of the states.
	Declares() *sema.Model
	// Files returns the files of the states: one base name, with the extensions of
	// PRISM's -importmodel or with .drn; none if the states come from no file.
	Files() []File
}

// PropName returns the name of the text Props[i] in diagnostics.
func (j *Job) PropName(i int) string {
	if i >= len(j.PropNames) {
		return ""
	}
	return j.PropNames[i]
}

// Method is how an engine checks a property.
type Method string

// The methods. PRISM's -simmethod has the statistical ones.
const (
	States Method = "states" // builds the state space
	Sim    Method = "sim"    // samples paths: CI for the value of a property, SPRT for its truth
	CI     Method = "ci"     // confidence interval: estimates, with Student's t
	ACI    Method = "aci"    // asymptotic confidence interval: with the normal distribution
	APMC   Method = "apmc"   // approximate probabilistic model checking: Chernoff-Hoeffding
	SPRT   Method = "sprt"   // sequential probability ratio test, of bounded properties
	// Splitting is importance splitting, which estimates the probabilities of rare events. Only the embedded engine has it.
	Splitting Method = "splitting"
	// Restart is importance splitting by RESTART, which splits paths that rise to a level of importance. Only the embedded engine has it.
	Restart Method = "restart"
)

// IsSplitting reports whether a method is importance splitting.
func (method Method) IsSplitting() bool { return method == Splitting || method == Restart }

// Numeric has the parameters of the method States. The zero value is the default.
type Numeric struct {
	// Accuracy is the wanted accuracy. result.Exact computes in rational
	// arithmetic, result.Proven computes bounds and checks a certificate of them,
	// result.Float iterates until the change of a step is small, as other tools do by
	// default, and every other value means result.Bounded.
	Accuracy result.Accuracy
	// Fractions is for result.Proven: values are computed in rational arithmetic, and a certificate
	// proves a value only if both bounds are that fraction.
	Fractions bool
	// Epsilon is the largest relative width of bounds, or the relative
	// change at which result.Float stops; 0 is the engine's default.
	Epsilon float64
	// MaxStates and MaxMemory (in bytes) limit the state space. 0 means no
	// limit of states, and a memory limit that keeps the machine from swapping.
	MaxStates int
	MaxMemory int64
	// Workers is the number of goroutines that build the state space; 0 means
	// one per processor. Results do not depend on it.
	Workers int
	// Fair restricts the schedulers of an MDP to fair ones: on almost every path, if a
	// state is visited infinitely often, each of its choices is taken infinitely often.
	Fair bool
	// Beliefs limits the number of expanded beliefs of a partially observable model,
	// in the last round; 0 is the engine's default. Only the embedded engine reads it.
	Beliefs int
	// Reduce checks each property on the quotient by bisimulation. Verdicts have the
	// size of the quotient. Only the embedded engine reads it.
	Reduce bool
	// Symmetry explores, for each property, one of the states that differ only by a permutation of interchangeable modules, or in dead variables, and leaves
	// out control states that the property does not distinguish.
	// Verdicts have the size of that space. Only the embedded engine reads it.
	Symmetry bool
	// Boxes explores, for each property, boxes of states that behave in the same way. Verdicts have the size of that space. Without it, the embedded engine
	// does so for models with too many initial states. Only the embedded engine reads it.
	Boxes bool
	// Compose composes and minimises the automata of a JANI Markov automaton that have no variables, if the values of the properties do not change.
	// Only the embedded engine reads it.
	Compose bool
	// Disk is the directory in which the embedded engine keeps states, transitions and values, which may be larger than memory. Empty
	// means that they are in memory.
	Disk string
	// Process is the number of this process if several processes work in the directory Disk; the zero value means one process.
	Process shard.Part
	// Clocks is how the embedded engine represents the clocks of a timed automaton. Empty lets the engine choose one that is
	// exact and has few states.
	Clocks ClockMethod
}

// ClockMethod is a representation of the clocks of a timed automaton.
type ClockMethod string

// The representations of clocks.
const (
	DigitalClocks ClockMethod = "digital" // whole units of time, for closed constraints that do not compare two clocks
	ClockRegions  ClockMethod = "regions" // the regions of Alur and Dill, for probabilities only
	ClockZones    ClockMethod = "zones"   // sets of clock valuations, for one probability
)

// Simulation has the parameters of the statistical methods. Zero means not given. As in
// PRISM, the method decides which fields may be given together.
type Simulation struct {
	// Width is the wanted half-width of the interval, or half the indifference
	// region of SPRT.
	Width float64
	// Valid is as in stats.Params: Width is the half-width of the proven interval.
	Valid bool
	// Confidence is the wanted coverage: 0.99 is 99 %. PRISM's -simconf is 1 minus this number.
	Confidence float64
	// Samples is the number of paths.
	Samples int64
	// Approximation is APMC's half-width.
	Approximation float64
	// MaxSamples ends sampling that has not converged with an error; 0 means no limit.
	MaxSamples int64
	// MaxPath is the length of the longest path of an unbounded property, in
	// steps; 0 means 10000, as in PRISM.
	MaxPath int64
	// MaxReward is an upper bound of the absolute value of the reward of a path. If Width is given without Samples, it
	// determines after how many equal samples sampling may stop; 0 means
	// 1000, as in PRISM. MinSamples, if given, is that number of samples.
	MaxReward  float64
	MinSamples int64
	// Quantiles are the levels, between 0 and 1, of the quantiles of a reward to estimate. Only the embedded engine supports them.
	Quantiles []float64
	// Seed determines every random number. Results do not depend on Workers.
	Seed uint64
	// Workers is the number of goroutines that draw samples; 0 means one per processor.
	Workers int
	// Split, when not nil, shares the samples with other processes. Only the
	// embedded engine supports it.
	Split *shard.Ledger
}

// WriteFile writes a file completely or not at all.
type WriteFile func(file string, write func(io.Writer) error) error

// CertificateFile is the file for certificates, compressed if its name ends in .gz.
type CertificateFile struct {
	File  string
	Write WriteFile
}

// PartitionFile is the file of a partition.
type PartitionFile struct {
	File  string
	Text  []byte // its content; nil if the file is to be written
	Write WriteFile
}

// SchedulerFile is the file for a scheduler.
type SchedulerFile struct {
	// Target is a file name and, after a colon, the options of PRISM's
	// -exportstrat: "best.txt:type=indices". See native/explain/scheduler.
	Target string
	Write  WriteFile
}
