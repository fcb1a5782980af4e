package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/agree"
)

// thesisProperty is what the thesis asks of every model (section 3.8.1).
const thesisProperty = "Pmin=? [ F fail ]"

type compareCmd struct {
	Words      []string `arg:"" optional:"" name:"strategy" help:"Strategies to compare, as for --strategies."`
	Strategies []string `help:"Strategies: names of the thesis (random, opposite, orthogonal, alternating) or policies such as pref:left,up,down,right, or players (tilecheck play); repeat the flag or separate with semicolons or, for names, commas (default: those of the thesis)." sep:";" placeholder:"S"`
	Max        []int    `help:"Tiles to reach (default: 128,256,512,1024,2048; for players one tile, 2048)." placeholder:"TILE"`
	boardFlags `embed:""`
	Spawn      string `help:"How the cell of a new tile is drawn: cell, module or uniform." default:"cell" placeholder:"SPAWN"`
	Property   string `help:"Property to check on every model." default:"${thesis}" placeholder:"PROPERTY"`

	playersFlags  `embed:"" group:"Players, compared by playing (with --games, --preset or a strategy that is no policy of the models):"`
	workersFlag   `embed:""`
	methodFlag    `embed:""`
	samplingFlags `embed:"" group:"Sampling (the default, or --method sim, ci, aci, apmc or sprt):"`
	numericFlags  `embed:"" group:"State space (--method exact):"`
	Timeout       time.Duration `help:"Give up after this time; what is finished by then is printed." placeholder:"DURATION"`
	engineFlags   `embed:"" group:"PRISM and Storm (--engines prism,storm):"`
	Engines       []string      `help:"Engines to ask: native, prism, storm. Of several, every one gets a column for each strategy." default:"native" placeholder:"ENGINE"`
	Plot          string        `help:"Draw the table as a picture, .svg or .png, with error bars." placeholder:"FILE" file:"out"`
	Format        report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// cell is one strategy and one MAX of the table.
type cell struct {
	strategy string
	max      int
	model    []byte
}

// label makes the progress of a cell say which cell it is; they all have the same property.
func (c cell) label(progress func(runner.Progress)) func(runner.Progress) {
	if progress == nil {
		return nil
	}
	return func(p runner.Progress) {
		p.Property = fmt.Sprintf("%s, MAX %d", c.strategy, c.max)
		progress(p)
	}
}

// Run checks the property for every strategy and MAX and prints the table.
func (c *compareCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limit(ctx, c.Timeout)
	defer cancel()
	switch {
	case c.Preset != "" && c.Preset != presetThesis:
		return c.preset(ctx, env)
	case c.Preset == "" && c.wantsPlayers():
		return c.comparePlayers(ctx, env)
	}
	return c.compareModels(ctx, env)
}

func (c *compareCmd) compareModels(ctx context.Context, env *world) (err error) {
	if err := c.forModels(); err != nil {
		return err
	}
	ctx, cancel := env.limit(ctx, c.Budget)
	defer cancel()
	job, err := c.job(env)
	if err != nil {
		return err
	}
	cells, err := c.cells()
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.CheckPlotPath(c.Plot); err != nil {
			return usageError("%w", err)
		}
	}
	comparison := report.Comparison{Title: c.title(), Notes: c.notes()}
	progress, done := env.progress()
	defer done()
	tools := env.toolbox(c.engineFlags, c.Memory, cmp.Or(c.Timeout, c.Budget))
	defer func() { err = errors.Join(err, tools.close()) }()
	engines, err := c.engines(ctx, tools)
	if err != nil {
		return err
	}
	verdicts, err := c.verdicts(ctx, cells, engines, job, progress)
	if err != nil {
		return err
	}
	for i, verdict := range verdicts {
		row, err := c.besidePublished(cells[i/len(engines)], verdict)
		if err != nil {
			return err
		}
		if len(engines) > 1 {
			row.Strategy += ", " + engines[i%len(engines)].Name()
		}
		comparison.Cells = append(comparison.Cells, row)
	}
	done()
	tally := engineAgreement(comparison.Cells, len(engines))
	if len(engines) > 1 {
		note := fmt.Sprintf("engines, at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, tally.Tally.String())
		comparison.Notes = append(append([]string{note}, tally.apart...), comparison.Notes...)
	}
	env.printing()
	if err := comparison.Write(env.stdout, c.Format, env.reportOptions().For(c.Epsilon)); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.Plot(c.Plot, &comparison); err != nil {
			return err
		}
	}
	env.warn(c.Format, verdicts)
	code := tally.code(verdictCode(verdicts))
	if code == exitOK {
		return c.publishedStatus(comparison.Cells)
	}
	return status(code)
}

