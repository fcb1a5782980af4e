package bench

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// The parts of the page. The template escapes everything that is put into it.
var (
	//go:embed page/page.gohtml
	pageTemplate string
	//go:embed page/style.css
	pageStyle string
	//go:embed page/script.js
	pageScript string
)

// pageData has the data that the script of the page reads.
type pageData struct {
	Tools    []string  `json:"tools"`
	Outcomes []Outcome `json:"outcomes"`
	Cases    []string  `json:"cases"`
	// Cells has, for each case and tool, the index of the outcome, CPU and wall seconds, megabytes, the reason, and the number of disturbed runs. A
	// cell is null if the tool was not run on the case.
	Cells [][]any `json:"cells"`
}

// WritePage writes runs as one HTML page with plots and tables. The content security policy of the page makes browsers load nothing else.
func WritePage(w io.Writer, runs []Run, title string) error {
	page, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse the template of the page: %w", err)
	}
	data := newPageData(runs)
	pageNotes := append(machines(runs), notes(runs)...)
	if dir := commonDir(data.Cases); dir != "" {
		pageNotes = append(pageNotes, "cases: files in "+dir)
		for i := range data.Cases {
			data.Cases[i] = strings.ReplaceAll(data.Cases[i], dir, "")
		}
	}
	return page.Execute(w, map[string]any{
		"Title": title, "Notes": pageNotes, "Data": data,
		"Style": template.CSS(pageStyle), "Script": template.JS(pageScript),
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'", digest(pageStyle), digest(pageScript)),
	})
}

// digest returns the digest of a style or script for the policy of the page.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// newPageData returns the data of the page: a table of the summaries of runs, with a row for each case and a column for each tool.
func newPageData(runs []Run) *pageData {
	data := &pageData{Outcomes: Outcomes()}
	summaries := Summarize(runs)
	rowOf := make(map[string]int)
	for _, summary := range summaries {
		if !slices.Contains(data.Tools, summary.Tool) {
			data.Tools = append(data.Tools, summary.Tool)
		}
		if _, ok := rowOf[summary.Case]; !ok {
			rowOf[summary.Case] = len(data.Cases)
			data.Cases = append(data.Cases, summary.Case)
		}
	}
	slices.Sort(data.Tools)
	for range data.Cases {
		data.Cells = append(data.Cells, make([]any, len(data.Tools)))
	}
	for _, summary := range summaries {
		data.Cells[rowOf[summary.Case]][slices.Index(data.Tools, summary.Tool)] = []any{
			slices.Index(data.Outcomes, summary.Outcome), summary.CPU, summary.Wall, summary.Memory / 1e6, reasonOf(&summary), summary.Disturbed,
		}
	}
	return data
}

// commonDir returns the directory that contains the files of all cases, with a slash at the end; empty if there is none. The name of a case begins with
// that of its model file.
func commonDir(cases []string) string {
	if len(cases) == 0 {
		return ""
	}
	file, _, _ := strings.Cut(cases[0], " ")
	dir := file[:strings.LastIndex(file, "/")+1]
	for _, name := range cases {
		for !strings.HasPrefix(name, dir) {
			dir = dir[:strings.LastIndex(strings.TrimSuffix(dir, "/"), "/")+1]
		}
	}
	if dir == "/" {
		return ""
	}
	return dir
}

// machines returns a description of each machine and of each version of a tool, without repetitions.
func machines(runs []Run) (lines []string) {
	addOnce := func(text string) {
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	isEmpty := func(part string) bool { return part == "" }
	for i := range runs {
		machine := &runs[i].Machine
		parts := slices.DeleteFunc([]string{machine.System, machine.Kernel, machine.Processor}, isEmpty)
		parts = append(parts, fmt.Sprintf("%d cores", machine.Cores), fmt.Sprintf("%.1f GB", float64(machine.Memory)/1e9))
		addOnce(strings.Join(parts, ", "))
		addOnce(fmt.Sprintf("%s: version %s; measured by tilecheck %s", runs[i].Tool, runs[i].Version, runs[i].Tilecheck))
	}
	return lines
}
