package site_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tilecheck/internal/needs"
	"tilecheck/serve"
	"tilecheck/serve/page"
	"tilecheck/serve/site"
)

// person looks at a page in a real browser. What no person should meet fails the test: errors on the console, requests to other hosts.
type person struct {
	t        *testing.T
	ctx      context.Context
	where    string // "server" or "playground"
	mu       sync.Mutex
	mistakes []string
	refused  string // the end of the address of a question that is wrong on purpose: browsers log that
	sent     int64  // bytes that were loaded
	gone     bool   // the server was ended on purpose
	asked    int    // how often the browser asked whether to leave the page
}

// each runs a test in the server and in the playground, beside other tests: each has a window of its own, and waits most of the time.
func each(t *testing.T, f func(p *person)) {
	chromium := browser(t)
	t.Parallel()
	for _, where := range []string{"server", "playground"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			at := serverOf(t)
			if where == "playground" {
				at = playgroundOf(t)
			}
			f(visit(t, chromium, where, at))
		})
	}
}

// browser returns a browser for tests that take a while: the first one builds the playground.
func browser(t *testing.T) string {
	t.Helper()
	if !needs.Asked(t, needs.Browser) {
		needs.Full(t)
	}
	return needs.Chromium(t)
}

// serverOf serves the page with a folder of two files.
func serverOf(t *testing.T) string {
	url, _ := serverIn(t, t.TempDir())
	return url
}

// serverIn serves the page with a folder, in which it puts two files. stop ends the server.
func serverIn(t *testing.T, dir string) (url string, stop func()) {
	for name, text := range map[string]string{"walk.prism": walk, "walk.props": "P=? [ F x=4 ];\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders, err := serve.OpenFolders([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- site.Serve(ctx, l, site.Options{API: serve.New(serve.Options{Version: "test", Folders: folders})})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, folders.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return "http://" + l.Addr().String() + "/", stop
}

const walk = `dtmc
module walk
  x : [0..4] init 2;
  [] x>0 & x<4 -> 1/2 : (x'=x-1) + 1/2 : (x'=x+1);
endmodule
label "top" = x=4;
`

// program is that of the playground, which all tests share: it takes the Go toolchain a while.
var program = sync.OnceValues(func() (site.Program, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return site.Program{}, err
	}
	defer os.RemoveAll(dir)
	return site.Make(context.Background(), dir)
})

// made are the files of the playground.
var made = sync.OnceValues(func() (map[string][]byte, error) {
	p, err := program()
	if err != nil {
		return nil, err
	}
	return site.Files(p)
})

// playgroundOf has any web server give out the files.
func playgroundOf(t *testing.T) string {
	files, err := made()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(give(files))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// give gives out files.
func give(files map[string][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		text, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", page.Type(name))
		_, _ = w.Write(text)
	}
}

// sharedBrowser starts a browser once for all tests, because a start takes seconds of processor time.
type sharedBrowser struct {
	once sync.Once
	ctx  context.Context // of the first window, which no test uses
	err  error
	stop []context.CancelFunc
}

var running sharedBrowser

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	running.close()
	os.Exit(code)
}

// open returns the context of the browser, which it starts if it does not run.
func (b *sharedBrowser) open(chromium string) (context.Context, error) {
	b.once.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
			chromedp.WindowSize(1280, 900), chromedp.Flag("disable-background-networking", true))
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, stop := chromedp.NewContext(allocator)
		b.ctx, b.stop, b.err = ctx, []context.CancelFunc{stop, stopAllocator}, chromedp.Do(ctx)
	})
	return b.ctx, b.err
}

func (b *sharedBrowser) close() {
	for _, stop := range b.stop {
		stop()
	}
}

// visit opens the page in a new window. Its storage, cache and service workers are its own.
func visit(t *testing.T, chromium, where, at string) *person {
	ctx, err := running.open(chromium)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	// Every window gets the keys that are sent to it, as if it were the only one.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, ctx: ctx, where: where}
	host := must(url.Parse(at)).Host
	listened := chromedp.Listen(ctx, func(e any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			p.mistakes = append(p.mistakes, "exception: "+fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" || e.Type == "warning" {
				p.mistakes = append(p.mistakes, fmt.Sprintf("console: %s %s", e.Args[0].Value, e.Args[0].Description))
			}
		case *cdplog.EventEntryAdded: // what the policy of the page forbids, among others
			if p.gone && strings.Contains(e.Entry.Text, "ERR_CONNECTION_REFUSED") {
				break
			}
			if e.Entry.Level == "error" && (p.refused == "" || !strings.HasSuffix(e.Entry.URL, p.refused)) {
				p.mistakes = append(p.mistakes, "log: "+e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			u := must(url.Parse(e.Request.URL))
			if u.Host != host && u.Scheme != "data" && u.Scheme != "blob" {
				p.mistakes = append(p.mistakes, "request to "+e.Request.URL)
			}
		case *cdppage.EventJavascriptDialogOpening: // whether to leave the page with changes that are not saved: yes
			p.asked++
			go func() {
				_, _ = chromedp.Call(ctx, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: true})
			}()
		case *network.EventLoadingFinished:
			p.sent += int64(e.EncodedDataLength)
		}
	})
	if listened != nil {
		t.Fatal(listened)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, m := range p.mistakes {
			t.Error(m)
		}
	})
	p.do("open the page", chromedp.Navigate(at), chromedp.WaitVisible(`body[data-ready]`))
	return p
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func (p *person) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 45*time.Second)
	defer cancel()
	for _, action := range actions {
		err := chromedp.Do(ctx, action)
		for replaced(err) {
			err = chromedp.Do(ctx, action)
		}
		if err != nil {
			p.shoot("failed")
			p.t.Fatalf("%s: %v", what, err)
		}
	}
}

