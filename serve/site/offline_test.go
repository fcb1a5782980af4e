package site_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"tilecheck/serve/site"
)

// host is a web server that can be taken from the network, and get other files.
type host struct{ now atomic.Pointer[http.Handler] }

func (h *host) set(f http.HandlerFunc) {
	var next http.Handler = f
	h.now.Store(&next)
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*h.now.Load()).ServeHTTP(w, r) }

// kept has browsers keep files as long as they like, as careless hosts do.
func kept(give http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100000")
		give(w, r)
	}
}

// comes waits until a script is true in a page that may still go to another one.
func (p *person) comes(what, script string) {
	p.t.Helper()
	for end := time.Now().Add(45 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise)); err == nil && ok {
			return
		}
	}
	p.shoot("failed")
	p.t.Fatalf("%s does not come", what)
}

// A playground that was visited once works without a network; a new version comes as a whole, whatever the browser has kept;
// and tilecheck serve at its address is what it was before.
func TestOffline(t *testing.T) {
	chromium := browser(t)
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	files, err := made()
	if err != nil {
		t.Fatal(err)
	}
	const second = `fetch('wasm_exec.js').then((r) => r.text()).then((t) => t.startsWith('// the second version'))`
	var h host
	h.set(kept(give(files)))
	s := httptest.NewServer(&h)
	t.Cleanup(s.Close)
	p := visit(t, chromium, "playground", s.URL+"/")
	p.sees("the files are kept", `navigator.serviceWorker.ready.then((r) => r.active?.state === 'activated')`)

	h.set(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	reload := func() {
		p.do("reload", chromedp.Reload())
		p.comes("the page", `!!document.body?.dataset.ready`)
	}
	reload()
	p.says(".properties", "P=? [ F d=6 ]")
	p.press("Check six")
	p.says(".properties .value", "0.16666")
	p.view("explore")
	p.sees("a graph", `document.querySelectorAll('.graph .node').length === 3`)

	next, err := site.Files(site.Program{Module: program.Module, Exec: append([]byte("// the second version\n"), program.Exec...)})
	if err != nil {
		t.Fatal(err)
	}
	p.view("model")
	h.set(kept(give(next)))
	asks[bool](p, `navigator.serviceWorker.getRegistration().then((r) => r.update()).then(() => true)`)
	p.sees("the next version", `navigator.serviceWorker.getRegistration().then((r) => !!r.waiting)`)
	if asks[bool](p, second) {
		t.Error("a page got a file of the next version")
	}
	reload()
	p.comes("the second version", second)
	p.sees("one version", `caches.keys().then((all) => all.length === 1)`)

	server := httputil.NewSingleHostReverseProxy(must(url.Parse(serverOf(t))))
	h.set(func(w http.ResponseWriter, r *http.Request) { r.Host = ""; server.ServeHTTP(w, r) })
	asks[bool](p, `navigator.serviceWorker.getRegistration().then((r) => { r.update(); return true; })`)
	p.comes("the page of the server", `document.querySelector('#about').textContent.includes('on this machine')`)
	p.sees("nothing is kept", `Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then(([a, b]) => a.length + b.length === 0)`)
}
