package syntax_test

import (
	"errors"
	"fmt"
	"os"

	"tilecheck/prism/syntax"
)

const die = `dtmc
module die // Knuth and Yao, the first throw
  s : [0..2] init 0;
  [] s=0 -> 0.5:(s'=1)+0.5:(s'=2);
  // done
  [] s>0 -> true;
endmodule
`

func ExampleParseModel() {
	m, err := syntax.ParseModel("die.prism", []byte(die))
	if err != nil {
		fmt.Println(err)
		return
	}
	module := m.Items[1].(*syntax.Module)
	for _, c := range module.Commands {
		fmt.Println(c.Pos(), syntax.ExprString(c.Guard), len(c.Updates), c.Doc)
	}
	// Output:
	// 4:3 s=0 2 []
	// 6:3 s>0 1 [done]
}

// Errors come with their place, what was found and what was wanted.
func ExampleParseModel_errors() {
	_, err := syntax.ParseModel("die.prism", []byte("dtmc\nmodule die\n  s : [0..2];\n  [] s==0 -> (s'=1);\n  [] s=1 -> s'=2;\nendmodule\n"))
	fmt.Println(err)

	var list syntax.ErrorList
	fmt.Println(errors.As(err, &list), len(list), list[0].Pos.Line, list[0].Pos.Col)
	// Output:
	// die.prism:4:8: found "=", want an expression; equality is a single "="
	// die.prism:5:13: found "s'", want an expression; an assignment needs parentheses: (x'=…)
	// true 2 4 8
}

func ExampleParseProperties() {
	ps, err := syntax.ParseProperties("die.props", []byte("// RESULT: 1/2\nP=? [F s = 1]\n\"one\": P>=0.5 [ (F s=1) & (G s<2) ]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range ps.Items {
		p := item.(*syntax.Property)
		fmt.Println(p.Doc, p)
	}
	// Output:
	// [RESULT: 1/2] P=? [ F s=1 ]
	// [] "one": P>=0.5 [ (F s=1)&(G s<2) ]
}

func ExampleFprint() {
	m, err := syntax.ParseModel("die.prism", []byte(die))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := syntax.Fprint(os.Stdout, m, syntax.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// dtmc
	//
	// module die // Knuth and Yao, the first throw
	//   s : [0..2] init 0;
	//
	//   [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
	//
	//   // done
	//   [] s>0 -> true;
	// endmodule
}

// Built trees need no parentheses: the printer knows where they belong.
func ExampleFprint_built() {
	x := &syntax.Unary{Op: syntax.OpNeg, X: &syntax.Binary{
		Op: syntax.OpPow, X: &syntax.Ident{Name: "a"}, Y: &syntax.IntLit{Value: 2},
	}}
	_ = syntax.Fprint(os.Stdout, x, syntax.Options{})
	// Output: -(a^2)
}

// Storm reads some operators differently; the text it gets means the same.
func ExampleOptions_storm() {
	for _, src := range []string{"!s=1 => a/2>b", "P=? [ F \"won\" | s=2 ]", "P=? [ a W b ]"} {
		p, err := syntax.ParseProperty("", []byte(src))
		if err != nil {
			fmt.Println(err)
			continue
		}
		if err := syntax.Fprint(os.Stdout, p, syntax.Options{Dialect: syntax.Storm}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// !(s=1) => a/2.0>b;
	// P=? [ F ("won" | (s=2)) ];
	// 1:7: Storm cannot express the value of W, R or a bounded G
}

func ExampleRewrite() {
	x, err := syntax.ParseExpr("", []byte("2*f + 1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Formulas are expanded as sub-trees, which the printer keeps together.
	formula := &syntax.Binary{Op: syntax.OpAdd, X: &syntax.Ident{Name: "a"}, Y: &syntax.Ident{Name: "b"}}
	fmt.Println(syntax.ExprString(syntax.Rewrite(x, func(x syntax.Expr) syntax.Expr {
		if id, ok := x.(*syntax.Ident); ok && id.Name == "f" {
			return formula
		}
		return x
	})))
	// Output: 2*(a+b)+1
}

func ExampleInspect() {
	x, err := syntax.ParseExpr("", []byte("max(a, b+1) > c"))
	if err != nil {
		fmt.Println(err)
		return
	}
	syntax.Inspect(x, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			fmt.Print(id.Name, " ")
		}
		return true
	})
	// Output: a b c
}
