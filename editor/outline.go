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
	doc := f.docs[name]
	if doc == nil {
		return nil
	}
	doc.parse()
	var found []Symbol
	switch tree := doc.tree.(type) {
	case *syntax.Model:
		for _, item := range tree.Items {
			found = append(found, symbols(item)...)
		}
	case *syntax.Properties:
		for _, item := range tree.Items {
			switch typedItem := item.(type) {
			case *syntax.Property:
				found = append(found, propertySymbol(typedItem))
			case syntax.Item:
				found = append(found, symbols(typedItem)...)
			}
		}
	}
	return found
}

func rangeOf(n syntax.Node) Range { return Range{int(n.Pos().Offset), int(n.End().Offset)} }

// propertySymbol returns the symbol of a property. Without a name it has its text as the name.
func propertySymbol(property *syntax.Property) Symbol {
	text := brief(syntax.ExprString(property.X))
	symbol := Symbol{Name: text, Kind: Property, Detail: text, Whole: rangeOf(property), Range: rangeOf(property)}
	if property.Name != nil {
		symbol.Name, symbol.Range = property.Name.Name, rangeOf(property.Name)
	}
	return symbol
}

// symbols returns the symbol of an item; none for an item that declares nothing.
func symbols(item syntax.Item) []Symbol {
	symbolOf := func(id *syntax.Ident, kind Kind, detail string) []Symbol {
		symbol := Symbol{Name: kind.String(), Kind: kind, Detail: brief(detail), Whole: rangeOf(item), Range: rangeOf(item)}
		if id != nil {
			symbol.Name, symbol.Range = id.Name, rangeOf(id)
		}
		return []Symbol{symbol}
	}
	switch decl := item.(type) {
	case *syntax.ConstDecl:
		return symbolOf(decl.Name, Constant, decl.Type.String())
	case *syntax.FormulaDecl:
		return symbolOf(decl.Name, Formula, syntax.ExprString(decl.X))
	case *syntax.LabelDecl:
		return symbolOf(decl.Name, Label, syntax.ExprString(decl.X))
	case *syntax.ObservableDecl:
		return symbolOf(decl.Name, Observable, syntax.ExprString(decl.X))
	case *syntax.GlobalDecl:
		return []Symbol{variableSymbol(decl.Var)}
	case *syntax.RenamedModule:
		return symbolOf(decl.Name, Module, "= "+decl.Base.Name)
	case *syntax.Rewards:
		return symbolOf(decl.Name, RewardStruct, "")
	case *syntax.System:
		return symbolOf(decl.Name, SystemName, "")
	case *syntax.Module:
		symbol := symbolOf(decl.Name, Module, "")
		for _, variable := range decl.Vars {
			symbol[0].Inside = append(symbol[0].Inside, variableSymbol(variable))
		}
		return symbol
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

// TokensIn returns the comments, keywords, names, numbers and symbols of the named file that overlap a range of it.
func (f *Files) TokensIn(name string, within Range) []Token {
	owner, doc := f.group(name)
	if doc == nil {
		return nil
	}
	lexemes, uses := doc.lexemes(), owner.uses()[doc]
	first, end := doc.lexemeFrom(within.From), indexOfLexeme(lexemes, within.To)
	if first >= end {
		return nil
	}
	firstUse, _ := slices.BinarySearchFunc(uses, int(lexemes[first].from), func(nameUse use, offset int) int { return nameUse.From - offset })
	uses = uses[firstUse:]
	tokens := make([]Token, 0, end-first)
	for i := first; i < end; i++ {
		current := lexemes[i]
		token := Token{Range: Range{int(current.from), int(current.to)}, Class: current.class}
		for len(uses) > 0 && uses[0].From < token.From {
			uses = uses[1:]
		}
		if len(uses) > 0 && uses[0].From == token.From && uses[0].decl != nil {
			token.Kind = uses[0].decl.kind
			token.Declares = uses[0].decl.doc == doc && uses[0].decl.Range == uses[0].Range
		}
		if token.Kind == NoKind && current.class <= syntax.Name && isFunction(doc.text[current.from:current.to]) && doc.tokenIs(i+1, "(") {
			token.Kind = Function
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// isFunction reports whether a name is the name of a function or operator with arguments in parentheses.
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
	doc := f.docs[name]
	if doc == nil {
		return nil
	}
	doc.parse()
	var lenses []Lens
	switch tree := doc.tree.(type) {
	case *syntax.Model:
		if len(tree.Items) > 0 {
			lenses = append(lenses, Lens{Range: rangeOf(tree.Items[0]), Command: "simulate"})
		}
	case *syntax.Properties:
		numProperties := 0
		for _, item := range tree.Items {
			property, ok := item.(*syntax.Property)
			if !ok {
				continue
			}
			numProperties++
			lens := Lens{Range: rangeOf(property), Command: "check", Property: strconv.Itoa(numProperties)}
			if property.Name != nil {
				lens.Property = property.Name.Name
			}
			lenses = append(lenses, lens)
		}
	}
	return lenses
}
