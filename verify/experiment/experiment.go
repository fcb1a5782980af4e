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
	GoalTiles  []int           // tiles to reach
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
	goalTile int
	config   modelgen.Config
}

// New returns an experiment with a cell for each update rule, strategy and tile. It returns an error if the configuration of a cell is invalid.
// If no updates are selected, it selects the rules of the game, and the published updates if the thesis has numbers for them.
func New(options Options) (*Experiment, error) {
	experiment := &Experiment{Options: options}
	if len(experiment.Updates) == 0 {
		experiment.Updates = []modelgen.Updates{modelgen.UpdatesRules}
		if experiment.publishedCells() > 0 {
			experiment.Updates = append(experiment.Updates, modelgen.UpdatesPublished)
		}
	}
	for _, updates := range experiment.Updates {
		for _, strategy := range options.Strategies {
			if err := experiment.addCells(updates, strategy); err != nil {
				return nil, err
			}
		}
	}
	return experiment, nil
}

// addCells adds a cell for each goal tile, with the given strategy and updates.
func (e *Experiment) addCells(updates modelgen.Updates, strategy string) error {
	policy, err := modelgen.ParsePolicy(strategy)
	if err != nil {
		return err
	}
	for _, tile := range e.GoalTiles {
		config := e.Board
		config.Max, config.Policy, config.Updates = tile, policy, updates
		if err := config.Validate(); err != nil {
			return err
		}
		e.cells = append(e.cells, cell{strategy: strategy, updates: updates, goalTile: tile, config: config})
	}
	return nil
}

// Sample estimates the probability of losing a game of 2048, for one row of the published table, by simulation of a generated model.
// job.Simulation has the settings of the simulation.
func Sample(ctx context.Context, engine runner.Engine, row *play.PublishedRow, job runner.Job) (result.Verdict, error) {
	job.Props, job.Method = []string{ThesisProperty}, runner.Sim
	experiment, err := New(Options{
		Board:      modelgen.Config{Rows: row.Match.Shape.Rows, Cols: row.Match.Shape.Cols},
		Strategies: []string{row.Strategy},
		GoalTiles:  []int{game.Value(row.Match.Goal)},
		Updates:    []modelgen.Updates{modelgen.UpdatesRules},
		Job:        job,
	})
	if err != nil {
		return result.Verdict{}, err
	}
	verdicts, err := experiment.checkCells(ctx, experiment.cells, engine, job.Progress)
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

// Run checks every cell with every engine. It compares the answers of the engines with each other, and with the published numbers of the thesis.
func (e *Experiment) Run(ctx context.Context, engines []runner.Engine) (*Outcome, error) {
	verdicts, err := e.verdicts(ctx, engines)
	if err != nil {
		return nil, err
	}
	outcome := &Outcome{Verdicts: verdicts, Comparison: report.Comparison{Title: e.title()}}
	for i, verdict := range verdicts {
		cell, engine := &e.cells[i/len(engines)], engines[i%len(engines)] // the verdicts are ordered by cell, then by engine
		reportCell, err := e.judgeCell(cell, verdict)
		if err != nil {
			return nil, err
		}
		if len(engines) > 1 {
			reportCell.Strategy += ", " + engine.Name()
		}
		outcome.Comparison.Cells = append(outcome.Comparison.Cells, reportCell)
	}
	e.addFindings(&outcome.Comparison)
	if len(engines) > 1 {
		outcome.Agreement = Agree(outcome.Comparison.Cells, len(engines))
		note := fmt.Sprintf("engines, at %g %% confidence for all comparisons together: %s", 100*stats.CompareConfidence, outcome.Agreement.String())
		outcome.Comparison.Notes = slices.Concat([]string{note}, outcome.Agreement.Differences, outcome.Comparison.Notes)
	}
	return outcome, nil
}

// engineRun is one run of an engine: it checks some cells of one strategy.
type engineRun struct {
	engine int   // index in the list of engines
	cells  []int // consecutive indices in Experiment.cells
}

// engineRuns divides the work into runs of an engine on cells, separately for external tools and for the embedded engine. A run of a tool checks
// one cell. A run of the embedded engine checks all tiles of a strategy if it samples the property of the thesis, and one cell otherwise.
func (e *Experiment) engineRuns(engines []runner.Engine) (toolRuns, nativeRuns []engineRun) {
	cellsPerRun := 1
	isSampled := e.Job.Method != runner.States
	if isSampled && slices.Equal(e.Job.Props, []string{ThesisProperty}) {
		cellsPerRun = len(e.GoalTiles)
	}
	for i := range e.cells {
		for engineIndex, engine := range engines {
			switch {
			case engine.Name() != native.Name:
				toolRuns = append(toolRuns, engineRun{engineIndex, []int{i}})
			case i%cellsPerRun == 0:
				nativeRuns = append(nativeRuns, engineRun{engineIndex, consecutive(i, cellsPerRun)})
			}
		}
	}
	return toolRuns, nativeRuns
}

// consecutive returns the numbers first, first+1, ..., first+count-1.
func consecutive(first, count int) []int {
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = first + i
	}
	return numbers
}

