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
func (t *translator) symbolOf(value *jsonValue, context *exprContext) symbol {
	if value.kind == text {
		if meaning, ok := context.find(value.text); ok {
			return t.currentValues(value, meaning, context)
		}
	}
	if op := value.get("op"); op != nil && op.kind == text {
		switch op.text {
		case "aa", "da":
			return t.partOf(value, context)
		case "av":
			t.requireKeys(value, "elements")
			parts := &composite{}
			for _, element := range value.get("elements").elements {
				parts.elements = append(parts.elements, t.symbolOf(element, context))
			}
			return symbol{composite: parts}
		case "ac":
			return t.comprehension(value, context)
		case "dv":
			return t.datatypeValue(value, context)
		}
	}
	x := t.sizedExpr(value, context)
	return symbol{expr: x.expr, size: x.size, isBool: t.isBool(value, context)}
}

// currentValues returns a copy of a symbol in which each variable is replaced by its current value in
// the step.
func (t *translator) currentValues(value *jsonValue, meaning symbol, context *exprContext) symbol {
	switch {
	case meaning.slot != nil:
		size := 1
		if assigned, ok := context.assigned[meaning.slot]; ok {
			size = assigned.size
		}
		return symbol{expr: t.slotValue(value, meaning.slot, context), size: size, isBool: meaning.slot.typ.kind == boolType}
	case meaning.composite != nil:
		t.addSize(value.Start, len(meaning.composite.elements)+len(meaning.composite.members))
		parts := &composite{}
		for _, element := range meaning.composite.elements {
			parts.elements = append(parts.elements, t.currentValues(value, element, context))
		}
		if meaning.composite.members != nil {
			parts.members = make(map[string]symbol)
			for name, member := range meaning.composite.members {
				parts.members[name] = t.currentValues(value, member, context)
			}
		}
		return symbol{composite: parts}
	}
	return meaning
}

// partOf translates the access to an element of an array ("aa") or a member of a datatype ("da").
func (t *translator) partOf(value *jsonValue, context *exprContext) symbol {
	if value.get("op").text == "da" {
		t.requireKeys(value, "exp", "member")
		base := t.symbolOf(value.get("exp"), context)
		name := value.get("member").text
		if base.composite != nil {
			if meaning, ok := base.composite.members[name]; ok {
				return meaning
			}
		}
		t.refuse(value.Start, "there is no member %q", shortened(name))
	}
	t.requireKeys(value, "exp", "index")
	base := t.symbolOf(value.get("exp"), context)
	if base.composite == nil || base.composite.members != nil {
		t.refuse(value.get("exp").Start, "found another value than an array, want an array")
	}
	if i, ok := t.constantIndex(value.get("index"), context); ok {
		switch {
		case i >= 0 && i < len(base.composite.elements):
			return base.composite.elements[i]
		case value.get("index").kind == number:
			t.refuse(value.get("index").Start, "the array has no element %d, want one of %d", i, len(base.composite.elements))
		}
		// The index is outside the array, but a condition may prevent the access.
	}
	return t.elementAt(value, t.sizedExpr(value.get("index"), context), base.composite.elements)
}

// constantIndex returns the value of an index expression, if it is a constant integer.
func (t *translator) constantIndex(value *jsonValue, context *exprContext) (int, bool) {
	fraction := t.constant(value, context, 0)
	if fraction == nil || !fraction.IsInt() || !fraction.Num().IsInt64() {
		return 0, false
	}
	return int(fraction.Num().Int64()), true
}

// elementAt returns an expression for the element of an array with a variable index, as nested
// conditions on the index. Evaluating it with an index outside the array is an error.
func (t *translator) elementAt(value *jsonValue, index sizedExpr, elements []symbol) symbol {
	if len(elements) == 0 {
		t.refuse(value.Start, "the array has no elements")
	}
	if first := elements[0].composite; first != nil {
		parts := &composite{}
		for k := range first.elements {
			parts.elements = append(parts.elements, t.elementAt(value, index, partsOfElements(elements, func(parts *composite) symbol { return parts.at(k) })))
		}
		for name := range first.members {
			if parts.members == nil {
				parts.members = make(map[string]symbol)
			}
			parts.members[name] = t.elementAt(value, index, partsOfElements(elements, func(parts *composite) symbol { return parts.members[name] }))
		}
		return symbol{composite: parts}
	}
	t.addSize(value.Start, len(elements)*(index.size+3)+6)
	result := failingExpr(value, index, elements[0].isBool)
	for k := len(elements) - 1; k >= 0; k-- {
		if elements[k].expr == nil {
			t.refuse(value.Start, "the elements of an array have different types")
		}
		result.expr = &syntax.Cond{C: t.indexEquals(value, index.expr, k), T: elements[k].expr, E: result.expr, Span: value.Span}
		result.size += index.size + 3 + elements[k].size
	}
	return result
}

