package simulate_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"tilecheck/native/simulate"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/stats"
)

const coin = `dtmc
module coin
  heads : [0..2] init 0;
  done : bool init false;
  [flip] !done & heads<2 -> 0.5 : (heads'=heads+1) + 0.5 : (done'=true);
  [stop] heads=2 -> true;
endmodule
`

// compiled is what package native does with a model without constants.
func compiled(text string) (*sema.Model, *compile.Model) {
	tree, err := syntax.ParseModel("coin.prism", []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	checked, err := sema.CheckModel(tree)
	if err != nil {
		log.Fatal(err)
	}
	program, err := checked.Instantiate(nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := compile.Compile(program, compile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return checked, m
}

func ExampleCheck() {
	checked, m := compiled(coin)
	tree, err := syntax.ParseProperties("", []byte(`P=? [ F heads=2 ]`))
	if err != nil {
		log.Fatal(err)
	}
	props, err := checked.CheckProperties(tree)
	if err != nil {
		log.Fatal(err)
	}
	list, program, err := props.Instantiate(m.Program(), nil, nil)
	if err != nil {
		log.Fatal(err)
	}

	r := simulate.Check(context.Background(), m, &simulate.Property{Property: list[0], Program: program}, simulate.Options{
		Params: stats.Params{Samples: 10_000}, Seed: 2,
	})
	if r.Err != nil {
		log.Fatal(r.Err)
	}
	fmt.Printf("%s: %.4f, PRISM's +/- %.4f\n", r.Property, r.Value.Num, *r.HalfWidth)
	fmt.Printf("%s at %v: contains 1/4: %v\n", r.BoundMethod, r.Confidence, r.Bound.Contains(0.25))
	fmt.Printf("paths of %d to %d steps\n", r.Steps.Min, r.Steps.Max)
	// Output:
	// P=? [ F heads=2 ]: 0.2510, PRISM's +/- 0.0112
	// Clopper-Pearson at 0.99: contains 1/4: true
	// paths of 1 to 2 steps
}

func ExampleWalk() {
	_, m := compiled(coin)
	path := simulate.Walk(context.Background(), simulate.FromModel(m), simulate.PathOptions{Steps: 5, Seed: 2})
	if err := simulate.WriteTable(os.Stdout, path, simulate.TableOptions{Probs: true}); err != nil {
		log.Fatal(err)
	}
	if path.Err != nil {
		log.Fatal(path.Err)
	}
	fmt.Println("end:", path.End)
	// Output:
	// action probability step heads done
	// - - 0 0 false
	// [flip] 0.5 1 1 false
	// [flip] 0.5 2 2 false
	// [stop] 1.0 3 2 false
	// end: deterministic loop
}
