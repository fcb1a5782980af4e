package jani

import (
	"math/big"
	"strconv"

	"tilecheck/prism/syntax"
)

// maxLength is the largest length of an array.
const maxLength = 10_000

// symbolOf translates an expression that may have the type of an array or a datatype. Variables in it
// are replaced by the values that earlier assignments of the step gave them.
func (t *translator) symbolOf(v *jsonValue, context *exprContext) symbol {
	if v.kind == text {
		if s, ok := context.find(v.text); ok {
			return t.currentValues(v, s, context)
		}
	}
	if op := v.get("op"); op != nil && op.kind == text {
		switch op.text {
		case "aa", "da":
			return t.partOf(v, context)
		case "av":
			t.requireKeys(v, "elements")
			parts := &composite{}
			for _, e := range v.get("elements").elements {
				parts.elements = append(parts.elements, t.symbolOf(e, context))
			}
			return symbol{composite: parts}
		case "ac":
			return t.comprehension(v, context)
		case "dv":
			return t.datatypeValue(v, context)
		}
	}
	x := t.sizedExpr(v, context)
	return symbol{expr: x.expr, size: x.size, isBool: t.isBool(v, context)}
}

// currentValues returns a copy of a symbol in which each variable is replaced by its current value in
// the step.
func (t *translator) currentValues(v *jsonValue, s symbol, context *exprContext) symbol {
	switch {
	case s.slot != nil:
		size := 1
		if x, ok := context.assigned[s.slot]; ok {
			size = x.size
		}
		return symbol{expr: t.slotValue(v, s.slot, context), size: size, isBool: s.slot.typ.kind == boolType}
	case s.composite != nil:
		t.addSize(v.Start, len(s.composite.elements)+len(s.composite.members))
		parts := &composite{}
		for _, e := range s.composite.elements {
			parts.elements = append(parts.elements, t.currentValues(v, e, context))
		}
		if s.composite.members != nil {
			parts.members = make(map[string]symbol)
			for name, m := range s.composite.members {
				parts.members[name] = t.currentValues(v, m, context)
			}
		}
		return symbol{composite: parts}
	}
	return s
}

// partOf translates the access to an element of an array ("aa") or a member of a datatype ("da").
func (t *translator) partOf(v *jsonValue, context *exprContext) symbol {
	if v.get("op").text == "da" {
		t.requireKeys(v, "exp", "member")
		base := t.symbolOf(v.get("exp"), context)
		name := v.get("member").text
		if base.composite != nil {
			if m, ok := base.composite.members[name]; ok {
				return m
			}
		}
		t.refuse(v.Start, "there is no member %q", shortened(name))
	}
	t.requireKeys(v, "exp", "index")
	base := t.symbolOf(v.get("exp"), context)
	if base.composite == nil || base.composite.members != nil {
		t.refuse(v.get("exp").Start, "found another value than an array, want an array")
	}
	if i, ok := t.constantIndex(v.get("index"), context); ok {
		switch {
		case i >= 0 && i < len(base.composite.elements):
			return base.composite.elements[i]
		case v.get("index").kind == number:
			t.refuse(v.get("index").Start, "the array has no element %d, want one of %d", i, len(base.composite.elements))
		}
		// The index is outside the array, but a condition may prevent the access.
	}
	return t.elementAt(v, t.sizedExpr(v.get("index"), context), base.composite.elements)
}

// constantIndex returns the value of an index expression, if it is a constant integer.
func (t *translator) constantIndex(v *jsonValue, context *exprContext) (int, bool) {
	r := t.constant(v, context, 0)
	if r == nil || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return int(r.Num().Int64()), true
}

// elementAt returns an expression for the element of an array with a variable index, as nested
// conditions on the index. Evaluating it with an index outside the array is an error.
func (t *translator) elementAt(v *jsonValue, index sizedExpr, elements []symbol) symbol {
	if len(elements) == 0 {
		t.refuse(v.Start, "the array has no elements")
	}
	if first := elements[0].composite; first != nil {
		parts := &composite{}
		for k := range first.elements {
			parts.elements = append(parts.elements, t.elementAt(v, index, partsOfElements(elements, func(parts *composite) symbol { return parts.at(k) })))
		}
		for name := range first.members {
			if parts.members == nil {
				parts.members = make(map[string]symbol)
			}
			parts.members[name] = t.elementAt(v, index, partsOfElements(elements, func(parts *composite) symbol { return parts.members[name] }))
		}
		return symbol{composite: parts}
	}
	t.addSize(v.Start, len(elements)*(index.size+3)+6)
	result := failingExpr(v, index, elements[0].isBool)
	for k := len(elements) - 1; k >= 0; k-- {
		if elements[k].expr == nil {
			t.refuse(v.Start, "the elements of an array have different types")
		}
		result.expr = &syntax.Cond{C: t.indexEquals(v, index.expr, k), T: elements[k].expr, E: result.expr, Span: v.Span}
		result.size += index.size + 3 + elements[k].size
	}
	return result
}

