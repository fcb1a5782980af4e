package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tilecheck/bridge"
	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/runner"
	"tilecheck/verify/cache"
	"tilecheck/verify/regress"
	"tilecheck/verify/selection"
	"tilecheck/verify/suitefile"
)

// suiteFlags select the tests of a suite.
type suiteFlags struct {
	Paths []string `arg:"" name:"path" help:"Directories, models, properties files, .auto files, lists of properties files (.txt), suite files (.yaml)." file:"some"`

	Match    bool     `rare:"" help:"Pair files as prism-auto -m: the name of the properties file begins with that of the model (default: by name if there is a model of that name, else with every model of the directory)." xor:"pairing"`
	All      bool     `name:"pair-all" aliases:"all" rare:"" help:"Pair every properties file with every model of its directory, as prism-auto." xor:"pairing"`
	Suite    []string `help:"Only these suites of tilecheck.yaml." placeholder:"NAME"`
	NoConfig bool     `rare:"" help:"Do not read tilecheck.yaml."`

	Const   []string      `help:"Constants, instead of those of .args files: a=1,b=2." sep:"none" placeholder:"DEFS"`
	Timeout time.Duration `help:"Time limit of one run (default: 5m for PRISM and Storm, none for native)." placeholder:"DURATION"`
	Memory  byteCount     `rare:"" help:"Memory limit of one run, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Seed    *uint64       `help:"Seed of random numbers (default: that of tilecheck.yaml, or 1)." placeholder:"N"`
	ID      []string      `name:"id" help:"Only the results with these identities, which failures print." placeholder:"ID"`
}

// runFlags select the engines that a suite runs on, and the cache of their verdicts.
type runFlags struct {
	Engine  []string `aliases:"engines" help:"Engines: native, prism, prism-games, storm; :bounded, :exact, :float or :proven says how, as native:exact (default: those of tilecheck.yaml, or native)." placeholder:"ENGINE[:HOW]"`
	Cache   string   `rare:"" help:"Directory of the cache of results (default: tilecheck in the user's cache directory)." env:"TILECHECK_CACHE" placeholder:"DIR" file:"keep"`
	NoCache bool     `help:"Do not use the cache: compute all results, and keep none."`

	engineFlags `embed:""`
}

// loadTests returns the tests that the flags select. It applies requestChanges to the request before the search. It returns an error if an output
// of the command would overwrite a file of the tests.
func (c *suiteFlags) loadTests(env *environment, engines []string, jobs int, requestChanges ...func(*selection.Request)) (*selection.Selection, error) {
	request := selection.Request{
		Paths: c.Paths, Match: c.Match, All: c.All, Suites: c.Suite, NoConfig: c.NoConfig,
		Consts: c.Const, Time: c.Timeout, Memory: int64(c.Memory), Seed: c.Seed, Only: splitNames(c.ID), Engines: splitNames(engines), Jobs: jobs,
	}
	for _, change := range requestChanges {
		change(&request)
	}
	return request.Find(func(files []string) error {
		env.commandFiles.addInputs("the suite's", files...)
		return env.commandFiles.check()
	})
}

// openCache opens the cache of verdicts and stores it in the options. If the default cache cannot be opened, it prints a note instead of an
// error.
func (c *runFlags) openCache(env *environment, selected *selection.Selection) error {
	if c.NoCache || env.shard.Replaying() {
		return nil
	}
	var err error
	if c.Cache != "" {
		selected.Options.Cache, err = cache.Open(c.Cache)
		return err
	}
	userDir, err := os.UserCacheDir()
	if err == nil {
		selected.Options.Cache, err = cache.Open(filepath.Join(userDir, "tilecheck", "verdicts"))
	}
	if err != nil && !env.quiet {
		fmt.Fprintf(env.stderr, "note: no results are kept: %v\n", err)
	}
	return nil
}

// engines returns the engines on which the suite runs.
func (c *runFlags) engines(ctx context.Context, env *environment, tools *toolbox.Box, selected *selection.Selection) ([]regress.EngineConfig, error) {
	var engines []regress.EngineConfig
	for _, label := range selected.Labels {
		name, config, err := suitefile.Engine(label)
		if err != nil {
			return nil, err
		}
		engine := regress.EngineConfig{EngineConfig: config}
		if !env.shard.Replaying() { // a replay asks no engine
			if engine.Engine, err = tools.Engine(ctx, name); err != nil {
				return nil, err
			}
			c.configureTool(ctx, env, &engine, name, label, selected)
		}
		engines = append(engines, engine)
	}
	return engines, nil
}

// configureTool completes an engine: how it runs PRISM and, if there is a cache, the identity of its program for the keys of the cache.
func (c *runFlags) configureTool(ctx context.Context, env *environment, engine *regress.EngineConfig, name, label string, selected *selection.Selection) {
	var commander runner.Commander
	if tool, ok := runner.As[*bridge.Engine](engine.Engine); ok {
		commander = tool.Commander()
	}
	if isPRISM(name) && selected.Benchmarks == nil { // the files of a benchmark set may be in Storm's dialect or JANI
		engine.PRISM = &regress.PRISM{Commander: commander, Args: c.ToolArg}
	}
	if selected.Options.Cache == nil {
		return
	}
	if build, err := env.identifyBuild(); err == nil {
		engine.Identity = selection.Identity(ctx, build, label, commander, c.ToolArg)
	}
}
