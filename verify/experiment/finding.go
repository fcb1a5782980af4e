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

// fit is how the cells of one model fit the published ones.
type fit struct {
	judged, met int
	columns     []string // strategies, in order
	apart       []string // those of which a cell contradicts what was published
	squares     float64  // the sum of the squared z scores of samples
}

// fitOf compares the cells of the models with those updates.
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
			f.met++
		} else if !slices.Contains(f.apart, c.Strategy) {
			f.apart = append(f.apart, c.Strategy)
		}
		if v := &c.Verdict; v.Samples > 0 && v.Value.Kind == result.Number {
			z := stats.ZScore(count(v.Value.Num, v.Samples), count(c.Published.Value, modelgen.PublishedSamples))
			f.squares += z * z
		}
	}
	return f
}

func count(share float64, n int64) stats.Bernoulli {
	return stats.Bernoulli{N: n, K: int64(math.Round(share * float64(n)))}
}

// followed are the columns without a contradiction.
func (f *fit) followed() []string {
	return slices.DeleteFunc(slices.Clone(f.columns), func(s string) bool { return slices.Contains(f.apart, s) })
}

// conclude says what comes of the cells beside the published ones, and explains the table.
func (e *Experiment) conclude(c *report.Comparison) {
	n := e.tested()
	if n == 0 {
		return
	}
	rules, faults := fitOf(c.Cells, modelgen.UpdatesRules), fitOf(c.Cells, modelgen.UpdatesPublished)
	if text := rules.ofRules(); text != "" {
		c.Finding = append(c.Finding, "Finding: the rules "+text+".")
	}
	if faults.judged > 0 {
		text := fmt.Sprintf("Two wrong updates give %d of %d cells (exact test, %g %% together", faults.met, faults.judged, 100*stats.CompareConfidence)
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

// ofRules says which columns follow, empty if none was judged.
func (f *fit) ofRules() string {
	column := func(words []string) string {
		if len(words) == 1 {
			return "the column " + words[0]
		}
		return "the columns " + listed(words)
	}
	followed := f.followed()
	switch {
	case f.judged == 0:
		return ""
	case len(f.apart) == 0:
		return "give " + column(followed)
	case len(followed) == 0:
		return "contradict " + column(f.apart)
	}
	return "give " + column(followed) + " and contradict " + listed(f.apart)
}

// listed joins words with commas and an and.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
