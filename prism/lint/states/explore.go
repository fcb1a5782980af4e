package states

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"tilecheck/prism/compile"
	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Options configures the exploration.
type Options struct {
	MaxStates int // 0 means DefaultStates
}

// DefaultStates is the default limit on the number of states.
const DefaultStates = 1_000_000

// maxBytes is the largest memory for states, in bytes.
const maxBytes = 1 << 30

// maxFindings is the largest number of findings of one kind.
const maxFindings = 100

// Report is the result of an exploration.
type Report struct {
	Findings []lint.Finding
	States   int // explored
	// Undecided says which findings about all reachable states could not be decided, and why;
	// empty if all were decided.
	Undecided string
	// Limited says that the reason is the limit on states or memory.
	Limited bool
}

// Look explores the reachable states of a program. If the context ends, the report has the
// findings so far. The error is that of the initial states.
func Look(ctx context.Context, p *sema.Program, opts Options) (*Report, error) {
	for _, m := range p.Modules {
		for _, c := range m.Commands {
			for _, u := range c.Updates {
				if u.ProbHigh != nil {
					return &Report{Undecided: "the model has intervals of probabilities: " + undecidedKinds}, nil
				}
			}
		}
	}
	m, err := compile.Compile(p, compile.Options{})
	if unsupported, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		return &Report{Undecided: unsupported.Error() + ": " + undecidedKinds}, nil
	}
	if err != nil {
		return nil, err
	}
	x := &explorer{program: p, model: m, expander: m.NewExpanderUntil(ctx), seen: make(map[string]struct{}), limit: opts.MaxStates}
	if x.limit <= 0 {
		x.limit = DefaultStates
	}
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if err := x.explore(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return x.report(ctx.Err() != nil), nil
}

const undecidedKinds = "guards that never hold, actions that are never ready, labels, overlaps, ranges and deadlocks are not decided"

// explorer is an exploration in progress.
type explorer struct {
	program  *sema.Program
	model    *compile.Model
	expander compile.Expander
	limit    int

	seen    map[string]struct{}
	queue   [][]int32
	packing *compile.Packing

	guards  []*guard // that have not held yet
	all     []*guard
	byRef   map[compile.CommandRef]*guard
	labels  []*label
	actions []bool // that were taken

	findings    []lint.Finding
	counts      map[lint.Code]int
	reported    map[string]bool
	deadlocks   int
	deadlock    string // the first
	errorStates int    // states in which the model is wrong
	evalError   string // what could not be evaluated
	visited     int
	cut         bool
}

// guard is a command with the facts found about it.
type guard struct {
	module   int
	command  *sema.Command
	eval     compile.Evaluator
	held     string // the first state in which it holds
	taken    bool
	checked  int // states in which the probabilities were summed
	constant bool
}

// label is a label with the facts found about it.
type label struct {
	def        *sema.LabelDef
	eval       compile.Evaluator
	some, none string // a state in which it holds, and one in which it does not
}

func (x *explorer) prepare() error {
	p := x.program
	x.packing = compile.NewPacking(p.Vars)
	x.actions = make([]bool, len(p.Actions))
	x.byRef, x.counts, x.reported = make(map[compile.CommandRef]*guard), make(map[lint.Code]int), make(map[string]bool)
	for i := range p.Modules {
		for j := range p.Modules[i].Commands {
			c := &p.Modules[i].Commands[j]
			eval, err := x.model.Evaluator(c.Guard)
			if err != nil {
				return err
			}
			g := &guard{module: i, command: c, eval: eval, constant: true}
			for _, u := range c.Updates {
				if _, ok := u.Prob.(*sema.Const); u.Prob != nil && !ok {
					g.constant = false
				}
			}
			x.all = append(x.all, g)
			x.byRef[compile.CommandRef{Module: i, Command: j}] = g
		}
	}
	x.guards = append(x.guards, x.all...)
	for i := range p.Labels {
		eval, err := x.model.Evaluator(p.Labels[i].X)
		if err != nil {
			continue
		}
		x.labels = append(x.labels, &label{def: &p.Labels[i], eval: eval})
	}
	return nil
}

