package site_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The address names view, model and constants. It opens the same in another tab; a text that is in no file is in it as a whole.
func TestLinks(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		p.open("queue")
		p.sees("the example in the address", `location.hash.includes('example=queue.prism')`)
		p.view("explore")
		p.sees("the view in the address", `location.hash.includes('view=explore')`)
		p.view("simulate")
		p.sees("the other view", `location.hash.includes('view=simulate')`)
		p.do("back", chromedp.Evaluate[chromedp.Void](`(history.back(), true)`))
		p.sees("the view before", `document.querySelector('main').dataset.view === 'explore'`)
		p.do("forward", chromedp.Evaluate[chromedp.Void](`(history.forward(), true)`))
		p.sees("the view after", `document.querySelector('main').dataset.view === 'simulate'`)
		p.view("model")
		w.edit(modelText, lossy)
		w.edit(propertyText, "P=? [ F sent ];\n")
		p.write("input[data-constant=n]", "1,2")
		p.sees("the text and the constant", `location.hash.includes('text=') && location.hash.includes(encodeURIComponent('n={1,2}'))`)
		p.view("experiments")
		p.sees("the view", `location.hash.includes('view=experiments')`)
		link := asks[string](p, `location.href`)
		asks[bool](p, `(sessionStorage.removeItem('document'), localStorage.clear(), true)`)
		p.do("leave", chromedp.Navigate("about:blank"))
		p.do("open the link", chromedp.Navigate(link), chromedp.WaitVisible(`body[data-ready]`))
		p.sees("the view", `document.querySelector('main').dataset.view === 'experiments'`)
		p.sees("the constant", `document.querySelector('input[data-constant=n]')?.value === '1,2'`)
		p.view("model")
		if got := asks[string](p, `document.querySelector('.editor textarea').value`); got != lossy {
			t.Errorf("the link opens %q", got)
		}
		if p.where == "server" {
			p.do("no changes", chromedp.Evaluate[chromedp.Void](`(sessionStorage.removeItem('document'), localStorage.clear(), true)`))
			p.do("open a file by its name", chromedp.Navigate("about:blank"), chromedp.Navigate(link[:strings.Index(link, "#")]+"#view=explore&file="+asks[string](p, `[...document.querySelectorAll('select[aria-label="Open a file"] option')].map((o) => o.value).find((v) => v.endsWith('walk.prism'))`)), chromedp.WaitVisible(`body[data-ready]`))
			p.says("#file", "walk.prism")
			p.sees("its states", `document.querySelectorAll('main[data-view=explore] .graph .node').length === 3`)
		}
	})
}
