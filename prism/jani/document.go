package jani

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// document is a JANI model after a check of its structure. Expressions are still JSON.
type document struct {
	at         syntax.Span
	typ        syntax.ModelType
	markov     bool // a Markov automaton; typ is the type of the embedded model
	constants  []*variable
	globals    []*variable
	functions  []*function
	automata   []*automaton
	restrict   *value
	elements   []element
	syncs      []vector
	hasSyncs   bool
	datatypes  map[string]*datatype
	properties []*property
}

// races reports whether edges have rates.
func (d *document) races() bool { return d.typ == syntax.CTMC || d.markov }

// timed reports whether the model has continuous time.
func (d *document) timed() bool { return d.races() || d.typ == syntax.PTA }

// variable is a declaration of a variable, a constant or a parameter.
type variable struct {
	syntax.Span
	name      string
	typ       *typ
	initial   *value // nil if there is none
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

// typ is a type; low and high are nil if it has no bound.
type typ struct {
	syntax.Span
	kind      typeKind
	low, high *value
	base      *typ   // of an array
	ref       string // of a datatype
}

type datatype struct {
	name    string
	members []*variable
}

type function struct {
	at     syntax.Pos
	name   string
	params []*variable
	body   *value
}

type automaton struct {
	at        syntax.Pos
	name      string
	locals    []*variable
	functions []*function
	locations []location
	initial   []int
	restrict  *value
	edges     []*edge
}

type location struct {
	name       string
	progress   *value // the condition for time to pass; nil means true
	transients []assignment
}

type edge struct {
	at       syntax.Pos
	location int
	action   string // empty for the silent one
	rate     *value
	guard    *value
	dests    []destination
}

type destination struct {
	at       syntax.Pos
	location int
	prob     *value
	assigns  []assignment
}

type assignment struct {
	at         syntax.Pos
	ref, value *value
	index      int
}

// element is an automaton in the composition.
type element struct {
	at          syntax.Pos
	automaton   int
	inputEnable []string
}

// vector is a synchronisation vector; an empty action means that the automaton does not take part.
type vector struct {
	at      syntax.Pos
	actions []string
	result  string
}

type property struct {
	syntax.Span
	name string
	x    *value
}

// reader checks the structure of a document.
type reader struct {
	file string
	errs syntax.ErrorList
	doc  *document
	locs map[string]int // locations of the automaton that is being read
	// unsupported says that the errors are about an unsupported kind of model.
	unsupported bool
}

func (r *reader) add(at syntax.Pos, format string, args ...any) {
	const most = 100
	if len(r.errs) < most {
		r.errs.Add(r.file, at, format, args...)
	}
}

// fields checks that a value is an object with the keys in must, and otherwise only those in may.
// Comments and extensions (x-…) are allowed.
func (r *reader) fields(v *value, what, must, may string) bool {
	if v.kind != object {
		r.add(v.Start, "found %s, want %s as an object", v.describe(), what)
		return false
	}
	required := strings.Fields(must)
	known := slices.Concat(required, strings.Fields(may))
	ok := true
	for _, key := range required {
		if v.get(key) == nil {
			r.add(v.Start, "%s has no %q, want one", what, key)
			ok = false
		}
	}
	for _, m := range v.members {
		if m.key != "comment" && !strings.HasPrefix(m.key, "x-") && !slices.Contains(known, m.key) {
			r.add(m.at, "%s has a key %q, want only %s", what, short(m.key), strings.Join(known, ", "))
			ok = false
		}
	}
	return ok
}

// list returns the elements of an array; none for nil.
func (r *reader) list(v *value, what string) []*value {
	if v == nil {
		return nil
	}
	if v.kind != array {
		r.add(v.Start, "found %s, want %s in an array", v.describe(), what)
	}
	return v.elems
}

// word returns a string; empty if the value is not a string.
func (r *reader) word(v *value, what string) string {
	switch {
	case v == nil:
		return ""
	case v.kind != text:
		r.add(v.Start, "found %s, want %s in quotes", v.describe(), what)
	case v.text == "":
		r.add(v.Start, "found an empty text, want %s", what)
	}
	return v.text
}

// exp returns the expression in `{"exp": …}`; nil for nil.
func (r *reader) exp(v *value, what string) *value {
	if v == nil || !r.fields(v, what, "exp", "") {
		return nil
	}
	return v.get("exp")
}

// unsupportedTypes are the types of models that this package does not read.
var unsupportedTypes = map[string]string{
	"ctmdp": "a continuous-time Markov decision process", "ta": "a timed automaton",
	"sta": "a stochastic timed automaton", "ha": "a hybrid automaton",
	"pha": "a probabilistic hybrid automaton", "sha": "a stochastic hybrid automaton",
}

// features are the features that a model may declare; others are errors.
//
// Source: the specification of JANI, section 2.
var features = []string{
	"arrays", "datatypes", "derived-operators", "functions", "nondet-selection", "state-exit-rewards",
	// What these add is refused where the model uses it: keys, and operators.
	"edge-priorities", "hyperbolic-functions", "named-expressions", "tradeoff-properties", "trigonometric-functions",
}

func (r *reader) document(v *value) {
	r.doc = &document{datatypes: make(map[string]*datatype)}
	if !r.fields(v, "a JANI model", "jani-version name type automata system",
		"metadata features actions constants variables restrict-initial properties functions datatypes") {
		return
	}
	d := r.doc
	d.at = syntax.Span{Start: v.Start, Stop: v.Start}
	if n := v.get("jani-version"); n.text != "1" {
		r.add(n.Start, "jani-version is %s, want 1", n.describe())
	}
	if name := v.get("name"); name.kind != text || name.text != "" { // many tools leave the name empty, and nothing reads it
		r.word(name, "a name")
	}
	r.modelType(v.get("type"))
	for _, f := range r.list(v.get("features"), "features") {
		if word := r.word(f, "a feature"); word != "" && !slices.Contains(features, word) {
			r.unsupported = true
			r.add(f.Start, "the feature %q is not supported, want only %s", short(word), strings.Join(features, ", "))
		}
	}
	if r.unsupported {
		return
	}
	for _, t := range r.list(v.get("datatypes"), "datatypes") {
		r.datatype(t)
	}
	for _, a := range r.list(v.get("actions"), "actions") {
		if r.fields(a, "an action", "name", "") {
			r.word(a.get("name"), "a name")
		}
	}
	for _, c := range r.list(v.get("constants"), "constants") {
		d.constants = append(d.constants, r.variable(c, "a constant", "name type", "value")...)
	}
	d.globals = r.variables(v.get("variables"))
	d.functions = r.functions(v.get("functions"))
	d.restrict = r.exp(v.get("restrict-initial"), "restrict-initial")
	for _, a := range r.list(v.get("automata"), "automata") {
		r.automaton(a)
	}
	r.system(v.get("system"))
	for _, p := range r.list(v.get("properties"), "properties") {
		if r.fields(p, "a property", "name expression", "") {
			d.properties = append(d.properties, &property{p.Span, r.word(p.get("name"), "a name"), p.get("expression")})
		}
	}
}

func (r *reader) modelType(v *value) {
	switch word := r.word(v, "the type of a model"); word {
	case "dtmc":
		r.doc.typ = syntax.DTMC
	case "mdp":
		r.doc.typ = syntax.MDP
	case "ctmc":
		r.doc.typ = syntax.CTMC
	case "lts":
		r.doc.typ = syntax.LTS
	case "pta":
		r.doc.typ = syntax.PTA
	case "ma":
		r.doc.typ, r.doc.markov = syntax.MDP, true
	case "":
	default:
		if what, ok := unsupportedTypes[word]; ok {
			r.unsupported = true
			r.add(v.Start, "the model is %s (%s), which is not supported, want dtmc, mdp, ctmc, ma, pta or lts", what, word)
			return
		}
		r.add(v.Start, "found %q, want the type of a model: dtmc, mdp, ctmc, ma, pta or lts", short(word))
	}
}

func (r *reader) variables(v *value) []*variable {
	var out []*variable
	for _, x := range r.list(v, "variables") {
		out = append(out, r.variable(x, "a variable", "name type", "transient initial-value")...)
	}
	return out
}

// variable reads one declaration; none if its form is wrong.
func (r *reader) variable(v *value, what, must, may string) []*variable {
	if !r.fields(v, what, must, may) {
		return nil
	}
	x := &variable{Span: v.Span, name: r.word(v.get("name"), "a name"), typ: r.typ(v.get("type")), initial: v.get("initial-value")}
	if c := v.get("value"); c != nil {
		x.initial = c
	}
	if t := v.get("transient"); t != nil {
		if t.kind != boolean {
			r.add(t.Start, "found %s, want true or false", t.describe())
		}
		x.transient = t.yes
	}
	if x.transient && x.initial == nil {
		r.add(v.Start, "the transient variable %q has no initial-value, want one", short(x.name))
	}
	return []*variable{x}
}

func (r *reader) typ(v *value) *typ {
	t := &typ{Span: v.Span, kind: noType}
	if v.kind == text {
		switch v.text {
		case "bool":
			t.kind = boolType
		case "int":
			t.kind = intType
		case "real":
			t.kind = realType
		case "clock":
			if t.kind = clockType; r.doc.typ != syntax.PTA {
				r.add(v.Start, "a %s has a clock, want a pta", r.doc.typ)
			}
		case "continuous":
			r.add(v.Start, "variables of type %s are not supported, want bool, int or a bounded int", v.text)
		default:
			r.add(v.Start, "found %q, want a type", short(v.text))
		}
		return t
	}
	if v.kind != object {
		r.add(v.Start, "found %s, want a type", v.describe())
		return t
	}
	switch k := v.get("kind"); {
	case k.isText("bounded"):
		r.bounded(v, t)
	case k.isText("array"):
		if r.fields(v, "the type of an array", "kind base", "") {
			t.kind, t.base = arrayType, r.typ(v.get("base"))
		}
	case k.isText("datatype"):
		if r.fields(v, "a datatype", "kind ref", "") {
			t.kind, t.ref = dataType, r.word(v.get("ref"), "the name of a datatype")
		}
	case k != nil && k.kind == text:
		r.add(k.Start, "types of kind %q are not supported, want bounded, array or datatype", short(k.text))
	default:
		r.add(v.Start, "a type has no kind, want bounded, array or datatype")
	}
	return t
}

func (r *reader) bounded(v *value, t *typ) {
	if !r.fields(v, "a bounded type", "kind base", "lower-bound upper-bound") {
		return
	}
	t.low, t.high = v.get("lower-bound"), v.get("upper-bound")
	switch b := v.get("base"); {
	case b.isText("int"):
		t.kind = intType
	case b.isText("real"):
		t.kind = realType
	default:
		r.add(b.Start, "found %s, want int or real as the base of a bounded type", b.describe())
	}
	if t.low == nil && t.high == nil {
		r.add(v.Start, "a bounded type has no bounds, want a lower-bound or an upper-bound")
	}
}

func (r *reader) datatype(v *value) {
	if !r.fields(v, "a datatype", "name members", "") {
		return
	}
	d := &datatype{name: r.word(v.get("name"), "a name")}
	for _, m := range r.list(v.get("members"), "members") {
		d.members = append(d.members, r.variable(m, "a member", "name type", "")...)
	}
	if r.doc.datatypes[d.name] != nil {
		r.add(v.Start, "the datatype %q is declared twice", short(d.name))
	}
	r.doc.datatypes[d.name] = d
}

func (r *reader) functions(v *value) []*function {
	var out []*function
	for _, x := range r.list(v, "functions") {
		if !r.fields(x, "a function", "name type parameters body", "") {
			continue
		}
		f := &function{at: x.Start, name: r.word(x.get("name"), "a name"), body: x.get("body")}
		r.typ(x.get("type"))
		for _, p := range r.list(x.get("parameters"), "parameters") {
			f.params = append(f.params, r.variable(p, "a parameter", "name type", "")...)
		}
		out = append(out, f)
	}
	return out
}

func (r *reader) automaton(v *value) {
	if !r.fields(v, "an automaton", "name locations initial-locations edges", "variables restrict-initial functions") {
		return
	}
	a := &automaton{
		at: v.Start, name: r.word(v.get("name"), "a name"), locals: r.variables(v.get("variables")),
		functions: r.functions(v.get("functions")), restrict: r.exp(v.get("restrict-initial"), "restrict-initial"),
	}
	if slices.ContainsFunc(r.doc.automata, func(b *automaton) bool { return a.name == b.name }) {
		r.add(v.get("name").Start, "the automaton %q is there twice", short(a.name))
	}
	r.locs = make(map[string]int)
	for _, l := range r.list(v.get("locations"), "locations") {
		r.location(a, l)
	}
	for _, l := range r.list(v.get("initial-locations"), "initial locations") {
		a.initial = append(a.initial, r.place(l))
	}
	if len(a.initial) == 0 {
		r.add(v.get("initial-locations").Start, "the automaton %q has no initial location, want one", short(a.name))
	}
	for _, e := range r.list(v.get("edges"), "edges") {
		r.edge(a, e)
	}
	r.doc.automata = append(r.doc.automata, a)
}

func (r *reader) location(a *automaton, v *value) {
	if !r.fields(v, "a location", "name", "transient-values time-progress") {
		return
	}
	l := location{name: r.word(v.get("name"), "a name")}
	if p := v.get("time-progress"); p != nil {
		if l.progress = r.exp(p, "time-progress"); r.doc.typ != syntax.PTA {
			r.add(p.Start, "a location of a %s has a time-progress, which is for clocks, want none", r.doc.typ)
		}
	}
	for _, t := range r.list(v.get("transient-values"), "values of transient variables") {
		if r.fields(t, "a transient value", "ref value", "") {
			l.transients = append(l.transients, assignment{at: t.Start, ref: t.get("ref"), value: t.get("value")})
		}
	}
	if _, ok := r.locs[l.name]; ok {
		r.add(v.Start, "the location %q is there twice", short(l.name))
	}
	r.locs[l.name] = len(a.locations)
	a.locations = append(a.locations, l)
}

// place returns the number of a location by its name.
func (r *reader) place(v *value) int {
	name := r.word(v, "the name of a location")
	i, ok := r.locs[name]
	if !ok && name != "" {
		r.add(v.Start, "the automaton has no location %q", short(name))
	}
	return i
}

func (r *reader) edge(a *automaton, v *value) {
	if !r.fields(v, "an edge", "location destinations", "action rate guard") {
		return
	}
	e := &edge{at: v.Start, location: r.place(v.get("location")), action: r.word(v.get("action"), "an action")}
	e.rate, e.guard = r.exp(v.get("rate"), "a rate"), r.exp(v.get("guard"), "a guard")
	if e.rate != nil && !r.doc.races() {
		r.add(e.rate.Start, "an edge of a %s has a rate, want none", r.doc.typ)
	}
	for _, d := range r.list(v.get("destinations"), "destinations") {
		if r.fields(d, "a destination", "location", "probability assignments") {
			e.dests = append(e.dests, r.destination(d))
		}
	}
	switch {
	case len(e.dests) == 0:
		r.add(v.get("destinations").Start, "an edge has no destinations, want one")
		return
	case r.doc.typ == syntax.LTS && (len(e.dests) > 1 || e.dests[0].prob != nil):
		r.add(v.get("destinations").Start, "an edge of an LTS has probabilities, want one destination without")
	}
	a.edges = append(a.edges, e)
}

func (r *reader) destination(v *value) destination {
	d := destination{at: v.Start, location: r.place(v.get("location")), prob: r.exp(v.get("probability"), "a probability")}
	for _, x := range r.list(v.get("assignments"), "assignments") {
		if !r.fields(x, "an assignment", "ref value", "index") {
			continue
		}
		s := assignment{at: x.Start, ref: x.get("ref"), value: x.get("value")}
		if i := x.get("index"); i != nil {
			var err error
			if s.index, err = strconv.Atoi(i.text); i.kind != number || err != nil {
				r.add(i.Start, "found %s, want a whole number as an index", i.describe())
			}
		}
		d.assigns = append(d.assigns, s)
	}
	return d
}

func (r *reader) system(v *value) {
	if !r.fields(v, "a system", "elements", "syncs") {
		return
	}
	for _, x := range r.list(v.get("elements"), "elements") {
		if !r.fields(x, "an element", "automaton", "input-enable") {
			continue
		}
		e := element{at: x.Start}
		name := r.word(x.get("automaton"), "the name of an automaton")
		e.automaton = slices.IndexFunc(r.doc.automata, func(a *automaton) bool { return a.name == name })
		if e.automaton < 0 {
			r.add(x.get("automaton").Start, "there is no automaton %q", short(name))
			continue
		}
		for _, i := range r.list(x.get("input-enable"), "actions") {
			e.inputEnable = append(e.inputEnable, r.word(i, "an action"))
		}
		r.doc.elements = append(r.doc.elements, e)
	}
	r.doc.hasSyncs = v.get("syncs") != nil && len(v.get("syncs").elems) > 0
	elements := len(v.get("elements").elems)
	for _, x := range r.list(v.get("syncs"), "synchronisation vectors") {
		if r.fields(x, "a synchronisation vector", "synchronise", "result") {
			r.vector(x, elements)
		}
	}
}

func (r *reader) vector(v *value, elements int) {
	out := vector{at: v.Start}
	for _, a := range r.list(v.get("synchronise"), "actions") {
		name := ""
		if a.kind != null {
			name = r.word(a, "an action, or null")
		}
		out.actions = append(out.actions, name)
	}
	if len(out.actions) != elements {
		r.add(v.get("synchronise").Start, "a synchronisation vector has %d entries, want %d: one for each element", len(out.actions), elements)
		return
	}
	if res := v.get("result"); res != nil && res.kind != null {
		out.result = r.word(res, "an action, or null")
	}
	r.doc.syncs = append(r.doc.syncs, out)
}
