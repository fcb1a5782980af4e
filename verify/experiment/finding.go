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

// fit compares the cells of one model with the published ones.
type fit struct {
	judged, compatible int
	columns            []string // strategies, in order
	contradicting      []string // strategies with a cell that contradicts the published one
	squares            float64  // the sum of the squared z scores of samples
}

// fitOf compares the cells of the models with these updates.
func fitOf(cells []report.ComparisonCell, updates modelgen.Updates) (f fit) {
	for i := range cells {
		c := &cells[i]
		if c.Updates != updates.String() || c.Compatible == report.Incomparable {
			continue
		}
		f.judged++
		if !slices.Contains(f.columns, c.Strategy) {
			f.columns = append(f.columns, c.Strategy)
		}
		if c.Compatible == report.Compatible {
			f.compatible++
		} else if !slices.Contains(f.contradicting, c.Strategy) {
			f.contradicting = append(f.contradicting, c.Strategy)
		}
		if v := &c.Verdict; v.Samples > 0 && v.Value.Kind == result.Number {
			z := stats.ZScore(losses(v.Value.Num, v.Samples), losses(c.Published.Value, modelgen.PublishedSamples))
			f.squares += z * z
		}
	}
	return f
}

// losses returns the number of losses in n games, from their share.
func losses(share float64, n int64) stats.Bernoulli {
	return stats.Bernoulli{N: n, K: int64(math.Round(share * float64(n)))}
}

// compatibleColumns returns the columns without a contradiction.
func (f *fit) compatibleColumns() []string {
	return slices.DeleteFunc(slices.Clone(f.columns), func(s string) bool { return slices.Contains(f.contradicting, s) })
}

// conclude adds the finding about the published cells, and the notes that explain the table.
func (e *Experiment) conclude(c *report.Comparison) {
	n := e.publishedCells()
	if n == 0 {
		return
	}
	rules, faults := fitOf(c.Cells, modelgen.UpdatesRules), fitOf(c.Cells, modelgen.UpdatesPublished)
	if text := rules.rulesText(); text != "" {
		c.Finding = append(c.Finding, "Finding: the rules "+text+".")
	}
	if faults.judged > 0 {
		text := fmt.Sprintf("Two wrong updates give %d of %d cells (exact test, %g %% together", faults.compatible, faults.judged, 100*stats.CompareConfidence)
		if rules.squares+faults.squares > 0 {
			text += fmt.Sprintf("; sum of z² %.0f", faults.squares)
		}
		if rules.judged > 0 {
			text += fmt.Sprintf(", rules %.0f", rules.squares)
		}
		text += ")."
		c.Finding = append(c.Finding, text)
	}
	c.Notes = []string{
		fmt.Sprintf("thesis: Table 3.6, %d games a cell, with PRISM's half-width", modelgen.PublishedSamples),
		fmt.Sprintf("* contradicts the thesis: an exact test, at %g %% for the %d cells of a model together", 100*stats.CompareConfidence, n),
	}
	if !slices.Contains(e.Updates, modelgen.UpdatesPublished) {
		c.Notes = append(c.Notes, modelgen.PublishedNote)
		return
	}
	c.Notes = append(c.Notes, "faults: two updates break the rules, one of them as printed in the thesis; see docs/thesis.md")
	if e.Job.Method != runner.States && e.Job.Simulation.MaxPath == 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("faults: paths may have %d steps; PRISM's default is 10000 (--max-path, PRISM's -simpathlen)", publishedPath))
	}
}

// rulesText says which columns the rules give, empty if none was judged.
func (f *fit) rulesText() string {
	column := func(words []string) string {
		if len(words) == 1 {
			return "the column " + words[0]
		}
		return "the columns " + enumeration(words)
	}
	compatible := f.compatibleColumns()
	switch {
	case f.judged == 0:
		return ""
	case len(f.contradicting) == 0:
		return "give " + column(compatible)
	case len(compatible) == 0:
		return "contradict " + column(f.contradicting)
	}
	return "give " + column(compatible) + " and contradict " + enumeration(f.contradicting)
}

// enumeration joins words with commas and an and.
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
