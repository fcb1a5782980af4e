package syntax

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// levelOf returns how tightly the outermost operator of an expression binds. A negative literal binds like a minus sign.
func levelOf(expr Expr) level {
	switch expr := expr.(type) {
	case *Unary:
		return expr.Op.level()
	case *Binary:
		return expr.Op.level()
	case *Cond:
		return levelCond
	case *Temporal:
		if expr.X != nil {
			return levelUntil
		}
		return levelTemporal
	case *RewardPath, *Conditional:
		return levelUntil
	case *IntLit:
		if expr.Value < 0 {
			return levelNeg
		}
	case *DoubleLit:
		if strings.HasPrefix(expr.Text, "-") {
			return levelNeg
		}
	}
	return levelBasic
}

// expr writes an expression, in parentheses if it binds less tightly than minLevel.
func (p *printer) expr(expr Expr, minLevel level) {
	if levelOf(expr) >= minLevel {
		p.withoutParens(expr)
		return
	}
	p.write("(")
	p.withoutParens(expr)
	p.write(")")
}

// withoutParens writes an expression without parentheses around it.
func (p *printer) withoutParens(expr Expr) {
	switch expr := expr.(type) {
	case *Ident:
		p.name(expr)
	case *IntLit:
		p.intLit(expr)
	case *DoubleLit:
		p.doubleLit(expr)
	case *BoolLit:
		p.write(strconv.FormatBool(expr.Value))
	case *Paren:
		p.write("(")
		p.expr(expr.X, levelUntil)
		p.write(")")
	case *Unary:
		p.write(expr.Op.String())
		p.expr(expr.X, expr.Op.level())
	case *Binary:
		p.binary(expr)
	case *Cond:
		p.expr(expr.C, levelImplies)
		p.spaced("?")
		p.expr(expr.T, levelImplies)
		p.spaced(":")
		p.expr(expr.E, levelCond)
	case *Call:
		p.call(expr)
	case *Quoted:
		p.label(expr)
	default:
		p.propertyOperator(expr)
	}
}

// spaced writes an operator. In the readable layout, it has blanks around it.
func (p *printer) spaced(op string) {
	if !p.echo {
		op = " " + op + " "
	}
	p.write(op)
}

// intLit writes an integer.
func (p *printer) intLit(expr *IntLit) {
	if expr.Value == math.MinInt32 { // PRISM reads it as the negation of 2147483648, which does not fit in an int
		p.write("(-2147483647-1)")
		return
	}
	p.write(strconv.Itoa(int(expr.Value)))
}

// doubleLit writes a literal of type double with its original text, and adds .0 if PRISM would read an int.
func (p *printer) doubleLit(expr *DoubleLit) {
	text := strings.TrimPrefix(expr.Text, "-")
	switch {
	case isToken(text, tokInt):
		p.write(expr.Text + ".0")
		return
	case !isToken(text, tokDouble) && !p.echo:
		p.fail(expr, "%q is not a number", expr.Text)
	}
	p.write(expr.Text)
}

// isToken reports whether a text is a single token of the given kind.
func isToken(text string, wanted kind) bool {
	scan := newScanner([]byte(text), false)
	return scan.next().kind == wanted && scan.off == len(text)
}

// binary writes an infix operator and its operands, with the necessary parentheses.
func (p *printer) binary(expr *Binary) {
	level := expr.Op.level()
	leftLevel, rightLevel := level, level+1 // most operators associate to the left
	switch {
	case expr.Op == OpImplies || expr.Op == OpPow: // to the right
		leftLevel, rightLevel = level+1, level
	case p.echo && level == levelEq: // PRISM echoes (a=b)=c with parentheses
		leftLevel = level + 1
	}
	p.expr(expr.X, leftLevel)
	if level <= levelAnd {
		p.spaced(expr.Op.String())
	} else {
		p.write(expr.Op.String())
	}
	p.expr(expr.Y, rightLevel)
}

// boundVariables writes the variables of quantile(...), with a comma after each.
func (p *printer) boundVariables(variables []*BoundVariable) {
	for _, variable := range variables {
		p.writeIf(variable.Extremum != NoExtremum, variable.Extremum.String()+" ")
		p.renamable(variable.Name)
		p.write(", ")
	}
}

// call writes a function call.
func (p *printer) call(expr *Call) {
	if expr.Lexicographic {
		p.requireStorm(expr, "multilex")
	}
	if expr.Old { // the old form func(name, ...)
		p.write("func(")
		p.renamable(expr.Func)
		p.write(", ")
	} else {
		p.renamable(expr.Func)
		p.write("(")
	}
	if expr.Bounds != nil {
		p.requireStorm(expr, "quantile")
		p.boundVariables(expr.Bounds)
	}
	for i, arg := range expr.Args {
		p.writeIf(i > 0, ", ")
		p.expr(arg, levelUntil)
	}
	p.write(")")
}

