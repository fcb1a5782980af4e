package syntax

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// hint returns advice on the mistake at the current, unexpected token. It returns "" if there is no advice.
func (p *parser) hint() string {
	return cmp.Or(p.spellingHint(), p.wordHint(), p.shapeHint())
}

// touchesPrevious reports whether the current token directly follows the previous one, without a blank.
func (p *parser) touchesPrevious() bool {
	return p.previousTok.end == p.token.pos.Offset && p.token.pos.Offset > 0
}

// textAt reports whether the source text at a token starts with this text.
func (p *parser) textAt(tok token, text string) bool {
	return bytes.HasPrefix(p.scanner.src[tok.pos.Offset:], []byte(text))
}

// spellingHint returns advice on an operator or literal that other languages spell differently, or "".
func (p *parser) spellingHint() string {
	type pair struct{ before, found kind }
	switch (pair{p.previousTok.kind, p.token.kind}) {
	case pair{tokAnd, tokAnd}:
		return `"and" is a single "&"`
	case pair{tokOr, tokOr}:
		return `"or" is a single "|"; a condition, a || b, stands in the brackets of P or R only`
	case pair{tokEqual, tokEqual}:
		return `equality is a single "="`
	case pair{tokEqual, tokLess}:
		return `less or equal is "<="`
	case pair{tokLess, tokGreater}:
		return `not equal is "!="`
	}
	switch p.token.kind {
	case tokDoubleRightBracket:
		return `"]]" is one token, write "] ]"`
	case tokDoubleLeftBracket:
		return `"[[" is one token, write "[ ["`
	case tokDoubleGreater, tokDoubleLess:
		return fmt.Sprintf("%q is one token", kindTexts[p.token.kind])
	case tokRenameArrow:
		return `"<-" is one token, write "< -"`
	case tokPrime:
		return "the prime follows the name without a blank: x'"
	case tokDivide:
		if p.textAt(p.token, "/*") {
			return "there are no block comments, use //"
		}
	case tokTimes:
		if p.previousTok.kind == tokDivide && p.touchesPrevious() {
			return "there are no block comments, use //"
		}
	case tokIllegal:
		return p.illegalHint()
	}
	return ""
}

// noteMisspelledOperator records the current name if it is an operator of properties in wrong letters, such as pmax.
func (p *parser) noteMisspelledOperator(context exprContext) {
	if p.isProperties && context&allowProperty != 0 && p.operatorInOtherCase(p.token) != "" {
		p.operatorWord = p.token
	}
}

