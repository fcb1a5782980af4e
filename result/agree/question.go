package agree

import (
	"math"
	"strconv"
	"strings"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Question is what a property asks, as far as it matters for comparing answers. The zero value means that nothing is known
// about the property.
type Question struct {
	// Operator is 'P' or 'R' if the property is one such operator over paths, so that its samples are independent;
	// otherwise 0.
	Operator byte
	// Extremum is the minimum or maximum over schedulers that the property asks for.
	Extremum syntax.Extremum
	// Rel is OpNone for a query (=?), otherwise the relation of the value to Bound. Bound is NaN if it is not known.
	Rel   syntax.Op
	Bound float64
	// Multi says that the property is multi-objective.
	Multi bool
	// Choices says that the model may have nondeterministic choices, which samples resolve at random; NoChoices says that
	// it has none.
	Choices, NoChoices bool
	// FixedSamples says that the number of samples was fixed before sampling.
	FixedSamples bool
}

// Ask parses the text of a property in a verdict. constants are used to evaluate its bound.
func Ask(property string, constants []result.Constant) Question {
	p, err := syntax.ParsePropertyOfAny([]byte(property))
	if err != nil {
		return Question{}
	}
	return QuestionAbout(p.X, constants)
}

// QuestionAbout returns the question of a parsed property. constants are used to evaluate its bound.
func QuestionAbout(expr syntax.Expr, constants []result.Constant) Question {
	formula := logic.Read(syntax.Unparen(expr))
	question := Question{Multi: formula.Kind == logic.Objectives || formula.Kind == logic.Lexicographic}
	switch formula.Kind {
	case logic.Probability:
		question.Operator = 'P'
	case logic.Reward:
		question.Operator = 'R'
	default:
		return question
	}
	question.Extremum, question.Rel = formula.Extremum, formula.Rel
	if formula.Rel != syntax.OpNone {
		question.Bound = evaluate(formula.Bound, constants)
	}
	return question
}

// evaluate evaluates a literal, a constant, or arithmetic over them; NaN for other expressions.
func evaluate(expr syntax.Expr, constants []result.Constant) float64 {
	switch expr := expr.(type) {
	case *syntax.IntLit:
		return float64(expr.Value)
	case *syntax.DoubleLit:
		return parseNumber(expr.Text)
	case *syntax.Paren:
		return evaluate(expr.X, constants)
	case *syntax.Ident:
		return parseNumber(result.Valuation(constants).Text(expr.Name))
	case *syntax.Binary:
		return applyOperator(expr.Op, evaluate(expr.X, constants), evaluate(expr.Y, constants))
	}
	return math.NaN()
}

// applyOperator returns the result of an arithmetic operator; NaN for other operators.
func applyOperator(operator syntax.Op, left, right float64) float64 {
	switch operator {
	case syntax.OpAdd:
		return left + right
	case syntax.OpSub:
		return left - right
	case syntax.OpMul:
		return left * right
	case syntax.OpDiv:
		return left / right
	}
	return math.NaN()
}

// parseNumber parses a decimal number or a fraction; NaN if the text is neither.
func parseNumber(text string) float64 {
	numerator, denominator, _ := strings.Cut(text, "/")
	number, err := strconv.ParseFloat(numerator, 64)
	if denominator != "" && err == nil {
		return number / parseNumber(denominator)
	}
	if err != nil {
		return math.NaN()
	}
	return number
}

// holds reports whether a value satisfies the threshold.
func (q *Question) holds(value float64) bool {
	switch q.Rel {
	case syntax.OpLt:
		return value < q.Bound
	case syntax.OpLe:
		return value <= q.Bound
	case syntax.OpGt:
		return value > q.Bound
	}
	return value >= q.Bound
}
