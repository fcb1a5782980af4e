package states

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

// maxBytes is the largest estimated memory for states, in bytes.
const maxBytes = 1 << 30

// stateOverhead estimates the memory of a state in bytes, without its key in explorer.seen and its values in explorer.queue: the entry of
// the map, and the headers of a string and a slice.
const stateOverhead = 100

// statesPerPoll is the number of states after which the exploration checks whether its context has ended.
const statesPerPoll = 256

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

// Explore explores the reachable states of a program and reports likely mistakes, such as guards that never hold. If the context ends, the report
// has the findings so far. It returns an error if the program cannot be compiled or its initial states cannot be computed.
func Explore(ctx context.Context, program *sema.Program, options Options) (*Report, error) {
	if hasIntervals(program) {
		return &Report{Undecided: "the model has intervals of probabilities: " + undecidedKinds}, nil
	}
	model, err := compile.Compile(program, compile.Options{})
	if unsupported, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		return &Report{Undecided: unsupported.Error() + ": " + undecidedKinds}, nil
	}
	if err != nil {
		return nil, err
	}
	explorer := newExplorer(model, program, options)
	explorer.expander = model.NewExpanderUntil(ctx)
	if err := explorer.collectGuards(); err != nil {
		return nil, err
	}
	explorer.collectLabels()
	if err := explorer.explore(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return explorer.makeReport(ctx.Err()), nil
}

// hasIntervals reports whether a command has an interval of probabilities.
func hasIntervals(program *sema.Program) bool {
	isInterval := func(update sema.Update) bool { return update.ProbHigh != nil }
	for _, module := range program.Modules {
		for _, command := range module.Commands {
			if slices.ContainsFunc(command.Updates, isInterval) {
				return true
			}
		}
	}
	return false
}

const undecidedKinds = "lint did not look for guards that never hold, actions that are never ready, labels that are always false or always true, overlaps, ranges and deadlocks"

// explorer is the state of an exploration.
type explorer struct {
	program  *sema.Program
	model    *compile.Model
	expander compile.Expander
	limit    int

	seen    map[string]struct{}
	queue   [][]int32
	packing *compile.Packing

	guardsNotHeld []*guard // the guards that have not held yet
	allGuards     []*guard
	guardOf       map[compile.CommandRef]*guard
	labels        []*label
	takenActions  []bool // by action index

	findings        []lint.Finding
	counts          map[lint.Code]int
	reported        map[string]bool
	deadlocks       int
	firstDeadlock   string // text of the state
	erroneousStates int    // number of states with an error of the model
	evalError       string // message of an evaluation error
	visited         int
	limitReached    bool
}

// guard is the guard of a command, with the facts found about it.
type guard struct {
	module                int
	command               *sema.Command
	evaluator             compile.Evaluator
	heldIn                string // the first state in which it holds
	taken                 bool
	checkedSums           int // states in which the probabilities were summed
	constantProbabilities bool
}

// label is a label with the facts found about it.
type label struct {
	def              *sema.LabelDef
	evaluator        compile.Evaluator
	holdsIn, failsIn string // a state in which it holds, and one in which it does not
}

// newExplorer returns an explorer of a model. The guards and labels must be added before the exploration.
func newExplorer(model *compile.Model, program *sema.Program, options Options) *explorer {
	limit := options.MaxStates
	if limit <= 0 {
		limit = DefaultStates
	}
	return &explorer{
		program:      program,
		model:        model,
		limit:        limit,
		seen:         make(map[string]struct{}),
		packing:      compile.NewPacking(program.Vars),
		takenActions: make([]bool, len(program.Actions)),
		guardOf:      make(map[compile.CommandRef]*guard),
		counts:       make(map[lint.Code]int),
		reported:     make(map[string]bool),
	}
}

// collectGuards compiles the guards of all commands for evaluation in states.
func (x *explorer) collectGuards() error {
	for moduleIndex, module := range x.program.Modules {
		for commandIndex := range module.Commands {
			command := &module.Commands[commandIndex]
			evaluator, err := x.model.Evaluator(command.Guard)
			if err != nil {
				return err
			}
			guard := &guard{module: moduleIndex, command: command, evaluator: evaluator, constantProbabilities: hasConstantProbabilities(command)}
			x.allGuards = append(x.allGuards, guard)
			x.guardOf[compile.CommandRef{Module: moduleIndex, Command: commandIndex}] = guard
		}
	}
	x.guardsNotHeld = slices.Clone(x.allGuards)
	return nil
}

