package experiment

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/agree"
)

// ThesisProperty is what the thesis asks of every model (section 3.8.1).
const ThesisProperty = "Pmin=? [ F fail ]"

// ThesisMax are the tiles of the thesis's experiment.
func ThesisMax() []int { return []int{128, 256, 512, 1024, 2048} }

// ThesisStrategies are its strategies.
func ThesisStrategies() []string { return []string{"random", "opposite", "orthogonal", "alternating"} }

// Options say what to ask of what.
type Options struct {
	Board      modelgen.Config // of all models; Max and Policy are those of each
	Strategies []string        // as modelgen.ParsePolicy reads them
	Max        []int           // tiles to reach
	Job        runner.Job      // one property, and how to check it
	Jobs       int             // runs of a tool at a time, 1 if less
}

// ErrProperties is the error of a job that has not one property.
var ErrProperties = errors.New("want one property")

// Experiment is the models to ask.
type Experiment struct {
	Options
	cells []cell
}

// cell is one strategy and one MAX of the table.
type cell struct {
	strategy string
	max      int
	model    []byte
}

// New generates every model, so that a wrong option is found before anything runs.
func New(opt Options) (*Experiment, error) {
	e := &Experiment{Options: opt}
	for _, strategy := range opt.Strategies {
		policy, err := modelgen.ParsePolicy(strategy)
		if err != nil {
			return nil, err
		}
		for _, tile := range opt.Max {
			cfg := opt.Board
			cfg.Max, cfg.Policy = tile, policy
			model, err := modelgen.Build(cfg)
			if err != nil {
				return nil, err
			}
			var text bytes.Buffer
			if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
				return nil, err
			}
			e.cells = append(e.cells, cell{strategy: strategy, max: tile, model: text.Bytes()})
		}
	}
	return e, nil
}

// Sample asks the model of a row of a document for the probability of losing, with job.Simulation.
func Sample(ctx context.Context, engine runner.Engine, row *play.PublishedRow, job runner.Job) (result.Verdict, error) {
	job.Props, job.Method = []string{ThesisProperty}, runner.Sim
	e, err := New(Options{
		Board: modelgen.Config{Rows: row.Match.Shape.Rows, Cols: row.Match.Shape.Cols}, Strategies: []string{row.Strategy},
		Max: []int{game.Value(row.Match.Goal)}, Job: job,
	})
	if err != nil {
		return result.Verdict{}, err
	}
	plan, err := e.plan(ctx, &e.cells[0])
	if err != nil {
		return result.Verdict{}, err
	}
	return e.cells[0].ask(ctx, engine, plan, job.Progress)
}

// Outcome is what came of an experiment.
type Outcome struct {
	Comparison report.Comparison
	Verdicts   []result.Verdict // of each cell, those of all engines
	Agreement  Agreement        // of several engines
}

// Run asks every engine about every model and judges what there is to compare. The order of the cells is that of the options, whoever answers
// first.
func (e *Experiment) Run(ctx context.Context, engines []runner.Engine) (*Outcome, error) {
	verdicts, err := e.verdicts(ctx, engines)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Verdicts: verdicts, Comparison: report.Comparison{Title: e.title(), Notes: e.notes()}}
	for i, verdict := range verdicts {
		row, err := e.besidePublished(&e.cells[i/len(engines)], verdict)
		if err != nil {
			return nil, err
		}
		if len(engines) > 1 {
			row.Strategy += ", " + engines[i%len(engines)].Name()
		}
		out.Comparison.Cells = append(out.Comparison.Cells, row)
	}
	if len(engines) > 1 {
		out.Agreement = Agree(out.Comparison.Cells, len(engines))
		note := fmt.Sprintf("engines, at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, out.Agreement.String())
		out.Comparison.Notes = slices.Concat([]string{note}, out.Agreement.Apart, out.Comparison.Notes)
	}
	return out, nil
}

// verdicts asks every engine about every cell, the engines of a cell beside each
// other. Several runs of tools go on at a time; the embedded engine uses all
// processors for one cell and answers after them.
func (e *Experiment) verdicts(ctx context.Context, engines []runner.Engine) ([]result.Verdict, error) {
	out := make([]result.Verdict, len(e.cells)*len(engines))
	errs := make([]error, len(out))
	plans := make([]func() (*runner.Plan, error), len(e.cells))
	for i := range plans {
		plans[i] = sync.OnceValues(func() (*runner.Plan, error) { return e.plan(ctx, &e.cells[i]) })
	}
	ask := func(i int, progress func(runner.Progress)) error {
		cell := &e.cells[i/len(engines)]
		plan, err := plans[i/len(engines)]()
		if err == nil {
			out[i], err = cell.ask(ctx, engines[i%len(engines)], plan, progress)
		}
		if err != nil {
			errs[i] = fmt.Errorf("strategy %s, MAX %d: %w", cell.strategy, cell.max, err)
		}
		return nil // the first error by order is told, and all are asked
	}
	var tools errgroup.Group
	tools.SetLimit(max(e.Jobs, 1))
	var own []int
	for i := range out {
		if engines[i%len(engines)].Name() == native.Name {
			own = append(own, i)
			continue
		}
		tools.Go(func() error { return ask(i, nil) })
	}
	_ = tools.Wait()
	for _, i := range own {
		_ = ask(i, e.Job.Progress)
	}
	return out, cmp.Or(errs...)
}

