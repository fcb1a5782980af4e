package explicit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime/debug"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Imported describes a state space that was read from files, without commands.
type Imported struct {
	File string // what diagnostics name
	Type syntax.ModelType
	Vars []sema.Variable // Name, Type (Bool or Int), Low and High count
	// Valuation returns the values of the variables in a state, distinct for each state. The
	// slice is valid until the next call.
	Valuation func(state int) []int32
	Actions   []string // action i+1 of the model is Actions[i]
	// Model is complete. Initial is not empty; Labels does not include init and deadlock.
	Model *sparse.Model
	// Observations are the observations of the states of a POMDP. Their values are in the order of Observables.
	Observations *Observations
	Observables  []string
	// TransitionRewards has one entry per structure of a Markov chain.
	TransitionRewards []TransitionReward
	Warnings          []string
	// Players are the names of the players of a game; Model has the player of each state.
	Players []string
	// ExitRates are those of a Markov automaton, whose embedded MDP is Model; nil for other models.
	ExitRates *ExitRates
	// Rounded and Normalised are the results of the methods of Space with these names.
	Rounded, Normalised bool
	// Unread says which files were not read.
	Unread syntax.UnreadFiles
}

// FlatValuation returns a function for Imported.Valuation that reads from one slice: numVars values
// of state 0, then the values of state 1, and so on.
func FlatValuation(values []int32, numVars int) func(state int) []int32 {
	return func(state int) []int32 { return values[state*numVars : (state+1)*numVars] }
}

// TransitionReward holds a reward for each transition, as returned by Space.TransitionRewards.
type TransitionReward struct {
	Values    []float64
	Fractions []*big.Rat
}

// importedParts holds the parts of an imported space that a built space computes on demand.
type importedParts struct {
	transitionRewards []TransitionReward
	warnings          []string
	observations      *Observations
	exitRates         *ExitRates
}

// firstImportedLabel is the sema.Label index of the first imported label; the next ones count down.
// Such an index stands for a set of states of the model.
const firstImportedLabel = -3

// DuplicateError says that two states of an import have the same valuation.
type DuplicateError struct{ First, Second int }

// Error names both states.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("states %d and %d have the same values", e.First, e.Second)
}

// Import returns a space of states that were read from files. The states keep their numbers, and the space can be checked like one that was
// built. It has fractions only if imported.Model has them.
//
// The error is a *DuplicateError, a syntax.ErrorList for impossible declarations, or an error of compile.Compile.
func Import(imported *Imported) (*Space, error) {
	if len(imported.Model.Initial) == 0 {
		return nil, errors.New("no initial state")
	}
	checked, err := sema.CheckModel(imported.declarations())
	if err != nil {
		return nil, err
	}
	program, err := checked.Instantiate(nil)
	if err != nil {
		return nil, err
	}
	imported.completeProgram(program)
	compiled, err := compile.Compile(program, compile.Options{})
	if err != nil {
		return nil, err
	}
	space := &Space{
		compiled: compiled, codec: newCodec(program.Vars), model: imported.Model,
		isRounded: imported.Rounded, isNormalised: imported.Normalised,
		imported: &importedParts{
			transitionRewards: imported.TransitionRewards, warnings: imported.Warnings,
			observations: imported.Observations, exitRates: imported.ExitRates,
		},
	}
	space.checkRange(imported.File)
	if err := space.storeValuations(imported); err != nil {
		return nil, err
	}
	const manyStates = 1 << 20
	if imported.Model.NumStates() > manyStates { // return the memory of the file's contents
		debug.FreeOSMemory()
	}
	return space, nil
}

// storeValuations fills the store with the valuations of imported states. The error is a *DuplicateError.
func (space *Space) storeValuations(imported *Imported) error {
	numStates := imported.Model.NumStates()
	space.store = newStoreOf(space.codec.wordsPerState, numStates)
	packed := make([]uint64, space.codec.wordsPerState)
	for state := range numStates {
		space.codec.pack(packed, imported.Valuation(state))
		if first, isNew := space.store.addState(packed); !isNew {
			return &DuplicateError{first, state}
		}
	}
	space.store.releaseHashTable()
	return nil
}

