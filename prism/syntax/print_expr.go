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

// writeExpr writes an expression, in parentheses if it binds less tightly than minLevel.
func (p *printer) writeExpr(expr Expr, minLevel level) {
	if levelOf(expr) >= minLevel {
		p.writeWithoutParens(expr)
		return
	}
	p.write("(")
	p.writeWithoutParens(expr)
	p.write(")")
}

// writeWithoutParens writes an expression without parentheses around it.
func (p *printer) writeWithoutParens(expr Expr) {
	switch expr := expr.(type) {
	case *Ident:
		p.writeName(expr)
	case *IntLit:
		p.writeIntLit(expr)
	case *DoubleLit:
		p.writeDoubleLit(expr)
	case *BoolLit:
		p.write(strconv.FormatBool(expr.Value))
	case *Paren:
		p.write("(")
		p.writeExpr(expr.X, levelUntil)
		p.write(")")
	case *Unary:
		p.write(expr.Op.String())
		p.writeExpr(expr.X, expr.Op.level())
	case *Binary:
		p.writeBinary(expr)
	case *Cond:
		p.writeExpr(expr.Condition, levelImplies)
		p.writeSpaced("?")
		p.writeExpr(expr.Then, levelImplies)
		p.writeSpaced(":")
		p.writeExpr(expr.Else, levelCond)
	case *Call:
		p.writeCall(expr)
	case *Quoted:
		p.writeLabel(expr)
	default:
		p.writePropertyOperator(expr)
	}
}

// writeSpaced writes an operator. In the readable layout, it has blanks around it.
func (p *printer) writeSpaced(op string) {
	if !p.isEcho {
		op = " " + op + " "
	}
	p.write(op)
}

// writeIntLit writes an integer.
func (p *printer) writeIntLit(expr *IntLit) {
	if expr.Value == math.MinInt32 { // PRISM reads it as the negation of 2147483648, which does not fit in an int
		p.write("(-2147483647-1)")
		return
	}
	p.write(strconv.Itoa(int(expr.Value)))
}

// writeDoubleLit writes a literal of type double with its original text, and adds .0 if PRISM would read an int.
func (p *printer) writeDoubleLit(expr *DoubleLit) {
	text := strings.TrimPrefix(expr.Text, "-")
	switch {
	case isToken(text, tokInt):
		p.write(expr.Text + ".0")
		return
	case !isToken(text, tokDouble) && !p.isEcho:
		p.recordError(expr, "%q is not a number", expr.Text)
	}
	p.write(expr.Text)
}

// isToken reports whether a text is a single token of the given kind.
func isToken(text string, wanted kind) bool {
	scan := newScanner([]byte(text), false)
	return scan.next().kind == wanted && scan.offset == len(text)
}

// writeBinary writes an infix operator and its operands, with the necessary parentheses.
func (p *printer) writeBinary(expr *Binary) {
	level := expr.Op.level()
	leftLevel, rightLevel := level, level+1 // most operators associate to the left
	switch {
	case expr.Op == OpImplies || expr.Op == OpPow: // to the right
		leftLevel, rightLevel = level+1, level
	case p.isEcho && level == levelEq: // PRISM echoes (a=b)=c with parentheses
		leftLevel = level + 1
	}
	p.writeExpr(expr.X, leftLevel)
	if level <= levelAnd {
		p.writeSpaced(expr.Op.String())
	} else {
		p.write(expr.Op.String())
	}
	p.writeExpr(expr.Y, rightLevel)
}

// writeBoundVariables writes the variables of quantile(...), with a comma after each.
func (p *printer) writeBoundVariables(variables []*BoundVariable) {
	for _, variable := range variables {
		p.writeIf(variable.Extremum != NoExtremum, variable.Extremum.String()+" ")
		p.writeRenamable(variable.Name)
		p.write(", ")
	}
}

// writeCall writes a function call.
func (p *printer) writeCall(expr *Call) {
	if expr.IsLexicographic {
		p.requireStorm(expr, "multilex")
	}
	if expr.Old { // the old form func(name, ...)
		p.write("func(")
		p.writeRenamable(expr.Func)
		p.write(", ")
	} else {
		p.writeRenamable(expr.Func)
		p.write("(")
	}
	if expr.Bounds != nil {
		p.requireStorm(expr, "quantile")
		p.writeBoundVariables(expr.Bounds)
	}
	for i, arg := range expr.Args {
		p.writeIf(i > 0, ", ")
		p.writeExpr(arg, levelUntil)
	}
	p.write(")")
}

// requireStorm fails if the printer writes PRISM's dialect, which lacks this feature.
func (p *printer) requireStorm(expr Expr, feature string) {
	if !p.isEcho && p.dialect != Storm {
		p.recordError(expr, "%w", &DialectError{Dialect: PRISM, Feature: feature})
	}
}

