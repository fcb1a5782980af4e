package experiment

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// The probabilities of losing in the model with two faults, and by the rules: 40,000 games a column of a program that was written from the
// description of the faults alone (2048-numbers.md, "Table 3.6 explained").
var (
	faultsLose = map[string][]float64{
		"random": {.135, .508, .851, .968, .994}, "opposite": {.713, .969, 1, 1, 1},
		"orthogonal": {.010, .124, .562, .960, .998}, "alternating": {.015, .203, .658, .983, 1},
	}
	rulesLose = map[string][]float64{
		"random": {.447, .922, 1, 1, 1}, "opposite": {.734, .977, 1, 1, 1},
		"orthogonal": {.097, .488, .955, 1, 1}, "alternating": {.083, .466, .942, 1, 1},
	}
)

// outcome is a cell, by its index, and how many games were lost.
type outcome struct {
	cell int
	lost int64
}

// drawn is the cells of 1000 games each, which draw their losses from those probabilities. What is judged already is in judged.
func drawn(t *testing.T, e *Experiment, rng *rand.Rand, of map[modelgen.Updates]map[string][]float64, judged map[outcome]report.ComparisonCell) []report.ComparisonCell {
	t.Helper()
	var cells []report.ComparisonCell
	for i := range e.cells {
		c := &e.cells[i]
		p := of[c.updates][c.strategy][i%len(e.GoalTiles)]
		b := stats.Bernoulli{N: 1000}
		for range b.N {
			b.K += int64(map[bool]int{true: 1}[rng.Float64() < p])
		}
		if x, ok := judged[outcome{i, b.K}]; ok {
			cells = append(cells, x)
			continue
		}
		v := result.Verdict{
			Value: result.Value{Kind: result.Number, Num: b.Mean()}, Accuracy: result.Probable, Resolution: result.Uniform, Samples: b.N, BoundMethod: "Clopper-Pearson",
		}
		x, err := e.judgeCell(c, v)
		if err != nil {
			t.Fatal(err)
		}
		judged[outcome{i, b.K}] = x
		cells = append(cells, x)
	}
	return cells
}

// In 100 repetitions of all 20 cells the test of all together finds the model with the faults compatible, and the rules in the column opposite
// only. Its error is 0.001 for a new seed, if the thesis's 1000 games are new, too; with those that were published, the largest z score of a cell
// is 2.0, so that a false alarm in any of the 2,000 cells has a probability below 0.01.
func TestFindingOfManySeeds(t *testing.T) {
	e, err := New(Options{
		Board: modelgen.Config{Rows: 4, Cols: 4, P2: modelgen.DefaultP2}, Strategies: ThesisStrategies(), GoalTiles: ThesisMax(),
		Job: runner.Job{Props: []string{ThesisProperty}, Settings: runner.Settings{Simulation: runner.Simulation{Samples: 1000}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	of := map[modelgen.Updates]map[string][]float64{modelgen.UpdatesRules: rulesLose, modelgen.UpdatesPublished: faultsLose}
	met, judged := 0, map[outcome]report.ComparisonCell{}
	for seed := range uint64(100) {
		c := report.Comparison{Cells: drawn(t, e, rand.New(rand.NewPCG(seed, 36)), of, judged)}
		e.addFindings(&c)
		if len(c.Finding) != 3 || c.Finding[0] != "Finding: the rules give the column opposite and contradict random, orthogonal and alternating." {
			t.Fatalf("seed %d: %q", seed, c.Finding)
		}
		if strings.HasPrefix(c.Finding[1], "Two wrong updates explain 20 of 20 cells (exact test, 99.9 % confidence for all together).") {
			met++
		}
	}
	if met < 99 {
		t.Errorf("%d of 100 seeds find all cells compatible with the published updates, want 99", met)
	}
}

// The names of columns of several engines have commas of their own.
func TestFindingOfEngines(t *testing.T) {
	fit := thesisFit{numCompared: 4, columns: []string{"random, prism", "opposite, prism", "opposite, native"}, contradictedColumns: []string{"random, prism"}}
	if found, want := fit.describe(), "give the columns opposite (prism) and opposite (native) and contradict random (prism)"; found != want {
		t.Errorf("found %q, want %q", found, want)
	}
}
