package syntax

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

const (
	// maxErrors is the number of diagnostics after which a file is given up.
	maxErrors = 10
	// maxNesting bounds the recursion of the parser: brackets, prefix
	// operators and right-associative operators inside each other.
	maxNesting = 10_000
	// maxHeight bounds the height of an expression, so that recursion over a
	// tree is safe for any reader of it. A chain a|b|c|… is as high as it is long.
	maxHeight = 100_000
	// maxSkip is the number of bytes after which the search for a place to go
	// on is given up.
	maxSkip = 1 << 16
)

// ParseModel parses a model file. The name only appears in errors, which are
// an ErrorList with at most ten entries; the first one is where PRISM 4.10
// reports its syntax error. The model is nil if there is any error.
//
// The grammar is all that is checked: two model types, two init blocks,
// unknown names and wrong types are left to package sema.
func ParseModel(file string, src []byte) (*Model, error) { return ParseModelOf(PRISM, file, src) }

// ParseModelOf parses a model file of a dialect. In Storm's the words that only PRISM reserves
// are names, and labels and observables need no quotes. What only Storm's dialect accepts has an
// error that says so.
func ParseModelOf(dialect Dialect, file string, src []byte) (*Model, error) {
	m, err := parseModel(dialect, file, src)
	if errs, ok := err.(ErrorList); ok && dialect == PRISM {
		if _, other := parseModel(Storm, file, src); other == nil {
			return nil, onlyStorm(errs)
		}
	}
	return m, err
}