// replaced says whether an action failed because the page was drawn anew after its element had been found. The browser reports it before it sends
// any input, so the action can be done again.
func replaced(err error) bool {
	var failure *cdproto.Error
	return errors.As(err, &failure) &&
		slices.Contains([]string{"Could not find node with given id", "Node is detached from document", "Could not compute content quads."}, failure.Message)
}

// sees waits until a script is true. What it asks for may not be in the page yet: then it throws a TypeError.
func (p *person) sees(what, script string) {
	p.t.Helper()
	p.do(what, chromedp.Poll[chromedp.Void]("(() => { try { return "+script+" } catch (e) { if (e instanceof TypeError) return false; throw e } })()", chromedp.WithPollingInterval(50*time.Millisecond)))
}

// says waits until an element has a text.
func (p *person) says(selector, text string) {
	p.t.Helper()
	p.sees(fmt.Sprintf("%s says %q", selector, text), fmt.Sprintf(`(document.querySelector(%q)?.textContent || '').includes(%q)`, selector, text))
}

func (p *person) view(name string) {
	p.t.Helper()
	p.click("view "+name, "#tab-"+name)
	p.do("view "+name, chromedp.WaitVisible(`main[data-view="`+name+`"]`))
}

// press clicks the button with that name.
func (p *person) press(name string) {
	p.t.Helper()
	p.click("press "+name, fmt.Sprintf(`//button[normalize-space(.)=%q or @aria-label=%q]`, name, name))
}

// staysInPlace is a script: whether an element is where it was when the script was last asked for it.
const staysInPlace = `((e) => {
	const { x, y } = e.getBoundingClientRect();
	const before = window.placeBefore;
	window.placeBefore = { e, x, y };
	return before?.e === e && before.x === x && before.y === y;
})`

// click clicks on the element of a CSS selector, or of an XPath that starts with a slash. It waits until the element stays where it is: a page that
// is drawn anew would move it away from the click.
func (p *person) click(what, selector string) {
	p.t.Helper()
	element := fmt.Sprintf(`document.querySelector(%q)`, selector)
	if strings.HasPrefix(selector, "/") {
		element = fmt.Sprintf(`document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue`, selector)
	}
	p.sees(what+": the element to click on", staysInPlace+"("+element+")")
	p.do(what, chromedp.Click(selector))
}

// choose takes an entry of a list.
func (p *person) choose(selector, value string) {
	p.t.Helper()
	p.do("choose "+value, chromedp.WaitVisible(selector), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true})); return true })()`, selector, value)))
}

// write replaces the text of a field.
func (p *person) write(selector, text string) {
	p.t.Helper()
	p.do("clear "+selector, chromedp.WaitVisible(selector), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const s = document.querySelector(%q); s.value = ''; s.dispatchEvent(new Event('input', {bubbles: true})); s.focus(); return true })()`, selector)),
		chromedp.SendKeys(selector, text))
}

// shoot keeps a picture for a person to look at, in TILECHECK_PICTURES or the test's directory of artifacts.
func (p *person) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("TILECHECK_PICTURES")
	if dir == "" {
		dir = p.t.ArtifactDir()
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Error(err)
		return
	}
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, p.where+"-"+name+".png"), png, 0o666)); err != nil {
		p.t.Error(err)
	}
}

// size changes the window.
func (p *person) size(width, height int64) {
	p.t.Helper()
	p.do("resize", chromedp.EmulateViewport(width, height))
	// The page gets to know of its new size after some frames.
	p.sees("the new size", fmt.Sprintf(`(() => { window.looks = innerWidth === %d ? (window.looks || 0) + 1 : 0; if (window.looks < 4) return false; window.looks = 0; return true })()`, width))
}

