package site_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/serve"
	"tilecheck/serve/site"
)

// experiment opens the model lossy with a property, gives its constants values, and runs the experiment.
func (p *person) experiment(n, loss string) {
	p.t.Helper()
	w := workplace{person: p}
	w.edit(propertyText, "P=? [ F sent ];\n\"gone\": P=? [ G !sent ];\n")
	w.edit(modelText, lossy)
	p.view("experiments")
	p.run(n, loss)
}

// run runs an experiment with values of the constants of lossy.
func (p *person) run(n, loss string) {
	p.t.Helper()
	p.write("input[data-constant=n]", n)
	p.write("input[data-constant=loss]", loss)
	p.press("Run")
	p.says("#status", " results")
	p.sees("no job", `document.querySelectorAll('#jobs li').length === 0`)
}

// enter presses Enter as a keyboard does: nothing follows a key that is prevented, where KeyEvent goes on to send the letter.
func (p *person) enter() {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// texts is a script for the texts of elements.
func texts(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent).join('|')`, selector)
}

// Experiments stay in a list, are drawn together, renamed and deleted, and survive a reload of the page.
func TestExperimentList(t *testing.T) {
	each(t, func(p *person) {
		p.experiment("1:5", "0.5")
		p.sees("one series", `document.querySelectorAll('.legend li').length === 1`)
		p.run("1:5", "0.25")
		p.sees("both in the plot, and the newest first", texts(".experiments .title")+` === '2: P=? [ F sent ]|1: P=? [ F sent ]' && document.querySelectorAll('.legend li').length === 2`)
		p.press("Rename 1: P=? [ F sent ]")
		p.write(`dialog input`, "half")
		p.click("rename", `//dialog//button[.="Rename"]`)
		p.sees("the name in the list and in the legend", texts(".experiments .title")+`.endsWith('half') && `+texts(".legend li")+`.includes('half, loss=0.5')`)
		p.do("reload", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
		p.view("experiments")
		p.sees("the same after a reload", texts(".experiments .title")+`.endsWith('half') && document.querySelectorAll('.legend li').length === 2`)
		p.sees("its results", `document.querySelectorAll('table[aria-label=Results] tbody tr').length === 10`)
		p.shoot("experiment-list")
		p.click("hide one", `input[aria-label="Plot half"]`)
		p.sees("one series", `document.querySelectorAll('.legend li').length === 1`)
		p.press("Delete half")
		p.sees("one experiment", texts(".experiments .title")+` === '2: P=? [ F sent ]'`)
		p.view("model")
		workplace{person: p}.edit(modelText, lossy+"// changed\n")
		p.view("experiments")
		p.says(".experiments", "of an older text")
		p.press("Delete all")
		p.click("delete", `//dialog//button[.="Delete"]`)
		p.sees("none", `document.querySelectorAll('.experiments li').length === 0 && !Object.keys(localStorage).some((k) => k.startsWith('experiment:'))`)
	})
}

// Experiments run side by side on a server. One that is stopped keeps its results, one that is deleted while it runs does not come back, and one that cannot begin says why.
func TestExperimentStop(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.edit(propertyText, "P=? [ F sent ];\n")
		w.edit(modelText, lossy)
		p.view("experiments")
		p.press("Run")
		p.says("main .error", "n and loss need values")
		p.write("input[data-constant=n]", "1:20")
		p.write("input[data-constant=loss]", "0.001:0.002:0.999")
		p.press("Run")
		p.sees("the first results", `document.querySelectorAll('table[aria-label=Results] tbody tr').length > 0 && !document.querySelector('main .error')`)
		p.says(".experiments", "running…")
		if p.where == "server" { // in the playground the second one waits for the first
			p.press("Run")
			p.sees("two experiments", `document.querySelectorAll('.experiments li').length === 2`)
			p.press("Delete 2: P=? [ F sent ]")
		}
		p.press("Stop Experiment 1")
		p.says(".experiments", "stopped")
		p.sees("no job", `document.querySelectorAll('#jobs li').length === 0`)
		before := asks[string](p, texts(".experiments .soft"))
		p.do("reload", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
		p.view("experiments")
		p.sees("the same after a reload", texts(".experiments .soft")+fmt.Sprintf(` === %q && document.querySelectorAll('.plot .line').length > 0`, before))
		p.shoot("experiment-stopped")
	})
}

