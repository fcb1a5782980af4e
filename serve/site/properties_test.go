package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

const lossy = `dtmc
const int n;
const double loss;
const int most = n + 1;
module channel
  sent : bool init false;
  tries : [0..20] init 0;
  [] !sent & tries<n -> loss : (tries'=tries+1) + 1-loss : (sent'=true);
endmodule
`

// Constants without a value are asked for where all views see it, and say so where a value is missing; ranges and lists are values, too.
func TestConstantsForm(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.edit(propertyText, "const int k;\nP=? [ F sent ];\nP=? [ F<=k sent ];\n")
		w.edit(modelText, lossy)
		p.says("#constants .missing", "needs a value")
		p.says(".problems", "n needs a value")
		p.says("#constants details", "most = n+1")
		p.says(".properties", "needs n, loss, k")
		p.shoot("constants-missing")
		p.named()
		p.view("simulate")
		p.says("main .error", "n and loss need values")
		p.press("Give n a value")
		p.sees("the field of n", `document.activeElement.dataset.constant === 'n'`)
		p.write("input[data-constant=n]", "1, 2,4")
		p.write("input[data-constant=loss]", "x")
		p.says("#constants", "value x for constant loss is not a valid double")
		p.write("input[data-constant=loss]", "0.5")
		p.says("#constants", "3 values")
		p.view("model")
		p.says(".properties", "needs k") // the list is drawn anew with the other constants, and its buttons with it
		p.press("Check P=? [ F sent ]")
		p.sees("three values", `[...document.querySelectorAll('.properties .value')].map((e) => e.textContent).join() === '0.5,0.75,0.9375'`)
		p.press("Check all") // what needs k waits
		p.says("#status", "Check all: done.")
		p.says(".properties", "needs k")
		p.view("simulate")
		p.says("#status", "Step 0")
		p.sees("one transition", `document.querySelectorAll('ul[aria-label="Enabled transitions"] button').length === 2`)
		p.choose(`select[aria-label="n in this view"]`, "4")
		p.view("explore")
		p.sees("the first states", `document.querySelectorAll('.graph .node').length === 3`)
		p.sees("the same value of n", `document.querySelector('select[aria-label="n in this view"]').value === '4'`)
		p.shoot("constants")
		p.size(360, 780)
		p.named()
		p.shoot("constants-narrow")
	})
}

// The table has a value with the digits that its interval justifies, what was expected, how it was obtained, and can be sorted.
func TestPropertyTable(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		p.says(".properties", "P=? [ F d=6 ]")
		w.edit(propertyText, "// RESULT: 1/6\n\"six\": P=? [ F d=6 ];\n// RESULT: 3\n\"flips\": R=? [ F s=7 ];\nP>=1/2 [ F d>3 ];\n")
		p.says(".properties", "flips")
		p.press("Check all")
		p.sees("values", `[...document.querySelectorAll('.properties .value')].map((e) => e.textContent.slice(0, 8)).join() === '0.166666,3.666666,✓ true'`)
		p.says(".properties", "✓ pass: 1/6")
		p.says(".properties", "✕ fail: 3")
		p.says(".notes", "expected 3")
		short := asks[string](p, `document.querySelector('.properties .value').textContent`)
		p.click("all digits", `//label[contains(.,"all digits")]`)
		p.sees("more digits", fmt.Sprintf(`document.querySelector('.properties .value').textContent.length > %d`, len(short)+2))
		p.sees("a half-width", `/^\d(\.\d)?e-1\d$/.test(document.querySelector('td[data-title="±"]').textContent)`)
		p.shoot("properties")
		p.press("Sort by Value")
		p.press("Sort by Value")
		p.sees("the largest first", `document.querySelector('tbody code').textContent.startsWith('R=?') && document.querySelector('th[aria-sort=descending]').textContent.includes('Value')`)
		p.named()

		// Statistical answers have few digits, and say the seed that repeats them.
		p.choose(`.results select`, "ci")
		p.write(`input[aria-label=Samples]`, "1000")
		p.write(`input[aria-label=Seed]`, "7")
		p.press("Check six")
		p.says(`tbody[data-property="P=? [ F d=6 ]"]`, "ci, probable, 1,000 samples, confidence 0.99, seed 7")
		p.sees("few digits", `document.querySelector('tbody[data-property="P=? [ F d=6 ]"] .value').textContent.length <= 5`)
		p.shoot("sampling")
		p.size(360, 780)
		p.named()
		asks[bool](p, `(document.querySelector('.results').scrollIntoView(), true)`)
		p.shoot("properties-narrow")
	})
}

