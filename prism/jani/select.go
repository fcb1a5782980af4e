package jani

import (
	"math/big"
	"slices"
)

// maxSelected is the largest number of copies of an edge.
const maxSelected = 1000

// expandSelections replaces an edge by edges without nondeterministic selections (nondet). There is one edge for each combination of selected
// numbers, so that a scheduler chooses the numbers by choosing an edge.
func (t *translator) expandSelections(original edge, context *exprContext) []edge {
	copies := []edge{original}
	for i, destination := range original.destinations {
		for j, assignment := range destination.assignments {
			copies = t.expandSelectionsIn(copies, i, j, assignment.value, context)
		}
	}
	return copies
}

// expandSelectionsIn expands all selections in value, the value of one assignment. destinationIndex and assignmentIndex are the indices of the
// destination and of the assignment.
func (t *translator) expandSelectionsIn(copies []edge, destinationIndex, assignmentIndex int, value *jsonValue, context *exprContext) []edge {
	for _, selection := range appendOutermostParts(nil, value, isTruncatedSelection) {
		if copies[0].rate != nil {
			t.abort(selection.Start, "found a selection on an edge with a rate, which is not supported")
		}
		copies = t.expandSelection(copies, destinationIndex, assignmentIndex, selection, context)
	}
	return copies
}

// expandSelection replaces each edge by copies, one for each number that the selection may give. destinationIndex and assignmentIndex are the
// indices of the destination and of the assignment with the selection.
func (t *translator) expandSelection(edges []edge, destinationIndex, assignmentIndex int, selection *jsonValue, context *exprContext) []edge {
	low, high := t.selectionRange(selection, context)
	count := high - low + 1
	if count > maxSelected || len(edges)*count > maxSelected {
		t.isTooLarge = true
		t.abort(selection.Start, "the selections of an edge have more than %d combinations, want fewer", maxSelected)
	}
	var copies []edge
	for _, edge := range edges {
		for number := low; number <= high; number++ {
			copies = append(copies, edge.withSelected(destinationIndex, assignmentIndex, selection, number))
		}
	}
	return copies
}

// withSelected returns a copy of the edge with the selected number in place of a selection. destinationIndex and assignmentIndex
// locate the selection.
func (e edge) withSelected(destinationIndex, assignmentIndex int, selection *jsonValue, selected int) edge {
	e.destinations = slices.Clone(e.destinations)
	e.destinations[destinationIndex].assignments = slices.Clone(e.destinations[destinationIndex].assignments)
	changed := &e.destinations[destinationIndex].assignments[assignmentIndex]
	changed.value = replaceValue(changed.value, selection, numberValue(selected, selection.Start))
	return e
}

// appendOutermostParts appends the parts of an expression for which hasProperty is true. It does not search inside such a part for further ones.
func appendOutermostParts(parts []*jsonValue, value *jsonValue, hasProperty func(*jsonValue) bool) []*jsonValue {
	if value == nil {
		return parts
	}
	if hasProperty(value) {
		return append(parts, value)
	}
	for _, element := range value.elements {
		parts = appendOutermostParts(parts, element, hasProperty)
	}
	for _, member := range value.members {
		parts = appendOutermostParts(parts, member.value, hasProperty)
	}
	return parts
}

// isTruncatedSelection reports whether an expression is a selection, or the truncation (trc) of a selection.
func isTruncatedSelection(value *jsonValue) bool {
	return isSelection(value) || value.get("op").isText("trc") && isSelection(value.get("exp"))
}

// isSelection reports whether an expression selects a number nondeterministically.
func isSelection(value *jsonValue) bool { return value != nil && value.get("op").isText("nondet") }

// replaceValue returns a JSON value in which replacement replaces old. It shares the parts that do not contain old.
func replaceValue(value, old, replacement *jsonValue) *jsonValue {
	if value == old {
		return replacement
	}
	changed := *value
	changed.elements, changed.members = slices.Clone(value.elements), slices.Clone(value.members)
	isChanged := false
	for i, element := range value.elements {
		changed.elements[i] = replaceValue(element, old, replacement)
		isChanged = isChanged || changed.elements[i] != element
	}
	for i, member := range value.members {
		changed.members[i].value = replaceValue(member.value, old, replacement)
		isChanged = isChanged || changed.members[i].value != member.value
	}
	if !isChanged {
		return value
	}
	return &changed
}

// selectionRange returns the smallest and the largest number that a selection may give. It aborts unless the selection is truncated to an
// integer.
func (t *translator) selectionRange(value *jsonValue, context *exprContext) (low, high int) {
	if !value.get("op").isText("trc") {
		t.abort(value.Start, "found a selection of a real number, want it truncated with \"trc\"")
	}
	selection := value.get("exp")
	t.requireKeys(selection, "var", "exp")
	if selection.get("var").kind != text {
		t.abort(selection.Start, "found %s, want the name of the selected number", selection.get("var").describe())
	}
	bounds := &selectionBounds{selection: selection, name: selection.get("var").text}
	t.readSelectionBounds(bounds, selection.get("exp"), context)
	if !isInt32(bounds.minimum) || !isInt32(bounds.maximum) {
		t.abort(selection.Start, "the bounds of the selected number are unknown, want whole numbers; constants in them need a value (--const)")
	}
	if bounds.minimum.Cmp(bounds.maximum) > 0 {
		t.abort(selection.Start, "there is nothing to select between %s and %s", bounds.minimum.RatString(), bounds.maximum.RatString())
	}
	return int(bounds.minimum.Num().Int64()), int(bounds.maximum.Num().Int64())
}

// isInt32 reports whether a number is known and fits into an int32, except for the smallest int32.
func isInt32(number *big.Rat) bool {
	return number != nil && number.IsInt() && number.Num().BitLen() <= 31
}

// selectionBounds holds the bounds of a selected number; nil while they are unknown.
type selectionBounds struct {
	selection        *jsonValue
	name             string // of the selected number
	minimum, maximum *big.Rat
}

// readSelectionBounds reads the bounds of a selected number x from a condition a ≤ x ∧ x ≤ b. It aborts for any other condition.
func (t *translator) readSelectionBounds(bounds *selectionBounds, condition *jsonValue, context *exprContext) {
	if condition == nil {
		t.abort(bounds.selection.Start, "a condition on the selected number lacks an operand")
	}
	op, left, right := condition.get("op"), condition.get("left"), condition.get("right")
	if op.isText("∧") {
		t.readSelectionBounds(bounds, left, context)
		t.readSelectionBounds(bounds, right, context)
		return
	}
	if op.isText("≥") {
		left, right = right, left
	}
	isComparison := op.isText("≤") || op.isText("≥")
	switch {
	case isComparison && right.isText(bounds.name) && bounds.minimum == nil:
		bounds.minimum = t.constantValue(left, context, 0)
	case isComparison && left.isText(bounds.name) && bounds.maximum == nil:
		bounds.maximum = t.constantValue(right, context, 0)
	default:
		name := shortened(bounds.name)
		t.abort(condition.Start, "found another condition on the selected number, want a ≤ %s ∧ %s ≤ b", name, name)
	}
}