// operatorInOtherCase returns the operator that differs from the text of a token only in upper and lower case, such as Pmax for pmax. It returns
// "" if there is none.
func (p *parser) operatorInOtherCase(tok token) string {
	if strings.IndexByte("AELPRSTaelprst", p.scanner.src[tok.pos.Offset]) < 0 { // most names start with another letter
		return ""
	}
	operators := []string{"P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "E", "A"}
	if p.dialect == Storm {
		operators = append(operators, "Smin", "Smax", "LRA", "LRAmin", "LRAmax", "T", "Tmin", "Tmax")
	}
	word := string(p.scanner.src[tok.pos.Offset:tok.end])
	index := slices.IndexFunc(operators, func(operator string) bool { return operator != word && strings.EqualFold(operator, word) })
	if index < 0 {
		return ""
	}
	return operators[index]
}

// misspelledOperator returns the correct operator for the recorded word, or "" if the word may be a variable. "=?", a reward structure or a path
// after the word shows that it is an operator.
func (p *parser) misspelledOperator() string {
	word := p.operatorWord
	if word.kind != tokIdent || word.end > p.token.pos.Offset {
		return ""
	}
	between := p.scanner.src[word.end:p.token.pos.Offset]
	threshold := string(bytes.TrimSpace(between))
	isComparison := strings.HasPrefix(threshold, "<") || strings.HasPrefix(threshold, ">")
	isAtQuery := p.textAt(p.token, "?") && threshold == "="
	isAtReward := p.textAt(p.token, "{") && threshold == ""
	isAtPath := p.textAt(p.token, "[") && (threshold == "" || isComparison) && !strings.ContainsAny(threshold, ";\n]")
	if isAtQuery || isAtReward || isAtPath {
		return p.operatorInOtherCase(word)
	}
	return ""
}

// illegalHint returns advice on a character that starts no token, or "".
func (p *parser) illegalHint() string {
	switch {
	case p.textAt(p.token, "\ufeff"):
		return "save the file without a byte order mark"
	case p.textAt(p.token, "%"):
		return "the remainder is mod(a,b)"
	case p.textAt(p.token, "#"):
		return "run PRISM's preprocessor on this file first"
	case p.textAt(p.token, "“"), p.textAt(p.token, "”"):
		return `quotes are plain "`
	case p.textAt(p.token, ".") && p.previousTok.kind == tokInt && p.touchesPrevious():
		return fmt.Sprintf("a point needs a digit behind it: %s.0", p.scanner.src[p.previousTok.pos.Offset:p.previousTok.end])
	}
	return ""
}

// wordHint returns advice on an unexpected keyword or identifier, or "".
func (p *parser) wordHint() string {
	for _, tok := range []token{p.previousTok, p.token} {
		if hint := p.connectiveHint(tok); hint != "" {
			return hint
		}
	}
	if p.isProperties {
		return propertyWordHint(p.token.kind)
	}
	switch tokenKind := p.token.kind; {
	case tokenKind == tokPrimedIdent && p.previousTok.kind == tokLeftParen:
		return "only updates assign to primed variables"
	case tokenKind == tokPrimedIdent:
		return "an assignment needs parentheses: (x'=…)"
	case tokenKind.isKeyword() && !isStructural(tokenKind) && tokenKind != kwTrue && tokenKind != kwFalse:
		return fmt.Sprintf("PRISM reserves %q", kindTexts[tokenKind])
	}
	return ""
}

// propertyWordHint returns advice on an unexpected keyword or identifier in a properties file, or "".
func propertyWordHint(k kind) string {
	switch k {
	case kwU, kwW, kwR:
		return "U, W and R do not associate, and an operand with one needs parentheses: (a U b) U c"
	case kwX, kwF, kwG:
		return "a formula with X, F or G must be in the brackets of P, R, E or A, with each operand in parentheses: P=? [ (G F a) => (G F b) ]"
	case kwFormula:
		return "formulas belong in the model file"
	case tokPrimedIdent:
		return "only updates have primed variables"
	}
	return ""
}

// connectiveHint returns advice on a word such as "and" that is an operator in other languages, or "".
func (p *parser) connectiveHint(tok token) string {
	switch string(p.scanner.src[tok.pos.Offset:tok.end]) {
	case "and":
		return `"and" is written "&"`
	case "or":
		return `"or" is written "|"`
	case "not":
		return `"not" is written "!"`
	case "xor":
		return `"exclusive or" is written "!="`
	}
	return ""
}

// shapeHint returns advice on a token that is correct elsewhere but not after the previous token, such as a number in F=3; "" if there is none.
func (p *parser) shapeHint() string {
	before, found := p.previousTok.kind, p.token.kind
	isExtremumKeyword := extremumOfKeyword(before) != NoExtremum
	isExtremum := isExtremumKeyword || extremumOfWord(before) != NoExtremum
	isNumber := found == tokInt || found == tokDouble
	switch {
	case before == kwTrue && found == tokColon:
		return `"true" was read as the update, write the probability as 1`
	case isExtremumKeyword && found == tokLeftBrace:
		return `the reward structure stands directly behind R: R{"r"}min=?`
	case isExtremum && relationOp(found) != OpNone:
		return "min and max are followed by =?; a bound follows P or R directly: P>=p"
	case before == tokEqual && isNumber:
		return "a bound needs <, <=, > or >="
	}
	return ""
}