// verdicts asks every engine about every cell, the engines of a cell beside each
// other. Several runs of tools go on at a time; the embedded engine uses all
// processors for one cell and answers after them.
func (c *compareCmd) verdicts(ctx context.Context, cells []cell, engines []runner.Engine, job runner.Job, progress func(runner.Progress)) ([]result.Verdict, error) {
	out := make([]result.Verdict, len(cells)*len(engines))
	errs := make([]error, len(out))
	ask := func(i int, progress func(runner.Progress)) {
		cell := cells[i/len(engines)]
		var err error
		if out[i], err = c.check(ctx, engines[i%len(engines)], cell, job, progress); err != nil {
			errs[i] = fmt.Errorf("strategy %s, MAX %d: %w", cell.strategy, cell.max, err)
		}
	}
	slots := make(chan struct{}, max(c.Jobs, 1))
	var wg sync.WaitGroup
	var own []int
	for i := range out {
		if engines[i%len(engines)].Name() == native.Name {
			own = append(own, i)
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ask(i, nil)
		})
	}
	wg.Wait()
	for _, i := range own {
		ask(i, progress)
	}
	return out, cmp.Or(errs...)
}

// engines returns the engines to ask, each once.
func (c *compareCmd) engines(ctx context.Context, tools *toolbox) ([]runner.Engine, error) {
	var out []runner.Engine
	for _, name := range splitNames(c.Engines) {
		if slices.ContainsFunc(out, func(e runner.Engine) bool { return e.Name() == name }) {
			return nil, usageError("--engines has %s twice", name)
		}
		engine, _, err := tools.engine(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, engine)
	}
	if len(out) == 0 {
		return nil, usageError("--engines is empty, want native, prism or storm")
	}
	return out, nil
}

// agreement is what engines say about each other.
type agreement struct {
	agree.Tally
	apart []string // where they are different, and why
}

// code is the exit code, given that of the verdicts. What was not compared is no
// success.
func (t *agreement) code(verdicts int) int {
	switch {
	case t.Different > 0 && verdicts != exitOutOfLimit:
		return exitDisagree
	case t.Unknown > 0 && verdicts == exitOK:
		return exitCannotRun
	}
	return verdicts
}

// engineAgreement compares what n engines say about each cell; the n cells of
// one strategy and MAX stand together. The confidence is that of all comparisons.
func engineAgreement(cells []report.ComparisonCell, n int) (t agreement) {
	opt := agree.Options{Level: agree.Level(stats.CompareConfidence, len(cells))}
	for i := 0; i < len(cells); i += n {
		for k := i + 1; k < i+n; k++ {
			for j := i; j < k; j++ {
				a, b := &cells[j], &cells[k]
				q := agree.Ask(a.Verdict.Property, a.Verdict.Constants)
				o := agree.Verdicts(a.Strategy, &a.Verdict, b.Strategy, &b.Verdict, q, opt)
				t.Add(o)
				if o.Relation == agree.Different {
					t.apart = append(t.apart, fmt.Sprintf("engines disagree (%s), MAX %d: %s", o.Basis, a.Max, o.Reason))
				}
			}
		}
	}
	return t
}

// cells generates every model before anything runs, so that a wrong flag is found at once.
func (c *compareCmd) cells() ([]cell, error) {
	rows, cols, err := c.shape()
	if err != nil {
		return nil, err
	}
	spawn, err := modelgen.ParseSpawn(c.Spawn)
	if err != nil {
		return nil, fieldUsage(err)
	}
	var cells []cell
	for _, strategy := range c.specs() {
		policy, err := modelgen.ParsePolicy(strategy)
		if err != nil {
			return nil, fieldUsage(err)
		}
		for _, tile := range c.Max {
			model, err := modelgen.Build(modelgen.Config{
				Rows: rows, Cols: cols, Max: tile, P2: c.P2, Policy: policy, Spawn: spawn,
			})
			if err != nil {
				return nil, fieldUsage(err)
			}
			var text bytes.Buffer
			if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
				return nil, err
			}
			cells = append(cells, cell{strategy: strategy, max: tile, model: text.Bytes()})
		}
	}
	if len(cells) == 0 {
		return nil, usageError("nothing to compare: want at least one strategy and one MAX")
	}
	return cells, nil
}

