package sema_test

import (
	"fmt"
	"log"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

const die = `dtmc
const double p;
const int N = 2;
module die
  s : [0..N] init 0;
  [roll] s<N -> p : (s'=s+1) + 1-p : (s'=0);
endmodule
label "done" = s=N;
`

func check(src string) *sema.Model {
	tree, err := syntax.ParseModel("die.prism", []byte(src))
	if err != nil {
		log.Fatal(err)
	}
	m, err := sema.CheckModel(tree)
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleCheckModel() {
	m := check(die)
	fmt.Println(m.ModelType(), m.Undefined(), m.Variables(), m.Actions())
	// Output: DTMC [p] [s] [roll]
}

func ExampleCheckModel_errors() {
	tree, err := syntax.ParseModel("bad.prism", []byte("dtmc\nmodule M\n  s : [0..2];\n  [] t=0 -> (s'=0.5);\nendmodule"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = sema.CheckModel(tree)
	fmt.Println(err)
	// Output:
	// bad.prism:4:6: undeclared identifier "t"
	// bad.prism:4:17: type error in update to variable "s": found the value 0.5 of type double, want int
}

func ExampleModel_Instantiate() {
	p, err := check(die).Instantiate(map[string]sema.Value{"p": sema.DoubleValue(0.5)})
	if err != nil {
		log.Fatal(err)
	}
	v := p.Vars[0]
	fmt.Println(v.Name, v.Low, v.High, v.Init, len(p.Modules[0].Commands))
	_, err = check(die).Instantiate(nil)
	fmt.Println(err)
	// Output:
	// s 0 2 0 1
	// die.prism:2:14: undefined constant "p" must be defined: add --const p=...
}

func ExampleModel_Experiment() {
	m := check(die)
	tree, err := syntax.ParseProperties("die.props", []byte(`const int T; P=? [ F<=T "done" ];`))
	if err != nil {
		log.Fatal(err)
	}
	ps, err := m.CheckProperties(tree)
	if err != nil {
		log.Fatal(err)
	}
	defs, err := sema.ParseConsts([]string{"T=5:10:25", "p=1/4:1/4:1/2"})
	if err != nil {
		log.Fatal(err)
	}
	x, err := m.Experiment(ps, nil, defs)
	if err != nil {
		log.Fatal(err)
	}
	for model, property := range x.All(0) {
		fmt.Println(model, property)
	}
	// Output:
	// p=0.25 T=5
	// p=0.25 T=15
	// p=0.25 T=25
	// p=0.5 T=5
	// p=0.5 T=15
	// p=0.5 T=25
}

func ExampleEvalExact() {
	m := check("dtmc module M x:[1..8]; endmodule rewards true : floor((0.1*x+0.7)*10); endrewards")
	p, err := m.Instantiate(nil)
	if err != nil {
		log.Fatal(err)
	}
	e := p.Rewards[0].Items[0].Value
	v, _ := sema.Eval(e, []int32{1})
	w, exact, _ := sema.EvalExact(e, []int32{1})
	fmt.Println(v, w, exact)
	// Output: 7 8 true
}
