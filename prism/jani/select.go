package jani

import (
	"math/big"
	"slices"
	"strconv"
)

// maxSelected is the largest number of copies of an edge.
const maxSelected = 1000

// expandSelections replaces an edge by one copy for each combination of the numbers that its assignments
// select nondeterministically (nondet). So the selection becomes a choice between edges.
func (t *translator) expandSelections(original edge, context *exprContext) []edge {
	copies := []edge{original}
	for destination := range original.destinations {
		for assign := range original.destinations[destination].assigns {
			var selections []*jsonValue
			collectSelections(original.destinations[destination].assigns[assign].value, &selections)
			for _, selection := range selections {
				if original.rate != nil {
					t.refuse(selection.Start, "found a selection on an edge with a rate, which is not supported")
				}
				copies = t.expandSelection(copies, destination, assign, selection, context)
			}
		}
	}
	return copies
}

// expandSelection replaces each edge by one copy for each number that a selection in an assignment may give.
func (t *translator) expandSelection(edges []edge, destination, assign int, selection *jsonValue, context *exprContext) []edge {
	low, high := t.selectionRange(selection, context)
	count := high - low + 1
	if count > maxSelected || len(edges)*count > maxSelected {
		t.tooLarge = true
		t.refuse(selection.Start, "the selections of an edge have more than %d combinations, want fewer", maxSelected)
	}
	var copies []edge
	for _, edge := range edges {
		for number := low; number <= high; number++ {
			copies = append(copies, edge.withSelected(destination, assign, selection, number))
		}
	}
	return copies
}

// withSelected returns a copy of the edge in which a selection in an assignment is replaced by a number.
func (e edge) withSelected(destination, assign int, selection *jsonValue, selected int) edge {
	e.destinations = slices.Clone(e.destinations)
	e.destinations[destination].assigns = slices.Clone(e.destinations[destination].assigns)
	changed := &e.destinations[destination].assigns[assign]
	changed.value = replaceValue(changed.value, selection, &jsonValue{Span: selection.Span, kind: number, text: strconv.Itoa(selected)})
	return e
}

// collectSelections appends the outermost selections in an expression to selections.
func collectSelections(value *jsonValue, selections *[]*jsonValue) {
	if value == nil {
		return
	}
	if isSelection(value) || value.get("op").isText("trc") && isSelection(value.get("exp")) {
		*selections = append(*selections, value)
		return
	}
	for _, element := range value.elements {
		collectSelections(element, selections)
	}
	for _, member := range value.members {
		collectSelections(member.value, selections)
	}
}

// isSelection reports whether an expression selects a number nondeterministically.
func isSelection(value *jsonValue) bool { return value != nil && value.get("op").isText("nondet") }

// replaceValue returns an expression with one part replaced.
func replaceValue(value, old, replacement *jsonValue) *jsonValue {
	if value == old {
		return replacement
	}
	if value.kind != array && value.kind != object {
		return value
	}
	out := *value
	out.elements, out.members = slices.Clone(value.elements), slices.Clone(value.members)
	for i, element := range out.elements {
		out.elements[i] = replaceValue(element, old, replacement)
	}
	for i, member := range out.members {
		out.members[i].value = replaceValue(member.value, old, replacement)
	}
	return &out
}

// selectionRange returns the smallest and the largest number of a selection. Selected numbers are
// real; the expression must truncate them, and the bounds must be constant integers.
func (t *translator) selectionRange(value *jsonValue, context *exprContext) (low, high int) {
	if !value.get("op").isText("trc") {
		t.refuse(value.Start, "found a selection of a real number, want it truncated with \"trc\"")
	}
	selection := value.get("exp")
	t.requireKeys(selection, "var", "exp")
	if selection.get("var").kind != text {
		t.refuse(selection.Start, "found %s, want the name of the selected number", selection.get("var").describe())
	}
	bounds := &selectionBounds{selection: selection, name: selection.get("var").text}
	t.readSelectionBounds(bounds, selection.get("exp"), context)
	for _, bound := range []*big.Rat{bounds.minimum, bounds.maximum} {
		if bound == nil || !bound.IsInt() || !bound.Num().IsInt64() || bound.Num().BitLen() > 31 {
			t.refuse(selection.Start, "the bounds of the selected number are unknown, want whole numbers; constants in them need a value (--const)")
		}
	}
	if bounds.minimum.Cmp(bounds.maximum) > 0 {
		t.refuse(selection.Start, "there is nothing to select between %s and %s", bounds.minimum.RatString(), bounds.maximum.RatString())
	}
	return int(bounds.minimum.Num().Int64()), int(bounds.maximum.Num().Int64())
}

// selectionBounds holds the bounds of a selected number; nil while they are unknown.
type selectionBounds struct {
	selection        *jsonValue
	name             string // of the selected number
	minimum, maximum *big.Rat
}

// readSelectionBounds reads the bounds in a condition of the form a ≤ x ∧ x ≤ b.
func (t *translator) readSelectionBounds(bounds *selectionBounds, condition *jsonValue, context *exprContext) {
	if condition == nil {
		t.refuse(bounds.selection.Start, "a condition on the selected number lacks an operand")
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
		bounds.minimum = t.constant(left, context, 0)
	case isComparison && left.isText(bounds.name) && bounds.maximum == nil:
		bounds.maximum = t.constant(right, context, 0)
	default:
		name := shortened(bounds.name)
		t.refuse(condition.Start, "found another condition on the selected number, want a ≤ %s ∧ %s ≤ b", name, name)
	}
}
