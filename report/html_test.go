package report

import (
	"fmt"
	"image/png"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tilecheck/internal/needs"
	"tilecheck/report/table"
	"tilecheck/result"
)

// page is the HTML of a report.
func page(t *testing.T, rep *TestReport) string {
	t.Helper()
	return written(t, func(w io.Writer) error { return WriteHTML(w, rep, table.Options{Version: release}) })
}

// Nothing in the page refers to anything outside of it.
func TestHTMLIsSelfContained(t *testing.T) {
	for name, rep := range map[string]*TestReport{"tests": testReport(), "hostile": hostileReport(), "none": {}} {
		text := page(t, rep)
		for _, m := range regexp.MustCompile(`(?i)\b(?:src|href|action|data|poster|srcset)\s*=\s*("[^"]*"|[^\s>]+)`).FindAllStringSubmatch(text, -1) {
			if name != "hostile" && !strings.HasPrefix(m[1], `"#`) {
				t.Errorf("%s: %s", name, m[0])
			}
		}
		if n := strings.Count(strings.ToLower(text), "<script"); n != 1 {
			t.Errorf("%s has %d scripts, want its own", name, n)
		}
		for _, bad := range []string{"@import", "url(", "http://", "https://", "<link", "<img", "<iframe"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
	}
}

// Every link has its target, every name is there once, and every header of a table has a scope.
func TestHTMLLinks(t *testing.T) {
	for name, rep := range map[string]*TestReport{"tests": testReport(), "many": manyResults(2000), "none": {}} {
		text := page(t, rep)
		ids := make(map[string]int)
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if ids[m[1]]++; ids[m[1]] > 1 {
				t.Errorf("%s: %s is there twice", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if ids[m[1]] == 0 {
				t.Errorf("%s: no %s", name, m[1])
			}
		}
		if n := len(regexp.MustCompile(`<th[ >]`).FindAllString(text, -1)); n != strings.Count(text, `<th scope="`) {
			t.Errorf("%s: a table header has no scope", name)
		}
	}
}

// Five thousand results make a page that a browser opens: the budget is 1 KiB for each.
func TestHTMLSize(t *testing.T) {
	rep := manyResults(5000)
	text := page(t, rep)
	if len(text) > 5<<20 || strings.Count(text, `<tr data-o=`) != 5000 {
		t.Errorf("%d bytes, %d rows", len(text), strings.Count(text, `<tr data-o=`))
	}
	t.Logf("5000 results: %d KiB", len(text)>>10)
	rep = manyResults(300)
	for i := range rep.Results { // every result with its own log of 100 KiB
		rep.Results[i].Log = strconv.Itoa(i) + strings.Repeat(" line of a log\n", 7000)
	}
	text = page(t, rep)
	if len(text) > 5<<20 || !strings.Contains(text, "more logs are left out") {
		t.Errorf("with logs: %d bytes", len(text))
	}
}

// Text on its background has the contrast that WCAG 2.2 AA asks for, 4.5, in both colour schemes.
func TestHTMLContrast(t *testing.T) {
	light, dark, ok := strings.Cut(htmlStyle, "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there is no dark scheme")
	}
	for scheme, css := range map[string]string{"light": light, "dark": dark} {
		colors := make(map[string]string)
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
			colors[m[1]] = m[2]
		}
		pairs := [][2]string{{"pass", "pass-back"}, {"fail", "fail-back"}, {"left", "left-back"}, {"open", "open-back"}}
		for _, text := range []string{"text", "faint", "link", "pass", "fail", "left", "open"} {
			for _, back := range []string{"back", "card", "stripe"} {
				pairs = append(pairs, [2]string{text, back})
			}
		}
		for _, p := range pairs {
			if c := contrast(t, colors[p[0]], colors[p[1]]); c < 4.5 {
				t.Errorf("%s: %s %s on %s %s has contrast %.2f, want 4.5", scheme, p[0], colors[p[0]], p[1], colors[p[1]], c)
			}
		}
		for i := range 7 { // lines of pictures: 3 is asked for
			if c := contrast(t, colors["c"+strconv.Itoa(i)], colors["card"]); c < 3 {
				t.Errorf("%s: colour %d has contrast %.2f, want 3", scheme, i, c)
			}
		}
	}
}