// Rows are edited, added, copied and deleted in the text, where that can be undone.
func TestEditRows(t *testing.T) {
	w := atWork(t)
	w.edit(propertyText, "// about x\nP=? [ F x=4 ];\n")
	text := func(want string) {
		t.Helper()
		w.sees(want, fmt.Sprintf(`document.querySelector(%q).value === %q`, propertyText, want))
		w.sees("rows of that", fmt.Sprintf(`document.querySelectorAll('.properties tbody').length === %q.split('P').length - 1`, want))
	}
	w.write(`input[placeholder="P=? [ F s=7 ]"]`, "P=? [ F x=0 ]\r")
	text("// about x\nP=? [ F x=4 ];\nP=? [ F x=0 ];\n")
	w.click("more", `summary[aria-label="More for P=? [ F x=0 ]"]`)
	w.press("Edit P=? [ F x=0 ]")
	w.edit("dialog textarea", "P=? [ F x=1 ];")
	w.press("Change")
	text("// about x\nP=? [ F x=4 ];\nP=? [ F x=1 ];\n")
	w.click("more", `summary[aria-label="More for P=? [ F x=4 ]"]`)
	w.press("Copy P=? [ F x=4 ]")
	text("// about x\nP=? [ F x=4 ];\n// about x\nP=? [ F x=4 ];\nP=? [ F x=1 ];\n")
	w.press("Delete P=? [ F x=4 ]")
	text("// about x\nP=? [ F x=4 ];\nP=? [ F x=1 ];\n")
}

// From a row one gets to the paths that explain it, its experiment, its certificate and a path with its values.
func TestRowActions(t *testing.T) {
	w := atWork(t)
	w.edit(propertyText, "\"up\": P=? [ F x=4 ];\nP<=0.2 [ F x=4 ];\n")
	w.says(".properties", "P<=0.2")
	w.press("Why P<=0.2 [ F x=4 ]")
	w.says("main .why", "P<=0.2 [ F x=4 ] is false. The likeliest path satisfying the formula, the dashed thick line, has 2 steps and probability 1/4 (wanted: >1/5)")
	w.sees("its states", `document.querySelectorAll('.graph .node.path').length === 3`)
	w.shoot("why")
	w.view("model")
	w.press("Why up")
	w.says("main .why", "is 0.5")
	w.view("model")
	w.click("more", `summary[aria-label="More for up"]`)
	w.press("Simulate up")
	w.sees("the value of the first state", `document.querySelector('main[data-view=simulate] section .value')?.textContent === '0.5'`)
	w.view("model")
	w.click("more", `summary[aria-label="More for P<=0.2 [ F x=4 ]"]`)
	w.press("Experiment P<=0.2 [ F x=4 ]")
	w.sees("the property", `document.querySelector('main[data-view=experiments] .field select')?.selectedOptions[0].text.startsWith('P<=0.2') === true`)
	w.view("model")
	saved := w.downloads()
	w.press("Certify up")
	w.says(".properties", "proven")
	if text := saved("up.cert"); len(text) < 100 {
		t.Errorf("the certificate has %d bytes", len(text))
	}
}

// downloads has the browser keep what the page saves; saved waits for a file.
func (p *person) downloads() (saved func(name string) string) {
	p.t.Helper()
	dir := p.t.TempDir()
	if _, err := chromedp.Call(p.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	}); err != nil {
		p.t.Fatal(err)
	}
	return func(name string) string {
		p.t.Helper()
		for range 200 {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && len(text) > 0 {
				return string(text)
			}
			time.Sleep(50 * time.Millisecond)
		}
		p.t.Errorf("%s was not saved", name)
		return ""
	}
}
