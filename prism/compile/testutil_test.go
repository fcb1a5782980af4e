package compile

import (
	"math"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// program checks and instantiates a model.
func program(tb testing.TB, tree *syntax.Model, consts map[string]sema.Value) *sema.Program {
	tb.Helper()
	checked, err := sema.CheckModel(tree)
	if err != nil {
		tb.Fatal(err)
	}
	prog, err := checked.Instantiate(consts)
	if err != nil {
		tb.Fatal(err)
	}
	return prog
}

// model compiles the text of a model.
func model(tb testing.TB, text string, opts Options) *Model {
	tb.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Compile(program(tb, tree, nil), opts)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// game2048 compiles a model of the game.
func game2048(tb testing.TB, cfg modelgen.Config, policy string) *Model {
	tb.Helper()
	if policy != "" {
		p, err := modelgen.ParsePolicy(policy)
		if err != nil {
			tb.Fatal(err)
		}
		cfg.Policy = p
	}
	tree, err := modelgen.Build(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Compile(program(tb, tree, nil), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// label returns the label expression of a model.
func label(tb testing.TB, m *Model, name string) sema.Expr {
	tb.Helper()
	for i, l := range m.program.Labels {
		if l.Name == name {
			return &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: name, Index: i}
		}
	}
	tb.Fatalf("no label %q", name)
	return nil
}

// eventually is the monitor of F "name".
func eventually(tb testing.TB, m *Model, name string) Monitor {
	return Monitor{Kind: Until, Right: label(tb, m, name), Low: math.Inf(-1), High: math.Inf(1), MaxPath: 10000}
}

var noPos syntax.Pos
