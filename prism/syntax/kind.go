package syntax

import (
	"path"
	"strings"
)

// IsProperties reports whether a file contains properties instead of a model. It decides by the extension of the name, or by the text if the extension
// is unknown.
func IsProperties(name string, src []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".props", ".prop", ".pctl", ".csl":
		return true
	case ".prism", ".nm", ".pm", ".sm":
		return false
	}
	return looksLikeProperties(src)
}

// looksLikeProperties reports whether a text has a keyword of properties, such as P, and no keyword of models, such as module.
func looksLikeProperties(src []byte) bool {
	hasPropertyKeyword := false
	for lexeme := range Lexemes(src) {
		switch {
		case lexeme.Class == Name:
			isGameWord := lexeme.Text == wordSMG || lexeme.Text == wordPlayer
			if isGameWord && !hasPropertyKeyword { // after a property keyword, these words can be names
				return false
			}
		case lexeme.Class == Keyword:
			keyword := keywordKind([]byte(lexeme.Text))
			if isModelKeyword(keyword) {
				return false
			}
			hasPropertyKeyword = hasPropertyKeyword || isPropertyKeyword(keyword)
		}
	}
	return hasPropertyKeyword
}

// isPropertyKeyword reports whether a keyword is an operator of properties, such as P or F.
func isPropertyKeyword(keyword kind) bool {
	return startsPropertyOperator(keyword) || keyword == kwF || keyword == kwG || keyword == kwU
}

// isModelKeyword reports whether a keyword occurs in models only.
func isModelKeyword(keyword kind) bool {
	switch keyword {
	case kwModule, kwFormula, kwGlobal, kwRewards:
		return true
	}
	return modelTypeOf(keyword) != TypeNone
}

// IsMarkovAutomaton reports whether a model begins with the type ma of Storm's dialect.
func IsMarkovAutomaton(dialect Dialect, model []byte) bool {
	for lexeme := range Lexemes(model) {
		if lexeme.Class == Name || lexeme.Class == Keyword {
			return dialect == Storm && lexeme.Text == wordMA
		}
	}
	return false
}

// ParseFile parses a model or properties file. IsProperties decides which of them it is. The node is a *Model or a *Properties.
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