// One constant is the axis, and the others make the series. Axes are logarithmic where all values are positive. The title and the names of series can be edited.
func TestExperimentAxes(t *testing.T) {
	each(t, func(p *person) {
		p.experiment("1,2,4,8", "0.2:0.2:0.8")
		p.sees("loss in the names, n on the axis", texts(".legend li")+` === 'loss=0.2|loss=0.4|loss=0.6|loss=0.8'`)
		p.choose(`main .panel select`, "loss")
		p.sees("n in the names, loss on the axis", texts(".legend li")+` === 'n=1|n=2|n=4|n=8' && `+texts(".plot .label")+` === 'loss|value'`)
		at := asks[[]float64](p, `(() => { const b = document.querySelector('.plot .axis').getBoundingClientRect(); return [b.x, b.y, b.width, b.height] })()`)
		p.do("draw a rectangle", chromedp.DragAndDropXY(at[0]+at[2]*0.4, at[1]+at[3]*0.1, at[0]+at[2]*0.6, at[1]+at[3]*0.5))
		p.sees("what is in it", `(() => { const t = [...document.querySelectorAll('.plot .tick.x')].map((e) => Number(e.textContent)); return t[0] > 0.4 && t.at(-1) < 0.6 })()`)
		p.press("Show all")
		p.sees("all", `document.querySelector('.plot .tick.x').textContent === '0.2'`)
		p.choose(`main .panel select`, "n")
		p.click("log x", `//label[contains(.,"log x")]/input`)
		p.click("log y", `//label[contains(.,"log y")]/input`)
		p.sees("a logarithmic axis", texts(".plot .tick.x")+` === '1|2|5'`)
		p.write(`main .panel input[type=text]`, "Sent in time")
		p.says(".plot .title", "Sent in time")
		p.press("Rename the series loss=0.2")
		p.write(`.legend input`, "a good channel")
		p.enter()
		p.says(".legend", "a good channel")
		p.shoot("experiment-log")
		p.named()
		p.do("reload", chromedp.Reload(), chromedp.WaitVisible(`body[data-ready]`))
		p.view("experiments")
		p.says(".legend", "a good channel")
		p.says(".plot .title", "Sent in time")
		p.run("0,1,2", "0.5")
		p.says("main .note", "The x axis cannot be logarithmic: 2: P=? [ F sent ]")
		p.says("main .note", "The y axis cannot be logarithmic")
		p.says("main .note", "want only positive values")
		p.sees("linear axes", `![...document.querySelectorAll('main .panel input[type=checkbox]')].some((b) => b.parentElement.textContent.includes('log') && b.checked)`)
		p.shoot("experiment-log-refused")
	})
}

// The marks of axes are round numbers, also around a single point.
func TestExperimentTicks(t *testing.T) {
	each(t, func(p *person) {
		for _, x := range []struct{ call, want string }{
			{`ticks([0, 1])`, "0.0 0.2 0.4 0.6 0.8 1.0"},
			{`ticks([-0.2, 10.2], {whole: true})`, "0 2 4 6 8 10"},
			{`ticks(extent([3], {whole: true}), {whole: true})`, "2 3 4"},
			{`ticks(extent([0.5], {limits: [0, 1]}))`, "0.46 0.48 0.50 0.52 0.54"},
			{`ticks([0.1666666666, 0.1666666668])`, "0.16666666660 0.16666666665 0.16666666670 0.16666666675 0.16666666680"},
			{`ticks([0, 2e9])`, "0 5e8 1e9 1.5e9 2e9"},
			{`logTicks([1e-9, 1])`, "1e-8 1e-6 1e-4 0.01 1"},
			{`logTicks([0.1, 10])`, "0.1 0.2 0.5 1 2 5 10"},
			{`logTicks([2, 3])`, "2.0 2.2 2.4 2.6 2.8 3.0"},
		} {
			if got := asks[string](p, fmt.Sprintf(`import('./scale.js').then(({ticks, logTicks, extent}) => %s.map(([, text]) => text).join(' '))`, x.call)); got != x.want {
				t.Errorf("%s gives %q, want %q", x.call, got, x.want)
			}
		}
		p.experiment("3", "0.5")
		p.sees("marks around a single point", texts(".plot .tick.x")+` === '2|3|4' && document.querySelectorAll('.plot .tick.y').length >= 3`)
		p.shoot("experiment-single")
	})
}

