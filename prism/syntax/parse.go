package syntax

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxErrors is the number of errors after which a parser gives up a file.
	maxErrors = 10
	// maxNesting bounds the recursion of the parser: brackets, prefix
	// operators and right-associative operators inside each other.
	maxNesting = 10_000
	// maxHeight bounds the height of an expression, so that recursive functions over a
	// tree cannot overflow the stack. A chain a|b|c|… is as high as it is long.
	maxHeight = 100_000
	// maxSkip is the number of bytes after an error in which the parser looks for a place to
	// continue.
	maxSkip = 1 << 16
)

// ParseModel parses a model file. Errors are an ErrorList with at most ten entries. The first error has the position that PRISM 4.10 reports. The
// model is nil if there is an error.
//
// ParseModel checks only the grammar. Package sema checks names, types and repeated blocks.
func ParseModel(file string, src []byte) (*Model, error) { return ParseModelOf(PRISM, file, src) }

// ParseModelOf parses a model file in a dialect. In Storm's dialect, some keywords of PRISM can be names, and labels and observables need no
// quotes. If only Storm's dialect accepts a text, the error in PRISM's dialect says so.
func ParseModelOf(dialect Dialect, file string, src []byte) (*Model, error) {
	modelParser, err := newParser(dialect, file, src, false)
	if err != nil {
		return nil, err
	}
	model := modelParser.parseModel()
	if err := modelParser.errorsWithHint(); err != nil {
		return nil, err
	}
	return model, nil
}

// errorsWithHint returns the errors of the file; nil if there are none. In PRISM's dialect it also parses the file in Storm's dialect: the first error that
// this dialect does not have says so.
func (p *parser) errorsWithHint() error {
	errs, _ := p.errs.Err().(ErrorList)
	if p.dialect != PRISM || len(errs) == 0 {
		return p.errs.Err()
	}
	stormParser, err := newParser(Storm, p.file, p.scanner.src, p.isProperties)
	if err != nil {
		return err
	}
	stormParser.maxErrors = len(p.errs) // later errors do not matter
	// Properties need no semicolon between them, so the parser may be in the next property when it finds an error in the former one, as for "pmax=?".
	if !p.isProperties {
		stormParser.lastStart = errs[len(errs)-1].Pos.Offset
	}
	stormParser.ignoresComments = true
	stormParser.parseFile()
	stormErrs, _ := stormParser.errs.Err().(ErrorList)
	return onlyStorm(errs, stormErrs)
}

// parseFile parses a model or a properties file. It leaves out items with errors.
func (p *parser) parseFile() Node {
	if p.isProperties {
		return p.parseProperties()
	}
	return p.parseModel()
}

// StormAccepts ends an error message about what Storm's dialect accepts and PRISM's does not.
const StormAccepts = "; Storm's dialect accepts it (--dialect storm)"

// onlyStorm adds to the first of some errors of PRISM's dialect that Storm's dialect does not have that it accepts the text. It adds nothing if the
// error mentions this dialect already.
func onlyStorm(errs, stormErrs ErrorList) ErrorList {
	i := 0
	for i < len(errs) && i < len(stormErrs) && *errs[i] == *stormErrs[i] {
		i++
	}
	if i == len(errs) || i < len(stormErrs) && errs[i].Pos.Compare(stormErrs[i].Pos) >= 0 || strings.Contains(errs[i].Msg, "--dialect storm") {
		return errs
	}
	first := *errs[i]
	first.Msg += StormAccepts
	errs = slices.Clone(errs)
	errs[i] = &first
	return errs
}

// ParsePart parses a file that may have errors, such as a file that is being edited. The tree has the items without errors. The error is the same
// as that of ParseFile.
func ParsePart(dialect Dialect, name string, src []byte) (Node, error) {
	fileParser, err := newParser(dialect, name, src, IsProperties(name, src))
	if err != nil {
		return &Model{File: name}, err
	}
	tree := fileParser.parseFile()
	return tree, fileParser.errorsWithHint()
}

// TimeRewards is the name of the reward structure for which Storm's operator T is an R operator:
// it earns 1 in every state. A reader of Storm's dialect adds it to the model.
const TimeRewards = "time_of_operator_T"