// indexEquals returns the condition that an index has the value k.
func (t *translator) indexEquals(value *jsonValue, index syntax.Expr, k int) syntax.Expr {
	return &syntax.Binary{Op: syntax.OpEq, X: index, Y: &syntax.IntLit{Value: int32(k), Span: value.Span}, OpPos: value.Start, Span: value.Span}
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
func (t *translator) comprehension(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "var", "length", "exp")
	n, ok := t.constantIndex(value.get("length"), context)
	if !ok || n < 0 || n > maxLength {
		t.refuse(value.get("length").Start, "the length of an array is unknown, want a constant of at most %d", maxLength)
	}
	parts := &composite{}
	t.addSize(value.Start, 10*n)
	for i := range n {
		scope := newScope(context.scope)
		span := value.get("length").Span
		scope.names[value.get("var").text] = symbol{
			expr: &syntax.IntLit{Value: int32(i), Span: span}, size: 1, definition: &jsonValue{kind: number, text: strconv.Itoa(i), Span: span},
		}
		parts.elements = append(parts.elements, t.symbolOf(value.get("exp"), context.withScope(scope)))
	}
	return symbol{composite: parts}
}

// datatypeValue translates a value of a datatype, which lists its members ("dv").
func (t *translator) datatypeValue(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "type", "values")
	parts := &composite{members: make(map[string]symbol)}
	for _, member := range value.get("values").elements {
		if member.get("member") == nil || member.get("value") == nil {
			t.refuse(member.Start, "a member of a datatype value lacks \"member\" or \"value\", want both")
		}
		parts.members[member.get("member").text] = t.symbolOf(member.get("value"), context)
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
		meaning, ok := context.find(ref.text)
		if !ok || meaning.slot == nil && meaning.composite == nil || meaning.definition != nil {
			t.refuse(ref.Start, "there is no variable %q to assign to", shortened(ref.text))
		}
		return targetTreeOf(t, ref, meaning)
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
		if member, ok := t.targetsOf(ref.get("exp"), context).members[ref.get("member").text]; ok {
			return member
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
	for _, element := range meaning.composite.elements {
		tree.elements = append(tree.elements, targetTreeOf(t, ref, element))
	}
	for name, member := range meaning.composite.members {
		if tree.members == nil {
			tree.members = make(map[string]targetTree)
		}
		tree.members[name] = targetTreeOf(t, ref, member)
	}
	return tree
}

// targetAt returns the targets of an assignment to the array element with a variable index. within says
// that the index is always inside the array. Otherwise the condition of the first element is an
// expression that fails for an index outside.
func (t *translator) targetAt(ref *jsonValue, index sizedExpr, within bool, elements []targetTree) targetTree {
	var result targetTree
	for k, tree := range elements {
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
		addTargets(&result, tree, condition)
	}
	return result
}

// indexIsInside reports whether an index is a variable whose range lies within an array of the given
// length.
func (t *translator) indexIsInside(index *jsonValue, context *exprContext, length int) bool {
	if index.kind != text {
		return false
	}
	meaning, ok := context.find(index.text)
	if !ok || meaning.slot == nil || meaning.slot.typ == nil {
		return false
	}
	low, high := t.constant(meaning.slot.typ.low, context, 0), t.constant(meaning.slot.typ.high, context, 0)
	return low != nil && high != nil && low.Sign() >= 0 && high.Cmp(big.NewRat(int64(length-1), 1)) <= 0
}

// failingExpr returns an expression whose evaluation fails: a remainder modulo 0.
func failingExpr(value *jsonValue, index sizedExpr, isBool bool) symbol {
	zero := &syntax.IntLit{Span: value.Span}
	expr := functionCall(value, "mod", zero, &syntax.Binary{Op: syntax.OpMul, X: zero, Y: index.expr, OpPos: value.Start, Span: value.Span})
	if isBool {
		expr = &syntax.Binary{Op: syntax.OpEq, X: expr, Y: zero, OpPos: value.Start, Span: value.Span}
	}
	return symbol{expr: expr, size: 6, isBool: isBool}
}

// addTargets adds all targets in a tree to the result, each with one more condition.
func addTargets(result *targetTree, from targetTree, condition sizedExpr) {
	for _, x := range from.scalar {
		result.scalar = append(result.scalar, target{x.slot, append([]sizedExpr{condition}, x.conditions...)})
	}
	for k, tree := range from.elements {
		if k == len(result.elements) {
			result.elements = append(result.elements, targetTree{})
		}
		addTargets(&result.elements[k], tree, condition)
	}
	for name, tree := range from.members {
		if result.members == nil {
			result.members = make(map[string]targetTree)
		}
		member := result.members[name]
		addTargets(&member, tree, condition)
		result.members[name] = member
	}
}