// named fails for what a screen reader would have no name for, and for what does not fit into the window.
func (p *person) named() {
	p.t.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	wide, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		switch role := strings.Trim(string(n.Role.Value), `"`); role {
		case "button", "textbox", "combobox", "link", "tab", "tabpanel", "checkbox", "spinbutton", "slider", "img", "image", "table", "radio", "graphics-document":
			if n.Name == nil || strings.Trim(string(n.Name.Value), `" `) == "" {
				p.t.Errorf("a %s without a name", role)
			}
		}
	}
	if wide {
		p.t.Error("the page is wider than the window")
	}
}

func TestModelView(t *testing.T) {
	each(t, func(p *person) {
		begun := time.Now()
		p.says(".properties", "P=? [ F d=6 ]")
		p.press("Check six")
		p.says(".properties .value", "0.16666")
		since, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](`performance.now()`))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: first answer %v after it was asked for, %.2f s after the page was; %d bytes loaded", p.where, time.Since(begun), since/1000, p.sent)
		if p.where == "playground" {
			if compiled := must(program()); len(compiled.Module) > 5_000_000 {
				t.Errorf("the program has %d bytes, want 5.0 MB at most", len(compiled.Module))
			}
		}
		if p.sent > 5_100_000 { // with the page, which this server does not compress
			t.Errorf("%d bytes were loaded, want 5.1 MB at most", p.sent)
		}
		p.shoot("model")
		p.named()
		p.write(".editor textarea", "dtmc\nmodule m\nx : [0..3] init 7\nendmodule")
		p.says(".problems", "die.prism:3:18")
		p.shoot("model-problem")
	})
}

func TestExploreView(t *testing.T) {
	each(t, func(p *person) {
		p.view("explore")
		p.sees("the first states", `document.querySelectorAll('.graph .node').length === 3`)
		p.click("expand by clicking", `.graph .node:not(.open)`)
		p.sees("two more states", `document.querySelectorAll('.graph .node').length === 5`)
		p.choose(".field select", "0")
		p.sees("the value of the first state", `[...document.querySelectorAll('.graph .node')].some((n) => n.getAttribute('aria-label').includes('value 0.16667'))`)
		p.press("Path to the goal")
		p.says("#status", "3 steps and probability 1/8")
		p.shoot("explore")
		p.write(`form input`, "s=7 & d=3\r")
		p.says(".found", "1 of all 13 states, 1 of the") // the state was not in the picture: it is added
		p.press("Start again")
		p.press("Expand all")
		p.named()
		p.size(360, 780)
		p.shoot("explore-narrow")
		p.named()
	})
}

// open opens an example of the page by a part of its name.
func (p *person) open(name string) {
	p.t.Helper()
	p.view("model")
	p.do("open "+name, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const s = document.querySelector('select[aria-label="Open an example"]'); s.value = [...s.options].find((o) => o.text.startsWith(%q)).value; s.dispatchEvent(new Event('change')) })()`, name)))
	p.says("#file", name)
}

func TestSimulateView(t *testing.T) {
	each(t, func(p *person) {
		p.open("2048-2x2")
		p.says(".properties", "loss")
		p.view("simulate")
		p.sees("a board", `document.querySelectorAll('.board .tile').length === 4`)
		p.click("take a step", `ul[aria-label="Enabled transitions"] button`)
		p.says("#status", "Step 1")
		p.press("Random steps")
		p.says("#status", "steps, seed 1; the path ends here")
		p.press("Undo")
		p.press("Start")
		p.says("#status", "Step 0")
		p.sees("a value", `document.querySelector('.field select').options.length > 3`)
		p.choose(".field select", "0")
		p.says("section .value", "0.")
		p.press("Start")
		p.click("make optimal choices", `//label[contains(., "Optimal choices")]/input`)
		p.press("Random steps")
		p.says("#status", "steps, seed 1, optimal choices; the path ends here")
		p.shoot("simulate")
		p.named()
	})
}

// A path of the die as a file of this computer, as a person opens one: what it is is said, and what is wrong with one, and the path before stays.
func TestLoadPath(t *testing.T) {
	each(t, func(p *person) {
		dir := t.TempDir()
		load := func(name, text string) {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.press("Load path…")
			// The window of the system in which one chooses is not the page's: the browser is told what was chosen.
			p.do("choose "+name, chromedp.SetUploadFiles(`input[type=file]`, []string{file}))
		}
		p.view("simulate")
		p.says("#status", "Step 0")
		load("six.csv", "action,step,s,d\n-,0,0,0\ndie,1,2,0\ndie,2,6,0\ndie,3,7,6\n")
		p.says("#status", "A path of 3 steps, each of them checked; its probability is 0.125")
		p.sees("four rows", `document.querySelectorAll('table[aria-label=Path] tbody tr').length === 4`)
		p.says("table[aria-label=Path] tbody tr:last-child", "6")
		p.shoot("path-loaded")
		p.mu.Lock()
		p.refused = "/api/follow"
		p.mu.Unlock()
		load("wrong.csv", "action,step,s,d\n-,0,0,0\ndie,1,5,0\n")
		p.says("#status", "wrong.csv:3")
		p.sees("the path before", `document.querySelectorAll('table[aria-label=Path] tbody tr').length === 4`)
		load("none.csv", "\x00")
		p.says("#status", "none.csv")
		p.press("Undo")
		p.says("#status", "Step 2")
	})
}

