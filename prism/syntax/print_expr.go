package syntax

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// levelOf returns how tightly the outermost operator of an expression binds.
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

// expr writes an expression, in parentheses if it binds less tightly than minLevel.
func (p *printer) expr(x Expr, minLevel level) {
	if levelOf(x) >= minLevel {
		p.withoutParens(x)
		return
	}
	p.write("(")
	p.withoutParens(x)
	p.write(")")
}

// withoutParens writes an expression without parentheses around it.
func (p *printer) withoutParens(x Expr) {
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
		p.propertyOperator(x)
	}
}

// spaced writes an operator, with blanks round it in the readable layout.
func (p *printer) spaced(op string) {
	if !p.echo {
		op = " " + op + " "
	}
	p.write(op)
}

// intLit writes an integer. PRISM cannot read the literal of the smallest one, so it is a difference.
func (p *printer) intLit(x *IntLit) {
	if x.Value == math.MinInt32 {
		p.write("(-2147483647-1)") // PRISM has no literal for its absolute value
		return
	}
	p.write(strconv.Itoa(int(x.Value)))
}

// doubleLit writes a literal of type double with its original text. It appends .0 if PRISM would
// read an int.
func (p *printer) doubleLit(x *DoubleLit) {
	text := strings.TrimPrefix(x.Text, "-")
	switch scan := newScanner([]byte(text), false); {
	case scan.next().kind == tDouble && scan.off == len(text):
	case isInt(text):
		p.write(x.Text + ".0")
		return
	case !p.echo:
		p.fail(x, "%q is not a number", x.Text)
	}
	p.write(x.Text)
}

// isInt reports whether the text is an int literal of any size.
func isInt(text string) bool {
	scan := newScanner([]byte(text), false)
	return scan.next().kind == tInt && scan.off == len(text)
}

// binary writes an infix operator and its operands, with parentheses where precedence and
// associativity need them.
func (p *printer) binary(x *Binary) {
	level := x.Op.level()
	left, right := level, level+1
	switch {
	case x.Op == OpImplies || x.Op == OpPow:
		left, right = right, left
	case p.echo && level == levelEq:
		left = right
	}
	p.expr(x.X, left)
	if level <= levelAnd {
		p.spaced(x.Op.String())
	} else {
		p.write(x.Op.String())
	}
	p.expr(x.Y, right)
}

// call writes a function call, in the old form func(name, ...) if it was read so.
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

// label writes a label or a reference to a property, in quotes.
func (p *printer) label(x *Quoted) {
	if !p.echo && x.Name != "init" && !p.isName(x.Name) {
		p.fail(x, "%q is not a label", x.Name)
	}
	p.write(`"` + x.Name + `"`)
}

