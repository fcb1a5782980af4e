package experiment

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/stats"
)

// ThesisProperty is the property that the thesis checks on every model (section 3.8.1).
const ThesisProperty = "Pmin=? [ F fail ]"

// ThesisMax are the tiles of the thesis's experiment.
func ThesisMax() []int { return []int{128, 256, 512, 1024, 2048} }

// ThesisStrategies are the strategies of that experiment.
func ThesisStrategies() []string { return []string{"random", "opposite", "orthogonal", "alternating"} }

// Options are the models, the property and the method of an experiment.
type Options struct {
	Board      modelgen.Config // of all models; New sets Max and Policy
	Strategies []string        // as modelgen.ParsePolicy reads them
	Max        []int           // tiles to reach
	// Updates are the kinds of updates; there is a model for each, strategy and tile. If it is empty, New takes the rules, and the published
	// updates too if Table 3.6 has a number for some cell.
	Updates []modelgen.Updates
	Job     runner.Job // one property, and how to check it
	Jobs    int        // runs of a tool at a time, 1 if less
}

// ErrProperties is the error of a job with none or several properties.
var ErrProperties = errors.New("want one property")

// Experiment is a property to check on models.
type Experiment struct {
	Options
	cells []cell
}

// cell is one strategy, one kind of updates and one MAX of the table.
type cell struct {
	strategy string
	updates  modelgen.Updates
	max      int
	cfg      modelgen.Config
}

// New checks the configuration of every model, so that a wrong option is found before anything runs.
func New(opt Options) (*Experiment, error) {
	e := &Experiment{Options: opt}
	if len(e.Updates) == 0 {
		e.Updates = []modelgen.Updates{modelgen.UpdatesRules}
		if slices.ContainsFunc(opt.Strategies, func(s string) bool {
			return slices.ContainsFunc(opt.Max, func(m int) bool { _, ok := e.published(s, m); return ok })
		}) {
			e.Updates = append(e.Updates, modelgen.UpdatesPublished)
		}
	}
	for _, updates := range e.Updates {
		for _, strategy := range opt.Strategies {
			policy, err := modelgen.ParsePolicy(strategy)
			if err != nil {
				return nil, err
			}
			for _, tile := range opt.Max {
				cfg := opt.Board
				cfg.Max, cfg.Policy, cfg.Updates = tile, policy, updates
				if err := cfg.Validate(); err != nil {
					return nil, err
				}
				e.cells = append(e.cells, cell{strategy: strategy, updates: updates, max: tile, cfg: cfg})
			}
		}
	}
	return e, nil
}

// Sample estimates the probability of losing in the model of a row of a document, with job.Simulation.
func Sample(ctx context.Context, engine runner.Engine, row *play.PublishedRow, job runner.Job) (result.Verdict, error) {
	job.Props, job.Method = []string{ThesisProperty}, runner.Sim
	e, err := New(Options{
		Board: modelgen.Config{Rows: row.Match.Shape.Rows, Cols: row.Match.Shape.Cols}, Strategies: []string{row.Strategy},
		Max: []int{game.Value(row.Match.Goal)}, Job: job, Updates: []modelgen.Updates{modelgen.UpdatesRules},
	})
	if err != nil {
		return result.Verdict{}, err
	}
	plan, err := e.plan(ctx, e.cells)
	if err != nil {
		return result.Verdict{}, err
	}
	verdicts, err := e.checkCells(ctx, e.cells, engine, plan, job.Progress)
	if err != nil {
		return result.Verdict{}, err
	}
	return verdicts[0], nil
}

// Outcome is the result of an experiment.
type Outcome struct {
	Comparison report.Comparison
	Verdicts   []result.Verdict // by cell, then by engine
	Agreement  Agreement        // if there are several engines
}

// Run checks every model with every engine, and compares the engines with each other and with the thesis. The cells are in the order of the
// options.
func (e *Experiment) Run(ctx context.Context, engines []runner.Engine) (*Outcome, error) {
	verdicts, err := e.verdicts(ctx, engines)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Verdicts: verdicts, Comparison: report.Comparison{Title: e.title()}}
	for i, verdict := range verdicts {
		row, err := e.judgeCell(&e.cells[i/len(engines)], verdict)
		if err != nil {
			return nil, err
		}
		if len(engines) > 1 {
			row.Strategy += ", " + engines[i%len(engines)].Name()
		}
		out.Comparison.Cells = append(out.Comparison.Cells, row)
	}
	e.conclude(&out.Comparison)
	if len(engines) > 1 {
		out.Agreement = Agree(out.Comparison.Cells, len(engines))
		note := fmt.Sprintf("engines, at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, out.Agreement.String())
		out.Comparison.Notes = slices.Concat([]string{note}, out.Agreement.Differences, out.Comparison.Notes)
	}
	return out, nil
}

