package jani

import (
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// Translation is a JANI model in PRISM's language.
type Translation struct {
	Model *syntax.Model
	// Properties are the properties of the document, in the order of the document. A property that
	// could not be translated has its JSON text.
	Properties *syntax.Properties
	// Names are the names of the properties in the document.
	Names map[*syntax.Property]string
	// Constants maps constants of the document to their names in the model, if these differ.
	Constants map[string]string
	// Refused has the errors of the properties that could not be translated.
	Refused map[*syntax.Property]*syntax.Error
	// Time is the reward structure for the operator T. The model does not contain it.
	Time *syntax.Rewards
}

// IsJANI reports whether a text looks like JSON. No model or property in PRISM's language does.
func IsJANI(src []byte) bool {
	start := strings.TrimPrefix(string(src[:min(len(src), 4096)]), byteOrderMark)
	return strings.HasPrefix(strings.TrimLeft(start, " \t\r\n"), "{")
}

// Unsupported is the error for a kind or size of model that this package does not support.
type Unsupported struct{ syntax.ErrorList }

// Unwrap returns the diagnostics.
func (e *Unsupported) Unwrap() error { return e.ErrorList }

// Read translates a model to PRISM's language. constants has the values of constants as text. Only lengths of arrays and bounds of selections
// need them. Constants without a definition stay undefined. The error is a [syntax.ErrorList] with positions in the JSON text, or *[Unsupported].
func Read(file string, src []byte, constants map[string]string) (*Translation, error) {
	doc, err := readStructure(file, src)
	if err != nil {
		return nil, err
	}
	return translate(file, doc, constants)
}

// readStructure parses a JANI document and checks its structure: the keys and the kinds of their values.
func readStructure(file string, src []byte) (*document, error) {
	root, err := parseJSON(file, src)
	if err != nil {
		return nil, err
	}
	reader := &reader{file: file}
	reader.readDocument(root)
	if reader.hasUnsupported {
		return nil, &Unsupported{reader.errs}
	}
	if err := reader.errs.Err(); err != nil {
		return nil, err
	}
	reader.document.wholeSpan = root.Span
	return reader.document, nil
}

// translate translates a document to PRISM's language.
func translate(file string, doc *document, constants map[string]string) (*Translation, error) {
	translator := newTranslator(file, doc, constants)
	translator.translateModel()
	if translator.isTooLarge && len(translator.errs) > 0 {
		return nil, &Unsupported{translator.errs}
	}
	if err := translator.errs.Err(); err != nil {
		return nil, err
	}
	result := translator.result
	result.Model = &syntax.Model{
		File: file, Items: translator.modelItems(), Embedded: doc.isMarkovAutomaton, Rate: translator.rate, Span: doc.wholeSpan,
		Dialect: syntax.Storm, // this dialect has ranges of one value, as JANI has
	}
	if !doc.isMarkovAutomaton {
		result.Time.Items = []*syntax.RewardItem{{Guard: trueExpr(doc.span), Value: oneExpr(doc.span), Span: doc.span}}
	}
	result.Properties.File, result.Properties.Span = file, doc.wholeSpan
	return result, nil
}

// newTranslator returns a translator of a document with an empty translation.
func newTranslator(file string, doc *document, constants map[string]string) *translator {
	return &translator{
		file: file, document: doc, knownConstants: constants,
		usedNames: make(names), labels: make(map[*slot]string),
		result: &Translation{
			Properties: &syntax.Properties{},
			Names:      make(map[*syntax.Property]string),
			Refused:    make(map[*syntax.Property]*syntax.Error),
			Constants:  make(map[string]string),
			Time:       &syntax.Rewards{Name: &syntax.Ident{Name: syntax.TimeRewards, Span: doc.span}, Span: doc.span},
		},
	}
}

// translator translates a document to a model in PRISM's language.
type translator struct {
	file     string
	document *document
	errs     syntax.ErrorList
	size     int // operators and operands so far
	// knownConstants has values for constants that are undefined in the document.
	knownConstants map[string]string
	// isTooLarge says that an error is about the size of the model.
	isTooLarge bool

	usedNames          names // identifiers
	globalScope        *scope
	slots              []*slot
	instances          []*instance
	labels             map[*slot]string
	silentRewardsAdded bool // the rewards of silent steps have been added

	steps        []*step
	rewards      []*reward
	rateCommands []*combinedCommand // edges with rates of a Markov automaton
	rate         syntax.Expr        // the exit rate of a state of a Markov automaton, 0 for an immediate state

	// The parts of the model:
	constants, formulas, globals, modules, labelItems []syntax.Item
	initialCondition                                  syntax.Expr

	result *Translation
}

// instance is one occurrence of an automaton in the composition.
type instance struct {
	number    int
	automaton *automaton
	scope     *scope
	location  *slot // nil if there is only one
	edges     []*edgeInstance
	module    int // the instances of a group become one module
}

// collectError calls f. If f aborts, it records the error.
func (t *translator) collectError(f func()) {
	if err := catchAbort(f); err != nil {
		t.errs = append(t.errs, err)
	}
}

func (t *translator) addError(pos syntax.Pos, format string, args ...any) {
	t.errs.Add(t.file, pos, format, args...)
}

// translateModel translates the document in phases. It stops after a phase with errors.
func (t *translator) translateModel() {
	t.declareNames()
	if len(t.document.elements) == 0 {
		t.addError(syntax.Pos{Line: 1, Col: 1}, "the system has no elements, want an automaton")
	}
	t.runUnlessFailed(t.writeConstants)
	t.runUnlessFailed(t.writeInitBlock)
	t.runUnlessFailed(t.collectStateValues)
	t.runUnlessFailed(t.collectRewards)
	t.runUnlessFailed(t.translateEdges)
	t.runUnlessFailed(t.assignModulesWithinLimit)
	t.runUnlessFailed(t.buildModules)
	t.runUnlessFailed(t.writeLabels)
	t.runUnlessFailed(t.translateProperties)
}

// runUnlessFailed runs a phase of the translation, unless an earlier phase had errors.
func (t *translator) runUnlessFailed(phase func()) {
	if len(t.errs) == 0 {
		t.collectError(phase)
	}
}

// declareNames gives each constant, variable and automaton of the document an identifier that is unique in the PRISM model.
func (t *translator) declareNames() {
	t.globalScope = newScope(nil)
	t.globalScope.functions = make(map[string]*function)
	for _, constant := range t.document.constants {
		t.declareConstant(constant)
	}
	for _, function := range t.document.functions {
		t.globalScope.functions[function.name] = function
	}
	for _, variable := range t.document.globals {
		t.declareVariable(variable, t.globalScope, -1, "")
	}
	t.usedNames["init"] = true
	for _, element := range t.document.elements {
		t.addInstance(element)
	}
}

// isNewName reports whether a name is new in its scope. A repeated name is an error.
func (t *translator) isNewName(variable *variable, scope *scope) bool {
	if _, ok := scope.names[variable.name]; ok {
		t.addError(variable.Start, "%q is declared twice", shortened(variable.name))
		return false
	}
	return true
}

// declareConstant gives a constant a meaning in the global scope: an identifier, or the parts of an array or datatype.
func (t *translator) declareConstant(constant *variable) {
	if !t.isNewName(constant, t.globalScope) {
		return
	}
	if constant.valueType.isComposite() {
		t.collectError(func() { t.declareCompositeConstant(constant) })
		return
	}
	ident := &syntax.Ident{Name: t.usedNames.unusedName(constant.name), Span: constant.Span}
	if ident.Name != constant.name {
		t.result.Constants[constant.name] = ident.Name
	}
	definition := constant.initial
	if value, ok := t.knownConstants[constant.name]; ok && definition == nil {
		definition = &jsonValue{Span: constant.Span, kind: number, text: value}
	}
	t.globalScope.names[constant.name] = symbol{expr: ident, size: 1, isBool: constant.valueType.kind == boolType, definition: definition}
}

// declareCompositeConstant declares a constant array or datatype. The constant must have a value.
func (t *translator) declareCompositeConstant(constant *variable) {
	if constant.initial == nil {
		t.abort(constant.Start, "the constant %q is an array or a datatype without a value, which is not supported", shortened(constant.name))
	}
	t.globalScope.names[constant.name] = t.symbolOf(constant.initial, &exprContext{scope: t.globalScope})
}

// isComposite reports whether values of a type have parts, as arrays and datatypes do.
func (valueType *janiType) isComposite() bool {
	return valueType.kind == arrayType || valueType.kind == dataType
}

// writeConstants adds the declarations of the constants to the model, except for arrays and datatypes.
func (t *translator) writeConstants() {
	for _, constant := range t.document.constants {
		ident, ok := t.globalScope.names[constant.name].expr.(*syntax.Ident)
		if !ok || constant.valueType.isComposite() {
			continue
		}
		declaration := &syntax.ConstDecl{HasType: true, Name: ident, Span: constant.Span}
		switch constant.valueType.kind {
		case boolType:
			declaration.Type = syntax.ConstBool
		case realType:
			declaration.Type = syntax.ConstDouble
		}
		if constant.initial != nil {
			t.collectError(func() { declaration.Value = t.translateExpr(constant.initial, &exprContext{scope: t.globalScope}) })
		}
		t.constants = append(t.constants, declaration)
	}
}

// declareVariable declares a variable. An array or a datatype gets a variable of PRISM's language for each of its parts. owner is the number of
// the automaton of a local variable, or -1. prefix is the name of this automaton.
func (t *translator) declareVariable(variable *variable, scope *scope, owner int, prefix string) {
	if !t.isNewName(variable, scope) {
		return
	}
	t.collectError(func() {
		initial := symbol{}
		if variable.initial != nil {
			initial = t.symbolOf(variable.initial, &exprContext{scope: scope})
		}
		scope.names[variable.name] = t.createSlots(variable, variable.valueType, initial, owner, prefix, variable.name)
	})
}

// createSlots creates a slot, which becomes a variable of PRISM's language, for each part of a JANI variable. The initial value determines the
// length of an array. owner is the number of the automaton of a local variable, or -1. If a name is in use, prefix is added to it.
func (t *translator) createSlots(variable *variable, valueType *janiType, initial symbol, owner int, prefix, name string) symbol {
	switch valueType.kind {
	case arrayType:
		if initial.composite == nil || initial.composite.members != nil {
			t.abort(variable.Start, "the length of the array %q is unknown, want an initial-value that determines it", shortened(variable.name))
		}
		parts := &composite{}
		for i, element := range initial.composite.elements {
			parts.elements = append(parts.elements, t.createSlots(variable, valueType.elementType, element, owner, prefix, fmt.Sprintf("%s_%d", name, i)))
		}
		return symbol{composite: parts}
	case dataType:
		parts := &composite{members: make(map[string]symbol)}
		for _, member := range t.membersOf(variable, valueType, initial) {
			parts.members[member.name] = t.createSlots(variable, member.valueType, initial.composite.members[member.name], owner, prefix, name+"_"+member.name)
		}
		return symbol{composite: parts}
	}
	return symbol{slot: t.createSlot(variable, valueType, initial, owner, prefix, name)}
}

// membersOf returns the members of the datatype of a variable. It aborts if the variable lacks an initial value for a member.
func (t *translator) membersOf(variable *variable, valueType *janiType, initial symbol) []*variable {
	datatype := t.document.datatypes[valueType.datatypeName]
	if datatype == nil {
		t.abort(valueType.Start, "there is no datatype %q", shortened(valueType.datatypeName))
	}
	if initial.composite == nil || len(initial.composite.members) != len(datatype.members) {
		t.abort(variable.Start, "the variable %q has no initial-value for all members of its datatype, want one", shortened(variable.name))
	}
	return datatype.members
}

// createSlot creates the slot of a single value, which becomes a variable of PRISM's language. owner is the number of the automaton of a local
// variable, or -1. If the name is in use, prefix is added to it.
func (t *translator) createSlot(variable *variable, valueType *janiType, initial symbol, owner int, prefix, name string) *slot {
	if initial.composite != nil || initial.expr == nil && variable.initial != nil {
		t.abort(variable.initial.Start, "found an array or a datatype, want a single value")
	}
	if valueType.kind == realType && !variable.transient {
		t.abort(variable.Start, "the variable %q is real, which is supported for transient variables only", shortened(variable.name))
	}
	if valueType.kind == clockType {
		t.checkClockStart(variable, &initial)
	}
	newSlot := &slot{declaration: variable, valueType: valueType, janiName: name, owner: owner, module: owner, isTransient: variable.transient, initial: initial.expr}
	if !variable.transient {
		newSlot.name = t.usedNames.unusedName(t.prefixedIfUsed(prefix, name))
	}
	t.slots = append(t.slots, newSlot)
	return newSlot
}

// checkClockStart sets the initial value of a clock to 0 if it is missing. It aborts if the clock has another initial value.
func (t *translator) checkClockStart(variable *variable, initial *symbol) {
	switch {
	case variable.transient:
		t.abort(variable.Start, "the clock %q is transient, want one that is not", shortened(variable.name))
	case initial.expr == nil:
		initial.expr = zeroExpr(variable.Span)
	case !isNumber(initial.expr, "0"):
		t.abort(variable.initial.Start, "the clock %q has an initial value other than 0, which is not supported", shortened(variable.name))
	}
}

// prefixedIfUsed returns a name, with the prefix if the name is already in use.
func (t *translator) prefixedIfUsed(prefix, name string) string {
	if prefix != "" && t.usedNames[identifier(name)] {
		return prefix + "_" + name
	}
	return name
}

// addInstance adds an instance of an automaton for an element of the composition. It declares the local variables of the automaton and a variable
// for its location.
func (t *translator) addInstance(element element) {
	automaton := t.document.automata[element.automaton]
	instance := &instance{number: len(t.instances), automaton: automaton, scope: newScope(t.globalScope)}
	instance.scope.functions = make(map[string]*function)
	for _, function := range automaton.functions {
		instance.scope.functions[function.name] = function
	}
	for _, variable := range automaton.locals {
		t.declareVariable(variable, instance.scope, instance.number, automaton.name)
	}
	if hasSeveralLocations := len(automaton.locations) > 1; hasSeveralLocations {
		instance.location = t.locationVariable(instance)
		t.slots = append(t.slots, instance.location)
	}
	t.instances = append(t.instances, instance)
}

// locationVariable returns an integer variable whose value is the index of the instance's location. The variable has no initial value if there
// are several initial locations.
func (t *translator) locationVariable(instance *instance) *slot {
	automaton := instance.automaton
	high := len(automaton.locations) - 1
	location := &slot{
		name: t.usedNames.unusedName(automaton.name + "_location"), janiName: automaton.name, owner: instance.number, module: instance.number,
		valueType:   &janiType{kind: intType, low: numberValue(0, automaton.pos), high: numberValue(high, automaton.pos)},
		declaration: &variable{Span: spanAt(automaton.pos)},
	}
	if len(automaton.initial) == 1 {
		location.initial = &syntax.IntLit{Value: int32(automaton.initial[0])}
	}
	return location
}

func numberValue(n int, pos syntax.Pos) *jsonValue {
	return &jsonValue{kind: number, text: fmt.Sprint(n), Span: spanAt(pos)}
}

// atLocation returns the condition that an instance is in a location, or nil if the automaton has only one location.
func (instance *instance) atLocation(location int, pos syntax.Pos) syntax.Expr {
	if instance.location == nil {
		return nil
	}
	span := spanAt(pos)
	return &syntax.Binary{
		Op: syntax.OpEq, X: &syntax.Ident{Name: instance.location.name, Span: span},
		Y: &syntax.IntLit{Value: int32(location), Span: span}, OpPos: pos, Span: span,
	}
}

// conjunction returns the conjunction of expressions. nil stands for true.
func conjunction(exprs ...syntax.Expr) syntax.Expr { return joinWith(syntax.OpAnd, exprs) }

// joinWith joins expressions with a binary operator. It omits nil expressions, and returns nil if all are nil.
func joinWith(op syntax.Op, exprs []syntax.Expr) syntax.Expr {
	var joined syntax.Expr
	for _, expr := range exprs {
		switch {
		case expr == nil:
		case joined == nil:
			joined = expr
		default:
			joined = &syntax.Binary{Op: op, X: joined, Y: expr, OpPos: expr.Pos(), Span: syntax.Span{Start: joined.Pos(), Stop: expr.End()}}
		}
	}
	return joined
}

// writeInitBlock adds an init block to the model if the initial states are restricted or a variable has no initial value.
func (t *translator) writeInitBlock() {
	restrictions := t.initialRestrictions()
	needsBlock := len(restrictions) > 0
	var conditions []syntax.Expr
	for _, variable := range t.slots {
		switch {
		case variable.isTransient:
		case variable.initial == nil:
			needsBlock = true
		default:
			conditions = append(conditions, equalsInitialValue(variable))
		}
	}
	if !needsBlock { // the declarations have the initial values
		return
	}
	t.initialCondition = conjunction(append(conditions, restrictions...)...)
	if t.initialCondition == nil {
		t.initialCondition = &syntax.BoolLit{Value: true}
	}
}

// initialRestrictions returns the conditions that all initial states satisfy: those of the document and of its automata, and for an automaton with several
// initial locations, that it is in one of them.
func (t *translator) initialRestrictions() []syntax.Expr {
	var restrictions []syntax.Expr
	if !isTrivial(t.document.initialRestriction) {
		restrictions = append(restrictions, t.translateExpr(t.document.initialRestriction, &exprContext{scope: t.globalScope}))
	}
	for _, instance := range t.instances {
		if condition := instance.automaton.initialRestriction; !isTrivial(condition) {
			restrictions = append(restrictions, t.translateExpr(condition, &exprContext{scope: instance.scope}))
		}
		if condition := instance.atInitialLocation(); condition != nil {
			restrictions = append(restrictions, condition)
		}
	}
	return restrictions
}

// atInitialLocation returns the condition that an instance is in one of its initial locations. It returns nil if the variable of the location
// already ensures this, or if all locations are initial.
func (instance *instance) atInitialLocation() syntax.Expr {
	automaton := instance.automaton
	if numInitial := len(automaton.initial); numInitial <= 1 || numInitial >= len(automaton.locations) { // one location, or all of them
		return nil
	}
	var alternatives []syntax.Expr
	for _, location := range automaton.initial {
		alternatives = append(alternatives, instance.atLocation(location, automaton.pos))
	}
	return joinWith(syntax.OpOr, alternatives)
}

// equalsInitialValue returns the condition that a variable has its initial value.
func equalsInitialValue(variable *slot) syntax.Expr {
	op := syntax.OpEq
	if variable.valueType.kind == boolType {
		op = syntax.OpIff
	}
	span := variable.declaration.Span
	return &syntax.Binary{Op: op, X: &syntax.Ident{Name: variable.name, Span: span}, Y: variable.initial, OpPos: span.Start, Span: span}
}

// collectStateValues translates the values that the locations of the automata give to transient variables.
func (t *translator) collectStateValues() {
	lastSetter := make(map[*slot]int) // the number of the last instance with a location that sets the variable
	for _, instance := range t.instances {
		for i := len(instance.automaton.locations) - 1; i >= 0; i-- {
			location := &instance.automaton.locations[i]
			isSetHere := make(map[*slot]bool)
			for _, assignment := range location.transients {
				t.collectError(func() { t.addStateValue(instance, i, assignment, isSetHere, lastSetter) })
			}
		}
	}
}

// addStateValue adds the value that a location gives to a transient variable: value becomes (in the location ? new value : value). isSetHere has
// the variables that this location has set. lastSetter has the number of the last instance that set each variable.
func (t *translator) addStateValue(instance *instance, location int, assign assignment, isSetHere map[*slot]bool, lastSetter map[*slot]int) {
	variable := t.transientTarget(instance, assign.reference)
	if isSetHere[variable] {
		t.abort(assign.pos, "the transient variable %q has two values in a location, want one", shortened(variable.janiName))
	}
	isSetHere[variable] = true
	value := t.translateSizedExpr(assign.value, &exprContext{scope: instance.scope, forbidsTransients: true})
	if setter, ok := lastSetter[variable]; ok && setter != instance.number {
		variable.isAmbiguous = true
	}
	lastSetter[variable] = instance.number
	expr, previousValue := value.expr, variable.valueInState()
	if inLocation := instance.atLocation(location, assign.pos); inLocation != nil {
		expr = &syntax.Cond{Condition: inLocation, Then: expr, Else: previousValue, Span: spanAt(assign.pos)}
	}
	if variable.valueType.kind == boolType && previousValue == variable.initial {
		expr = simplifyTrueFalse(expr)
	}
	variable.stateValue = expr
	variable.stateSize += value.size + 4 // the condition, its comparison and their operands
}

// transientTarget returns the transient variable that an assignment sets. It refuses any other target.
func (t *translator) transientTarget(instance *instance, reference *jsonValue) *slot {
	targets := t.targetsOf(reference, &exprContext{scope: instance.scope}).variables
	if len(targets) != 1 || len(targets[0].conditions) > 0 || !targets[0].slot.isTransient {
		t.abort(reference.Start, "found %s, want a transient variable", reference.describe())
	}
	return targets[0].slot
}

// simplifyTrueFalse replaces (c ? true : false) by c. It returns any other expression unchanged.
func simplifyTrueFalse(expr syntax.Expr) syntax.Expr {
	condition, isCond := expr.(*syntax.Cond)
	if !isCond {
		return expr
	}
	thenLiteral, thenIsLit := condition.Then.(*syntax.BoolLit)
	elseLiteral, elseIsLit := condition.Else.(*syntax.BoolLit)
	if thenIsLit && elseIsLit && thenLiteral.Value && !elseLiteral.Value {
		return condition.Condition
	}
	return expr
}