// collectedVerdicts are the verdicts and errors of all engines on all cells, ordered by cell, then by engine.
type collectedVerdicts struct {
	engines  []runner.Engine
	verdicts []result.Verdict
	errs     []error
}

// verdicts checks all cells with all engines. The verdicts are ordered by cell, then by engine. If runs fail, the other runs are still done, and
// the error is the first one in the order of the verdicts.
func (e *Experiment) verdicts(ctx context.Context, engines []runner.Engine) ([]result.Verdict, error) {
	count := len(e.cells) * len(engines)
	collected := &collectedVerdicts{engines: engines, verdicts: make([]result.Verdict, count), errs: make([]error, count)}
	toolRuns, nativeRuns := e.engineRuns(engines)
	executeInParallel(max(e.Jobs, 1), toolRuns, func(run engineRun) { e.execute(ctx, collected, run, nil) })
	executeInParallel(e.nativeLimit(), nativeRuns, func(run engineRun) { e.execute(ctx, collected, run, e.Job.Progress) })
	return collected.verdicts, cmp.Or(collected.errs...)
}

// execute executes a run and collects its verdicts. Several goroutines may call it for different runs.
func (e *Experiment) execute(ctx context.Context, collected *collectedVerdicts, run engineRun, progress func(runner.Progress)) {
	cells := e.cells[run.cells[0] : run.cells[0]+len(run.cells)]
	verdicts, err := e.checkCells(ctx, cells, collected.engines[run.engine], progress)
	for i, cell := range run.cells {
		verdictIndex := cell*len(collected.engines) + run.engine
		if err != nil {
			collected.errs[verdictIndex] = fmt.Errorf("strategy %s, MAX %d: %w", cells[i].strategy, cells[i].goalTile, err)
			continue
		}
		collected.verdicts[verdictIndex] = verdicts[i]
	}
}

// nativeLimit returns how many runs of the embedded engine may be active at the same time.
func (e *Experiment) nativeLimit() int {
	switch {
	case e.Job.Simulation.Split != nil:
		return 1 // the records of samples need a fixed order
	case e.Job.Method == runner.States:
		return 1 // the memory holds one state space at a time
	}
	return runtime.GOMAXPROCS(0) // while one model is compiled, another is sampled
}

// executeInParallel calls execute for all runs, at most limit of them at a time. With a limit of 1 it keeps their order.
func executeInParallel(limit int, runs []engineRun, execute func(engineRun)) {
	var group errgroup.Group
	group.SetLimit(limit)
	for _, run := range runs {
		group.Go(func() error {
			execute(run)
			return nil
		})
	}
	_ = group.Wait() // always nil: execute records errors
}

