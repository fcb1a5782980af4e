package site_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func (p *person) reload() {
	p.t.Helper()
	p.do("reload", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
}

// The results, the states and the path of a view are there when the page is loaded again, unless the text has changed; a check that was running is offered again.
func TestReload(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		p.says(".properties", "P=? [ F d=6 ]")
		p.press("Check six")
		p.says(".properties .value", "0.16666")
		p.view("explore")
		p.sees("the first states", `document.querySelectorAll('.graph .node').length === 3`)
		p.press("Expand all")
		p.sees("more states", `document.querySelectorAll('.graph .node').length > 3`)
		states := asks[float64](p, `document.querySelectorAll('.graph .node').length`)
		p.view("simulate")
		p.says("#status", "Step 0")
		p.press("Random steps")
		p.says("#status", "the path ends here")
		rows := asks[string](p, texts("table.path tbody tr"))
		p.reload()
		p.sees("the path", texts("table.path tbody tr")+` === `+js(rows))
		p.view("explore")
		p.sees("the states", `document.querySelectorAll('.graph .node').length === `+js(states))
		p.view("model")
		p.says(".properties .value", "0.16666")
		p.sees("no grey row", `!document.querySelector('.outdated-row')`)

		model, property := large, "P=? [ F x=3 ];\nP=? [ F<=1000000000 x=2999 ];\n"
		w.edit(propertyText, property)
		w.edit(modelText, model)
		p.press("Check all")
		p.says("#jobs", "Check all")
		if p.where == "server" { // the playground takes a while to the first result
			p.says(".properties .value", "1")
		}
		p.reload()
		p.says("#notice", "A check was running when the page was left")
		if p.where == "server" {
			p.says(".properties .value", "1")
		}
		p.press("Check again")
		p.says("#jobs", "Check")
		p.sees("one job", `document.querySelectorAll('#jobs li').length === 1`)
	})
}

// A second experiment waits for the first one where there is one processor, which it says, and is not lost.
func TestExperimentQueue(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.edit(propertyText, "P=? [ F sent ];\n")
		w.edit(modelText, lossy)
		p.view("experiments")
		p.write("input[data-constant=n]", "1:20")
		p.write("input[data-constant=loss]", "0.001:0.002:0.999")
		p.press("Run")
		p.says("#jobs", "Experiment 1")
		p.write("input[data-constant=n]", "1:3")
		p.write("input[data-constant=loss]", "0.5")
		p.press("Run")
		if p.where == "playground" {
			p.says("#jobs", "waits until other work is done")
		}
		p.press("Stop Experiment 1") // perhaps before its first result
		p.sees("the second one has its results", `[...document.querySelectorAll('.experiments li')].some((e) => e.textContent.includes('2: P=?') && e.textContent.includes(' 3 results'))`)
		p.sees("nothing waits", `document.querySelectorAll('#jobs li').length === 0`)
	})
}
