package strategy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

func TestParse(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	for _, c := range []struct{ spec, canonical string }{
		{"random", "random"},
		{"pref:down,up,right,left", "pref:down,up,right,left"},
		{"alt:up,left,down,right/left,up,down,right", "alt:up,left,down,right/left,up,down,right"},
		{"opposite", "pref:up,down,left,right"},
		{"orthogonal", "pref:left,up,down,right"},
		{"alternating", "alt:up,left,down,right/left,up,down,right"},
		{"sparse", "sparse:depth=3,n=1,ties=random"},
		{"sparse:", "sparse:depth=3,n=1,ties=random"},
		{"sparse:ties=first,n=2,depth=4", "sparse:depth=4,n=2,ties=first"},
		{"sparse:depth=8,n=3", "sparse:depth=8,n=3,ties=random"},
		{"sparse:depth=1,n=1000000", "sparse:depth=1,n=1000000,ties=random"},
		{"mc", "mc:runs=50,value=score,ties=random"},
		{"mc:value=max,runs=007", "mc:runs=7,value=max,ties=random"},
	} {
		if got := parse(t, rules, c.spec).String(); got != c.canonical {
			t.Errorf("%q is %q, want %q", c.spec, got, c.canonical)
		}
	}
}

func TestParseErrors(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	const order = "want each of left, up, right, down once, separated by commas"
	for _, c := range []struct{ spec, want string }{
		{"greedy", `strategy "greedy": unknown name "greedy", want random, pref, alt, `},
		{"", `strategy "": unknown name "", want random, `},
		{"Random", `unknown name "Random"`},
		{"random:x", `strategy "random:x": option "x", want key=value`},
		{"random:x=1", `strategy "random:x=1": unknown option "x", want no option`},
		{"opposite:depth=1", `strategy "opposite:depth=1": options depth=1, want none`},
		{"pref", `found "" in the list "", ` + order},
		{"pref:left,up,down", `the list "left,up,down" has 3 moves, ` + order},
		{"pref:left,up,down,left", `found "left" in the list "left,up,down,left", ` + order},
		{"pref:left,up,down,north", `found "north" in the list "left,up,down,north", ` + order},
		{"alt:left,up,down,right", "one list, want two lists separated by a slash"},
		{"alt:left,up,down,right/", `found "" in the list "", ` + order},
		{"alt:left/left,up,down,right", `the list "left" has 1 moves, ` + order},
		{"sparse:depth=0", `strategy "sparse:depth=0": depth is 0, want an integer from 1 to 8`},
		{"sparse:depth=9", "depth is 9, want an integer from 1 to 8"},
		{"sparse:depth=1000000000000000000", "depth is 1000000000000000000, want an integer from 1 to 8"},
		{"sparse:depth=two", "depth is two, want an integer from 1 to 8"},
		{"sparse:depth=8,n=4", "n is 4, want an integer from 1 to 3"},
		{"sparse:depth=2,n=0", "n is 0, want an integer from 1 to 1000000"},
		{"sparse:ties=last", "ties is last, want random, first"},
		{"sparse:depth=1,depth=2", "depth is there twice, want it once"},
		{"sparse:runs=1", `unknown option "runs", want depth, ties, n`},
		{"sparse:depth", `option "depth", want key=value`},
		{"sparse:depth=", `option "depth=", want key=value`},
		{"sparse:,", `option "", want key=value`},
		{"mc:runs=0", "runs is 0, want an integer from 1 to 100000"},
		{"mc:runs=100001", "runs is 100001, want an integer from 1 to 100000"},
		{"mc:runs=1.5", "runs is 1.5, want an integer"},
		{"mc:value=mean", "value is mean, want score, max, sum"},
		{"mc:depth=1", `unknown option "depth", want runs, value, ties`},
	} {
		_, err := strategy.Parse(c.spec, strategy.Setting{Rules: rules})
		if specErr, ok := errors.AsType[*strategy.SpecError](err); !ok || !strings.Contains(err.Error(), c.want) || specErr.Spec != c.spec {
			t.Errorf("%q: error is %v, want %s", c.spec, err, c.want)
		}
	}
}

// The examples of the list are strategies of the families they are examples of.
func TestList(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	names := map[string]bool{}
	for _, e := range strategy.List() {
		if names[e.Name] || e.About == "" || e.Source == "" || !strings.HasPrefix(e.Example, e.Name) {
			t.Errorf("entry %+v: want a new name, what it is, its source, and an example of it", e)
		}
		names[e.Name] = true
		if _, err := strategy.Parse(e.Example, strategy.Setting{Rules: rules, Max: 11, Programs: struct{ strategy.Programs }{}}); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range strategy.List() {
		f.Add(e.Example)
		f.Add(e.Name + ":depth=2,n=3,ties=first,runs=7,value=max")
	}
	rules := newRules(f, game.Shape{Rows: 4, Cols: 4})
	setting := strategy.Setting{Rules: rules, Max: 11}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := strategy.Parse(spec, setting)
		if err != nil {
			if _, ok := errors.AsType[*strategy.SpecError](err); !ok {
				t.Fatalf("%q: error is a %T, want a *strategy.SpecError", spec, err)
			}
			return
		}
		again, err := strategy.Parse(s.String(), setting)
		if err != nil {
			t.Fatalf("%q is %q: %v", spec, s, err)
		}
		if again.String() != s.String() || again.Deterministic() != s.Deterministic() || again.Memory() != s.Memory() {
			t.Fatalf("%q is %q, and that is %q", spec, s, again)
		}
	})
}

func ExampleParse() {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := strategy.Parse("sparse:depth=2", strategy.Setting{Rules: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := rules.Shape().Parse("2 4 / 8 .")
	if err != nil {
		fmt.Println(err)
		return
	}
	choices, err := s.Chooser().Decide(board, rules.Legal(board), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	for _, c := range choices {
		fmt.Println(c.Dir, c.Prob)
	}
	// Output:
	// sparse:depth=2,n=1,ties=random
	// right 81/200
	// down 119/200
}
