package files

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// maxSumError is the largest accepted difference between 1 and the sum of a row's probabilities.
// PRISM has the same limit for models that it builds, but accepts any sum in a file. The difference
// widens the bounds of every value.
//
// Source: prism -sumroundoff.
const maxSumError = 1e-5

// higherOrderFactor makes a first-order bound of rounding errors cover the products of errors.
const higherOrderFactor = 1.01

// warnSumError is the difference from 1 above which a warning is given. Numbers with 16 digits
// stay below it.
const warnSumError = 1e-12

// defaultMaxStates is a limit that prevents a corrupt file with a huge number of states from using
// all memory.
const defaultMaxStates = 1 << 27

// ReadOptions configures a reader. The zero value is the default.
type ReadOptions struct {
	// Type is the type of the model. By default it is read from the file. If the file does not
	// contain it, it is guessed from the numbers in the file, as PRISM does.
	Type syntax.ModelType
	// Exact keeps all numbers also as fractions. Probabilities must then sum to
	// exactly 1, unless Normalise is set.
	Exact bool
	// Normalise, with Exact, divides the probabilities of a row by their sum if the sum differs
	// from 1 by at most maxSumError.
	Normalise bool
	// Fractions rejects UMB files with floating-point numbers.
	Fractions bool
	// NoFixDeadlocks makes a state without transitions an error.
	NoFixDeadlocks bool
	// MaxStates is the greatest number of states; 0 means about 134 million.
	MaxStates int
	// OperatorT adds the reward structure of Storm's operator T, the expected time.
	OperatorT bool
}

// checkNumStates returns a *explicit.LimitError if a model has more states than the options allow.
func (opts ReadOptions) checkNumStates(numStates int) error {
	maxStates := opts.MaxStates
	if maxStates <= 0 {
		maxStates = defaultMaxStates
	}
	if numStates > maxStates {
		return &explicit.LimitError{Limit: int64(maxStates), States: numStates}
	}
	return nil
}

// assembly checks the rows of a model and adds them to a sparse.Builder. It is common to all formats.
type assembly struct {
	*lines
	modelKind        sparse.Kind
	isExact          bool
	numStates        int // in all
	builder          *sparse.Builder
	numStartedStates int // number of states whose rows were begun
	one              number

	actionNames  []string
	actionByName map[string]sparse.Action

	// The current row:
	rowPosition syntax.Pos
	rowEdges    edgeSet
	rowSum      number
	// In an interval model, nextUpperBound is the upper bound of the next transition, and sumOfUpperBounds
	// the sum of the row's upper bounds. The other numbers are lower bounds.
	hasIntervals     bool
	nextUpperBound   number
	sumOfUpperBounds *big.Rat

	numTransitions, numChoices int
	deadlocks                  *sparse.Set
	selfLoopStates             *sparse.Set // states whose only transitions are self-loops
	numSumErrors               int         // diagnostics about sums
	maxDeviation               float64     // largest difference of a sum from 1
	numDeviatingRows           int         // rows with a difference above warnSumError
	// With normalise, the transitions of the current row, which are put when their sum is known.
	normalisesRows bool
	bufferedRow    []bufferedTransition
	isNormalised   bool // as explicit.Space.Normalised
}

// bufferedTransition is a transition of a row whose sum is not known yet.
type bufferedTransition struct {
	edge
	weight number
}

// edge identifies a transition of a row: its target and its action.
type edge struct {
	target int
	action sparse.Action
}

// edgeSet is a set of the transitions of a row. positions is the inverse of edges, if the row is long.
type edgeSet struct {
	edges     []edge
	positions map[edge]int // index of each edge, in a long row
}

// shortRow is the length up to which a row is searched linearly.
const shortRow = 16

// addEdge adds an edge to the set if it is new, and returns the position of the edge in the set. It searches a short list from the start. For a
// longer list, it keeps a map with the positions.
func (set *edgeSet) addEdge(newEdge edge) (number int, isNew bool) {
	length := len(set.edges)
	if length < shortRow {
		if position := slices.Index(set.edges, newEdge); position >= 0 {
			return position, false
		}
		set.edges = append(set.edges, newEdge)
		return length, true
	}
	if set.positions == nil {
		set.positions = make(map[edge]int)
		for position, other := range set.edges {
			set.positions[other] = position
		}
	}
	if position, isKnown := set.positions[newEdge]; isKnown {
		return position, false
	}
	set.positions[newEdge] = length
	set.edges = append(set.edges, newEdge)
	return length, true
}

