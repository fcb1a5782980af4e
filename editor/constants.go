package editor

import (
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// WithConsts returns the same files with other definitions of constants, in the syntax of --const.
func (f *Files) WithConsts(consts []string) *Files {
	options := f.opts
	options.Consts = consts
	next := New(options)
	for _, name := range f.Names() {
		next = next.With(name, f.docs[name].text)
	}
	return next
}

// Constants returns the definitions of the constants that the named file and its model declare without a value. It takes them from the options, and
// returns them in the syntax of --const.
func (f *Files) Constants(name string) string {
	owner, doc := f.group(name)
	if doc == nil {
		return ""
	}
	doc.parse()
	trees := []syntax.Node{doc.tree}
	if owner.model != nil {
		owner.model.parse()
		trees = append(trees, owner.model.tree)
	}
	defs, _ := sema.ParseConsts(f.opts.Consts) // the language server reports errors in them
	var texts []string
	for _, def := range definitionsFor(defs, trees...) {
		text := def.Name + "=" + def.Low
		if def.Step != "" {
			text += ":" + def.Step
		}
		if def.IsRange {
			text += ":" + def.High
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}

// definitionsFor removes from defs the constants that the trees do not declare, or declare with a value, and returns the result. The options of an
// editor may define constants of several models. It changes defs.
func definitionsFor(defs []sema.ConstDef, trees ...syntax.Node) []sema.ConstDef {
	needed := make(map[string]bool)
	addNeeded := func(item syntax.Node) {
		if decl, ok := item.(*syntax.ConstDecl); ok && decl.Value == nil {
			needed[decl.Name.Name] = true
		}
	}
	for _, tree := range trees {
		syntax.VisitItems(tree, addNeeded)
	}
	return slices.DeleteFunc(defs, func(def sema.ConstDef) bool { return !needed[def.Name] })
}
