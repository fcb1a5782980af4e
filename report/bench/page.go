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

// pageData is what the script of the page reads.
type pageData struct {
	Tools    []string  `json:"tools"`
	Outcomes []Outcome `json:"outcomes"`
	Cases    []string  `json:"cases"`
	// Cells has, for each case and tool, the outcome's index, CPU and wall seconds, megabytes, the reason, and the number of disturbed runs; null
	// if the tool was not run on the case.
	Cells [][]any `json:"cells"`
}

// WritePage writes runs as one HTML page that needs nothing else: a scoreboard, quantile and scatter plots, differences of two tools, and a table of
// all cases. Browsers refuse everything that is not in the page, by its content security policy.
func WritePage(w io.Writer, runs []Run, title string) error {
	page, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse the template of the page: %w", err)
	}
	return page.Execute(w, map[string]any{
		"Title": title, "Notes": append(machines(runs), notes(runs)...), "Data": newPageData(runs),
		"Style": template.CSS(pageStyle), "Script": template.JS(pageScript),
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'", digest(pageStyle), digest(pageScript)),
	})
}

// digest returns the digest of a style or script for the policy of the page.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// newPageData returns the summaries of runs, by case and tool.
func newPageData(runs []Run) *pageData {
	out := &pageData{Outcomes: Outcomes()}
	rowOf := make(map[string]int)
	for _, s := range Summarize(runs) {
		if !slices.Contains(out.Tools, s.Tool) {
			out.Tools = append(out.Tools, s.Tool)
		}
		if _, ok := rowOf[s.Case]; !ok {
			rowOf[s.Case] = len(out.Cases)
			out.Cases = append(out.Cases, s.Case)
		}
	}
	slices.Sort(out.Tools)
	for range out.Cases {
		out.Cells = append(out.Cells, make([]any, len(out.Tools)))
	}
	for _, s := range Summarize(runs) {
		out.Cells[rowOf[s.Case]][slices.Index(out.Tools, s.Tool)] = []any{
			slices.Index(out.Outcomes, s.Outcome), s.CPU, s.Wall, s.Memory / 1e6, reasonOf(&s), s.Disturbed,
		}
	}
	return out
}

// machines describes the machines and versions of the runs.
func machines(runs []Run) (out []string) {
	add := func(text string) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for i := range runs {
		m := &runs[i].Machine
		add(strings.Join(slices.DeleteFunc([]string{m.System, m.Kernel, m.Processor, fmt.Sprintf("%d cores", m.Cores), fmt.Sprintf("%.1f GB", float64(m.Memory)/1e9)}, func(s string) bool { return s == "" }), ", "))
		add(fmt.Sprintf("%s: version %s; measured by tilecheck %s", runs[i].Tool, runs[i].Version, runs[i].Tilecheck))
	}
	return out
}