// ParsePropertiesOf parses a properties file in a dialect. Storm's dialect adds the operators T, Smin, Smax, LRA, LRAmin and LRAmax, reward and
// step bounds such as F^{rew{"r"}<=b}, and Pmax>=p. If only Storm's dialect accepts a text, the error in PRISM's dialect says so.
func ParsePropertiesOf(dialect Dialect, file string, src []byte) (*Properties, error) {
	propertiesParser, err := newParser(dialect, file, src, true)
	if err != nil {
		return nil, err
	}
	properties := propertiesParser.parseProperties()
	if err := propertiesParser.errorsWithHint(); err != nil {
		return nil, err
	}
	return properties, nil
}

// ParseProperties parses a properties file. Semicolons between properties are optional. As in PRISM, a property extends as far as possible, so N
// and -N on two lines are the property N-N. Errors are as for ParseModel.
func ParseProperties(file string, src []byte) (*Properties, error) {
	return ParsePropertiesOf(PRISM, file, src)
}

// UsesTime reports whether a property has Storm's operator T, the expected time.
func (p *Properties) UsesTime() bool {
	hasTimeReward := false
	Inspect(p, func(node Node) bool {
		reward, ok := node.(*Reward)
		hasTimeReward = hasTimeReward || ok && reward.IsTimeReward
		return !hasTimeReward
	})
	return hasTimeReward
}

// ParseProperty parses one property of PRISM's language with its optional name. Semicolons may follow. Errors are as for ParseModel.
func ParseProperty(file string, src []byte) (*Property, error) {
	return parsePropertyIn(PRISM, file, src)
}

// ParsePropertyOfAny parses one property whose dialect is unknown, such as the property of a stored verdict: in PRISM's dialect or, if this fails,
// in Storm's. If both fail, the error is that of PRISM's dialect.
func ParsePropertyOfAny(src []byte) (*Property, error) {
	property, err := parsePropertyIn(PRISM, "", src)
	if err == nil {
		return property, nil
	}
	if property, errOfStorm := parsePropertyIn(Storm, "", src); errOfStorm == nil {
		return property, nil
	}
	return nil, err
}

// parsePropertyIn parses one property in a dialect.
func parsePropertyIn(dialect Dialect, file string, src []byte) (*Property, error) {
	propertyParser, err := newParser(dialect, file, src, true)
	if err != nil {
		return nil, err
	}
	prop := propertyParser.parseProperty()
	propertyParser.wantEOF("the end of the property")
	if err := propertyParser.errs.Err(); err != nil {
		return nil, err
	}
	return prop, nil
}

// ParseExpr parses an expression of PRISM's language without property operators. Errors are as for ParseModel.
func ParseExpr(file string, src []byte) (Expr, error) {
	return ParseExprAt(file, src, startOfFile)
}

// ParseExprAt parses an expression, like ParseExpr, that begins at a line and column of a file. Its offsets count from the beginning of src.
func ParseExprAt(file string, src []byte, start Pos) (Expr, error) {
	exprParser, err := newParser(PRISM, file, src, false)
	if err != nil {
		return nil, err
	}
	exprParser.start = start
	exprParser.scanner = newScannerAt(src, start)
	exprParser.token = exprParser.scanner.next()
	expr := exprParser.parseExpr(modelContext)
	exprParser.wantEOF("the end of the expression")
	if err := exprParser.errs.Err(); err != nil {
		return nil, err
	}
	return expr, nil
}