func parseModel(dialect Dialect, file string, src []byte) (*Model, error) {
	p, err := newParser(dialect, file, src, false)
	if err != nil {
		return nil, err
	}
	m := p.model()
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// onlyStorm adds a note to errors in PRISM's dialect that Storm's dialect accepts.
func onlyStorm(errs ErrorList) ErrorList {
	hinted := *errs[0]
	hinted.Msg += "; Storm's dialect accepts it (--dialect storm)"
	return append(ErrorList{&hinted}, errs[1:]...)
}

// ParsePart is ParseFile for a text that is being edited: after errors there is still a tree,
// without the parts with errors. The error is that of ParseFile.
func ParsePart(dialect Dialect, name string, src []byte) (Node, error) {
	props := IsProperties(name, src)
	p, err := newParser(dialect, name, src, props)
	if err != nil {
		return &Model{File: name}, err
	}
	var n Node
	if props {
		n = p.properties()
	} else {
		n = p.model()
	}
	if err = p.errs.Err(); err != nil { // with what else ParseFile says of it
		_, err = ParseFile(dialect, name, src)
	}
	return n, err
}

// TimeRewards is the name of the reward structure for which Storm's operator T is an R operator:
// it earns 1 in every state. A reader of Storm's dialect adds it to the model.
const TimeRewards = "time_of_operator_T"

// ParsePropertiesOf parses a properties file of a dialect. In Storm's there are, besides
// PRISM's, the operator T, bounds on rewards and steps, F^{rew{"r"}<=b,steps<=k}, F{"r"}<=b or
// Fsteps<=k, minima and maxima with bounds, Pmax>=p, and Smin and Smax, or LRA, LRAmin and
// LRAmax, as R [ LRA ] is R [ S ].
// What only Storm's dialect accepts has an error that says so.
func ParsePropertiesOf(dialect Dialect, file string, src []byte) (*Properties, error) {
	ps, err := parseProperties(dialect, file, src)
	if errs, ok := err.(ErrorList); ok && dialect == PRISM {
		if _, other := parseProperties(Storm, file, src); other == nil {
			return nil, onlyStorm(errs)
		}
	}
	return ps, err
}

// ParseProperties parses a properties file. Semicolons between properties are
// optional, as in PRISM: each property extends as far as it can, so that N and
// -N on two lines are the one property N-N. Errors are as for ParseModel.
func ParseProperties(file string, src []byte) (*Properties, error) {
	return ParsePropertiesOf(PRISM, file, src)
}

func parseProperties(dialect Dialect, file string, src []byte) (*Properties, error) {
	p, err := newParser(dialect, file, src, true)
	if err != nil {
		return nil, err
	}
	ps := p.properties()
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return ps, nil
}

// ParseProperty parses one property with its optional name, as given on a
// command line. Semicolons may follow. Errors are as for ParseModel.
func ParseProperty(file string, src []byte) (*Property, error) {
	p, err := newParser(PRISM, file, src, true)
	if err != nil {
		return nil, err
	}
	prop := p.property()
	p.wantEOF("the end of the property")
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return prop, nil
}

// ParseExpr parses an expression of the model language, without property
// operators. Errors are as for ParseModel.
func ParseExpr(file string, src []byte) (Expr, error) {
	p, err := newParser(PRISM, file, src, false)
	if err != nil {
		return nil, err
	}
	x := p.expr(0)
	p.wantEOF("the end of the expression")
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return x, nil
}

// parser is a recursive-descent parser with one token of look-ahead. After a syntax error, bad is
// set and tok is tBad, which no construct accepts, until recover finds a place to continue. The
// functions in between return incomplete nodes, which are dropped.
type parser struct {
	s       scanner
	tok     token
	prev    token // the token before tok
	file    string
	props   bool // a properties file
	dialect Dialect
	errs    ErrorList
	bad     bool
	held    token // what tok was when bad was set
	told    bool  // the statement has its error, see begin
	halted  bool  // given up, tok is at the end of the file
	depth   int   // recursion, at most maxNesting
	height  int   // height of the expression parsed last
	lax     bool  // looking ahead, see lookahead.go
	scanned bool  // inside a stretch that PRISM has looked ahead over
	steadys map[int32]bool
	names   map[string]string
	noted   int  // offset up to which comments belong to an item
	multi   bool // the operators are objectives of multi(...)
}

func newParser(dialect Dialect, file string, src []byte, props bool) (*parser, error) {
	if len(src) >= math.MaxInt32 {
		return nil, ErrorList{{File: file, Msg: fmt.Sprintf("found %d bytes, want less than 2 GiB", len(src))}}
	}
	p := &parser{
		s:       newScanner(src, props),
		file:    file,
		props:   props,
		dialect: dialect,
		steadys: make(map[int32]bool),
		names:   make(map[string]string),
	}
	p.s.storm = dialect == Storm && !props
	p.tok = p.s.next()
	return p, nil
}

func (p *parser) advance() {
	if p.bad {
		return
	}
	p.prev = p.tok
	p.tok = p.s.next()
}

// peek returns the kind of the token after tok.
func (p *parser) peek() kind {
	ahead := p.s
	return ahead.next().kind
}

// accept steps over a token of the kind, if there is one.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// expect steps over a token of the kind or fails.
func (p *parser) expect(k kind) {
	if !p.accept(k) {
		p.unexpected(quoteText(kindTexts[k]))
	}
}

func (p *parser) wantEOF(what string) {
	if p.tok.kind != tEOF {
		p.unexpected(what)
	}
}

// span returns the extent from start to the end of the token stepped over last.
func (p *parser) span(start Pos) Span { return Span{Start: start, Stop: p.prev.endPos()} }

// text returns the text of a token, one string per spelling.
func (p *parser) text(t token) string {
	b := p.s.src[t.pos.Offset:t.end]
	if name, ok := p.names[string(b)]; ok {
		return name
	}
	name := string(b)
	p.names[name] = name
	return name
}

// doc returns the comment block directly above tok.
func (p *parser) doc() Doc {
	if p.s.block < 0 || p.bad {
		return nil
	}
	return comments(p.s.src, p.s.block, int(p.tok.pos.Offset))
}

// trailing returns the comments between the last item and tok.
func (p *parser) trailing() Doc {
	return p.trailingTo(int(p.tok.pos.Offset))
}

// trailingTo returns the comments that belong to no item yet, up to an offset.
func (p *parser) trailingTo(to int) Doc {
	var all Doc
	for _, block := range p.notes(to) {
		all = append(all, block...)
	}
	return all
}

// notes returns the comments that belong to no item yet, up to an offset: a blank
// line or a token ends a block.
func (p *parser) notes(to int) []Doc {
	var blocks []Doc
	src := p.s.src
	for from := p.noted; from < to; {
		at := bytes.Index(src[from:to], []byte("//"))
		if at < 0 {
			break
		}
		text := src[from+at+2 : to]
		if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
			text = text[:end]
		}
		if len(blocks) == 0 || len(bytes.Trim(src[from:from+at], " \t")) > 0 {
			blocks = append(blocks, nil)
		}
		last := &blocks[len(blocks)-1]
		*last = append(*last, commentText(text))
		if from += at + 2 + len(text); from < to && src[from] == '\r' && from+1 < to && src[from+1] == '\n' {
			from++
		}
		from++
	}
	return blocks
}