// publishedPath is the longest path of the model with the published updates. Tiles vanish in that model, so its games are longer, and one in
// some thousands takes more than the 10,000 steps of PRISM's default.
const publishedPath = 1_000_000

// plan returns a plan that checks several cells of one strategy in one model: the model with the largest goal tile. For a smaller tile, the
// property asks for the probability of losing before the board has this tile. This probability is the same in both models.
func (e *Experiment) plan(ctx context.Context, cells []cell) (*runner.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	largest := slices.MaxFunc(cells, func(first, second cell) int { return cmp.Compare(first.goalTile, second.goalTile) })
	model, err := modelgen.Build(largest.config)
	if err != nil {
		return nil, err
	}
	var source bytes.Buffer
	if err := syntax.Fprint(&source, model, syntax.Options{}); err != nil {
		return nil, err
	}
	job := e.Job
	job.File, job.Model, job.Progress = fmt.Sprintf("2048-%s-%d.prism", largest.strategy, largest.goalTile), source.Bytes(), nil
	job.Generated = modelgen.Recognizer{}
	if largest.updates != modelgen.UpdatesRules {
		job.File = fmt.Sprintf("2048-%s-%s-%d.prism", largest.updates, largest.strategy, largest.goalTile)
		job.Simulation.MaxPath = cmp.Or(job.Simulation.MaxPath, publishedPath)
	}
	if len(cells) > 1 {
		job.Props = nil
		for i := range cells {
			job.Props = append(job.Props, e.propertyOf(&cells[i], largest.goalTile))
		}
	}
	return runner.NewPlan(ctx, job)
}

// propertyOf returns the property of the thesis for a cell. It is a property of the model in which a game ends at the tile modelMax.
func (e *Experiment) propertyOf(cell *cell, modelMax int) string {
	if cell.goalTile == modelMax {
		return ThesisProperty
	}
	return fmt.Sprintf("Pmin=? [ max(%s)<%d U fail ]", strings.Join(e.Board.Cells(), ","), cell.goalTile)
}

