package syntax

import (
	"strconv"
	"unicode/utf8"
)

// kind is the class of a token.
type kind uint8

// The keywords come last and in byte order, see keywordKind.
const (
	tokEOF     kind = iota
	tokBad          // replaces the unexpected token after a syntax error, until resynchronize
	tokIllegal      // a character that starts no token
	tokInt
	tokDouble
	tokIdent
	tokPrimedIdent

	tokNot
	tokAnd
	tokOr
	tokImplies
	tokIff
	tokArrow
	tokColon
	tokSemicolon
	tokComma
	tokDotDot
	tokLeftParen
	tokRightParen
	tokLeftBracket
	tokRightBracket
	tokDoubleLeftBracket
	tokDoubleRightBracket
	tokLeftBrace
	tokRightBrace
	tokEqual
	tokNotEqual
	tokLess
	tokGreater
	tokDoubleLess
	tokDoubleGreater
	tokLessEqual
	tokGreaterEqual
	tokPlus
	tokMinus
	tokTimes
	tokDivide
	tokPower
	tokPrime
	tokRenameArrow
	tokQuestion
	tokQuote

	kwA
	kwC
	kwE
	kwF
	kwG
	kwI
	kwP
	kwPmax
	kwPmaxmax
	kwPmaxmin
	kwPmin
	kwPminmax
	kwPminmin
	kwR
	kwRmax
	kwRmaxmax
	kwRmaxmin
	kwRmin
	kwRminmax
	kwRminmin
	kwS
	kwU
	kwW
	kwX
	kwBool
	kwClock
	kwConst
	kwCTMC
	kwDouble
	kwDTMC
	kwEndinit
	kwEndinvariant
	kwEndmodule
	kwEndobservables
	kwEndrewards
	kwEndsystem
	kwFalse
	kwFilter
	kwFormula
	kwFunc
	kwGlobal
	kwInit
	kwInt
	kwInvariant
	kwLabel
	kwMax
	kwMaxmax
	kwMaxmin
	kwMDP
	kwMin
	kwMinmax
	kwMinmin
	kwModule
	kwNondeterministic
	kwObservable
	kwObservables
	kwPOMDP
	kwPOPTA
	kwProb
	kwProbabilistic
	kwPTA
	kwRate
	kwRewards
	kwStochastic
	kwSystem
	kwTrue
	numKinds
)

// kindTexts holds the text of the kinds that have only one. It is never written.
var kindTexts = [numKinds]string{
	tokNot: "!", tokAnd: "&", tokOr: "|", tokImplies: "=>", tokIff: "<=>", tokArrow: "->", tokColon: ":", tokSemicolon: ";", tokComma: ",", tokDotDot: "..",
	tokLeftParen: "(", tokRightParen: ")", tokLeftBracket: "[", tokRightBracket: "]", tokDoubleLeftBracket: "[[", tokDoubleRightBracket: "]]", tokLeftBrace: "{", tokRightBrace: "}",
	tokEqual: "=", tokNotEqual: "!=", tokLess: "<", tokGreater: ">", tokDoubleLess: "<<", tokDoubleGreater: ">>", tokLessEqual: "<=", tokGreaterEqual: ">=",
	tokPlus: "+", tokMinus: "-", tokTimes: "*", tokDivide: "/", tokPower: "^", tokPrime: "'", tokRenameArrow: "<-", tokQuestion: "?", tokQuote: `"`,

	kwA: "A", kwC: "C", kwE: "E", kwF: "F", kwG: "G", kwI: "I",
	kwP: "P", kwPmax: "Pmax", kwPmaxmax: "Pmaxmax", kwPmaxmin: "Pmaxmin", kwPmin: "Pmin", kwPminmax: "Pminmax", kwPminmin: "Pminmin",
	kwR: "R", kwRmax: "Rmax", kwRmaxmax: "Rmaxmax", kwRmaxmin: "Rmaxmin", kwRmin: "Rmin", kwRminmax: "Rminmax", kwRminmin: "Rminmin",
	kwS: "S", kwU: "U", kwW: "W", kwX: "X",
	kwBool: "bool", kwClock: "clock", kwConst: "const", kwCTMC: "ctmc", kwDouble: "double", kwDTMC: "dtmc",
	kwEndinit: "endinit", kwEndinvariant: "endinvariant", kwEndmodule: "endmodule", kwEndobservables: "endobservables",
	kwEndrewards: "endrewards", kwEndsystem: "endsystem", kwFalse: "false", kwFilter: "filter", kwFormula: "formula", kwFunc: "func",
	kwGlobal: "global", kwInit: "init", kwInt: "int", kwInvariant: "invariant", kwLabel: "label",
	kwMax: "max", kwMaxmax: "maxmax", kwMaxmin: "maxmin", kwMDP: "mdp", kwMin: "min", kwMinmax: "minmax", kwMinmin: "minmin",
	kwModule: "module", kwNondeterministic: "nondeterministic", kwObservable: "observable", kwObservables: "observables",
	kwPOMDP: "pomdp", kwPOPTA: "popta", kwProb: "prob", kwProbabilistic: "probabilistic", kwPTA: "pta",
	kwRate: "rate", kwRewards: "rewards", kwStochastic: "stochastic", kwSystem: "system", kwTrue: "true",
}

