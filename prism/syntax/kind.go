package syntax

import (
	"path"
	"strings"
)

// IsProperties reports whether a file contains properties rather than a model. The extension of the
// file name decides if it is known, otherwise the keywords in the text.
func IsProperties(name string, src []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".props", ".prop", ".pctl", ".csl":
		return true
	case ".prism", ".nm", ".pm", ".sm":
		return false
	}
	hasPropertyWord := false
	for lexeme := range Lexemes(src) {
		isGameWord := lexeme.Class == Name && (lexeme.Text == wordSMG || lexeme.Text == wordPlayer)
		if isGameWord && !hasPropertyWord {
			return false
		}
		if lexeme.Class != Keyword {
			continue
		}
		keyword := keywordKind([]byte(lexeme.Text))
		if isModelKeyword(keyword) {
			return false
		}
		if startsPropertyOperator(keyword) || keyword == kwF || keyword == kwG || keyword == kwU {
			hasPropertyWord = true
		}
	}
	return hasPropertyWord
}

// isModelKeyword reports whether a keyword occurs in models only.
func isModelKeyword(keyword kind) bool {
	switch keyword {
	case kwModule, kwFormula, kwGlobal, kwRewards:
		return true
	}
	return modelTypeOf(keyword) != TypeNone
}

// IsMarkovAutomaton reports whether the text of a model has the type ma of Storm's dialect.
func IsMarkovAutomaton(dialect Dialect, model []byte) bool {
	for lexeme := range Lexemes(model) {
		if lexeme.Class == Name || lexeme.Class == Keyword {
			return dialect == Storm && lexeme.Text == wordMA
		}
	}
	return false
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