// query is cells that an engine checks in one run.
type query struct {
	engine int
	cells  []int
}

// queries returns the runs of tools and of the embedded engine. If the property is the thesis's, the embedded engine samples all tiles of a
// strategy in one model: see plan.
func (e *Experiment) queries(engines []runner.Engine) (tools, own []query) {
	together := 1
	if e.Job.Method != runner.States && slices.Equal(e.Job.Props, []string{ThesisProperty}) {
		together = len(e.Max)
	}
	for i := range e.cells {
		for k, engine := range engines {
			switch {
			case engine.Name() != native.Name:
				tools = append(tools, query{k, []int{i}})
			case i%together == 0:
				q := query{engine: k}
				for j := range together {
					q.cells = append(q.cells, i+j)
				}
				own = append(own, q)
			}
		}
	}
	return tools, own
}

// verdicts returns the verdicts by cell, then by engine. First several tools run at a time, then the embedded engine.
func (e *Experiment) verdicts(ctx context.Context, engines []runner.Engine) ([]result.Verdict, error) {
	out := make([]result.Verdict, len(e.cells)*len(engines))
	errs := make([]error, len(out))
	ask := func(q query, progress func(runner.Progress)) {
		cells := e.cells[q.cells[0] : q.cells[0]+len(q.cells)]
		plan, err := e.plan(ctx, cells)
		var verdicts []result.Verdict
		if err == nil {
			verdicts, err = e.checkCells(ctx, cells, engines[q.engine], plan, progress)
		}
		for i, cell := range q.cells {
			if err == nil {
				out[cell*len(engines)+q.engine] = verdicts[i]
				continue
			}
			errs[cell*len(engines)+q.engine] = fmt.Errorf("strategy %s, MAX %d: %w", cells[i].strategy, cells[i].max, err)
		}
	}
	runs, own := e.queries(engines)
	var tools errgroup.Group
	tools.SetLimit(max(e.Jobs, 1))
	for _, q := range runs {
		tools.Go(func() error {
			ask(q, nil)
			return nil // all queries run; the first error in their order is returned
		})
	}
	_ = tools.Wait()
	if e.Job.Simulation.Split != nil { // the records need a fixed order
		for _, q := range own {
			ask(q, e.Job.Progress)
		}
		return out, cmp.Or(errs...)
	}
	var engine errgroup.Group
	if e.Job.Method == runner.States { // one state space at a time is in memory
		engine.SetLimit(1)
	} else { // while one is compiled, another is sampled
		engine.SetLimit(runtime.GOMAXPROCS(0))
	}
	for _, q := range own {
		engine.Go(func() error {
			ask(q, e.Job.Progress)
			return nil
		})
	}
	_ = engine.Wait()
	return out, cmp.Or(errs...)
}

// publishedPath is the longest path of the model with the published updates. Tiles vanish in that model, so its games are longer, and one in
// some thousands takes more than the 10,000 steps of PRISM's default.
const publishedPath = 1_000_000

// plan returns the plan for cells of one strategy. The model is that of the largest MAX. Until a game reaches a smaller tile, it is the same
// game as in the model of that tile, so losing before has the same probability in both models.
func (e *Experiment) plan(ctx context.Context, cells []cell) (*runner.Plan, error) {
	largest := slices.MaxFunc(cells, func(a, b cell) int { return cmp.Compare(a.max, b.max) })
	model, err := modelgen.Build(largest.cfg)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		return nil, err
	}
	job := e.Job
	job.File, job.Model, job.Progress = fmt.Sprintf("2048-%s-%d.prism", largest.strategy, largest.max), text.Bytes(), nil
	job.Generated = modelgen.Recognizer{}
	if largest.updates != modelgen.UpdatesRules {
		job.File = fmt.Sprintf("2048-%s-%s-%d.prism", largest.updates, largest.strategy, largest.max)
		job.Simulation.MaxPath = cmp.Or(job.Simulation.MaxPath, publishedPath)
	}
	if len(cells) > 1 {
		job.Props = nil
		for i := range cells {
			property := ThesisProperty
			if cells[i].max < largest.max {
				property = fmt.Sprintf("Pmin=? [ max(%s)<%d U fail ]", strings.Join(e.Board.Cells(), ","), cells[i].max)
			}
			job.Props = append(job.Props, property)
		}
	}
	return runner.NewPlan(ctx, job)
}

