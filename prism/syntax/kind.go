package syntax

import (
	"path"
	"slices"
	"strings"
)

// IsProperties reports whether a file contains properties rather than a model. The extension of the
// file name decides if it is known, otherwise the keywords in the text.
func IsProperties(name string, src []byte) bool {
	switch ext := strings.ToLower(path.Ext(name)); {
	case slices.Contains([]string{".props", ".prop", ".pctl", ".csl"}, ext):
		return true
	case slices.Contains([]string{".prism", ".nm", ".pm", ".sm"}, ext):
		return false
	}
	hasPropertyWord := false
	for lexeme := range Lexemes(src) {
		if lexeme.Class == Name && (lexeme.Text == wordSMG || lexeme.Text == wordPlayer) && !hasPropertyWord {
			return false
		}
		if lexeme.Class != Keyword {
			continue
		}
		keyword := keywordKind([]byte(lexeme.Text))
		if modelTypeOf(keyword) != TypeNone || keyword == kwModule || keyword == kwFormula || keyword == kwGlobal || keyword == kwRewards {
			return false
		}
		hasPropertyWord = hasPropertyWord || startsPropertyOperator(keyword) || keyword == kwF || keyword == kwG || keyword == kwU
	}
	return hasPropertyWord
}

// ParseFile parses a file of unknown kind, as decided by IsProperties. The node is a *Model or a
// *Properties.
func ParseFile(dialect Dialect, name string, src []byte) (Node, error) {
	if IsProperties(name, src) {
		props, err := ParsePropertiesOf(dialect, name, src)
		if err != nil {
			return nil, err
		}
		return props, nil
	}
	model, err := ParseModelOf(dialect, name, src)
	if err != nil {
		return nil, err
	}
	return model, nil
}

// VisitItems calls visit for each item of a model or properties file.
func VisitItems(tree Node, visit func(Node)) {
	switch tree := tree.(type) {
	case *Model:
		for _, item := range tree.Items {
			visit(item)
		}
	case *Properties:
		for _, item := range tree.Items {
			visit(item)
		}
	}
}