// 2048 on 2x2 as the picture of an MDP: boards for states, what each is worth, and the best move, expanded by clicking. To 32 optimal play wins
// with a probability that fractions give; the first boards have two tiles.
func TestGamePicture(t *testing.T) {
	each(t, func(p *person) {
		p.open("2048-2x2")
		p.view("explore")
		p.sees("boards", `document.querySelectorAll('.graph .node rect.cell').length >= 4`)
		p.sees("the values", `document.querySelector('.field select').options.length > 3`)
		p.choose(".field select", "0")
		p.sees("values on boards", `[...document.querySelectorAll('.graph .node')].some((n) => n.querySelector('rect.cell') && n.getAttribute('aria-label').includes('value 0.'))`)
		p.press("Expand all")
		p.sees("more boards", `document.querySelectorAll('.graph .node').length > 10 && !!document.querySelector('.graph text.cell.t1')`)
		p.named()
		p.shoot("explore-game")
	})
}

func TestExperimentsView(t *testing.T) {
	each(t, func(p *person) {
		p.open("channel")
		p.write(".editor textarea", "dtmc const int n; const double loss; module m s : [0..2]; k : [0..20]; [] s=0 & k<n -> loss:(k'=k+1) + 1-loss:(s'=1); [] s=0 & k>=n -> (s'=2); endmodule")
		p.write(".editor.low textarea", "P=? [ F s=1 ];")
		p.view("experiments")
		p.write("input[data-constant=n]", "1:10")
		p.write("input[data-constant=loss]", "0.2:0.2:0.8")
		p.press("Run")
		p.says("#status", "40 results")
		p.sees("four series", `document.querySelectorAll('.legend li').length === 4`)
		// 1-0.2^1, by hand
		p.says("tbody tr", "0.8")
		p.press("Zoom in")
		p.shoot("experiments")
		p.named()
	})
}

func TestStrategiesView(t *testing.T) {
	each(t, func(p *person) {
		p.view("strategies")
		p.choose(".row select", "3,3,64")
		p.write(`input[type="number"]`, "64")
		p.press("Compare")
		p.says("#status", "done")
		p.sees("four rows", `document.querySelectorAll('tbody tr').length === 4`)
		p.press("Figure 3.25")
		p.sees("ours beside the published", `document.querySelectorAll('figure')[1].querySelectorAll('.legend li').length === 8`)
		p.says("#status", "Figure 3.25: done")
		p.size(1280, 2200)
		p.shoot("strategies")
		p.named()
	})
}

func TestPlayView(t *testing.T) {
	each(t, func(p *person) {
		p.view("play")
		p.sees("a board", `document.querySelectorAll('.board .tile').length === 16`)
		p.do("keys", chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowRight))
		p.sees("a move", `/[1-9]\d* moves/.test(document.querySelector('p[role="status"]').textContent)`)
		p.choose(".row select", "2,2,16")
		p.sees("a small board", `document.querySelectorAll('.board .tile').length === 4`)
		p.click("hints", `input[type="checkbox"]`)
		p.says(".hint.best", "★")
		p.shoot("play")
		p.do("swipe", chromedp.DragAndDropXY(100, 250, 250, 250), chromedp.DragAndDropXY(100, 250, 100, 380))
		p.sees("a move", `/[1-9]\d* moves/.test(document.querySelector('p[role="status"]').textContent)`)
		p.choose(".row select", "4,4,2048")
		p.says("main section", "what expectimax:")
		p.shoot("play-hints")
		p.write("input[list=specs]", "expectimax:eval=cs221,depth=2")
		p.press("Watch")
		p.sees("moves of a game that goes on", `Number(document.querySelector('input[type="range"]').max) > 20 && Number(document.querySelector('input[type="range"]').value) > 1`)
		p.says("main section", "what expectimax:eval=cs221,depth=2 thinks")
		p.press("Stop")
		p.press("Next")
		p.shoot("play-watch")
		p.named()
		p.size(360, 780)
		p.shoot("play-narrow")
		p.named()
		p.do("a large screen", chromedp.EmulateViewport(3840, 2160))
		p.click("the light theme", "#theme")
		p.click("the dark theme", "#theme")
		p.shoot("play-dark-4k")
	})
}
