package jani

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// document is a JANI document whose structure has been checked. Expressions in it are still JSON.
type document struct {
	span               syntax.Span // its start
	wholeSpan          syntax.Span
	modelType          syntax.ModelType
	isMarkovAutomaton  bool // a Markov automaton; modelType is the type of the embedded model
	constants          []*variable
	globals            []*variable
	functions          []*function
	automata           []*automaton
	initialRestriction *jsonValue
	elements           []element
	syncVectors        []vector
	hasSyncVectors     bool
	datatypes          map[string]*datatype
	properties         []*property
}

// hasRates reports whether edges have rates.
func (d *document) hasRates() bool { return d.modelType == syntax.CTMC || d.isMarkovAutomaton }

// hasTime reports whether the model has continuous time.
func (d *document) hasTime() bool { return d.hasRates() || d.modelType == syntax.PTA }

// variable is a declaration of a variable, a constant or a parameter.
type variable struct {
	syntax.Span
	name      string
	prismName string // of the label or reward structure of a transient variable; "" for a structure without a name
	valueType *janiType
	initial   *jsonValue // nil if there is none
	transient bool
}

type typeKind uint8

const (
	boolType typeKind = iota
	intType
	realType
	arrayType
	dataType
	clockType
	noType // an error was reported
)

// janiType is a type of the document; low and high are nil if there is no bound.
type janiType struct {
	syntax.Span
	kind         typeKind
	low, high    *jsonValue
	elementType  *janiType // of an array
	datatypeName string    // of a datatype
}

type datatype struct {
	name    string
	members []*variable
}

type function struct {
	pos    syntax.Pos
	name   string
	params []*variable
	body   *jsonValue
}

type automaton struct {
	pos                syntax.Pos
	name               string
	locals             []*variable
	functions          []*function
	locations          []location
	initial            []int
	initialRestriction *jsonValue
	edges              []*edge
}

type location struct {
	name       string
	progress   *jsonValue // the condition for time to pass; nil means true
	transients []assignment
}

type edge struct {
	pos          syntax.Pos
	location     int
	action       string // empty for the silent one
	rate         *jsonValue
	guard        *jsonValue
	destinations []destination
}

type destination struct {
	pos         syntax.Pos
	location    int
	probability *jsonValue
	assignments []assignment
}

type assignment struct {
	pos              syntax.Pos
	reference, value *jsonValue
	index            int
}

// element is an automaton in the composition.
type element struct {
	pos         syntax.Pos
	automaton   int
	inputEnable []string
}

// vector is a synchronisation vector; an empty action means that the automaton does not take part.
type vector struct {
	pos     syntax.Pos
	actions []string
	result  string
}

type property struct {
	syntax.Span
	name string
	expr *jsonValue
}

// reader checks the structure of a JSON document and converts it to a document.
type reader struct {
	file            string
	errs            syntax.ErrorList
	document        *document
	locationIndexes map[string]int // locations of the automaton that is being read
	// hasUnsupported says that the errors are about an unsupported kind of model.
	hasUnsupported bool
}

// addError records an error, up to a limit.
func (r *reader) addError(pos syntax.Pos, format string, args ...any) {
	const maxErrors = 100
	if len(r.errs) < maxErrors {
		r.errs.Add(r.file, pos, format, args...)
	}
}

// checkFields reports whether a value is an object with all required keys and no unknown keys. Blanks separate the keys. description names the
// object in error messages.
func (r *reader) checkFields(value *jsonValue, description, requiredKeys, optionalKeys string) bool {
	if value.kind != object {
		r.addError(value.Start, "found %s, want %s as an object", value.describe(), description)
		return false
	}
	required := strings.Fields(requiredKeys)
	allowedKeys := slices.Concat(required, strings.Fields(optionalKeys))
	ok := true
	for _, key := range required {
		if value.get(key) == nil {
			r.addError(value.Start, "%s has no %q, want one", description, key)
			ok = false
		}
	}
	for _, member := range value.members {
		if !isExtension(member.key) && !slices.Contains(allowedKeys, member.key) {
			r.addError(member.pos, "%s has a key %q, want only %s", description, shortened(member.key), strings.Join(allowedKeys, ", "))
			ok = false
		}
	}
	return ok
}

