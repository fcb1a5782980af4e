package compile_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

const coin = `mdp
module coin
  heads : [0..3];
  [toss] heads<3 -> 0.5:(heads'=heads+1) + 0.5:(heads'=0);
  [stop] heads>1 -> true;
endmodule
label "three" = heads=3;`

func load(text string) (*compile.Model, error) {
	tree, err := syntax.ParseModel("coin.prism", []byte(text))
	if err != nil {
		return nil, err
	}
	checked, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	prog, err := checked.Instantiate(nil)
	if err != nil {
		return nil, err
	}
	return compile.Compile(prog, compile.Options{})
}

func ExampleModel_NewExpander() {
	m, err := load(coin)
	if err != nil {
		log.Fatal(err)
	}
	choices, err := m.NewExpander().Expand([]int32{2})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range choices.List {
		fmt.Println(m.Program().Actions[c.Action], c.Transitions)
	}
	// Output:
	// toss [{0.5 [3]} {0.5 [0]}]
	// stop [{1 [2]}]
}

func ExampleModel_NewRunner() {
	m, err := load(coin)
	if err != nil {
		log.Fatal(err)
	}
	three := &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "three", Index: 0}
	r, err := m.NewRunner(context.Background(), compile.Monitor{
		Kind: compile.Until, Right: three,
		Low: math.Inf(-1), High: math.Inf(1), MaxPath: 10000,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	out := make([]compile.Outcome, 1000)
	if err := r.RunBatch(context.Background(), 1, 0, out); err != nil {
		log.Fatal(err)
	}
	reached := 0
	for _, o := range out {
		if o.Status == compile.True {
			reached++
		}
	}
	fmt.Println(r.Name(), reached)
	// Output: machine 1000
}
