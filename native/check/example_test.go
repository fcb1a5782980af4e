package check_test

import (
	"context"
	"fmt"
	"log"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// The die of Knuth and Yao, made from a fair coin.
const die = `dtmc
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> true;
endmodule
rewards "flips" s<7 : 1; endrewards`

func Example() {
	tree, err := syntax.ParseModel("die.prism", []byte(die))
	if err != nil {
		log.Fatal(err)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		log.Fatal(err)
	}
	file, err := syntax.ParseProperties("die.props", []byte(`P=? [ F d=6 ]; R{"flips"}=? [ F s=7 ]; P<=0.17 [ F d=1 ];`))
	if err != nil {
		log.Fatal(err)
	}
	checked, err := model.CheckProperties(file)
	if err != nil {
		log.Fatal(err)
	}
	prog, err := model.Instantiate(nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := compile.Compile(prog, compile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	space, err := explicit.Build(ctx, m, explicit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	props, full, err := checked.Instantiate(prog, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(space.Model().NumStates(), "states")
	for _, opts := range []check.Options{{}, {Accuracy: result.Exact}} {
		c := check.New(m, space, opts)
		for _, p := range props {
			v := c.Check(ctx, &check.Property{Property: p, Program: full, File: "die.props"})
			switch {
			case v.Value.Kind == result.Boolean:
				fmt.Println(v.Property, v.Value.Bool, v.Accuracy)
			case v.Value.Rat != nil:
				fmt.Println(v.Property, v.Value.Rat.RatString(), v.Accuracy)
			default:
				fmt.Printf("%s %.6f %v\n", v.Property, v.Value.Num, v.Accuracy)
			}
		}
	}
	// Output:
	// 13 states
	// P=? [ F d=6 ] 0.166667 bounded
	// R{"flips"}=? [ F s=7 ] 3.666667 bounded
	// P<=0.17 [ F d=1 ] true bounded
	// P=? [ F d=6 ] 1/6 exact
	// R{"flips"}=? [ F s=7 ] 11/3 exact
	// P<=0.17 [ F d=1 ] true exact
}
