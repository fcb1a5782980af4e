package report

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// htmlSuite has the files of a folder.
type htmlSuite struct {
	ID, Folder string
	Files      []*htmlFile
}

// htmlFile has the results of a properties file.
type htmlFile struct {
	Name, Model string
	Open        bool // unfolded: it has a failure, or the report is small
	Counts      []htmlCount
	Engines     []string
	Compare     bool // there are several engines
	Rows        []*htmlRow
	results     []TestResult
}

// htmlRow is a property under one valuation, with a cell for each engine.
type htmlRow struct {
	Line, Name, Property, Setting, Expected string
	Model                                   string // if the file has results of several
	Cells                                   []htmlCell
	Agreement, AgreementClass               string
	Outcomes                                string // for the filters: "pass\tnative\nfail\tprism"
	verdicts                                []*TestResult
}

// htmlCell is the result of one engine.
type htmlCell struct {
	htmlOutcome
	Value, Interval, Meta, Summary, Log string
	Details                             []part
}

// maxOpenResults is the largest number of results with which every file is unfolded.
const maxOpenResults = 60

// htmlSuites returns a section for each folder. It has a table for each properties file, with a row for each property and valuation and a column for
// each engine.
func (rep *TestReport) htmlSuites(logs *htmlLogs, opt table.Options) []htmlSuite {
	engines := rep.engines()
	var suites []htmlSuite
	folders := make(map[string]int)
	files := make(map[string]*htmlFile)
	rows := make(map[string]*htmlRow)
	severalModels := rep.severalModels()
	for i := range rep.Results {
		test := &rep.Results[i]
		folder := test.folder()
		if _, ok := folders[folder]; !ok {
			folders[folder] = len(suites)
			suites = append(suites, htmlSuite{ID: htmlID("folder", len(suites)), Folder: folder})
		}
		name := filepath.ToSlash(test.source())
		file := files[name]
		if file == nil {
			file = &htmlFile{Name: path.Base(name), Engines: engines, Compare: len(engines) > 1, Open: len(rep.Results) <= maxOpenResults}
			files[name] = file
			suite := &suites[folders[folder]]
			suite.Files = append(suite.Files, file)
		}
		row := file.addResult(test, rows, logs, opt)
		if severalModels[test.source()] {
			row.Model = test.Model
		}
	}
	for _, suite := range suites {
		for _, file := range suite.Files {
			file.finish()
		}
	}
	return suites
}

// addResult adds a result to the row of its property and valuation, and returns the row. It makes a new row if there is none, or if its cell of this
// engine is already taken. rows has the last row of each property and valuation.
func (f *htmlFile) addResult(test *TestResult, rows map[string]*htmlRow, logs *htmlLogs, opt table.Options) *htmlRow {
	f.results = append(f.results, *test)
	engine := slices.Index(f.Engines, test.Engine)
	key := test.question() + "\x00" + result.Valuation(test.Constants).String()
	row := rows[key]
	if row == nil || row.Cells[engine].Word != "" {
		row = &htmlRow{Name: test.Name, Property: test.Property, Setting: test.setting(), Cells: make([]htmlCell, len(f.Engines))}
		if test.Line > 0 {
			row.Line = strconv.Itoa(test.Line)
		}
		if row.Property == "" && row.Name == "" {
			row.Property = test.title()
		}
		rows[key] = row
		f.Rows = append(f.Rows, row)
	}
	if row.Expected == "" {
		row.Expected = test.Expected
	}
	row.Cells[engine] = test.htmlCell(logs, opt)
	row.verdicts = append(row.verdicts, test)
	return row
}

// question returns a text that identifies a property of a run, for all engines and valuations.
func (r *TestResult) question() string {
	return strings.Join([]string{r.source(), r.Model, r.Props, strings.Join(r.Args, "\n"), r.title(), strconv.Itoa(r.Line)}, "\x00")
}

// finish sets the fields that depend on all results of the file.
func (f *htmlFile) finish() {
	tally := tallyOf(f.results)
	f.Counts = htmlCounts(tally)
	f.Open = f.Open || tally.failing() > 0
	var models []string
	for i := range f.results {
		if model := f.results[i].Model; model != "" {
			models = append(models, model)
		}
	}
	f.Model = strings.Join(distinct(models), ", ")
	for _, row := range f.Rows {
		var outcomes []string
		for _, test := range row.verdicts {
			outcomes = append(outcomes, htmlOutcomeOf(test.Outcome).Class+"\t"+test.Engine)
		}
		row.Outcomes = strings.Join(outcomes, "\n")
		if f.Compare {
			row.Agreement, row.AgreementClass = agreement(row.verdicts)
		}
	}
}

