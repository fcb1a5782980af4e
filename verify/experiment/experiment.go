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
	// Updates are those of the models, each of which every strategy has. None are both kinds where Table 3.6 has something to say, and else
	// those of the rules.
	Updates []modelgen.Updates
	Job     runner.Job // one property, and how to check it
	Jobs    int        // runs of a tool at a time, 1 if less
}

// ErrProperties is the error of a job that has not one property.
var ErrProperties = errors.New("want one property")

// Experiment is the models to ask.
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

// Sample asks the model of a row of a document for the probability of losing, with job.Simulation.
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
	verdicts, err := e.ask(ctx, e.cells, engine, plan, job.Progress)
	if err != nil {
		return result.Verdict{}, err
	}
	return verdicts[0], nil
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
	out := &Outcome{Verdicts: verdicts, Comparison: report.Comparison{Title: e.title()}}
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
	e.conclude(&out.Comparison)
	if len(engines) > 1 {
		out.Agreement = Agree(out.Comparison.Cells, len(engines))
		note := fmt.Sprintf("engines, at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, out.Agreement.String())
		out.Comparison.Notes = slices.Concat([]string{note}, out.Agreement.Apart, out.Comparison.Notes)
	}
	return out, nil
}

// question is cells that an engine is asked about at once.
type question struct {
	engine int
	cells  []int
}

// questions are all there are to ask. The embedded engine samples all tiles of a strategy in one model, see plan, if the property is the thesis's.
func (e *Experiment) questions(engines []runner.Engine) (tools, own []question) {
	together := 1
	if e.Job.Method != runner.States && slices.Equal(e.Job.Props, []string{ThesisProperty}) {
		together = len(e.Max)
	}
	for i := range e.cells {
		for k, engine := range engines {
			switch {
			case engine.Name() != native.Name:
				tools = append(tools, question{k, []int{i}})
			case i%together == 0:
				q := question{engine: k}
				for j := range together {
					q.cells = append(q.cells, i+j)
				}
				own = append(own, q)
			}
		}
	}
	return tools, own
}

// verdicts asks every engine about every cell, the engines of a cell beside each
// other. Several runs of tools go on at a time; the embedded engine answers after them.
func (e *Experiment) verdicts(ctx context.Context, engines []runner.Engine) ([]result.Verdict, error) {
	out := make([]result.Verdict, len(e.cells)*len(engines))
	errs := make([]error, len(out))
	ask := func(q question, progress func(runner.Progress)) {
		cells := e.cells[q.cells[0] : q.cells[0]+len(q.cells)]
		plan, err := e.plan(ctx, cells)
		var verdicts []result.Verdict
		if err == nil {
			verdicts, err = e.ask(ctx, cells, engines[q.engine], plan, progress)
		}
		for i, cell := range q.cells {
			if err == nil {
				out[cell*len(engines)+q.engine] = verdicts[i]
				continue
			}
			errs[cell*len(engines)+q.engine] = fmt.Errorf("strategy %s, MAX %d: %w", cells[i].strategy, cells[i].max, err)
		}
	}
	runs, own := e.questions(engines)
	var tools errgroup.Group
	tools.SetLimit(max(e.Jobs, 1))
	for _, q := range runs {
		tools.Go(func() error {
			ask(q, nil)
			return nil // the first error by order is told, and all are asked
		})
	}
	_ = tools.Wait()
	if e.Job.Simulation.Split != nil { // the order of its records matters
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

// publishedPath is the longest path of the model with the published updates, in which tiles vanish: its games are longer, and one in some thousands
// takes more than the 10,000 steps that PRISM allows if it is not told otherwise.
const publishedPath = 1_000_000

// plan is what engines are asked about cells of one strategy. The model is the one of the largest MAX: until a
// game reaches a smaller one, it goes on there as in the model of that MAX, so that losing before it is reached has the same probability in both.
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

// ask asks one engine about cells.
func (e *Experiment) ask(ctx context.Context, cells []cell, engine runner.Engine, plan *runner.Plan, progress func(runner.Progress)) ([]result.Verdict, error) {
	if progress != nil { // which says what cell it is of: all have the same property
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

// besidePublished puts the thesis's number beside the verdict where both are about the same thing. The test of all cells of a model together has the
// confidence stats.CompareConfidence: each has that of [agree.Level], by Bonferroni's inequality, which holds although the cells of a column are of
// the same games. Each test is Fisher's exact one for our games and the thesis's 1000, whose number of losses the three printed digits give: so it is
// valid for any probability, and near 0 and 1, too.
func (e *Experiment) besidePublished(c *cell, v result.Verdict) (report.ComparisonCell, error) {
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
func (e *Experiment) level() float64 { return agree.Level(stats.CompareConfidence, e.tested()) }

// tested is how many cells of one model there is a published number for.
func (e *Experiment) tested() int {
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

// published finds the cell of Table 3.6, if this repeats its experiment.
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
