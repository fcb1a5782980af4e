package native_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// doubled is a model that mentions what an expression stands for 2^n times.
type doubled struct {
	name string
	// text is a model, and props a properties file, in which head is the name of
	// what link doubles n times, from the expression first.
	text, props string
	link        func(i int, name string) string
	first, head string
	// plain is an expression with the value of the head.
	plain func(n int) string
	tree  bool // first is of a properties file
}

// steps is n times x -> 2*x+1, modulo 1000.
func steps(x, n int) int {
	for range n {
		x = (2*x + 1) % 1000
	}
	return x
}

// table is the sequence of steps from x, which is at most 9.
func table(x string, n int) string {
	text := fmt.Sprint(steps(9, n))
	for i := range 9 {
		text = fmt.Sprintf("(%s=%d ? %d : %s)", x, i, steps(i, n), text)
	}
	return text
}

func doubles() []doubled {
	ints := func(i int, f string) string { return fmt.Sprintf("mod(%s%d+%s%d+1,1000)", f, i-1, f, i-1) }
	bools := func(i int, f string) string {
		return fmt.Sprintf("((%s%d & x>0) | (%s%d & y>0) | %s%d)", f, i-1, f, i-1, f, i-1)
	}
	const two = "module M x:[0..9]; y:[0..3]; "
	return []doubled{
		{
			name: "Int", link: ints, first: "x", head: "f", plain: func(n int) string { return table("x", n) },
			text:  "dtmc\n$ " + two + "[] @<2000 & x<9 -> 0.5:(x'=x+1) + 0.5:(x'=mod(@,10)); [] x=9 -> true; endmodule label \"l\" = mod(@,3)=0; rewards @>=0 : @; endrewards",
			props: "P=? [ F<=4 \"l\" ]; R=? [ C<=5 ]; P=? [ F<=5 mod(@,7)=2 ]; filter(count, \"l\"); P>=0.1 [ F<=9 x=9 ];",
		},
		{
			name: "Bool", link: bools, first: "(x>2)", head: "f", plain: func(int) string { return "(x>2)" },
			text:  "mdp\n$ " + two + "[] !@ -> 0.5:(x'=x+1) + 0.5:(y'=mod(y+1,4)); [] @ & x<9 -> (x'=x+1); [] x=9 -> true; endmodule label \"l\" = @; rewards @ : 1; endrewards",
			props: "Pmax=? [ F<=5 \"l\" ]; Rmin=? [ F x=9 ]; Pmin=? [ F<=4 @ & y>0 ]; filter(count, @ & y<2);",
		},
		{
			name: "Double", first: "(0.1*x)", head: "f", plain: func(int) string { return "(0.1*x)" },
			link:  func(i int, f string) string { return fmt.Sprintf("((%s%d+%s%d)/2)", f, i-1, f, i-1) },
			text:  "dtmc\n$ " + two + "[] x<9 -> @+0.05:(x'=x+1) + 0.95-@:(x'=0); [] x=9 & @>0.85 -> true; endmodule label \"l\" = @>=0.3; rewards @>0.1 : @; endrewards",
			props: "P=? [ F<=5 \"l\" ]; R=? [ C<=5 ]; filter(count, @>=0.3); P=? [ F<=7 @=0.4 ];",
		},
		{
			name: "renamed", link: ints, first: "x", head: "f", plain: func(n int) string { return table("x", n) },
			text: "mdp\n$ module M x:[0..9]; [] @<2000 & x<9 -> 0.5:(x'=x+1) + 0.5:(x'=mod(@,10)); endmodule\n" +
				"module N = M [ x=z ] endmodule label \"l\" = mod(@,3)=0;",
			props: "Pmax=? [ F<=4 \"l\" & z>3 ]; Pmin=? [ F<=4 z>6 ];",
		},
		{
			name: "constant", link: ints, first: "k", head: "f", plain: func(n int) string { return fmt.Sprint(steps(4, n)) },
			text:  "dtmc\nconst int k = 4; $ const int c = @; " + two + "[] x<9 -> 0.5:(x'=x+1) + 0.5:(x'=mod(c,10)); [] x=9 -> true; endmodule",
			props: "P=? [ F<=4 x=mod(c,9) ]; P=? [ X x=mod(c,10) ];",
		},
		{
			name: "properties", link: bools, first: "(x>2)", head: "f", plain: func(int) string { return "(x>2)" }, tree: true,
			text:  "dtmc\n" + two + "[] x<9 -> 0.5:(x'=x+1) + 0.5:(y'=mod(y+1,4)); [] x=9 -> true; endmodule",
			props: "P=? [ F<=5 @ ]; filter(count, @); P=? [ F<=5 @ & y=2 ];",
		},
		{
			name: "operators", link: bools, first: "(P>=0.2 [ F<=3 x>4 ])", head: "f", plain: func(int) string { return "(P>=0.2 [ F<=3 x>4 ])" }, tree: true,
			text:  "dtmc\n" + two + "[] x<9 -> 0.5:(x'=x+1) + 0.5:(y'=mod(y+1,4)); [] x=9 -> true; endmodule",
			props: "P=? [ F<=5 @ ]; filter(count, @); P=? [ F<=5 (@ & y=2) ];",
		},
		{
			name: "numbers", first: "P=? [ F<=3 x>4 ]", head: "f", plain: func(int) string { return "P=? [ F<=3 x>4 ]" }, tree: true,
			link:  func(i int, f string) string { return fmt.Sprintf("((%s%d+%s%d)/2)", f, i-1, f, i-1) },
			text:  "dtmc\n" + two + "[] x<9 -> 0.5:(x'=x+1) + 0.5:(y'=mod(y+1,4)); [] x=9 -> true; endmodule",
			props: "filter(max, @, y=0); filter(sum, @);",
		},
	}
}