// collectLabels compiles the labels for evaluation in states.
func (x *explorer) collectLabels() {
	for i := range x.program.Labels {
		definition := &x.program.Labels[i]
		evaluator, err := x.model.Evaluator(definition.Expr)
		if err != nil { // one state does not determine the value of this label
			continue
		}
		x.labels = append(x.labels, &label{def: definition, evaluator: evaluator})
	}
}

// hasConstantProbabilities reports whether no probability of the command depends on the state.
func hasConstantProbabilities(command *sema.Command) bool {
	for _, update := range command.Updates {
		_, isConstant := update.Prob.(*sema.Const)
		if update.Prob != nil && !isConstant {
			return false
		}
	}
	return true
}

// explore visits the reachable states breadth-first, and evaluates the guards and labels in each state. If ctx ends, it stops without an error. An error of the
// model in an initial state becomes a finding.
func (x *explorer) explore(ctx context.Context) error {
	initial, err := x.model.InitialStates(ctx)
	if stateErr, ok := errors.AsType[*compile.StateError](err); ok {
		x.addStateError(stateErr)
		return nil
	}
	if err != nil {
		return err
	}
	for _, state := range initial {
		x.enqueue(state)
	}
	for ; len(x.queue) > 0; x.visited++ {
		if x.visited%statesPerPoll == 0 && ctx.Err() != nil {
			return nil
		}
		state := x.queue[0]
		x.queue = x.queue[1:]
		x.evaluateGuardsAndLabels(state)
		if err := x.expand(ctx, state); err != nil {
			return err
		}
	}
	return nil
}

// enqueue adds a state to the queue if it is new. If the limit of states or memory is reached, it drops the state and sets limitReached.
func (x *explorer) enqueue(state []int32) {
	words := make([]uint64, x.packing.Words)
	x.packing.Pack(words, state)
	var key []byte
	for _, word := range words {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	if _, isKnown := x.seen[string(key)]; isKnown {
		return
	}
	memory := len(x.seen) * (len(key) + 4*len(state) + stateOverhead)
	if len(x.seen) >= x.limit || memory > maxBytes {
		x.limitReached = true
		return
	}
	x.seen[string(key)] = struct{}{}
	x.queue = append(x.queue, slices.Clone(state))
}

// evaluateGuardsAndLabels evaluates in a state the guards that did not hold in any state so far. It also evaluates the labels that were always
// true or always false so far.
func (x *explorer) evaluateGuardsAndLabels(state []int32) {
	notHeld := x.guardsNotHeld[:0]
	for _, guard := range x.guardsNotHeld {
		holds, err := guard.evaluator.Bool(state)
		if err != nil {
			x.evalError = err.Error()
		}
		if err == nil && holds {
			guard.heldIn = x.model.StateText(state)
		} else {
			notHeld = append(notHeld, guard)
		}
	}
	x.guardsNotHeld = notHeld
	for _, label := range x.labels {
		if label.holdsIn == "" || label.failsIn == "" {
			x.evaluateLabel(label, state)
		}
	}
}

// evaluateLabel records the first state in which a label holds and the first state in which it does not.
func (x *explorer) evaluateLabel(label *label, state []int32) {
	holds, err := label.evaluator.Bool(state)
	switch {
	case err != nil:
		x.evalError = err.Error()
	case holds && label.holdsIn == "":
		label.holdsIn = x.model.StateText(state)
	case !holds && label.failsIn == "":
		label.failsIn = x.model.StateText(state)
	}
}

// expand computes the choices of a state, checks them and enqueues their target states.
func (x *explorer) expand(ctx context.Context, state []int32) error {
	choices, err := x.expander.Expand(state)
	if err != nil {
		return x.handleExpandError(ctx, err)
	}
	if choices.Deadlock() {
		x.deadlocks++
		if x.deadlocks == 1 {
			x.firstDeadlock = x.model.StateText(state)
		}
	}
	if x.program.Type == syntax.DTMC && len(choices.List) > 1 {
		x.addOverlap(choices, state)
	}
	for i := range choices.List {
		x.checkChoice(&choices.List[i], state)
	}
	return nil
}

// checkChoice records that the action and the commands of a choice can occur. It adds the target states to the queue.
func (x *explorer) checkChoice(choice *compile.Choice, state []int32) {
	if choice.Action >= 0 {
		x.takenActions[choice.Action] = true
	}
	for _, reference := range choice.Commands {
		guard := x.guardOf[reference]
		guard.taken = true
		x.checkSum(guard, state)
	}
	for _, transition := range choice.Transitions {
		x.enqueue(transition.Target)
	}
}

// handleExpandError handles an error of the expansion of a state. An error in the model, such as a division by zero, becomes a finding. Any other
// error is returned, unless the context has ended.
func (x *explorer) handleExpandError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	stateErr, ok := errors.AsType[*compile.StateError](err)
	if !ok {
		return err
	}
	x.erroneousStates++
	x.addStateError(stateErr)
	return nil
}