// checkRange records the first weight that is outside of the range of float64, and the first such reward of each structure, as errors for computations that
// need them. A model with fractions needs no check.
func (space *Space) checkRange(file string) {
	model := space.model
	if model.Exact() {
		return
	}
	for _, weight := range model.Weights {
		if !sparse.InRange(weight) && space.rangeErr == nil {
			space.rangeErr = &RangeError{File: file, What: fmt.Sprintf("weight %.4g", weight)}
			model.RelErr = math.Inf(1)
		}
	}
	for i := range model.Rewards {
		reward := &model.Rewards[i]
		for _, value := range slices.Concat(reward.State, reward.Choice) {
			if value != 0 && !isNormalFloat(math.Abs(value)) && reward.RangeErr == nil {
				reward.RangeErr, reward.RelErr = &RangeError{File: file, What: fmt.Sprintf("reward %.4g", value)}, math.Inf(1)
			}
		}
	}
}

// declarations returns a syntax tree that declares the variables, observables, players, labels and reward
// structures of the space. Its only module has no commands.
func (imported *Imported) declarations() *syntax.Model {
	ident := func(name string) *syntax.Ident { return &syntax.Ident{Name: name} }
	declared := &syntax.Model{
		File: imported.File, Embedded: imported.ExitRates != nil, Unread: imported.Unread,
		Items: []syntax.Item{&syntax.TypeDecl{Type: imported.Type}, imported.moduleDeclaration()},
	}
	for _, observable := range imported.Observables {
		declared.Items = append(declared.Items, &syntax.ObservableDecl{Name: ident(observable)})
	}
	for _, player := range imported.Players {
		declared.Items = append(declared.Items, &syntax.Player{Name: ident(player)})
	}
	for _, label := range imported.Model.Labels {
		declared.Items = append(declared.Items, &syntax.LabelDecl{Name: ident(label.Name), X: &syntax.BoolLit{}})
	}
	for _, reward := range imported.Model.Rewards {
		decl := &syntax.Rewards{}
		if reward.Name != "" {
			decl.Name = ident(reward.Name)
		}
		declared.Items = append(declared.Items, decl)
	}
	return declared
}

// moduleDeclaration returns a module that declares the variables. The name of the module differs from the names of all variables.
func (imported *Imported) moduleDeclaration() *syntax.Module {
	name := "imported"
	for slices.ContainsFunc(imported.Vars, func(variable sema.Variable) bool { return variable.Name == name }) {
		name += "_"
	}
	module := &syntax.Module{Name: &syntax.Ident{Name: name}}
	for i := range imported.Vars {
		module.Vars = append(module.Vars, variableDeclaration(&imported.Vars[i]))
	}
	return module
}

// variableDeclaration returns the declaration of a variable in PRISM's language. The language has no range with a single value, so such a range gets a
// second value. A range that is too large becomes the type int.
func variableDeclaration(variable *sema.Variable) *syntax.VarDecl {
	decl := &syntax.VarDecl{Name: &syntax.Ident{Name: variable.Name}, Type: syntax.BoolVar}
	if variable.Type == sema.Bool {
		return decl
	}
	decl.Type = syntax.IntVar
	low, high := int64(variable.Low), max(int64(variable.High), int64(variable.Low)+1)
	if high <= math.MaxInt32 && high-low < math.MaxInt32 {
		decl.Type, decl.Low, decl.High = syntax.RangeVar, integerLiteral(low), integerLiteral(high)
	}
	return decl
}