// indexEquals returns the condition that an index has the value k.
func (t *translator) indexEquals(v *jsonValue, index syntax.Expr, k int) syntax.Expr {
	return &syntax.Binary{Op: syntax.OpEq, X: index, Y: &syntax.IntLit{Value: int32(k), Span: v.Span}, OpPos: v.Start, Span: v.Span}
}

// at returns an element, or an empty symbol outside the array.
func (parts *composite) at(k int) symbol {
	if parts == nil || k >= len(parts.elements) {
		return symbol{}
	}
	return parts.elements[k]
}

// partsOfElements returns the same part of each element of an array; empty for an element without parts.
func partsOfElements(elements []symbol, part func(*composite) symbol) []symbol {
	parts := make([]symbol, len(elements))
	for i, element := range elements {
		if element.composite != nil {
			parts[i] = part(element.composite)
		}
	}
	return parts
}

// comprehension translates an array that is defined by one expression over the index ("ac").
func (t *translator) comprehension(v *jsonValue, context *exprContext) symbol {
	t.requireKeys(v, "var", "length", "exp")
	n, ok := t.constantIndex(v.get("length"), context)
	if !ok || n < 0 || n > maxLength {
		t.refuse(v.get("length").Start, "the length of an array is unknown, want a constant of at most %d", maxLength)
	}
	parts := &composite{}
	t.addSize(v.Start, 10*n)
	for i := range n {
		s := newScope(context.scope)
		span := v.get("length").Span
		s.names[v.get("var").text] = symbol{
			expr: &syntax.IntLit{Value: int32(i), Span: span}, size: 1, definition: &jsonValue{kind: number, text: strconv.Itoa(i), Span: span},
		}
		parts.elements = append(parts.elements, t.symbolOf(v.get("exp"), context.withScope(s)))
	}
	return symbol{composite: parts}
}

// datatypeValue translates a value of a datatype, which lists its members ("dv").
func (t *translator) datatypeValue(v *jsonValue, context *exprContext) symbol {
	t.requireKeys(v, "type", "values")
	parts := &composite{members: make(map[string]symbol)}
	for _, m := range v.get("values").elements {
		if m.get("member") == nil || m.get("value") == nil {
			t.refuse(m.Start, "a member of a datatype value lacks \"member\" or \"value\", want both")
		}
		parts.members[m.get("member").text] = t.symbolOf(m.get("value"), context)
	}
	return symbol{composite: parts}
}

// target is a variable that an assignment sets if the conditions hold. They compare a variable index
// with the position of the target in the array.
type target struct {
	slot       *slot
	conditions []sizedExpr
}

// targetsOf returns the variables that an assignment to ref may set, as a tree with the same shape as
// the assigned value.
func (t *translator) targetsOf(ref *jsonValue, context *exprContext) targetTree {
	if ref.kind == text {
		s, ok := context.find(ref.text)
		if !ok || s.slot == nil && s.composite == nil || s.definition != nil {
			t.refuse(ref.Start, "there is no variable %q to assign to", shortened(ref.text))
		}
		return targetTreeOf(t, ref, s)
	}
	op := ref.get("op")
	switch {
	case op.isText("aa"):
		t.requireKeys(ref, "exp", "index")
		base := t.targetsOf(ref.get("exp"), context)
		if base.elements == nil {
			t.refuse(ref.Start, "found an index on a variable that is not an array")
		}
		if i, ok := t.constantIndex(ref.get("index"), context); ok {
			if i < 0 || i >= len(base.elements) {
				t.refuse(ref.get("index").Start, "the array has no element %d, want one of %d", i, len(base.elements))
			}
			return base.elements[i]
		}
		return t.targetAt(ref, t.sizedExpr(ref.get("index"), context), t.indexIsInside(ref.get("index"), context, len(base.elements)), base.elements)
	case op.isText("da"):
		t.requireKeys(ref, "exp", "member")
		if m, ok := t.targetsOf(ref.get("exp"), context).members[ref.get("member").text]; ok {
			return m
		}
	}
	t.refuse(ref.Start, "found %s, want a variable to assign to", ref.describe())
	return targetTree{}
}