// addFinding adds a finding. The same message is added only once for each position, and at most maxFindings findings are added for each code.
func (x *explorer) addFinding(pos syntax.Pos, code lint.Code, state, format string, args ...any) {
	finding := lint.Finding{File: x.program.File, Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), State: state}
	key := fmt.Sprint(pos, code, finding.Message)
	if x.reported[key] || x.counts[code] >= maxFindings {
		return
	}
	x.reported[key] = true
	x.counts[code]++
	x.findings = append(x.findings, finding)
}

// addStateError adds a finding for an error of the model in a state, once for each position and code.
func (x *explorer) addStateError(err *compile.StateError) {
	code := lint.StateError
	if strings.Contains(err.Msg, "leaves") {
		code = lint.LeavesRange
	}
	if key := fmt.Sprint(err.Pos, code); !x.reported[key] {
		x.reported[key] = true
		x.addFinding(err.Pos, code, err.State, "%s", err.Msg)
	}
}

// addOverlap adds a finding if two commands are enabled in the same state of a DTMC.
func (x *explorer) addOverlap(choices *compile.Choices, state []int32) {
	first, second := x.differingGuards(choices.List[0].Commands, choices.List[1].Commands)
	if first == nil {
		return
	}
	if first.command.Pos.Compare(second.command.Pos) > 0 {
		first, second = second, first
	}
	if first.module == second.module {
		x.addFinding(first.command.Pos, lint.Overlap, x.model.StateText(state),
			"this command and that in line %d are enabled in the same state of a DTMC: PRISM chooses between them uniformly", second.command.Pos.Line)
		return
	}
	// Commands of different modules usually overlap on purpose, so each pair of modules is reported once.
	modulePair := fmt.Sprint("side by side ", min(first.module, second.module), max(first.module, second.module))
	if x.reported[modulePair] {
		return
	}
	x.reported[modulePair] = true
	x.addFinding(first.command.Pos, lint.Overlap, x.model.StateText(state),
		"this command of module %s and that of %s in line %d are enabled in the same state of a DTMC: PRISM chooses between the modules uniformly",
		x.program.Modules[first.module].Name, x.program.Modules[second.module].Name, second.command.Pos.Line)
}

// differingGuards compares the commands of two choices pairwise, and returns the guards of the first pair that differs. If all pairs are equal,
// it returns the guards of the first pair. It returns nil if a choice has no commands.
func (x *explorer) differingGuards(first, second []compile.CommandRef) (firstGuard, secondGuard *guard) {
	if len(first) == 0 || len(second) == 0 {
		return nil, nil
	}
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return x.guardOf[first[i]], x.guardOf[second[i]]
		}
	}
	return x.guardOf[first[0]], x.guardOf[second[0]]
}

// maxSums is the largest number of states in which the probabilities of a command are added.
const maxSums = 1000

// checkSum adds a finding if the probabilities of a command add up to 1 in float64 arithmetic, but not exactly.
func (x *explorer) checkSum(guard *guard, state []int32) {
	limit := maxSums
	if guard.constantProbabilities {
		limit = 1
	}
	if guard.checkedSums >= limit || x.program.Type == syntax.CTMC || len(guard.command.Updates) < 2 {
		return
	}
	guard.checkedSums++
	sum, ok := exactSum(guard.command, state)
	isOne := sum == ""
	if !ok || isOne {
		return
	}
	guard.checkedSums = limit // report a command only once
	stateText := ""
	if !guard.constantProbabilities {
		stateText = x.model.StateText(state)
	}
	x.addFinding(guard.command.Pos, lint.Rounded, stateText, "the probabilities sum to %s, which is 1 only after rounding", sum)
}
