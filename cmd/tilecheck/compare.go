package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/native/stats"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
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
	methodFlag    `embed:""`
	samplingFlags `embed:""`
	numericFlags  `embed:""`
	Timeout       time.Duration `help:"Give up after this time; what is finished by then is printed." placeholder:"DURATION"`
	engineFlags   `embed:""`
	Engines       []string      `help:"Engines to ask: native, prism, storm. Of several, every one gets a column for each strategy." default:"native" placeholder:"ENGINE"`
	Plot          string        `help:"Draw the table as a picture, .svg or .png, with error bars." placeholder:"FILE"`
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
func (c *compareCmd) Run(ctx context.Context, env *world) (err error) {
	switch {
	case c.Preset != "" && c.Preset != presetThesis:
		return c.preset(ctx, env)
	case c.Preset == "" && c.wantsPlayers():
		return c.comparePlayers(ctx, env)
	}
	if err := c.forModels(); err != nil {
		return err
	}
	job, err := c.job()
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
	ctx, cancel := timeLimit(ctx, c.Timeout)
	defer cancel()
	comparison := report.Comparison{Title: c.title(), Notes: c.notes()}
	progress, done := env.progress()
	defer done()
	tools := env.toolbox(c.engineFlags, c.Memory, c.Timeout)
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
	disagree := false
	if len(engines) > 1 {
		var note string
		note, disagree, err = engineAgreement(comparison.Cells, len(engines))
		if err != nil {
			return err
		}
		comparison.Notes = append([]string{note}, comparison.Notes...)
	}
	if err := comparison.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.Plot(c.Plot, &comparison); err != nil {
			return err
		}
	}
	env.warn(c.Format, verdicts)
	code := verdictCode(verdicts)
	if disagree && code != exitOutOfLimit {
		code = exitDisagree
	}
	if code == exitOK && c.Preset == presetThesis {
		return thesisStatus(comparison.Cells)
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

// engineAgreement compares what n engines say about each cell; the n cells of
// one strategy and MAX stand together. The confidence is that of all comparisons.
func engineAgreement(cells []report.ComparisonCell, n int) (note string, disagree bool, err error) {
	pairs := len(cells) / n * n * (n - 1) / 2
	confidence := stats.Confidence(stats.Alpha(stats.CompareConfidence) / float64(pairs))
	compared := 0
	var apart []string
	for i := 0; i < len(cells); i += n {
		for k := i + 1; k < i+n; k++ {
			for _, other := range cells[i:k] {
				a, b := &cells[k].Verdict, &other.Verdict
				same, ok, err := compatible(a, b, confidence)
				if err != nil {
					return "", false, err
				}
				if !ok {
					continue
				}
				if compared++; !same {
					apart = append(apart, fmt.Sprintf("MAX %d: %s and %s", cells[k].Max, other.Strategy, cells[k].Strategy))
				}
			}
		}
	}
	note = fmt.Sprintf("engines: %d of %d comparisons made, all compatible at %g %% confidence together", compared, pairs, 100*stats.CompareConfidence)
	if len(apart) > 0 {
		note = fmt.Sprintf("engines disagree at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, strings.Join(apart, "; "))
	}
	return note, len(apart) > 0, nil
}

// compatible compares two answers: samples by their counts, others by their
// bounds. It reports false if they cannot be compared.
func compatible(a, b *result.Verdict, confidence float64) (same, ok bool, err error) {
	switch {
	case a.Err != nil || b.Err != nil || a.Value.Kind != result.Number || b.Value.Kind != result.Number:
		return false, false, nil
	case a.Samples > 0 && b.Samples > 0:
		test, err := stats.Compare(
			stats.Sample{Bernoulli: successes(a.Value.Num, a.Samples)}, stats.Sample{Bernoulli: successes(b.Value.Num, b.Samples)}, confidence,
		)
		return test.Compatible, err == nil, err
	case a.Bound != nil && b.Bound != nil:
		return a.Bound.Lo <= b.Bound.Hi && b.Bound.Lo <= a.Bound.Hi, true, nil
	}
	return false, false, nil
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
func (c *compareCmd) job() (job runner.Job, err error) {
	job.Props = []string{c.Property}
	if job.Method, err = c.method(c.methodFlag, runner.Sim); err != nil {
		return job, err
	}
	if job.Simulation, err = c.simulation(job.Method); err != nil {
		return job, err
	}
	job.Numeric, err = c.numeric(job.Method, c.Workers)
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
	if v.Value.Kind != result.Number || v.Samples == 0 {
		return out, nil
	}
	ours := stats.Sample{Bernoulli: successes(v.Value.Num, v.Samples), Sequential: c.Samples == nil && c.Width != nil}
	theirs := stats.Sample{Bernoulli: successes(p.Loss, modelgen.PublishedSamples)}
	var note string
	var err error
	if out.Compatible, note, err = judgeThesis(p, ours, theirs); note != "" {
		out.Verdict.Warnings = append(slices.Clone(out.Verdict.Warnings), note)
	}
	return out, err
}

// successes recovers the counts behind an estimate k/n.
func successes(mean float64, n int64) stats.Bernoulli {
	return stats.Bernoulli{N: n, K: int64(math.Round(mean * float64(n)))}
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