func (k kind) isKeyword() bool { return k >= kwA }

// firstKeywords has, for each first byte of a word, the first keyword that begins with this byte or a later one. It is never written.
var firstKeywords = func() (first [257]kind) {
	keyword := kwA
	for char := range first {
		for keyword < numKinds && int(kindTexts[keyword][0]) < char {
			keyword++
		}
		first[char] = keyword
	}
	return first
}()

// keywordKind returns the kind of a keyword, or tokIdent for any other word.
func keywordKind(word []byte) kind {
	if len(word) == 0 {
		return tokIdent
	}
	for keyword := firstKeywords[word[0]]; keyword < firstKeywords[int(word[0])+1]; keyword++ {
		if kindTexts[keyword] == string(word) {
			return keyword
		}
	}
	return tokIdent
}

// stormReserves reports whether a keyword of PRISM is reserved in Storm's dialect, too.
func stormReserves(keyword kind) bool {
	switch keyword {
	case tokIdent, kwClock:
		return false
	case kwTrue, kwFalse, kwMin, kwMax, kwDTMC, kwCTMC, kwMDP, kwPOMDP, kwPTA, kwPOPTA:
		return true
	}
	return isStructural(keyword)
}

// IsKeyword reports whether PRISM reserves the word, in models and properties alike.
func IsKeyword(word string) bool { return keywordKind([]byte(word)).isKeyword() }

// IsIdent reports whether a word can be a name: letters, digits and underscores without a digit at the start, and no keyword.
func IsIdent(word string) bool { return isWord(word) && !IsKeyword(word) }

// isWord reports whether a text has the form of an identifier or keyword: a letter followed by letters and digits.
func isWord(word string) bool {
	if word == "" || !isLetter(word[0]) {
		return false
	}
	for i := range len(word) {
		if !isLetter(word[i]) && !isDigit(word[i]) {
			return false
		}
	}
	return true
}

func isLetter(char byte) bool {
	return 'a' <= char && char <= 'z' || 'A' <= char && char <= 'Z' || char == '_'
}
func isDigit(char byte) bool { return '0' <= char && char <= '9' }

// token is a lexeme: src[pos.Offset:end].
type token struct {
	kind kind
	pos  Pos
	end  int32
}

// endPos returns the first position after the token; no token spans lines.
func (t token) endPos() Pos {
	return Pos{Offset: t.end, Line: t.pos.Line, Col: t.pos.Col + t.end - t.pos.Offset}
}

// describe returns a token as an error message shows it. It shortens a token of more than 40 bytes.
func describe(src []byte, tok token) string {
	const limit = 40
	text := src[tok.pos.Offset:tok.end]
	switch {
	case tok.kind == tokEOF:
		return "end of file"
	case tok.kind == tokIllegal:
		char, _ := utf8.DecodeRune(text)
		return strconv.QuoteRune(char)
	case len(text) > limit:
		return `"` + string(text[:limit]) + `…"`
	}
	return quoteText(string(text))
}

func quoteText(text string) string {
	if text == `"` {
		return `'"'`
	}
	return `"` + text + `"`
}