// parser is a recursive-descent parser with one token of look-ahead. After a syntax error, failed is
// set and tok is tokBad, which no construct accepts, until resynchronize finds a place to continue.
// Until then parsing functions return incomplete nodes, which their callers drop.
type parser struct {
	scanner         scanner
	token           token
	previousTok     token // the token before tok
	file            string
	start           Pos  // the position of the first byte of the text
	isProperties    bool // a properties file, not a model
	dialect         Dialect
	maxErrors       int   // the number of errors after which it gives up
	lastStart       int32 // the parser gives up before a statement that starts after this offset
	errs            ErrorList
	hasFailed       bool              // a syntax error stopped the current construct
	failedAt        token             // the value of tok at that error
	hasReported     bool              // the current statement already has an error
	hasGivenUp      bool              // the parser gave up; tok is at the end of the file
	depth           int               // of recursion, at most maxNesting
	treeHeight      int               // of the syntax tree of the last parsed expression
	isLookingAhead  bool              // see lookahead.go
	operatorWord    token             // a name that may be a misspelled operator; see misspelledOperator
	isPrescanned    bool              // PRISM has already looked ahead over the text that is being parsed
	startsOperator  map[int32]bool    // by offset in the text: the answers of canParseOperator
	internedTexts   map[string]string // one string per spelling of a word
	ignoresComments bool              // the syntax tree has no comments
	commentsEnd     int               // all comments before this offset belong to an item
	isInMulti       bool              // operators are objectives of multi(...)
	isInQuantile    bool              // bounds on steps can be variables of quantile(...)
}

// newParser returns a parser of a text. Its current token is the first one. A text of 2 GiB or more is an error.
func newParser(dialect Dialect, file string, src []byte, isProperties bool) (*parser, error) {
	if len(src) >= math.MaxInt32 { // positions have 32 bits
		return nil, ErrorList{{File: file, Msg: fmt.Sprintf("found %d bytes, want less than 2 GiB", len(src))}}
	}
	p := &parser{
		scanner:        newScanner(src, isProperties),
		file:           file,
		start:          startOfFile,
		isProperties:   isProperties,
		dialect:        dialect,
		maxErrors:      maxErrors,
		lastStart:      math.MaxInt32,
		startsOperator: make(map[int32]bool),
		internedTexts:  make(map[string]string),
	}
	p.scanner.stormWords = dialect == Storm && !isProperties
	p.token = p.scanner.next()
	return p, nil
}

// advance moves to the next token. After a syntax error, it does nothing until resynchronize.
func (p *parser) advance() {
	if p.hasFailed {
		return
	}
	p.previousTok = p.token
	p.token = p.scanner.next()
}

// peek returns the kind of the token after tok.
func (p *parser) peek() kind {
	ahead := p.scanner
	return ahead.next().kind
}

// accept moves past the current token if it has this kind. It returns false if it has another kind.
func (p *parser) accept(k kind) bool {
	if p.token.kind != k {
		return false
	}
	p.advance()
	return true
}

// expect moves past the current token if it has the given kind. Otherwise it reports a syntax error.
func (p *parser) expect(wanted kind) {
	if p.accept(wanted) {
		return
	}
	if wanted == tokSemicolon && p.missingAtLineEnd() {
		p.fail(p.previousTok.endPos(), `missing ";"`)
		return
	}
	p.unexpected(quoteText(kindTexts[wanted]))
}

// missingAtLineEnd reports whether a semicolon is missing at the end of a line: the current token begins a later line, and no hint explains it.
func (p *parser) missingAtLineEnd() bool {
	if p.hasFailed || p.isLookingAhead || p.token.kind == tokEOF { // PRISM would report the current token
		return false
	}
	startsLine := p.token.pos.Line > p.previousTok.pos.Line
	return startsLine && p.hint() == ""
}

// wantEOF reports a syntax error unless the text ends here; what describes the end in the message.
func (p *parser) wantEOF(what string) {
	if p.token.kind != tokEOF {
		p.unexpected(what)
	}
}

// span returns the extent from start to the end of the token stepped over last.
func (p *parser) span(start Pos) Span { return Span{Start: start, Stop: p.previousTok.endPos()} }

// tokenText returns the text of a token. Equal texts share one string.
func (p *parser) tokenText(tok token) string {
	spelling := p.scanner.src[tok.pos.Offset:tok.end]
	if shared, ok := p.internedTexts[string(spelling)]; ok {
		return shared
	}
	text := string(spelling)
	p.internedTexts[text] = text
	return text
}

// commentAbove returns the comment block directly above the current token.
func (p *parser) commentAbove() Doc {
	if p.scanner.commentBlock < 0 || p.hasFailed || p.ignoresComments {
		return nil
	}
	return comments(p.scanner.src, p.scanner.commentBlock, int(p.token.pos.Offset))
}

