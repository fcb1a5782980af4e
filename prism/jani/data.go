package jani

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// maxLength is the largest length of an array.
const maxLength = 10_000

// symbolOf translates an expression of any type, including arrays and datatypes. If an earlier assignment of the same step has changed a
// variable, its new value is used.
func (t *translator) symbolOf(value *jsonValue, context *exprContext) symbol {
	if value.kind == text {
		if meaning, ok := context.find(value.text); ok {
			return t.currentValues(value, meaning, context)
		}
	}
	switch op := value.get("op"); {
	case op.isText("aa"):
		return t.translateArrayElement(value, context)
	case op.isText("da"):
		return t.translateDatatypeMember(value, context)
	case op.isText("av"):
		return t.translateArrayValue(value, context)
	case op.isText("ac"):
		return t.translateComprehension(value, context)
	case op.isText("dv"):
		return t.translateDatatypeValue(value, context)
	}
	scalar := t.translateSizedExpr(value, context)
	return symbol{expr: scalar.expr, size: scalar.size, isBool: t.isBool(value, context)}
}

// currentValues replaces each variable in a symbol by its current value. This is its new value if an earlier assignment of the same step has
// changed it.
func (t *translator) currentValues(value *jsonValue, meaning symbol, context *exprContext) symbol {
	if variable := meaning.slot; variable != nil {
		size := 1
		if assigned, ok := context.assignedValues[variable]; ok {
			size = assigned.size
		}
		return symbol{expr: t.slotValue(value, variable, context), size: size, isBool: variable.valueType.kind == boolType}
	}
	if meaning.composite == nil {
		return meaning
	}
	t.addSize(value.Start, len(meaning.composite.elements)+len(meaning.composite.members))
	currentParts := &composite{}
	if meaning.composite.members != nil {
		currentParts.members = make(map[string]symbol) // marks a datatype, even without members
	}
	for _, element := range meaning.composite.elements {
		currentParts.elements = append(currentParts.elements, t.currentValues(value, element, context))
	}
	for name, member := range meaning.composite.members {
		currentParts.setMember(name, t.currentValues(value, member, context))
	}
	return symbol{composite: currentParts}
}

// translateDatatypeMember translates the access to a member of a datatype (da).
func (t *translator) translateDatatypeMember(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "exp", "member")
	object := t.symbolOf(value.get("exp"), context)
	name := value.get("member").text
	if object.composite != nil {
		if member, ok := object.composite.members[name]; ok {
			return member
		}
	}
	t.abort(value.Start, "there is no member %q", shortened(name))
	return symbol{}
}

// translateArrayElement translates the access to an element of an array (aa).
func (t *translator) translateArrayElement(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "exp", "index")
	array := t.symbolOf(value.get("exp"), context)
	if array.composite == nil || array.composite.members != nil {
		t.abort(value.get("exp").Start, "found another value than an array, want an array")
	}
	index, elements := value.get("index"), array.composite.elements
	if i, ok := t.constantIndex(index, context); ok {
		if i >= 0 && i < len(elements) {
			return elements[i]
		}
		if index.kind == number {
			t.abort(index.Start, "the array has no element %d, want one of %d", i, len(elements))
		}
		// A condition around the expression may prevent the access to the missing element.
	}
	return t.elementAt(value, t.translateSizedExpr(index, context), elements)
}

// translateArrayValue translates an array that lists its elements (av).
func (t *translator) translateArrayValue(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "elements")
	listed := &composite{}
	for _, element := range value.get("elements").elements {
		listed.elements = append(listed.elements, t.symbolOf(element, context))
	}
	return symbol{composite: listed}
}

// constantIndex returns the value of an index expression. ok is false if it is not a constant integer.
func (t *translator) constantIndex(value *jsonValue, context *exprContext) (index int, ok bool) {
	fraction := t.constantValue(value, context, 0)
	if fraction == nil || !fraction.IsInt() || !fraction.Num().IsInt64() {
		return 0, false
	}
	return int(fraction.Num().Int64()), true
}

