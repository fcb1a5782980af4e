package editor

import (
	"context"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// Fix is a change that may correct a diagnostic.
type Fix struct {
	Title string
	Of    Diagnostic
	Edits []Edit
}

// Fixes returns corrections for the diagnostics in a part of a file: for mistakes of users who
// know other languages.
func (f *Files) Fixes(ctx context.Context, name string, in Range) ([]Fix, error) {
	found, err := f.Diagnostics(ctx, name)
	g, d := f.group(name)
	if err != nil || d == nil {
		return nil, err
	}
	var out []Fix
	for _, x := range found {
		if x.From > in.To || x.To < in.From {
			continue
		}
		if fix, ok := g.fix(d, x); ok {
			fix.Of = x
			out = append(out, fix)
		}
	}
	return out, nil
}

func (g *group) fix(d *document, x Diagnostic) (Fix, bool) {
	i := d.lexemeFrom(x.From)
	for i > 0 && i <= len(d.lexemes()) && (i == len(d.lexemes()) || int(d.lexemes()[i].from) > x.From) {
		i--
	}
	if i >= len(d.lexemes()) {
		return Fix{}, false
	}
	here := d.lexemes()[i]
	var before lexeme
	for j := i - 1; j >= 0; j-- {
		if before = d.lexemes()[j]; before.class != syntax.Comment {
			break
		}
	}
	edit := func(title string, from, to int, text string) (Fix, bool) {
		return Fix{Title: title, Edits: []Edit{{Location{d.name, Range{from, to}}, text}}}, true
	}
	from, to, word := int(here.from), int(here.to), d.word(here)
	switch {
	case d.is(before, word) && before.to == here.from && strings.Contains("=&|", word):
		return edit(fmt.Sprintf("Write %s for %s%s", word, word, word), from, to, "")
	case x.Message == `missing ";"`:
		at := int(x.Pos.Offset)
		return edit("Insert ;", at, at, ";")
	case strings.Contains(x.Message, `want ";"`) && before.to > 0:
		at := int(before.to)
		if strings.HasPrefix(x.Message, "found end of file") {
			at = to
		}
		return edit("Insert ;", at, at, ";")
	case strings.Contains(x.Message, "want a label name in double quotes"):
		return edit("Put the label in quotes", from, to, `"`+word+`"`)
	case strings.Contains(x.Message, "the name of a reward structure needs double quotes"):
		return edit("Put the name in quotes", int(before.from), int(before.to), `"`+d.word(before)+`"`)
	case strings.Contains(x.Message, "an update assigns to primed variables"):
		return g.prime(d, i)
	}
	if u := g.at(d, x.From); u != nil && u.decl == nil && u.kind == NoKind {
		if name := g.nearest(d, u); name != "" {
			return edit("Write "+name, u.From, u.To, name)
		}
	}
	return Fix{}, false
}

// prime adds the prime to the name in (x=1) before lexeme i.
func (g *group) prime(d *document, i int) (Fix, bool) {
	for ; i > 0; i-- {
		if l := d.lexemes()[i]; l.class == syntax.Name && d.is(d.lexemes()[i-1], "(") {
			at := int(l.to)
			return Fix{Title: "Write " + d.word(l) + "'", Edits: []Edit{{Location{d.name, Range{at, at}}, "'"}}}, true
		}
		if d.is(d.lexemes()[i], "->") {
			break
		}
	}
	return Fix{}, false
}

// nearest returns the declared name that is most similar to an undeclared one.
func (g *group) nearest(d *document, u *use) string {
	return syntax.Nearest(u.name, func(yield func(string) bool) {
		for _, doc := range g.docs() {
			for _, other := range g.uses()[doc] {
				if other.decl != nil && other.space == u.space && !yield(other.name) {
					return
				}
			}
		}
	})
}
