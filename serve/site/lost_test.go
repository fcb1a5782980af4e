package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// workplace is a page of a server with a folder, and that folder.
type workplace struct {
	*person
	dir  string // the page calls it "work"
	stop func() // ends the server
}

func atWork(t *testing.T) workplace {
	chromium := browser(t)
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	url, stop := serverIn(t, dir)
	p := visit(t, chromium, "server", url)
	p.choose(`select[aria-label="Open a file"]`, "work/walk.prism")
	p.says("#file", "walk.prism")
	return workplace{p, dir, stop}
}

func (w workplace) put(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// has fails unless a file has a text.
func (w workplace) has(name, text string) {
	w.t.Helper()
	got, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil || string(got) != text {
		w.t.Errorf("%s has %q, %v, want %q", name, got, err, text)
	}
}

// edit puts a text into an editor at once: keys would be indented.
func (w workplace) edit(selector, text string) {
	w.t.Helper()
	w.do("edit "+selector, chromedp.WaitVisible(selector), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const a = document.querySelector(%q); a.value = %q; a.dispatchEvent(new Event('input', {bubbles: true})); return true })()`, selector, text)))
}

// expects says which request is refused on purpose.
func (p *person) expects(question string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = "/api/" + question
}

const (
	modelText    = `.editor textarea`
	propertyText = `.editor.low textarea`
	saveAs       = `input[aria-label="Save as"]`
)

// A save that is refused is a message that stays, with what can be done.
func TestRefusedSave(t *testing.T) {
	w := atWork(t)
	w.expects("save")
	mine := walk + "// mine\n"
	w.edit(modelText, mine)
	w.put("walk.prism", walk+"// theirs\n")
	w.press("Save")
	w.says("#notice", "work/walk.prism is not saved: the file has changed since it was opened")
	w.says("#status", "✕")
	w.has("walk.prism", walk+"// theirs\n")
	w.press("Compare")
	w.says("dialog .removed", "- // theirs")
	w.says("dialog .added", "+ // mine")
	w.shoot("compare")
	w.press("Close")
	w.press("Overwrite")
	w.says("#status", "Saved work/walk.prism")
	w.has("walk.prism", mine)

	w.write(saveAs, "elsewhere/walk.prism")
	w.press("Save")
	w.says("#notice", `"elsewhere/walk.prism" is not in the folders`)
	w.write(saveAs, "work/none/walk.prism")
	w.press("Save")
	w.says("#notice", "work/none/walk.prism is not saved")
	w.press("Dismiss")

	w.write(saveAs, "work/walk.prism")
	w.edit(modelText, walk)
	w.mu.Lock()
	w.gone = true
	w.mu.Unlock()
	w.stop()
	w.press("Save")
	w.says("#notice", "tilecheck does not answer")
	w.sees("the mark of unsaved changes", `document.title.startsWith('●')`)
}

// A model that is saved under a new name has its properties beside it, and those of the old model stay as they are.
func TestSaveAs(t *testing.T) {
	w := atWork(t)
	w.edit(propertyText, "P=? [ F x=0 ];\n")
	w.write(saveAs, "work/copy.prism")
	w.press("Save")
	w.says("#status", "Saved work/copy.prism and work/copy.props")
	w.has("walk.props", "P=? [ F x=4 ];\n")
	w.has("copy.props", "P=? [ F x=0 ];\n")
	w.choose(`select[aria-label="Open a file"]`, "work/walk.prism")
	w.sees("the old properties", fmt.Sprintf(`document.querySelector(%q).value.includes('x=4')`, propertyText))
	w.choose(`select[aria-label="Open a file"]`, "work/copy.prism")
	w.sees("the new properties", fmt.Sprintf(`document.querySelector(%q).value.includes('x=0')`, propertyText))
}

// Changes that are not saved are marked, kept over a crash of the browser, and not thrown away without a question.
func TestUnsavedChanges(t *testing.T) {
	w := atWork(t)
	w.sees("no mark", `document.title === 'walk.prism – tilecheck'`)
	w.edit(modelText, walk+"// mine\n")
	w.sees("a mark", `document.title === '● walk.prism – tilecheck' && document.getElementById('file').textContent.startsWith('●')`)
	example := `(() => { const s = document.querySelector('select[aria-label="Open an example"]'); s.value = '0'; s.dispatchEvent(new Event('change')); return true })()`
	mine := fmt.Sprintf(`document.querySelector(%q).value.includes('// mine')`, modelText)
	w.do("open an example", chromedp.Evaluate[chromedp.Void](example))
	w.says("dialog", "work/walk.prism has changes that are not saved")
	w.shoot("unsaved")
	w.press("Cancel")
	w.sees("the changes", mine)

	// A browser that crashed has forgotten the tab. One that did not asks before it leaves the page.
	w.do("forget the tab", chromedp.Evaluate[chromedp.Void](`(() => { sessionStorage.removeItem('document'); return true })()`))
	w.do("open the page again", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
	w.mu.Lock()
	if w.asked != 1 {
		t.Errorf("the browser asked %d times whether to leave the page, want once", w.asked)
	}
	w.mu.Unlock()
	w.says("#notice", "There are changes of work/walk.prism")
	w.press("Restore")
	w.sees("the changes again", mine)
	w.says("#file", "● walk.prism")

	w.do("save with a key", chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true, bubbles: true, cancelable: true}))`))
	w.says("#status", "Saved work/walk.prism")
	w.has("walk.prism", walk+"// mine\n")
	w.sees("no mark", `!document.title.startsWith('●')`)
	w.do("open an example", chromedp.Evaluate[chromedp.Void](example))
	w.says("#file", "die.prism")
}

