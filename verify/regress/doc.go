// Package regress runs suites of models with expected results: it pairs files,
// asks engines, and judges every verdict by the annotations beside its property.
//
//	tests, err := regress.Discover(os.DirFS("models"), []string{"."}, suite.Closest)
//	rep, err := regress.Run(ctx, tests, []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}}}, regress.Options{FS: os.DirFS("models")})
//
// Package verify/expect has the rules of judgment, and package verify/suite finds
// the runs. [Bless] writes annotations. The package
// starts no tool and reads no file but through Options.FS.
package regress