// writeLabel writes a label or a reference to a property, in quotes.
func (p *printer) writeLabel(expr *Quoted) {
	if !p.isEcho && expr.Name != "init" && !p.isName(expr.Name) {
		p.recordError(expr, "%q is not a label", expr.Name)
	}
	p.write(`"` + expr.Name + `"`)
}

// writePropertyOperator writes an expression that occurs in properties only.
func (p *printer) writePropertyOperator(expr Expr) {
	switch expr := expr.(type) {
	case *Temporal:
		p.writeTemporal(expr)
	case *Prob:
		p.write("P")
		p.writeModifier(expr.Modifier)
		p.writeThreshold(expr.Threshold)
		p.writeBrackets(expr.Path, expr.Filter)
	case *Steady:
		if expr.Extremum != NoExtremum {
			p.requireStorm(expr, "minima and maxima of the S operator")
		}
		p.write("S")
		p.writeModifier(expr.Modifier)
		p.writeThreshold(expr.Threshold)
		p.writeBrackets(expr.X, expr.Filter)
	case *Reward:
		p.writeReward(expr)
	case *RewardPath:
		p.writeRewardPath(expr)
	case *Conditional:
		p.requireStorm(expr, "conditional probabilities and rewards")
		p.writeExpr(expr.X, levelUntil)
		p.write(" || ")
		p.writeExpr(expr.Condition, levelUntil)
	case *Quant:
		p.write(choose(expr.All, "A", "E"))
		p.writeBrackets(expr.Path, nil)
	case *Strategy:
		p.writeStrategy(expr)
	case *Filter:
		p.write("filter(" + expr.Op + ", ")
		p.writeExpr(expr.X, levelUntil)
		if expr.States != nil {
			p.write(", ")
			p.writeExpr(expr.States, levelUntil)
		}
		p.write(")")
	default:
		p.recordError(nil, "cannot print a %T", expr)
	}
}

// writeModifier writes the modifier of an operator in parentheses, such as (path) in P(path)=?; nothing for nil.
func (p *printer) writeModifier(ident *Ident) {
	if ident != nil {
		p.write("(")
		p.writeName(ident)
		p.write(")")
	}
}

// writeThreshold writes the text of an operator between its letter and its brackets, such as max=? or >=0.5.
func (p *printer) writeThreshold(threshold Threshold) {
	p.write(threshold.Extremum.String())
	if threshold.Rel == OpNone {
		p.write("=?")
		return
	}
	p.write(threshold.Rel.String())
	p.writeExpr(threshold.Bound, levelUntil)
}

// writeBrackets writes [ path filter ] after an operator.
func (p *printer) writeBrackets(path Expr, filter *OldFilter) {
	p.write(" [ ")
	p.writeExpr(path, levelUntil)
	if filter != nil {
		p.write(" {")
		p.writeExpr(filter.States, levelUntil)
		p.write("}")
		p.writeIf(filter.Min, "{min}")
		p.writeIf(filter.Max, "{max}")
	}
	p.write(" ]")
}

// writeReward writes an R operator or Storm's operator T.
func (p *printer) writeReward(expr *Reward) {
	if expr.IsTimeReward && !p.timeAsReward && (p.isEcho || p.dialect == Storm) {
		p.write("T")
		p.writeThreshold(expr.Threshold)
		p.writeBrackets(expr.Path, expr.Filter)
		return
	}
	p.write("R")
	p.writeModifier(expr.Modifier)
	if expr.Struct != nil {
		p.write("{")
		p.writeExpr(expr.Struct, levelUntil)
		p.write("}")
	}
	if expr.DivisorStruct != nil {
		p.write("/{")
		p.writeExpr(expr.DivisorStruct, levelUntil)
		p.write("}")
	}
	p.writeThreshold(expr.Threshold)
	path := expr.Path
	if !p.isEcho && startsWithSteady(path) { // PRISM would read the S as the objective R [ S ]
		path = &Paren{X: path}
	}
	p.writeBrackets(path, expr.Filter)
}

// startsWithSteady reports whether the text of an expression starts with an S operator.
func startsWithSteady(expr Expr) bool {
	switch expr := expr.(type) {
	case *Steady:
		return true
	case *Binary:
		return startsWithSteady(expr.X)
	case *Cond:
		return startsWithSteady(expr.Condition)
	case *Temporal:
		return startsWithSteady(expr.X)
	}
	return false
}

// writeRewardPath writes the objective of an R operator: S, I=k, C<=k, C, Fc or F0, with its discount factor.
func (p *printer) writeRewardPath(expr *RewardPath) {
	switch {
	case expr.Kind == LongRun:
		p.write("S")
	case expr.Kind == Instantaneous:
		p.write("I=")
		p.writeExpr(expr.Bound, levelUntil)
	case expr.Target != nil:
		p.write(choose(expr.Kind == UntilReached, "Fc ", "F0 "))
		p.writeExpr(expr.Target, levelUntil)
	case expr.Bound != nil:
		p.write("C<=")
		p.writeExpr(expr.Bound, levelUntil)
	default:
		p.write("C")
		p.writeCosts(expr, expr.Costs)
	}
	if expr.Discount != nil {
		p.requireStorm(expr, "discounted rewards")
		p.writeIf(expr.Bound != nil, " ")
		p.write("discount=")
		p.writeExpr(expr.Discount, levelUntil)
	}
}

