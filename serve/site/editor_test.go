package site_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// key presses a key as a keyboard does: what the page prevents types nothing. Control is the modifier 2, Shift 8.
func (p *person) key(name, code string, number int64, modifiers int64) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		e := input.DispatchKeyEventParams{Type: kind, Key: name, Code: code, WindowsVirtualKeyCode: number, Modifiers: modifiers}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, e); err != nil {
			p.t.Fatal(err)
		}
	}
}

// The editor shows warnings beside problems, corrects what can be corrected, and has the keys of other editors.
func TestEditorHelp(t *testing.T) {
	w := atWork(t)
	w.edit(modelText, "dtmc\nconst int spare = 1;\nmodule walk\n  x : [0..4] init 2\nendmodule\n")
	w.says(".problems", `missing ";"`)
	w.press("Insert ;")
	w.sees("the semicolon", `document.querySelector('.editor textarea').value.includes('init 2;\n')`)
	w.says(".problems .mild", "spare")
	w.sees("its mark", `[...document.querySelectorAll('.editor pre .advised')].some((e) => e.textContent === 'spare')`)
	w.sees("no mark of a problem", `!document.querySelector('.gutter .mark')`)
	w.shoot("advice")
	w.click("go into the properties", propertyText)
	w.key("Enter", "Enter", 13, 2)
	w.says("#status", "Check all: done.")
	w.sees("a result", `document.querySelector('.properties .value').textContent === '0'`)
	w.edit(modelText, "dtmc\nmodule walk\n  place : [0..4] init 2;\n  [] pl")
	w.do("the end", chromedp.Evaluate[chromedp.Void](`(() => { const a = document.querySelector('.editor textarea'); a.focus(); a.setSelectionRange(a.value.length, a.value.length); return true })()`))
	w.key(" ", "Space", 32, 2)
	w.says(".words [aria-selected=true]", "place")
	w.key("Tab", "Tab", 9, 0)
	w.sees("the word", `document.querySelector('.editor textarea').value.endsWith('[] place') && document.activeElement.matches('.editor textarea')`)
	w.key("Tab", "Tab", 9, 0)
	w.sees("another place", `!document.activeElement.matches('.editor textarea')`)
	w.key("?", "Slash", 191, 8)
	w.says("dialog", "Ctrl Enter")
	w.shoot("shortcuts")
	w.named()
}