// elementAt returns the element of an array at an index that is not constant: index=0 ? element 0 : index=1 ? element 1 : ... The evaluation of
// this expression fails if the index is outside of the array.
func (t *translator) elementAt(value *jsonValue, index sizedExpr, elements []symbol) symbol {
	if len(elements) == 0 {
		t.abort(value.Start, "the array has no elements")
	}
	if elements[0].composite != nil {
		return t.compositeElementAt(value, index, elements)
	}
	const sizeOfCondition = 3 // the condition, its comparison and the number
	t.addSize(value.Start, len(elements)*(index.size+sizeOfCondition)+sizeOfFailure)
	result := failingExpr(value, index, len(elements), elements[0].isBool)
	for i, element := range slices.Backward(elements) {
		if element.expr == nil {
			t.abort(value.Start, "the elements of an array have different types")
		}
		result.expr = &syntax.Cond{Condition: t.indexEquals(value, index.expr, i), Then: element.expr, Else: result.expr, Span: value.Span}
		result.size += index.size + sizeOfCondition + element.size
	}
	return result
}

// compositeElementAt returns the element of an array at an index that is not constant. The elements are arrays or datatypes, and each of their
// parts is translated separately.
func (t *translator) compositeElementAt(value *jsonValue, index sizedExpr, elements []symbol) symbol {
	first, result := elements[0].composite, &composite{}
	for i := range first.elements {
		parts := partsOfElements(elements, func(element *composite) symbol { return element.at(i) })
		result.elements = append(result.elements, t.elementAt(value, index, parts))
	}
	for name := range first.members {
		parts := partsOfElements(elements, func(element *composite) symbol { return element.members[name] })
		result.setMember(name, t.elementAt(value, index, parts))
	}
	return symbol{composite: result}
}

// indexEquals returns the condition that an index equals k.
func (t *translator) indexEquals(value *jsonValue, index syntax.Expr, k int) syntax.Expr {
	number := &syntax.IntLit{Value: int32(k), Span: value.Span}
	return &syntax.Binary{Op: syntax.OpEq, X: index, Y: number, OpPos: value.Start, Span: value.Span}
}

// at returns the element with index k, or an empty symbol outside of the array.
func (parts *composite) at(k int) symbol {
	if parts == nil || k >= len(parts.elements) {
		return symbol{}
	}
	return parts.elements[k]
}

// partsOfElements returns partOf(element) for each element of an array. For an element that has no parts, the result is empty.
func partsOfElements(elements []symbol, partOf func(*composite) symbol) []symbol {
	parts := make([]symbol, len(elements))
	for i, element := range elements {
		if element.composite != nil {
			parts[i] = partOf(element.composite)
		}
	}
	return parts
}

// sizeOfElement is the size that an element of an array comprehension has at least.
const sizeOfElement = 10

// translateComprehension translates an array comprehension (ac): one expression over the index defines all elements.
func (t *translator) translateComprehension(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "var", "length", "exp")
	index, span := value.get("var").text, value.get("length").Span
	length, ok := t.constantIndex(value.get("length"), context)
	if !ok || length < 0 || length > maxLength {
		t.abort(span.Start, "the length of an array is unknown, want a constant of at most %d", maxLength)
	}
	array := &composite{}
	t.addSize(value.Start, sizeOfElement*length)
	for i := range length {
		scope := newScope(context.scope)
		scope.names[index] = symbol{
			expr: &syntax.IntLit{Value: int32(i), Span: span}, size: 1,
			definition: &jsonValue{kind: number, text: strconv.Itoa(i), Span: span},
		}
		array.elements = append(array.elements, t.symbolOf(value.get("exp"), context.withScope(scope)))
	}
	return symbol{composite: array}
}

// translateDatatypeValue translates a value of a datatype that lists its members (dv).
func (t *translator) translateDatatypeValue(value *jsonValue, context *exprContext) symbol {
	t.requireKeys(value, "type", "values")
	datatypeValue := &composite{members: make(map[string]symbol)}
	for _, member := range value.get("values").elements {
		if member.get("member") == nil || member.get("value") == nil {
			t.abort(member.Start, "a member of a datatype value lacks \"member\" or \"value\", want both")
		}
		datatypeValue.members[member.get("member").text] = t.symbolOf(member.get("value"), context)
	}
	return symbol{composite: datatypeValue}
}

