package editor

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Completion is a word that can be inserted.
type Completion struct {
	Text   string
	Kind   Kind   // NoKind for a keyword
	Detail string // the declaration of a name
}

// Complete returns the words that can replace the word that ends at an offset of the named file, sorted, and the offset where that word starts.
// The words are the declared names, and the keywords that the grammar allows there.
func (f *Files) Complete(name string, offset int) (from int, completions []Completion) {
	g, d := f.group(name)
	if d == nil || len(d.text) > MaxText {
		return offset, nil
	}
	d.parse()
	offset = min(max(offset, 0), len(d.text))
	for from = offset; from > 0 && isWordByte(d.text[from-1]); {
		from--
	}
	if d.isInComment(from) {
		return from, nil
	}
	s := g.statementAt(d, from)
	if s.names != nil {
		return from, s.names
	}
	for _, word := range keywords(d.isProps()) {
		if s.accepts(word) {
			completions = append(completions, Completion{Text: word})
		}
	}
	if !s.declares && s.accepts("a_name") {
		completions = append(completions, g.completions(d, s.kinds...)...)
	}
	if !d.isProps() && s.accepts("a_name'") {
		for _, c := range g.completions(d, Variable) {
			c.Text += "'"
			completions = append(completions, c)
		}
	}
	slices.SortStableFunc(completions, func(a, b Completion) int { return strings.Compare(a.Text, b.Text) })
	return from, slices.Compact(completions)
}