// head is the comments above a statement and its start.
type head struct {
	doc   Doc
	notes Notes
	start Pos
}

// begin starts a statement: a text that ends with a semicolon, or the head of a block.
func (p *parser) begin() head {
	p.told = false
	h := head{doc: p.doc(), start: p.tok.pos}
	if p.bad {
		return h
	}
	to := int(p.tok.pos.Offset)
	if p.s.block >= 0 {
		to = p.s.block
	}
	h.notes.Detached = p.notes(to)
	p.noted = int(p.tok.pos.Offset)
	return h
}

// finish ends a statement. It returns the extent and all comments: above, between its tokens, and
// after it on the line.
func (p *parser) finish(h head) (Notes, Span) {
	if p.bad {
		return h.notes, p.span(h.start)
	}
	p.inside(&h)
	h.notes.Behind = p.behind()
	return h.notes, p.span(h.start)
}

// inside keeps the comments between the tokens of a statement, up to the token
// stepped over last.
func (p *parser) inside(h *head) {
	if inside := p.trailingTo(int(p.prev.end)); inside != nil && !p.bad {
		h.notes.Detached = append(h.notes.Detached, inside)
	}
}

// behind returns the comment after the last token on its line, unless it belongs to the block
// above tok.
func (p *parser) behind() Doc {
	if p.bad {
		return nil
	}
	p.noted = max(p.noted, int(p.prev.end))
	line := p.s.src[p.noted:p.tok.pos.Offset]
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	at := bytes.Index(line, []byte("//"))
	if at < 0 || p.s.block == p.noted+at && p.tok.kind != tEOF {
		return nil
	}
	p.noted += len(line)
	return Doc{commentText(line[at+2:])}
}

// unexpected reports a syntax error at tok; want says what was expected.
func (p *parser) unexpected(want string) {
	if p.bad || p.lax {
		p.fail(Pos{}, "")
		return
	}
	p.unexpectedHint(want, p.hint())
}

func (p *parser) unexpectedHint(want, hint string) {
	msg := "found " + describe(p.s.src, p.tok) + ", want " + want
	if hint != "" {
		msg += "; " + hint
	}
	p.fail(p.errorPos(p.tok), msg)
}

// errorPos returns the position that PRISM reports for a token: for the end of the file that is
// its last character.
func (p *parser) errorPos(t token) Pos {
	if t.kind != tEOF {
		return t.pos
	}
	return lastPos(p.s.src)
}

// fail reports a syntax error and stops the construct that is being parsed.
func (p *parser) fail(pos Pos, msg string) {
	if p.bad {
		return
	}
	p.bad, p.held = true, p.tok
	p.tok.kind = tBad
	p.report(pos, msg)
}

// report reports an error that the parser can step over. A statement has one
// error at most.
func (p *parser) report(pos Pos, msg string) {
	if p.lax || p.told || p.halted {
		return
	}
	p.told = true
	p.errs.Add(p.file, pos, "%s", msg)
	if len(p.errs) == maxErrors {
		p.halt()
	}
}

// halt gives up the rest of the file.
func (p *parser) halt() {
	p.halted = true
	p.s.off = len(p.s.src)
}

// recover ends a failed construct. It skips to the next semicolon if semi is set, or to one of the
// given kinds, or to the start of an item. If the error is a semicolon in the middle of a line,
// the rest of the line belongs to the construct.
func (p *parser) recover(semi bool, stops ...kind) {
	p.bad, p.tok = false, p.held
	if p.halted {
		p.tok.kind = tEOF
	}
	if semi && p.tok.kind == tSemi {
		p.advance()
		if p.tok.pos.Line > p.prev.pos.Line {
			return
		}
	}
	for start := p.tok.pos.Offset; p.tok.kind != tEOF && !p.atItem() && !slices.Contains(stops, p.tok.kind); p.advance() {
		if semi && p.tok.kind == tSemi {
			for p.accept(tSemi) {
			}
			return
		}
		if p.tok.pos.Offset-start > maxSkip {
			p.halt()
		}
	}
}

