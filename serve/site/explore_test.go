package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// nodes is a script for the number of states in the picture.
const nodes = `document.querySelectorAll('.graph .node').length`

// stateNode returns a selector of the state whose name begins with a text.
func stateNode(text string) string {
	return fmt.Sprintf(`.graph .node[aria-label^="State %s"]`, text)
}

// explores opens a model in the view Explore and waits for its first picture.
func (w workplace) explores(model, properties string) {
	w.t.Helper()
	w.edit(propertyText, properties)
	w.edit(modelText, model)
	w.view("explore")
	w.sees("the first states", nodes+` > 0 && !document.querySelector('.outdated') && !!document.querySelector('.details h2')`)
}

// texts fails for texts with too little contrast, light and dark, and for what is wider than the window.
func (p *person) texts(what string) {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		asks[bool](p, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, true)`, theme))
		if found := asks[[]string](p, contrasts); len(found) > 1 {
			p.t.Errorf("%s, %s: %s", what, theme, strings.Join(found[1:], "; "))
		}
		p.named()
		p.shoot("explore-" + what + "-" + theme)
	}
	asks[bool](p, `(document.documentElement.dataset.theme = 'light', true)`)
}

const twoModules = `mdp
module one
  x : [0..3];
  [] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);
  [] x=0 -> (x'=3);
  [go] x=1 -> (x'=3);
endmodule
module two
  y : bool;
  [] !y & x>0 -> (y'=true);
  [go] true -> true;
endmodule
label "end" = x=3;
`

// An unlabelled choice has its module, and its line where a state has several of that module. The table of successors selects a state by mouse and
// by keyboard, and leads to the command.
func TestExploreSuccessors(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.explores(twoModules, "Pmax=? [ F x=3 ];")
		edges := `[...document.querySelectorAll('.graph .edgetext')].map((e) => e.textContent)`
		p.sees("modules with lines", edges+`.includes('one:4') && `+edges+`.includes('one:5')`)
		p.click("expand", stateNode("(x=1"))
		p.sees("the module and the action", edges+`.includes('two') && `+edges+`.includes('[go]')`)
		p.says(".details h2", "(x=1,y=false)")
		p.says("table[aria-label=Successors]", "two, line 10")
		p.says("table[aria-label=Successors]", "one, line 6")
		p.texts("successors")
		p.click("by mouse", `//table[@aria-label="Successors"]//tr[contains(.,"[go]")]/td[2]`)
		p.says(".details h2", "(x=3,y=false)")
		p.do("by keyboard", chromedp.Evaluate[chromedp.Void](`(document.querySelector('table[aria-label=Successors] .state').focus(), true)`), chromedp.KeyEvent(kb.Enter))
		p.says(".details h2", "(x=3,y=true)")
		p.sees("the focus on the heading", `document.activeElement === document.querySelector('.details h2')`)
		p.click("back", stateNode("(x=1,y=false)"))
		p.press("two, line 10")
		p.sees("the command", fmt.Sprintf(`(() => { const a = document.querySelector(%q); return !!a && a.value.slice(0, a.selectionStart).split('\n').length === 10 })()`, modelText))
	})
}

// The predecessors of a state are those in the picture until all states were searched, and the text says which. They can be put into the picture.
func TestExplorePredecessors(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", nodes+` === 3`)
		p.click("s=1", stateNode("(s=1,"))
		p.says(".details", "1 in the picture; the other states were not searched.")
		p.press("Predecessors")
		p.says(".details", "2 among all 13 states.")
		p.says("table[aria-label=Predecessors]", "(s=3,d=0)")
		p.press("Start again")
		p.sees("the first states", nodes+` === 3`)
		p.write("form input", "s=7 & d=6\r")
		p.says(".details h2", "(s=7,d=6)")
		p.do("with a key", chromedp.Evaluate[chromedp.Void](`(document.querySelector('.graph .node.chosen').focus(), true)`), chromedp.KeyEvent("p"))
		p.says(".details", "2 among all 13 states.") // s=6, and the state itself
		p.press("Show them in the picture")
		p.sees("s=6", fmt.Sprintf(`!!document.querySelector(%q)`, stateNode("(s=6,")))
		p.texts("predecessors")
		p.press("Predecessor (s=6,d=0)")
		p.says(".details h2", "(s=6,d=0)")
	})
}

