package editor

import (
	"slices"
	"strconv"

	"tilecheck/prism/syntax"
)

// Symbol is a declaration in the outline of a file.
type Symbol struct {
	Name   string
	Kind   Kind
	Detail string // such as the range of a variable
	Whole  Range  // of the whole declaration
	Range         // of the name
	Inside []Symbol
}

// Symbols returns the declarations in the outline of the named file, in the order of the text. The symbol of a module contains its variables.
func (f *Files) Symbols(name string) []Symbol {
	d := f.docs[name]
	if d == nil {
		return nil
	}
	d.parse()
	var out []Symbol
	switch tree := d.tree.(type) {
	case *syntax.Model:
		for _, item := range tree.Items {
			out = append(out, symbols(item)...)
		}
	case *syntax.Properties:
		for _, item := range tree.Items {
			switch n := item.(type) {
			case *syntax.Property:
				out = append(out, propertySymbol(n))
			case syntax.Item:
				out = append(out, symbols(n)...)
			}
		}
	}
	return out
}

func rangeOf(n syntax.Node) Range { return Range{int(n.Pos().Offset), int(n.End().Offset)} }

// propertySymbol returns the symbol of a property. Without a name it has its text as the name.
func propertySymbol(p *syntax.Property) Symbol {
	text := brief(syntax.ExprString(p.X))
	symbol := Symbol{Name: text, Kind: Property, Detail: text, Whole: rangeOf(p), Range: rangeOf(p)}
	if p.Name != nil {
		symbol.Name, symbol.Range = p.Name.Name, rangeOf(p.Name)
	}
	return symbol
}

// symbols returns the symbol of an item; none for an item that declares nothing.
func symbols(item syntax.Item) []Symbol {
	one := func(id *syntax.Ident, kind Kind, detail string) []Symbol {
		s := Symbol{Name: kind.String(), Kind: kind, Detail: brief(detail), Whole: rangeOf(item), Range: rangeOf(item)}
		if id != nil {
			s.Name, s.Range = id.Name, rangeOf(id)
		}
		return []Symbol{s}
	}
	switch n := item.(type) {
	case *syntax.ConstDecl:
		return one(n.Name, Constant, n.Type.String())
	case *syntax.FormulaDecl:
		return one(n.Name, Formula, syntax.ExprString(n.X))
	case *syntax.LabelDecl:
		return one(n.Name, Label, syntax.ExprString(n.X))
	case *syntax.ObservableDecl:
		return one(n.Name, Observable, syntax.ExprString(n.X))
	case *syntax.GlobalDecl:
		return []Symbol{variableSymbol(n.Var)}
	case *syntax.RenamedModule:
		return one(n.Name, Module, "= "+n.Base.Name)
	case *syntax.Rewards:
		return one(n.Name, RewardStruct, "")
	case *syntax.System:
		return one(n.Name, SystemName, "")
	case *syntax.Module:
		s := one(n.Name, Module, "")
		for _, v := range n.Vars {
			s[0].Inside = append(s[0].Inside, variableSymbol(v))
		}
		return s
	}
	return nil
}

func variableSymbol(v *syntax.VarDecl) Symbol {
	detail := [...]string{"", "int", "bool", "clock"}[v.Type]
	if v.Type == syntax.RangeVar {
		detail = "[" + syntax.ExprString(v.Low) + ".." + syntax.ExprString(v.High) + "]"
	}
	return Symbol{Name: v.Name.Name, Kind: Variable, Detail: brief(detail), Whole: rangeOf(v), Range: rangeOf(v.Name)}
}

// brief shortens a text for the outline.
func brief(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…" // the text of an expression is ASCII
}

// Token is a part of a text that an editor shows in one colour.
type Token struct {
	Range
	Class syntax.Class
	Kind  Kind // of a name with a declaration
	// Declares marks the declaration of the name.
	Declares bool
}

// Tokens returns the comments, keywords, names, numbers and symbols of a file.
func (f *Files) Tokens(name string) []Token { return f.TokensIn(name, Range{0, len(f.Text(name))}) }

// TokensIn returns the comments, keywords, names, numbers and symbols of the named file that overlap a part of it.
func (f *Files) TokensIn(name string, part Range) []Token {
	g, d := f.group(name)
	if d == nil {
		return nil
	}
	lexemes, uses := d.lexemes(), g.uses()[d]
	first, end := d.lexemeFrom(part.From), indexOfLexeme(lexemes, part.To)
	if first >= end {
		return nil
	}
	firstUse, _ := slices.BinarySearchFunc(uses, int(lexemes[first].from), func(u use, offset int) int { return u.From - offset })
	uses = uses[firstUse:]
	out := make([]Token, 0, end-first)
	for i := first; i < end; i++ {
		l := lexemes[i]
		t := Token{Range: Range{int(l.from), int(l.to)}, Class: l.class}
		for len(uses) > 0 && uses[0].From < t.From {
			uses = uses[1:]
		}
		if len(uses) > 0 && uses[0].From == t.From && uses[0].decl != nil {
			t.Kind = uses[0].decl.kind
			t.Declares = uses[0].decl.doc == d && uses[0].decl.Range == uses[0].Range
		}
		if t.Kind == NoKind && l.class <= syntax.Name && isFunction(d.text[l.from:l.to]) && d.tokenIs(i+1, "(") {
			t.Kind = Function
		}
		out = append(out, t)
	}
	return out
}

// isFunction reports whether a name is that of a function or operator with arguments in parentheses.
func isFunction(name []byte) bool {
	switch string(name) {
	case "ceil", "floor", "log", "max", "min", "mod", "multi", "multilex", "pow", "quantile", "round":
		return true
	}
	return false
}

// Lens is a command that is shown above a line of a file.
type Lens struct {
	Range
	Command  string // check or simulate
	Property string // the name of the property to check, or its number from 1
}

// Lenses returns the commands to show in the named file: simulate at the start of a model, check at each property.
func (f *Files) Lenses(name string) []Lens {
	d := f.docs[name]
	if d == nil {
		return nil
	}
	d.parse()
	var out []Lens
	switch tree := d.tree.(type) {
	case *syntax.Model:
		if len(tree.Items) > 0 {
			out = append(out, Lens{Range: rangeOf(tree.Items[0]), Command: "simulate"})
		}
	case *syntax.Properties:
		numProperties := 0
		for _, item := range tree.Items {
			p, ok := item.(*syntax.Property)
			if !ok {
				continue
			}
			numProperties++
			lens := Lens{Range: rangeOf(p), Command: "check", Property: strconv.Itoa(numProperties)}
			if p.Name != nil {
				lens.Property = p.Name.Name
			}
			out = append(out, lens)
		}
	}
	return out
}