// isExtension reports whether every object may have this key: a comment, or an extension (x-...).
func isExtension(key string) bool { return key == "comment" || strings.HasPrefix(key, "x-") }

// arrayElements returns the elements of an array, or nil for a nil value. description names the expected elements in error messages.
func (r *reader) arrayElements(value *jsonValue, description string) []*jsonValue {
	if value == nil {
		return nil
	}
	if value.kind != array {
		r.addError(value.Start, "found %s, want %s in an array", value.describe(), description)
	}
	return value.elements
}

// stringValue returns the text of a string, or "" for a nil value. description names the expected text in error messages.
func (r *reader) stringValue(value *jsonValue, description string) string {
	switch {
	case value == nil:
		return ""
	case value.kind != text:
		r.addError(value.Start, "found %s, want %s in quotes", value.describe(), description)
	case value.text == "":
		r.addError(value.Start, "found an empty text, want %s", description)
	}
	return value.text
}

// wrappedExpr returns the expression in {"exp": ...}, or nil for a nil value. description names the object in error messages.
func (r *reader) wrappedExpr(value *jsonValue, description string) *jsonValue {
	if value == nil || !r.checkFields(value, description, "exp", "") {
		return nil
	}
	return value.get("exp")
}

// unsupportedTypes are the types of models that this package does not read.
var unsupportedTypes = map[string]string{
	"ctmdp": "a continuous-time Markov decision process", "ta": "a timed automaton",
	"ha":  "a hybrid automaton",
	"pha": "a probabilistic hybrid automaton", "sha": "a stochastic hybrid automaton",
}

// features are the features that a model may declare.
//
// Source: the specification of JANI, section 2.
var features = []string{
	"arrays", "datatypes", "derived-operators", "functions", "nondet-selection", "state-exit-rewards",
	// The reader refuses the keys and the operators of these features where a model uses them.
	"edge-priorities", "hyperbolic-functions", "named-expressions", "tradeoff-properties", "trigonometric-functions",
}

// readDocument reads the whole document. It stops after the header if the kind of model is not supported.
func (r *reader) readDocument(value *jsonValue) {
	doc := &document{datatypes: make(map[string]*datatype)}
	r.document = doc
	if !r.checkFields(value, "a JANI model", "jani-version name type automata system",
		"metadata features actions constants variables restrict-initial properties functions datatypes") {
		return
	}
	doc.span = spanAt(value.Start)
	r.readHeader(value)
	if r.hasUnsupported {
		return
	}
	for _, datatype := range r.arrayElements(value.get("datatypes"), "datatypes") {
		r.readDatatype(datatype)
	}
	r.checkActions(value.get("actions"))
	for _, constant := range r.arrayElements(value.get("constants"), "constants") {
		doc.constants = append(doc.constants, r.readVariable(constant, "a constant", "name type", "value")...)
	}
	doc.globals = r.readVariables(value.get("variables"))
	doc.functions = r.readFunctions(value.get("functions"))
	doc.initialRestriction = r.wrappedExpr(value.get("restrict-initial"), "restrict-initial")
	for _, automaton := range r.arrayElements(value.get("automata"), "automata") {
		r.readAutomaton(automaton)
	}
	r.readSystem(value.get("system"))
	r.readProperties(value.get("properties"))
}

// checkActions checks the declarations of actions. The result does not need them.
func (r *reader) checkActions(value *jsonValue) {
	for _, action := range r.arrayElements(value, "actions") {
		if r.checkFields(action, "an action", "name", "") {
			r.stringValue(action.get("name"), "a name")
		}
	}
}

