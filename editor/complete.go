package editor

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Completion is a word that can be inserted.
type Completion struct {
	Text   string
	Kind   Kind // NoKind for a keyword
	Detail string
}

// Complete returns the words that can replace the word that ends at an offset, sorted, and the
// offset where that word starts. The words are the declared names and the keywords with which the
// statement can continue according to the grammar.
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
	s := g.statementAt(d, from)
	if s.names != nil {
		return from, s.names
	}
	for _, word := range keywords(d.isProps()) {
		if s.accepts(word) {
			found = append(found, Completion{Text: word})
		}
	}
	if !s.fresh && s.accepts("a_name") {
		found = append(found, g.completions(d, s.kinds...)...)
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

// completions returns the declared names of the given kinds.
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

// partial is the beginning of a statement, up to the place of the completion.
type partial struct {
	props  bool
	before string // a valid text in front of the statement
	text   string
	fresh  bool         // a name here declares something new
	kinds  []Kind       // of names that can be used here
	names  []Completion // if not nil, the only completions
}

// maxStatement is the largest statement, in bytes, that is completed by the grammar.
const maxStatement = 1 << 14

// statementAt returns the statement at an offset.
func (g *group) statementAt(d *document, offset int) partial {
	end := d.lexemeFrom(offset)
	for end > 0 && int(d.lexemes()[end-1].from) >= offset {
		end--
	}
	var tokens []lexeme
	block, afterCommand := "", false
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
			block, afterCommand = d.word(l), false
		case l.class == syntax.Keyword && strings.HasPrefix(d.word(l), "end") && !d.is(l, "endinvariant"):
			block, tokens = "", tokens[:0]
		case d.is(l, "->") || d.is(l, "endinvariant"):
			afterCommand = block == "module"
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
	s := partial{props: d.isProps(), kinds: []Kind{Constant, Formula, Variable}}
	switch {
	case block == "module" && (len(tokens) == 0 || !d.is(tokens[0], "module")):
		s.before = "module m "
		if afterCommand && (len(tokens) == 0 || !slices.ContainsFunc(tokens, func(l lexeme) bool { return d.is(l, "->") }) || d.is(tokens[0], "[")) {
			s.before = "module m [] true -> true; "
		}
	case block == "rewards" && (len(tokens) == 0 || !d.is(tokens[0], "rewards")):
		s.before = "rewards "
	}
	if len(tokens) > 0 {
		from := int(tokens[0].from)
		if offset-from > maxStatement {
			s.names = []Completion{}
			return s
		}
		s.text = string(d.text[from:offset])
	}
	s.names, s.fresh = g.specialPlaces(d, s, tokens)
	return s
}

// head returns the number of tokens in the complete head of a module or reward structure; 0 if the
// tokens do not start with one.
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

// specialPlaces returns the completions where the grammar only knows that a name is required, and
// whether the name is a new one.
func (g *group) specialPlaces(d *document, s partial, tokens []lexeme) (names []Completion, fresh bool) {
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
	ofKinds := func(kinds ...Kind) []Completion { return append([]Completion{}, g.completions(d, kinds...)...) }
	first := d.word(tokens[0])
	switch {
	case last == `"` && quotes%2 == 1:
		switch {
		case len(tokens) == 1 && s.props || first == "label" || first == "rewards" || first == "observable" || first == "system":
			if len(tokens) <= 2 && first != `"` {
				return []Completion{}, true
			}
		case len(tokens) > 1 && d.is(tokens[len(tokens)-2], "{"):
			return ofKinds(RewardStruct), false
		}
		out := ofKinds(Label, Property)
		if s.props {
			out = append(out, Completion{Text: "deadlock", Kind: Label}, Completion{Text: "init", Kind: Label})
		}
		return out, false
	case last == "[" && len(tokens) == 1 && s.before != "":
		return ofKinds(Action), false
	case first == "module" && len(tokens) == 3:
		return ofKinds(Module), false
	case first == "module" && len(tokens) > 3 && (last == "[" || last == ","):
		return ofKinds(Variable, Action, Constant), false
	case len(tokens) < 3 && slices.Contains([]string{"const", "formula", "module", "global"}, first),
		len(tokens) == 2 && first == "const":
		return nil, true
	}
	return nil, false
}

// accepts reports whether the statement can continue with a word: a parser error may only be that
// the text ends.
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

// keywords returns the keywords that completion offers.
func keywords(props bool) []string {
	words := []string{"true", "false", "min", "max", "floor", "ceil", "round", "pow", "mod", "log", "const", "int", "double", "bool", "label"}
	if props {
		return append(words, "P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "A", "E", "filter", "multi", "multilex", "quantile", "X", "F", "G", "U", "W", "C", "Cdiscount", "discount", "I")
	}
	return append(
		words, "dtmc", "mdp", "ctmc", "pta", "pomdp", "popta", "formula", "global", "module", "endmodule", "rewards", "endrewards",
		"init", "endinit", "invariant", "endinvariant", "system", "endsystem", "clock", "observable", "observables", "endobservables",
	)
}