// contrast is the contrast ratio of two colours.
//
// Source: WCAG 2.2, "relative luminance" and "contrast ratio".
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(color string) float64 {
		if len(color) != 7 {
			t.Fatalf("colour %q", color)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// What engines that were asked the same have to do with each other.
func TestAgreement(t *testing.T) {
	answer := func(x float64, r result.Resolution) *TestResult {
		return &TestResult{Outcome: TestPassed, Verdict: &result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, Resolution: r}}
	}
	none := &TestResult{Outcome: TestUnsupported}
	found := &TestResult{Outcome: TestDisagreed}
	for _, tt := range []struct {
		results []*TestResult
		want    string
	}{
		{[]*TestResult{none, none}, "no answer"},
		{[]*TestResult{none, answer(1, 0)}, "one answer"},
		{[]*TestResult{answer(1, 0), answer(1, 0)}, "= agree"},
		{[]*TestResult{answer(1, 0), answer(1, 0), answer(0.9, 0)}, "≠ differ"},
		{[]*TestResult{answer(0.5, result.Uniform), answer(0.9, result.Maximum)}, "undecided"},
		{[]*TestResult{answer(0.5, result.NoNondet), answer(0.9, result.Maximum)}, "≠ differ"},
		{[]*TestResult{found, answer(1, 0)}, "≠ differ"},
	} {
		if got, _ := agreement(tt.results); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.results, got, tt.want)
		}
	}
}

// experimentReport has a property over n values of N for two engines, under two values of k.
func experimentReport(n int) *TestReport {
	rep := &TestReport{Engines: []string{"native", "prism"}}
	for _, k := range []string{"1", "2"} {
		for i := range n {
			for _, engine := range rep.Engines {
				x := 1 - math.Pow(0.9, float64(i+1))
				rep.Results = append(rep.Results, TestResult{
					Engine: engine, Props: "a.props", Property: "P=? [ F x ]", Outcome: TestPassed, Expected: result.JSONNumber(x).String(),
					Constants: []result.Constant{{Name: "N", Value: strconv.Itoa(i + 1)}, {Name: "k", Value: k}},
					Verdict: &result.Verdict{
						Value: result.Value{Kind: result.Number, Num: x}, Bound: &result.Interval{Lo: x - 0.02, Hi: x + 0.02},
					},
				})
			}
		}
	}
	return rep
}

func TestExperiments(t *testing.T) {
	all := experimentReport(5).experiments(table.Options{})
	if len(all) != 1 || all[0].constant != "N" || len(all[0].series) != 4 {
		t.Fatalf("%+v", all)
	}
	var names []string
	for _, s := range all[0].series {
		names = append(names, s.name)
		if len(s.points) != 5 || !slices.IsSortedFunc(s.points, func(a, b labelled) int { return int(a.x - b.x) }) {
			t.Errorf("series %s has points %v", s.name, s.points)
		}
	}
	if got := strings.Join(names, ", "); got != "native k=1, prism k=1, native k=2, prism k=2" {
		t.Errorf("series %s", got)
	}
	if n := len(experimentReport(2).experiments(table.Options{})); n != 0 {
		t.Errorf("two points make %d pictures", n)
	}
	// Everything that is drawn lies in the picture.
	for _, n := range []int{3, 5, 100} {
		for _, e := range experimentReport(n).experiments(table.Options{}) {
			_, ax, ay := e.axes()
			for _, s := range e.series {
				for _, p := range s.points {
					x, low, high := ax.position(p.x), ay.position(p.low), ay.position(p.high)
					if x < marginLeft || x > figureWidth || high < 0 || low > figureHeight-marginBottom+1e-9 {
						t.Errorf("%d: %v is at %g, %g to %g", n, p.dot, x, low, high)
					}
				}
			}
		}
	}
}