// isInComment reports whether an offset is behind the first character of a comment, and not behind its line.
func (d *document) isInComment(offset int) bool {
	i := d.lexemeFrom(offset - 1)
	if offset == 0 || i == len(d.lexemes()) {
		return false
	}
	l := d.lexemes()[i]
	return l.class == syntax.Comment && int(l.from) < offset && offset <= int(l.to)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// completions returns the names of the given kinds that are used or declared in a document or its model.
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

// partial is the beginning of a statement, up to the position of the completion.
type partial struct {
	dialect  syntax.Dialect
	isProps  bool
	before   string // a valid text that the parser needs in front of the statement
	text     string
	declares bool         // a name at the position declares something new
	kinds    []Kind       // of the names that can be used at the position
	names    []Completion // if not nil, the only completions
}

// maxStatement is the largest statement, in bytes, that is completed by the grammar.
const maxStatement = 1 << 14

// statementAt returns the beginning of the statement at an offset.
func (g *group) statementAt(d *document, offset int) partial {
	scanner := statementScanner{d: d}
	for _, l := range d.lexemes() {
		if int(l.from) >= offset {
			break
		}
		if l.class != syntax.Comment {
			scanner.add(l)
		}
	}
	s := partial{dialect: d.dialect, isProps: d.isProps(), before: scanner.before(), kinds: []Kind{Constant, Formula, Variable}}
	tokens := scanner.tokens
	if len(tokens) > 0 {
		from := int(tokens[0].from)
		if offset-from > maxStatement {
			s.names = []Completion{}
			return s
		}
		s.text = string(d.text[from:offset])
	}
	s.names, s.declares = g.specialCompletions(d, s, tokens)
	return s
}

// statementScanner reads the tokens of a document from its start, and keeps those of the statement that it is in.
type statementScanner struct {
	d            *document
	tokens       []lexeme // of the current statement
	block        string   // "module" or "rewards" inside of one, else ""
	afterCommand bool     // whether the module has a command or an invariant already, so that it can declare no more variables
}

// add reads a token.
func (s *statementScanner) add(l lexeme) {
	d := s.d
	s.tokens = append(s.tokens, l)
	switch {
	case d.is(l, ";"):
		s.tokens = s.tokens[:0]
	case d.isProps():
	case d.is(l, "module") || d.is(l, "rewards"):
		s.block, s.afterCommand = d.word(l), false
	case d.is(l, "endinvariant"):
		s.afterCommand = s.block == "module"
		s.tokens = s.tokens[:0]
	case d.is(l, "->"):
		s.afterCommand = s.block == "module"
	case l.class == syntax.Keyword && strings.HasPrefix(d.word(l), "end"):
		s.block, s.tokens = "", s.tokens[:0]
	}
	if s.block != "" {
		s.tokens = s.tokens[s.headLength():]
	}
}

// headLength returns the number of tokens in the complete head of a module or reward structure; 0 if the tokens do not start with one.
func (s *statementScanner) headLength() int {
	switch n := len(s.tokens); {
	case n == 3 && s.startsWith("module") && !s.d.is(s.tokens[2], "="):
		return 2
	case n == 2 && s.startsWith("rewards") && !s.d.is(s.tokens[1], `"`):
		return 1
	case n == 4 && s.startsWith("rewards"):
		return 4
	}
	return 0
}

func (s *statementScanner) startsWith(text string) bool {
	return len(s.tokens) > 0 && s.d.is(s.tokens[0], text)
}

// before returns a valid text after which the parser accepts the current statement.
func (s *statementScanner) before() string {
	isHead := s.startsWith(s.block)
	switch {
	case isHead || s.block == "":
		return ""
	case s.block == "rewards":
		return "rewards "
	case s.afterCommand && s.followsCommand():
		return "module m [] true -> true; "
	}
	return "module m "
}

// followsCommand reports whether the current statement of a module is behind a command. If it has an arrow, it may be the command that made
// afterCommand true; only the label in brackets at its start shows that it is a command of its own.
func (s *statementScanner) followsCommand() bool {
	hasArrow := slices.ContainsFunc(s.tokens, func(l lexeme) bool { return s.d.is(l, "->") })
	return !hasArrow || s.startsWith("[")
}

// specialCompletions returns the completions at positions where the grammar knows only that there must be a name, and whether the name is a new
// one. tokens are those of the statement. At other positions the completions are nil.
func (g *group) specialCompletions(d *document, s partial, tokens []lexeme) (names []Completion, declares bool) {
	if len(tokens) == 0 {
		return nil, s.before == "module m "
	}
	first, last := d.word(tokens[0]), d.word(tokens[len(tokens)-1])
	ofKinds := func(kinds ...Kind) []Completion { return append([]Completion{}, g.completions(d, kinds...)...) }
	switch {
	case last == `"` && d.isQuoteOpen(tokens):
		return g.quotedCompletions(d, tokens)
	case last == "[" && len(tokens) == 1 && s.before != "":
		return ofKinds(Action), false
	case first == "module" && len(tokens) == 3:
		return ofKinds(Module), false
	case first == "module" && len(tokens) > 3 && (last == "[" || last == ","):
		return ofKinds(Variable, Action, Constant), false
	}
	isDeclaration := slices.Contains([]string{"const", "formula", "module", "global"}, first)
	return nil, isDeclaration && len(tokens) <= 2
}

// isQuoteOpen reports whether the tokens have an odd number of double quotes.
func (d *document) isQuoteOpen(tokens []lexeme) bool {
	isOpen := false
	for _, l := range tokens {
		if d.is(l, `"`) {
			isOpen = !isOpen
		}
	}
	return isOpen
}

// quotedCompletions returns the completions behind a double quote, which is the last of the tokens of a statement, and whether the quoted name is
// a new one.
func (g *group) quotedCompletions(d *document, tokens []lexeme) (names []Completion, declares bool) {
	names = []Completion{}
	declarers := []string{"label", "rewards", "observable", "system"}
	switch {
	case len(tokens) == 2 && slices.Contains(declarers, d.word(tokens[0])):
		return names, true
	case len(tokens) > 1 && d.is(tokens[len(tokens)-2], "{"):
		return append(names, g.completions(d, RewardStruct)...), false
	}
	names = append(names, g.completions(d, Label, Property)...)
	if d.isProps() {
		names = append(names, Completion{Text: "deadlock", Kind: Label}, Completion{Text: "init", Kind: Label})
	}
	return names, false
}

// accepts reports whether the statement can continue with a word: the parser finds no error in both together, except that the text ends.
func (s partial) accepts(word string) bool {
	text := s.before + s.text + " " + word
	var err error
	if s.isProps {
		_, err = syntax.ParsePropertiesOf(s.dialect, "x.props", []byte(text))
	} else {
		_, err = syntax.ParseModelOf(s.dialect, "x.prism", []byte(text))
	}
	list, ok := err.(syntax.ErrorList)
	if !ok {
		return err == nil
	}
	isOtherError := func(e *syntax.Error) bool { return !strings.Contains(e.Msg, "found end of file") }
	return !slices.ContainsFunc(list, isOtherError)
}

// keywords returns the keywords that completion offers.
func keywords(isProps bool) []string {
	words := []string{"true", "false", "min", "max", "floor", "ceil", "round", "pow", "mod", "log", "const", "int", "double", "bool", "label"}
	if isProps {
		return append(words, "P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "A", "E", "filter", "multi", "multilex", "quantile", "X", "F", "G", "U", "W", "C", "Cdiscount", "discount", "I")
	}
	return append(
		words, "dtmc", "mdp", "ctmc", "pta", "pomdp", "popta", "formula", "global", "module", "endmodule", "rewards", "endrewards",
		"init", "endinit", "invariant", "endinvariant", "system", "endsystem", "clock", "observable", "observables", "endobservables",
	)
}
