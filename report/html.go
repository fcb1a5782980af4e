package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"tilecheck/internal/printable"
	"tilecheck/report/number"
	"tilecheck/report/table"
)

// The parts of the page. The template escapes everything that is put into it.
var (
	//go:embed html/page.gohtml
	htmlTemplate string
	//go:embed html/style.css
	htmlStyle string
	//go:embed html/script.js
	htmlScript string
)

// WriteHTML writes a run of a test suite to w as a self-contained HTML page. The page lists the failures, the results that were not judged, the
// counts by folder, plots of experiments, all results with the engines side by side, and the logs.
//
// The content security policy of the page allows only its own style and script. So markup in the text of models and tools has no effect, even if
// it were not escaped.
func WriteHTML(w io.Writer, rep *TestReport, opt table.Options) error {
	page, err := template.New("page").Parse(htmlTemplate)
	if err != nil {
		return fmt.Errorf("parse the template of the page: %w", err)
	}
	var text bytes.Buffer
	if err := page.Execute(&text, newHTMLPage(rep, opt)); err != nil {
		return err
	}
	// Make control characters visible, except for the tabs, which the script of the page needs.
	parts := strings.Split(text.String(), "\t")
	for i := range parts {
		parts[i] = printable.Text(parts[i])
	}
	_, err = io.WriteString(w, strings.Join(parts, "\t"))
	return err
}

// htmlPage has the data of the template.
type htmlPage struct {
	Title, Version, Conclusion string
	VerdictClass, VerdictMark  string
	Policy                     string
	Style                      template.CSS
	Script                     template.JS
	Meta                       []part
	Counts                     []htmlCount
	Sections                   []htmlSection
	Engines                    []string
	Failures                   []htmlFailure
	MoreFailures               int
	Changes                    []htmlChange
	ChangeCounts               string
	MoreChanges                int
	Findings                   []part
	Reasons                    []htmlReason
	FolderHeads                []string
	Folders                    []htmlFolderRow
	Times, Figures             []htmlFigure
	MoreFigures                string
	Suites                     []htmlSuite
	Logs                       []*htmlLog
	MoreLogs                   string
	Notes                      []string
}

// htmlOutcome is an outcome on the page. The mark and the word say what the colour says.
type htmlOutcome struct{ Class, Mark, Word string }

// htmlOutcomeOf returns an outcome with the class and the mark that show it.
func htmlOutcomeOf(outcome TestOutcome) htmlOutcome {
	mark := [...]string{"!", "◔", "✗", "≠", "⊘", "?", "–", "✓"}[outcome]
	return htmlOutcome{strings.ReplaceAll(outcome.String(), " ", "-"), mark, outcome.String()}
}

// htmlCount is the number of results with an outcome, and its share of a bar of 1000 units.
type htmlCount struct {
	htmlOutcome
	N        int
	X, Width string
}

// htmlSection is an entry of the table of contents.
type htmlSection struct {
	ID, Name string
	N        int
}

// htmlFailure is a failed result in detail.
type htmlFailure struct {
	htmlOutcome
	failureRow
	Place, Log string
	Details    []part
}

// htmlChange is a change since the baseline. Was and Is have a line for each kind of change.
type htmlChange struct {
	Tone, Change, Place, Property, Engine string
	Was, Is                               []string
}

// htmlReason is a reason why results were not judged.
type htmlReason struct {
	htmlOutcome
	reasonRow
}

// htmlFolderRow is a row of the table of counts by folder.
type htmlFolderRow struct {
	folderRow
	ID, Time string
	Cells    []part
}

// newHTMLPage returns the data for the template of the page.
func newHTMLPage(rep *TestReport, opt table.Options) *htmlPage {
	opt.Unicode = true
	total := tallyOf(rep.Results)
	page := &htmlPage{
		Title: rep.Title, Version: opt.VersionText(), Conclusion: total.headline(), VerdictClass: "good", VerdictMark: "✓",
		Style: template.CSS(htmlStyle), Script: template.JS(htmlScript), Policy: contentPolicy(),
		Counts: htmlCounts(total), Engines: rep.engines(), Notes: rep.Notes, Meta: rep.htmlMeta(),
	}
	if page.Title == "" {
		page.Title = "tilecheck test"
	}
	if !total.good() {
		page.VerdictClass, page.VerdictMark = "bad", "✗"
	}
	logs := newHTMLLogs(rep)
	page.Failures, page.MoreFailures = rep.htmlFailures(logs)
	for i := range rep.Findings {
		page.Findings = append(page.Findings, part{Name: rep.Findings[i].place(), Text: rep.Findings[i].Message})
	}
	page.addChanges(rep.Baseline, opt)
	for _, reason := range rep.reasons() {
		page.Reasons = append(page.Reasons, htmlReason{htmlOutcomeOf(reason.Outcome), reason})
	}
	page.Suites = rep.htmlSuites(logs, opt)
	page.FolderHeads, page.Folders = rep.htmlFolders()
	page.Times = rep.htmlTimes()
	page.Figures, page.MoreFigures = rep.htmlFigures(opt)
	page.Logs, page.MoreLogs = logs.list, logs.more()
	page.Sections = page.sections()
	return page
}

