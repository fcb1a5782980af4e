// Package qvbs reads the Quantitative Verification Benchmark Set, which QComp uses.
// Each case with a reference result becomes a test for package verify/regress.
//
//	set, err := qvbs.Discover(os.DirFS("qcomp/benchmarks"), []string{"."}, qvbs.Options{MaxStates: 50_000})
//	rep, err := regress.Run(ctx, set.Tests, engines, regress.Options{FS: os.DirFS("qcomp/benchmarks")})
//	fmt.Println(set.Notes(rep)) // native: 290 correct, 0 wrong, 0 bound violated; 57.1 s
//
// The package runs no tests. Of models and properties it reads only which constants they
// leave undefined.
//
// Source: Hartmanns, Klauck, Parker, Quatmann, Ruijters: The Quantitative
// Verification Benchmark Set, TACAS 2019; its schema of index.json, and the
// tolerances of QComp 2020.
package qvbs
