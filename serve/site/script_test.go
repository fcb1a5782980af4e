package site_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"tilecheck/internal/needs"
)

// hand does what a person does on the page with the keyboard alone, or with the mouse for everything but letters. Both meet only what
// is visible and enabled: the keyboard reaches an element with Tab, the mouse clicks on what is on top at its centre.
type hand struct {
	*person
	keyboard bool
	saved    func(name string) string
}

// elementFinder defines find(target), which returns a visible element. A target is a selector, or "=" and the name of a button.
const elementFinder = `
	const usable = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && !e.closest('[inert]') && (!document.querySelector('dialog[open]') || e.closest('dialog[open]'));
	const find = (target) => target.startsWith('=')
		? [...document.querySelectorAll('button, summary')].find((e) => usable(e) && (e.textContent.trim() === target.slice(1) || e.getAttribute('aria-label') === target.slice(1)))
		: [...document.querySelectorAll(target)].find(usable);`

// withElement is a script that evaluates body with the element of a target, and is false as long as there is none.
func withElement(target, body string) string {
	return fmt.Sprintf(`(() => { %s const e = find(%q); if (!e) return false; %s })()`, elementFinder, target, body)
}

// key is a key that the script presses: its name, its number in Windows, and what it writes.
type key struct {
	name, text string
	code       int64
}

var (
	tabKey    = key{"Tab", "", 9}
	enterKey  = key{"Enter", "\r", 13}
	escapeKey = key{"Escape", "", 27}
	spaceKey  = key{" ", " ", 32}
	upKey     = key{"ArrowUp", "", 38}
	rightKey  = key{"ArrowRight", "", 39}
	downKey   = key{"ArrowDown", "", 40}
)

const (
	controlBit = 2
	shiftBit   = 8
)

// hit presses a key with modifiers. commands are those of the editor of the browser, which a system would add.
func (h hand) hit(k key, modifiers int64, commands ...string) {
	h.t.Helper()
	down := input.DispatchKeyEventTypeKeyDown
	if k.text == "" {
		down = input.DispatchKeyEventTypeRawKeyDown
	}
	code := k.name
	if k.name == " " {
		code = "Space"
	}
	for _, kind := range []input.DispatchKeyEventType{down, input.DispatchKeyEventTypeKeyUp} {
		params := input.DispatchKeyEventParams{Type: kind, Key: k.name, Code: code, WindowsVirtualKeyCode: k.code, Modifiers: modifiers}
		if kind == down {
			params.Text, params.Commands = k.text, commands
		}
		if _, err := chromedp.Call(h.ctx, input.DispatchKeyEvent, params); err != nil {
			h.t.Fatal(err)
		}
	}
}

// reach moves the focus to an element with Tab, which must show that it has it.
func (h hand) reach(target string) {
	h.t.Helper()
	h.sees("there is "+target, withElement(target, `return true;`))
	where := withElement(target, `
		const at = document.activeElement;
		const shown = () => { for (let a = at, i = 0; a && i < 4; a = a.parentElement, i++) if (getComputedStyle(a).outlineStyle !== 'none' || a.matches(".graph *")) return true; return false; };
		if (e === at) return shown() ? 'here' : 'unseen';
		return at && at !== document.body && (e.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING) ? 'before' : 'after';`)
	for range 300 {
		switch asks[any](h.person, where) {
		case "here":
			return
		case "unseen":
			h.t.Errorf("%s does not show that it has the focus", target)
			return
		case "before":
			h.hit(tabKey, shiftBit)
		default:
			h.hit(tabKey, 0)
		}
	}
	h.shoot("failed")
	h.t.Fatalf("Tab does not lead to %s", target)
}