// completeProgram sets the actions and the labels of the program. The program has no commands, so it must not be
// explored. Therefore its initial states are given by a label that package compile rejects.
func (imported *Imported) completeProgram(program *sema.Program) {
	program.Actions = imported.Actions
	for i := range program.Labels {
		program.Labels[i].Expr = &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: program.Labels[i].Name, Index: firstImportedLabel - i}
	}
	program.Init = &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "init of an imported model, which has no commands", Index: math.MaxInt}
}

// Imported reports whether the space was imported and not built.
func (space *Space) Imported() bool { return space.imported != nil }

// evaluateWithLabels returns the states of an imported space that satisfy an expression with labels. The states of an imported label are given as a set, so
// it evaluates Boolean operators as operations on sets.
func (space *Space) evaluateWithLabels(expr sema.Expr) (*sparse.Set, error) {
	if sema.NeedsOnlyVariables(expr) {
		return space.evaluateInStates(expr)
	}
	switch typed := expr.(type) {
	case *sema.Label:
		return space.importedLabel(typed)
	case *sema.Unary:
		set, err := space.States(typed.X)
		if err != nil {
			return nil, err
		}
		return set.Complement(), nil
	case *sema.Binary:
		return space.evaluateConnective(typed)
	case *sema.Cond:
		condition, conditionErr := space.States(typed.Condition)
		then, thenErr := space.States(typed.Then)
		otherwise, otherwiseErr := space.States(typed.Else)
		if err := cmp.Or(conditionErr, thenErr, otherwiseErr); err != nil {
			return nil, err
		}
		return condition.Intersect(then).Union(otherwise.Minus(condition)), nil
	}
	return nil, space.unsupportedLabel(expr)
}

// importedLabel returns the states that have a label, which the files or the properties define.
func (space *Space) importedLabel(label *sema.Label) (*sparse.Set, error) {
	switch labels := space.Program().Labels; {
	case label.Index <= firstImportedLabel:
		return space.model.Labels[firstImportedLabel-label.Index].States.Clone(), nil
	case label.Index < len(labels):
		return space.States(labels[label.Index].Expr)
	}
	return nil, space.unsupportedLabel(label)
}

// evaluateConnective returns the states that satisfy an expression with a binary Boolean operator, by combining the sets of states that satisfy the
// operands.
func (space *Space) evaluateConnective(expr *sema.Binary) (*sparse.Set, error) {
	if expr.X.Type() != sema.Bool || expr.Y.Type() != sema.Bool {
		return nil, space.unsupportedLabel(expr)
	}
	left, err := space.States(expr.X)
	if err != nil {
		return nil, err
	}
	right, err := space.States(expr.Y)
	if err != nil {
		return nil, err
	}
	different := left.Minus(right).Union(right.Minus(left))
	switch expr.Op {
	case syntax.OpAnd:
		return left.Intersect(right), nil
	case syntax.OpOr:
		return left.Union(right), nil
	case syntax.OpImplies:
		return left.Complement().Union(right), nil
	case syntax.OpIff, syntax.OpEq:
		return different.Complement(), nil
	case syntax.OpNe:
		return different, nil
	}
	return nil, space.unsupportedLabel(expr)
}

// unsupportedLabel returns the error for a label that is not an operand of a Boolean operator.
func (space *Space) unsupportedLabel(expr sema.Expr) error {
	return &compile.UnsupportedError{File: space.Program().File, Pos: expr.Pos(), Msg: "a label of an imported model can be used only with Boolean operators"}
}

// integerLiteral returns an expression of PRISM's language whose value is the given int32.
func integerLiteral(value int64) syntax.Expr {
	if value == math.MinInt32 { // -value would not be an int32, so write the number as a difference
		return &syntax.Binary{Op: syntax.OpSub, X: integerLiteral(value + 1), Y: integerLiteral(1)}
	}
	if value < 0 {
		return &syntax.Unary{Op: syntax.OpNeg, X: &syntax.IntLit{Value: int32(-value)}}
	}
	return &syntax.IntLit{Value: int32(value)}
}
