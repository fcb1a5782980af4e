package modelgen

import (
	"math/big"
	"testing"

	"tilecheck/prism/syntax"
)

// A plain evaluator of the expressions that the package builds, with PRISM's meaning: formulas are expanded, names are looked up in the
// valuation, Booleans are 0 and 1, `/` divides (exactly, in what is evaluated here).

type valuation map[string]int

type evaluator struct {
	t        *testing.T
	formulas map[string]syntax.Expr
	consts   valuation
	rats     map[string]*big.Rat // constants of type double
	compiled map[string]func(valuation) int
}

func newEvaluator(t *testing.T, m *syntax.Model) *evaluator {
	e := &evaluator{
		t: t, formulas: map[string]syntax.Expr{}, consts: valuation{}, rats: map[string]*big.Rat{},
		compiled: map[string]func(valuation) int{},
	}
	for _, item := range m.Items {
		switch item := item.(type) {
		case *syntax.FormulaDecl:
			e.formulas[item.Name.Name] = item.X
		case *syntax.ConstDecl:
			if lit, ok := item.Value.(*syntax.IntLit); ok && item.Type == syntax.ConstInt {
				e.consts[item.Name.Name] = int(lit.Value)
			}
		}
	}
	return e
}

func (e *evaluator) compile(x syntax.Expr) func(valuation) int {
	switch x := x.(type) {
	case *syntax.Paren:
		return e.compile(x.X)
	case *syntax.IntLit:
		return func(valuation) int { return int(x.Value) }
	case *syntax.BoolLit:
		return func(valuation) int { return truth(x.Value) }
	case *syntax.Ident:
		return e.name(x.Name)
	case *syntax.Unary:
		if x.Op == syntax.OpNot {
			f := e.compile(x.X)
			return func(v valuation) int { return 1 - f(v) }
		}
	case *syntax.Cond:
		c, a, b := e.compile(x.Condition), e.compile(x.Then), e.compile(x.Else)
		return func(v valuation) int {
			if c(v) != 0 {
				return a(v)
			}
			return b(v)
		}
	case *syntax.Call:
		if x.Func.Name == "min" && len(x.Args) == 2 {
			a, b := e.compile(x.Args[0]), e.compile(x.Args[1])
			return func(v valuation) int { return min(a(v), b(v)) }
		}
	case *syntax.Binary:
		return e.binary(x)
	}
	e.t.Fatalf("cannot evaluate %T", x)
	return nil
}

func (e *evaluator) name(name string) func(valuation) int {
	if f, ok := e.compiled[name]; ok {
		return f
	}
	if x, ok := e.formulas[name]; ok {
		f := e.compile(x)
		e.compiled[name] = f
		return f
	}
	if n, ok := e.consts[name]; ok {
		return func(valuation) int { return n }
	}
	return func(v valuation) int { return v[name] }
}

func (e *evaluator) binary(x *syntax.Binary) func(valuation) int {
	a, b := e.compile(x.X), e.compile(x.Y)
	switch x.Op {
	case syntax.OpAnd:
		return func(v valuation) int { return a(v) * b(v) }
	case syntax.OpOr:
		return func(v valuation) int { return max(a(v), b(v)) }
	case syntax.OpEq:
		return func(v valuation) int { return truth(a(v) == b(v)) }
	case syntax.OpNe:
		return func(v valuation) int { return truth(a(v) != b(v)) }
	case syntax.OpLe:
		return func(v valuation) int { return truth(a(v) <= b(v)) }
	case syntax.OpAdd:
		return func(v valuation) int { return a(v) + b(v) }
	case syntax.OpMul:
		return func(v valuation) int { return a(v) * b(v) }
	case syntax.OpDiv:
		return func(v valuation) int { return a(v) / b(v) }
	}
	e.t.Fatalf("cannot evaluate operator %s", x.Op)
	return nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compiledCommand is a command with one update.
type compiledCommand struct {
	action string
	guard  func(valuation) int
	names  []string
	values []func(valuation) int
}

// commands compiles the commands of a module that have one update.
func (e *evaluator) commands(m *syntax.Module) []compiledCommand {
	var cs []compiledCommand
	for _, c := range m.Commands {
		if len(c.Updates) != 1 {
			continue
		}
		cc := compiledCommand{action: c.Action.Name, guard: e.compile(c.Guard)}
		for _, a := range c.Updates[0].Assigns {
			cc.names = append(cc.names, a.Name.Name)
			cc.values = append(cc.values, e.compile(a.Value))
		}
		cs = append(cs, cc)
	}
	return cs
}

// apply puts the outcome of the command into next; the other variables keep what next has.
func (c compiledCommand) apply(v, next valuation) {
	for i, name := range c.names {
		next[name] = c.values[i](v)
	}
}

func modules(m *syntax.Model) []*syntax.Module {
	var ms []*syntax.Module
	for _, item := range m.Items {
		if module, ok := item.(*syntax.Module); ok {
			ms = append(ms, module)
		}
	}
	return ms
}

func build(t *testing.T, cfg Config) *syntax.Model {
	t.Helper()
	m, err := Build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