// targetTree holds the targets for each part of an assigned value. A scalar has several targets if an
// index is variable.
type targetTree struct {
	scalar   []target
	elements []targetTree
	members  map[string]targetTree
}

// targetTreeOf returns the targets for a declared variable, array or datatype.
func targetTreeOf(t *translator, ref *jsonValue, meaning symbol) targetTree {
	switch {
	case meaning.slot != nil:
		return targetTree{scalar: []target{{slot: meaning.slot}}}
	case meaning.composite == nil:
		t.refuse(ref.Start, "an array of constants cannot be assigned to")
	}
	var tree targetTree
	for _, e := range meaning.composite.elements {
		tree.elements = append(tree.elements, targetTreeOf(t, ref, e))
	}
	for name, m := range meaning.composite.members {
		if tree.members == nil {
			tree.members = make(map[string]targetTree)
		}
		tree.members[name] = targetTreeOf(t, ref, m)
	}
	return tree
}

// targetAt returns the targets of an assignment to the array element with a variable index. within says
// that the index is always inside the array. Otherwise the condition of the first element is an
// expression that fails for an index outside.
func (t *translator) targetAt(ref *jsonValue, index sizedExpr, within bool, elements []targetTree) targetTree {
	var result targetTree
	for k, e := range elements {
		condition := sizedExpr{expr: t.indexEquals(ref, index.expr, k), size: index.size + 2}
		if k == 0 && !within {
			compareIndex := func(op syntax.Op, k int) syntax.Expr {
				return &syntax.Binary{Op: op, X: index.expr, Y: &syntax.IntLit{Value: int32(k), Span: ref.Span}, OpPos: ref.Start, Span: ref.Span}
			}
			// 0 < index < length ? false : (index = 0 ? true : failure)
			otherElement := conjunction(compareIndex(syntax.OpGt, 0), compareIndex(syntax.OpLt, len(elements)))
			trueOrFailure := &syntax.Cond{C: condition.expr, T: &syntax.BoolLit{Value: true, Span: ref.Span}, E: failingExpr(ref, index, true).expr, Span: ref.Span}
			condition.expr = &syntax.Cond{C: otherElement, T: &syntax.BoolLit{Span: ref.Span}, E: trueOrFailure, Span: ref.Span}
			condition.size = 4*index.size + 16
		}
		addTargets(&result, e, condition)
	}
	return result
}

// indexIsInside reports whether an index is a variable whose range lies within an array of the given
// length.
func (t *translator) indexIsInside(index *jsonValue, context *exprContext, length int) bool {
	if index.kind != text {
		return false
	}
	s, ok := context.find(index.text)
	if !ok || s.slot == nil || s.slot.typ == nil {
		return false
	}
	low, high := t.constant(s.slot.typ.low, context, 0), t.constant(s.slot.typ.high, context, 0)
	return low != nil && high != nil && low.Sign() >= 0 && high.Cmp(big.NewRat(int64(length-1), 1)) <= 0
}

// failingExpr returns an expression whose evaluation fails: a remainder modulo 0.
func failingExpr(v *jsonValue, index sizedExpr, isBool bool) symbol {
	zero := &syntax.IntLit{Span: v.Span}
	x := functionCall(v, "mod", zero, &syntax.Binary{Op: syntax.OpMul, X: zero, Y: index.expr, OpPos: v.Start, Span: v.Span})
	if isBool {
		x = &syntax.Binary{Op: syntax.OpEq, X: x, Y: zero, OpPos: v.Start, Span: v.Span}
	}
	return symbol{expr: x, size: 6, isBool: isBool}
}

// addTargets adds all targets in a tree to the result, each with one more condition.
func addTargets(result *targetTree, from targetTree, condition sizedExpr) {
	for _, x := range from.scalar {
		result.scalar = append(result.scalar, target{x.slot, append([]sizedExpr{condition}, x.conditions...)})
	}
	for k, x := range from.elements {
		if k == len(result.elements) {
			result.elements = append(result.elements, targetTree{})
		}
		addTargets(&result.elements[k], x, condition)
	}
	for name, x := range from.members {
		if result.members == nil {
			result.members = make(map[string]targetTree)
		}
		m := result.members[name]
		addTargets(&m, x, condition)
		result.members[name] = m
	}
}