// requireStorm fails if the printer writes PRISM's dialect, which lacks this feature.
func (p *printer) requireStorm(expr Expr, feature string) {
	if !p.echo && p.dialect != Storm {
		p.fail(expr, "%w", &DialectError{Dialect: PRISM, Feature: feature})
	}
}

// label writes a label or a reference to a property, in quotes.
func (p *printer) label(expr *Quoted) {
	if !p.echo && expr.Name != "init" && !p.isName(expr.Name) {
		p.fail(expr, "%q is not a label", expr.Name)
	}
	p.write(`"` + expr.Name + `"`)
}

// propertyOperator writes an expression that occurs in properties only.
func (p *printer) propertyOperator(expr Expr) {
	switch expr := expr.(type) {
	case *Temporal:
		p.temporal(expr)
	case *Prob:
		p.write("P")
		p.modifier(expr.Modifier)
		p.threshold(expr.Threshold)
		p.brackets(expr.Path, expr.Filter)
	case *Steady:
		if expr.Extremum != NoExtremum {
			p.requireStorm(expr, "minima and maxima of the S operator")
		}
		p.write("S")
		p.modifier(expr.Modifier)
		p.threshold(expr.Threshold)
		p.brackets(expr.X, expr.Filter)
	case *Reward:
		p.reward(expr)
	case *RewardPath:
		p.rewardPath(expr)
	case *Conditional:
		p.requireStorm(expr, "conditional probabilities and rewards")
		p.expr(expr.X, levelUntil)
		p.write(" || ")
		p.expr(expr.Condition, levelUntil)
	case *Quant:
		p.write(choose(expr.All, "A", "E"))
		p.brackets(expr.Path, nil)
	case *Strategy:
		p.strategy(expr)
	case *Filter:
		p.write("filter(" + expr.Op + ", ")
		p.expr(expr.X, levelUntil)
		if expr.States != nil {
			p.write(", ")
			p.expr(expr.States, levelUntil)
		}
		p.write(")")
	default:
		p.fail(nil, "cannot print a %T", expr)
	}
}

// modifier writes the modifier of an operator in parentheses, such as (path) in P(path)=?; nothing for nil.
func (p *printer) modifier(ident *Ident) {
	if ident != nil {
		p.write("(")
		p.name(ident)
		p.write(")")
	}
}

// threshold writes the text of an operator between its letter and its brackets, such as max=? or >=0.5.
func (p *printer) threshold(threshold Threshold) {
	p.write(threshold.Extremum.String())
	if threshold.Rel == OpNone {
		p.write("=?")
		return
	}
	p.write(threshold.Rel.String())
	p.expr(threshold.Bound, levelUntil)
}

// brackets writes [ path filter ] after an operator.
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

// reward writes an R operator or Storm's operator T.
func (p *printer) reward(expr *Reward) {
	if expr.Time && !p.timeAsReward && (p.echo || p.dialect == Storm) {
		p.write("T")
		p.threshold(expr.Threshold)
		p.brackets(expr.Path, expr.Filter)
		return
	}
	p.write("R")
	p.modifier(expr.Modifier)
	if expr.Struct != nil {
		p.write("{")
		p.expr(expr.Struct, levelUntil)
		p.write("}")
	}
	if expr.StructDivisor != nil {
		p.write("/{")
		p.expr(expr.StructDivisor, levelUntil)
		p.write("}")
	}
	p.threshold(expr.Threshold)
	path := expr.Path
	if !p.echo && startsWithSteady(path) { // PRISM would read the S as the objective R [ S ]
		path = &Paren{X: path}
	}
	p.brackets(path, expr.Filter)
}

// startsWithSteady reports whether the text of an expression starts with an S operator.
func startsWithSteady(expr Expr) bool {
	switch expr := expr.(type) {
	case *Steady:
		return true
	case *Binary:
		return startsWithSteady(expr.X)
	case *Cond:
		return startsWithSteady(expr.C)
	case *Temporal:
		return startsWithSteady(expr.X)
	}
	return false
}

// rewardPath writes the objective of an R operator: S, I=k, C<=k, C, Fc or F0, with its discount factor.
func (p *printer) rewardPath(expr *RewardPath) {
	switch {
	case expr.Kind == LongRun:
		p.write("S")
	case expr.Kind == Instantaneous:
		p.write("I=")
		p.expr(expr.Bound, levelUntil)
	case expr.Target != nil:
		p.write(choose(expr.Kind == UntilReached, "Fc ", "F0 "))
		p.expr(expr.Target, levelUntil)
	case expr.Bound != nil:
		p.write("C<=")
		p.expr(expr.Bound, levelUntil)
	default:
		p.write("C")
		p.costs(expr, expr.Costs)
	}
	if expr.Discount != nil {
		p.requireStorm(expr, "discounted rewards")
		p.writeIf(expr.Bound != nil, " ")
		p.write("discount=")
		p.expr(expr.Discount, levelUntil)
	}
}

