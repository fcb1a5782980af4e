package editor

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Completion is a word that can stand at a place.
type Completion struct {
	Text   string
	Kind   Kind // NoKind for a keyword
	Detail string
}

// Complete returns what can stand at an offset instead of the word that ends there, and
// where that word starts: the names that are declared and the keywords with which the
// statement goes on by the grammar, sorted.
func (f *Files) Complete(name string, offset int) (from int, found []Completion) {
	g, d := f.group(name)
	if d == nil || len(d.text) > MaxText {
		return offset, nil
	}
	d.parse()
	offset = min(max(offset, 0), len(d.text))
	for from = offset; from > 0 && isWordByte(d.text[from-1]); {
		from--
	}
	if i := d.lexemeFrom(from - 1); from > 0 && i < len(d.lexemes()) {
		if l := d.lexemes()[i]; l.class == syntax.Comment && int(l.from) < from && int(l.to) >= from {
			return from, nil
		}
	}
	s := g.stateAt(d, from)
	if s.names != nil {
		return from, s.names
	}
	for _, word := range keywords(d.isProps()) {
		if s.accepts(word) {
			found = append(found, Completion{Text: word})
		}
	}
	if !s.fresh && s.accepts("a_name") {
		found = append(found, g.completions(d, s.declares...)...)
	}
	if !d.isProps() && s.accepts("a_name'") {
		for _, c := range g.completions(d, Variable) {
			c.Text += "'"
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b Completion) int { return strings.Compare(a.Text, b.Text) })
	return from, slices.Compact(found)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// completions are the declared names of kinds.
func (g *group) completions(d *document, kinds ...Kind) []Completion {
	var out []Completion
	seen := make(map[string]bool)
	for _, doc := range g.docs() {
		if doc.isProps() && doc != d {
			continue
		}
		for _, u := range g.uses()[doc] {
			if u.decl == nil || seen[u.name] || !slices.Contains(kinds, u.decl.kind) {
				continue
			}
			seen[u.name] = true
			out = append(out, Completion{Text: u.name, Kind: u.decl.kind, Detail: brief(declarationText(u.decl))})
		}
	}
	return out
}

// partial is a statement that ends where something is to be completed.
type partial struct {
	props    bool
	before   string // a text after which the statement can stand
	text     string
	fresh    bool // a name here is a new one
	declares []Kind
	names    []Completion // what can stand there, where the grammar does not say it
}

// longest is the largest statement, in bytes, for which the grammar is asked.
const longest = 1 << 14

// stateAt finds the statement that an offset is in.
func (g *group) stateAt(d *document, offset int) partial {
	end := d.lexemeFrom(offset)
	for end > 0 && int(d.lexemes()[end-1].from) >= offset {
		end--
	}
	var tokens []lexeme
	block, late := "", false
	for _, l := range d.lexemes()[:end] {
		if l.class == syntax.Comment {
			continue
		}
		tokens = append(tokens, l)
		switch {
		case d.isProps():
			if d.is(l, ";") {
				tokens = tokens[:0]
			}
		case d.is(l, "module") || d.is(l, "rewards"):
			block, late = d.word(l), false
		case l.class == syntax.Keyword && strings.HasPrefix(d.word(l), "end") && !d.is(l, "endinvariant"):
			block, tokens = "", tokens[:0]
		case d.is(l, "->") || d.is(l, "endinvariant"):
			late = block == "module"
			if d.is(l, "endinvariant") {
				tokens = tokens[:0]
			}
		case d.is(l, ";"):
			tokens = tokens[:0]
		}
		if block != "" {
			tokens = tokens[d.head(tokens):]
		}
	}
	s := partial{props: d.isProps(), declares: []Kind{Constant, Formula, Variable}}
	switch {
	case block == "module" && (len(tokens) == 0 || !d.is(tokens[0], "module")):
		s.before = "module m "
		if late && (len(tokens) == 0 || !slices.ContainsFunc(tokens, func(l lexeme) bool { return d.is(l, "->") }) || d.is(tokens[0], "[")) {
			s.before = "module m [] true -> true; "
		}
	case block == "rewards" && (len(tokens) == 0 || !d.is(tokens[0], "rewards")):
		s.before = "rewards "
	}
	if len(tokens) > 0 {
		from := int(tokens[0].from)
		if offset-from > longest {
			s.names = []Completion{}
			return s
		}
		s.text = string(d.text[from:offset])
	}
	s.names, s.fresh = g.special(d, s, tokens)
	return s
}

// head is how many of the tokens are the head of a module or reward structure, once it
// is complete.
func (d *document) head(tokens []lexeme) int {
	switch n := len(tokens); {
	case n == 3 && d.is(tokens[0], "module") && !d.is(tokens[2], "="):
		return 2
	case n == 2 && d.is(tokens[0], "rewards") && !d.is(tokens[1], `"`):
		return 1
	case n == 4 && d.is(tokens[0], "rewards"):
		return 4
	}
	return 0
}

// special is what can stand where the grammar knows no more than that it is a name.
func (g *group) special(d *document, s partial, tokens []lexeme) (names []Completion, fresh bool) {
	if len(tokens) == 0 {
		return nil, s.before == "module m "
	}
	last := d.word(tokens[len(tokens)-1])
	quotes := 0
	for _, t := range tokens {
		if d.is(t, `"`) {
			quotes++
		}
	}
	give := func(kinds ...Kind) []Completion { return append([]Completion{}, g.completions(d, kinds...)...) }
	first := d.word(tokens[0])
	switch {
	case last == `"` && quotes%2 == 1:
		switch {
		case len(tokens) == 1 && s.props || first == "label" || first == "rewards" || first == "observable" || first == "system":
			if len(tokens) <= 2 && first != `"` {
				return []Completion{}, true
			}
		case len(tokens) > 1 && d.is(tokens[len(tokens)-2], "{"):
			return give(RewardStruct), false
		}
		out := give(Label, Property)
		if s.props {
			out = append(out, Completion{Text: "deadlock", Kind: Label}, Completion{Text: "init", Kind: Label})
		}
		return out, false
	case last == "[" && len(tokens) == 1 && s.before != "":
		return give(Action), false
	case first == "module" && len(tokens) == 3:
		return give(Module), false
	case first == "module" && len(tokens) > 3 && (last == "[" || last == ","):
		return give(Variable, Action, Constant), false
	case len(tokens) < 3 && slices.Contains([]string{"const", "formula", "module", "global"}, first),
		len(tokens) == 2 && first == "const":
		return nil, true
	}
	return nil, false
}

// accepts reports whether the statement can go on with a word.
func (s partial) accepts(word string) bool {
	text := s.before + s.text + " " + word
	var err error
	if s.props {
		_, err = syntax.ParseProperties("x.props", []byte(text))
	} else {
		_, err = syntax.ParseModel("x.prism", []byte(text))
	}
	list, ok := err.(syntax.ErrorList)
	if !ok {
		return err == nil
	}
	return !slices.ContainsFunc(list, func(e *syntax.Error) bool { return !strings.Contains(e.Msg, "found end of file") })
}

// keywords are those that may be completed.
func keywords(props bool) []string {
	words := []string{"true", "false", "min", "max", "floor", "ceil", "round", "pow", "mod", "log", "const", "int", "double", "bool", "label"}
	if props {
		return append(words, "P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "A", "E", "filter", "multi", "X", "F", "G", "U", "W", "C", "I")
	}
	return append(
		words, "dtmc", "mdp", "ctmc", "pta", "pomdp", "popta", "formula", "global", "module", "endmodule", "rewards", "endrewards",
		"init", "endinit", "invariant", "endinvariant", "system", "endsystem", "clock", "observable", "observables", "endobservables",
	)
}