// What a view shows of an older text is grey and says so; an error is shown where one looks, with a way to its line.
func TestOutdatedViews(t *testing.T) {
	w := atWork(t)
	w.view("explore")
	w.sees("the first states", `document.querySelectorAll('.graph .node').length > 0 && !document.querySelector('.outdated')`)
	w.view("simulate")
	w.says("#status", "Step 0")
	w.view("model")
	w.press("Check P=? [ F x=4 ]")
	w.says(".properties .value", "0.5")
	w.expects("graph")
	w.edit(modelText, "dtmc\nmodule m\nx : [0..3] init 7;\nendmodule\n")
	w.sees("a grey result", `!!document.querySelector('.properties .outdated-row .value')`)
	w.view("explore")
	w.says("main .error", "walk.prism:3:17")
	w.says("main .note", "This is of an older text")
	w.sees("a grey graph", `!!document.querySelector('.outdated .graph')`)
	w.shoot("outdated")
	w.expects("step")
	w.view("simulate")
	w.says("main .error", "walk.prism:3:17")
	w.sees("a grey path", `!!document.querySelector('.outdated table[aria-label=Path]')`)
	w.click("go to the line", `main .error .place`)
	w.do("go to the line", chromedp.WaitVisible(`main[data-view="model"]`))
	w.sees("the third line", fmt.Sprintf(`(() => { const a = document.querySelector(%q); return a.value.slice(0, a.selectionStart).split('\n').length === 3 })()`, modelText))
	w.edit(modelText, walk)
	w.view("explore")
	w.sees("a new graph", `document.querySelectorAll('.graph .node').length > 0 && !document.querySelector('.outdated') && !document.querySelector('main .error')`)
}

// large takes some seconds to check.
const large = `dtmc
module m
  x : [0..3000] init 0;
  y : [0..900] init 0;
  [] x<3000 -> 0.5:(x'=x+1) + 0.5:(y'=min(y+1,900));
endmodule
`

// A check goes on while one looks at other views; it is in the list of what runs, and is ended there.
func TestBackground(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		model, property := large, "P=? [ F x=3000 & y=900 ];\n"
		if p.where == "playground" { // models are interpreted there, ten times as slowly
			shrink := strings.NewReplacer("3000", "1000", "900", "300")
			model, property = shrink.Replace(model), shrink.Replace(property)
		}
		w.edit(propertyText, property)
		w.edit(modelText, model)
		p.press("Check all")
		p.says("#jobs", "Check all")
		p.view("explore")
		p.sees("the first states", `document.querySelectorAll('.graph .node').length > 0`)
		p.view("model")
		p.sees("the result of the check", `!!document.querySelector('.properties .value')`)
		p.press("Check all")
		p.says("#jobs", "Check all")
		p.shoot("check-running")
		p.press("Stop Check all")
		p.sees("nothing runs", `document.querySelectorAll('#jobs li').length === 0`)
		p.says("#status", "Stopped.")
	})
}

// Results come one by one, and those that are there stay when the check is ended.
func TestResultsComeOneByOne(t *testing.T) {
	w := atWork(t)
	w.edit(propertyText, "P=? [ F x=3 ];\nP=? [ F<=1000000000 x=2999 ];\n")
	w.edit(modelText, large)
	w.press("Check all")
	w.says(".properties .value", "1")
	w.says("#jobs", "Check all")
	w.press("Stop Check all")
	w.sees("the first result alone", `document.querySelectorAll('.properties .value').length === 1 && document.querySelectorAll('#jobs li').length === 0`)
}

// A check that is asked for while a text is being typed is of that text.
func TestCheckWhileTyping(t *testing.T) {
	w := atWork(t)
	w.says(".properties", "x=4")
	w.do("type and check at once", chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const a = document.querySelector(%q);
		a.value = 'P=? [ F x=0 ];\nP=? [ F x=1 ];';
		a.dispatchEvent(new Event('input', {bubbles: true}));
		[...document.querySelectorAll('button')].find((b) => b.textContent === 'Check all').click();
		return true })()`, propertyText)))
	w.sees("two results", `document.querySelectorAll('.properties .value').length === 2`)
	w.says("#status", "Check all: done.")
}

// Hints are of the move that is shown, or grey.
func TestHintsFollow(t *testing.T) {
	w := atWork(t)
	w.view("play")
	w.sees("a board", `document.querySelectorAll('.board .tile').length === 16`)
	w.click("hints", `input[type="checkbox"]`)
	w.press("Watch")
	w.sees("some moves", `Number(document.querySelector('input[type="range"]').value) > 15`)
	w.press("Stop")
	w.sees("hints of that move", `(() => {
		const moves = /(\d+) moves/.exec(document.querySelector('p[role="status"]').textContent)[1];
		const hints = document.querySelector('[data-moves]');
		return hints.dataset.moves === moves && !hints.classList.contains('outdated') && hints.textContent.includes('Move ' + moves + ':') })()`)
}
