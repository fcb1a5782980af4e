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
	owner, doc := f.group(name)
	if doc == nil || len(doc.text) > MaxText {
		return offset, nil
	}
	doc.parse()
	offset = min(max(offset, 0), len(doc.text))
	for from = offset; from > 0 && isWordByte(doc.text[from-1]); {
		from--
	}
	if doc.isInComment(from) {
		return from, nil
	}
	statement := owner.statementAt(doc, from)
	if statement.names != nil {
		return from, statement.names
	}
	for _, word := range keywords(doc.isProps()) {
		if statement.accepts(word) {
			completions = append(completions, Completion{Text: word})
		}
	}
	if !statement.declares && statement.accepts("a_name") {
		completions = append(completions, owner.completions(doc, statement.kinds...)...)
	}
	if !doc.isProps() && statement.accepts("a_name'") {
		for _, completion := range owner.completions(doc, Variable) {
			completion.Text += "'"
			completions = append(completions, completion)
		}
	}
	slices.SortStableFunc(completions, func(left, right Completion) int { return strings.Compare(left.Text, right.Text) })
	return from, slices.Compact(completions)
}

// isInComment reports whether an offset is in a comment: after its first character, and not after the end of its line.
func (d *document) isInComment(offset int) bool {
	i := d.lexemeFrom(offset - 1)
	if offset == 0 || i == len(d.lexemes()) {
		return false
	}
	found := d.lexemes()[i]
	return found.class == syntax.Comment && int(found.from) < offset && offset <= int(found.to)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// completions returns the names of the given kinds that are used or declared in a document or its model.
func (g *group) completions(current *document, kinds ...Kind) []Completion {
	var found []Completion
	seen := make(map[string]bool)
	for _, doc := range g.docs() {
		if doc.isProps() && doc != current {
			continue
		}
		for _, nameUse := range g.uses()[doc] {
			if nameUse.decl == nil || seen[nameUse.name] || !slices.Contains(kinds, nameUse.decl.kind) {
				continue
			}
			seen[nameUse.name] = true
			found = append(found, Completion{Text: nameUse.name, Kind: nameUse.decl.kind, Detail: brief(declarationText(nameUse.decl))})
		}
	}
	return found
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
func (g *group) statementAt(doc *document, offset int) partial {
	scanner := statementScanner{d: doc}
	for _, token := range doc.lexemes() {
		if int(token.from) >= offset {
			break
		}
		if token.class != syntax.Comment {
			scanner.add(token)
		}
	}
	statement := partial{dialect: doc.dialect, isProps: doc.isProps(), before: scanner.before(), kinds: []Kind{Constant, Formula, Variable}}
	tokens := scanner.tokens
	if len(tokens) > 0 {
		from := int(tokens[0].from)
		if offset-from > maxStatement {
			statement.names = []Completion{}
			return statement
		}
		statement.text = string(doc.text[from:offset])
	}
	statement.names, statement.declares = g.specialCompletions(doc, statement, tokens)
	return statement
}

// statementScanner reads the tokens of a document from its start, and keeps those of the statement that it is in.
type statementScanner struct {
	d            *document
	tokens       []lexeme // of the current statement
	block        string   // "module" or "rewards" inside of one, else ""
	afterCommand bool     // whether the module has a command or an invariant already, so that it can declare no more variables
}

// add reads a token.
func (s *statementScanner) add(token lexeme) {
	doc := s.d
	s.tokens = append(s.tokens, token)
	switch {
	case doc.is(token, ";"):
		s.tokens = s.tokens[:0]
	case doc.isProps():
	case doc.is(token, "module") || doc.is(token, "rewards"):
		s.block, s.afterCommand = doc.word(token), false
	case doc.is(token, "endinvariant"):
		s.afterCommand = s.block == "module"
		s.tokens = s.tokens[:0]
	case doc.is(token, "->"):
		s.afterCommand = s.block == "module"
	case token.class == syntax.Keyword && strings.HasPrefix(doc.word(token), "end"):
		s.block, s.tokens = "", s.tokens[:0]
	}
	if s.block != "" {
		s.tokens = s.tokens[s.headLength():]
	}
}

// headLength returns the number of tokens in the complete head of a module or reward structure; 0 if the tokens do not start with one.
func (s *statementScanner) headLength() int {
	switch numTokens := len(s.tokens); {
	case numTokens == 3 && s.startsWith("module") && !s.d.is(s.tokens[2], "="):
		return 2
	case numTokens == 2 && s.startsWith("rewards") && !s.d.is(s.tokens[1], `"`):
		return 1
	case numTokens == 4 && s.startsWith("rewards"):
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

// specialCompletions returns the completions where the grammar says only that a name must follow, and whether that is the name of a new declaration.
// tokens are the tokens of the statement. At other positions it returns no completions (nil).
func (g *group) specialCompletions(doc *document, statement partial, tokens []lexeme) (names []Completion, declares bool) {
	if len(tokens) == 0 {
		return nil, statement.before == "module m "
	}
	first, last := doc.word(tokens[0]), doc.word(tokens[len(tokens)-1])
	ofKinds := func(kinds ...Kind) []Completion { return append([]Completion{}, g.completions(doc, kinds...)...) }
	switch {
	case last == `"` && doc.isQuoteOpen(tokens):
		return g.quotedCompletions(doc, tokens)
	case last == "[" && len(tokens) == 1 && statement.before != "":
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
	for _, token := range tokens {
		if d.is(token, `"`) {
			isOpen = !isOpen
		}
	}
	return isOpen
}

// quotedCompletions returns the completions after a double quote, the last token of a statement. declares says that the quotes contain the name of a
// new declaration.
func (g *group) quotedCompletions(doc *document, tokens []lexeme) (names []Completion, declares bool) {
	names = []Completion{}
	declarers := []string{"label", "rewards", "observable", "system"}
	switch {
	case len(tokens) == 2 && slices.Contains(declarers, doc.word(tokens[0])):
		return names, true
	case len(tokens) > 1 && doc.is(tokens[len(tokens)-2], "{"):
		return append(names, g.completions(doc, RewardStruct)...), false
	}
	names = append(names, g.completions(doc, Label, Property)...)
	if doc.isProps() {
		names = append(names, Completion{Text: "deadlock", Kind: Label}, Completion{Text: "init", Kind: Label})
	}
	return names, false
}

// accepts reports whether the statement can continue with a word: the parser finds no error in the statement and the word, except that the text ends.
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
	isOtherError := func(problem *syntax.Error) bool { return !strings.Contains(problem.Msg, "found end of file") }
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
