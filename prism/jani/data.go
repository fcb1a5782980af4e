package jani

import (
	"math/big"
	"strconv"

	"tilecheck/prism/syntax"
)

// maxLength is the largest length of an array.
const maxLength = 10_000

// symbol translates an expression that may be an array or a datatype. The variables in it are
// replaced by their current values.
func (t *translator) symbol(v *value, p *place) symbol {
	if v.kind == text {
		if s, ok := p.find(v.text); ok {
			return t.substituted(v, s, p)
		}
	}
	if op := v.get("op"); op != nil && op.kind == text {
		switch op.text {
		case "aa", "da":
			return t.part(v, p)
		case "av":
			t.operands(v, "elements")
			d := &data{}
			for _, e := range v.get("elements").elems {
				d.elems = append(d.elems, t.symbol(e, p))
			}
			return symbol{data: d}
		case "ac":
			return t.comprehension(v, p)
		case "dv":
			return t.record(v, p)
		}
	}
	x := t.sizedExpr(v, p)
	return symbol{x: x.x, size: x.size, isBool: t.isBool(v, p)}
}

// substituted replaces variables in a symbol by their current values.
func (t *translator) substituted(v *value, s symbol, p *place) symbol {
	switch {
	case s.slot != nil:
		size := 1
		if x, ok := p.env[s.slot]; ok {
			size = x.size
		}
		return symbol{x: t.slot(v, s.slot, p), size: size, isBool: s.slot.typ.kind == boolType}
	case s.data != nil:
		t.charge(v.Start, len(s.data.elems)+len(s.data.members))
		d := &data{}
		for _, e := range s.data.elems {
			d.elems = append(d.elems, t.substituted(v, e, p))
		}
		if s.data.members != nil {
			d.members = make(map[string]symbol)
			for name, m := range s.data.members {
				d.members[name] = t.substituted(v, m, p)
			}
		}
		return symbol{data: d}
	}
	return s
}

// part translates the access to an element or a member.
func (t *translator) part(v *value, p *place) symbol {
	if v.get("op").text == "da" {
		t.operands(v, "exp", "member")
		base := t.symbol(v.get("exp"), p)
		name := v.get("member").text
		if base.data != nil {
			if m, ok := base.data.members[name]; ok {
				return m
			}
		}
		t.refuse(v.Start, "there is no member %q", short(name))
	}
	t.operands(v, "exp", "index")
	base := t.symbol(v.get("exp"), p)
	if base.data == nil || base.data.members != nil {
		t.refuse(v.get("exp").Start, "found no array, want one")
	}
	if i, ok := t.constantIndex(v.get("index"), p); ok {
		switch {
		case i >= 0 && i < len(base.data.elems):
			return base.data.elems[i]
		case v.get("index").kind == number:
			t.refuse(v.get("index").Start, "the array has no element %d, want one of %d", i, len(base.data.elems))
		}
		// The index is outside the array, but a condition may prevent the access.
	}
	return t.elementAt(v, t.sizedExpr(v.get("index"), p), base.data.elems)
}

func (t *translator) constantIndex(v *value, p *place) (int, bool) {
	r := t.constant(v, p, 0)
	if r == nil || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return int(r.Num().Int64()), true
}

// elementAt returns an expression for the element with the given index. Evaluating it with an index
// outside the array is an error.
func (t *translator) elementAt(v *value, index sized, elems []symbol) symbol {
	if len(elems) == 0 {
		t.refuse(v.Start, "the array has no elements")
	}
	if first := elems[0].data; first != nil {
		d := &data{}
		for k := range first.elems {
			d.elems = append(d.elems, t.elementAt(v, index, parts(elems, func(d *data) symbol { return d.at(k) })))
		}
		for name := range first.members {
			if d.members == nil {
				d.members = make(map[string]symbol)
			}
			d.members[name] = t.elementAt(v, index, parts(elems, func(d *data) symbol { return d.members[name] }))
		}
		return symbol{data: d}
	}
	t.charge(v.Start, len(elems)*(index.size+3)+6)
	out := failing(v, index, elems[0].isBool)
	for k := len(elems) - 1; k >= 0; k-- {
		if elems[k].x == nil {
			t.refuse(v.Start, "the elements of an array differ in their form")
		}
		out.x = &syntax.Cond{C: t.isIndex(v, index.x, k), T: elems[k].x, E: out.x, Span: v.Span}
		out.size += index.size + 3 + elems[k].size
	}
	return out
}

