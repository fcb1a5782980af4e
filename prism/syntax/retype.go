package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// TextAs returns the text of the model with its type replaced, or inserted if it has none.
func (m *Model) TextAs(modelType ModelType) ([]byte, error) {
	copied := *m
	copied.Items = slices.Clone(m.Items)
	declared := false
	for i, item := range copied.Items {
		if oldDecl, ok := item.(*TypeDecl); ok {
			decl := *oldDecl
			decl.Type, decl.Word = modelType, strings.ToLower(modelType.String())
			copied.Items[i], declared = &decl, true
		}
	}
	if !declared {
		copied.Items = slices.Insert(copied.Items, 0, Item(&TypeDecl{Type: modelType, Word: strings.ToLower(modelType.String())}))
	}
	var text bytes.Buffer
	err := Fprint(&text, &copied, Options{})
	return text.Bytes(), err
}