// Constant values, huge ones, infinities and a single place make no endless or empty axes.
func TestExperimentAxes(t *testing.T) {
	for _, ys := range [][]float64{
		{0, 0, 0}, {1e15, 1e15 + 1, 1e15}, {1e-300, 2e-300, 0}, {-1e299, 1e299, 0}, {math.Inf(1), 1, 2}, {math.NaN(), 1, 1}, {1, 1, 1}, {1e16, 1e16, 1e16 + 2},
	} {
		rep := &TestReport{Engines: []string{"native"}}
		for i := range 9 {
			rep.Results = append(rep.Results, TestResult{
				Engine: "native", Props: "a", Property: "R=? [ F x ]", Constants: []result.Constant{{Name: "N", Value: strconv.Itoa(i * i * i)}},
				Verdict: &result.Verdict{Value: result.Value{Kind: result.Number, Num: ys[i%3]}},
			})
		}
		figures, _ := rep.htmlFigures(table.Options{})
		if len(figures) != 1 || len(figures[0].YTicks) < 2 || len(figures[0].YTicks) > 12 {
			t.Fatalf("%v: %d pictures, ticks %v", ys, len(figures), figures)
		}
		if text := page(t, rep); strings.Contains(text, "NaN") && !math.IsNaN(ys[0]) || strings.Contains(text, `d="MNaN`) {
			t.Errorf("%v: a coordinate is not a number", ys)
		}
	}
}

// browser runs a headless Chromium on a page with more arguments and returns
// what it prints, and what the page complains of. It skips without a browser,
// or fails when TILECHECK_REQUIRE names it.
func browser(t *testing.T, html, fragment string, args ...string) (out, complaints string) {
	t.Helper()
	needs.NotShort(t, "a browser takes seconds to start")
	needs.WantedOrFull(t, needs.Browser)
	program := needs.Chromium(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "file", Path: path, Fragment: fragment}
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile"), "--enable-logging=stderr",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=3000",
	}, args...)
	cmd := exec.CommandContext(t.Context(), program, append(args, address.String())...)
	var printed, log strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &log
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			complaints += line
		}
	}
	return printed.String(), complaints
}

// rowsShown returns how many rows of suites a dump of the page shows, and how many it hides.
func rowsShown(dump string) (shown, hidden int) {
	for _, m := range regexp.MustCompile(`<tr data-o="[^"]*"([^>]*)>`).FindAllStringSubmatch(dump, -1) {
		if strings.Contains(m[1], "hidden") {
			hidden++
		} else {
			shown++
		}
	}
	return shown, hidden
}

// The style and the script run under the page's own policy, the filters do what
// they say, and the browser has the elements that were written, so none is left open.
func TestHTMLInBrowser(t *testing.T) {
	html := page(t, testReport())
	for _, tt := range []struct {
		fragment, status string
		shown            int
	}{
		{"", "13 rows", 13},
		{"show=pass,disagree&engine=prism", "4 of 13 rows", 4},
		{"find=queue.props+0.09", "1 of 13 rows", 1},
	} {
		dump, complaints := browser(t, html, tt.fragment, "--dump-dom")
		if complaints != "" {
			t.Errorf("%q: the browser complains: %s", tt.fragment, complaints)
		}
		shown, hidden := rowsShown(dump)
		if shown != tt.shown || shown+hidden != 13 {
			t.Errorf("%q: %d rows are shown and %d hidden, want %d of 13", tt.fragment, shown, hidden, tt.shown)
		}
		if !strings.Contains(dump, `role="status">`+tt.status+"<") {
			t.Errorf("%q: the status is not %q", tt.fragment, tt.status)
		}
		before, after := countTags(html), countTags(dump)
		for tag, n := range before {
			if after[tag] != n {
				t.Errorf("%q: %d %s are written, the browser has %d", tt.fragment, n, tag, after[tag])
			}
		}
	}
	if _, after, _ := strings.Cut(html, `id="filters"`); !strings.HasPrefix(after, " hidden") {
		t.Error("without a script the filters would be there and do nothing")
	}
}

func countTags(text string) map[string]int {
	n := make(map[string]int)
	for _, m := range regexp.MustCompile(`<([a-z][a-z0-9]*)[\s>]`).FindAllStringSubmatch(text, -1) {
		n[m[1]]++
	}
	return n
}

