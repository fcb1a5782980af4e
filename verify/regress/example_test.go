package regress_test

import (
	"context"
	"fmt"

	"tilecheck/native"
	"tilecheck/runner"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

func ExampleRun() {
	fsys := files("coin.prism", coin, "coin.props", "// RESULT: 1/3\nP=? [ F s=1 ];\n// RESULT: 1/2\nP=? [ F s=2 ];\n")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		fmt.Println(err)
		return
	}
	rep, err := regress.Run(context.Background(), tests, []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}}}, regress.Options{FS: fsys})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rep.Results {
		fmt.Println(r.Outcome, r.Property, "expected", r.Expected)
	}
	fmt.Println("exit code", regress.ExitCode(rep, false))
	// Output:
	// pass P=? [ F s=1 ] expected 1/3
	// fail P=? [ F s=2 ] expected 1/2
	// exit code 2
}

func ExampleBless() {
	fsys := files("coin.prism", coin, "coin.props", "P=? [ F s=1 ];\n")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := regress.Bless(context.Background(), tests, native.New(), regress.BlessOptions{Options: regress.Options{FS: fsys}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(b.Files[0].Diff())
	// Output:
	// --- coin.props
	// +++ coin.props
	// @@ -1 +1,2 @@
	// +// RESULT: 1/3 (exact)
	//  P=? [ F s=1 ];
}
