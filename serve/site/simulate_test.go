package site_test

import (
	"fmt"
	"strings"
	"testing"
)

// pathRow is a script for what a row of the path says, cell by cell.
func pathRow(n int) string {
	return fmt.Sprintf(`[...(document.querySelectorAll('table[aria-label=Path] tbody tr')[%d]?.cells || [])].map((c) => c.textContent).join(' ')`, n)
}

// A path of a CTMC by hand: times, rewards and labels beside the variables of their modules, back and forth, from any state, and as files.
func TestPath(t *testing.T) {
	each(t, func(p *person) {
		p.open("queue")
		p.view("simulate")
		p.says("#status", "Step 0")
		p.press("[arrive] with rate 0.8 to (q=1)")
		p.says("#status", "Step 1")
		p.write(`input[aria-label="Time in the state"]`, "2")
		p.press("[serve] with rate 1 to (q=0)")
		p.says("#status", "Step 2")
		p.sees("columns by module and reward", `[...document.querySelectorAll('table[aria-label=Path] th[scope=colgroup]')].map((h) => h.textContent).join() === 'step,queue,reward waiting'`)
		// Columns: step, action, rate, time, sojourn, q, and the reward of the state, of the step, and so far.
		p.sees("the first state, with the mean time", pathRow(0)+` === '0   0 1.25 0 0 0 0'`)
		p.sees("the second", pathRow(1)+` === '1 [arrive] 0.8 1.25 2 1 1 0 0'`)
		p.sees("the third", pathRow(2)+` === '2 [serve] 1 3.25  0 0  2'`)
		p.click("columns", `//summary[.="Columns"]`)
		p.click("tick a label", `[aria-label="Columns of the table"] input`)
		p.click("tick full", `//*[@aria-label="Columns of the table"]//label[contains(.,"full")]/input`)
		p.sees("a column of the label and none of the rate", `[...document.querySelectorAll('table[aria-label=Path] th[scope=col]')].map((h) => h.textContent).join().startsWith('step,action,time,sojourn,q,"full"')`)
		p.click("plot the time", `//*[@aria-label="Columns in the plot"]//label[contains(.,"sojourn")]/input`)
		p.sees("its series", `[...document.querySelectorAll('.legend li')].some((l) => l.textContent.includes('sojourn'))`)
		p.choose(`main section select`, "time")
		p.sees("the axis of time", `[...document.querySelectorAll('.plot text')].some((x) => x.textContent === 'time')`)
		p.shoot("path")
		p.named()

		p.click("go back by a row", `//table[@aria-label="Path"]/tbody/tr[2]/td[2]`)
		p.says("#status", "Step 1: (q=1)")
		p.press("Forward")
		p.says("#status", "Step 2: (q=0)")
		p.write(`input[aria-label="Start from"]`, "q=11")
		p.press("Start")
		p.says("#notice", "q is 11, want 0 to 10")
		p.write(`input[aria-label="Start from"]`, "q = 9")
		p.press("Start")
		p.says("#status", "Step 0: (q=9)")
		p.press("[arrive] with rate 0.8 to (q=10)")
		p.sees("the label", pathRow(1)+`.includes('✓')`)
		saved := p.downloads()
		p.press("Save for PRISM")
		if got, want := saved("path.txt"), "[arrive] 0.8 1 2.0 10"; !strings.Contains(got, "action probability step time q ") || !strings.Contains(got, want) {
			t.Errorf("saved %q, want %q in it", got, want)
		}
		p.press("Show in Explore")
		p.sees("the state", `!!document.querySelector('.graph .node.chosen[aria-label^="State (q=10)"]')`)
		p.click("another state", `.graph .node[aria-label^="State (q=9)"]`)
		p.sees("the other state", `!!document.querySelector('.graph .node.chosen[aria-label^="State (q=9)"]')`)
		p.press("Simulate from here")
		p.says("#status", "Step 0: (q=9)")
		p.size(360, 780)
		p.named()
		p.shoot("path-narrow")
	})
}

// What a step does not change is grey, and a property that is chosen later has its values on every row.
func TestPathOfModules(t *testing.T) {
	w := atWork(t)
	w.edit(propertyText, "P=? [ F a=2 ];")
	w.edit(modelText, "dtmc\nmodule one\na : [0..2];\n[] a=0 -> 0.5:(a'=1) + 0.5:(a'=2);\n[go] a=1 -> true;\nendmodule\nmodule two\nb : bool;\n[go] true -> (b'=!b);\nendmodule\n")
	w.view("simulate")
	w.says("#status", "Step 0")
	w.press("one with probability 0.5 to (a=1,b=false)")
	w.says(`ul[aria-label="Enabled transitions"]`, "one, line 5; two, line 9")
	w.press("[go] with probability 1 to (a=1,b=true)")
	w.says("#status", "Step 2")
	w.sees("modules", `[...document.querySelectorAll('table[aria-label=Path] th[scope=colgroup]')].map((h) => h.textContent).join() === 'step,one,two'`)
	w.sees("what is grey", `[...document.querySelectorAll('table[aria-label=Path] tbody tr')].map((r) => [...r.cells].slice(-2).map((c) => Number(c.classList.contains('same'))).join('')).join() === '00,01,10'`)
	w.choose(".field select", "0")
	w.sees("values", `[...document.querySelectorAll('table[aria-label=Path] tbody tr')].map((r) => r.cells[r.cells.length - 1].textContent).join() === '0.5,0,0'`)
	w.shoot("path-modules")
}
