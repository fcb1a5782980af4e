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
func (f *Files) Fixes(ctx context.Context, name string, within Range) ([]Fix, error) {
	diagnostics, err := f.Diagnostics(ctx, name)
	owner, doc := f.group(name)
	if err != nil || doc == nil {
		return nil, err
	}
	var fixes []Fix
	for _, diagnostic := range diagnostics {
		if diagnostic.From > within.To || diagnostic.To < within.From {
			continue
		}
		if fix, ok := owner.fix(doc, diagnostic); ok {
			fix.Of = diagnostic
			fixes = append(fixes, fix)
		}
	}
	return fixes, nil
}

// fix returns a correction for a diagnostic of a document; false if none is known. It recognises the mistake by the message and by the tokens at
// the position.
func (g *group) fix(doc *document, diagnostic Diagnostic) (Fix, bool) {
	i := doc.lexemeFrom(diagnostic.From)
	for i > 0 && (i == len(doc.lexemes()) || int(doc.lexemes()[i].from) > diagnostic.From) {
		i--
	}
	if i >= len(doc.lexemes()) {
		return Fix{}, false
	}
	token, previous := doc.lexemes()[i], doc.tokenBefore(i)
	from, to, word := int(token.from), int(token.to), doc.word(token)
	message := diagnostic.Message
	switch {
	case doc.is(previous, word) && previous.to == token.from && strings.Contains("=&|", word):
		return doc.replace(fmt.Sprintf("Write %s for %s%s", word, word, word), from, to, "")
	case message == `missing ";"`:
		return doc.insert("Insert ;", int(diagnostic.Pos.Offset), ";")
	case strings.Contains(message, `want ";"`) && previous.to > 0:
		if strings.HasPrefix(message, "found end of file") {
			return doc.insert("Insert ;", to, ";")
		}
		return doc.insert("Insert ;", int(previous.to), ";")
	case strings.Contains(message, "want a label name in double quotes"):
		return doc.replace("Put the label in quotes", from, to, `"`+word+`"`)
	case strings.Contains(message, "the name of a reward structure needs double quotes"):
		return doc.replace("Put the name in quotes", int(previous.from), int(previous.to), `"`+doc.word(previous)+`"`)
	case strings.Contains(message, "an update assigns to primed variables"):
		return doc.insertPrime(i)
	}
	nameUse := g.useAt(doc, diagnostic.From)
	if nameUse == nil || nameUse.decl != nil || nameUse.kind != NoKind {
		return Fix{}, false
	}
	name := g.nearest(doc, nameUse)
	if name == "" {
		return Fix{}, false
	}
	return doc.replace("Write "+name, nameUse.From, nameUse.To, name)
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
		if token := d.lexemes()[i]; token.class == syntax.Name && d.tokenIs(i-1, "(") {
			return d.insert("Write "+d.word(token)+"'", int(token.to), "'")
		}
	}
	return Fix{}, false
}

// nearest returns the declared name of the same name space that is most similar to an undeclared one; "" if none is similar.
func (g *group) nearest(current *document, undeclared *use) string {
	return syntax.Nearest(undeclared.name, func(yield func(string) bool) {
		for _, doc := range g.docs() {
			for _, other := range g.uses()[doc] {
				if other.decl != nil && other.space == undeclared.space && !yield(other.name) {
					return
				}
			}
		}
	})
}
