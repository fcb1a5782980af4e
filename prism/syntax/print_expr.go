package syntax

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// levelOf returns how tightly the text of an expression binds.
func levelOf(x Expr) level {
	switch x := x.(type) {
	case *Unary:
		return x.Op.level()
	case *Binary:
		return x.Op.level()
	case *Cond:
		return levelCond
	case *Temporal:
		if x.X != nil {
			return levelUntil
		}
		return levelTemporal
	case *RewardPath:
		return levelUntil
	case *IntLit:
		if x.Value < 0 {
			return levelNeg
		}
	case *DoubleLit:
		if strings.HasPrefix(x.Text, "-") {
			return levelNeg
		}
	}
	return levelBasic
}

// expr writes an expression, in parentheses if it is looser than least.
func (p *printer) expr(x Expr, least level) {
	if levelOf(x) >= least {
		p.bare(x)
		return
	}
	p.write("(")
	p.bare(x)
	p.write(")")
}

func (p *printer) bare(x Expr) {
	switch x := x.(type) {
	case *Ident:
		p.name(x)
	case *IntLit:
		p.intLit(x)
	case *DoubleLit:
		p.doubleLit(x)
	case *BoolLit:
		p.write(strconv.FormatBool(x.Value))
	case *Paren:
		p.write("(")
		p.expr(x.X, levelUntil)
		p.write(")")
	case *Unary:
		p.write(x.Op.String())
		p.expr(x.X, x.Op.level())
	case *Binary:
		p.binary(x)
	case *Cond:
		p.expr(x.C, levelImplies)
		p.spaced("?")
		p.expr(x.T, levelImplies)
		p.spaced(":")
		p.expr(x.E, levelCond)
	case *Call:
		p.call(x)
	case *Quoted:
		p.label(x)
	default:
		p.prop(x)
	}
}

// spaced writes an operator, with blanks round it in the readable layout.
func (p *printer) spaced(op string) {
	if !p.echo {
		op = " " + op + " "
	}
	p.write(op)
}

func (p *printer) intLit(x *IntLit) {
	if x.Value == math.MinInt32 {
		p.write("(-2147483647-1)") // PRISM has no literal for its absolute value
		return
	}
	p.write(strconv.Itoa(int(x.Value)))
}

// doubleLit writes the literal as it was written. A built one may look like an int.
func (p *printer) doubleLit(x *DoubleLit) {
	text := strings.TrimPrefix(x.Text, "-")
	switch s := newScanner([]byte(text), false); {
	case s.next().kind == tDouble && s.off == len(text):
	case isInt(text):
		p.write(x.Text + ".0")
		return
	case !p.echo:
		p.fail(x, "%q is no number", x.Text)
	}
	p.write(x.Text)
}

// isInt reports whether the text is an int literal of any size.
func isInt(text string) bool {
	s := newScanner([]byte(text), false)
	return s.next().kind == tInt && s.off == len(text)
}

func (p *printer) binary(x *Binary) {
	lvl := x.Op.level()
	left, right := lvl, lvl+1
	switch {
	case x.Op == OpImplies || x.Op == OpPow:
		left, right = right, left
	case p.echo && lvl == levelEq:
		left = right
	}
	p.expr(x.X, left)
	if lvl <= levelAnd {
		p.spaced(x.Op.String())
	} else {
		p.write(x.Op.String())
	}
	p.expr(x.Y, right)
}

func (p *printer) call(x *Call) {
	if x.Old {
		p.write("func(")
		p.renamable(x.Func)
		p.write(", ")
	} else {
		p.renamable(x.Func)
		p.write("(")
	}
	for i, arg := range x.Args {
		p.writeIf(i > 0, ", ")
		p.expr(arg, levelUntil)
	}
	p.write(")")
}

func (p *printer) label(x *Quoted) {
	if !p.echo && x.Name != "init" && !p.isName(x.Name) {
		p.fail(x, "%q is no label", x.Name)
	}
	p.write(`"` + x.Name + `"`)
}

