//go:build !js

package jani

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/prism/jani/composition"
)

// ReadComposed is like [Read], but first replaces groups of automata of a Markov automaton by their minimised compositions. Properties that do not
// depend on the number of steps keep their values. composed reports whether it replaced automata; otherwise the translation is that of Read.
func ReadComposed(ctx context.Context, file string, src []byte, constants map[string]string) (translation *Translation, composed bool, err error) {
	document, err := readStructure(file, src)
	if err != nil {
		return nil, false, err
	}
	if composed, err = document.compose(ctx); err != nil {
		return nil, false, err
	}
	translation, err = translate(file, document, constants)
	return translation, composed, err
}

// decimals is the number of decimals of the unit of rates.
const decimals = 12

// compose reduces the number of automata in the document: it replaces groups of automata by their minimised compositions. It returns true if the
// document has changed. The only error is the error of the context.
func (d *document) compose(ctx context.Context) (composed bool, err error) {
	hasInputs := func(element element) bool { return len(element.inputEnable) > 0 }
	if !d.isMarkovAutomaton || len(d.syncVectors) == 0 || d.initialRestriction != nil || slices.ContainsFunc(d.elements, hasInputs) {
		return false, nil
	}
	composer := &composer{document: d, actions: map[string]int{"": composition.Internal}}
	composer.readNetwork()
	if err := composer.network.Reduce(ctx); err != nil {
		return false, err
	}
	return composer.replaceAutomata(), nil
}

// composer converts the network of a document to automata without variables, and back.
type composer struct {
	*document
	network    composition.Network
	actions    map[string]int // the numbers of the actions
	isExcluded []bool         // whether an element keeps its automaton
}

// readNetwork converts the elements and the synchronisation vectors of the document to a network. An element that must not be composed becomes
// nil.
func (c *composer) readNetwork() {
	for _, element := range c.elements {
		automaton := c.convertAutomaton(element)
		c.network.Automata, c.isExcluded = append(c.network.Automata, automaton), append(c.isExcluded, automaton == nil)
	}
	for _, vector := range c.syncVectors {
		c.excludeRacingAutomata(vector)
	}
	for vectorIndex, vector := range c.syncVectors {
		actions := make([]int, len(vector.actions))
		for i, name := range vector.actions {
			actions[i] = c.action(name)
		}
		c.network.Vectors = append(c.network.Vectors, composition.Vector{Actions: actions, Origin: vectorIndex})
	}
}

// excludeRacingAutomata excludes automata from composition. If an action of a synchronisation vector has a rate, all automata that take part in
// the vector are excluded. The rate of such a step is multiplied by the number of combinations of edges, and bisimulation does not preserve this number.
func (c *composer) excludeRacingAutomata(vector vector) {
	hasRate := false
	for i, action := range vector.actions {
		edges := c.automata[c.elements[i].automaton].edges
		hasRate = hasRate || action != "" && slices.ContainsFunc(edges, func(edge *edge) bool { return edge.rate != nil && edge.action == action })
	}
	if !hasRate {
		return
	}
	for i, action := range vector.actions {
		if action != "" {
			c.network.Automata[i], c.isExcluded[i] = nil, true
		}
	}
}

// action returns the number of an action. A new action gets the next number.
func (c *composer) action(name string) int {
	number, ok := c.actions[name]
	if !ok {
		number = len(c.actions)
		c.actions[name] = number
	}
	return number
}

// convertAutomaton converts the automaton of an element. It returns nil if the automaton cannot be composed: because it has variables, transient
// values or probabilities, or rates that are not decimal numbers.
func (c *composer) convertAutomaton(element element) *composition.Automaton {
	source := c.automata[element.automaton]
	if len(source.locals) > 0 || len(source.initial) != 1 || source.initialRestriction != nil {
		return nil
	}
	result := &composition.Automaton{Initial: source.initial[0], States: make([]composition.State, len(source.locations))}
	for _, location := range source.locations {
		if len(location.transients) > 0 {
			return nil
		}
	}
	exitRates := make([]int64, len(source.locations)) // the sum of the rates of each location, in units
	for _, edge := range source.edges {
		if !edge.isComposable() {
			return nil
		}
		state, target := &result.States[edge.location], edge.destinations[0].location
		if edge.rate == nil {
			state.Steps = append(state.Steps, composition.Step{Action: c.action(edge.action), Target: target})
			continue
		}
		units, ok := rateInUnits(edge.rate)
		if !ok || edge.action != "" {
			return nil
		}
		if exitRates[edge.location] += units; exitRates[edge.location] > composition.MaxUnits {
			return nil
		}
		state.Rates = append(state.Rates, composition.Rate{Target: target, Units: units})
	}
	return result
}

// isComposable reports whether an edge has no guard, no assignments and no probabilities.
func (e *edge) isComposable() bool {
	return e.guard == nil && len(e.destinations) == 1 && e.destinations[0].probability == nil && len(e.destinations[0].assignments) == 0
}