// clear removes all edges.
func (e *edgeSet) clear() { e.edges, e.positions = e.edges[:0], nil }

// newAssembly returns an assembly without rows for a model of the given kind and number of states. It records errors in source, the lines
// of the file that is read.
func newAssembly(source *lines, kind sparse.Kind, numStates int, opts ReadOptions) *assembly {
	return &assembly{
		lines: source, modelKind: kind, numStates: numStates, isExact: opts.Exact,
		normalisesRows: opts.Exact && opts.Normalise && kind != sparse.CTMC,
		builder:        sparse.NewBuilder(kind),
		actionByName:   make(map[string]sparse.Action),
		one:            number{float: 1, fraction: big.NewRat(1, 1)},
		selfLoopStates: sparse.NewSet(numStates), deadlocks: sparse.NewSet(numStates),
	}
}

// startState starts the rows of a state. Earlier states that were not started have no row in the file. They become deadlocks with a
// self-loop. To end the model, call it with the number of states.
func (assembly *assembly) startState(state int) {
	assembly.endRow()
	for assembly.numStartedStates < state {
		assembly.addDeadlock()
	}
	if state < assembly.numStates {
		assembly.builder.State()
		assembly.numStartedStates++
		assembly.selfLoopStates.Add(state)
	}
}

// addDeadlock adds the next state as a deadlock, with a self-loop.
func (assembly *assembly) addDeadlock() {
	assembly.deadlocks.Add(assembly.numStartedStates)
	assembly.builder.State()
	assembly.startBuilderRow(sparse.NoAction)
	assembly.nextUpperBound = assembly.one
	assembly.addToBuilder(assembly.numStartedStates, assembly.one, sparse.NoAction)
	assembly.numStartedStates++
}

// startBuilderRow starts a choice in the builder. In a Markov chain, the builder has a row for each state.
func (assembly *assembly) startBuilderRow(action sparse.Action) {
	if assembly.modelKind == sparse.MDP {
		assembly.builder.Choice(action)
	}
}

// addToBuilder adds a transition to the model that is built. Its weight becomes an interval in an interval model, a fraction in an exact
// model, and otherwise a float64.
func (assembly *assembly) addToBuilder(target int, weight number, action sparse.Action) {
	switch {
	case assembly.hasIntervals:
		assembly.builder.AddInterval(target, weight.fraction, assembly.nextUpperBound.fraction, action)
		return
	case assembly.isExact:
		assembly.builder.AddRat(target, weight.fraction, action)
		return
	}
	assembly.builder.AddAction(target, weight.float, action)
}

// startChoice ends the current row and starts a choice of the current state. position is the position of its first line in the file.
func (assembly *assembly) startChoice(action sparse.Action, pos syntax.Pos) {
	assembly.endRow()
	assembly.startBuilderRow(action)
	assembly.numChoices++
	assembly.rowPosition, assembly.rowSum = pos, number{}
	if assembly.isExact {
		assembly.rowSum.fraction, assembly.sumOfUpperBounds = new(big.Rat), new(big.Rat)
	}
}

// addTransition adds a transition to the current row. An invalid weight is an error at weightColumn of the current line. A second
// transition with the same target and action is an error at targetColumn.
func (assembly *assembly) addTransition(target int, weight number, action sparse.Action, targetColumn, weightColumn int) {
	if !assembly.checkWeight(weight, weightColumn) {
		return
	}
	if _, isNew := assembly.rowEdges.addEdge(edge{target, action}); !isNew {
		assembly.ErrorAt(targetColumn, "found a second transition to state %d, wanted one", target)
		return
	}
	assembly.numTransitions++
	assembly.addToSum(weight)
	if assembly.normalisesRows && !assembly.hasIntervals {
		assembly.bufferedRow = append(assembly.bufferedRow, bufferedTransition{edge{target, action}, weight})
	} else {
		assembly.addToBuilder(target, weight, action)
	}
	if state := assembly.numStartedStates - 1; target != state {
		assembly.selfLoopStates.Remove(state)
	}
}

