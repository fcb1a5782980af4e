package editor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/format"
	"tilecheck/prism/syntax"
)

// Location is a part of a file.
type Location struct {
	File string
	Range
}

// useAt returns the name in a document that contains an offset or ends there; nil if there is none.
func (g *group) useAt(doc *document, offset int) *use {
	uses := g.uses()[doc]
	i, _ := slices.BinarySearchFunc(uses, offset, func(candidate use, offset int) int {
		if candidate.To < offset {
			return -1
		}
		return 1
	})
	for ; i < len(uses) && uses[i].From <= offset; i++ {
		if offset <= uses[i].To {
			return &uses[i]
		}
	}
	return nil
}

// Definition returns where the name at an offset of the named file is declared. It returns false if there is no name, or no declaration of it.
func (f *Files) Definition(name string, offset int) (Location, bool) {
	owner, doc := f.group(name)
	if doc == nil {
		return Location{}, false
	}
	nameUse := owner.useAt(doc, offset)
	if nameUse == nil || nameUse.decl == nil {
		return Location{}, false
	}
	return Location{nameUse.decl.doc.name, nameUse.decl.Range}, true
}

// References returns the places where the name at an offset of the named file occurs, including its declaration, in the model and its properties.
func (f *Files) References(name string, offset int) []Location {
	owner, doc := f.group(name)
	if doc == nil {
		return nil
	}
	nameUse := owner.useAt(doc, offset)
	if nameUse == nil {
		return nil
	}
	return owner.references(nameUse.decl)
}

// references returns the occurrences of a declared name; nil if decl is nil.
func (g *group) references(decl *declaration) []Location {
	if decl == nil {
		return nil
	}
	var locations []Location
	for _, doc := range g.docs() {
		for _, nameUse := range g.uses()[doc] {
			if nameUse.decl == decl {
				locations = append(locations, Location{doc.name, nameUse.Range})
			}
		}
	}
	return locations
}

// Hover describes, as Markdown, the name at an offset of the named file: its declaration with the comments beside it, the value of a constant, and
// how often it is used. It describes an operator of properties by its meaning. where is the range of the name or operator.
func (f *Files) Hover(ctx context.Context, name string, offset int) (text string, where Range, ok bool) {
	owner, doc := f.group(name)
	if doc == nil {
		return "", Range{}, false
	}
	nameUse := owner.useAt(doc, offset)
	if nameUse == nil || nameUse.decl == nil {
		return doc.operatorAt(offset)
	}
	_, _ = f.Diagnostics(ctx, name) // computes the values of constants
	var markdown strings.Builder
	fmt.Fprintf(&markdown, "```prism\n%s\n```\n", declarationText(nameUse.decl))
	if comments := nameUse.decl.comments(); comments != "" {
		fmt.Fprintf(&markdown, "%s\n\n", comments)
	}
	if value, ok := owner.value(ctx, nameUse.decl); ok {
		fmt.Fprintf(&markdown, "value %s\n\n", value)
	}
	kind := nameUse.decl.kind.String()
	if module := nameUse.decl.moduleName(); nameUse.decl.kind == Variable && module != "" {
		kind += " of module `" + module + "`"
	}
	numUses := len(owner.references(nameUse.decl)) - 1 // one reference is the declaration
	fmt.Fprintf(&markdown, "%s, used %s", kind, times(numUses))
	return markdown.String(), nameUse.Range, true
}

// value returns the value of a constant of the model. It returns false if the declaration is not of a constant, if the constant has no value, or
// if the context has ended.
func (g *group) value(ctx context.Context, decl *declaration) (string, bool) {
	if decl.kind != Constant || decl.doc != g.model || ctx.Err() != nil {
		return "", false
	}
	value, ok := g.model.meaning.values[decl.name]
	return value, ok
}

