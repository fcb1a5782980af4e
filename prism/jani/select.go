package jani

import (
	"math/big"
	"slices"
	"strconv"
)

// maxSelected is the largest number of copies of an edge.
const maxSelected = 1000

// selections replaces an edge by one copy for each combination of the numbers that its assignments
// select nondeterministically. The selection becomes a choice between edges. This is also right
// for selections in several destinations, since a combination has a number for each.
func (t *translator) selections(e edge, p *place) []edge {
	out := []edge{e}
	for d := range e.dests {
		for a := range e.dests[d].assigns {
			var nodes []*value
			findSelections(e.dests[d].assigns[a].value, &nodes)
			for _, node := range nodes {
				if e.rate != nil {
					t.refuse(node.Start, "found a selection on an edge with a rate, which is not supported")
				}
				low, high := t.selectionRange(node, p)
				if n := high - low + 1; n > maxSelected || len(out)*n > maxSelected {
					t.large = true
					t.refuse(node.Start, "the selections of an edge have more than %d combinations, want fewer", maxSelected)
				}
				var more []edge
				for _, x := range out {
					for k := low; k <= high; k++ {
						more = append(more, x.with(d, a, node, k))
					}
				}
				out = more
			}
		}
	}
	return out
}

// with returns the edge with a number in place of a selection.
func (e edge) with(d, a int, node *value, k int) edge {
	e.dests = slices.Clone(e.dests)
	e.dests[d].assigns = slices.Clone(e.dests[d].assigns)
	x := &e.dests[d].assigns[a]
	x.value = replaced(x.value, node, &value{Span: node.Span, kind: number, text: strconv.Itoa(k)})
	return e
}

// findSelections appends the outermost selections in an expression.
func findSelections(v *value, nodes *[]*value) {
	if v == nil {
		return
	}
	x := v.get("exp")
	if v.get("op").isText("nondet") || v.get("op").isText("trc") && x != nil && x.get("op").isText("nondet") {
		*nodes = append(*nodes, v)
		return
	}
	for _, e := range v.elems {
		findSelections(e, nodes)
	}
	for _, m := range v.members {
		findSelections(m.value, nodes)
	}
}

// replaced returns an expression with one part replaced.
func replaced(v, old, by *value) *value {
	if v == old {
		return by
	}
	if v.kind != array && v.kind != object {
		return v
	}
	out := *v
	out.elems, out.members = slices.Clone(v.elems), slices.Clone(v.members)
	for i, e := range out.elems {
		out.elems[i] = replaced(e, old, by)
	}
	for i, m := range out.members {
		out.members[i].value = replaced(m.value, old, by)
	}
	return &out
}

// selectionRange returns the smallest and the largest number of a selection. Selected numbers are
// real; the expression must truncate them, and the bounds must be integers.
func (t *translator) selectionRange(v *value, p *place) (low, high int) {
	if !v.get("op").isText("trc") {
		t.refuse(v.Start, "found a selection of a real number, want its \"trc\"")
	}
	x := v.get("exp")
	t.operands(x, "var", "exp")
	if x.get("var").kind != text {
		t.refuse(x.Start, "found %s, want the name of what is selected", x.get("var").describe())
	}
	name := x.get("var").text
	var least, most *big.Rat
	var look func(c *value)
	look = func(c *value) {
		if c == nil {
			t.refuse(x.Start, "a condition on what is selected lacks an operand")
		}
		op, left, right := c.get("op"), c.get("left"), c.get("right")
		if op.isText("≥") {
			left, right = right, left
		}
		switch {
		case op.isText("∧"):
			look(left)
			look(right)
			return
		case !op.isText("≤") && !op.isText("≥"):
		case right.isText(name) && least == nil:
			least = t.constant(left, p, 0)
			return
		case left.isText(name) && most == nil:
			most = t.constant(right, p, 0)
			return
		}
		t.refuse(c.Start, "found another condition on what is selected than a ≤ %s ∧ %s ≤ b", short(name), short(name))
	}
	look(x.get("exp"))
	for _, b := range []*big.Rat{least, most} {
		if b == nil || !b.IsInt() || !b.Num().IsInt64() || b.Num().BitLen() > 31 {
			t.refuse(x.Start, "the bounds of what is selected are not known, want whole numbers; constants in them need one value (--const)")
		}
	}
	if least.Cmp(most) > 0 {
		t.refuse(x.Start, "there is nothing to select between %s and %s", least.RatString(), most.RatString())
	}
	return int(least.Num().Int64()), int(most.Num().Int64())
}