// writeStrategy writes a coalition operator, such as <<player1,player2>>, and its operand.
func (p *printer) writeStrategy(expr *Strategy) {
	coalition := "*"
	if !expr.All {
		var players []string
		for _, ident := range expr.Coalition {
			players = append(players, ident.Name)
		}
		coalition = strings.Join(players, ",")
	}
	if expr.IsBox {
		p.write("[[" + coalition + "]] ")
	} else {
		p.write("<<" + coalition + ">> ")
	}
	needsParens := true
	switch expr.X.(type) {
	case *Prob, *Reward:
		needsParens = false
	case *Paren:
		needsParens = p.isEcho // PRISM echoes its parentheses twice
	}
	p.writeIf(needsParens, "(")
	p.writeExpr(expr.X, levelUntil)
	p.writeIf(needsParens, ")")
}

// writeTemporal writes a temporal operator with its bounds and operands.
func (p *printer) writeTemporal(expr *Temporal) {
	if expr.X != nil {
		p.writeExpr(expr.X, levelTemporal)
		p.write(" ")
	}
	p.write(expr.Op.String())
	boundStart := len(p.text)
	p.writeTimeBound(expr.Bound)
	p.writeCosts(expr, expr.Costs)
	boundEnd := len(p.text)
	p.write(" ")
	operandStart := len(p.text)
	p.writeExpr(expr.Y, levelTemporal)
	if expr.Bound != nil && !p.isEcho {
		p.separateBound(expr.Bound, boundStart, boundEnd, operandStart)
	}
}

// writeCosts writes the reward and step bounds of an operator in Storm's dialect: ^{rew{"r"}<=b,steps<=k}.
func (p *printer) writeCosts(operator Expr, costs []*CostBound) {
	if len(costs) == 0 {
		return
	}
	if !p.isEcho && costs[0].Timed {
		p.recordError(operator, "%w", &DialectError{Dialect: p.dialect, Feature: "bounds on the time of a Markov automaton"})
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
			p.writeExpr(cost.Struct, levelUntil)
			p.write("}")
		}
		p.writeTimeBound(cost.Bound)
	}
	p.write("}")
}

// writeTimeBound writes the bound of a temporal operator. It writes nothing for nil.
func (p *printer) writeTimeBound(bound *TimeBound) {
	switch {
	case bound == nil:
	case bound.Equal:
		p.write("=")
		p.writeExpr(bound.Low, levelUntil)
	case bound.Low != nil && bound.High != nil:
		if bound.IsLowStrict || bound.IsHighStrict {
			p.recordError(bound, "a bound on both sides cannot be strict")
		}
		p.write("[")
		p.writeExpr(bound.Low, levelUntil)
		p.write(",")
		p.writeExpr(bound.High, levelUntil)
		p.write("]")
	case bound.High != nil:
		p.write(choose(bound.IsHighStrict, "<", "<="))
		p.writeBoundExpr(bound.High)
	case bound.Low != nil:
		p.write(choose(bound.IsLowStrict, ">", ">="))
		p.writeBoundExpr(bound.Low)
	}
}

// writeBoundExpr writes the number of a one-sided bound. A number that starts with a function call gets parentheses.
func (p *printer) writeBoundExpr(expr Expr) {
	start := len(p.text)
	p.writeExpr(expr, levelUntil)
	scan := newScanner(p.text[start:], false)
	startsWithCall := scan.next().kind == tokIdent && scan.next().kind == tokLeftParen
	if !p.isEcho && startsWithCall { // PRISM would read only the name as the bound
		p.parenthesizeFrom(start)
	}
}

// separateBound adds parentheses between a bound and the operand after it where PRISM would read the operand as part of the bound. boundStart, boundEnd and
// operandStart are offsets in p.text.
func (p *printer) separateBound(bound *TimeBound, boundStart, boundEnd, operandStart int) {
	if continuesBound(p.text[operandStart:]) {
		p.parenthesizeFrom(operandStart)
	}
	// PRISM reads a name before a parenthesis as a function.
	isInterval := p.text[boundStart] == '['
	if p.text[operandStart] != '(' || isInterval || !endsWithName(p.text[boundStart:boundEnd]) {
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
	p.text = slices.Insert(p.text, boundEnd, ')')
	numberStart := boundStart
	for strings.IndexByte("<>=", p.text[numberStart]) >= 0 {
		numberStart++
	}
	if p.text[numberStart] == ' ' { // the blank in F< -a
		p.text[numberStart] = '('
		return
	}
	p.text = slices.Insert(p.text, numberStart, '(')
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