// readProperties reads the names of the properties. Their expressions are kept as JSON and translated later.
func (r *reader) readProperties(value *jsonValue) {
	for _, declared := range r.arrayElements(value, "properties") {
		if r.checkFields(declared, "a property", "name expression", "") {
			name := r.stringValue(declared.get("name"), "a name")
			r.document.properties = append(r.document.properties, &property{declared.Span, name, declared.get("expression")})
		}
	}
}

// readHeader reads the version of JANI, and the name, type and features of the model.
func (r *reader) readHeader(value *jsonValue) {
	if version := value.get("jani-version"); version.text != "1" {
		r.addError(version.Start, "jani-version is %s, want 1", version.describe())
	}
	// Many tools leave the name empty, and nothing reads it.
	if name := value.get("name"); !name.isText("") {
		r.stringValue(name, "a name")
	}
	r.readModelType(value.get("type"))
	for _, feature := range r.arrayElements(value.get("features"), "features") {
		if word := r.stringValue(feature, "a feature"); word != "" && !slices.Contains(features, word) {
			r.hasUnsupported = true
			r.addError(feature.Start, "the feature %q is not supported, want only %s", shortened(word), strings.Join(features, ", "))
		}
	}
}

// readModelType reads the type of the model.
func (r *reader) readModelType(value *jsonValue) {
	switch word := r.stringValue(value, "the type of a model"); word {
	case "dtmc":
		r.document.modelType = syntax.DTMC
	case "mdp":
		r.document.modelType = syntax.MDP
	case "ctmc":
		r.document.modelType = syntax.CTMC
	case "lts":
		r.document.modelType = syntax.LTS
	case "pta", "sta": // the translation refuses continuous distributions, which only an STA has
		r.document.modelType = syntax.PTA
	case "ma":
		r.document.modelType, r.document.isMarkovAutomaton = syntax.MDP, true
	case "":
	default:
		if description, ok := unsupportedTypes[word]; ok {
			r.hasUnsupported = true
			r.addError(value.Start, "the model is %s (%s), which is not supported, want dtmc, mdp, ctmc, ma, pta, sta or lts", description, word)
			return
		}
		r.addError(value.Start, "found %q, want the type of a model: dtmc, mdp, ctmc, ma, pta, sta or lts", shortened(word))
	}
}

// readVariables reads the declarations of variables.
func (r *reader) readVariables(value *jsonValue) []*variable {
	var variables []*variable
	for _, declaration := range r.arrayElements(value, "variables") {
		variables = append(variables, r.readVariable(declaration, "a variable", "name type", "transient initial-value")...)
	}
	return variables
}

// readVariable reads the declaration of a variable, constant, parameter or member. It returns one declaration, or none if the keys are wrong.
// description names the declaration in error messages.
func (r *reader) readVariable(value *jsonValue, description, requiredKeys, optionalKeys string) []*variable {
	if !r.checkFields(value, description, requiredKeys, optionalKeys) {
		return nil
	}
	declaration := &variable{
		Span:      value.Span,
		name:      r.stringValue(value.get("name"), "a name"),
		valueType: r.readType(value.get("type")),
		initial:   value.get("initial-value"),
	}
	declaration.prismName = readPRISMName(declaration.name, value.get("comment"))
	if constant := value.get("value"); constant != nil {
		declaration.initial = constant
	}
	if transient := value.get("transient"); transient != nil {
		if transient.kind != boolean {
			r.addError(transient.Start, "found %s, want true or false", transient.describe())
		}
		declaration.transient = transient.isTrue
	}
	if declaration.transient && declaration.initial == nil {
		r.addError(value.Start, "the transient variable %q has no initial-value, want one", shortened(declaration.name))
	}
	return []*variable{declaration}
}

// readType reads a type. After an error, the kind of the type is noType.
func (r *reader) readType(value *jsonValue) *janiType {
	switch value.kind {
	case text:
		return &janiType{Span: value.Span, kind: r.readBasicType(value)}
	case object:
		return r.readTypeObject(value)
	}
	r.addError(value.Start, "found %s, want a type", value.describe())
	return &janiType{Span: value.Span, kind: noType}
}