// addChanges adds the changes since the baseline to the page: their numbers and the first maxCards of them. It does nothing without a baseline.
func (p *htmlPage) addChanges(baseline *Baseline, opt table.Options) {
	if baseline == nil {
		return
	}
	p.ChangeCounts = baseline.countsLine()
	p.MoreChanges = max(len(baseline.Changes)-maxCards, 0)
	for i := range baseline.Changes[:len(baseline.Changes)-p.MoreChanges] {
		change := &baseline.Changes[i]
		changed, cell := change.result(), change.cell()
		shown := htmlChange{Change: cell.Text, Place: changed.place(), Property: changed.title(), Engine: changed.Engine}
		if setting := changed.setting(); setting != "" {
			shown.Property += " " + setting
		}
		switch cell.Tone {
		case table.Bad:
			shown.Tone = "fail"
		case table.Good:
			shown.Tone = "pass"
		}
		shown.Was, shown.Is = strings.Split(change.sideCell(change.Old, opt), "\n"), strings.Split(change.sideCell(change.New, opt), "\n")
		p.Changes = append(p.Changes, shown)
	}
}

// headline returns the conclusion of the report, such as "2 of 40 results failed".
func (t *tally) headline() string {
	results := strconv.Itoa(t.total) + plural(t.total, " result", " results")
	switch failing, passed := t.failing(), t.counts[TestPassed]; {
	case t.total == 0:
		return "Nothing was checked"
	case failing > 0:
		return strconv.Itoa(failing) + " of " + results + " failed"
	case passed == t.total:
		return "All " + results + " passed"
	default:
		return strconv.Itoa(passed) + " of " + results + " passed, none failed"
	}
}

// contentPolicy returns a policy that allows the style and the script of the page, and nothing else.
//
// Source: W3C, Content Security Policy Level 3, section 2.3.1.
func contentPolicy() string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + digest(htmlStyle) + "; script-src " + digest(htmlScript) +
		"; base-uri 'none'; form-action 'none'"
}

// htmlCounts returns the outcomes that occur, with their numbers of results. Each has a segment of a bar that is 1000 units wide.
func htmlCounts(outcomes *tally) []htmlCount {
	var segments []htmlCount
	offset := 0.0
	for _, outcome := range tallyOrder() {
		if count := outcomes.counts[outcome]; count > 0 {
			width := 1000 * float64(count) / float64(outcomes.total)
			segments = append(segments, htmlCount{htmlOutcomeOf(outcome), count, svgNumber(offset), svgNumber(width)})
			offset += width
		}
	}
	return segments
}

// htmlMeta returns the facts at the top of the page: the engines, the start, the duration and the number of results.
func (rep *TestReport) htmlMeta() []part {
	var facts []part
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, part{Name: name, Text: text})
		}
	}
	add("engines", strings.Join(rep.engines(), ", "))
	if !rep.Started.IsZero() {
		add("started", rep.Started.UTC().Format(time.DateTime)+" UTC")
	}
	add("took", number.Duration(rep.Elapsed.Seconds()))
	add("results", countText(int64(len(rep.Results))))
	return facts
}

// maxCards is the number of failures that a page has in detail.
const maxCards = 200

// htmlFailures returns the first failures in detail, and the number of omitted failures. The section "Suites" lists all of them.
func (rep *TestReport) htmlFailures(logs *htmlLogs) (cards []htmlFailure, omitted int) {
	failures := rep.failures()
	omitted = max(len(failures)-maxCards, 0)
	for _, failure := range failures[:len(failures)-omitted] {
		cards = append(cards, htmlFailure{htmlOutcomeOf(failure.Outcome), failure, failure.place(), logs.id(failure.TestResult), failure.parts()})
	}
	return cards, omitted
}

// htmlFolders returns the column heads and the rows of the table with the number of results of each outcome in each folder.
func (rep *TestReport) htmlFolders() (heads []string, rows []htmlFolderRow) {
	total := tallyOf(rep.Results)
	var occurring []TestOutcome
	for _, outcome := range tallyOrder() {
		if total.counts[outcome] > 0 {
			occurring = append(occurring, outcome)
			heads = append(heads, outcome.String())
		}
	}
	ids := make(map[string]string)
	for _, folder := range rep.folders() {
		row := htmlFolderRow{folderRow: folder, Time: number.Duration(folder.seconds)}
		for _, outcome := range occurring {
			row.Cells = append(row.Cells, part{Name: htmlOutcomeOf(outcome).Class, Text: countText(int64(folder.counts[outcome]))})
		}
		if !folder.Total {
			if ids[folder.Folder] == "" {
				ids[folder.Folder] = htmlID("folder", len(ids))
			}
			row.ID = ids[folder.Folder]
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// htmlID names the i-th part of a kind, from 1.
func htmlID(kind string, i int) string { return kind + "-" + strconv.Itoa(i+1) }

// sections lists the sections of the page that are not empty.
func (p *htmlPage) sections() []htmlSection {
	candidates := []htmlSection{
		{"failures", "What failed", len(p.Failures)},
		{"changes", "Changes since the baseline", len(p.Changes)},
		{"findings", "Annotations to look at", len(p.Findings)},
		{"reasons", "What was not judged, and why", len(p.Reasons)},
		{"folders", "By folder", 0},
		{"times", "Times", len(p.Times)},
		{"experiments", "Experiments", len(p.Figures)},
		{"suites", "Suites", 0},
		{"logs", "Logs", len(p.Logs)},
	}
	var nonEmpty []htmlSection
	for _, section := range candidates {
		if section.N > 0 || section.ID == "changes" && p.ChangeCounts != "" || (section.ID == "folders" || section.ID == "suites") && len(p.Suites) > 0 {
			nonEmpty = append(nonEmpty, section)
		}
	}
	return nonEmpty
}