// checkWeight reports whether the weight of a transition is a positive rate or a probability above 0. Otherwise it records an error at the
// given column. It accepts all intervals, because parseInterval has checked them.
func (assembly *assembly) checkWeight(weight number, column int) bool {
	isPositive := weight.float > 0 // false for NaN
	isProbability := isPositive && weight.float <= 1+maxSumError
	switch {
	case assembly.modelKind == sparse.CTMC && !isPositive:
		assembly.ErrorAt(column, "found rate %v, wanted more than 0", weight.float)
		return false
	case assembly.modelKind != sparse.CTMC && !assembly.hasIntervals && !isProbability:
		assembly.ErrorAt(column, "found probability %v, wanted more than 0 and at most 1", weight.float)
		return false
	}
	return true
}

// addToSum adds the weight of a transition to the sum of the current row. In an interval model the weight is a lower bound, and the upper
// bound is added to a second sum.
func (assembly *assembly) addToSum(weight number) {
	assembly.rowSum.float += weight.float
	if !assembly.isExact {
		return
	}
	assembly.rowSum.fraction.Add(assembly.rowSum.fraction, weight.fraction)
	if assembly.hasIntervals {
		assembly.sumOfUpperBounds.Add(assembly.sumOfUpperBounds, assembly.nextUpperBound.fraction)
	}
}

// endRow ends the current row, if it has transitions. It checks that their probabilities sum to 1, and records how much the sum differs
// from 1. With ReadOptions.Normalise, it divides the probabilities by their sum. Rates of a CTMC can have any sum.
func (assembly *assembly) endRow() {
	isEmpty := len(assembly.rowEdges.edges) == 0
	assembly.rowEdges.clear()
	if isEmpty || assembly.modelKind == sparse.CTMC {
		return
	}
	if assembly.hasIntervals {
		assembly.endIntervals()
		return
	}
	hasOtherErrors := len(assembly.Errs) > assembly.numSumErrors
	if hasOtherErrors { // they may have caused a wrong sum
		return
	}
	deviation := math.Abs(assembly.rowSum.float - 1)
	assembly.checkSum(deviation)
	assembly.addBufferedRow()
	assembly.maxDeviation = max(assembly.maxDeviation, deviation)
	if deviation > warnSumError {
		assembly.numDeviatingRows++
	}
}

// checkSum records an error if the probabilities of the current row do not sum to 1: exactly in an exact model, and otherwise up to
// maxSumError. If the row will be divided by its sum, the sum need not be exact. deviation is the distance of the sum from 1.
func (assembly *assembly) checkSum(deviation float64) {
	isNormalised := assembly.normalisesRows && deviation <= maxSumError
	switch {
	case assembly.isExact && assembly.rowSum.fraction.Cmp(assembly.one.fraction) != 0 && !isNormalised:
		assembly.ErrorAtPos(assembly.rowPosition, "the probabilities from here on sum to exactly %s, wanted 1 (fractions such as 1/3 can be written exactly)", assembly.rowSum.fraction.RatString())
	case deviation > maxSumError:
		assembly.ErrorAtPos(assembly.rowPosition, "the probabilities from here on sum to %s, wanted 1", strconv.FormatFloat(assembly.rowSum.float, 'g', 10, 64))
	default:
		return
	}
	assembly.numSumErrors = len(assembly.Errs)
}

// addBufferedRow adds the buffered transitions of the current row to the model. If their probabilities do not sum to exactly 1, it divides
// them by their sum.
func (assembly *assembly) addBufferedRow() {
	sumIsOne := assembly.rowSum.fraction == nil || assembly.rowSum.fraction.Cmp(assembly.one.fraction) == 0
	for _, buffered := range assembly.bufferedRow {
		if !sumIsOne {
			buffered.weight.fraction = new(big.Rat).Quo(buffered.weight.fraction, assembly.rowSum.fraction)
			assembly.isNormalised = true
		}
		assembly.addToBuilder(buffered.target, buffered.weight, buffered.action)
	}
	assembly.bufferedRow = assembly.bufferedRow[:0]
}