// checkCells checks cells with one engine.
func (e *Experiment) checkCells(ctx context.Context, cells []cell, engine runner.Engine, plan *runner.Plan, progress func(runner.Progress)) ([]result.Verdict, error) {
	if progress != nil { // all cells have the same property, so progress names the cell
		plan = plan.WithOutputs(func(o *runner.Outputs) {
			o.Progress = func(p runner.Progress) {
				p.Property = fmt.Sprintf("%s, MAX %d", cells[0].strategy, cells[0].max)
				if len(cells) > 1 {
					p.Property = cells[0].strategy
				}
				progress(p)
			}
		})
	}
	verdicts, err := engine.Check(ctx, plan)
	if err != nil {
		return nil, err
	}
	if len(verdicts) != len(cells) {
		return nil, fmt.Errorf("%w, found %d", ErrProperties, len(verdicts))
	}
	if len(cells) > 1 {
		for i := range verdicts {
			verdicts[i].Property = ThesisProperty
		}
	}
	return verdicts, nil
}

// Agreement says how the verdicts of several engines compare.
type Agreement struct {
	agree.Tally
	Differences []string // the disagreements, with a reason each
}

// Agree compares the verdicts of n engines about each cell: n consecutive cells have the same strategy and MAX. The confidence is for all
// comparisons together.
func Agree(cells []report.ComparisonCell, n int) (t Agreement) {
	opt := agree.Options{Level: agree.Level(stats.CompareConfidence, len(cells))}
	for i := 0; i < len(cells); i += n {
		for k := i + 1; k < i+n; k++ {
			for j := i; j < k; j++ {
				a, b := &cells[j], &cells[k]
				q := agree.Ask(a.Verdict.Property, a.Verdict.Constants)
				o := agree.Verdicts(a.Strategy, &a.Verdict, b.Strategy, &b.Verdict, q, opt)
				t.Add(o)
				if o.Relation == agree.Different {
					t.Differences = append(t.Differences, fmt.Sprintf("engines disagree (%s), MAX %d: %s", o.Basis, a.Max, o.Reason))
				}
			}
		}
	}
	return t
}

// judgeCell compares the verdict with the thesis's number, if there is one. The tests of all cells of a model together have the confidence
// stats.CompareConfidence: each has [agree.Level], by Bonferroni's inequality, which does not need independent tests (the cells of a column
// are from the same games). Each test is Fisher's exact test for our games and the thesis's 1000, whose number of losses follows from the three
// printed digits. So it is valid for any probability, also near 0 and 1.
func (e *Experiment) judgeCell(c *cell, v result.Verdict) (report.ComparisonCell, error) {
	out := report.ComparisonCell{Strategy: c.strategy, Updates: c.updates.String(), Max: c.max, Verdict: v}
	p, ok := e.published(c.strategy, c.max)
	if !ok {
		return out, nil
	}
	out.Published = &report.Published{Value: p.Loss, HalfWidth: &p.HalfWidth}
	row := play.ThesisRow(p)
	j, err := play.JudgeVerdict(&row, &row.Values[0], &v, stats.DefaultConfidence, e.level(), e.sequential())
	if err != nil || v.Err != nil {
		return out, err
	}
	if j.Remark != "" {
		out.Verdict.Warnings = append(slices.Clip(out.Verdict.Warnings), j.Remark)
	}
	switch j.Verdict {
	case play.Compatible:
		out.Compatible = report.Compatible
	case play.Incompatible:
		out.Compatible = report.Incompatible
	}
	return out, nil
}

func (e *Experiment) sequential() bool {
	return e.Job.Simulation.Samples == 0 && e.Job.Simulation.Width > 0
}

// level is the confidence of the test of one cell.
func (e *Experiment) level() float64 { return agree.Level(stats.CompareConfidence, e.publishedCells()) }

// publishedCells returns the number of cells of one model that have a published number.
func (e *Experiment) publishedCells() int {
	n := 0
	for _, s := range e.Strategies {
		for _, m := range e.Max {
			if _, ok := e.published(s, m); ok {
				n++
			}
		}
	}
	return n
}

// published finds the cell of Table 3.6, if the experiment repeats that of the thesis.
func (e *Experiment) published(strategy string, tile int) (modelgen.Published, bool) {
	b := &e.Board
	if b.Rows != 4 || b.Cols != 4 || b.P2 != modelgen.DefaultP2 || !slices.Equal(e.Job.Props, []string{ThesisProperty}) {
		return modelgen.Published{}, false
	}
	for _, p := range modelgen.PublishedTable() {
		if p.Strategy == strategy && p.Max == tile {
			return p, true
		}
	}
	return modelgen.Published{}, false
}

func (e *Experiment) title() string {
	return fmt.Sprintf("%s on the %dx%d model of 2048, spawn %s", strings.Join(e.Job.Props, "; "), e.Board.Rows, e.Board.Cols, e.Board.Spawn)
}
