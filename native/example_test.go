package native_test

import (
	"context"
	"fmt"
	"log"

	"tilecheck/native"
	"tilecheck/runner"
)

func ExampleEngine_Check() {
	model := `dtmc
const int N;
module gambler
  x : [0..N] init 1;
  [] x>0 & x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1);
  [] x=0 | x=N -> true;
endmodule
`
	verdicts, err := native.New().Check(context.Background(), runner.Job{
		File: "gambler.prism", Model: []byte(model),
		Props:      []string{`P=? [ F x=N ]`, `P<0.3 [ F x=N ]`, `S=? [ x=N ]`},
		Consts:     []string{"N=2:2:4"},
		Simulation: runner.Simulation{Seed: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range verdicts {
		fmt.Printf("N=%s %s by %q: ", v.Constants[0].Value, v.Property, v.Method)
		switch {
		case v.Err != nil:
			fmt.Println(v.Err)
		case v.Bound != nil && v.HalfWidth != nil:
			fmt.Printf("%v in [%.3f, %.3f]\n", v.Value.Num, v.Bound.Lo, v.Bound.Hi)
		default:
			fmt.Printf("%v after %d samples\n", v.Value.Bool, v.Samples)
		}
	}
	// Output:
	// N=2 P=? [ F x=N ] by "ci": 0.529 in [0.488, 0.570]
	// N=2 P<0.3 [ F x=N ] by "sprt": false after 37 samples
	// N=2 S=? [ x=N ] by "": 1:1: found an S operator, simulation wants a P or R operator
	// N=4 P=? [ F x=N ] by "ci": 0.256 in [0.221, 0.293]
	// N=4 P<0.3 [ F x=N ] by "sprt": true after 113 samples
	// N=4 S=? [ x=N ] by "": 1:1: found an S operator, simulation wants a P or R operator
}