// htmlCell returns the table cell of a result: its value and interval, a line with sizes and times, and the folded details.
func (r *TestResult) htmlCell(logs *htmlLogs, opt table.Options) htmlCell {
	cell := htmlCell{htmlOutcome: htmlOutcomeOf(r.Outcome), Summary: "why", Log: logs.id(r)}
	var meta []string
	if verdict := r.Verdict; verdict != nil {
		cell.Value, cell.Interval = valueText(verdict, opt), intervalText(verdict, opt)
		if verdict.States > 0 {
			meta = append(meta, countText(verdict.States)+plural(int(verdict.States), " state", " states"))
		}
		if verdict.Samples > 0 {
			meta = append(meta, countText(verdict.Samples)+plural(int(verdict.Samples), " sample", " samples"))
		}
		if verdict.Confidence > 0 {
			meta = append(meta, number.Percent(verdict.Confidence))
		}
	}
	if cell.Value == "" && r.Outcome != TestError {
		cell.Value = r.Got
	}
	if duration := number.Duration(r.seconds()); duration != "" {
		meta = append(meta, duration)
	}
	if r.Cached {
		meta = append(meta, "cached")
	}
	cell.Meta = strings.Join(meta, " · ")
	cell.Details = r.htmlDetails()
	if r.Outcome == TestPassed {
		cell.Summary = "more"
	}
	return cell
}

// htmlDetails returns the folded details of a cell. If the result passed, these are the warnings. If it also has a log and no warning, they are the
// command that repeats it.
func (r *TestResult) htmlDetails() []part {
	var details []part
	add := func(name, text string, code bool) {
		if text != "" {
			details = append(details, part{name, text, code})
		}
	}
	if r.Outcome != TestPassed {
		add("got", r.Got, false)
		add("reason", r.Reason, false)
		add("re-run", r.Rerun, true)
	}
	if verdict := r.Verdict; verdict != nil {
		if len(verdict.Warnings) > 0 || verdict.Doubt != "" || r.Outcome != TestPassed {
			add("method", strings.TrimSpace(verdict.Method+" "+verdict.Tool), false)
		}
		add("doubt", verdict.Doubt, false)
		for _, warning := range verdict.Warnings {
			add("warning", warning, false)
		}
	}
	if r.Outcome == TestPassed && r.Log != "" && len(details) == 0 {
		add("re-run", r.Rerun, true)
	}
	return details
}

// agreement says whether the answers of the engines to one property agree. It returns a text and the CSS class of the text.
func agreement(results []*TestResult) (word, class string) {
	var answers []*TestResult
	for _, test := range results {
		if test.Outcome == TestDisagreed {
			return "≠ differ", "differ"
		}
		if test.Verdict != nil && test.Verdict.Value.Kind != result.NoValue {
			answers = append(answers, test)
		}
	}
	switch len(answers) {
	case 0:
		return "no answer", "sub"
	case 1:
		return "one answer", "sub"
	}
	someAgree := false
	for i, first := range answers {
		for _, second := range answers[:i] {
			switch compareVerdicts(first, first.Engine, second, second.Engine).Relation {
			case agree.Different:
				return "≠ differ", "differ"
			case agree.Same:
				someAgree = true
			}
		}
	}
	if !someAgree {
		return "undecided", "sub"
	}
	return "= agree", "agree"
}

// How much of logs a page has.
const (
	maxHTMLLog  = 32 << 10 // bytes of one
	maxHTMLLogs = 4 << 20  // bytes of all
)

// htmlLog is the output of a tool, which all results of a run share.
type htmlLog struct {
	ID, Title, Text string
	N               int
}

// htmlLogs has every text once.
type htmlLogs struct {
	list    []*htmlLog
	byText  map[string]*htmlLog
	omitted int // logs that are left out
}

// newHTMLLogs returns the logs of a report, each text once, up to maxHTMLLogs bytes. It counts the logs that it omits.
func newHTMLLogs(rep *TestReport) *htmlLogs {
	logs := &htmlLogs{byText: make(map[string]*htmlLog)}
	size := 0
	for i := range rep.Results {
		test := &rep.Results[i]
		if test.Log == "" {
			continue
		}
		log, isKnown := logs.byText[test.Log]
		if !isKnown {
			text := omitMiddle(test.Log, maxHTMLLog)
			if size+len(text) > maxHTMLLogs {
				logs.omitted++
			} else {
				size += len(text)
				title := strings.TrimSpace(test.Engine + " " + test.source())
				log = &htmlLog{ID: htmlID("log", len(logs.list)), Title: title, Text: htmlClean(text)}
				logs.list = append(logs.list, log)
			}
			logs.byText[test.Log] = log
		}
		if log != nil {
			log.N++
		}
	}
	return logs
}

// id returns the identifier of the log of a result, empty when it has none.
func (l *htmlLogs) id(test *TestResult) string {
	if log := l.byText[test.Log]; log != nil {
		return log.ID
	}
	return ""
}

// more returns a note if logs were left out.
func (l *htmlLogs) more() string {
	if l.omitted == 0 {
		return ""
	}
	return fmt.Sprintf("%d more logs are left out: a page has at most %d MiB of them.", l.omitted, maxHTMLLogs>>20)
}

// htmlClean makes control characters visible, as [xmlText] does.
func htmlClean(text string) string { return xmlText(strings.ReplaceAll(text, "\r\n", "\n")) }

// svgNumber is a coordinate with two decimals at most.
func svgNumber(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}
