package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// TextAs returns the text of the model with modelType as its type.
func (m *Model) TextAs(modelType ModelType) ([]byte, error) {
	copied := *m
	copied.Items = slices.Clone(m.Items)
	keyword := strings.ToLower(modelType.String())
	hasType := false
	for i, item := range copied.Items {
		if oldDecl, ok := item.(*TypeDecl); ok {
			declaration := *oldDecl
			declaration.Type, declaration.Word = modelType, keyword
			copied.Items[i], hasType = &declaration, true
		}
	}
	if !hasType {
		copied.Items = slices.Insert(copied.Items, 0, Item(&TypeDecl{Type: modelType, Word: keyword}))
	}
	var text bytes.Buffer
	err := Fprint(&text, &copied, Options{})
	return text.Bytes(), err
}