// rateInUnits returns a positive rate in units of 10^-decimals. It returns false if the rate is not a whole number of units, or if it is too small or
// too large.
func rateInUnits(rate *jsonValue) (units int64, ok bool) {
	const minRate, maxRate = 1e-12, 1e5
	if rate.kind != number || len(rate.text) > maxDigits {
		return 0, false
	}
	if approximate, err := strconv.ParseFloat(rate.text, 64); err != nil || approximate < minRate || approximate > maxRate {
		return 0, false // a fraction with a huge exponent would need much memory
	}
	exact, ok := new(big.Rat).SetString(rate.text)
	if !ok {
		return 0, false
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	exact.Mul(exact, new(big.Rat).SetInt(scale))
	return exact.Num().Int64(), exact.IsInt()
}

// replaceAutomata replaces the elements, the automata and the synchronisation vectors of the document by those of the reduced network. It returns false,
// and changes nothing, if the network does not have fewer elements.
func (c *composer) replaceAutomata() bool {
	var elements []element
	var keptIndices []int // for each kept element, its index in the document
	automata := c.automata
	for i, element := range c.elements {
		reduced := c.network.Automata[i]
		if reduced == nil && !c.isExcluded[i] {
			continue // its automaton is part of the composition that replaces another element
		}
		if reduced != nil {
			automata = append(automata, c.newAutomaton(reduced, automata[element.automaton], i))
			element.automaton = len(automata) - 1
		}
		elements, keptIndices = append(elements, element), append(keptIndices, i)
	}
	if len(elements) == len(c.elements) || c.makesRaceLarge(elements, automata) {
		return false
	}
	c.syncVectors = c.reducedVectors(keptIndices)
	c.elements, c.automata = elements, automata
	return true
}

// makesRaceLarge reports whether several elements have rates, and far more than in the document. Each state of their race computes all of these rates.
func (c *composer) makesRaceLarge(elements []element, automata []*automaton) bool {
	const maxFactor = 4
	before, _ := countRates(c.elements, automata)
	after, racing := countRates(elements, automata)
	return racing > 1 && after > maxFactor*before
}

// countRates returns the number of edges with rates in some elements, and the number of elements that have such edges.
func countRates(elements []element, automata []*automaton) (numRates, numElements int) {
	for _, element := range elements {
		ratesBefore := numRates
		for _, edge := range automata[element.automaton].edges {
			if edge.rate != nil {
				numRates++
			}
		}
		if numRates > ratesBefore {
			numElements++
		}
	}
	return numRates, numElements
}

// reducedVectors converts the vectors of the network to synchronisation vectors of the document. keptIndices has, for each element that is kept,
// its index in the document. Of equal vectors in which a composed automaton takes part, it returns only one: steps of composed automata have no
// rates, so repetitions change nothing.
func (c *composer) reducedVectors(keptIndices []int) []vector {
	var vectors []vector
	isKnown := map[string]bool{}
	for i := range c.network.Vectors {
		networkVector := &c.network.Vectors[i]
		documentVector := c.syncVectors[networkVector.Origin]
		newVector := vector{pos: documentVector.pos, result: documentVector.result}
		isComposed := false
		for _, elementIndex := range keptIndices {
			name := documentVector.actions[elementIndex]
			if !c.isExcluded[elementIndex] {
				name = composedActionName(networkVector.Actions[elementIndex])
				isComposed = isComposed || name != ""
			}
			newVector.actions = append(newVector.actions, name)
		}
		if key := fmt.Sprintf("%q %q", newVector.actions, newVector.result); !isComposed || !isKnown[key] {
			isKnown[key] = true
			vectors = append(vectors, newVector)
		}
	}
	return vectors
}

// composedActionName returns the name of an action of a converted automaton.
func composedActionName(action int) string {
	if action == composition.Internal {
		return ""
	}
	return strconv.Itoa(action)
}

// newAutomaton converts an automaton of the network to an automaton of the document. It gets the position of the automaton that it replaces.
// elementIndex is the index of the element.
func (c *composer) newAutomaton(reduced *composition.Automaton, replaced *automaton, elementIndex int) *automaton {
	newAutomaton := &automaton{pos: replaced.pos, name: c.unusedName("composed_" + strconv.Itoa(elementIndex)), initial: []int{reduced.Initial}}
	for state := range reduced.States {
		newAutomaton.locations = append(newAutomaton.locations, location{name: strconv.Itoa(state)})
		for _, step := range reduced.States[state].Steps {
			newAutomaton.edges = append(newAutomaton.edges, &edge{
				pos: replaced.pos, location: state, action: composedActionName(step.Action), destinations: []destination{{pos: replaced.pos, location: step.Target}},
			})
		}
		for _, rate := range reduced.States[state].Rates {
			text := &jsonValue{Span: spanAt(replaced.pos), kind: number, text: strconv.FormatInt(rate.Units, 10) + "e-" + strconv.Itoa(decimals)}
			newAutomaton.edges = append(newAutomaton.edges, &edge{
				pos: replaced.pos, location: state, rate: text, destinations: []destination{{pos: replaced.pos, location: rate.Target}},
			})
		}
	}
	return newAutomaton
}

// unusedName returns a name for an automaton that the document does not have.
func (c *composer) unusedName(name string) string {
	for slices.ContainsFunc(c.automata, func(other *automaton) bool { return other.name == name }) {
		name += "_"
	}
	return name
}
