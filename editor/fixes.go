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
	Of    Diagnostic // that it corrects
	Edits []Edit
}

// Fixes returns corrections for the diagnostics in a part of the named file. They correct mistakes of users who know other languages.
func (f *Files) Fixes(ctx context.Context, name string, part Range) ([]Fix, error) {
	diagnostics, err := f.Diagnostics(ctx, name)
	g, d := f.group(name)
	if err != nil || d == nil {
		return nil, err
	}
	var fixes []Fix
	for _, diagnostic := range diagnostics {
		if diagnostic.From > part.To || diagnostic.To < part.From {
			continue
		}
		if fix, ok := g.fix(d, diagnostic); ok {
			fix.Of = diagnostic
			fixes = append(fixes, fix)
		}
	}
	return fixes, nil
}

// fix returns a correction for a diagnostic of a document; false if none is known. It recognises the mistake by the message and by the tokens at
// the position.
func (g *group) fix(d *document, diagnostic Diagnostic) (Fix, bool) {
	i := d.lexemeFrom(diagnostic.From)
	for i > 0 && (i == len(d.lexemes()) || int(d.lexemes()[i].from) > diagnostic.From) {
		i--
	}
	if i >= len(d.lexemes()) {
		return Fix{}, false
	}
	token, previous := d.lexemes()[i], d.tokenBefore(i)
	from, to, word := int(token.from), int(token.to), d.word(token)
	message := diagnostic.Message
	switch {
	case d.is(previous, word) && previous.to == token.from && strings.Contains("=&|", word):
		return d.replace(fmt.Sprintf("Write %s for %s%s", word, word, word), from, to, "")
	case message == `missing ";"`:
		return d.insert("Insert ;", int(diagnostic.Pos.Offset), ";")
	case strings.Contains(message, `want ";"`) && previous.to > 0:
		if strings.HasPrefix(message, "found end of file") {
			return d.insert("Insert ;", to, ";")
		}
		return d.insert("Insert ;", int(previous.to), ";")
	case strings.Contains(message, "want a label name in double quotes"):
		return d.replace("Put the label in quotes", from, to, `"`+word+`"`)
	case strings.Contains(message, "the name of a reward structure needs double quotes"):
		return d.replace("Put the name in quotes", int(previous.from), int(previous.to), `"`+d.word(previous)+`"`)
	case strings.Contains(message, "an update assigns to primed variables"):
		return d.insertPrime(i)
	}
	u := g.useAt(d, diagnostic.From)
	if u == nil || u.decl != nil || u.kind != NoKind {
		return Fix{}, false
	}
	name := g.nearest(d, u)
	if name == "" {
		return Fix{}, false
	}
	return d.replace("Write "+name, u.From, u.To, name)
}

// tokenBefore returns the token before lexeme i, comments skipped. If there is none, it returns the first comment, or a lexeme without text.
func (d *document) tokenBefore(i int) lexeme {
	var previous lexeme
	for j := i - 1; j >= 0; j-- {
		if previous = d.lexemes()[j]; previous.class != syntax.Comment {
			break
		}
	}
	return previous
}

// replace returns a fix that replaces the text between two offsets.
func (d *document) replace(title string, from, to int, text string) (Fix, bool) {
	return Fix{Title: title, Edits: []Edit{{Location{d.name, Range{from, to}}, text}}}, true
}

// insert returns a fix that inserts a text at an offset.
func (d *document) insert(title string, offset int, text string) (Fix, bool) {
	return d.replace(title, offset, offset, text)
}

// insertPrime returns a fix for an assignment without a prime, such as (x=1), in which lexeme i is: it adds the prime to the name. It returns false
// if the update has no such name before lexeme i.
func (d *document) insertPrime(i int) (Fix, bool) {
	for ; i > 0 && !d.tokenIs(i, "->"); i-- {
		if l := d.lexemes()[i]; l.class == syntax.Name && d.tokenIs(i-1, "(") {
			return d.insert("Write "+d.word(l)+"'", int(l.to), "'")
		}
	}
	return Fix{}, false
}

// nearest returns the declared name of the same name space that is most similar to an undeclared one; "" if none is similar.
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