// target is a variable that an assignment sets if all conditions hold. The conditions compare a variable index with the position in an array.
type target struct {
	slot       *slot
	conditions []sizedExpr
}

// targetsOf returns the variables that an assignment to reference may change. For an array or a datatype, the tree has a subtree for each element or
// member.
func (t *translator) targetsOf(reference *jsonValue, context *exprContext) targetTree {
	if reference.kind == text {
		meaning, ok := context.find(reference.text)
		isVariable := meaning.slot != nil || meaning.composite != nil
		isConstant := meaning.definition != nil
		if !ok || !isVariable || isConstant {
			t.abort(reference.Start, "there is no variable %q to assign to", shortened(reference.text))
		}
		return targetTreeOf(t, reference, meaning)
	}
	switch op := reference.get("op"); {
	case op.isText("aa"):
		return t.elementTargets(reference, context)
	case op.isText("da"):
		t.requireKeys(reference, "exp", "member")
		if member, ok := t.targetsOf(reference.get("exp"), context).members[reference.get("member").text]; ok {
			return member
		}
	}
	t.abort(reference.Start, "found %s, want a variable to assign to", reference.describe())
	return targetTree{}
}

// elementTargets returns the variables that an assignment to an element of an array (aa) may change. With a constant index this is one element,
// and otherwise any element.
func (t *translator) elementTargets(reference *jsonValue, context *exprContext) targetTree {
	t.requireKeys(reference, "exp", "index")
	array := t.targetsOf(reference.get("exp"), context)
	if array.elements == nil {
		t.abort(reference.Start, "found an index on a variable that is not an array")
	}
	index, length := reference.get("index"), len(array.elements)
	i, isConstant := t.constantIndex(index, context)
	if !isConstant {
		return t.targetAt(reference, t.translateSizedExpr(index, context), t.indexIsInside(index, context, length), array.elements)
	}
	if i < 0 || i >= length {
		t.abort(index.Start, "the array has no element %d, want one of %d", i, length)
	}
	return array.elements[i]
}

// targetTree holds the targets for each part of an assigned value. A scalar has several targets if an
// index is variable.
type targetTree struct {
	variables []target
	elements  []targetTree
	members   map[string]targetTree
}

// targetTreeOf returns the variables that belong to a declared variable, array or datatype, in the form of a tree: an array or datatype has a subtree for each
// element or member.
func targetTreeOf(translator *translator, reference *jsonValue, meaning symbol) targetTree {
	if meaning.slot != nil {
		return targetTree{variables: []target{{slot: meaning.slot}}}
	}
	if meaning.composite == nil {
		translator.abort(reference.Start, "an array of constants cannot be assigned to")
	}
	var tree targetTree
	for _, element := range meaning.composite.elements {
		tree.elements = append(tree.elements, targetTreeOf(translator, reference, element))
	}
	for name, member := range meaning.composite.members {
		tree.setMember(name, targetTreeOf(translator, reference, member))
	}
	return tree
}

// setMember sets the targets of a member of a datatype.
func (tree *targetTree) setMember(name string, member targetTree) {
	if tree.members == nil {
		tree.members = make(map[string]targetTree)
	}
	tree.members[name] = member
}

// targetAt returns the variables that an assignment to an array element may change, if the index is not constant. Each element has the condition
// that the index selects it. isInside says that the index is never outside of the array.
func (t *translator) targetAt(reference *jsonValue, index sizedExpr, isInside bool, elements []targetTree) targetTree {
	var tree targetTree
	for i, elementTree := range elements {
		condition := sizedExpr{expr: t.indexEquals(reference, index.expr, i), size: index.size + 2}
		if i == 0 && !isInside { // the evaluation of this condition fails outside of the array
			condition = t.checkedFirstIndex(reference, index, len(elements))
		}
		addTargets(&tree, elementTree, condition)
	}
	return tree
}

