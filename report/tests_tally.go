package report

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/printable"
	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// failing reports whether an outcome makes a run fail.
func (index TestOutcome) failing() bool { return index <= TestDisagreed }

// tone returns the tone, which is the colour, of an outcome.
func (o TestOutcome) tone() table.Tone {
	switch {
	case o.failing():
		return table.Bad
	case o == TestPassed:
		return table.Good
	}
	return table.Plain
}

// tallyOrder returns the outcomes in the order of reports: failures, passed, the rest.
func tallyOrder() []TestOutcome {
	return []TestOutcome{
		TestFailed, TestDisagreed, TestError, TestLimit,
		TestPassed, TestUnsupported, TestUnchecked, TestNotTested,
	}
}

// tally counts results by their outcome.
type tally struct {
	counts  [TestPassed + 1]int
	total   int
	cached  int
	seconds float64 // of the results, those of cached ones included
}

// tallyOf counts results by outcome.
func tallyOf(results []TestResult) *tally {
	var t tally
	for i := range results {
		t.count(&results[i])
	}
	return &t
}

// count adds a result to the counts.
func (t *tally) count(test *TestResult) {
	t.counts[test.Outcome]++
	t.total++
	if test.Cached {
		t.cached++
	}
	t.seconds += test.seconds()
}

// good reports whether something was checked and nothing failed.
func (t *tally) good() bool { return t.failing() == 0 && t.total > 0 }

// failing returns the number of results with a failing outcome.
func (t *tally) failing() int {
	total := 0
	for index := range t.counts {
		if TestOutcome(index).failing() {
			total += t.counts[index]
		}
	}
	return total
}

// countsLine returns the counts in one line, such as "2 failed, 1 error, 1990 passed".
func (t *tally) countsLine() string {
	if t.total == 0 {
		return "nothing was checked"
	}
	var parts []string
	for _, outcome := range tallyOrder() {
		if count := t.counts[outcome]; count > 0 {
			parts = append(parts, strconv.Itoa(count)+" "+outcome.nameFor(count))
		}
	}
	return strings.Join(parts, ", ")
}

// nameFor returns the name of an outcome after a number, in the singular or the plural.
func (o TestOutcome) nameFor(count int) string {
	switch o {
	case TestError:
		return plural(count, "error", "errors")
	case TestLimit:
		return "over a limit"
	case TestFailed:
		return "failed"
	case TestDisagreed:
		return plural(count, "disagreement", "disagreements")
	case TestPassed:
		return "passed"
	}
	return o.String()
}

// plural returns one or many, as n needs.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// conclusion returns the last line of a report: the counts, the duration, and the number of results from the cache.
func (rep *TestReport) conclusion() string {
	total := tallyOf(rep.Results)
	text := total.countsLine()
	if elapsed := number.Duration(rep.Elapsed.Seconds()); elapsed != "" {
		text += " in " + elapsed
	}
	if total.cached > 0 {
		text += " (" + strconv.Itoa(total.cached) + " from the cache)"
	}
	return text
}

// engines returns the engines of the run, followed by other engines that have results.
func (rep *TestReport) engines() []string {
	names := slices.Clone(rep.Engines)
	for i := range rep.Results {
		if engine := rep.Results[i].Engine; !slices.Contains(names, engine) {
			names = append(names, engine)
		}
	}
	return names
}

// source returns the file of a result: the properties file, otherwise the model.
func (r *TestResult) source() string {
	for _, name := range []string{r.File, r.Props, r.Model} {
		if name != "" {
			return name
		}
	}
	return ""
}

// folder returns the directory of a result's file.
func (r *TestResult) folder() string { return path.Dir(filepath.ToSlash(r.source())) }

// seconds returns the time of the result; 0 if it is unknown.
func (r *TestResult) seconds() float64 {
	switch {
	case r.Seconds > 0:
		return r.Seconds
	case r.Verdict != nil && r.Verdict.Seconds > 0:
		return r.Verdict.Seconds
	}
	return 0
}

// place returns "file:line:col" of a result, without unknown parts.
func (r *TestResult) place() string { return placeText(r.source(), r.Line, r.Col) }

// place returns "file:line:col" of a finding.
func (f *TestFinding) place() string { return placeText(f.File, f.Line, f.Col) }

// placeText returns a position as "file:line:col". It leaves out the line or the column if it is 0, which means unknown.
func placeText(file string, line, col int) string {
	if line > 0 {
		file += ":" + strconv.Itoa(line)
		if col > 0 {
			file += ":" + strconv.Itoa(col)
		}
	}
	return file
}

// wholeRun is the title of a result without a property.
const wholeRun = "the whole run"

// Summary returns the result in one line.
func (r *TestResult) Summary() string {
	text := r.place() + ": " + r.Outcome.String() + ": " + r.title()
	if setting := r.setting(); setting != "" {
		text += " with " + setting
	}
	if r.Expected != "" {
		text += ": expected " + r.expectedText()
	}
	if r.Got != "" {
		text += ", got " + r.Got
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return printable.Line(text)
}

// title returns the property with its name. A result about all properties of a file has a fixed title.
func (r *TestResult) title() string {
	switch {
	case r.Property == "" && r.Name == "":
		return wholeRun
	case r.Property == "":
		return strconv.Quote(r.Name)
	}
	return result.NamedProperty(r.Name, r.Property)
}

// setting returns the valuation and the switches of a result, such as "N=3 -exact". It omits a switch -const if the valuation has all its constants.
func (r *TestResult) setting() string {
	words := []string{result.Valuation(r.Constants).String()}
	for i := 0; i < len(r.Args); i++ {
		if strings.TrimLeft(r.Args[i], "-") == "const" && i+1 < len(r.Args) && r.defines(r.Args[i+1]) {
			i++ // skip the definitions, too
			continue
		}
		words = append(words, r.Args[i])
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// defines reports whether the valuation of the result has every constant of a list of definitions, such as "a=1,b=1:5".
func (r *TestResult) defines(definitions string) bool {
	for definition := range strings.SplitSeq(definitions, ",") {
		name, _, _ := strings.Cut(definition, "=")
		if !slices.ContainsFunc(r.Constants, func(constant result.Constant) bool { return constant.Name == strings.TrimSpace(name) }) {
			return false
		}
	}
	return true
}

// severalModels returns the set of properties files that have results of more than one model.
func (rep *TestReport) severalModels() map[string]bool {
	firstModel := make(map[string]string)
	several := make(map[string]bool)
	for i := range rep.Results {
		test := &rep.Results[i]
		if model, ok := firstModel[test.source()]; ok && model != test.Model {
			several[test.source()] = true
		} else {
			firstModel[test.source()] = test.Model
		}
	}
	return several
}