// checkCells checks cells of one strategy with one engine, and returns a verdict for each cell. If ctx ends before the model is built, the verdicts
// have errors.
func (e *Experiment) checkCells(ctx context.Context, cells []cell, engine runner.Engine, progress func(runner.Progress)) ([]result.Verdict, error) {
	plan, err := e.plan(ctx, cells)
	if failure := result.Ended(err); failure != nil {
		return slices.Repeat([]result.Verdict{{Property: strings.Join(e.Job.Props, "; "), Engine: engine.Name(), Err: failure}}, len(cells)), nil
	}
	if err != nil {
		return nil, err
	}
	if progress != nil {
		plan = plan.WithOutputs(func(outputs *runner.Outputs) { outputs.Progress = namedProgress(cells, progress) })
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

// namedProgress returns a function that calls report with the name of the strategy in place of the property.
func namedProgress(cells []cell, report func(runner.Progress)) func(runner.Progress) {
	name := cells[0].strategy
	if len(cells) == 1 {
		name = fmt.Sprintf("%s, MAX %d", cells[0].strategy, cells[0].goalTile)
	}
	return func(progress runner.Progress) {
		progress.Property = name
		report(progress)
	}
}

// Agreement says how the verdicts of several engines compare.
type Agreement struct {
	agree.Tally
	Differences []string // the disagreements, with a reason each
}

// Agree compares every two verdicts of different engines about the same cell. engines is the number of engines. The verdicts about one cell follow
// each other in cells. All comparisons together have the confidence stats.CompareConfidence.
func Agree(cells []report.ComparisonCell, engines int) (agreement Agreement) {
	options := agree.Options{Level: agree.Level(stats.CompareConfidence, len(cells))}
	for sameCell := range slices.Chunk(cells, engines) {
		for second := range sameCell {
			for first := range second {
				agreement.compare(&sameCell[first], &sameCell[second], options)
			}
		}
	}
	return agreement
}

// compare compares the verdicts of two engines about the same cell.
func (a *Agreement) compare(left, right *report.ComparisonCell, options agree.Options) {
	question := agree.Ask(left.Verdict.Property, left.Verdict.Constants)
	outcome := agree.Verdicts(left.Strategy, &left.Verdict, right.Strategy, &right.Verdict, question, options)
	a.Add(outcome)
	if outcome.Relation == agree.Different {
		a.Differences = append(a.Differences, fmt.Sprintf("engines disagree (%s), MAX %d: %s", outcome.Basis, left.Max, outcome.Reason))
	}
}

// judgeCell compares a verdict with the number of the thesis, if the thesis has one for the cell. A sampled verdict is compared by Fisher's exact test with the
// 1000 games of the thesis. By Bonferroni's inequality, the tests of all cells of a model together have the confidence stats.CompareConfidence.
func (e *Experiment) judgeCell(cell *cell, verdict result.Verdict) (report.ComparisonCell, error) {
	row := report.ComparisonCell{Strategy: cell.strategy, Updates: cell.updates.String(), Max: cell.goalTile, Verdict: verdict}
	published, isPublished := e.published(cell.strategy, cell.goalTile)
	if !isPublished {
		return row, nil
	}
	row.Published = &report.Published{Value: published.Loss, HalfWidth: &published.HalfWidth}
	thesisRow := play.ThesisRow(published)
	judgement, err := play.JudgeVerdict(&thesisRow, &thesisRow.Values[0], &verdict, stats.DefaultConfidence, e.level(), e.sequential())
	if err != nil || verdict.Err != nil && !verdict.SampledInPart() {
		return row, err
	}
	if judgement.Remark != "" {
		row.Verdict.Warnings = append(slices.Clip(row.Verdict.Warnings), judgement.Remark)
	}
	switch judgement.Verdict {
	case play.Compatible:
		row.Compatible = report.Compatible
	case play.Incompatible:
		row.Compatible = report.Incompatible
	}
	return row, nil
}

// sequential reports whether the samples continue until the interval is narrow enough.
func (e *Experiment) sequential() bool {
	return e.Job.Simulation.Samples == 0 && e.Job.Simulation.Width > 0
}

// level returns the confidence level of the test of one cell. It is higher than the level of all tests together, because there are several cells.
func (e *Experiment) level() float64 { return agree.Level(stats.CompareConfidence, e.publishedCells()) }

// publishedCells returns the number of cells of one model for which there is a published estimate.
func (e *Experiment) publishedCells() int {
	count := 0
	for _, strategy := range e.Strategies {
		for _, tile := range e.GoalTiles {
			if _, ok := e.published(strategy, tile); ok {
				count++
			}
		}
	}
	return count
}

// published returns the published estimate for a strategy and a goal tile. ok is false if there is none, or if the board or the property of the
// experiment differs from the published one.
//
// Source: J. Sijtsma, Creating a Formal Model of the Game 2048, thesis, Radboud University, 2020, Table 3.6.
func (e *Experiment) published(strategy string, tile int) (estimate modelgen.Published, ok bool) {
	sameBoard := e.Board.Rows == 4 && e.Board.Cols == 4 && e.Board.P2 == modelgen.DefaultP2
	sameProperty := slices.Equal(e.Job.Props, []string{ThesisProperty})
	if !sameBoard || !sameProperty {
		return modelgen.Published{}, false
	}
	for _, entry := range modelgen.PublishedTable() {
		if entry.Strategy == strategy && entry.Max == tile {
			return entry, true
		}
	}
	return modelgen.Published{}, false
}

// title returns the title of the table: the property, the board and how its tiles are spawned.
func (e *Experiment) title() string {
	return fmt.Sprintf("%s on the %dx%d model of 2048, spawn %s", strings.Join(e.Job.Props, "; "), e.Board.Rows, e.Board.Cols, e.Board.Spawn)
}