// remainingComments returns the comments between the last item and the current token.
func (p *parser) remainingComments() Doc {
	return p.remainingCommentsTo(int(p.token.pos.Offset))
}

// remainingCommentsTo returns the comments before an offset that belong to no item yet.
func (p *parser) remainingCommentsTo(end int) Doc {
	return slices.Concat(p.commentBlocksTo(end)...)
}

// commentBlocksTo returns the comments before the offset end that belong to no item yet. Comments on successive lines form a block. A blank line
// or a token ends a block.
func (p *parser) commentBlocksTo(end int) []Doc {
	if p.ignoresComments {
		return nil
	}
	var blocks []Doc
	text := p.scanner.src[min(p.commentsEnd, end):end]
	for {
		before, behind, isFound := bytes.Cut(text, []byte("//"))
		if !isFound {
			return blocks
		}
		comment, next := cutLine(behind)
		text = next
		startsBlock := len(bytes.Trim(before, " \t")) > 0
		if len(blocks) == 0 || startsBlock {
			blocks = append(blocks, nil)
		}
		last := &blocks[len(blocks)-1]
		*last = append(*last, commentText(comment))
	}
}

// cutLine returns the first line of a text without its line end, and the text after the line end.
func cutLine(text []byte) (line, after []byte) {
	end := 0
	for end < len(text) && !isLineEnd(text[end]) { // faster than bytes.IndexAny
		end++
	}
	if end == len(text) {
		return text, nil
	}
	line, after = text[:end], text[end:]
	if bytes.HasPrefix(after, []byte("\r\n")) {
		return line, after[2:]
	}
	return line, after[1:]
}

// statementStart holds the start of a statement and the comments above it.
type statementStart struct {
	doc      Doc
	comments Notes
	start    Pos
}

// beginStatement begins a statement, or the first line of a block of statements. It collects the comments above, and allows one error to be reported for the
// statement.
func (p *parser) beginStatement() statementStart {
	p.hasReported = false
	if p.token.pos.Offset > p.lastStart {
		p.token.kind = tokEOF
		p.halt()
	}
	statement := statementStart{doc: p.commentAbove(), start: p.token.pos}
	if p.hasFailed {
		return statement
	}
	aboveEnd := int(p.token.pos.Offset)
	if p.scanner.commentBlock >= 0 {
		aboveEnd = p.scanner.commentBlock
	}
	statement.comments.Detached = p.commentBlocksTo(aboveEnd)
	p.commentsEnd = int(p.token.pos.Offset)
	return statement
}

// finishStatement ends a statement. It returns the comments of the statement and its extent in the text.
func (p *parser) finishStatement(statement statementStart) (comments Notes, extent Span) {
	if p.hasFailed {
		return statement.comments, p.span(statement.start)
	}
	p.attachInnerComments(&statement)
	statement.comments.Behind = p.commentBehind()
	return statement.comments, p.span(statement.start)
}

// attachInnerComments adds the comments between the tokens of a statement to the comments of the statement.
func (p *parser) attachInnerComments(statement *statementStart) {
	if inside := p.remainingCommentsTo(int(p.previousTok.end)); inside != nil && !p.hasFailed {
		statement.comments.Detached = append(statement.comments.Detached, inside)
	}
}

// commentBehind returns the comment after the previous token on the same line. It returns nil if the comment begins the block above the next
// token.
func (p *parser) commentBehind() Doc {
	if p.hasFailed || p.ignoresComments {
		return nil
	}
	p.commentsEnd = max(p.commentsEnd, int(p.previousTok.end))
	before, behind, isComment := bytes.Cut(p.scanner.src[p.commentsEnd:p.token.pos.Offset], []byte("//"))
	if !isComment || bytes.ContainsAny(before, "\r\n") {
		return nil
	}
	start := p.commentsEnd + len(before)
	startsNextBlock := p.scanner.commentBlock == start && p.token.kind != tokEOF
	if startsNextBlock {
		return nil
	}
	comment, _ := cutLine(behind)
	p.commentsEnd = start + len("//") + len(comment)
	return Doc{commentText(comment)}
}