// million is a model of a million states.
const million = `mdp
module m
  x : [0..999];
  y : [0..999];
  [right] x<999 -> 0.9:(x'=x+1) + 0.1:true;
  [up] y<999 -> (y'=y+1);
  [stay] true -> true;
endmodule
label "corner" = x=999 & y=999;
`

// The first picture of a model of a million states is there without all of them being explored: how long it takes is logged. What was searched in the picture alone says so.
func TestExploreLarge(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		p.view("explore") // loads Graphviz, as the first picture of any model does
		p.sees("the first states", nodes+` === 3`)
		p.view("model")
		w.edit(propertyText, "Pmax=? [ F \"corner\" ];")
		w.edit(modelText, million)
		p.says(".properties", "corner")
		took := asks[float64](p, `new Promise((done) => {
			const begun = performance.now();
			const look = () => { if (document.querySelector('.graph .node[aria-label^="State (x=0,y=1)"]')) done(performance.now() - begun); else setTimeout(look, 5); };
			document.getElementById('tab-explore').click();
			look();
		})`)
		t.Logf("%s: the first picture after %.0f ms", p.where, took)
		p.write("form input", "x<=1\r")
		p.says(".found", "3 of the 3 states in the picture; the other states were not searched.")
		p.choose(`.field select[name=colour]`, "mec")
		p.says(".content", "1 MEC of the 1 expanded state only: in the whole model an MEC can be larger")
		p.press("Predecessors")
		p.says(".details", "1 in the picture; the other states were not searched.")
		p.texts("large")
		p.write("input[aria-label=Depth]", "16")
		p.press("Expand to depth")
		p.says("#status", "153 states shown. All states of depth 16 from (x=0,y=0).")
		p.says(".found", "33 of the 153 states in the picture")
		p.write("input[aria-label=Depth]", "50")
		p.press("Expand to depth")
		p.says("#status", "300 states shown. The picture is full: a picture has 300 states at most. From (x=0,y=0) it has all states of depth 23.")
		p.shoot("explore-large-full")
		p.press("Fit")
		p.sees("the whole picture", `Number(document.querySelector('.percent').textContent.replace(' %', '')) < 60 && (() => { const g = document.querySelector('.graph').getBoundingClientRect(); return [...document.querySelectorAll('.graph .node .box')].every((n) => { const b = n.getBoundingClientRect(); return b.left >= g.left && b.right <= g.right && b.top >= g.top && b.bottom <= g.bottom }) })()`)
		p.shoot("explore-large-fit")
		if p.where == "playground" {
			return // models are interpreted there, ten times as slowly
		}
		p.press("Search all states")
		p.says(".found", "2,000 of all 1,000,000 states")
		p.press("Analyse all states")
		p.says(".content", "1,000,000 MECs of all 1,000,000 states")
		// The states are known now: every search is of all of them.
		p.write("form input", "x+y>=1998\r")
		p.says(".found", "1 of all 1,000,000 states")
	})
}