// A point is read out under the pointer and by keys; the buttons below stay where they are.
func TestExperimentReadOut(t *testing.T) {
	each(t, func(p *person) {
		p.experiment("1:4", "0.2,0.4")
		for _, width := range []int64{1280, 360} {
			p.size(width, 800)
			top := `document.querySelector('.plot').closest('figure').querySelector('button').getBoundingClientRect().top - document.querySelector('.plot').getBoundingClientRect().top`
			p.sees("the layout of the new width", `(() => { const now = `+top+`; const settled = window.topBefore === now; window.topBefore = now; return settled })()`)
			before := asks[float64](p, top)
			p.do("focus the plot", chromedp.Focus(`.plot`), chromedp.KeyEvent(kb.Home))
			p.says(".readout", "loss=0.2: n 1, value 0.8")
			p.do("the next point", chromedp.KeyEvent(kb.ArrowRight))
			p.says(".readout", "loss=0.2: n 2, value 0.96")
			p.do("the next series", chromedp.KeyEvent(kb.ArrowDown))
			p.says(".readout", "loss=0.4: n 2, value 0.84")
			at := asks[[]float64](p, `(() => { const m = [...document.querySelectorAll('.plot g[transform]')].at(-1); m.scrollIntoView({block: 'center'}); const b = m.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`)
			p.do("point", chromedp.MouseEvent("mouseMoved", at[0], at[1]))
			p.says(".readout", "loss=0.4: n 4")
			if after := asks[float64](p, top); after != before {
				t.Errorf("%d wide: the buttons move from %v to %v", width, before, after)
			}
			p.named()
			if found := asks[[]string](p, contrasts); len(found) > 1 {
				t.Errorf("%d wide: %s", width, strings.Join(found[1:], "; "))
			}
			p.shoot(fmt.Sprintf("experiment-%d", width))
			p.do("the first series again", chromedp.Focus(`.plot`), chromedp.KeyEvent(kb.ArrowUp))
		}
	})
}

// The results are saved with a column for each constant, the plot as SVG and PNG, in light colours whatever the page has.
func TestExperimentFiles(t *testing.T) {
	each(t, func(p *person) {
		p.experiment("1,2", "0.25,0.5")
		asks[bool](p, `(document.documentElement.dataset.theme = 'dark', true)`)
		p.choose(`main .panel select`, "loss")
		saved := p.downloads()
		p.press("Save CSV")
		text := saved("experiment.csv")
		lines := strings.Split(text, "\n")
		if !strings.HasPrefix(lines[0], "experiment,property,engine,method,constants_n,constants_loss,value,") || len(lines) != 6 || !strings.Contains(lines[1], ",states,1,0.25,0.75,") {
			t.Errorf("found %q", text)
		}
		p.press("Save SVG")
		picture := saved("experiment.svg")
		for _, want := range []string{"n=2", "#1000ce", "<clipPath", ">value<", `fill="#fff"`} {
			if !strings.Contains(picture, want) {
				t.Errorf("the SVG has no %q", want)
			}
		}
		if strings.Contains(picture, "var(") {
			t.Error("the SVG has variables of the page's style")
		}
		p.press("Save PNG")
		image, err := png.Decode(bytes.NewReader([]byte(saved("experiment.png"))))
		if err != nil {
			t.Fatal(err)
		}
		if size := image.Bounds(); size.Dx() < 600 || size.Dy() < 500 {
			t.Errorf("the PNG has the size %v", size)
		}
		if r, g, b, _ := image.At(2, 2).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff {
			t.Error("the PNG has a dark background")
		}
	})
}

