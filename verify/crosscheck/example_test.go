package crosscheck_test

import (
	"context"
	"fmt"
	"os"

	"tilecheck/native"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

const die = `dtmc
module die
  s : [0..2] init 0;
  [throw] s=0 -> 1/6:(s'=1) + 5/6:(s'=2);
  [] s>0 -> true;
endmodule
`

// Bounds, fractions and samples of one engine.
func ExampleRun() {
	job := runner.Job{File: "die.prism", Model: []byte(die), Props: []string{"P=? [ F s=1 ]"}}
	r, err := crosscheck.Run(context.Background(), job, []runner.EngineConfig{
		{Engine: native.New()},
		{Label: "exact", Engine: native.New(), Accuracy: result.Exact},
		{Label: "samples", Engine: native.New(), Method: runner.CI},
	}, crosscheck.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r, r.ExitCode())
	fmt.Println(r.Rows[0].Status, r.Rows[0].Basis, r.Confidence)
	// Output:
	// 1 agree 0
	// agree statistical 0.99
}

// A wrong model against the right one.
func ExampleAgainst() {
	right := runner.Job{File: "die.prism", Model: []byte(die), Props: []string{"P=? [ F s=1 ]"}}
	wrong := right
	wrong.File, wrong.Model = "wrong.prism", []byte("dtmc\nmodule die\n  s : [0..2] init 0;\n  [throw] s=0 -> 1/5:(s'=1) + 4/5:(s'=2);\n  [] s>0 -> true;\nendmodule\n")
	r, err := crosscheck.Against(context.Background(), right, wrong, []runner.EngineConfig{
		{Engine: native.New(), Accuracy: result.Exact},
	}, crosscheck.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.Table().Write(os.Stdout, table.Text, table.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// property       native die.prism  native wrong.prism  outcome   basis   reason
	// -------------  ----------------  ------------------  --------  ------  ----------------------------------------------------------
	// P=? [ F s=1 ]  1/6               1/5                 disagree  proven  fractions differ: native die.prism 1/6, native wrong.prism
	//                                                                        1/5
	//
	// 1 disagree
	// basis proven: by fractions, or by bounds that contain the true value; no certificate was checked (--certify)
	// die.prism: no error in its 3 states, 3 choices, 4 transitions
	// wrong.prism: no error in its 3 states, 3 choices, 4 transitions
	// die.prism against wrong.prism: probability in state (s=0), action [throw], to (s=1): 0.16666666666666666 against 0.2
	//   die.prism:4:3: command [throw]
	//   wrong.prism:4:3: command [throw]
	// computed values agree if their relative difference is at most 1e-05
}
