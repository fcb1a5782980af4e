// Command playground is the page's API in a worker of the browser: package serve, compiled to WebAssembly.
//
//	GOOS=js GOARCH=wasm go build -o playground.wasm ./cmd/playground
//
// It is not run by itself: tilecheck serve --export writes it beside the page, whose worker.js starts it. The worker
// calls tilecheckRequest(id, name, body, tell) for each question and tilecheckCancel(id) when the answer is no longer
// wanted; tell gets each line of the answer. Messages are plain values, so that
// nothing here depends on the page.
package main

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"syscall/js"

	"tilecheck/internal/build"
	"tilecheck/serve"
)

// Limits of a page: a WebAssembly memory has 4 GiB at most, and browsers give less.
const (
	states = 3_000_000
	memory = 1 << 30
	kept   = 512 << 20
)

// open are the requests that are under way.
type open struct {
	mu     sync.Mutex
	cancel map[int]context.CancelFunc
}

func main() {
	h := serve.New(serve.Options{Version: build.Version, Limits: serve.Limits{States: states, Memory: memory, Kept: kept, Work: 1}})
	o := &open{cancel: map[int]context.CancelFunc{}}
	js.Global().Set("tilecheckRequest", js.FuncOf(func(_ js.Value, args []js.Value) any {
		id, name, body, tell := args[0].Int(), args[1].String(), args[2].String(), args[3]
		go o.answer(h, id, name, body, tell)
		return nil
	}))
	js.Global().Set("tilecheckCancel", js.FuncOf(func(_ js.Value, args []js.Value) any {
		o.mu.Lock()
		defer o.mu.Unlock()
		if cancel := o.cancel[args[0].Int()]; cancel != nil {
			cancel()
		}
		return nil
	}))
	js.Global().Call("tilecheckReady")
	select {}
}

func (o *open) answer(h http.Handler, id int, name, body string, tell js.Value) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.mu.Lock()
	o.cancel[id] = cancel
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.cancel, id)
		o.mu.Unlock()
		tell.Invoke(js.Null())
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/api/"+name, bytes.NewReader([]byte(body)))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(&lines{tell: tell, header: http.Header{}}, r)
}

// lines gives the page what is written, which are whole lines.
type lines struct {
	tell   js.Value
	header http.Header
}

// Header implements http.ResponseWriter.
func (l *lines) Header() http.Header { return l.header }

// WriteHeader implements http.ResponseWriter: an error says by itself that it is one.
func (l *lines) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (l *lines) Write(text []byte) (int, error) {
	l.tell.Invoke(string(text))
	return len(text), nil
}
