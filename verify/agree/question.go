package agree

import (
	"math"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Question is what the reader of an answer needs to know of the property. The
// zero value is for a property of which nothing is known.
type Question struct {
	// Operator is 'P' or 'R' for a property that is one such operator over paths,
	// whose samples are therefore independent; else 0.
	Operator byte
	// Extremum is what is asked of the schedulers.
	Extremum syntax.Extremum
	// Rel is OpNone for a query (=?), else what the value is compared with Bound
	// by; Bound is NaN where it is not known.
	Rel   syntax.Op
	Bound float64
	// Multi says that several objectives are asked for at once.
	Multi bool
	// Choices says that the model may have states with several choices, among
	// which samples draw, and NoChoices that it is known to have none.
	Choices, NoChoices bool
	// FixedSamples says that the number of samples was decided beforehand.
	FixedSamples bool
}

// Ask reads a property as it is echoed in verdicts. Constants give the bound a
// value that names one.
func Ask(property string, constants []result.Constant) Question {
	p, err := syntax.ParseProperty("", []byte(property))
	if err != nil {
		return Question{}
	}
	return About(p.X, constants)
}

// About is Ask for a property that was read.
func About(x syntax.Expr, constants []result.Constant) Question {
	var q Question
	var t syntax.Threshold
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Prob:
		q.Operator, t = 'P', x.Threshold
	case *syntax.Reward:
		q.Operator, t = 'R', x.Threshold
	case *syntax.Call:
		q.Multi = x.Func.Name == "multi"
	}
	q.Extremum, q.Rel = t.Extremum, t.Rel
	if t.Rel != syntax.OpNone {
		q.Bound = number(t.Bound, constants)
	}
	return q
}

// number evaluates a literal, a constant, or arithmetic over them; NaN for
// anything else.
func number(x syntax.Expr, constants []result.Constant) float64 {
	switch x := x.(type) {
	case *syntax.IntLit:
		return float64(x.Value)
	case *syntax.DoubleLit:
		return parse(x.Text)
	case *syntax.Paren:
		return number(x.X, constants)
	case *syntax.Ident:
		for _, c := range constants {
			if c.Name == x.Name {
				return parse(c.Value)
			}
		}
	case *syntax.Binary:
		a, b := number(x.X, constants), number(x.Y, constants)
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

// parse reads a decimal number or a fraction.
func parse(text string) float64 {
	numerator, denominator, _ := strings.Cut(text, "/")
	x, err := strconv.ParseFloat(numerator, 64)
	if denominator != "" && err == nil {
		return x / parse(denominator)
	}
	if err != nil {
		return math.NaN()
	}
	return x
}

// holds reports whether a value meets the threshold.
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
