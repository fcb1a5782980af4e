package sema

import (
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// manyModules returns a model of n renamed copies of a module.
func manyModules(n int) string {
	var b strings.Builder
	b.WriteString("mdp const int N = 10; formula low = s<N-1 & (b | s>0 & mod(s,2)=0);\nmodule M s : [0..N]; b : bool;\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  [a%d] low & s>=%d -> 0.5 : (s'=min(s+1,N)) & (b'=!b) + 0.5 : (s'=0);\n", i, i%10)
	}
	b.WriteString("endmodule\n")
	for i := range n {
		fmt.Fprintf(&b, "module M%d = M [ s=s%d, b=b%d, a0=a0_%d ] endmodule\n", i, i, i, i)
	}
	return b.String()
}

func BenchmarkCheckModel(b *testing.B) {
	tree, err := syntax.ParseModel("m.prism", []byte(manyModules(100)))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := CheckModel(tree); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstantiate(b *testing.B) {
	m := mustCheck(b, manyModules(100))
	for b.Loop() {
		mustInstantiate(b, m, nil)
	}
}

// The reference evaluator need not be fast, but it is an oracle for many states.
func BenchmarkEval(b *testing.B) {
	_, e, err := expression("x<9 & (b | x>0 & mod(x,2)=0) => min(x+1,10)>y", "bool")
	if err != nil {
		b.Fatal(err)
	}
	state := []int32{4, 2, 0}
	for b.Loop() {
		if _, err := Eval(e, state); err != nil {
			b.Fatal(err)
		}
	}
}
