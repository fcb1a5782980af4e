package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// TextAs returns the text of a model with another type.
func (m *Model) TextAs(t ModelType) ([]byte, error) {
	typed := *m
	typed.Items = slices.Clone(m.Items)
	declared := false
	for i, x := range typed.Items {
		if d, is := x.(*TypeDecl); is {
			other := *d
			other.Type, other.Word = t, strings.ToLower(t.String())
			typed.Items[i], declared = &other, true
		}
	}
	if !declared {
		typed.Items = slices.Insert(typed.Items, 0, Item(&TypeDecl{Type: t, Word: strings.ToLower(t.String())}))
	}
	var text bytes.Buffer
	err := Fprint(&text, &typed, Options{})
	return text.Bytes(), err
}