// click clicks on an element, which must be on top there.
func (h hand) click(target string, modifiers int64, count int) {
	h.t.Helper()
	const hit = `
		e.scrollIntoView({ block: 'center', inline: 'center' });
		const b = (e.querySelector('.box') || e).getBoundingClientRect();
		const at = [b.x + b.width / 2, b.y + b.height / 2];
		const top = document.elementFromPoint(...at);
		const own = top && (e.contains(top) || top.contains(e) && top.matches('label') || top.closest('label')?.control === e);`
	h.sees(target+" can be clicked on", withElement(target, hit+`return !!own && `+staysInPlace+`(e);`))
	at := asks[[]float64](h.person, withElement(target, hit+`return at;`))
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved, input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		params := input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Modifiers: modifiers}
		if kind != input.DispatchMouseEventTypeMouseMoved {
			params.Button, params.ClickCount = input.MouseButtonLeft, int64(count)
		}
		if _, err := chromedp.Call(h.ctx, input.DispatchMouseEvent, params); err != nil {
			h.t.Fatal(err)
		}
	}
}

// push presses the button, or the summary, with a name.
func (h hand) push(name string) { h.t.Helper(); h.activate("="+name, enterKey) }

// activate clicks on an element, or presses a key on it.
func (h hand) activate(target string, k key) {
	h.t.Helper()
	if !h.keyboard {
		h.click(target, 0, 1)
		return
	}
	h.reach(target)
	h.hit(k, 0)
}

// tick changes a box of a label.
func (h hand) tick(target string) { h.t.Helper(); h.activate(target, spaceKey) }

// goTo shows a view.
func (h hand) goTo(name string) {
	h.t.Helper()
	if h.keyboard {
		h.reach(`#tabs [aria-selected=true]`)
		for range 6 {
			if asks[bool](h.person, fmt.Sprintf(`document.activeElement.id === %q`, "tab-"+name)) {
				break
			}
			h.hit(rightKey, 0)
		}
	} else {
		h.click("#tab-"+name, 0, 1)
	}
	h.sees("view "+name, fmt.Sprintf(`document.querySelector('main').dataset.view === %q`, name))
}

// fill replaces the text of a field with letters of the keyboard. The words that an editor offers meanwhile are refused with Escape.
func (h hand) fill(target, text string) {
	h.t.Helper()
	if h.keyboard {
		h.reach(target)
	} else {
		h.click(target, 0, 1)
		h.sees(target+" has the focus", withElement(target, `return e === document.activeElement;`))
	}
	h.hit(key{"a", "", 65}, controlBit, "selectAll")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			h.hit(escapeKey, 0)
			h.hit(enterKey, 0)
			// The line before gives the indentation.
			h.hit(key{"Home", "", 36}, shiftBit, "moveToBeginningOfLineAndModifySelection")
		}
		if line != "" {
			h.do("write "+line, chromedp.KeyEvent(line))
		}
	}
	if !strings.Contains(text, "\n") || h.keyboard {
		h.sees("the text of "+target, withElement(target, fmt.Sprintf(`return e.value.trim() === %q;`, strings.TrimSpace(text))))
	}
}

// take chooses an entry of a list. The list that a mouse opens is a window of the system, which a test cannot click on: there it is chosen by a script.
func (h hand) take(target, value string) {
	h.t.Helper()
	if !h.keyboard {
		h.sees(target+" can be clicked on", withElement(target, `e.scrollIntoView({ block: 'center' }); const b = e.getBoundingClientRect(); return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) === e;`))
		h.do("take "+value, chromedp.Evaluate[chromedp.Void](withElement(target, fmt.Sprintf(`e.value = %q; e.dispatchEvent(new Event('change', { bubbles: true })); return true;`, value))))
		return
	}
	h.reach(target)
	for range 40 {
		step := asks[float64](h.person, withElement(target, fmt.Sprintf(`e.focus(); return [...e.options].findIndex((o) => o.value === %q) - e.selectedIndex;`, value)))
		switch {
		case step == 0:
			if asks[bool](h.person, withElement(target, `return e.matches('.menu');`)) {
				h.hit(enterKey, 0)
			}
			return
		case step > 0:
			h.hit(downKey, 0)
		default:
			h.hit(upKey, 0)
		}
	}
	h.t.Fatalf("the arrow keys do not lead to %s in %s", value, target)
}