// Collapsing a state hides what is reached from it only; the depth is counted from the selected state.
func TestExploreCollapse(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", nodes+` === 3`)
		p.click("s=2", stateNode("(s=2,"))
		p.sees("its successors", nodes+` === 5`)
		p.write("input[aria-label=Depth]", "2")
		p.press("Expand to depth")
		p.says("#status", "8 states shown. All states of depth 2 from (s=2,d=0).")
		p.click("s=0", stateNode("(s=0,"))
		p.press("Expand to depth")
		p.says("#status", "All states of depth 2 from (s=0,d=0).")
		p.sees("the other half", fmt.Sprintf(`!!document.querySelector(%q)`, stateNode("(s=3,")))
		p.do("s=2 by keyboard", chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(document.querySelector(%q).focus(), true)`, stateNode("(s=2,"))), chromedp.KeyEvent("c"))
		p.sees("s=2 without successors", nodes+` === 5 && document.activeElement.getAttribute('aria-label').includes('not expanded')`)
		p.press("Expand")
		p.sees("its successors again", nodes+` === 7`)
		p.click("s=0", stateNode("(s=0,"))
		p.press("Collapse")
		p.sees("the initial state alone", nodes+` === 1`)
		p.press("Expand all")
		p.sees("its successors", nodes+` === 3`)
	})
}

// Full screen, the bar between picture and panel, and the smallest text: by mouse and keyboard.
func TestExploreSize(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", nodes+` === 3`)
		width := `document.querySelector('.graph').getBoundingClientRect().width`
		before := asks[float64](p, width)
		p.do("a larger panel", chromedp.Evaluate[chromedp.Void](`(document.querySelector('[role=separator]').focus(), true)`), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
		p.sees("a smaller graph", fmt.Sprintf(`%s < %f && document.querySelector('[role=separator]').getAttribute('aria-valuenow') === '50'`, width, before-80))
		bar := asks[[]float64](p, `(() => { const b = document.querySelector('[role=separator]').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`)
		p.do("drag the bar", chromedp.MouseEvent("mousePressed", bar[0], bar[1], chromedp.ButtonLeft), chromedp.MouseEvent("mouseMoved", bar[0]+200, bar[1], chromedp.ButtonLeft), chromedp.MouseEvent("mouseReleased", bar[0]+200, bar[1], chromedp.ButtonLeft))
		p.sees("a larger graph", fmt.Sprintf(`%s > %f`, width, before))

		for _, n := range []int{5, 10, 13} {
			if n > 5 {
				p.press("Expand all")
			} else {
				p.click("s=1", stateNode("(s=1,"))
			}
			p.sees("more states", fmt.Sprintf(`%s === %d`, nodes, n))
		}
		sizes := `[...document.querySelectorAll('.graph .node text')].filter((e) => e.style.display !== 'none').map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)`
		p.sees("texts of 9 pixels at least", sizes+`.every((s) => s > 8.9)`)
		for range 4 {
			p.press("Zoom out")
		}
		p.sees("texts of 9 pixels at least", `document.querySelector('.percent').textContent.replace(' %', '') < 60 && `+sizes+`.length > 0 && `+sizes+`.every((s) => s > 8.9)`)
		p.sees("texts within their states", `[...document.querySelectorAll('.graph .node')].every((n) => { const b = n.querySelector('.box').getBoundingClientRect(); return [...n.querySelectorAll('text')].every((t) => { const r = t.getBoundingClientRect(); return r.left >= b.left - 1 && r.right <= b.right + 1 && r.top >= b.top - 2 && r.bottom <= b.bottom + 2 }) })`)
		p.shoot("explore-small")
		p.choose("select[aria-label='Smallest text']", "14")
		p.sees("texts of 14 pixels at least", sizes+`.every((s) => s > 13.9)`)
		p.choose("select[aria-label='Smallest text']", "9")
		p.press("Fit")

		p.press("Full screen")
		p.sees("the whole screen", `!!document.fullscreenElement && !document.querySelector('.top').offsetParent && document.querySelector('.graph').getBoundingClientRect().bottom <= innerHeight`)
		p.shoot("explore-full")
		p.named()
		p.press("Leave full screen")
		p.sees("as before", `!document.fullscreenElement && !!document.querySelector('.top').offsetParent`)
		p.do("by a key", chromedp.Evaluate[chromedp.Void](`(document.querySelector('.graph').focus(), true)`), chromedp.KeyEvent("f"))
		p.sees("the whole screen", `document.body.classList.contains('full')`)
		p.do("leave it", chromedp.KeyEvent(kb.Escape))
		p.sees("as before", `!document.body.classList.contains('full')`)
		saved := p.downloads()
		p.press("SVG")
		if text := saved("graph.svg"); strings.Count(text, `class="node`) != 13 || strings.Contains(text, "var(") || strings.Contains(text, "color(") {
			t.Errorf("the file has %d states, want 13 and no variables of the page", strings.Count(text, `class="node`))
		}
		p.size(360, 780)
		p.named()
		p.do("a smaller graph", chromedp.Evaluate[chromedp.Void](`(document.querySelector('[role=separator]').focus(), true)`), chromedp.KeyEvent(kb.ArrowUp))
		p.sees("its height", `Math.abs(document.querySelector('.graph').getBoundingClientRect().height - 0.55 * innerHeight) < 4`)
		p.shoot("explore-size-narrow")
	})
}

// A search marks states where they are, counts those in the picture and those of all states, and goes on when states are expanded.
func TestExploreSearch(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", nodes+` === 3`)
		p.write("form input", "s<=2\r")
		p.says(".found", "3 of all 13 states, 3 of the 3 states in the picture.")
		p.sees("three rings", `document.querySelectorAll('.graph .ring').length === 3`)
		p.write("form input", "s>=2 & s<=5\r")
		p.says(".found", "4 of all 13 states, 1 of the 3 states in the picture.")
		p.click("expand", stateNode("(s=1,"))
		p.says(".found", "4 of all 13 states, 3 of the 5 states in the picture.")
		p.sees("the names of the states", `[...document.querySelectorAll('.graph .node')].filter((n) => n.getAttribute('aria-label').includes('found')).length === 3`)
		p.texts("search")
		p.press("Show s=5, d=0")
		p.says(".details h2", "(s=5,d=0)")
		p.sees("the others", nodes+` > 6 && document.querySelectorAll('.graph .ring').length === 4`)
		p.mu.Lock()
		p.refused = "/api/find"
		p.mu.Unlock()
		p.write("form input", "s=\r")
		p.says("main .error", "found")
		p.write("form input", "\"deadlock\"\r")
		p.says(".found", "0 of all 13 states, 0 of the")
		p.press("Clear the search")
		p.sees("no rings", `document.querySelectorAll('.graph .ring').length === 0 && !document.querySelector('.found').textContent`)
	})
}