// times says how often something happens: "nowhere", "once" or "3 times".
func times(count int) string {
	switch count {
	case 0:
		return "nowhere"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", count)
}

// maxDeclaration is the largest part of a declaration that is shown, in bytes.
const maxDeclaration = 2000

// declarationText returns the text of a declaration, formatted and without comments; for a module or reward structure, only its head.
func declarationText(decl *declaration) string {
	var node syntax.Node // nil for an action
	if decl.details != nil {
		node = decl.node
	}
	switch typedNode := node.(type) {
	case nil:
		return decl.kind.String() + " [" + decl.name + "]"
	case *syntax.Module:
		return fmt.Sprintf("module %s // %s, %s", typedNode.Name.Name, noun.Count(len(typedNode.Vars), "variable"), noun.Count(decl.doc.numCommands(typedNode), "command"))
	case *syntax.Rewards:
		return fmt.Sprintf("rewards %q", typedNode.Name.Name)
	case *syntax.Rename:
		return typedNode.New.Name + " // renamed from " + typedNode.Old.Name
	}
	var text bytes.Buffer
	if syntax.Fprint(&text, format.Bare(node), syntax.Options{}) != nil {
		return decl.name
	}
	if text.Len() > maxDeclaration {
		return string(bytes.ToValidUTF8(text.Bytes()[:maxDeclaration], nil)) + "…"
	}
	return strings.TrimSpace(text.String())
}

// Edit replaces a part of a file.
type Edit struct {
	Location
	Text string
}

// Rename returns the edits that rename the name at an offset of the named file, in the model and its properties. It refuses with an error if a file
// has errors before or after the edits, or if the edits would give a name another declaration.
func (f *Files) Rename(ctx context.Context, name string, offset int, newName string) ([]Edit, error) {
	owner, doc := f.group(name)
	if doc == nil {
		return nil, fmt.Errorf("%s is not open", name)
	}
	nameUse := owner.useAt(doc, offset)
	switch {
	case nameUse == nil || nameUse.decl == nil:
		return nil, errors.New("there is no name that is declared, want a constant, variable, label or the like")
	case !syntax.IsIdent(newName):
		return nil, fmt.Errorf("found %q, want a name: letters, digits and underscores, and no keyword", newName)
	case newName == nameUse.name:
		return nil, nil
	}
	if err := f.requireNoErrors(ctx, owner, "before"); err != nil {
		return nil, err
	}
	var edits []Edit
	for _, location := range owner.references(nameUse.decl) {
		edits = append(edits, Edit{location, newName})
	}
	edited, err := f.Apply(edits)
	if err != nil {
		return nil, err
	}
	editedGroup, _ := edited.group(name)
	if err := edited.requireNoErrors(ctx, editedGroup, "after"); err != nil {
		return nil, err
	}
	if !haveSameDeclarations(owner, editedGroup) {
		return nil, fmt.Errorf("%s would mean something else where it is used: %s is declared already", newName, newName)
	}
	return edits, nil
}

// requireNoErrors returns an error if a file of the group has errors. when is "before" or "after" the renaming.
func (f *Files) requireNoErrors(ctx context.Context, owner *group, when string) error {
	for _, doc := range owner.docs() {
		diagnostics, err := f.Diagnostics(ctx, doc.name)
		if err != nil {
			return err
		}
		for _, diagnostic := range diagnostics {
			if diagnostic.Severity == Error {
				return fmt.Errorf("%s the renaming there is an error: %v", when, diagnostic)
			}
		}
	}
	return nil
}

// haveSameDeclarations reports whether each name of group a has its declaration in the same place as the corresponding name of group b.
func haveSameDeclarations(a, b *group) bool {
	sameNames := func(docA, docB *document) bool {
		return slices.EqualFunc(a.uses()[docA], b.uses()[docB], func(useA, useB use) bool { return useA.decl.isSamePlace(useB.decl) })
	}
	return slices.EqualFunc(a.docs(), b.docs(), sameNames)
}

// isSamePlace reports whether two declarations are the same occurrence of the same file, or both nil.
func (decl *declaration) isSamePlace(other *declaration) bool {
	if decl == nil || other == nil {
		return decl == other
	}
	return decl.index == other.index && decl.doc.name == other.doc.name
}

// Apply returns the files after edits. Edits that overlap are an error.
func (f *Files) Apply(edits []Edit) (*Files, error) {
	byFile := make(map[string][]Edit)
	for _, edit := range edits {
		byFile[edit.File] = append(byFile[edit.File], edit)
	}
	files := f
	for _, name := range f.Names() {
		if byFile[name] == nil {
			continue
		}
		text, err := applyEdits(name, f.docs[name].text, byFile[name])
		if err != nil {
			return nil, err
		}
		files = files.With(name, text)
	}
	return files, nil
}

// applyEdits returns the text of the named file after edits, which it sorts.
func applyEdits(name string, text []byte, edits []Edit) ([]byte, error) {
	slices.SortFunc(edits, func(first, second Edit) int { return first.From - second.From })
	var edited bytes.Buffer
	end := 0 // of the previous edit
	for _, edit := range edits {
		if edit.From < end || edit.To < edit.From || edit.To > len(text) {
			return nil, fmt.Errorf("%s: edits overlap", name)
		}
		edited.Write(text[end:edit.From])
		edited.WriteString(edit.Text)
		end = edit.To
	}
	edited.Write(text[end:])
	return edited.Bytes(), nil
}
