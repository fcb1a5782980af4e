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

// at returns the use at an offset or ending there; nil if there is none.
func (g *group) at(d *document, offset int) *use {
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

// Definition returns where the name at an offset is declared.
func (f *Files) Definition(name string, offset int) (Location, bool) {
	g, d := f.group(name)
	if d == nil {
		return Location{}, false
	}
	u := g.at(d, offset)
	if u == nil || u.decl == nil {
		return Location{}, false
	}
	return Location{u.decl.doc.name, u.decl.Range}, true
}

// References returns the places where the name at an offset occurs, including its declaration, in
// the model and its properties.
func (f *Files) References(name string, offset int) []Location {
	g, d := f.group(name)
	if d == nil {
		return nil
	}
	u := g.at(d, offset)
	if u == nil {
		return nil
	}
	return g.references(u.decl)
}

func (g *group) references(decl *declaration) []Location {
	var out []Location
	if decl == nil {
		return nil
	}
	for _, d := range g.docs() {
		for _, u := range g.uses()[d] {
			if u.decl == decl {
				out = append(out, Location{d.name, u.Range})
			}
		}
	}
	return out
}

// Hover describes the name at an offset: its declaration with the comments at it, the value if it is a constant with one,
// and how often it is used. For an operator of properties, it says what the operator means. The text is Markdown.
func (f *Files) Hover(ctx context.Context, name string, offset int) (text string, at Range, ok bool) {
	g, d := f.group(name)
	if d == nil {
		return "", Range{}, false
	}
	u := g.at(d, offset)
	if u == nil || u.decl == nil {
		return d.operatorAt(offset)
	}
	_, _ = f.Diagnostics(ctx, name) // computes the values of constants
	var b strings.Builder
	fmt.Fprintf(&b, "```prism\n%s\n```\n", declarationText(u.decl))
	if comments := u.decl.comments(); comments != "" {
		fmt.Fprintf(&b, "%s\n\n", comments)
	}
	if v, ok := g.value(ctx, u.decl); ok {
		fmt.Fprintf(&b, "value %s\n\n", v)
	}
	uses := len(g.references(u.decl)) - 1
	where := u.decl.kind.String()
	if module := u.decl.moduleName(); u.decl.kind == Variable && module != "" {
		where += " of module `" + module + "`"
	}
	fmt.Fprintf(&b, "%s, used %s", where, times(uses))
	return b.String(), u.Range, true
}

// value returns the value of a constant of the model.
func (g *group) value(ctx context.Context, decl *declaration) (string, bool) {
	if decl.kind != Constant || decl.doc != g.model || ctx.Err() != nil {
		return "", false
	}
	v, ok := g.model.meaning.values[decl.name]
	return v, ok
}

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

// declarationText returns the declaration as Fprint prints it; for a block, only its head.
func declarationText(decl *declaration) string {
	var n syntax.Node
	if decl.details != nil {
		n = decl.node
	}
	switch x := n.(type) {
	case nil:
		return decl.kind.String() + " [" + decl.name + "]"
	case *syntax.Module:
		return fmt.Sprintf("module %s // %s, %s", x.Name.Name, noun.Count(len(x.Vars), "variable"), noun.Count(decl.doc.numCommands(x), "command"))
	case *syntax.Rewards:
		return fmt.Sprintf("rewards %q", x.Name.Name)
	case *syntax.Rename:
		return x.New.Name + " // renamed from " + x.Old.Name
	}
	var b bytes.Buffer
	if syntax.Fprint(&b, format.Bare(n), syntax.Options{}) != nil {
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

// Rename returns the edits that rename the name at an offset in the model and its properties. It
// checks that afterwards every name is declared where it was before and no file has errors.
// Otherwise the error says why.
func (f *Files) Rename(ctx context.Context, name string, offset int, to string) ([]Edit, error) {
	g, d := f.group(name)
	if d == nil {
		return nil, fmt.Errorf("%s is not open", name)
	}
	u := g.at(d, offset)
	switch {
	case u == nil || u.decl == nil:
		return nil, errors.New("there is no name that is declared, want a constant, variable, label or the like")
	case !syntax.IsIdent(to):
		return nil, fmt.Errorf("found %q, want a name: letters, digits and underscores, and no keyword", to)
	case to == u.name:
		return nil, nil
	}
	if err := f.clean(ctx, g, "before"); err != nil {
		return nil, err
	}
	var edits []Edit
	for _, l := range g.references(u.decl) {
		edits = append(edits, Edit{l, to})
	}
	next, err := f.Apply(edits)
	if err != nil {
		return nil, err
	}
	after, _ := next.group(name)
	if err := next.clean(ctx, after, "after"); err != nil {
		return nil, err
	}
	if !sameMeaning(g, after) {
		return nil, fmt.Errorf("%s would mean something else where it is used: %s is declared already", to, to)
	}
	return edits, nil
}

// clean returns an error if a file of the group has errors.
func (f *Files) clean(ctx context.Context, g *group, when string) error {
	for _, d := range g.docs() {
		found, err := f.Diagnostics(ctx, d.name)
		if err != nil {
			return err
		}
		for _, x := range found {
			if x.Severity == Error {
				return fmt.Errorf("%s the renaming there is an error: %v", when, x)
			}
		}
	}
	return nil
}

// sameMeaning reports whether the names of two groups are declared in the same places.
func sameMeaning(a, b *group) bool {
	da, db := a.docs(), b.docs()
	if len(da) != len(db) {
		return false
	}
	for i := range da {
		ua, ub := a.uses()[da[i]], b.uses()[db[i]]
		if len(ua) != len(ub) {
			return false
		}
		for j := range ua {
			x, y := ua[j].decl, ub[j].decl
			if (x == nil) != (y == nil) || x != nil && (x.index != y.index || x.doc.name != y.doc.name) {
				return false
			}
		}
	}
	return true
}

// Apply returns the files after edits, which must not overlap.
func (f *Files) Apply(edits []Edit) (*Files, error) {
	byFile := make(map[string][]Edit)
	for _, e := range edits {
		byFile[e.File] = append(byFile[e.File], e)
	}
	next := f
	for _, name := range f.Names() {
		mine := byFile[name]
		if mine == nil {
			continue
		}
		slices.SortFunc(mine, func(a, b Edit) int { return a.From - b.From })
		old := f.docs[name].text
		var b bytes.Buffer
		at := 0
		for _, e := range mine {
			if e.From < at || e.To < e.From || e.To > len(old) {
				return nil, fmt.Errorf("%s: edits overlap", name)
			}
			b.Write(old[at:e.From])
			b.WriteString(e.Text)
			at = e.To
		}
		b.Write(old[at:])
		next = next.With(name, b.Bytes())
	}
	return next, nil
}
