package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/modelgen"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// thesisFit says how the cells of one model compare with the published ones.
type thesisFit struct {
	numCompared, numCompatible int      // numbers of cells
	columns                    []string // strategies, in order
	contradictedColumns        []string // strategies with a cell that contradicts the published one
	squaredZScores             float64  // the sum over the sampled cells
	numVarying                 int      // the cells that are not 0 or 1 in both samples: the mean of squaredZScores if all differences are chance
}

// compareWithThesis counts how many cells with the given updates are compatible with the published numbers, and adds up their squared z-scores.
func compareWithThesis(cells []report.ComparisonCell, updates modelgen.Updates) (fit thesisFit) {
	for i := range cells {
		cell := &cells[i]
		if cell.Updates != updates.String() || cell.Compatible == report.Incomparable {
			continue
		}
		fit.add(cell)
	}
	return fit
}

// add counts a cell that has a published number. It also counts whether the cell is compatible with this number, and adds its squared z-score.
func (f *thesisFit) add(cell *report.ComparisonCell) {
	f.numCompared++
	if !slices.Contains(f.columns, cell.Strategy) {
		f.columns = append(f.columns, cell.Strategy)
	}
	if cell.Compatible == report.Compatible {
		f.numCompatible++
	} else if !slices.Contains(f.contradictedColumns, cell.Strategy) {
		f.contradictedColumns = append(f.contradictedColumns, cell.Strategy)
	}
	if verdict := &cell.Verdict; verdict.Samples > 0 && verdict.Value.Kind == result.Number {
		ours, theirs := losses(verdict.Value.Num, verdict.Samples), losses(cell.Published.Value, modelgen.PublishedSamples)
		zScore := stats.ZScore(ours, theirs)
		f.squaredZScores += zScore * zScore
		if lost := ours.K + theirs.K; lost > 0 && lost < ours.N+theirs.N {
			f.numVarying++
		}
	}
}

// losses returns a sample of games in which the given share was lost.
func losses(share float64, games int64) stats.Bernoulli {
	return stats.Bernoulli{N: games, K: int64(math.Round(share * float64(games)))}
}

// compatibleColumns returns the strategies that have no contradicted cell.
func (f *thesisFit) compatibleColumns() []string {
	return slices.DeleteFunc(slices.Clone(f.columns), func(s string) bool { return slices.Contains(f.contradictedColumns, s) })
}

// addFindings compares the model of the rules, and the model with the two faulty updates (UpdatesPublished), with the published cells of the thesis. It adds
// a finding for each of these models, and notes that explain the table. It adds nothing if the experiment has no published cells.
func (e *Experiment) addFindings(comparison *report.Comparison) {
	publishedCells := e.publishedCells()
	if publishedCells == 0 {
		return
	}
	rulesFit := compareWithThesis(comparison.Cells, modelgen.UpdatesRules)
	faultyFit := compareWithThesis(comparison.Cells, modelgen.UpdatesPublished)
	if text := rulesFit.describe(); text != "" {
		comparison.Finding = append(comparison.Finding, "Finding: the rules "+text+".")
	}
	if faultyFit.numCompared > 0 {
		comparison.Finding = append(comparison.Finding, describeFaultyUpdates(&faultyFit, &rulesFit)...)
	}
	comparison.Notes = e.tableNotes(publishedCells)
}

// tableNotes returns notes that explain the table: where its published numbers come from, and what its marks and its model "faults" mean.
func (e *Experiment) tableNotes(publishedCells int) []string {
	notes := []string{
		fmt.Sprintf("thesis: Table 3.6, %d games a cell, with PRISM's half-width", modelgen.PublishedSamples),
		fmt.Sprintf("* contradicts the thesis (exact test, %g %% confidence for the %d cells of a model together)", 100*stats.CompareConfidence, publishedCells),
	}
	if !slices.Contains(e.Updates, modelgen.UpdatesPublished) {
		return append(notes, modelgen.PublishedNote)
	}
	notes = append(notes, "faults: two updates break the rules, one of them as printed in the thesis; see docs/thesis.md")
	if e.Job.Method != runner.States && e.Job.Simulation.MaxPath == 0 {
		notes = append(notes, fmt.Sprintf("faults: games last longer, so --max-path is %d; PRISM's default (-simpathlen) is 10000", publishedPath))
	}
	return notes
}

// describeFaultyUpdates describes how well the model with the two faulty updates reproduces the thesis, compared with the model of the rules.
func describeFaultyUpdates(faultyFit, rulesFit *thesisFit) []string {
	texts := []string{fmt.Sprintf("Two wrong updates explain %d of %d cells (exact test, %g %% confidence for all together).", faultyFit.numCompatible, faultyFit.numCompared, 100*stats.CompareConfidence)}
	if rulesFit.squaredZScores+faultyFit.squaredZScores > 0 {
		text := fmt.Sprintf("Misfit (chi-squared): faults %.0f", faultyFit.squaredZScores)
		if rulesFit.numCompared > 0 {
			text += fmt.Sprintf(", rules %.0f", rulesFit.squaredZScores)
		}
		texts = append(texts, text+fmt.Sprintf("; about %d is expected of a right model.", faultyFit.numVarying))
	}
	return texts
}

// describe returns a text about the columns of the thesis that the model reproduces or contradicts, such as "give the column random". It is empty
// if no cell was compared.
func (f *thesisFit) describe() string {
	columnText := func(strategies []string) string {
		if len(strategies) == 1 {
			return "the column " + columnName(strategies[0])
		}
		return "the columns " + enumeration(strategies)
	}
	compatible := f.compatibleColumns()
	switch {
	case f.numCompared == 0:
		return ""
	case len(f.contradictedColumns) == 0:
		return "give " + columnText(compatible)
	case len(compatible) == 0:
		return "contradict " + columnText(f.contradictedColumns)
	}
	return "give " + columnText(compatible) + " and contradict " + enumeration(f.contradictedColumns)
}

// columnName returns the title of a column for a sentence, such as "random (prism)" for "random, prism".
func columnName(title string) string {
	if strategy, engine, several := strings.Cut(title, ", "); several {
		return strategy + " (" + engine + ")"
	}
	return title
}

// enumeration joins the names of the columns as in "a, b and c".
func enumeration(columns []string) string {
	words := make([]string, len(columns))
	for i, title := range columns {
		words[i] = columnName(title)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