func (t *translator) isIndex(v *value, index syntax.Expr, k int) syntax.Expr {
	return &syntax.Binary{Op: syntax.OpEq, X: index, Y: &syntax.IntLit{Value: int32(k), Span: v.Span}, OpPos: v.Start, Span: v.Span}
}

// at returns an element, or an empty symbol outside the array.
func (d *data) at(k int) symbol {
	if d == nil || k >= len(d.elems) {
		return symbol{}
	}
	return d.elems[k]
}

func parts(elems []symbol, of func(*data) symbol) []symbol {
	out := make([]symbol, len(elems))
	for i, e := range elems {
		if e.data != nil {
			out[i] = of(e.data)
		}
	}
	return out
}

// comprehension translates an array that is defined by an expression for each element.
func (t *translator) comprehension(v *value, p *place) symbol {
	t.operands(v, "var", "length", "exp")
	n, ok := t.constantIndex(v.get("length"), p)
	if !ok || n < 0 || n > maxLength {
		t.refuse(v.get("length").Start, "the length of an array is not known, want a number of at most %d", maxLength)
	}
	d := &data{}
	t.charge(v.Start, 10*n)
	for i := range n {
		s := newScope(p.scope)
		at := v.get("length").Span
		s.names[v.get("var").text] = symbol{
			x: &syntax.IntLit{Value: int32(i), Span: at}, size: 1, raw: &value{kind: number, text: strconv.Itoa(i), Span: at},
		}
		d.elems = append(d.elems, t.symbol(v.get("exp"), p.in(s)))
	}
	return symbol{data: d}
}

// record translates a value of a datatype.
func (t *translator) record(v *value, p *place) symbol {
	t.operands(v, "type", "values")
	d := &data{members: make(map[string]symbol)}
	for _, m := range v.get("values").elems {
		if m.get("member") == nil || m.get("value") == nil {
			t.refuse(m.Start, "a value of a datatype has no \"member\" and \"value\", want both")
		}
		d.members[m.get("member").text] = t.symbol(m.get("value"), p)
	}
	return symbol{data: d}
}

// target is a variable that is assigned under some conditions.
type target struct {
	slot *slot
	when []sized
}

// targets returns the variables that an assignment may write, as a tree of the same shape as its
// value.
func (t *translator) targets(ref *value, p *place) targetTree {
	if ref.kind == text {
		s, ok := p.find(ref.text)
		if !ok || s.slot == nil && s.data == nil || s.raw != nil {
			t.refuse(ref.Start, "there is no variable %q to assign to", short(ref.text))
		}
		return treeOf(t, ref, s)
	}
	op := ref.get("op")
	switch {
	case op.isText("aa"):
		t.operands(ref, "exp", "index")
		base := t.targets(ref.get("exp"), p)
		if base.elems == nil {
			t.refuse(ref.Start, "found no array to assign to, want one")
		}
		if i, ok := t.constantIndex(ref.get("index"), p); ok {
			if i < 0 || i >= len(base.elems) {
				t.refuse(ref.get("index").Start, "the array has no element %d, want one of %d", i, len(base.elems))
			}
			return base.elems[i]
		}
		return t.targetAt(ref, t.sizedExpr(ref.get("index"), p), t.within(ref.get("index"), p, len(base.elems)), base.elems)
	case op.isText("da"):
		t.operands(ref, "exp", "member")
		if m, ok := t.targets(ref.get("exp"), p).members[ref.get("member").text]; ok {
			return m
		}
	}
	t.refuse(ref.Start, "found %s, want a variable to assign to", ref.describe())
	return targetTree{}
}