func (x *explorer) explore(ctx context.Context) error {
	initial, err := x.model.InitialStates(ctx)
	if stateErr, ok := errors.AsType[*compile.StateError](err); ok {
		x.addStateError(stateErr)
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range initial {
		x.add(s)
	}
	for ; len(x.queue) > 0; x.visited++ {
		if x.visited%256 == 0 && ctx.Err() != nil {
			return nil
		}
		state := x.queue[0]
		x.queue = x.queue[1:]
		x.evaluate(state)
		if err := x.expand(ctx, state); err != nil {
			return err
		}
	}
	return nil
}

// add adds a new state to the queue, within the limits.
func (x *explorer) add(state []int32) {
	words := make([]uint64, x.packing.Words)
	x.packing.Pack(words, state)
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	if _, known := x.seen[string(b)]; known {
		return
	}
	if len(x.seen) >= x.limit || len(x.seen)*(len(b)+4*len(state)+100) > maxBytes {
		x.cut = true
		return
	}
	x.seen[string(b)] = struct{}{}
	x.queue = append(x.queue, append([]int32(nil), state...))
}

// evaluate evaluates in a state the guards that have not held yet, and the labels.
func (x *explorer) evaluate(state []int32) {
	left := x.guards[:0]
	for _, g := range x.guards {
		switch holds, err := g.eval.Bool(state); {
		case err != nil:
			x.evalError = err.Error()
			left = append(left, g)
		case holds:
			g.held = x.model.StateText(state)
		default:
			left = append(left, g)
		}
	}
	x.guards = left
	for _, l := range x.labels {
		if l.some != "" && l.none != "" {
			continue
		}
		switch holds, err := l.eval.Bool(state); {
		case err != nil:
			x.evalError = err.Error()
		case holds && l.some == "":
			l.some = x.model.StateText(state)
		case !holds && l.none == "":
			l.none = x.model.StateText(state)
		}
	}
}

func (x *explorer) expand(ctx context.Context, state []int32) error {
	choices, err := x.expander.Expand(state)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		stateErr, ok := errors.AsType[*compile.StateError](err)
		if !ok {
			return err
		}
		x.errorStates++
		x.addStateError(stateErr)
		return nil
	}
	if choices.Deadlock() {
		if x.deadlocks++; x.deadlocks == 1 {
			x.deadlock = x.model.StateText(state)
		}
	}
	if x.program.Type == syntax.DTMC && len(choices.List) > 1 {
		x.addOverlap(choices, state)
	}
	for _, c := range choices.List {
		if c.Action >= 0 {
			x.actions[c.Action] = true
		}
		for _, ref := range c.Commands {
			g := x.byRef[ref]
			g.taken = true
			x.checkSum(g, state)
		}
		for _, t := range c.Transitions {
			x.add(t.Target)
		}
	}
	return nil
}

// addFinding adds a finding once per position and message.
func (x *explorer) addFinding(pos syntax.Pos, code lint.Code, state, format string, args ...any) {
	f := lint.Finding{File: x.program.File, Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), State: state}
	key := fmt.Sprint(pos, code, f.Message)
	if x.reported[key] || x.counts[code] >= maxFindings {
		return
	}
	x.reported[key] = true
	x.counts[code]++
	x.findings = append(x.findings, f)
}

// addStateError adds an error of the model in a state, once per position and kind.
func (x *explorer) addStateError(e *compile.StateError) {
	code := lint.StateError
	if strings.Contains(e.Msg, "leaves") {
		code = lint.LeavesRange
	}
	if key := fmt.Sprint(e.Pos, code); !x.reported[key] {
		x.reported[key] = true
		x.addFinding(e.Pos, code, e.State, "%s", e.Msg)
	}
}

// addOverlap reports two commands that are enabled in the same state of a DTMC. For commands of
// two modules, where this is usually intended, it reports each pair of modules once.
func (x *explorer) addOverlap(choices *compile.Choices, state []int32) {
	a, b := choices.List[0].Commands, choices.List[1].Commands
	if len(a) == 0 || len(b) == 0 {
		return
	}
	first, second := x.byRef[a[0]], x.byRef[b[0]]
	for i := 0; i < len(a) && i < len(b); i++ { // the first commands that differ
		if a[i] != b[i] {
			first, second = x.byRef[a[i]], x.byRef[b[i]]
			break
		}
	}
	if first.command.Pos.Compare(second.command.Pos) > 0 {
		first, second = second, first
	}
	if first.module != second.module {
		side := fmt.Sprint("side by side ", min(first.module, second.module), max(first.module, second.module))
		if !x.reported[side] {
			x.reported[side] = true
			x.addFinding(first.command.Pos, lint.Overlap, x.model.StateText(state),
				"this command of module %s and that of %s in line %d are enabled in the same state of a DTMC: PRISM chooses between the modules uniformly",
				x.program.Modules[first.module].Name, x.program.Modules[second.module].Name, second.command.Pos.Line)
		}
		return
	}
	x.addFinding(first.command.Pos, lint.Overlap, x.model.StateText(state),
		"this command and that in line %d are enabled in the same state of a DTMC: PRISM chooses between them uniformly", second.command.Pos.Line)
}

// maxSums is the largest number of states in which the probabilities of a command are added.
const maxSums = 1000

// checkSum reports probabilities whose sum is 1 only in float64 arithmetic.
func (x *explorer) checkSum(g *guard, state []int32) {
	limit := maxSums
	if g.constant {
		limit = 1
	}
	if g.checked >= limit || x.program.Type == syntax.CTMC || len(g.command.Updates) < 2 {
		return
	}
	g.checked++
	if total, ok := exactSum(g.command, state); ok && total != "" {
		where := ""
		if !g.constant {
			where = x.model.StateText(state)
		}
		g.checked = limit
		x.addFinding(g.command.Pos, lint.Rounded, where, "the probabilities sum to %s, which is 1 only after rounding", total)
	}
}
