package site_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// finger puts a finger down, moves it through places, and lifts it.
func (p *person) finger(what string, places ...[2]float64) {
	p.t.Helper()
	for i, at := range places {
		kind := input.DispatchTouchEventTypeTouchMove
		if i == 0 {
			kind = input.DispatchTouchEventTypeTouchStart
		}
		p.touch(what, kind, &input.TouchPoint{X: at[0], Y: at[1]})
	}
	p.touch(what, input.DispatchTouchEventTypeTouchEnd)
}

func (p *person) touch(what string, kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
	p.t.Helper()
	if points == nil {
		points = []*input.TouchPoint{}
	}
	if _, err := chromedp.Call(p.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// asks is the value of a script, or what a promise comes to.
func asks[T any](p *person, script string) T {
	p.t.Helper()
	x, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	return x
}

// With a finger alone: views by tapping, moves by swiping in the four directions, and no scrolling under the finger.
func TestTouch(t *testing.T) {
	each(t, func(p *person) {
		p.do("a telephone", chromedp.EmulateViewport(360, 780, chromedp.EmulateTouch, chromedp.EmulateMobile))
		// A tap that comes while the browser still handles the gesture before it ends that, and presses nothing: then one taps again.
		tap := func(selector, until string) {
			for range 5 {
				p.sees(selector, fmt.Sprintf(`!!document.querySelector(%q)`, selector))
				at := asks[[]float64](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'nearest', inline: 'nearest'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`, selector))
				p.finger("tap "+selector, [2]float64{at[0], at[1]})
				for range 20 {
					if asks[bool](p, until) {
						return
					}
					time.Sleep(50 * time.Millisecond)
				}
			}
			t.Fatalf("a tap on %s does nothing: not %s", selector, until)
		}
		tap("#tab-play", `document.querySelectorAll('.board .tile').length === 16`)
		board := asks[[]float64](p, `(() => { const b = document.querySelector('.board').getBoundingClientRect(); return [b.x, b.y, b.width, b.height] })()`)
		x, y := board[0]+board[2]/2, board[1]+board[3]/2
		moves := `Number(/(\d+) moves/.exec(document.querySelector('p[role="status"]').textContent)[1])`
		tiles := `[...document.querySelectorAll('.board .tile')].map((t) => t.textContent).join()`
		made := 0
		for i, way := range [][2]float64{{-1, 0}, {0, 1}, {1, 0}, {0, -1}, {-1, 0}, {0, 1}} {
			name := []string{"left", "down", "right", "up", "left", "down"}[i]
			legal := asks[bool](p, fmt.Sprintf(`!document.querySelector('.pad button[aria-label=%q]').disabled`, name))
			before := asks[string](p, tiles)
			p.finger("swipe "+name, [2]float64{x, y}, [2]float64{x + 30*way[0], y + 30*way[1]}, [2]float64{x + 70*way[0], y + 70*way[1]}, [2]float64{x + 100*way[0], y + 100*way[1]})
			if !legal {
				continue
			}
			made++
			p.sees("move "+name, fmt.Sprintf(`%s === %d && document.querySelector('p[role="status"]').textContent.includes(%q)`, moves, made, "last "+name))
			if asks[string](p, tiles) == before {
				t.Errorf("a swipe %s moves no tile", name)
			}
		}
		if made < 4 {
			t.Errorf("%d moves were made", made)
		}
		if top := asks[float64](p, `document.querySelector('main').scrollTop + scrollY`); top > 300 {
			t.Errorf("the page was scrolled by %v under the finger", top)
		}
		tap(`.pad button:not(:disabled)`, fmt.Sprintf(`%s > %d`, moves, made))
		p.shoot("touch")
		p.named()
		tap("#tab-explore", `document.querySelectorAll('.graph .node').length === 3`)
		tap(`.graph .node:not(.open) .box`, `document.querySelectorAll('.graph .node').length > 3`)
	})
}

// contrasts lists the texts whose colour is too close to what is behind them: less than 4.5, or 3 for large ones. What is disabled, and what
// is behind something that is drawn, does not count.
const contrasts = `(() => {
	const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1;
	const pen = canvas.getContext('2d', { willReadFrequently: true });
	const rgba = (c) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); const d = pen.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { const layers = []; for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break; } return layers.reverse().reduce((b, c) => over(c, b), [255, 255, 255, 1]); };
	const out = new Set(); let n = 0;
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const look = (e, text) => {
		const style = getComputedStyle(e);
		if (e.closest(':disabled, [hidden], noscript, title, desc') || !e.getClientRects().length || style.visibility !== 'visible') return;
		const svg = e instanceof SVGElement;
		const colour = rgba(svg ? style.fill : style.color);
		if (colour[3] === 0) return; // the text area, behind which its text is
		let back = behind(svg ? e.ownerSVGElement : e);
		if (svg) { const box = e.classList.contains('cell') ? e.previousElementSibling : e.parentElement.querySelector('.box'); if (box) back = over(rgba(getComputedStyle(box).fill), back); }
		const [a, b] = [light(over(colour, back)), light(back)].sort((x, y) => y - x);
		const size = parseFloat(style.fontSize);
		const least = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700 ? 3 : 4.5;
		n++;
		if ((a + 0.05) / (b + 0.05) < least) out.add(((a + 0.05) / (b + 0.05)).toFixed(2) + ' ' + e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + text.trim().slice(0, 30));
	};
	while (texts.nextNode()) { const t = texts.currentNode; if (t.data.trim()) look(t.parentElement, t.data); }
	for (const e of document.querySelectorAll('input, select, textarea')) look(e, e.value);
	for (const e of document.querySelectorAll('input[placeholder]')) { if (!e.value && e.getClientRects().length && e.placeholder) { const c = light(over(rgba(getComputedStyle(e, '::placeholder').color), behind(e))); const b = light(behind(e)); if ((Math.max(b, c) + 0.05) / (Math.min(b, c) + 0.05) < 4.5) out.add('placeholder ' + e.placeholder); } }
	return [String(n), ...out];
})()`

// Every view, light and dark, as wide as a telephone and as a wall, and on paper: texts have the contrast of WCAG's AA, and nothing is
// wider than the window. The pictures are for a person to look at.
func TestLooks(t *testing.T) {
	chromium := browser(t)
	p := visit(t, chromium, "server", serverOf(t))
	ready := map[string]string{
		"model":       `document.querySelectorAll('.code .kw').length > 3 && document.querySelectorAll('.properties tbody').length > 0`,
		"explore":     `document.querySelectorAll('.graph .node').length > 2`,
		"simulate":    `document.querySelectorAll('ul[aria-label="Enabled transitions"] button').length > 0`,
		"experiments": `true`,
		"strategies":  `true`,
		"play":        `document.querySelectorAll('.board .tile').length === 16`,
	}
	for _, name := range []string{"model", "explore", "simulate", "experiments", "strategies", "play"} {
		p.view(name)
		p.sees(name, ready[name])
		switch name {
		case "explore":
			p.choose(".field select", "0")
			p.sees("values", `[...document.querySelectorAll('.graph .node')].some((n) => n.getAttribute('aria-label').includes('value'))`)
		case "simulate":
			p.press("Random steps")
			p.says("#status", "the path ends here")
		case "play":
			p.click("hints", `input[type="checkbox"]`)
			p.says(".hint.best", "★")
		}
		for _, theme := range []string{"light", "dark"} {
			asks[bool](p, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, true)`, theme))
			for _, size := range [][2]int64{{360, 780}, {1280, 900}, {3840, 2160}} {
				p.size(size[0], size[1])
				p.named()
				found := asks[[]string](p, contrasts)
				if len(found) > 1 {
					t.Errorf("%s, %s, %d wide: %s", name, theme, size[0], strings.Join(found[1:], "; "))
				}
				if found[0] == "0" {
					t.Errorf("%s has no text", name)
				}
				p.shoot(fmt.Sprintf("looks-%s-%s-%d", name, theme, size[0]))
			}
		}
		p.size(794, 1123)
		media := func(kind string) {
			if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind}); err != nil {
				t.Fatal(err)
			}
		}
		media("print") // of the dark page
		if found := asks[[]string](p, contrasts); len(found) > 1 {
			t.Errorf("%s on paper: %s", name, strings.Join(found[1:], "; "))
		}
		if asks[bool](p, `document.documentElement.scrollWidth > document.documentElement.clientWidth || [...document.querySelectorAll('button')].some((b) => b.offsetParent && !b.closest('.problems, .outline, .transitions, .properties th, table.path'))`) {
			t.Errorf("%s on paper is too wide, or has buttons", name)
		}
		if fields := asks[string](p, `[...document.querySelectorAll('main input, #tour')].filter((e) => e.offsetParent && !e.closest('.experiments')).map((e) => e.outerHTML).join()`); fields != "" {
			t.Errorf("%s has on paper %s", name, fields)
		}
		if titles := `th[aria-sort], .properties th button, table.path tbody td:first-child button`; asks[bool](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => !e.offsetParent)`, titles)) {
			t.Errorf("%s lacks titles of columns or numbers of steps on paper", name)
		}
		if name == "model" && !asks[bool](p, `[...document.querySelectorAll('.code pre')].every((e) => e.offsetHeight > 50 && e.scrollHeight <= e.offsetHeight + 1)`) {
			t.Error("the texts are not there on paper in their whole length")
		}
		p.shoot("looks-" + name + "-paper")
		media("")
	}
}

// The editor knows the language: what it says is that of package editor, in the server and in the playground.
func TestWriting(t *testing.T) {
	each(t, func(p *person) {
		area := ".editor textarea"
		p.sees("colours", `['kw', 'nu', 'co', 'mo'].every((c) => document.querySelector('.editor pre .' + c))`)
		p.write(area, "dtmc\nconst int limit = 4;\nmodule walk\nplace : [0..limit] init 2;\n[] pl")
		p.do("ask what can stand there", chromedp.KeyEvent(" ", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		p.says(".words [aria-selected=true]", "place")
		// As a keyboard does it: what is prevented types nothing, where KeyEvent goes on to send the letter.
		enter := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, enter); err != nil {
			t.Fatal(err)
		}
		p.sees("the word", `document.querySelector('.editor textarea').value.endsWith('[] place')`)
		p.do("go on", chromedp.SendKeys(area, "<limit -> (place'=place+1);\nendmodule"))
		p.says("span.soft[role=status]", "4 problems") // the properties are of another model
		p.sees("the colour of a constant", `[...document.querySelectorAll('.editor pre .cn')].filter((e) => e.textContent === 'limit').length === 3`)
		asks[bool](p, `(() => { const a = document.querySelector('.editor textarea'); const at = a.value.indexOf('<limit') + 2; a.setSelectionRange(at, at); return true })()`)
		p.do("what is this", chromedp.KeyEvent("i", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		p.says(".words.tip", "const int limit = 4;")
		p.says(".words.tip", "constant, used 2 times")
		p.shoot("writing")
		p.do("no more", chromedp.KeyEvent(kb.Escape))
		p.press("Format the model")
		p.sees("the layout", `document.querySelector('.editor textarea').value === "dtmc\nconst int limit = 4;\nmodule walk\n  place : [0..limit] init 2;\n  [] place<limit -> (place'=place+1);\nendmodule\n"`)
		p.do("undo", chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		p.sees("the text before", `!document.querySelector('.editor textarea').value.includes('  place')`)
		p.write(area, "dtmc module")
		p.press("Format the model")
		p.says("#status", "✕ die.prism:1:11")
		p.named()
	})
}

// A model of ten thousand lines has its colours where one looks, at once where one scrolls, and its numbers beside them.
func TestLongText(t *testing.T) {
	each(t, func(p *person) {
		area := ".editor textarea"
		asks[bool](p, `(() => {
			let text = 'mdp\nconst int N = 9; // 😀\n';
			for (let i = 0; i < 20; i++) {
				text += 'module M' + i + '\n  x' + i + ' : [0..N] init 0;\n';
				for (let j = 0; j < 490; j++) text += '  [a' + j % 7 + '] x' + i + '=' + j % 10 + " -> 0.5:(x" + i + "'=min(x" + i + "+1,N)) + 0.5:true; // " + j + '\n';
				text += 'endmodule\n';
			}
			const a = document.querySelector('.editor textarea');
			a.value = text;
			a.dispatchEvent(new Event('input', {bubbles: true}));
			return true;
		})()`)
		// What is seen of the coloured text is what is seen of the text, in the same place, and each line has its number.
		agree := `(() => {
			const a = document.querySelector('.editor textarea'); const pre = document.querySelector('.editor pre');
			const lines = a.value.split('\n'); const first = Math.ceil(a.scrollTop / 20); const shown = pre.textContent.split('\n');
			const from = Math.round((pre.getBoundingClientRect().top - a.getBoundingClientRect().top + a.scrollTop - pre.scrollTop) / 20);
			const numbers = document.querySelector('.gutter div');
			const number = Math.round((numbers.getBoundingClientRect().top - a.getBoundingClientRect().top - 8 + a.scrollTop) / 20);
			return [0, 5, 15].every((i) => lines[first + i] === shown[first + i - from] && numbers.textContent.split('\n')[first + i - number].replace('✕', '') === String(first + i + 1))
				&& [...pre.querySelectorAll('.cn')].some((e) => e.textContent === 'N') && !!pre.querySelector('.co') && pre.querySelectorAll('.kw').length > 5
				&& pre.children.length < 20000;
		})()`
		p.sees("colours at the beginning", agree)
		p.shoot("long")
		for _, at := range []int{100_000, 40_021, 1 << 30} {
			asks[bool](p, fmt.Sprintf(`(document.querySelector('.editor textarea').scrollTop = %d, true)`, at))
			p.sees("colours further down", agree)
		}
		asks[bool](p, `(() => { const a = document.querySelector('.editor textarea'); const at = a.value.indexOf('module M10') + 7; a.focus(); a.setSelectionRange(at, at); a.scrollTop = 20 * 4900; return true })()`)
		p.do("type", chromedp.SendKeys(area, "K"))
		p.sees("the colour of what is typed", `[...document.querySelectorAll('.editor pre .mo')].some((e) => e.textContent === 'KM10')`)
		p.sees("colours while typing", agree)
		p.do("a mistake", chromedp.SendKeys(area, "("))
		p.says(".problems", "die.prism:4")
		p.sees("its mark", `document.querySelector('.gutter .mark')?.textContent.startsWith('✕4')`)
		p.shoot("long-mistake")
		if whole := asks[bool](p, `(dispatchEvent(new Event('beforeprint')), document.querySelector('.editor pre').textContent.trim() === document.querySelector('.editor textarea').value.trim())`); !whole {
			t.Error("the whole text is not there for paper")
		}
		if left := asks[int](p, `(dispatchEvent(new Event('afterprint')), document.querySelector('.editor pre').textContent.split('\n').length)`); left > 300 {
			t.Errorf("afterwards %d lines are painted, want what one sees", left)
		}
	})
}