// The results of a file are plotted beside those that were computed here: of PRISM's -exportresults FILE:dataframe, or of a file that was saved here. A
// file without results is refused at its place.
func TestLoadResults(t *testing.T) {
	each(t, func(p *person) {
		p.experiment("1,2", "0.25,0.5")
		dir := t.TempDir()
		load := func(name, text string) {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.press("Load results…")
			p.do("choose "+name, chromedp.SetUploadFiles(`input[type=file]`, []string{file}))
		}
		const results = `document.querySelectorAll('table[aria-label=Results] tbody tr').length`
		load("prism.csv", "Property,n,loss,Probability\nProperty_1,1,0.25,0.75\nProperty_1,2,0.25,0.9375\nProperty_1,2,0.5,0.75\n")
		p.says("#status", "3 results of prism.csv.")
		p.sees("the results of both", results+` === 7`)
		p.says("table[aria-label=Results] tbody tr:nth-child(6)", "0.9375")
		p.sees("its series", `[...document.querySelectorAll('.legend li')].some((e) => e.textContent.includes('prism.csv'))`)
		saved := p.downloads()
		p.press("Save CSV")
		text := saved("experiment.csv")
		load("again.csv", text)
		p.says("#status", "7 results of again.csv.")
		p.sees("the results of all", results+` === 14`)
		p.shoot("experiment-loaded")
		load("wrong.csv", "Property,n,loss,Probability\nProperty_1,1,0.25,much\n")
		p.says("#status", "wrong.csv:2: found the value much, want a number, true or false.")
		load("short.csv", "n,Result\n1,0.5,0.25\n")
		p.says("#status", "short.csv:2: found 3 cells, want 2.")
		p.sees("what was there", results+` === 14`)
	})
}

const twoGoals = `mdp
const double p;
module m
  s : [0..3];
  [left] s=0 -> p : (s'=1) + 1-p : (s'=3);
  [right] s=0 -> 0.8 : (s'=2) + 0.2 : (s'=3);
  [] s>0 -> true;
endmodule
`

// A Pareto curve has its objectives on the axes, and the polygons of what is achievable and of what may be.
func TestExperimentPareto(t *testing.T) {
	each(t, func(p *person) {
		w := workplace{person: p}
		w.edit(propertyText, "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ]);\nmulti(Pmin=? [ F s=1 ], Pmax=? [ F s=2 ]);\n")
		w.edit(modelText, twoGoals)
		p.view("experiments")
		p.write("input[data-constant=p]", "0.3,0.6")
		p.press("Run")
		p.says("#status", "2 results")
		p.sees("the objectives on the axes", texts(".plot .label")+` === 'Pmax=? [ F s=1 ]|Pmax=? [ F s=2 ]'`)
		p.sees("two curves with their polygons", texts(".legend button")+` === 'p=0.3|p=0.6' && document.querySelectorAll('.plot .under').length === 2 && document.querySelectorAll('.plot .over').length === 2`)
		p.do("read out", chromedp.Focus(`.plot`), chromedp.KeyEvent(kb.End))
		p.says(".readout", "Pmax=? [ F s=1 ] 0.6, Pmax=? [ F s=2 ] 0")
		p.shoot("experiment-pareto")
		p.named()
		saved := p.downloads()
		p.press("Save CSV")
		if text := saved("experiment.csv"); !strings.Contains(text, "objective_1,objective_2") || !strings.Contains(text, ",0.3,,0.3,0,") {
			t.Errorf("found %q", text)
		}
	})
}

// wrong is an engine whose values are wrong where n is 2.
type wrong struct{ runner.Engine }

// Name returns the name of the engine.
func (wrong) Name() string { return "wrong" }

