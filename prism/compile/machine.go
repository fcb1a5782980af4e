package compile

import (
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Monitor says what is evaluated along a path and when the path ends.
type Monitor struct {
	Kind MonitorKind
	// Left and Right are Bool state expressions. Until: the path formula
	// Left U Right. Next: X Right. ReachReward: stops at Right. Unused: nil.
	Left, Right sema.Expr
	// Low and High bound the number of steps (the time, in a CTMC) at which
	// Right must hold, or High is the horizon of CumulReward and InstantReward.
	// Infinities mean that there is no bound.
	Low, High                 float64
	IsLowStrict, IsHighStrict bool
	// Reward is the index of the reward structure that is accumulated or read.
	Reward int
	// MaxPath is the number of steps after which an unbounded monitor gives up
	// with Undecided; bounded monitors ignore it, as in PRISM.
	MaxPath int64
}

// Bounded reports whether the monitor ends by itself after High.
func (m Monitor) Bounded() bool { return !math.IsInf(m.High, 1) }

// MonitorKind is the kind of a Monitor.
type MonitorKind uint8

// The kinds of monitor.
const (
	Until MonitorKind = iota
	Next
	ReachReward
	CumulReward
	InstantReward
)

// Status says how a path ended.
type Status uint8

// The ends of a path.
const (
	// True and False: the formula is decided. Reward monitors end with True.
	True Status = iota
	False
	// Undecided: MaxPath steps did not decide an unbounded monitor.
	Undecided
	// Deadlocked: the path reached a deadlock and Options.NoFixDeadlocks is set.
	Deadlocked
	// Failed: the model is wrong in the state reached; Outcome.Err says how.
	Failed
)

// Outcome is the result of one path.
type Outcome struct {
	Status Status
	Steps  int64
	Time   float64 // CTMC only
	Reward float64 // reward monitors only
	// Nondet is the number of visited states with more than one choice (MDP), where
	// the choice was resolved uniformly. If it is 0, the path met no nondeterminism.
	Nondet int64
	// Overlap is the number of visited states of a DTMC where more than one command
	// was enabled. PRISM silently resolves that uniformly.
	Overlap int64
	Err     *StateError // Status Failed or Deadlocked
}

// StateError is an error of the model in one state: a value outside its range,
// probabilities that do not sum to one, an evaluation error.
type StateError struct {
	File  string
	Pos   syntax.Pos // of the command, update or expression
	State string     // "(v_0=2,v_1=0,phase=1)"
	Msg   string     // "x'=9 leaves [0..8]"
	// Undecided says that it is not known whether the model is wrong: see
	// sema.EvalError.
	Undecided bool
}

// Error returns "file:line:col: message in state (…)".
func (e *StateError) Error() string {
	err := syntax.Error{File: e.File, Pos: e.Pos, Msg: e.Msg + " in state " + e.State}
	return err.Error()
}

// Runner samples paths of one model under one monitor. Run is deterministic in
// the stream; a Runner is not safe for concurrent use. The interpreter and the
// WebAssembly machine implement it and give bit-identical outcomes.
type Runner interface {
	Run(s Stream) Outcome
	Close() error
}