// unexpected reports a syntax error at the current token, with a hint on its cause if one is known. wanted describes the expected text.
func (p *parser) unexpected(wanted string) {
	if p.hasFailed || p.isLookingAhead {
		p.fail(Pos{}, "")
		return
	}
	if operator := p.misspelledOperator(); operator != "" {
		p.fail(p.operatorWord.pos, fmt.Sprintf("found %s, want the operator %s", describe(p.scanner.src, p.operatorWord), operator))
		return
	}
	p.unexpectedHint(wanted, p.hint())
}

// unexpectedHint reports the current token as a syntax error. want describes the expected text. hint says how to correct the error.
func (p *parser) unexpectedHint(want, hint string) {
	message := "found " + describe(p.scanner.src, p.token) + ", want " + want
	if hint != "" {
		message += "; " + hint
	}
	p.fail(p.errorPos(p.token), message)
}

// errorPos returns the position at which PRISM reports an unexpected token. For the end of the file, this is the last character.
func (p *parser) errorPos(tok token) Pos {
	if tok.kind != tokEOF {
		return tok.pos
	}
	return lastPos(p.scanner.src, p.start)
}

// fail reports a syntax error. From then on, the parser accepts no token until resynchronize is called.
func (p *parser) fail(pos Pos, message string) {
	if p.hasFailed {
		return
	}
	p.hasFailed, p.failedAt = true, p.token
	p.token.kind = tokBad
	p.reportError(pos, message)
}

// reportError records an error, and the parser continues. It records only the first error of a statement. After p.maxErrors errors, it stops the
// parser.
func (p *parser) reportError(pos Pos, message string) {
	if p.isLookingAhead || p.hasReported || p.hasGivenUp {
		return
	}
	p.hasReported = true
	p.errs.Add(p.file, pos, "%s", message)
	if len(p.errs) == p.maxErrors {
		p.halt()
	}
}

// halt gives up the remaining text.
func (p *parser) halt() {
	p.hasGivenUp = true
	p.scanner.offset = len(p.scanner.src)
}

// semicolonRule says whether resynchronize stops after the next semicolon.
type semicolonRule bool

const (
	stopAtSemicolon semicolonRule = true
	skipSemicolon   semicolonRule = false
)

// resynchronize continues the parsing after a syntax error. It skips tokens up to the start of an item, a token in stops, or the end. With
// stopAtSemicolon, it also stops after the next semicolon.
func (p *parser) resynchronize(rule semicolonRule, stops ...kind) {
	p.hasFailed, p.token = false, p.failedAt
	if p.hasGivenUp {
		p.token.kind = tokEOF
	}
	if rule == stopAtSemicolon && p.token.kind == tokSemicolon {
		p.advance()
		startsLine := p.token.pos.Line > p.previousTok.pos.Line
		if startsLine { // a wrong semicolon in the middle of a line does not end the statement
			return
		}
	}
	start := p.token.pos.Offset
	canContinue := func() bool { return p.token.kind == tokEOF || p.atItemStart() || slices.Contains(stops, p.token.kind) }
	for !canContinue() {
		if rule == stopAtSemicolon && p.token.kind == tokSemicolon {
			p.skipSemicolons()
			return
		}
		if p.token.pos.Offset-start > maxSkip {
			p.halt()
		}
		p.advance()
	}
}

// skipSemicolons moves past all semicolons that follow.
func (p *parser) skipSemicolons() {
	for p.accept(tokSemicolon) {
	}
}

// atItemStart reports whether the current token starts an item, so that the parsing can continue there after an error.
func (p *parser) atItemStart() bool {
	startsLine := p.token.pos.Line > p.previousTok.pos.Line
	isAfterItem := p.previousTok.kind == tokSemicolon || kwEndinit <= p.previousTok.kind && p.previousTok.kind <= kwEndsystem
	if !startsLine && !isAfterItem {
		return false
	}
	switch p.token.kind {
	case kwConst, kwLabel:
		return true
	case kwFormula, kwGlobal, kwModule, kwRewards, kwObservable, kwObservables, kwSystem:
		return !p.isProperties
	}
	return false
}

