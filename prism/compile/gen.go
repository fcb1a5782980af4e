package compile

import (
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/syntax"
)

// assemble compiles the model and a monitor to a WebAssembly module that draws random paths from the state start. It returns an *UnsupportedError
// if the module would need too much code, or if start is outside of the declared ranges.
func (m *Model) assemble(watch *watch, start []int32) ([]byte, error) {
	for i, variable := range m.program.Vars { // the generated arithmetic relies on the ranges
		if start[i] < variable.Low || start[i] > variable.High {
			return nil, m.tooHardError("the initial value of %s is outside its range", variable.Name)
		}
	}
	return newPathGenerator(m, watch, start).assemble()
}

// moveGenerator emits the code that drawing paths and expanding states have in common: which moves are enabled, and the weights and
// values of their updates. A move is a combination of commands that can be a choice.
type moveGenerator struct {
	codeGenerator
	model        *Model
	builder      *builder
	module       *wasm.Module
	moves        []moveSpec
	memoryUsed   int                   // bytes of memory in use
	memos        map[string]*memoTable // by description
	onlyVariable map[*term]int         // the variable of a condition that reads only one; otherwise -1

	bitsetLocals bitset // locals for bitsets

	// classifyWeights puts each command in one of these maps.
	constantWeights map[*command][]float64
	computedWeights map[*command][]wasm.Var[float64] // locals
	invalidWeights  map[*command]bool

	// emitLeaf emits the code of a leaf of the decision tree, for the moves that remain
	// possible; the code ends in a jump.
	emitLeaf func(moves []candidate)
}

// newMoveGenerator returns a moveGenerator for a module that reserves the first bytes of its memory.
//
// It is not a method of Model, because the compilation of each importing package would then include the generic types in its signature.
func newMoveGenerator(model *Model, reservedBytes int) moveGenerator {
	builder := model.newGraphBuilder()
	return moveGenerator{
		codeGenerator: codeGenerator{
			graph: builder.graph, facts: builder.noFacts(),
			computedTerms: map[*term]typedCode{}, useCounts: map[*term]int{},
		},
		model: model, builder: builder, module: &wasm.Module{},
		constantWeights: map[*command][]float64{}, computedWeights: map[*command][]wasm.Var[float64]{}, invalidWeights: map[*command]bool{},
		memoryUsed: reservedBytes, memos: map[string]*memoTable{}, onlyVariable: map[*term]int{},
	}
}

// newPathGenerator returns a generator of code that draws paths from an initial state under a monitor.
func newPathGenerator(model *Model, watch *watch, start []int32) *pathGenerator {
	generator := &pathGenerator{moveGenerator: newMoveGenerator(model, tablesAt), monitor: watch, initialState: start}
	generator.emitLeaf = generator.decideLeaf
	return generator
}

// assemble returns the WebAssembly module of the model and the monitor as bytes. It returns an error if the module is too large.
func (g *pathGenerator) assemble() ([]byte, error) {
	g.registerCommands()
	g.registerMonitor()
	if err := g.prepareMoves(); err != nil {
		return nil, err
	}
	if err := g.checkCombinations(); err != nil {
		return nil, err
	}
	code := g.emitModule()
	if code == nil {
		return nil, g.model.tooHardError("more than %d bytes of code", maxCode)
	}
	return code, nil
}

// tooHardError returns an *UnsupportedError for a model that is not compiled to WebAssembly.
func (m *Model) tooHardError(format string, args ...any) error {
	return &UnsupportedError{m.program.File, syntax.Pos{}, "not compiled to WebAssembly: " + fmt.Sprintf(format, args...)}
}

// prepareMoves lists the moves, which are combinations of commands that happen together, and classifies the weights of the commands. The caller
// has registered all expressions.
func (g *moveGenerator) prepareMoves() error {
	g.builder.flattenTerms()
	if err := g.listMoves(); err != nil {
		return err
	}
	for _, command := range g.model.commands {
		g.classifyWeights(command)
	}
	if numTerms := len(g.builder.terms); numTerms > maxTermCount {
		return g.model.tooHardError("%d terms, more than %d", numTerms, maxTermCount)
	}
	return nil
}

// checkCombinations returns an error if several commands have too many combinations of updates for the code of paths.
func (g *pathGenerator) checkCombinations() error {
	total := 0
	for _, move := range g.moves {
		if exceedsCombinations(move.commands, maxMultiplied) {
			return g.model.tooHardError("%d combinations of updates in one choice of a path", numAlternatives(move.commands))
		}
		if len(move.commands) > 1 {
			total += numAlternatives(move.commands)
		}
	}
	if total > maxCombinations {
		return g.model.tooHardError("%d combinations of updates of several commands", total)
	}
	return nil
}

