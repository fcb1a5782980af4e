package sema

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tilecheck/prism/syntax"
)

// substitute replaces constants by their values and does nothing else.
func substitute(e Expr, p *Program) Expr {
	all := func(xs []Expr) (out []Expr) {
		for _, x := range xs {
			out = append(out, substitute(x, p))
		}
		return out
	}
	switch e := e.(type) {
	case *constRef:
		return &Const{e.Base, p.Consts[e.constant.index].Val}
	case *Unary:
		return &Unary{e.Base, e.Op, substitute(e.X, p)}
	case *Binary:
		return &Binary{e.Base, e.Op, substitute(e.X, p), substitute(e.Y, p)}
	case *Cond:
		return &Cond{e.Base, substitute(e.Condition, p), substitute(e.Then, p), substitute(e.Else, p)}
	case *Call:
		return &Call{e.Base, e.Func, all(e.Args), e.Array}
	}
	return e
}

// FuzzExpr evaluates an expression over int x, int y and bool b as it was
// written and as it was folded: values and errors must agree, in both kinds of
// arithmetic. The constants are ic=3, dc=0.1 and bc=true.
func FuzzExpr(f *testing.F) {
	for _, src := range []string{
		"ic+x*2=7 & (b | mod(y,x)>0)",
		"!bc => pow(x,y)<2147483647",
		"floor((dc+0.7)*10)+(bc?x:mod(1,0))",
		"0.1+0.2=0.3 ? log(x,2) : max(dc,1/x,y)",
		"round(x/ic)^2-min(x,-y,2)",
		"(b<=>bc)=(b=>0/0=0/0)",
		"ceil(log(8.5,2)*0.3333333333333333)",
		"1e400*x>-0.0 & 0.0=-0.0",
		"-(-2147483647-1)",
	} {
		f.Add(src, int32(0), int32(2), true)
		f.Add(src, int32(-7), int32(31), false)
	}
	f.Fuzz(func(t *testing.T, src string, x, y int32, b bool) {
		if len(src) > 200 {
			return
		}
		s := []int32{x, y, 0}
		if b {
			s[2] = 1
		}
		for _, typ := range []string{"bool", "double"} {
			raw, folded, p := fuzzed(src, typ)
			if raw == nil {
				continue
			}
			raw = substitute(raw, p)
			v, err := Eval(raw, s)
			w, werr := Eval(folded, s)
			truth, exact, exactErr := EvalExact(raw, s)
			if !agrees(v, err, truth, exactErr) {
				continue // folding is exact, doubles are not
			}
			if (err == nil) != (werr == nil) || err != nil && err.(*EvalError).Pos != werr.(*EvalError).Pos || !sameValue(v, w) {
				t.Errorf("%s = %v, %v in %v, but folded, %s = %v, %v", src, v, err, s, show(folded), w, werr)
			}
			v, err = truth, exactErr
			w, wexact, werr := EvalExact(folded, s)
			if (err == nil) != (werr == nil) || exact != wexact || exact && !sameExactly(v, w) {
				t.Errorf("%s = %v, %v, %v exactly in %v, but folded, %s = %v, %v, %v", src, v, exact, err, s, show(folded), w, wexact, werr)
			}
		}
	})
}

// fuzzed resolves an expression; the result is nil if it is not one of the type.
func fuzzed(src, typ string) (raw, folded Expr, p *Program) {
	m, err := expressionModel(src, typ)
	if err != nil {
		return nil, nil, nil
	}
	if p, err = m.Instantiate(nil); err != nil {
		return nil, nil, nil
	}
	if typ == "bool" {
		return m.labels[0].Expr, p.Labels[0].Expr, p
	}
	return m.rewards[0].Items[0].Value, p.Rewards[0].Items[0].Value, p
}

// agrees reports whether doubles give what exact arithmetic does.
func agrees(v Value, err error, truth Value, exactErr error) bool {
	if err != nil || exactErr != nil {
		return err != nil && exactErr != nil
	}
	same := v.Float == truth.Float || math.IsNaN(v.Float) && math.IsNaN(truth.Float) || math.Abs(v.Float-truth.Float) < 1e-12*math.Abs(v.Float)
	return v.Bool == truth.Bool && v.Int == truth.Int && same && (truth.Rat == nil || IsClose(v.Float, truth.Rat))
}

func sameValue(v, w Value) bool {
	return v.Type == w.Type && v.Bool == w.Bool && v.Int == w.Int &&
		(math.Float64bits(v.Float) == math.Float64bits(w.Float) || math.IsNaN(v.Float) && math.IsNaN(w.Float))
}

func sameExactly(v, w Value) bool {
	return v.Type == w.Type && v.Bool == w.Bool && v.Int == w.Int && (v.Rat == nil) == (w.Rat == nil) && (v.Rat == nil || v.Rat.Cmp(w.Rat) == 0)
}

// FuzzCheck checks and instantiates models and properties: whatever the parser
// accepts either has errors with messages or becomes a program.
func FuzzCheck(f *testing.F) {
	base, err := os.ReadFile("testdata/err/base.model")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(base), "P=? [ F<=N \"done\" ]; const int k = N; R{k}=? [ C<=k ]")
	for _, pattern := range []string{"testdata/err/*.prism", "testdata/err/*.props"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if filepath.Ext(file) == ".props" {
				f.Add(string(base), string(src))
			} else {
				f.Add(string(src), "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, model, props string) {
		if len(model)+len(props) > 3000 {
			return
		}
		tree, err := syntax.ParseModel("m.prism", []byte(model))
		if err != nil {
			return
		}
		m, err := CheckModel(tree)
		if err != nil {
			wantErrors(t, err)
			return
		}
		values := make(map[string]Value)
		for _, name := range m.Undefined() {
			values[name] = IntValue(2)
		}
		p, err := m.Instantiate(values)
		if err != nil {
			wantErrors(t, err)
			return
		}
		pt, err := syntax.ParseProperties("p.props", []byte(props))
		if err != nil {
			return
		}
		ps, err := m.CheckProperties(pt)
		if err != nil {
			wantErrors(t, err)
			return
		}
		for _, name := range ps.Undefined() {
			values[name] = IntValue(2)
		}
		if _, _, err = ps.Instantiate(p, nil, values); err != nil {
			wantErrors(t, err)
		}
	})
}

func wantErrors(t *testing.T, err error) {
	var list syntax.ErrorList
	if !errors.As(err, &list) || len(list) == 0 || list[0].Msg == "" {
		t.Errorf("got %#v, want an ErrorList", err)
	}
}