// prop writes an expression that only properties have.
func (p *printer) prop(x Expr) {
	switch x := x.(type) {
	case *Temporal:
		p.temporal(x)
	case *Prob:
		p.write("P")
		p.modifier(x.Modifier)
		p.threshold(x.Threshold)
		p.brackets(x.Path, x.Filter)
	case *Steady:
		if x.Extremum != NoExtremum && !p.echo && p.dialect != Storm {
			p.fail(x, "%w", &DialectError{Dialect: PRISM, Feature: "minima and maxima of the S operator"})
		}
		p.write("S")
		p.modifier(x.Modifier)
		p.threshold(x.Threshold)
		p.brackets(x.X, x.Filter)
	case *Reward:
		p.reward(x)
	case *RewardPath:
		p.rewardPath(x)
	case *Quant:
		p.write(either(x.All, "A", "E"))
		p.brackets(x.Path, nil)
	case *Strategy:
		p.strategy(x)
	case *Filter:
		p.write("filter(" + x.Op + ", ")
		p.expr(x.X, levelUntil)
		if x.States != nil {
			p.write(", ")
			p.expr(x.States, levelUntil)
		}
		p.write(")")
	default:
		p.fail(nil, "cannot print a %T", x)
	}
}

func (p *printer) modifier(id *Ident) {
	if id != nil {
		p.write("(")
		p.name(id)
		p.write(")")
	}
}

func (p *printer) threshold(t Threshold) {
	p.write(t.Extremum.String())
	if t.Rel == OpNone {
		p.write("=?")
		return
	}
	p.write(t.Rel.String())
	p.expr(t.Bound, levelUntil)
}

// brackets writes [ path filter ] behind an operator.
func (p *printer) brackets(path Expr, f *OldFilter) {
	p.write(" [ ")
	p.expr(path, levelUntil)
	if f != nil {
		p.write(" {")
		p.expr(f.States, levelUntil)
		p.write("}")
		p.writeIf(f.Min, "{min}")
		p.writeIf(f.Max, "{max}")
	}
	p.write(" ]")
}

func (p *printer) reward(x *Reward) {
	if x.Time && !p.timeless && (p.echo || p.dialect == Storm) {
		p.write("T")
		p.threshold(x.Threshold)
		p.brackets(x.Path, x.Filter)
		return
	}
	p.write("R")
	p.modifier(x.Modifier)
	if x.Struct != nil {
		p.write("{")
		p.expr(x.Struct, levelUntil)
		p.write("}")
	}
	if x.StructDiv != nil {
		p.write("/{")
		p.expr(x.StructDiv, levelUntil)
		p.write("}")
	}
	p.threshold(x.Threshold)
	path := x.Path
	if !p.echo && startsWithSteady(path) { // PRISM would take the S for the whole path
		path = &Paren{X: path}
	}
	p.brackets(path, x.Filter)
}

// startsWithSteady reports whether the text of an expression starts with an S operator.
func startsWithSteady(x Expr) bool {
	for {
		switch y := x.(type) {
		case *Steady:
			return true
		case *Binary:
			x = y.X
		case *Cond:
			x = y.C
		case *Temporal:
			x = y.X
		default:
			return false
		}
	}
}

func (p *printer) rewardPath(x *RewardPath) {
	switch {
	case x.Kind == LongRun:
		p.write("S")
	case x.Kind == Instantaneous:
		p.write("I=")
		p.expr(x.Bound, levelUntil)
	case x.Target != nil:
		p.write(either(x.Kind == UntilReached, "Fc ", "F0 "))
		p.expr(x.Target, levelUntil)
	case x.Bound != nil:
		p.write("C<=")
		p.expr(x.Bound, levelUntil)
	default:
		p.write("C")
		p.costs(x, x.Costs)
	}
}

func (p *printer) strategy(x *Strategy) {
	left, right := "<<", ">> "
	if x.Box {
		left, right = "[[", "]] "
	}
	var players []string
	for _, id := range x.Coalition {
		players = append(players, id.Name)
	}
	coalition := strings.Join(players, ",")
	if x.All {
		coalition = "*"
	}
	p.write(left + coalition + right)
	switch x.X.(type) {
	case *Prob, *Reward:
		p.expr(x.X, levelUntil)
		return
	case *Paren:
		if !p.echo { // PRISM echoes its parentheses twice
			p.expr(x.X, levelUntil)
			return
		}
	}
	p.write("(")
	p.expr(x.X, levelUntil)
	p.write(")")
}

