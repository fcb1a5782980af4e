package jani

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// outcome is a number that a sampled expression may give, with its probability as an expression.
type outcome struct {
	number      int
	probability *jsonValue
}

// expandSampling returns an edge without sampled numbers: each destination is replaced by one destination for each number that may be drawn. All
// supported distributions are discrete, so a stochastic timed automaton becomes a probabilistic timed automaton.
func (t *translator) expandSampling(original edge, context *exprContext) edge {
	var destinations []destination
	for _, destination := range original.destinations {
		destinations = append(destinations, t.expandSampled(destination, context)...)
		t.limitSampled(original.pos, len(destinations))
	}
	original.destinations = destinations
	return original
}

// expandSampled returns copies of a destination, one for each combination of the numbers that its assignments may draw.
func (t *translator) expandSampled(original destination, context *exprContext) []destination {
	destinations := []destination{original}
	for i, assignment := range original.assigns {
		for _, sampled := range appendOutermostParts(nil, assignment.value, isSampled) {
			outcomes := t.outcomes(sampled, context)
			t.limitSampled(sampled.Start, len(destinations)*len(outcomes))
			destinations = withEachDrawn(destinations, i, sampled, outcomes)
		}
	}
	return destinations
}

// withEachDrawn returns a copy of each destination for each outcome of a sampled expression. The outcome replaces the expression.
// assignment is the index of the assignment whose right side contains the expression.
func withEachDrawn(destinations []destination, assignment int, sampled *jsonValue, outcomes []outcome) []destination {
	var copies []destination
	for _, destination := range destinations {
		for _, outcome := range outcomes {
			copies = append(copies, destination.withDrawn(assignment, sampled, outcome))
		}
	}
	return copies
}

// limitSampled refuses an edge with too many destinations.
func (t *translator) limitSampled(pos syntax.Pos, count int) {
	if count > maxSelected {
		t.tooLarge = true
		t.abort(pos, "the numbers that an edge draws have more than %d combinations, want fewer", maxSelected)
	}
}

// withDrawn returns a copy of the destination in which a drawn number replaces a sampled expression. The destination's probability is multiplied
// by the probability of this number. assignment is the index of the assignment whose right side contains the expression.
func (d destination) withDrawn(assignment int, sampled *jsonValue, drawn outcome) destination {
	d.assigns = slices.Clone(d.assigns)
	d.assigns[assignment].value = replaceValue(d.assigns[assignment].value, sampled, numberValue(drawn.number, sampled.Start))
	if d.probability == nil {
		d.probability = drawn.probability
	} else {
		d.probability = operation("*", d.probability, drawn.probability)
	}
	return d
}

// isSampled reports whether an expression draws a number from a distribution.
func isSampled(value *jsonValue) bool { return value.get("distribution") != nil }

// outcomes returns the numbers that a sampled expression may give, with their probabilities.
//
// Source: the specification of JANI, section 5.4, Distributions.
func (t *translator) outcomes(sampled *jsonValue, context *exprContext) []outcome {
	name, args := sampled.get("distribution").text, sampled.get("args")
	switch {
	case name == "DiscreteUniform" && args != nil && len(args.elements) == 2:
		low, high := t.constant(args.elements[0], context, 0), t.constant(args.elements[1], context, 0)
		if !isInt32(low) || !isInt32(high) || low.Cmp(high) > 0 {
			t.abort(sampled.Start,
				"found bounds of DiscreteUniform that are not known whole numbers, the smaller one first; constants in them need a value (--const)")
		}
		return t.equalOutcomes(sampled, int(low.Num().Int64()), int(high.Num().Int64()))
	case name == "Bernoulli" && args != nil && len(args.elements) == 1:
		success := args.elements[0]
		failure := operation("-", numberValue(1, sampled.Start), success)
		return []outcome{{number: 1, probability: success}, {number: 0, probability: failure}}
	}
	t.abort(sampled.Start, "sampling from %s is not supported, want DiscreteUniform with two arguments or Bernoulli with one",
		shortened(fmt.Sprintf("%q", name)))
	return nil
}

// equalOutcomes returns the numbers from low to high with equal probabilities.
func (t *translator) equalOutcomes(sampled *jsonValue, low, high int) []outcome {
	count := high - low + 1
	t.limitSampled(sampled.Start, count)
	probability := operation("/", numberValue(1, sampled.Start), numberValue(count, sampled.Start))
	var outcomes []outcome
	for number := low; number <= high; number++ {
		outcomes = append(outcomes, outcome{number, probability})
	}
	return outcomes
}

// operation returns an infix operation as JSON, at the position of its second operand.
func operation(op string, left, right *jsonValue) *jsonValue {
	operator := &jsonValue{Span: right.Span, kind: text, text: op}
	return &jsonValue{Span: right.Span, kind: object, members: []member{
		{"op", right.Start, operator}, {"left", right.Start, left}, {"right", right.Start, right},
	}}
}
