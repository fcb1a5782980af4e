package syntax

import (
	"path"
	"slices"
	"strings"
)

// IsProperties reports whether a file contains properties and not a model: by the extension of its
// name if possible, otherwise by its words.
func IsProperties(name string, src []byte) bool {
	switch ext := strings.ToLower(path.Ext(name)); {
	case slices.Contains([]string{".props", ".prop", ".pctl", ".csl"}, ext):
		return true
	case slices.Contains([]string{".prism", ".nm", ".pm", ".sm"}, ext):
		return false
	}
	found := false
	for l := range Lexemes(src) {
		if l.Class == Name && (l.Text == wordSMG || l.Text == wordPlayer) && !found {
			return false
		}
		if l.Class != Keyword {
			continue
		}
		k := keywordKind([]byte(l.Text))
		if modelTypeOf(k) != TypeNone || k == kwModule || k == kwFormula || k == kwGlobal || k == kwRewards {
			return false
		}
		found = found || startsProp(k) || k == kwF || k == kwG || k == kwU
	}
	return found
}

// ParseFile parses a model or a properties file, as IsProperties decides. The node is a *Model or
// a *Properties.
func ParseFile(dialect Dialect, name string, src []byte) (Node, error) {
	if IsProperties(name, src) {
		ps, err := ParsePropertiesOf(dialect, name, src)
		if err != nil {
			return nil, err
		}
		return ps, nil
	}
	m, err := ParseModelOf(dialect, name, src)
	if err != nil {
		return nil, err
	}
	return m, nil
}
