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
	numDrawn := 0
	for _, destination := range original.destinations {
		expanded := t.expandDestination(destination, context)
		if destinations = append(destinations, expanded...); len(expanded) > 1 {
			numDrawn += len(expanded)
		}
		t.checkSampledCount(original.pos, numDrawn)
	}
	original.destinations = destinations
	return original
}

// expandDestination returns copies of a destination, one for each combination of the numbers that its assignments may draw.
func (t *translator) expandDestination(original destination, context *exprContext) []destination {
	destinations := []destination{original}
	for i, assignment := range original.assignments {
		for _, sampledExpr := range appendOutermostParts(nil, assignment.value, isSampled) {
			outcomes := t.outcomes(sampledExpr, context)
			t.checkSampledCount(sampledExpr.Start, len(destinations)*len(outcomes))
			destinations = replaceByOutcomes(destinations, i, sampledExpr, outcomes)
		}
	}
	return destinations
}

// replaceByOutcomes returns a copy of each destination for each outcome of a sampled expression. The outcome replaces the expression.
// assignmentIndex is the index of the assignment whose right side contains the expression.
func replaceByOutcomes(destinations []destination, assignmentIndex int, sampledExpr *jsonValue, outcomes []outcome) []destination {
	var copies []destination
	for _, destination := range destinations {
		for _, outcome := range outcomes {
			copies = append(copies, destination.replaceByOutcome(assignmentIndex, sampledExpr, outcome))
		}
	}
	return copies
}

// checkSampledCount refuses an edge if too many destinations draw numbers.
func (t *translator) checkSampledCount(pos syntax.Pos, count int) {
	if count > maxSelected {
		t.isTooLarge = true
		t.abort(pos, "the numbers that an edge draws have more than %d combinations, want fewer", maxSelected)
	}
}

// replaceByOutcome returns a copy of the destination in which a drawn number replaces a sampled expression. The destination's probability is multiplied
// by the probability of this number. assignmentIndex is the index of the assignment whose right side contains the expression.
func (d destination) replaceByOutcome(assignmentIndex int, sampledExpr *jsonValue, drawn outcome) destination {
	d.assignments = slices.Clone(d.assignments)
	d.assignments[assignmentIndex].value = replaceValue(d.assignments[assignmentIndex].value, sampledExpr, numberValue(drawn.number, sampledExpr.Start))
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
func (t *translator) outcomes(sampledExpr *jsonValue, context *exprContext) []outcome {
	name, args := sampledExpr.get("distribution").text, sampledExpr.get("args")
	switch {
	case name == "DiscreteUniform" && args != nil && len(args.elements) == 2:
		low, high := t.constantValue(args.elements[0], context, 0), t.constantValue(args.elements[1], context, 0)
		if !isInt32(low) || !isInt32(high) || low.Cmp(high) > 0 {
			t.abort(sampledExpr.Start,
				"found bounds of DiscreteUniform that are not known whole numbers, the smaller one first; constants in them need a value (--const)")
		}
		return t.equalOutcomes(sampledExpr, int(low.Num().Int64()), int(high.Num().Int64()))
	case name == "Bernoulli" && args != nil && len(args.elements) == 1:
		success := args.elements[0]
		failure := operation("-", numberValue(1, sampledExpr.Start), success)
		return []outcome{{number: 1, probability: success}, {number: 0, probability: failure}}
	}
	t.abort(sampledExpr.Start, "sampling from %s is not supported, want DiscreteUniform with two arguments or Bernoulli with one",
		shortened(fmt.Sprintf("%q", name)))
	return nil
}

// equalOutcomes returns the numbers from low to high with equal probabilities.
func (t *translator) equalOutcomes(sampledExpr *jsonValue, low, high int) []outcome {
	count := high - low + 1
	t.checkSampledCount(sampledExpr.Start, count)
	probability := operation("/", numberValue(1, sampledExpr.Start), numberValue(count, sampledExpr.Start))
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