// specs are the strategies asked for, or those of the thesis.
func (c *compareCmd) specs() []string {
	if asked := slices.Concat(c.Words, c.Strategies); len(asked) > 0 {
		return splitStrategies(asked)
	}
	return splitStrategies([]string{thesisStrategies})
}

// splitStrategies separates names by commas; a policy with lists has commas of its own.
func splitStrategies(args []string) []string {
	var out []string
	for _, arg := range args {
		parts := []string{arg}
		if !strings.Contains(arg, ":") {
			parts = strings.Split(arg, ",")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// job is what all cells have in common.
func (c *compareCmd) job(env *world) (job runner.Job, err error) {
	job.Props = []string{c.Property}
	env.rememberProps(&job, "--property")
	names := splitNames(c.Engines)
	err = cmp.Or(
		env.withoutTools(names),
		env.without(!slices.ContainsFunc(names, isTool), "without the engines prism and storm", "jobs"),
		env.without(!slices.Contains(names, native.Name), "without the native engine", "workers", "seed"),
		env.without(c.Exact, "with --exact: fractions need no bounds", "epsilon"),
	)
	if err != nil {
		return job, err
	}
	if job.Method, err = env.method(c.methodFlag, runner.Sim); err != nil {
		return job, err
	}
	if job.Simulation, err = c.simulation(job.Method, c.Workers); err != nil {
		return job, err
	}
	job.Numeric, err = c.numeric(c.Workers)
	return job, err
}

func (c *compareCmd) check(ctx context.Context, engine runner.Engine, cell cell, job runner.Job, progress func(runner.Progress)) (result.Verdict, error) {
	job.File = fmt.Sprintf("2048-%s-%d.prism", cell.strategy, cell.max)
	job.Model = cell.model
	job.Progress = cell.label(progress)
	verdicts, err := engine.Check(ctx, job)
	if err != nil {
		return result.Verdict{}, err
	}
	if len(verdicts) != 1 {
		return result.Verdict{}, usageError("--property has %d properties, want one", len(verdicts))
	}
	return verdicts[0], nil
}

// besidePublished puts the thesis's number beside the verdict where both are about the same thing.
func (c *compareCmd) besidePublished(cell cell, v result.Verdict) (report.ComparisonCell, error) {
	out := report.ComparisonCell{Strategy: cell.strategy, Max: cell.max, Verdict: v}
	p, ok := c.published(cell)
	if !ok {
		return out, nil
	}
	out.Published = &report.Published{Value: p.Loss, HalfWidth: &p.HalfWidth}
	var note string
	var err error
	if out.Compatible, note, err = judgeThesis(p, v, c.Samples == nil && c.Width != nil); note != "" {
		out.Verdict.Warnings = append(slices.Clone(out.Verdict.Warnings), note)
	}
	return out, err
}

// published finds the cell of Table 3.6, if this run repeats its experiment.
func (c *compareCmd) published(cell cell) (modelgen.Published, bool) {
	rows, cols, err := c.shape()
	if err != nil || rows != 4 || cols != 4 || c.P2 != modelgen.DefaultP2 || c.Property != thesisProperty {
		return modelgen.Published{}, false
	}
	for _, p := range modelgen.PublishedTable() {
		if p.Strategy == cell.strategy && p.Max == cell.max {
			return p, true
		}
	}
	return modelgen.Published{}, false
}

func (c *compareCmd) title() string {
	rows, cols, _ := c.shape() // cells has refused a wrong one
	return fmt.Sprintf("%s on the %dx%d model of 2048, spawn %s", c.Property, rows, cols, c.Spawn)
}

func (c *compareCmd) notes() []string {
	for _, strategy := range c.specs() {
		for _, tile := range c.Max {
			if _, ok := c.published(cell{strategy: strategy, max: tile}); ok {
				return []string{
					"published: Table 3.6 of the thesis, 1000 games a cell; compatible: an exact test does not tell the two apart at " +
						fmt.Sprintf("%g %%", 100*stats.CompareConfidence) + " confidence",
					modelgen.PublishedNote,
				}
			}
		}
	}
	return nil
}