// What differs between two states: variables, labels and choices.
func TestExploreDifferences(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.explores(twoModules, "Pmax=? [ F x=3 ];")
		p.press("Expand all")
		p.sees("more states", nodes+` > 5`)
		p.click("x=1", stateNode("(x=1,y=false)"))
		p.press("Compare with…")
		p.says(".details .note", "Select the state to compare")
		p.click("x=3", stateNode("(x=3,y=true)"))
		p.says(".details .differences", "2 of 2 variables differ.")
		p.says(".details .differences", `Labels only of the selected state: "end".`)
		p.says(".details .differences", "Choices only of the compared state: unlabelled of two, [go].")
		p.sees("marks", `document.querySelectorAll('table[aria-label=Differences] .differs').length === 2`)
		p.texts("differences")
		p.press("End the comparison")
		p.sees("no differences", `!document.querySelector('.differences')`)
		// The same with Shift and a click, and with a key.
		asks[bool](p, fmt.Sprintf(`(document.querySelector(%q).dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true})), true)`, stateNode("(x=1,y=false)")))
		p.says(".details h3", "Differences from (x=3,y=true)")
		p.do("with a key", chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(document.querySelector(%q).focus(), true)`, stateNode("(x=0,"))), chromedp.KeyEvent("d"))
		p.says(".details h3", "Differences from (x=1,y=false)")
		p.says(".details .differences", "1 of 2 variables differ.")
		p.size(360, 780)
		p.named()
	})
}

const cycles = `mdp
module m
  x : [0..6];
  [a] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);
  [b] x=1 -> (x'=0);
  [d] x=2 -> (x'=3);
  [e] x=3 -> (x'=2);
  [f] x=3 -> (x'=4);
  [] x=4 -> 0.5:(x'=5) + 0.5:(x'=6);
  [] x>=5 -> true;
endmodule
`

// Components are in colour, with their names on the states and in a legend that says of which states they are.
func TestExploreComponents(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.explores(cycles, "Pmax=? [ F x=5 ];")
		p.choose(`.field select[name=colour]`, "scc")
		p.says(".content", "4 SCCs of all 7 states; 2 in the picture.")
		p.write("input[aria-label=Depth]", "5")
		p.press("Expand to depth")
		p.says(".content", "4 SCCs of all 7 states; 4 in the picture.")
		p.says("ul[aria-label=SCCs]", "SCC 2: 2 states")
		p.sees("the states of one", fmt.Sprintf(`[0, 1].every((x) => document.querySelector(%[1]q.replace('N', x)).getAttribute('aria-label').includes('SCC 1'))`, stateNode("(x=N)")))
		p.sees("edges within", `document.querySelectorAll('.graph .edge.in-component').length > 3`)
		p.texts("components")
		p.choose(`.field select[name=colour]`, "bscc")
		p.says("ul[aria-label=BSCCs]", "BSCC 2: 1 state")
		p.sees("two of them", `document.querySelectorAll('ul[aria-label=BSCCs] li').length === 2`)
		p.choose(`.field select[name=colour]`, "mec")
		p.says(".content", "3 MECs of all 7 states; 3 in the picture.")
		p.click("x=2", stateNode("(x=2)"))
		p.says(".details", "MEC 1 with 2 states")
		p.choose(`.field select[name=colour]`, "")
		p.sees("no components", `!document.querySelector('.graph .in-component') && !document.querySelector('ul[aria-label=MECs]')`)
	})
}

// A state goes to Simulate and back, beside what Explore shows.
func TestExploreToSimulate(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", nodes+` === 3`)
		p.click("s=2", stateNode("(s=2,"))
		p.says(".details h2", "(s=2,d=0)")
		p.press("Simulate from here")
		p.says("#status", "Step 0: (s=2,d=0)")
		p.sees("the start", `document.querySelector('input[aria-label="Start from"]').value === 's=2, d=0'`)
		p.press("die with probability 0.5 to (s=6,d=0)")
		p.says("#status", "Step 1: (s=6,d=0)")
		p.press("Show in Explore")
		p.says(".details h2", "(s=6,d=0)")
		p.sees("the states before", fmt.Sprintf(`!!document.querySelector(%q)`, stateNode("(s=0,")))
	})
}

// In a game the shape of a state says who moves, in Explore and in Simulate, with a legend.
func TestExplorePlayers(t *testing.T) {
	each(t, func(p *person) {
		p.open("race")
		p.view("explore")
		p.sees("the first states", nodes+` > 1`)
		p.says("ul[aria-label=Players]", "attacker moves")
		p.says("ul[aria-label=Players]", "defender moves")
		p.press("Expand all")
		p.sees("their successors", nodes+` === 6`)
		shape := func(state string) string {
			return fmt.Sprintf(`document.querySelector(%q)?.querySelector('.box').tagName`, stateNode(state))
		}
		p.sees("a box", shape("(owner=0,won=0,blocks=0)")+` === 'rect'`)
		p.sees("a diamond", shape("(owner=1,won=0,blocks=0)")+` === 'path'`)
		p.says(".details .mover", "attacker moves.")
		p.click("the defender", stateNode("(owner=1,won=0,blocks=0)"))
		p.says(".details .mover", "defender moves.")
		p.choose(".field select", "0")
		p.sees("values", `[...document.querySelectorAll('.graph .node')].some((n) => n.getAttribute('aria-label').includes('value 0.49'))`)
		p.texts("players")
		p.press("Simulate from here")
		p.says("main .mover", "defender moves.")
		p.press("[pass] with probability 1 to (owner=0,won=0,blocks=0)")
		p.says("main .mover", "attacker moves.")
		p.sees("who moved", pathRow(0)+`.includes('defender') && `+pathRow(1)+`.includes('attacker')`)
		p.shoot("simulate-players")
		p.named()
	})
}

// An optimal scheduler of the selected property, and the probabilities of the states, are saved as files.
func TestExploreSave(t *testing.T) {
	each(t, func(p *person) {
		saved := p.downloads()
		w := workplace{person: p}
		w.explores("mdp\nmodule m\n  x : [0..2];\n  [safe] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);\n  [bold] x=0 -> 0.9:(x'=1) + 0.1:(x'=2);\n  [] x>0 -> true;\nendmodule\n", "Pmax=? [ F x=1 ];")
		p.choose("select[aria-label=Save]", "scheduler.txt")
		p.says("body", "Select the property whose optimal scheduler is to be saved")
		p.choose(".explore label.field.grow select", "0")
		p.choose("select[aria-label=Save]", "scheduler.txt")
		if text := saved("die.scheduler.txt"); !strings.Contains(text, "(0)=bold") {
			t.Errorf("the scheduler is %q", text)
		}
		p.refused = "/api/export"
		p.choose("select[aria-label=Save]", "steady")
		p.says("main", "states of an MDP have no probabilities")
		p.view("model")
		w.explores("ctmc\nmodule m\n  x : [0..1];\n  [] x=0 -> 1:(x'=1);\n  [] x=1 -> 3:(x'=0);\nendmodule\n", "S=? [ x=1 ];")
		p.choose("select[aria-label=Save]", "steady")
		if text := saved("die.steady.txt"); !strings.HasPrefix(text, "0.75\n0.25\n") {
			t.Errorf("the steady-state probabilities are %q", text)
		}
		p.choose("select[aria-label=Save]", "transient")
		p.write("dialog input", "0")
		p.click("the time", `//dialog//button[.="Save"]`)
		if text := saved("die.transient.txt"); text != "0=1.0\n1=0.0\n" {
			t.Errorf("the probabilities at time 0 are %q", text)
		}
	})
}