// ownModel is what the person of the script writes, whose third line lacks a semicolon.
const (
	ownModel = `dtmc
const int most = 6;
const double p = 1/2
module walk
  x : [0..most] init 3;
  [step] x>0 & x<most -> p : (x'=x-1) + 1-p : (x'=x+1);
  [] x=0 | x=most -> true;
endmodule
label "top" = x=most;
rewards "steps"
  [step] true : 1;
endrewards
`
	ownProperties = `const int k;
"up": P=? [ F "top" ];
// RESULT: 9
"time": R{"steps"}=? [ F x=0 | x=most ];
"soon": P=? [ F<=k "top" ];
P>=0.9 [ F "top" ];
`
)

// closedNode selects a state of the picture that is not expanded.
const closedNode = `.graph .node:not(.open)`

// script is what a person does on a model of their own. Each step ends when its result is there.
var script = []struct {
	name string
	do   func(h hand)
}{
	{"begin a model", func(h hand) {
		h.push("New")
		h.says("#file", "model.prism")
	}},
	{"write a model", func(h hand) { h.fill(modelText, ownModel) }},
	{"see the mistake", func(h hand) { h.says(".problems", `model.prism:3:21: missing ";"`) }},
	{"go to the mistake", func(h hand) {
		h.push(asks[string](h.person, `document.querySelector('.problems button').textContent`))
		h.sees("the cursor behind 1/2", fmt.Sprintf(`(() => { const a = document.querySelector(%q); return document.activeElement === a && a.value.slice(0, a.selectionStart).endsWith('p = 1/2') })()`, modelText))
	}},
	{"mend it", func(h hand) {
		h.do("write", chromedp.KeyEvent(";"))
		h.sees("no problem", `document.querySelectorAll('.problems li').length === 0`)
	}},
	{"write properties", func(h hand) {
		h.fill(propertyText, ownProperties)
		h.says(".properties", "needs k")
	}},
	{"format the model", func(h hand) {
		h.push("Format the model")
		h.says("#status", "Formatted.")
	}},
	{"check what needs no constant", func(h hand) {
		h.push("Check all")
		h.sees("three results", `document.querySelectorAll('.properties .value').length === 3`)
		h.says(".properties", "✓ pass: 9")
		h.says(".properties", "✕ false")
	}},
	{"give the constant a value", func(h hand) {
		h.fill("input[data-constant=k]", "10")
		h.sees("nothing is missing", `!document.querySelector('.properties').textContent.includes('needs k')`)
		h.sees("older results are grey", `!!document.querySelector('.outdated-row')`)
	}},
	{"check again with keys", func(h hand) {
		if h.keyboard {
			h.reach(modelText)
			h.hit(enterKey, controlBit)
		} else {
			h.push("Check all")
		}
		h.sees("four results", `document.querySelectorAll('.properties .value').length === 4 && !document.querySelector('.outdated-row')`)
	}},
	{"sort by value", func(h hand) {
		h.push("Sort by Value")
		h.sees("sorted", `document.querySelector('th[aria-sort=ascending]')?.textContent.includes('Value')`)
	}},
	{"check by sampling", func(h hand) {
		h.take(".results select", "ci")
		h.fill("input[aria-label=Samples]", "1000")
		h.fill("input[aria-label=Seed]", "7")
		h.push("Check up")
		h.says(".properties", "1,000 samples, confidence 0.99, seed 7")
		h.take(".results select", "")
	}},
	{"certify", func(h hand) {
		h.push("More for up")
		h.push("Certify up")
		h.says(".properties", "proven")
		if text := h.saved("up.cert"); len(text) < 100 {
			h.t.Errorf("the certificate has %d bytes", len(text))
		}
	}},
	{"copy a property", func(h hand) {
		h.push("Copy up")
		h.sees("a copy", `document.querySelectorAll('.properties code').length === 5`)
	}},
	{"delete the copy", func(h hand) {
		h.push("Delete up")
		h.sees("no copy", `document.querySelectorAll('.properties code').length === 4`)
	}},
	{"edit a property", func(h hand) {
		h.push(`More for P>=0.9 [ F "top" ]`)
		h.push(`Edit P>=0.9 [ F "top" ]`)
		h.fill("dialog textarea", `P>=0.6 [ F "top" ];`)
		h.push("Change")
		h.says(".properties", `P>=0.6 [ F "top" ]`)
	}},
	{"ask why", func(h hand) {
		h.push(`Why P>=0.6 [ F "top" ]`)
		h.says("main .why", "is false")
		h.sees("a path", `document.querySelectorAll('.graph .node.path').length > 1`)
	}},
	{"expand a state", func(h hand) {
		h.push("Start again")
		h.sees("the first states", `document.querySelectorAll('.graph .node').length === 3`)
		h.activate(closedNode, enterKey)
		h.sees("one more", `document.querySelectorAll('.graph .node').length === 4`)
	}},
	{"expand all", func(h hand) {
		h.push("Expand all")
		h.sees("more", `document.querySelectorAll('.graph .node').length > 4`)
	}},
	{"values on states", func(h hand) {
		h.take(".explore .field select", "0")
		h.sees("a value", `[...document.querySelectorAll('.graph .node')].some((n) => n.getAttribute('aria-label').includes('value 0.5'))`)
	}},
	{"find a state", func(h hand) {
		h.fill(".explore form input", "x=most-1")
		h.push("Find")
		h.says(".found", "1 of all 7 states")
	}},
	{"colour components", func(h hand) {
		h.take("select[name=colour]", "bscc")
		h.says("main", "2 BSCCs of all 7 states")
	}},
	{"compare two states", func(h hand) {
		h.push("Compare with…")
		h.activate(`.transitions .state`, enterKey)
		h.says(".details", "1 of 1 variables differ")
		h.push("End the comparison")
	}},
	{"collapse", func(h hand) {
		h.push("Collapse")
		h.sees("the state is closed", `[...document.querySelectorAll('.details button')].some((b) => b.textContent === 'Expand')`)
	}},
	{"save the states", func(h hand) {
		h.take("select[aria-label='Save']", "tra")
		if text := h.saved("model.tra"); !strings.Contains(text, "\n7 12\n") {
			h.t.Errorf("the states are %q", text)
		}
	}},
	{"simulate from a state", func(h hand) {
		h.push("Simulate from here")
		h.sees("a path of one state", `document.querySelector('main').dataset.view === 'simulate' && document.querySelectorAll('table.path tbody tr').length === 1`)
	}},
	{"take a step", func(h hand) {
		h.activate(`ul[aria-label="Enabled transitions"] button`, enterKey)
		h.says("#status", "Step 1")
	}},
	{"take steps at random", func(h hand) {
		h.push("Random steps")
		h.says("#status", ", seed 1")
	}},
	{"go back in the path", func(h hand) {
		h.push("Go back to step 1")
		h.sees("two rows", `document.querySelectorAll('table.path tbody tr').length === 2`)
	}},
	{"go forward", func(h hand) {
		h.push("Forward")
		h.sees("more rows", `document.querySelectorAll('table.path tbody tr').length > 2`)
	}},
	{"choose columns", func(h hand) {
		h.push("Columns")
		h.tick(`details[open] .ticks input`)
	}},
	{"save the path", func(h hand) {
		h.push("Save CSV")
		if text := h.saved("path.csv"); !strings.HasPrefix(text, "action,probability,step,x,") {
			h.t.Errorf("the path is %q", text)
		}
	}},
	{"show the last state in Explore", func(h hand) {
		h.sees("what the status line says is of Simulate", `document.getElementById('status').textContent !== ''`)
		h.push("Show in Explore")
		h.sees("its graph", `document.querySelector('main').dataset.view === 'explore' && document.querySelectorAll('.graph .node').length > 0`)
	}},
	{"run an experiment", func(h hand) {
		h.goTo("experiments")
		h.fill("input[data-constant=k]", "1:20")
		h.take("main .field select", "2")
		h.push("Run")
		h.says("#status", "20 results")
	}},
	{"run another one", func(h hand) {
		h.fill("input[data-constant=k]", "1:2:30")
		h.push("Run")
		h.says("#status", "15 results")
		h.sees("both in the plot", `document.querySelectorAll('.legend li').length === 2`)
	}},
	{"rename it", func(h hand) {
		h.push("Rename 2: soon")
		h.fill("dialog input", "every second step")
		h.push("Rename")
		h.says(".experiments", "every second step")
	}},
	{"compare them with a logarithmic axis", func(h hand) {
		h.tick(`input[name=log-x]`)
		h.sees("a logarithmic axis", `[...document.querySelectorAll('.plot .tick.x')].map((e) => e.textContent).join().startsWith('1,2,5')`)
		h.push("Zoom in")
	}},
	{"read a point", func(h hand) {
		if h.keyboard {
			h.reach("main .plot")
			h.hit(rightKey, 0)
		} else {
			h.click("main .plot g[transform]:nth-child(8)", 0, 1) // a mark
		}
		h.says(".readout", "soon")
	}},
	{"save the plot", func(h hand) {
		h.push("Save SVG")
		if text := h.saved("experiment.svg"); !strings.Contains(text, "every second step") {
			h.t.Error("the plot has no legend")
		}
	}},
	{"save", func(h hand) {
		h.goTo("model")
		if h.where == "playground" {
			h.push("Download")
			if text := h.saved("model.prism"); !strings.Contains(text, "p = 1/2;") {
				h.t.Errorf("the model is %q", text)
			}
			return
		}
		h.fill(saveAs, asks[string](h.person, fmt.Sprintf(`document.querySelector(%q).value.split('/')[0]`, saveAs))+"/own.prism")
		h.push("Save")
		h.says("#status", "own.props")
	}},
	{"reload", func(h hand) {
		h.do("reload", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
		h.sees("the text", fmt.Sprintf(`document.querySelector(%q)?.value.includes('p = 1/2;')`, modelText))
		h.goTo("experiments")
		h.says(".experiments", "every second step")
	}},
	{"share", func(h hand) {
		h.push("Link…")
		h.sees("the link", `!!document.querySelector('dialog input')`)
		link := asks[string](h.person, `document.querySelector('dialog input').value`)
		h.push("Close")
		asks[bool](h.person, `(sessionStorage.removeItem('document'), localStorage.clear(), true)`)
		h.do("open the link", chromedp.Navigate("about:blank"), chromedp.Navigate(link), chromedp.WaitVisible(`body[data-ready]`))
		h.sees("the view and the constant", `document.querySelector('main').dataset.view === 'experiments' && document.querySelector('input[data-constant=k]')?.value === '1:2:30'`)
		h.goTo("model")
		h.sees("the text", fmt.Sprintf(`document.querySelector(%q).value.includes('p = 1/2;')`, modelText))
	}},
}

// A person writes a model and works on it, with the keyboard alone and with the mouse alone, on a screen and on a telephone, and meets no error.
// Every pair of a place, a device and a width occurs; where a browser is required, all eight combinations are tried.
func TestScript(t *testing.T) {
	chromium := browser(t)
	t.Parallel()
	for _, where := range []string{"server", "playground"} {
		for _, keyboard := range []bool{true, false} {
			for _, width := range []int64{1280, 360} {
				if odd := (where == "playground") != keyboard != (width == 360); odd && !needs.Asked(t, needs.Browser) {
					continue
				}
				device := map[bool]string{true: "keyboard", false: "mouse"}[keyboard]
				t.Run(fmt.Sprintf("%s/%s/%d", where, device, width), func(t *testing.T) {
					t.Parallel()
					at := serverOf(t)
					if where == "playground" {
						at = playgroundOf(t)
					}
					h := hand{person: visit(t, chromium, where, at), keyboard: keyboard}
					h.size(width, 800)
					h.saved = h.downloads()
					for i, step := range script {
						begun := time.Now()
						step.do(h)
						t.Logf("%d. %s: %v", i+1, step.name, time.Since(begun).Round(time.Millisecond))
						h.fits(step.name)
						if h.t.Failed() {
							h.shoot(fmt.Sprintf("%s-%d-%d", device, width, i+1))
							t.FailNow()
						}
					}
				})
			}
		}
	}
}

// fits fails if the page is wider than the window.
func (h hand) fits(what string) {
	h.t.Helper()
	if asks[bool](h.person, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
		h.t.Errorf("%s: the page is wider than the window", what)
	}
}