// plan is what all engines are asked about one cell.
func (e *Experiment) plan(ctx context.Context, c *cell) (*runner.Plan, error) {
	job := e.Job
	job.File, job.Model, job.Progress = fmt.Sprintf("2048-%s-%d.prism", c.strategy, c.max), c.model, nil
	return runner.NewPlan(ctx, job)
}

// ask asks one engine about one cell.
func (c *cell) ask(ctx context.Context, engine runner.Engine, plan *runner.Plan, progress func(runner.Progress)) (result.Verdict, error) {
	if progress != nil { // which says what cell it is of: all have the same property
		plan = plan.With(func(job *runner.Job) {
			job.Progress = func(p runner.Progress) {
				p.Property = fmt.Sprintf("%s, MAX %d", c.strategy, c.max)
				progress(p)
			}
		})
	}
	verdicts, err := engine.Check(ctx, plan)
	if err != nil {
		return result.Verdict{}, err
	}
	if len(verdicts) != 1 {
		return result.Verdict{}, fmt.Errorf("%w, found %d", ErrProperties, len(verdicts))
	}
	return verdicts[0], nil
}

// Agreement is what engines say about each other.
type Agreement struct {
	agree.Tally
	Apart []string // where they are different, and why
}

// Agree compares what n engines say about each cell; the n cells of
// one strategy and MAX stand together. The confidence is that of all comparisons.
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
					t.Apart = append(t.Apart, fmt.Sprintf("engines disagree (%s), MAX %d: %s", o.Basis, a.Max, o.Reason))
				}
			}
		}
	}
	return t
}

// besidePublished puts the thesis's number beside the verdict where both are about the same thing.
func (e *Experiment) besidePublished(c *cell, v result.Verdict) (report.ComparisonCell, error) {
	out := report.ComparisonCell{Strategy: c.strategy, Max: c.max, Verdict: v}
	p, ok := e.published(c)
	if !ok {
		return out, nil
	}
	out.Published = &report.Published{Value: p.Loss, HalfWidth: &p.HalfWidth}
	row := play.ThesisRow(p)
	s := &e.Job.Simulation
	j, err := play.JudgeVerdict(&row, &row.Values[0], &v, stats.DefaultConfidence, s.Samples == 0 && s.Width > 0)
	if err != nil || v.Err != nil {
		return out, err
	}
	var notes []string
	if j.Remark != "" {
		notes = append(notes, j.Remark)
	}
	switch j.Verdict {
	case play.Compatible:
		out.Compatible = report.Compatible
	case play.Incompatible:
		out.Compatible = report.Incompatible
		notes = append(notes, play.NotMet(row.Values[0].Note))
	}
	out.Verdict.Warnings = slices.Concat(out.Verdict.Warnings, notes)
	return out, nil
}

// published finds the cell of Table 3.6, if this repeats its experiment.
func (e *Experiment) published(c *cell) (modelgen.Published, bool) {
	b := &e.Board
	if b.Rows != 4 || b.Cols != 4 || b.P2 != modelgen.DefaultP2 || !slices.Equal(e.Job.Props, []string{ThesisProperty}) {
		return modelgen.Published{}, false
	}
	for _, p := range modelgen.PublishedTable() {
		if p.Strategy == c.strategy && p.Max == c.max {
			return p, true
		}
	}
	return modelgen.Published{}, false
}

func (e *Experiment) title() string {
	return fmt.Sprintf("%s on the %dx%d model of 2048, spawn %s", strings.Join(e.Job.Props, "; "), e.Board.Rows, e.Board.Cols, e.Board.Spawn)
}

func (e *Experiment) notes() []string {
	for i := range e.cells {
		if _, ok := e.published(&e.cells[i]); ok {
			return []string{
				fmt.Sprintf("published: Table 3.6 of the thesis, 1000 games a cell; as published: an exact test does not tell the two apart at %g %% confidence",
					100*stats.CompareConfidence),
				modelgen.PublishedNote,
			}
		}
	}
	return nil
}