// readBasicType reads the name of a type without parameters: bool, int, real or clock. After an error it returns noType.
func (r *reader) readBasicType(value *jsonValue) typeKind {
	switch value.text {
	case "bool":
		return boolType
	case "int":
		return intType
	case "real":
		return realType
	case "clock":
		if r.document.modelType != syntax.PTA {
			r.addError(value.Start, "%s has a clock, want a pta", r.describeModel())
		}
		return clockType
	case "continuous":
		r.addError(value.Start, "variables of type %s are not supported, want bool, int or a bounded int", value.text)
	default:
		r.addError(value.Start, "found %q, want a type", shortened(value.text))
	}
	return noType
}

// readTypeObject reads a bounded type, the type of an array or a reference to a datatype. After an error, its kind is noType.
func (r *reader) readTypeObject(value *jsonValue) *janiType {
	newType := &janiType{Span: value.Span, kind: noType}
	switch kind := value.get("kind"); {
	case kind.isText("bounded"):
		r.readBoundedType(value, newType)
	case kind.isText("array"):
		if r.checkFields(value, "the type of an array", "kind base", "") {
			newType.kind, newType.elementType = arrayType, r.readType(value.get("base"))
		}
	case kind.isText("datatype"):
		if r.checkFields(value, "a datatype", "kind ref", "") {
			newType.kind, newType.datatypeName = dataType, r.stringValue(value.get("ref"), "the name of a datatype")
		}
	case kind != nil && kind.kind == text:
		r.addError(kind.Start, "types of kind %q are not supported, want bounded, array or datatype", shortened(kind.text))
	default:
		r.addError(value.Start, "a type has no kind, want bounded, array or datatype")
	}
	return newType
}

// describeModel returns the type of the model with an article, for error messages.
func (r *reader) describeModel() string { return noun.WithArticle(r.document.modelType.String()) }

// readBoundedType reads an int or real type with bounds into newType.
func (r *reader) readBoundedType(value *jsonValue, newType *janiType) {
	if !r.checkFields(value, "a bounded type", "kind base", "lower-bound upper-bound") {
		return
	}
	newType.low, newType.high = value.get("lower-bound"), value.get("upper-bound")
	switch base := value.get("base"); {
	case base.isText("int"):
		newType.kind = intType
	case base.isText("real"):
		newType.kind = realType
	default:
		r.addError(base.Start, "found %s, want int or real as the base of a bounded type", base.describe())
	}
	if newType.low == nil && newType.high == nil {
		r.addError(value.Start, "a bounded type has no bounds, want a lower-bound or an upper-bound")
	}
}

// readDatatype reads the declaration of a datatype.
func (r *reader) readDatatype(value *jsonValue) {
	if !r.checkFields(value, "a datatype", "name members", "") {
		return
	}
	datatype := &datatype{name: r.stringValue(value.get("name"), "a name")}
	for _, member := range r.arrayElements(value.get("members"), "members") {
		datatype.members = append(datatype.members, r.readVariable(member, "a member", "name type", "")...)
	}
	if r.document.datatypes[datatype.name] != nil {
		r.addError(value.Start, "the datatype %q is declared twice", shortened(datatype.name))
	}
	r.document.datatypes[datatype.name] = datatype
}

// readFunctions reads the declarations of functions.
func (r *reader) readFunctions(value *jsonValue) []*function {
	var functions []*function
	for _, declaration := range r.arrayElements(value, "functions") {
		if !r.checkFields(declaration, "a function", "name type parameters body", "") {
			continue
		}
		function := &function{pos: declaration.Start, name: r.stringValue(declaration.get("name"), "a name"), body: declaration.get("body")}
		r.readType(declaration.get("type")) // only for its errors: a call is replaced by the body
		for _, parameter := range r.arrayElements(declaration.get("parameters"), "parameters") {
			function.params = append(function.params, r.readVariable(parameter, "a parameter", "name type", "")...)
		}
		functions = append(functions, function)
	}
	return functions
}