func (p *printer) temporal(x *Temporal) {
	if x.X != nil {
		p.expr(x.X, levelTemporal)
		p.write(" ")
	}
	p.write(x.Op.String())
	start := len(p.buf)
	p.timeBound(x.Bound)
	p.costs(x, x.Costs)
	bound := p.buf[start:]
	p.write(" ")
	operand := len(p.buf)
	p.expr(x.Y, levelTemporal)
	if x.Bound != nil && !p.echo {
		p.separate(x.Bound, start, len(bound), operand)
	}
}

// costs writes the bounds of an operator as ^{rew{"r"}<=b,steps<=k}, which only Storm reads.
func (p *printer) costs(operator Expr, costs []*CostBound) {
	if len(costs) == 0 {
		return
	}
	if !p.echo && costs[0].Rate != nil {
		p.fail(operator, "%w", &DialectError{Dialect: p.dialect, Feature: "bounds on the time of a Markov automaton"})
	}
	if !p.echo && p.dialect != Storm {
		p.fail(operator, "%w", &DialectError{Dialect: PRISM, Feature: "reward bounds"})
	}
	p.write("^{")
	for i, c := range costs {
		if i > 0 {
			p.write(",")
		}
		p.write(c.Word)
		if c.Struct != nil {
			p.write("{")
			p.expr(c.Struct, levelUntil)
			p.write("}")
		}
		p.timeBound(c.Bound)
	}
	p.write("}")
}

func (p *printer) timeBound(b *TimeBound) {
	switch {
	case b == nil:
	case b.Equal:
		p.write("=")
		p.expr(b.Low, levelUntil)
	case b.Low != nil && b.High != nil:
		if b.LowStrict || b.HighStrict {
			p.fail(b, "a bound on both sides cannot be strict")
		}
		p.write("[")
		p.expr(b.Low, levelUntil)
		p.write(",")
		p.expr(b.High, levelUntil)
		p.write("]")
	case b.High != nil:
		p.write(either(b.HighStrict, "<", "<="))
		p.boundExpr(b.High)
	case b.Low != nil:
		p.write(either(b.LowStrict, ">", ">="))
		p.boundExpr(b.Low)
	}
}

// boundExpr writes a one-sided bound. If a name is followed by a parenthesis, PRISM reads only the
// name: F<=f(a) b is not a formula.
func (p *printer) boundExpr(x Expr) {
	start := len(p.buf)
	p.expr(x, levelUntil)
	s := newScanner(p.buf[start:], false)
	if !p.echo && s.next().kind == tIdent && s.next().kind == tLParen {
		p.bracket(start)
	}
}

// separate adds the parentheses that a bound and the following operand need, because PRISM reads
// the longest possible bound. The bound is the n bytes at start.
func (p *printer) separate(b *TimeBound, start, n, operand int) {
	text := p.buf[operand:]
	rest, release := bytes.CutPrefix(text, []byte("R"))
	if text[0] == '-' || release && (len(rest) == 0 || !isLetter(rest[0]) && !isDigit(rest[0])) {
		p.bracket(operand)
		text = p.buf[operand:]
	}
	if text[0] != '(' || p.buf[start] == '[' || !endsWithName(p.buf[start:start+n]) {
		return
	}
	one := b.High
	if one == nil {
		one = b.Low
	}
	if _, name := one.(*Ident); name && !b.Equal {
		return // the case PRISM reads as it is meant
	}
	p.insert(start+n, ')')
	first := start + bytes.IndexFunc(p.buf[start:], func(r rune) bool { return !strings.ContainsRune("<>=", r) })
	if p.buf[first] == ' ' { // F< -a
		p.buf[first] = '('
		return
	}
	p.insert(first, '(')
}

// endsWithName reports whether the last token of the text is a word.
func endsWithName(text []byte) bool {
	i := len(text)
	for i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1])) {
		i--
	}
	return i < len(text) && isLetter(text[i])
}

func (p *printer) insert(at int, c byte) {
	p.buf = append(p.buf, 0)
	copy(p.buf[at+1:], p.buf[at:])
	p.buf[at] = c
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
