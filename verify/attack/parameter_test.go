package attack

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// powers are the powers in a function, for which Go has no operator.
var powers = regexp.MustCompile(`[pq]\^\d+`)

// parametric is a point of the parameters p and q of a DTMC.
type parametric struct{ p, q *big.Rat }

// distribution returns a distribution with parameters over two or three of n states.
func (at parametric) distribution(r maker, n int) []branch {
	targets := r.Perm(n)
	p, q := at.p, at.q
	weights := pick(r,
		[]branch{{weight: p, text: "p"}, {weight: sub(one(), p), text: "1-p"}},
		[]branch{{weight: q, text: "q"}, {weight: sub(one(), q), text: "1-q"}},
		[]branch{{weight: mul(p, q), text: "p*q"}, {weight: sub(one(), mul(p, q)), text: "1-p*q"}},
		[]branch{{weight: quo(p, big.NewRat(3, 1)), text: "p/3"}, {weight: sub(one(), quo(p, big.NewRat(3, 1))), text: "1-p/3"}},
		[]branch{{weight: mul(p, q), text: "p*q"}, {weight: mul(p, sub(one(), q)), text: "p*(1-q)"}, {weight: sub(one(), p), text: "1-p"}},
		[]branch{{weight: quo(p, add(p, q)), text: "p/(p+q)"}, {weight: quo(q, add(p, q)), text: "q/(p+q)"}},
	)
	for i := range weights {
		weights[i].target = targets[i]
	}
	return weights
}

// parameters asks for functions of parameters, and compares their values at random points.
func (a *attack) parameters(i *instance) {
	job := i.job()
	job.Params = []string{"p,q=0.01:0.99"}
	verdicts, err := runner.Check(a.Context(), native.New(), job)
	if err != nil {
		a.alarm(i, "", "%v", err)
		return
	}
	for k := range verdicts {
		v, q := &verdicts[k], &i.questions[k]
		if v.Err != nil && v.Err.Class == result.Unsupported {
			a.refused(i, q.text, v.Err.Message)
			continue
		}
		if v.Err != nil {
			a.alarm(i, q.text, "error %s: %v", v.Err.Class, v.Err)
			continue
		}
		for _, point := range i.points {
			want := point.answers[k]
			x, err := evaluate(v, point.at)
			switch {
			case err != nil:
				a.alarm(i, q.text, "%v", err)
			case compare(x, want.lower) != 0:
				a.alarm(i, q.text, "found %s at p=%v, q=%v, want %v", v.Value.Formula, point.at.p, point.at.q, want)
			default:
				a.answers[[2]string{i.kind, a.mode}]++
			}
		}
	}
}

// constants asks the same questions with values of the parameters.
func (a *attack) constants(i *instance) {
	for _, point := range i.points {
		job := i.job()
		job.Consts = []string{"p=" + number(point.at.p) + ",q=" + number(point.at.q)}
		job.Numeric.Accuracy = pick(a.maker, result.Unknown, result.Exact, result.Proven)
		for k := range i.questions {
			i.questions[k].want = point.answers[k]
		}
		a.ask(i, job)
	}
}

// evaluate evaluates the function of a verdict at a point. Infinity is nil.
func evaluate(v *result.Verdict, at parametric) (*big.Rat, error) {
	switch {
	case v.Value.Kind == result.Number && v.Value.Rat != nil:
		return v.Value.Rat, nil
	case v.Value.Kind == result.Number && v.Value.Num > 1e300:
		return nil, nil
	case v.Value.Kind != result.Function:
		return nil, fmt.Errorf("found a %v", v.Value.Kind)
	}
	tree, err := parser.ParseExpr(powers.ReplaceAllStringFunc(v.Value.Formula, func(power string) string {
		exponent, _ := strconv.Atoi(power[2:])
		return "(1" + strings.Repeat("*"+power[:1], exponent) + ")"
	}))
	if err != nil {
		return nil, fmt.Errorf("found the function %s: %w", v.Value.Formula, err)
	}
	return at.evaluate(tree)
}

// evaluate evaluates an expression, which has the syntax of Go but for powers.
func (at parametric) evaluate(tree ast.Expr) (*big.Rat, error) {
	switch e := tree.(type) {
	case *ast.ParenExpr:
		return at.evaluate(e.X)
	case *ast.Ident:
		return map[string]*big.Rat{"p": at.p, "q": at.q}[e.Name], nil
	case *ast.BasicLit:
		x, ok := new(big.Rat).SetString(e.Value)
		if !ok {
			return nil, fmt.Errorf("found the number %s", e.Value)
		}
		return x, nil
	case *ast.UnaryExpr:
		x, err := at.evaluate(e.X)
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Neg(x), nil
	case *ast.BinaryExpr:
		x, err := at.evaluate(e.X)
		if err != nil {
			return nil, err
		}
		y, err := at.evaluate(e.Y)
		if err != nil {
			return nil, err
		}
		switch e.Op {
		case token.ADD:
			return add(x, y), nil
		case token.SUB:
			return sub(x, y), nil
		case token.MUL:
			return mul(x, y), nil
		case token.QUO:
			return quo(x, y), nil
		}
	}
	return nil, fmt.Errorf("found an expression of type %T", tree)
}

// parametric returns a DTMC with parameters, and questions with their answers at points.
func (r maker) parametric() *instance {
	seed := r.Uint64()
	for ; ; seed++ {
		i := &instance{kind: "parametric", file: "m.prism", only: []string{"parameters", "constants"}}
		for range 3 {
			at := parametric{big.NewRat(int64(1+r.IntN(99)), 100), big.NewRat(int64(1+r.IntN(99)), 100)}
			m := maker{rand.New(rand.NewPCG(seed, 0))}.chainWith(at)
			if len(m.choices) < 3 {
				break
			}
			w := writer{maker{rand.New(rand.NewPCG(seed, 1))}, m}
			i.text = strings.Replace(m.text(), "dtmc\n", "dtmc\nconst double p;\nconst double q;\n", 1)
			answers, questions := i.askAt(w)
			i.questions, i.points = questions, append(i.points, point{at, answers})
		}
		if len(i.points) > 0 {
			return i
		}
	}
}

// point is a valuation of the parameters with the answers there.
type point struct {
	at      parametric
	answers []answer
}

// askAt returns the same questions for all points.
func (i *instance) askAt(w writer) (answers []answer, questions []question) {
	for range 5 {
		q := w.probability(0)
		if w.one(3) {
			text, set := w.state(0)
			q = quantity{`R{"r"}`, "[ F " + text + " ]", func(goal) vector { return w.chain().reachReward(set) }, false}
		}
		want := numberAnswer(q.of(all(true))[0])
		answers, questions = append(answers, want), append(questions, question{text: q.operator + "=? " + q.path, want: want})
	}
	return answers, questions
}

// chainWith returns a DTMC in which some distributions have parameters.
func (r maker) chainWith(at parametric) *system {
	m := r.system("dtmc", 3+r.IntN(4), 1)
	for s := range m.choices {
		if n := len(m.choices); n > 2 && len(m.choices[s][0].vertices[0]) > 1 && !r.one(4) {
			m.choices[s][0].vertices[0] = at.distribution(r, n)
		}
	}
	return m.reachable()
}