// targetTree has the targets of each part of an array or datatype.
type targetTree struct {
	one     []target
	elems   []targetTree
	members map[string]targetTree
}

func treeOf(t *translator, ref *value, s symbol) targetTree {
	switch {
	case s.slot != nil:
		return targetTree{one: []target{{slot: s.slot}}}
	case s.data == nil:
		t.refuse(ref.Start, "an array of constants cannot be assigned to")
	}
	var out targetTree
	for _, e := range s.data.elems {
		out.elems = append(out.elems, treeOf(t, ref, e))
	}
	for name, m := range s.data.members {
		if out.members == nil {
			out.members = make(map[string]targetTree)
		}
		out.members[name] = treeOf(t, ref, m)
	}
	return out
}

// targetAt returns the targets of an assignment to the element with the given index. within says
// that the index is inside the array; otherwise the condition of the first element fails for an
// index outside.
func (t *translator) targetAt(ref *value, index sized, within bool, elems []targetTree) targetTree {
	var out targetTree
	for k, e := range elems {
		is := sized{x: t.isIndex(ref, index.x, k), size: index.size + 2}
		if k == 0 && !within {
			binary := func(op syntax.Op, k int) syntax.Expr {
				return &syntax.Binary{Op: op, X: index.x, Y: &syntax.IntLit{Value: int32(k), Span: ref.Span}, OpPos: ref.Start, Span: ref.Span}
			}
			inside := and(binary(syntax.OpGt, 0), binary(syntax.OpLt, len(elems)))
			is.x = &syntax.Cond{
				C: inside, T: &syntax.BoolLit{Span: ref.Span},
				E: &syntax.Cond{C: is.x, T: &syntax.BoolLit{Value: true, Span: ref.Span}, E: failing(ref, index, true).x, Span: ref.Span}, Span: ref.Span,
			}
			is.size = 4*index.size + 16
		}
		merge(&out, e, is)
	}
	return out
}

// within reports whether an index is a variable whose bounds lie within an array.
func (t *translator) within(index *value, p *place, length int) bool {
	if index.kind != text {
		return false
	}
	s, ok := p.find(index.text)
	if !ok || s.slot == nil || s.slot.typ == nil {
		return false
	}
	low, high := t.constant(s.slot.typ.low, p, 0), t.constant(s.slot.typ.high, p, 0)
	return low != nil && high != nil && low.Sign() >= 0 && high.Cmp(big.NewRat(int64(length-1), 1)) <= 0
}

// failing returns an expression that fails when it is evaluated.
func failing(v *value, index sized, isBool bool) symbol {
	zero := &syntax.IntLit{Span: v.Span}
	x := call(v, "mod", zero, &syntax.Binary{Op: syntax.OpMul, X: zero, Y: index.x, OpPos: v.Start, Span: v.Span})
	if isBool {
		x = &syntax.Binary{Op: syntax.OpEq, X: x, Y: zero, OpPos: v.Start, Span: v.Span}
	}
	return symbol{x: x, size: 6, isBool: isBool}
}

// merge adds the targets of e with a further condition.
func merge(out *targetTree, e targetTree, is sized) {
	for _, x := range e.one {
		out.one = append(out.one, target{x.slot, append([]sized{is}, x.when...)})
	}
	for k, x := range e.elems {
		if k == len(out.elems) {
			out.elems = append(out.elems, targetTree{})
		}
		merge(&out.elems[k], x, is)
	}
	for name, x := range e.members {
		if out.members == nil {
			out.members = make(map[string]targetTree)
		}
		m := out.members[name]
		merge(&m, x, is)
		out.members[name] = m
	}
}
