package syntax

import (
	"bytes"
	"fmt"
)

// hint returns advice for common mistakes, given that tok is unexpected; "" if there is none.
func (p *parser) hint() string {
	for _, h := range []string{p.spellingHint(), p.wordHint(), p.shapeHint()} {
		if h != "" {
			return h
		}
	}
	return ""
}

// adjacent reports whether tok directly follows the token before it.
func (p *parser) adjacent() bool { return p.prev.end == p.tok.pos.Offset && p.tok.pos.Offset > 0 }

// ahead reports whether the source continues with the text at the given token.
func (p *parser) ahead(t token, text string) bool {
	return bytes.HasPrefix(p.s.src[t.pos.Offset:], []byte(text))
}

// spellingHint returns advice on operators and literals that other languages write differently.
func (p *parser) spellingHint() string {
	type pair struct{ before, found kind }
	switch (pair{p.prev.kind, p.tok.kind}) {
	case pair{tAnd, tAnd}:
		return `"and" is a single "&"`
	case pair{tOr, tOr}:
		return `"or" is a single "|", and conditional probabilities (a || b), which Storm has, are not supported`
	case pair{tEq, tEq}:
		return `equality is a single "="`
	case pair{tEq, tLt}:
		return `less or equal is "<="`
	case pair{tLt, tGt}:
		return `not equal is "!="`
	}
	switch p.tok.kind {
	case tRBrack2:
		return `"]]" is one token, write "] ]"`
	case tLBrack2:
		return `"[[" is one token, write "[ ["`
	case tGt2, tLt2:
		return fmt.Sprintf("%q is one token", kindTexts[p.tok.kind])
	case tRename:
		return `"<-" is one token, write "< -"`
	case tPrime:
		return "the prime follows the name without a blank: x'"
	case tDivide:
		if p.ahead(p.tok, "/*") {
			return "there are no block comments, use //"
		}
	case tTimes:
		if p.prev.kind == tDivide && p.adjacent() {
			return "there are no block comments, use //"
		}
	case tIllegal:
		return p.illegalHint()
	}
	return ""
}

func (p *parser) illegalHint() string {
	switch {
	case p.ahead(p.tok, "\ufeff"):
		return "save the file without a byte order mark"
	case p.ahead(p.tok, "%"):
		return "the remainder is mod(a,b)"
	case p.ahead(p.tok, "#"):
		return "files for PRISM's preprocessor have to be preprocessed first"
	case p.ahead(p.tok, "“"), p.ahead(p.tok, "”"):
		return `quotes are plain "`
	case p.ahead(p.tok, ".") && p.prev.kind == tInt && p.adjacent():
		return fmt.Sprintf("a point needs a digit behind it: %s.0", p.s.src[p.prev.pos.Offset:p.prev.end])
	}
	return ""
}

// wordHint returns advice on reserved and unknown words.
func (p *parser) wordHint() string {
	for _, t := range []token{p.prev, p.tok} {
		if hint := p.operatorWord(t); hint != "" {
			return hint
		}
	}
	switch k := p.tok.kind; {
	case (k == kwU || k == kwW || k == kwR) && p.props:
		return "U, W and R do not associate, and an operand with one needs parentheses: (a U b) U c"
	case (k == kwX || k == kwF || k == kwG) && p.props:
		return "a temporal operator stands between the brackets of P, R, E or A, and as an operand in parentheses: (F a) & (F b)"
	case k == kwFormula && p.props:
		return "formulas belong into the model file"
	case k == tPrimed && p.props:
		return "only updates have primed variables"
	case k == tPrimed && p.prev.kind == tLParen:
		return "only updates assign to primed variables"
	case k == tPrimed:
		return "an assignment needs parentheses: (x'=…)"
	case k.isKeyword() && !structural(k) && k != kwTrue && k != kwFalse && !p.props:
		return fmt.Sprintf("PRISM reserves %q", kindTexts[k])
	}
	return ""
}

// operatorWord returns advice on operators that other languages write as words.
func (p *parser) operatorWord(t token) string {
	switch string(p.s.src[t.pos.Offset:t.end]) {
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

// shapeHint returns advice on the structure of larger constructs.
func (p *parser) shapeHint() string {
	switch k := p.prev.kind; {
	case k == kwTrue && p.tok.kind == tColon:
		return `"true" was read as the update, write the probability as 1`
	case joinedExtremum(k) != NoExtremum && p.tok.kind == tLBrace:
		return `the reward structure stands directly behind R: R{"r"}min=?`
	case (joinedExtremum(k) != NoExtremum || wordExtremum(k) != NoExtremum) && relation(p.tok.kind) != OpNone:
		return "min and max go with =?, a bound with plain P or R: P>=p"
	case k == tEq && (p.tok.kind == tInt || p.tok.kind == tDouble):
		return "a bound needs <, <=, > or >="
	}
	return ""
}
