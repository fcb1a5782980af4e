package native_test

import (
	"context"
	"fmt"
	"log"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

const gambler = `dtmc
const int N;
module gambler
  x : [0..N] init 1;
  [] x>0 & x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1);
  [] x=0 | x=N -> true;
endmodule
`

func ExampleEngine_Check() {
	verdicts, err := runner.Check(context.Background(), native.New(), runner.Job{
		File: "gambler.prism", Model: []byte(gambler),
		Props:    []string{`P=? [ F x=N ]`, `P<0.3 [ F x=N ]`, `S=? [ x=N ]`},
		Consts:   []string{"N=2:2:4"},
		Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range verdicts {
		fmt.Printf("N=%s, %d states, %s is %s ", v.Constants[0].Value, v.States, v.Property, v.Accuracy)
		if v.Value.Kind == result.Boolean {
			fmt.Println(v.Value.Bool)
		} else {
			fmt.Println(v.Value.Rat.RatString())
		}
	}
	// Output:
	// N=2, 3 states, P=? [ F x=N ] is exact 1/2
	// N=2, 3 states, P<0.3 [ F x=N ] is exact false
	// N=2, 3 states, S=? [ x=N ] is exact 1/2
	// N=4, 5 states, P=? [ F x=N ] is exact 1/4
	// N=4, 5 states, P<0.3 [ F x=N ] is exact true
	// N=4, 5 states, S=? [ x=N ] is exact 1/4
}

// Sampling answers most of the same questions, and says how sure it is.
func ExampleEngine_Check_sampling() {
	verdicts, err := runner.Check(context.Background(), native.New(), runner.Job{
		File: "gambler.prism", Model: []byte(gambler),
		Props:    []string{`P=? [ F x=N ]`, `P<0.3 [ F x=N ]`, `S=? [ x=N ]`},
		Consts:   []string{"N=2:2:4"},
		Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{Seed: 1}},
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
