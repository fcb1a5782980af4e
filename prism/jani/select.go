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
			var nodes []*jsonValue
			collectSelections(original.destinations[destination].assigns[assign].value, &nodes)
			for _, node := range nodes {
				if original.rate != nil {
					t.refuse(node.Start, "found a selection on an edge with a rate, which is not supported")
				}
				low, high := t.selectionRange(node, context)
				if count := high - low + 1; count > maxSelected || len(copies)*count > maxSelected {
					t.tooLarge = true
					t.refuse(node.Start, "the selections of an edge have more than %d combinations, want fewer", maxSelected)
				}
				var expanded []edge
				for _, copied := range copies {
					for selected := low; selected <= high; selected++ {
						expanded = append(expanded, copied.withSelected(destination, assign, node, selected))
					}
				}
				copies = expanded
			}
		}
	}
	return copies
}

// withSelected returns a copy of the edge in which a selection in an assignment is replaced by a number.
func (e edge) withSelected(destination, assign int, node *jsonValue, selected int) edge {
	e.destinations = slices.Clone(e.destinations)
	e.destinations[destination].assigns = slices.Clone(e.destinations[destination].assigns)
	changed := &e.destinations[destination].assigns[assign]
	changed.value = replaceValue(changed.value, node, &jsonValue{Span: node.Span, kind: number, text: strconv.Itoa(selected)})
	return e
}

// collectSelections appends the outermost selections in an expression to nodes.
func collectSelections(value *jsonValue, nodes *[]*jsonValue) {
	if value == nil {
		return
	}
	operand := value.get("exp")
	if value.get("op").isText("nondet") || value.get("op").isText("trc") && operand != nil && operand.get("op").isText("nondet") {
		*nodes = append(*nodes, value)
		return
	}
	for _, element := range value.elements {
		collectSelections(element, nodes)
	}
	for _, member := range value.members {
		collectSelections(member.value, nodes)
	}
}

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
	name := selection.get("var").text
	var minimum, maximum *big.Rat
	var visitCondition func(condition *jsonValue)
	visitCondition = func(condition *jsonValue) {
		if condition == nil {
			t.refuse(selection.Start, "a condition on the selected number lacks an operand")
		}
		op, left, right := condition.get("op"), condition.get("left"), condition.get("right")
		if op.isText("≥") {
			left, right = right, left
		}
		switch {
		case op.isText("∧"):
			visitCondition(left)
			visitCondition(right)
			return
		case !op.isText("≤") && !op.isText("≥"):
		case right.isText(name) && minimum == nil:
			minimum = t.constant(left, context, 0)
			return
		case left.isText(name) && maximum == nil:
			maximum = t.constant(right, context, 0)
			return
		}
		t.refuse(condition.Start, "found another condition on the selected number, want a ≤ %s ∧ %s ≤ b", shortened(name), shortened(name))
	}
	visitCondition(selection.get("exp"))
	for _, b := range []*big.Rat{minimum, maximum} {
		if b == nil || !b.IsInt() || !b.Num().IsInt64() || b.Num().BitLen() > 31 {
			t.refuse(selection.Start, "the bounds of the selected number are unknown, want whole numbers; constants in them need a value (--const)")
		}
	}
	if minimum.Cmp(maximum) > 0 {
		t.refuse(selection.Start, "there is nothing to select between %s and %s", minimum.RatString(), maximum.RatString())
	}
	return int(minimum.Num().Int64()), int(maximum.Num().Int64())
}