// parserState is a saved state of the parser.
type parserState struct {
	scanner        scanner
	token, prevTok token
	failed         bool
	failedTok      token
	depth, height  int
	lookingAhead   bool
}

// saveState returns the current state of the parser, for restoreState.
func (p *parser) saveState() parserState {
	return parserState{p.scanner, p.token, p.previousTok, p.hasFailed, p.failedAt, p.depth, p.treeHeight, p.isLookingAhead}
}

// restoreState returns the parser to a saved state. After too many errors, the parser stays at the end of the text.
func (p *parser) restoreState(state parserState) {
	p.scanner, p.token, p.previousTok = state.scanner, state.token, state.prevTok
	p.hasFailed, p.failedAt = state.failed, state.failedTok
	p.depth, p.treeHeight = state.depth, state.height
	p.isLookingAhead = state.lookingAhead
	if p.hasGivenUp {
		p.halt()
	}
}

// enterNesting counts one more level of nesting. Beyond maxNesting levels, it reports an error and returns false. Otherwise, the caller must
// decrease depth at the end of the level.
func (p *parser) enterNesting() bool {
	if p.depth >= maxNesting {
		p.fail(p.errorPos(p.token), fmt.Sprintf("nested more than %d deep", maxNesting))
		return false
	}
	p.depth++
	return true
}

// addTreeLevel adds a level to the height of the syntax tree, whose subtrees have the current height and otherHeight. More than maxHeight levels
// are an error.
func (p *parser) addTreeLevel(otherHeight int) {
	p.treeHeight = max(p.treeHeight, otherHeight) + 1
	if p.treeHeight > maxHeight {
		p.fail(p.errorPos(p.token), fmt.Sprintf("the expression has more than %d operators in a row", maxHeight))
	}
}

// parseIdent parses an identifier; what describes it in an error message.
func (p *parser) parseIdent(what string) *Ident {
	name := &Ident{Name: p.tokenText(p.token), Span: Span{p.token.pos, p.token.endPos()}}
	if !p.accept(tokIdent) {
		p.unexpected(what)
	}
	return name
}

// parseName parses the name of a declaration or an action. description says in errors what is named. A keyword instead of the name is an error, but
// the parser continues after it.
func (p *parser) parseName(description string) *Ident {
	if tokenKind := p.token.kind; tokenKind.isKeyword() && !isStructural(tokenKind) && !p.isLookingAhead {
		ident := &Ident{Name: p.tokenText(p.token), Span: Span{p.token.pos, p.token.endPos()}}
		p.reportError(p.token.pos, fmt.Sprintf("found keyword %q, want %s; PRISM reserves %q", ident.Name, description, ident.Name))
		p.advance()
		return ident
	}
	return p.parseIdent(description)
}

// isStructural reports whether a keyword is part of the structure of a model, such as module or endmodule. A user would not choose it as a name
// by mistake.
func isStructural(k kind) bool {
	switch k {
	case kwInt, kwBool, kwDouble, kwClock, kwConst, kwInit, kwInvariant, kwFormula, kwLabel, kwGlobal, kwModule, kwRewards,
		kwObservable, kwObservables, kwSystem, kwEndinit, kwEndinvariant, kwEndmodule, kwEndobservables, kwEndrewards, kwEndsystem:
		return true
	}
	return false
}

// parseQuotedName parses a name in double quotes.
func (p *parser) parseQuotedName(what string) *Ident {
	p.expect(tokQuote)
	ident := p.parseName(what)
	p.expect(tokQuote)
	return ident
}

// lastPos returns the position of the last character of a text that begins at a position. An empty text gives this position.
func lastPos(src []byte, start Pos) Pos {
	scan := newScannerAt(src, start)
	last := start
	for scan.offset < len(src) {
		last = scan.pos()
		char := src[scan.offset]
		endsLine := char == '\n' || char == '\r' && scan.byteAt(scan.offset+1) != '\n'
		if endsLine {
			scan.skipLineEnd()
			continue
		}
		_, size := utf8.DecodeRune(src[scan.offset:])
		scan.offset += size
	}
	return last
}
