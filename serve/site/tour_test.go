package site_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The first visit offers a tour of an example with open constants. Each step shows its view, and does on request what it is about. The next visit does not offer it.
func TestTour(t *testing.T) {
	each(t, func(p *person) {
		p.says("#tour", "Is this your first visit?")
		p.press("Start the tour")
		p.says("#file", "channel.prism")
		p.says("#tour", "1 of 7")
		p.press("Next")
		p.says("#constants .missing", "needs a value")
		p.shoot("tour")
		p.named()
		p.press("Do it")
		p.sees("values", `!document.querySelector('#constants .missing')`)
		p.press("Next")
		p.press("Do it")
		p.sees("three results", `document.querySelectorAll('.properties .value').length === 3`)
		p.press("Next")
		p.sees("the first states", `document.querySelectorAll('.graph .node').length === 3`)
		p.press("Do it")
		p.sees("more states", `document.querySelectorAll('.graph .node').length > 3`)
		p.press("Next")
		p.says("#status", "Step 0")
		p.press("Do it")
		p.says("#status", "the path ends here")
		p.press("Next")
		p.says("#tour", "6 of 7")
		p.press("Do it")
		p.says("#status", "9 results")
		p.size(360, 780)
		p.shoot("tour-narrow")
		p.named()
		p.press("Back")
		p.says("#tour", "5 of 7")
		p.press("Next")
		p.says("#tour", "6 of 7")
		p.press("Next")
		p.says("#tour", "7 of 7")
		p.press("End the tour")
		p.sees("no tour", `document.getElementById('tour').hidden && !document.querySelector('.toured')`)
		at := asks[string](p, `location.href.split('#')[0]`)
		p.do("visit again", chromedp.Evaluate[chromedp.Void](`(sessionStorage.clear(), true)`), chromedp.Navigate("about:blank"), chromedp.Navigate(at), chromedp.WaitVisible(`body[data-ready]`))
		p.sees("no offer", `document.getElementById('tour').hidden`)
		p.press("Tour")
		p.says("#tour", "1 of 7")
		p.do("visit for the first time", chromedp.Evaluate[chromedp.Void](`(sessionStorage.clear(), localStorage.clear(), true)`), chromedp.Navigate("about:blank"), chromedp.Navigate(at), chromedp.WaitVisible(`body[data-ready]`))
		p.says("#tour", "Is this your first visit?")
		workplace{person: p}.edit(propertyText, "P=? [ F d=1 ];\n")
		p.sees("no offer for who works", `document.getElementById('tour').hidden`)
	})
}