// registerCommands builds the terms of all guards, probabilities and assigned values of the model's commands, and counts their uses.
func (g *moveGenerator) registerCommands() {
	for _, command := range g.model.commands {
		g.builder.registerGuard(command.source.Guard)
		for _, update := range command.source.Updates {
			g.builder.registerExpr(update.Prob)
			for _, assignment := range update.Assigns {
				g.builder.registerExpr(assignment.Value)
			}
		}
	}
}

// registerMonitor registers the expressions of the monitor.
func (g *pathGenerator) registerMonitor() {
	g.builder.registerExpr(g.monitor.Left)
	g.builder.registerExpr(g.monitor.Right)
	if g.monitor.rewards != nil {
		for _, item := range g.monitor.rewards.structure.Items {
			g.builder.registerExpr(item.Guard)
			g.builder.registerExpr(item.Value)
		}
	}
}

// listMoves stores the moves in g.moves: all combinations of commands whose guards do not contradict each other. Their order is the order of the
// interpreter.
func (g *moveGenerator) listMoves() error {
	for _, sync := range g.model.synchronisations {
		commands := make([]*command, len(sync.participants))
		if err := g.listCombinations(sync, len(sync.participants)-1, commands, g.facts); err != nil {
			return err
		}
	}
	return nil
}

// listCombinations adds a move for each combination of commands of the participants 0 to lastParticipant. The commands of the later participants are
// already in commands. facts contains that the guards of these commands hold.
func (g *moveGenerator) listCombinations(sync synchronisation, lastParticipant int, commands []*command, facts *facts) error {
	if lastParticipant < 0 {
		return g.addMove(sync.action, commands)
	}
	for _, command := range sync.participants[lastParticipant].commands {
		guard := g.builder.expr(command.source.Guard)
		if facts.simplify(guard) == g.graph.falseTerm {
			continue // the guard contradicts a guard of a later participant
		}
		commands[lastParticipant] = command
		if err := g.listCombinations(sync, lastParticipant-1, commands, facts.assume(guard, true)); err != nil {
			return err
		}
	}
	return nil
}

// addMove adds the move in which the given commands happen together. It returns an error if the model has too many moves or the move has too
// many combinations of updates.
func (g *moveGenerator) addMove(action int, commands []*command) error {
	if len(g.moves) == maxMoves {
		return g.model.tooHardError("more than %d combinations of commands", maxMoves)
	}
	move := moveSpec{action: action, commands: slices.Clone(commands)}
	if numCombinations := numAlternatives(move.commands); numCombinations > maxUpdates {
		return g.model.tooHardError("%d combinations of updates in one choice", numCombinations)
	}
	for _, command := range move.commands {
		move.conjuncts = append(move.conjuncts, g.builder.conjuncts(g.builder.expr(command.source.Guard))...)
	}
	g.moves = append(g.moves, move)
	return nil
}

// classifyWeights records whether the weights of a command's updates are valid constants, invalid constants or computed.
func (g *moveGenerator) classifyWeights(command *command) {
	constants, areConstant := g.constantWeightsOf(command)
	switch {
	case !areConstant:
		g.computedWeights[command] = make([]wasm.Var[float64], len(command.updates))
	case g.model.areValidWeights(constants):
		g.constantWeights[command] = constants
	default:
		g.invalidWeights[command] = true
	}
}

// constantWeightsOf returns the weights of a command's updates; ok is false unless all are constants.
func (g *moveGenerator) constantWeightsOf(command *command) (weights []float64, ok bool) {
	for i := range command.updates {
		weight := g.weightTerm(command, i)
		if !weight.isConst() {
			return nil, false
		}
		weights = append(weights, weight.floatValue)
	}
	return weights, true
}

// areValidWeights reports whether the weights of a command's updates are finite, not negative and not all zero. Probabilities must also sum
// to one.
func (m *Model) areValidWeights(weights []float64) bool {
	sum := 0.0
	for _, weight := range weights {
		isValid := weight >= 0 && weight <= math.MaxFloat64 // false for NaN
		if !isValid {
			return false
		}
		sum += weight
	}
	return sum != 0 && (m.isContinuous() || SumsToOne(sum))
}

// declareWeightLocals declares a local variable for each computed weight of some commands.
func (g *moveGenerator) declareWeightLocals(commands ...*command) {
	for _, command := range commands {
		for i := range g.computedWeights[command] {
			g.computedWeights[command][i] = wasm.Local[float64](g.wasmFunc)
		}
	}
}