// Text that is markup stays text, and the policy stops a script that is none of ours.
func TestHTMLHostileInBrowser(t *testing.T) {
	html := page(t, hostileReport())
	injected := strings.Replace(html, "<main", `<script>document.title="owned"</script><main`, 1)
	dump, complaints := browser(t, injected, "", "--dump-dom")
	title := regexp.MustCompile(`(?s)<title>(.*?)</title>`).FindStringSubmatch(dump)
	if title == nil || !strings.HasPrefix(title[1], "1 of 2 results failed") {
		t.Errorf("the title is %q", title)
	}
	if !strings.Contains(complaints, "Content Security Policy") {
		t.Errorf("the policy stopped nothing: %s", complaints)
	}
	for tag, want := range map[string]int{"<script": 2, "<img": 0, "<style": 1} {
		if got := strings.Count(strings.ToLower(dump), tag); got != want {
			t.Errorf("%s is there %d times, want %d", tag, got, want)
		}
	}
	// A tag with an attribute that a browser would run.
	if m := regexp.MustCompile(`<[a-z]+(?:\s+[a-z-]+="[^"]*")*\s+on[a-z]+=`).FindString(dump); m != "" {
		t.Errorf("an attribute runs: %s", m)
	}
}

// A picture of the page has its colours: light and dark differ, and neither is empty.
func TestHTMLScreenshots(t *testing.T) {
	html := page(t, testReport())
	sizes := make(map[string]int64)
	for name, scheme := range map[string]string{"light": "1", "dark": "0"} {
		path := filepath.Join(t.TempDir(), name+".png")
		browser(t, html, "", "--screenshot="+path, "--window-size=1280,1600", "--blink-settings=preferredColorScheme="+scheme)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = info.Size()
		back := pixel(t, path)
		if dark := back < 0x60; dark != (name == "dark") {
			t.Errorf("%s: the background has brightness %#x", name, back)
		}
	}
	if sizes["light"] < 20<<10 || sizes["dark"] < 20<<10 {
		t.Errorf("pictures of %v bytes: they are empty", sizes)
	}
}

// pixel is the brightness, 0 to 255, of the corner of a picture.
func pixel(t *testing.T, path string) uint32 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, _ := img.At(2, 2).RGBA()
	return (r + g + b) / 3 >> 8
}

// The page says that it is UTF-8, whatever bytes a properties file has.
func TestHTMLIsUTF8(t *testing.T) {
	text := page(t, &TestReport{Results: []TestResult{{Outcome: TestFailed, File: "a\xff.props", Expected: "\xfe|", Reason: "\xc3"}}})
	if !utf8.ValidString(text) || !strings.Contains(text, `a\xff.props`) {
		t.Error("the page has bytes that are not UTF-8, or no name of the file")
	}
}

// Runs that two engines ended are drawn, and only these.
func TestHTMLTimes(t *testing.T) {
	rep := &TestReport{Engines: []string{"native", "prism"}}
	for i := range 6 {
		for j, engine := range rep.Engines {
			r := TestResult{Model: fmt.Sprintf("m%d.prism", i), Engine: engine, Outcome: TestPassed, Run: 0.02 * float64(i+1) * float64(1+10*j)}
			switch {
			case i == 1 && j == 1:
				r.Outcome = TestLimit
			case i == 2:
				r.Outcome = TestFailed
			case i == 3 && j == 0:
				r.Outcome = TestUnsupported
			}
			rep.Results = append(rep.Results, r)
		}
	}
	figures := rep.htmlTimes()
	if len(figures) != 1 {
		t.Fatalf("found %d pictures, want 1", len(figures))
	}
	var drawn []string
	for _, s := range figures[0].Series {
		for _, p := range s.Points {
			drawn = append(drawn, s.Class+" "+p.Text)
		}
	}
	want := []string{
		"s0 m0.prism: native 0.02 s, prism 0.22 s", "s0 m4.prism: native 0.1 s, prism 1.1 s", "s0 m5.prism: native 0.12 s, prism 1.32 s",
		"s1 m1.prism: native 0.04 s, prism 0.44 s", "s2 m2.prism: native 0.06 s, prism 0.66 s",
	}
	if !slices.Equal(drawn, want) {
		t.Errorf("found %q, want %q", drawn, want)
	}
	if want := "5 runs; native took less time for 5 of them"; figures[0].Place != want {
		t.Errorf("found %q, want %q", figures[0].Place, want)
	}
	var page strings.Builder
	if err := WriteHTML(&page, rep, table.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), `<section id="times">`) {
		t.Error("the page has no section of times")
	}
	rep.Results = rep.Results[:8]
	if figures := rep.htmlTimes(); len(figures) != 0 {
		t.Errorf("found %d pictures of three runs, want none", len(figures))
	}
}