// propertyOperator writes an expression that occurs in properties only.
func (p *printer) propertyOperator(x Expr) {
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
		p.write(choose(x.All, "A", "E"))
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

// threshold writes what stands between the letter of an operator and its brackets.
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
func (p *printer) brackets(path Expr, filter *OldFilter) {
	p.write(" [ ")
	p.expr(path, levelUntil)
	if filter != nil {
		p.write(" {")
		p.expr(filter.States, levelUntil)
		p.write("}")
		p.writeIf(filter.Min, "{min}")
		p.writeIf(filter.Max, "{max}")
	}
	p.write(" ]")
}

// reward writes an R operator, or the operator T of Storm's dialect from which it was read.
func (p *printer) reward(x *Reward) {
	if x.Time && !p.timeAsReward && (p.echo || p.dialect == Storm) {
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
	if !p.echo && startsWithSteady(path) { // PRISM would read the S as the objective R [ S ]
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

// rewardPath writes the objective C, C<=k, I=k or S of an R operator.
func (p *printer) rewardPath(x *RewardPath) {
	switch {
	case x.Kind == LongRun:
		p.write("S")
	case x.Kind == Instantaneous:
		p.write("I=")
		p.expr(x.Bound, levelUntil)
	case x.Target != nil:
		p.write(choose(x.Kind == UntilReached, "Fc ", "F0 "))
		p.expr(x.Target, levelUntil)
	case x.Bound != nil:
		p.write("C<=")
		p.expr(x.Bound, levelUntil)
	default:
		p.write("C")
		p.costs(x, x.Costs)
	}
}

// strategy writes a coalition operator and its operand.
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

// temporal writes a temporal operator with its bounds and operands.
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
		p.separateBound(x.Bound, start, len(bound), operand)
	}
}

// costs writes the reward and step bounds of an operator, ^{rew{"r"}<=b,steps<=k}, which only Storm
// can read.
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
	for i, cost := range costs {
		if i > 0 {
			p.write(",")
		}
		p.write(cost.Word)
		if cost.Struct != nil {
			p.write("{")
			p.expr(cost.Struct, levelUntil)
			p.write("}")
		}
		p.timeBound(cost.Bound)
	}
	p.write("}")
}

// timeBound writes the bound of a temporal operator; nothing for nil.
func (p *printer) timeBound(bound *TimeBound) {
	switch {
	case bound == nil:
	case bound.Equal:
		p.write("=")
		p.expr(bound.Low, levelUntil)
	case bound.Low != nil && bound.High != nil:
		if bound.LowStrict || bound.HighStrict {
			p.fail(bound, "a bound on both sides cannot be strict")
		}
		p.write("[")
		p.expr(bound.Low, levelUntil)
		p.write(",")
		p.expr(bound.High, levelUntil)
		p.write("]")
	case bound.High != nil:
		p.write(choose(bound.HighStrict, "<", "<="))
		p.boundExpr(bound.High)
	case bound.Low != nil:
		p.write(choose(bound.LowStrict, ">", ">="))
		p.boundExpr(bound.Low)
	}
}

// boundExpr writes the number of a one-sided bound. PRISM reads a name before a parenthesis as the
// whole bound, so a bound that starts with a function call gets parentheses.
func (p *printer) boundExpr(x Expr) {
	start := len(p.buf)
	p.expr(x, levelUntil)
	scan := newScanner(p.buf[start:], false)
	if !p.echo && scan.next().kind == tIdent && scan.next().kind == tLParen {
		p.parenthesizeFrom(start)
	}
}

// separateBound adds the parentheses that a bound and the operand behind it need, because PRISM
// reads the longest possible bound. The bound is the text of boundLen bytes from start, and the
// operand is the text from operand on.
func (p *printer) separateBound(bound *TimeBound, start, boundLen, operand int) {
	text := p.buf[operand:]
	rest, isRelease := bytes.CutPrefix(text, []byte("R"))
	if text[0] == '-' || isRelease && (len(rest) == 0 || !isLetter(rest[0]) && !isDigit(rest[0])) {
		p.parenthesizeFrom(operand)
		text = p.buf[operand:]
	}
	if text[0] != '(' || p.buf[start] == '[' || !endsWithName(p.buf[start:start+boundLen]) {
		return
	}
	limit := bound.High
	if limit == nil {
		limit = bound.Low
	}
	if _, isName := limit.(*Ident); isName && !bound.Equal {
		return // PRISM reads a single name before a parenthesis as the whole bound
	}
	p.insertByte(start+boundLen, ')')
	first := start + bytes.IndexFunc(p.buf[start:], func(r rune) bool { return !strings.ContainsRune("<>=", r) })
	if p.buf[first] == ' ' { // F< -a
		p.buf[first] = '('
		return
	}
	p.insertByte(first, '(')
}

// endsWithName reports whether the last token of the text is a word.
func endsWithName(text []byte) bool {
	i := len(text)
	for i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1])) {
		i--
	}
	return i < len(text) && isLetter(text[i])
}

func (p *printer) insertByte(at int, c byte) {
	p.buf = append(p.buf, 0)
	copy(p.buf[at+1:], p.buf[at:])
	p.buf[at] = c
}

// choose returns a if the condition holds and b otherwise.
func choose(condition bool, a, b string) string {
	if condition {
		return a
	}
	return b
}