// readAutomaton reads an automaton with its variables, locations and edges.
func (r *reader) readAutomaton(value *jsonValue) {
	if !r.checkFields(value, "an automaton", "name locations initial-locations edges", "variables restrict-initial functions") {
		return
	}
	newAutomaton := &automaton{
		pos: value.Start, name: r.stringValue(value.get("name"), "a name"), locals: r.readVariables(value.get("variables")),
		functions: r.readFunctions(value.get("functions")), initialRestriction: r.wrappedExpr(value.get("restrict-initial"), "restrict-initial"),
	}
	if slices.ContainsFunc(r.document.automata, func(other *automaton) bool { return newAutomaton.name == other.name }) {
		r.addError(value.get("name").Start, "the automaton %q is declared twice", shortened(newAutomaton.name))
	}
	r.locationIndexes = make(map[string]int)
	for _, location := range r.arrayElements(value.get("locations"), "locations") {
		r.readLocation(newAutomaton, location)
	}
	for _, location := range r.arrayElements(value.get("initial-locations"), "initial locations") {
		newAutomaton.initial = append(newAutomaton.initial, r.locationIndex(location))
	}
	if len(newAutomaton.initial) == 0 {
		r.addError(value.get("initial-locations").Start, "the automaton %q has no initial location, want one", shortened(newAutomaton.name))
	}
	for _, element := range r.arrayElements(value.get("edges"), "edges") {
		r.readEdge(newAutomaton, element)
	}
	r.document.automata = append(r.document.automata, newAutomaton)
}

// readLocation reads a location and adds it to an automaton.
func (r *reader) readLocation(automaton *automaton, value *jsonValue) {
	if !r.checkFields(value, "a location", "name", "transient-values time-progress") {
		return
	}
	location := location{name: r.stringValue(value.get("name"), "a name")}
	if timeProgress := value.get("time-progress"); timeProgress != nil {
		location.progress = r.wrappedExpr(timeProgress, "time-progress")
		if r.document.modelType != syntax.PTA {
			r.addError(timeProgress.Start, "a location of %s has a time-progress, want it only in a pta", r.describeModel())
		}
	}
	for _, transient := range r.arrayElements(value.get("transient-values"), "values of transient variables") {
		if r.checkFields(transient, "a transient value", "ref value", "") {
			assigned := assignment{pos: transient.Start, reference: transient.get("ref"), value: transient.get("value")}
			location.transients = append(location.transients, assigned)
		}
	}
	if _, ok := r.locationIndexes[location.name]; ok {
		r.addError(value.Start, "the location %q is declared twice", shortened(location.name))
	}
	r.locationIndexes[location.name] = len(automaton.locations)
	automaton.locations = append(automaton.locations, location)
}

// locationIndex returns the index of a location of the current automaton, given by its name. It records an error for an unknown name, and returns
// 0.
func (r *reader) locationIndex(value *jsonValue) int {
	name := r.stringValue(value, "the name of a location")
	i, ok := r.locationIndexes[name]
	if !ok && name != "" {
		r.addError(value.Start, "the automaton has no location %q", shortened(name))
	}
	return i
}

// readEdge reads an edge and adds it to an automaton.
func (r *reader) readEdge(automaton *automaton, value *jsonValue) {
	if !r.checkFields(value, "an edge", "location destinations", "action rate guard") {
		return
	}
	edge := &edge{
		pos:      value.Start,
		location: r.locationIndex(value.get("location")),
		action:   r.stringValue(value.get("action"), "an action"),
		rate:     r.wrappedExpr(value.get("rate"), "a rate"),
		guard:    r.wrappedExpr(value.get("guard"), "a guard"),
	}
	if edge.rate != nil && !r.document.hasRates() {
		r.addError(edge.rate.Start, "an edge of %s has a rate, want none", r.describeModel())
	}
	for _, destination := range r.arrayElements(value.get("destinations"), "destinations") {
		if r.checkFields(destination, "a destination", "location", "probability assignments") {
			edge.destinations = append(edge.destinations, r.readDestination(destination))
		}
	}
	if len(edge.destinations) == 0 {
		r.addError(value.get("destinations").Start, "an edge has no destinations, want one")
		return
	}
	isProbabilistic := len(edge.destinations) > 1 || edge.destinations[0].probability != nil
	if r.document.modelType == syntax.LTS && isProbabilistic {
		r.addError(value.get("destinations").Start, "an edge of an LTS has probabilities, want one destination without a probability")
	}
	automaton.edges = append(automaton.edges, edge)
}

