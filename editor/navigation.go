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
func (g *group) useAt(d *document, offset int) *use {
	uses := g.uses()[d]
	i, _ := slices.BinarySearchFunc(uses, offset, func(u use, offset int) int {
		if u.To < offset {
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
	g, d := f.group(name)
	if d == nil {
		return Location{}, false
	}
	u := g.useAt(d, offset)
	if u == nil || u.decl == nil {
		return Location{}, false
	}
	return Location{u.decl.doc.name, u.decl.Range}, true
}

// References returns the places where the name at an offset of the named file occurs, including its declaration, in the model and its properties.
func (f *Files) References(name string, offset int) []Location {
	g, d := f.group(name)
	if d == nil {
		return nil
	}
	u := g.useAt(d, offset)
	if u == nil {
		return nil
	}
	return g.references(u.decl)
}

// references returns the occurrences of a declared name; nil if decl is nil.
func (g *group) references(decl *declaration) []Location {
	if decl == nil {
		return nil
	}
	var locations []Location
	for _, d := range g.docs() {
		for _, u := range g.uses()[d] {
			if u.decl == decl {
				locations = append(locations, Location{d.name, u.Range})
			}
		}
	}
	return locations
}

// Hover describes, as Markdown, the name at an offset of the named file: its declaration with the comments beside it, the value of a constant, and
// how often it is used. It describes an operator of properties by its meaning. where is the range of the name or operator.
func (f *Files) Hover(ctx context.Context, name string, offset int) (text string, where Range, ok bool) {
	g, d := f.group(name)
	if d == nil {
		return "", Range{}, false
	}
	u := g.useAt(d, offset)
	if u == nil || u.decl == nil {
		return d.operatorAt(offset)
	}
	_, _ = f.Diagnostics(ctx, name) // computes the values of constants
	var b strings.Builder
	fmt.Fprintf(&b, "```prism\n%s\n```\n", declarationText(u.decl))
	if comments := u.decl.comments(); comments != "" {
		fmt.Fprintf(&b, "%s\n\n", comments)
	}
	if value, ok := g.value(ctx, u.decl); ok {
		fmt.Fprintf(&b, "value %s\n\n", value)
	}
	kind := u.decl.kind.String()
	if module := u.decl.moduleName(); u.decl.kind == Variable && module != "" {
		kind += " of module `" + module + "`"
	}
	numUses := len(g.references(u.decl)) - 1 // one reference is the declaration
	fmt.Fprintf(&b, "%s, used %s", kind, times(numUses))
	return b.String(), u.Range, true
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
func times(n int) string {
	switch n {
	case 0:
		return "nowhere"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// maxDeclaration is the largest part of a declaration that is shown, in bytes.
const maxDeclaration = 2000

// declarationText returns the text of a declaration, formatted and without comments; for a module or reward structure, only its head.
func declarationText(decl *declaration) string {
	var node syntax.Node // nil for an action
	if decl.details != nil {
		node = decl.node
	}
	switch n := node.(type) {
	case nil:
		return decl.kind.String() + " [" + decl.name + "]"
	case *syntax.Module:
		return fmt.Sprintf("module %s // %s, %s", n.Name.Name, noun.Count(len(n.Vars), "variable"), noun.Count(decl.doc.numCommands(n), "command"))
	case *syntax.Rewards:
		return fmt.Sprintf("rewards %q", n.Name.Name)
	case *syntax.Rename:
		return n.New.Name + " // renamed from " + n.Old.Name
	}
	var b bytes.Buffer
	if syntax.Fprint(&b, format.Bare(node), syntax.Options{}) != nil {
		return decl.name
	}
	if b.Len() > maxDeclaration {
		return string(bytes.ToValidUTF8(b.Bytes()[:maxDeclaration], nil)) + "…"
	}
	return strings.TrimSpace(b.String())
}

// Edit replaces a part of a file.
type Edit struct {
	Location
	Text string
}

// Rename returns the edits that rename the name at an offset of the named file, in the model and its properties. It refuses with an error if a file
// has errors before or after the edits, or if the edits would give a name another declaration.
func (f *Files) Rename(ctx context.Context, name string, offset int, newName string) ([]Edit, error) {
	g, d := f.group(name)
	if d == nil {
		return nil, fmt.Errorf("%s is not open", name)
	}
	u := g.useAt(d, offset)
	switch {
	case u == nil || u.decl == nil:
		return nil, errors.New("there is no name that is declared, want a constant, variable, label or the like")
	case !syntax.IsIdent(newName):
		return nil, fmt.Errorf("found %q, want a name: letters, digits and underscores, and no keyword", newName)
	case newName == u.name:
		return nil, nil
	}
	if err := f.requireNoErrors(ctx, g, "before"); err != nil {
		return nil, err
	}
	var edits []Edit
	for _, l := range g.references(u.decl) {
		edits = append(edits, Edit{l, newName})
	}
	edited, err := f.Apply(edits)
	if err != nil {
		return nil, err
	}
	editedGroup, _ := edited.group(name)
	if err := edited.requireNoErrors(ctx, editedGroup, "after"); err != nil {
		return nil, err
	}
	if !haveSameDeclarations(g, editedGroup) {
		return nil, fmt.Errorf("%s would mean something else where it is used: %s is declared already", newName, newName)
	}
	return edits, nil
}

// requireNoErrors returns an error if a file of the group has errors. when is "before" or "after" the renaming.
func (f *Files) requireNoErrors(ctx context.Context, g *group, when string) error {
	for _, d := range g.docs() {
		diagnostics, err := f.Diagnostics(ctx, d.name)
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
	for _, e := range edits {
		byFile[e.File] = append(byFile[e.File], e)
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
	slices.SortFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var edited bytes.Buffer
	end := 0 // of the previous edit
	for _, e := range edits {
		if e.From < end || e.To < e.From || e.To > len(text) {
			return nil, fmt.Errorf("%s: edits overlap", name)
		}
		edited.Write(text[end:e.From])
		edited.WriteString(e.Text)
		end = e.To
	}
	edited.Write(text[end:])
	return edited.Bytes(), nil
}