// checkedFirstIndex returns the condition that an index is 0. Its evaluation fails for an index outside of the array.
func (t *translator) checkedFirstIndex(reference *jsonValue, index sizedExpr, length int) sizedExpr {
	compareIndex := func(op syntax.Op, number int) syntax.Expr {
		literal := &syntax.IntLit{Value: int32(number), Span: reference.Span}
		return &syntax.Binary{Op: op, X: index.expr, Y: literal, OpPos: reference.Start, Span: reference.Span}
	}
	// The condition is 0 < index < length ? false : (index = 0 ? true : failure).
	isLaterIndex := conjunction(compareIndex(syntax.OpGt, 0), compareIndex(syntax.OpLt, length))
	failure := failingExpr(reference, index, length, true).expr
	trueOrFailure := &syntax.Cond{Condition: t.indexEquals(reference, index.expr, 0), Then: trueExpr(reference.Span), Else: failure, Span: reference.Span}
	condition := &syntax.Cond{Condition: isLaterIndex, Then: &syntax.BoolLit{Span: reference.Span}, Else: trueOrFailure, Span: reference.Span}
	return sizedExpr{expr: condition, size: 5*index.size + 16}
}

// sizeOfFailure is the size of a failing expression without the second use of its index.
const sizeOfFailure = 6

// indexIsInside reports whether an index is a variable with a range inside an array of this length.
func (t *translator) indexIsInside(index *jsonValue, context *exprContext, length int) bool {
	if index.kind != text {
		return false
	}
	meaning, ok := context.find(index.text)
	if !ok || meaning.slot == nil || meaning.slot.valueType == nil {
		return false
	}
	low := t.constantValue(meaning.slot.valueType.low, context, 0)
	high := t.constantValue(meaning.slot.valueType.high, context, 0)
	if low == nil || high == nil {
		return false
	}
	lastIndex := big.NewRat(int64(length-1), 1)
	return low.Sign() >= 0 && high.Cmp(lastIndex) <= 0
}

// failingExpr returns an expression whose evaluation fails, because the index of the array access is outside of the array: mod(index, 0*index).
func failingExpr(access *jsonValue, index sizedExpr, length int, isBool bool) symbol {
	zero := &syntax.IntLit{Value: 0, Span: access.Span}
	zeroTimesIndex := &syntax.Binary{Op: syntax.OpMul, X: zero, Y: index.expr, OpPos: access.Start, Span: access.Span}
	var expr syntax.Expr = &syntax.Call{
		Func: &syntax.Ident{Name: "mod", Span: access.Span}, Args: []syntax.Expr{index.expr, zeroTimesIndex},
		Array: describeArray(access, length), Span: access.Span,
	}
	if isBool {
		expr = &syntax.Binary{Op: syntax.OpEq, X: expr, Y: zero, OpPos: access.Start, Span: access.Span}
	}
	return symbol{expr: expr, size: index.size + sizeOfFailure, isBool: isBool}
}

// describeArray returns the name, if it has one, and the length of the array of an array access.
func describeArray(access *jsonValue, length int) string {
	name := ""
	if array := access.get("exp"); array != nil && array.kind == text {
		name = fmt.Sprintf(" %q", shortened(array.text))
	}
	return fmt.Sprintf("the array%s of %s", name, noun.Count(length, "element"))
}

// addTargets adds the targets in addedTree to tree. Each added target also gets the condition, which is checked before its other
// conditions.
func addTargets(tree *targetTree, addedTree targetTree, condition sizedExpr) {
	for _, variable := range addedTree.variables {
		conditions := append([]sizedExpr{condition}, variable.conditions...)
		tree.variables = append(tree.variables, target{variable.slot, conditions})
	}
	for i, element := range addedTree.elements {
		if i == len(tree.elements) {
			tree.elements = append(tree.elements, targetTree{})
		}
		addTargets(&tree.elements[i], element, condition)
	}
	for name, addedMember := range addedTree.members {
		member := tree.members[name]
		addTargets(&member, addedMember, condition)
		tree.setMember(name, member)
	}
}