// readDestination reads a destination of an edge with its assignments.
func (r *reader) readDestination(value *jsonValue) destination {
	destination := destination{
		pos:         value.Start,
		location:    r.locationIndex(value.get("location")),
		probability: r.wrappedExpr(value.get("probability"), "a probability"),
	}
	for _, assigned := range r.arrayElements(value.get("assignments"), "assignments") {
		if r.checkFields(assigned, "an assignment", "ref value", "index") {
			destination.assignments = append(destination.assignments, r.readAssignment(assigned))
		}
	}
	return destination
}

// readAssignment reads an assignment of an edge. The default of its index is 0.
func (r *reader) readAssignment(value *jsonValue) assignment {
	newAssignment := assignment{pos: value.Start, reference: value.get("ref"), value: value.get("value")}
	index := value.get("index")
	if index == nil {
		return newAssignment
	}
	parsedIndex, err := strconv.Atoi(index.text)
	if index.kind != number || err != nil {
		r.addError(index.Start, "found %s, want a whole number as an index", index.describe())
	}
	newAssignment.index = parsedIndex
	return newAssignment
}

// readSystem reads the composition: the elements, which are automata, and the synchronisation vectors.
func (r *reader) readSystem(value *jsonValue) {
	if !r.checkFields(value, "a system", "elements", "syncs") {
		return
	}
	elements := r.arrayElements(value.get("elements"), "elements")
	for _, element := range elements {
		if r.checkFields(element, "an element", "automaton", "input-enable") {
			r.readElement(element)
		}
	}
	vectors := r.arrayElements(value.get("syncs"), "synchronisation vectors")
	r.document.hasSyncVectors = len(vectors) > 0
	for _, vector := range vectors {
		if r.checkFields(vector, "a synchronisation vector", "synchronise", "result") {
			r.readVector(vector, len(elements))
		}
	}
}

// readElement reads an element of the composition: the name of an automaton and its input-enabled actions.
func (r *reader) readElement(value *jsonValue) {
	name := r.stringValue(value.get("automaton"), "the name of an automaton")
	index := slices.IndexFunc(r.document.automata, func(automaton *automaton) bool { return automaton.name == name })
	if index < 0 {
		r.addError(value.get("automaton").Start, "there is no automaton %q", shortened(name))
		return
	}
	element := element{pos: value.Start, automaton: index}
	for _, action := range r.arrayElements(value.get("input-enable"), "actions") {
		element.inputEnable = append(element.inputEnable, r.stringValue(action, "an action"))
	}
	r.document.elements = append(r.document.elements, element)
}

// readVector reads a synchronisation vector. For each of the numElements elements it has an action, or null if the element does not take part.
func (r *reader) readVector(value *jsonValue, numElements int) {
	vector := vector{pos: value.Start}
	for _, action := range r.arrayElements(value.get("synchronise"), "actions") {
		name := ""
		if action.kind != null {
			name = r.stringValue(action, "an action, or null")
		}
		vector.actions = append(vector.actions, name)
	}
	if len(vector.actions) != numElements {
		r.addError(value.get("synchronise").Start,
			"a synchronisation vector has %d entries, want %d: one for each element", len(vector.actions), numElements)
		return
	}
	if result := value.get("result"); result != nil && result.kind != null {
		vector.result = r.stringValue(result, "an action, or null")
	}
	r.document.syncVectors = append(r.document.syncVectors, vector)
}
