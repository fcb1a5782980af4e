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
	p, err := syntax.ParseProperty("", []byte(property))
	if err != nil {
		return Question{}
	}
	return About(p.X, constants)
}

// About is Ask for a parsed property.
func About(x syntax.Expr, constants []result.Constant) Question {
	w := logic.Read(syntax.Unparen(x))
	q := Question{Multi: w.Kind == logic.Objectives || w.Kind == logic.Lexicographic}
	switch w.Kind {
	case logic.Probability:
		q.Operator = 'P'
	case logic.Reward:
		q.Operator = 'R'
	default:
		return q
	}
	q.Extremum, q.Rel = w.Extremum, w.Rel
	if w.Rel != syntax.OpNone {
		q.Bound = evaluate(w.Bound, constants)
	}
	return q
}

// evaluate evaluates a literal, a constant, or arithmetic over them; NaN for other expressions.
func evaluate(x syntax.Expr, constants []result.Constant) float64 {
	switch x := x.(type) {
	case *syntax.IntLit:
		return float64(x.Value)
	case *syntax.DoubleLit:
		return parseNumber(x.Text)
	case *syntax.Paren:
		return evaluate(x.X, constants)
	case *syntax.Ident:
		for _, c := range constants {
			if c.Name == x.Name {
				return parseNumber(c.Value)
			}
		}
	case *syntax.Binary:
		a, b := evaluate(x.X, constants), evaluate(x.Y, constants)
		switch x.Op {
		case syntax.OpAdd:
			return a + b
		case syntax.OpSub:
			return a - b
		case syntax.OpMul:
			return a * b
		case syntax.OpDiv:
			return a / b
		}
	}
	return math.NaN()
}

// parseNumber parses a decimal number or a fraction; NaN if the text is neither.
func parseNumber(text string) float64 {
	numerator, denominator, _ := strings.Cut(text, "/")
	x, err := strconv.ParseFloat(numerator, 64)
	if denominator != "" && err == nil {
		return x / parseNumber(denominator)
	}
	if err != nil {
		return math.NaN()
	}
	return x
}

// holds reports whether a value satisfies the threshold.
func (q *Question) holds(x float64) bool {
	switch q.Rel {
	case syntax.OpLt:
		return x < q.Bound
	case syntax.OpLe:
		return x <= q.Bound
	case syntax.OpGt:
		return x > q.Bound
	}
	return x >= q.Bound
}