// strategy writes a coalition operator, such as <<player1,player2>>, and its operand.
func (p *printer) strategy(expr *Strategy) {
	coalition := "*"
	if !expr.All {
		var players []string
		for _, ident := range expr.Coalition {
			players = append(players, ident.Name)
		}
		coalition = strings.Join(players, ",")
	}
	if expr.Box {
		p.write("[[" + coalition + "]] ")
	} else {
		p.write("<<" + coalition + ">> ")
	}
	needsParens := true
	switch expr.X.(type) {
	case *Prob, *Reward:
		needsParens = false
	case *Paren:
		needsParens = p.echo // PRISM echoes its parentheses twice
	}
	p.writeIf(needsParens, "(")
	p.expr(expr.X, levelUntil)
	p.writeIf(needsParens, ")")
}

// temporal writes a temporal operator with its bounds and operands.
func (p *printer) temporal(expr *Temporal) {
	if expr.X != nil {
		p.expr(expr.X, levelTemporal)
		p.write(" ")
	}
	p.write(expr.Op.String())
	boundStart := len(p.buf)
	p.timeBound(expr.Bound)
	p.costs(expr, expr.Costs)
	boundEnd := len(p.buf)
	p.write(" ")
	operandStart := len(p.buf)
	p.expr(expr.Y, levelTemporal)
	if expr.Bound != nil && !p.echo {
		p.separateBound(expr.Bound, boundStart, boundEnd, operandStart)
	}
}

// costs writes the reward and step bounds of an operator in Storm's dialect: ^{rew{"r"}<=b,steps<=k}.
func (p *printer) costs(operator Expr, costs []*CostBound) {
	if len(costs) == 0 {
		return
	}
	if !p.echo && costs[0].Timed {
		p.fail(operator, "%w", &DialectError{Dialect: p.dialect, Feature: "bounds on the time of a Markov automaton"})
	}
	p.requireStorm(operator, "reward bounds")
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

// timeBound writes the bound of a temporal operator. It writes nothing for nil.
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

// boundExpr writes the number of a one-sided bound.
func (p *printer) boundExpr(expr Expr) {
	start := len(p.buf)
	p.expr(expr, levelUntil)
	scan := newScanner(p.buf[start:], false)
	startsWithCall := scan.next().kind == tokIdent && scan.next().kind == tokLeftParen
	if !p.echo && startsWithCall { // PRISM would read only the name as the bound
		p.parenthesizeFrom(start)
	}
}

// separateBound adds the parentheses that separate a bound from the operand after it. PRISM reads the longest possible bound.
func (p *printer) separateBound(bound *TimeBound, boundStart, boundEnd, operandStart int) {
	if continuesBound(p.buf[operandStart:]) {
		p.parenthesizeFrom(operandStart)
	}
	// PRISM reads a name before a parenthesis as a function.
	isInterval := p.buf[boundStart] == '['
	if p.buf[operandStart] != '(' || isInterval || !endsWithName(p.buf[boundStart:boundEnd]) {
		return
	}
	limit := bound.High
	if limit == nil {
		limit = bound.Low
	}
	if _, isName := limit.(*Ident); isName && !bound.Equal {
		return // PRISM reads a single name before a parenthesis as the whole bound
	}
	p.parenthesizeBound(boundStart, boundEnd)
}

// parenthesizeBound puts parentheses around the number of the bound in the text from boundStart to boundEnd.
func (p *printer) parenthesizeBound(boundStart, boundEnd int) {
	p.buf = slices.Insert(p.buf, boundEnd, ')')
	numberStart := boundStart
	for strings.IndexByte("<>=", p.buf[numberStart]) >= 0 {
		numberStart++
	}
	if p.buf[numberStart] == ' ' { // the blank in F< -a
		p.buf[numberStart] = '('
		return
	}
	p.buf = slices.Insert(p.buf, numberStart, '(')
}

// continuesBound reports whether PRISM would read the beginning of an operand as a continuation of the bound before it.
func continuesBound(operand []byte) bool {
	if operand[0] == '-' {
		return true
	}
	afterR, startsWithR := bytes.CutPrefix(operand, []byte("R")) // the release operator
	return startsWithR && (len(afterR) == 0 || !isLetter(afterR[0]) && !isDigit(afterR[0]))
}

// endsWithName reports whether the last token of the text is a word.
func endsWithName(text []byte) bool {
	i := len(text)
	for i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1])) {
		i--
	}
	return i < len(text) && isLetter(text[i])
}

// choose returns the first text if the condition holds, and the second text if it does not.
func choose(condition bool, first, second string) string {
	if condition {
		return first
	}
	return second
}