// endIntervals checks that the intervals of the current row contain a distribution.
func (assembly *assembly) endIntervals() {
	if one := big.NewRat(1, 1); assembly.rowSum.fraction.Cmp(one) > 0 || assembly.sumOfUpperBounds.Cmp(one) < 0 {
		assembly.ErrorAtPos(assembly.rowPosition, "the intervals from here on sum to exactly [%s,%s], wanted an interval that contains 1", assembly.rowSum.fraction.RatString(), assembly.sumOfUpperBounds.RatString())
	}
}

// parseInterval parses an interval of probabilities such as [0.1,0.3], and returns its bounds. For any other text it records an error, and
// ok is false.
func (assembly *assembly) parseInterval(entry field) (low, high number, ok bool) {
	text, hasOpening := strings.CutPrefix(entry.String(), "[")
	text, hasClosing := strings.CutSuffix(text, "]")
	lowText, highText, hasComma := strings.Cut(text, ",")
	if !hasOpening || !hasClosing || !hasComma {
		assembly.ErrorAt(entry.Column, "found %s, wanted an interval such as [0.1,0.3]", textlines.Quote(entry.Text))
		return low, high, false
	}
	if low, ok = assembly.parseValue(field{Text: []byte(lowText), Column: entry.Column + 1}, "probability", true); !ok {
		return low, high, false
	}
	trimmed := strings.TrimLeft(highText, " ") // Storm writes a space
	highColumn := entry.Column + len("[") + len(lowText) + len(",") + len(highText) - len(trimmed)
	if high, ok = assembly.parseValue(field{Text: []byte(trimmed), Column: highColumn}, "probability", true); !ok {
		return low, high, false
	}
	if !isInterval(low, high) {
		assembly.ErrorAt(entry.Column, "found %s, wanted an interval of probabilities from 0 to 1, with an upper bound above 0", textlines.Quote(entry.Text))
		return low, high, false
	}
	return low, high, true
}

// isInterval reports whether low and high are bounds of a probability that can be positive.
func isInterval(low, high number) bool {
	return low.float >= 0 && high.float > 0 && low.fraction.Cmp(high.fraction) <= 0 && high.float <= 1
}

// actionNumber returns the number of the action with the given name. A name that is new gets the next number. No name stands for no action.
// Too many actions are an error.
func (assembly *assembly) actionNumber(name string) sparse.Action {
	if name == "" {
		return sparse.NoAction
	}
	if action, isKnown := assembly.actionByName[name]; isKnown {
		return action
	}
	if len(assembly.actionNames) >= math.MaxUint16-1 {
		assembly.ErrorAt(0, "found more than %d actions", math.MaxUint16-1)
		return sparse.NoAction
	}
	assembly.actionNames = append(assembly.actionNames, name)
	action := sparse.Action(len(assembly.actionNames))
	assembly.actionByName[name] = action
	return action
}

// finish ends the last row, adds the deadlocks after it, and returns the model. It returns nil if there were errors. model.RelErr, the bound
// of the relative errors of weights, allows for sums that differ from 1.
func (assembly *assembly) finish() *sparse.Model {
	assembly.endRow()
	if len(assembly.Errs) > 0 {
		return nil
	}
	assembly.startState(assembly.numStates)
	model, err := assembly.builder.Finish()
	if err != nil {
		assembly.ErrorAtEnd("%v", err)
		return nil
	}
	if assembly.isExact {
		model.RelErr = 0
	} else {
		model.RelErr = higherOrderFactor * (assembly.maxDeviation + sema.UnitRoundoff)
	}
	return model
}

// declaredSets holds the sets of states that a file defines by labels.
type declaredSets struct {
	labels   []sparse.Label
	init     *sparse.Set // nil if not defined
	deadlock *sparse.Set // nil if not defined
}

// setLabels sets the labels, the initial states and the deadlocks of the model. Without a label init, state 0 is initial. States without
// transitions are deadlocks, even if the label deadlock does not have them.
func (assembly *assembly) setLabels(model *sparse.Model, sets declaredSets) {
	model.Labels = sets.labels
	model.Initial = []uint32{0}
	if sets.init != nil {
		model.Initial = nil
		for state := range sets.init.All() {
			model.Initial = append(model.Initial, uint32(state))
		}
	}
	deadlocks := assembly.deadlocks
	if sets.deadlock != nil {
		deadlocks = deadlocks.Union(sets.deadlock)
	}
	if !deadlocks.Empty() {
		model.Deadlocks = deadlocks
	}
}