// atItem reports whether tok is a keyword that starts an item and nothing else
// and stands where items start, so that parsing can go on there.
func (p *parser) atItem() bool {
	fresh := p.tok.pos.Line > p.prev.pos.Line || p.prev.kind == tSemi || kwEndinit <= p.prev.kind && p.prev.kind <= kwEndsystem
	if !fresh {
		return false
	}
	switch p.tok.kind {
	case kwConst, kwLabel:
		return true
	case kwFormula, kwGlobal, kwModule, kwRewards, kwObservable, kwObservables, kwSystem:
		return !p.props
	}
	return false
}

// mark is a place to come back to.
type mark struct {
	s             scanner
	tok, prev     token
	bad           bool
	held          token
	depth, height int
	lax           bool
}

func (p *parser) mark() mark {
	return mark{p.s, p.tok, p.prev, p.bad, p.held, p.depth, p.height, p.lax}
}

func (p *parser) reset(m mark) {
	p.s, p.tok, p.prev, p.bad, p.held, p.depth, p.height, p.lax = m.s, m.tok, m.prev, m.bad, m.held, m.depth, m.height, m.lax
	if p.halted {
		p.halt()
	}
}

// push enters one level of nesting; the caller leaves it with p.depth--.
func (p *parser) push() bool {
	if p.depth >= maxNesting {
		p.fail(p.errorPos(p.tok), fmt.Sprintf("nested more than %d deep", maxNesting))
		return false
	}
	p.depth++
	return true
}

// grow sets height for a node whose children have height p.height and h.
func (p *parser) grow(h int) {
	p.height = max(p.height, h) + 1
	if p.height > maxHeight {
		p.fail(p.errorPos(p.tok), fmt.Sprintf("the expression has more than %d operators in a row", maxHeight))
	}
}

// ident parses an identifier.
func (p *parser) ident(what string) *Ident {
	id := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
	if !p.accept(tIdent) {
		p.unexpected(what)
	}
	return id
}

// name parses an identifier that is being declared or that labels something. A
// keyword in its place is an error that does not stop the construct.
func (p *parser) name(what string) *Ident {
	if k := p.tok.kind; k.isKeyword() && !structural(k) && !p.lax {
		id := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
		p.report(p.tok.pos, fmt.Sprintf("found keyword %q, want %s; PRISM reserves %q", id.Name, what, id.Name))
		p.advance()
		return id
	}
	return p.ident(what)
}

// structural reports whether a keyword more likely belongs to the following text than to a name in
// the wrong place.
func structural(k kind) bool {
	switch k {
	case kwInt, kwBool, kwDouble, kwClock, kwConst, kwInit, kwInvariant, kwFormula, kwLabel, kwGlobal, kwModule, kwRewards,
		kwObservable, kwObservables, kwSystem, kwEndinit, kwEndinvariant, kwEndmodule, kwEndobservables, kwEndrewards, kwEndsystem:
		return true
	}
	return false
}

// quotedName parses a name in double quotes.
func (p *parser) quotedName(what string) *Ident {
	p.expect(tQuote)
	id := p.name(what)
	p.expect(tQuote)
	return id
}

// lastPos returns the position of the last character of the text, 1:1 if it is empty.
func lastPos(src []byte) Pos {
	s := newScanner(src, false)
	pos := Pos{Line: 1, Col: 1}
	for s.off < len(src) {
		pos = Pos{Offset: int32(s.off), Line: s.line, Col: int32(s.off-s.lineOff) + 1}
		if c := src[s.off]; c == '\n' || c == '\r' && s.at(s.off+1) != '\n' {
			s.newline()
			continue
		}
		_, size := utf8.DecodeRune(src[s.off:])
		s.off += size
	}
	return pos
}