// Check returns the verdicts of the embedded engine, some of them with another value.
func (w wrong) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	verdicts, err := w.Engine.Check(ctx, p)
	for i := range verdicts {
		v := &verdicts[i]
		v.Engine = w.Name()
		if result.Valuation(v.Constants).String() == "n=2,loss=0.5" {
			v.Value = result.Value{Kind: result.Number, Num: 0.5}
			v.Bound = &result.Interval{Lo: 0.5, Hi: 0.5}
		}
	}
	return verdicts, err
}

// Where engines disagree is marked in the plot, in the table and in what is read out.
func TestExperimentDisagreement(t *testing.T) {
	chromium := browser(t)
	t.Run("server", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- site.Serve(ctx, l, site.Options{API: serve.New(serve.Options{Version: "test", Engines: []runner.Engine{wrong{native.New()}}})})
		}()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		p := visit(t, chromium, "server", "http://"+l.Addr().String()+"/")
		w := workplace{person: p}
		w.edit(propertyText, "P=? [ F sent ];\n")
		w.edit(modelText, lossy)
		p.view("experiments")
		p.click("both engines", `input[value=wrong]`)
		p.run("1:3", "0.5")
		p.sees("the marks of two points", `document.querySelectorAll('.plot circle.disagree').length === 2`)
		p.says(".legend", "engines disagree here")
		p.sees("the marks of two rows", `document.querySelectorAll('table[aria-label=Results] tbody .bad').length === 2`)
		p.do("read out", chromedp.Focus(`.plot`), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
		p.says(".readout", "native")
		p.says(".readout strong", "wrong 0.5")
		p.shoot("experiment-disagreement")
	})
}

// Series differ in marks, and their colours also for readers who are blind to red or green. Each colour has a contrast of 3 with its background.
func TestExperimentColors(t *testing.T) {
	each(t, func(p *person) {
		found := asks[[]string](p, `Promise.all([import('./marks.js')]).then(([{look, mark, colors}]) => {
			const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
			const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
			// Source: Machado, Oliveira and Fernandes 2009, complete protanopia and deuteranopia.
			const views = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]], [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]];
			// Source: Ottosson 2020, Oklab.
			const oklab = (c) => {
				const [r, g, b] = c.map((x) => Math.min(1, Math.max(0, x)));
				const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b), m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b), s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
				return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
			};
			const out = [];
			for (const theme of ['light', 'dark']) {
				document.documentElement.dataset.theme = theme;
				const style = getComputedStyle(document.documentElement);
				const hex = (name) => { const v = style.getPropertyValue(name).trim(); return v.length === 4 ? '#' + [...v.slice(1)].map((c) => c + c).join('') : v; };
				const back = linear(hex('--panel'));
				const all = Array.from({length: colors}, (_, i) => linear(hex('--s' + i)));
				all.forEach((c, i) => {
					const [x, y] = [light(c), light(back)].sort((a, b) => b - a);
					if ((x + 0.05) / (y + 0.05) < 3) out.push(theme + ': colour ' + i + ' is too close to the background');
					for (let j = 0; j < i; j++) for (const view of views) {
						const seen = [c, all[j]].map((v) => oklab(view.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2])));
						if (Math.hypot(...seen[0].map((v, k) => v - seen[1][k])) < 0.09) out.push(theme + ': colours ' + i + ' and ' + j + ' look the same to some readers');
					}
				});
			}
			const looks = new Set(Array.from({length: 100}, (_, i) => look(i).color + mark(i).outerHTML));
			if (looks.size !== 100) out.push('only ' + looks.size + ' of 100 series look different');
			return out;
		})`)
		for _, x := range found {
			t.Error(x)
		}
		p.experiment("1:3", "0.05:0.05:0.7")
		p.choose(`main .panel select`, "n")
		p.sees("fourteen series", `document.querySelectorAll('.legend li').length === 14`)
		p.shoot("experiment-colours-dark")
		asks[bool](p, `(document.documentElement.dataset.theme = 'light', true)`)
		p.shoot("experiment-colours-light")
	})
}