// shared is the model and its properties with n doublings.
func (d *doubled) shared(n int) (text, props string) {
	var b strings.Builder
	for i := range n + 1 {
		x := d.first
		if i > 0 {
			name := d.head
			if d.tree {
				name = `"` + d.head
			}
			if x = d.link(i, name); d.tree { // the names are quoted
				x = strings.NewReplacer(fmt.Sprintf(`"f%d`, i-1), fmt.Sprintf(`"f%d"`, i-1)).Replace(x)
			}
		}
		if d.tree {
			fmt.Fprintf(&b, "\"%s%d\": %s;\n", d.head, i, x)
		} else {
			fmt.Fprintf(&b, "formula %s%d = %s;\n", d.head, i, x)
		}
	}
	head := fmt.Sprint(d.head, n)
	if d.tree {
		return d.text, b.String() + strings.ReplaceAll(d.props, "@", `"`+head+`"`)
	}
	return strings.NewReplacer("$", b.String(), "@", head).Replace(d.text), strings.ReplaceAll(d.props, "@", head)
}

// written is the same without names.
func (d *doubled) written(n int) (text, props string) {
	return strings.NewReplacer("$", "", "@", d.plain(n)).Replace(d.text), strings.ReplaceAll(d.props, "@", d.plain(n))
}

// What formulas, constants and properties stand for is shared wherever they are
// mentioned: two to the power of forty operators are checked and sampled as the
// expression that has their value.
func TestDoubling(t *testing.T) {
	for _, d := range doubles() {
		for _, n := range []int{3, 40, 8}[:max(needs.Some(3), 2)] {
			for _, mode := range []runner.Settings{
				{},
				{Numeric: runner.Numeric{Accuracy: result.Exact}},
				{Method: runner.CI, Simulation: runner.Simulation{Samples: 300, Seed: 1}},
			} {
				t.Run(fmt.Sprint(d.name, n, mode.Method, mode.Numeric.Accuracy), func(t *testing.T) {
					if mode.Method == runner.CI && (strings.Contains(d.text, "mdp") || d.tree && d.name != "properties") {
						return // cannot be sampled
					}
					var vs [2][]result.Verdict
					for i, write := range []func(int) (string, string){d.shared, d.written} {
						text, props := write(n)
						job := runner.Job{File: "m.prism", Model: []byte(text), PropsFile: "m.props", Properties: []byte(props), Settings: mode}
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						var err error
						if vs[i], err = runner.Check(ctx, native.New(), job); err != nil {
							t.Fatalf("%v\n%s\n%s", err, text, props)
						}
					}
					k := len(vs[1])
					for i, got := range vs[0][len(vs[0])-k:] {
						if want := vs[1][i]; !same(got, want) || got.Err != nil && mode.Method != runner.CI {
							t.Errorf("%s: %v %v %v, want %v %v %v", got.Property, got.Value, got.Bound, got.Err, want.Value, want.Bound, want.Err)
						}
					}
				})
			}
		}
	}
}

// same compares two verdicts; bounds may differ by what doubles round.
func same(v, w result.Verdict) bool {
	if v.Err != nil || w.Err != nil {
		return v.Err != nil && w.Err != nil
	}
	if v.Value.Rat != nil && w.Value.Rat != nil {
		return v.Value.Rat.Cmp(w.Value.Rat) == 0
	}
	return v.Value.Kind == w.Value.Kind && v.Value.Bool == w.Value.Bool && math.Abs(v.Value.Num-w.Value.Num) <= 1e-7*math.Abs(w.Value.Num)
}
