// Command playground is the page's API in a worker of the browser: package serve, compiled to WebAssembly.
//
//	GOOS=js GOARCH=wasm go build -o playground.wasm ./cmd/playground
//
// It does not run alone: tilecheck serve --export writes it beside the page, whose worker.js starts it. The worker
// calls tilecheckRequest(id, name, body, tell) for each question and tilecheckCancel(id) when the answer is no longer
// wanted; it calls tell with each line of the answer. Messages are plain values, so that
// nothing here depends on the page.
package main

import (
	"context"
	"strings"
	"sync"
	"syscall/js"

	"tilecheck/internal/build"
	"tilecheck/serve"
)

// Limits of a page: a WebAssembly memory has 4 GiB at most, and browsers give less.
const (
	maxStates    = 3_000_000
	maxMemory    = 1 << 30
	resultMemory = 512 << 20
)

// openRequests has the requests that are not answered yet.
type openRequests struct {
	mu     sync.Mutex
	cancel map[int]context.CancelFunc
}

// main defines the functions tilecheckRequest and tilecheckCancel for the page, calls tilecheckReady, and then waits for ever.
func main() {
	api := serve.New(serve.Options{Version: build.Version, Limits: serve.Limits{States: maxStates, Memory: maxMemory, Kept: resultMemory, Work: 1}})
	requests := &openRequests{cancel: map[int]context.CancelFunc{}}
	js.Global().Set("tilecheckRequest", js.FuncOf(func(_ js.Value, arguments []js.Value) any {
		id, name, body, sendLine := arguments[0].Int(), arguments[1].String(), arguments[2].String(), arguments[3]
		go requests.answer(api, id, name, body, sendLine)
		return nil
	}))
	js.Global().Set("tilecheckCancel", js.FuncOf(func(_ js.Value, arguments []js.Value) any {
		requests.mu.Lock()
		defer requests.mu.Unlock()
		if cancel := requests.cancel[arguments[0].Int()]; cancel != nil {
			cancel()
		}
		return nil
	}))
	js.Global().Call("tilecheckReady")
	select {}
}

// answer answers a request to the API. It calls sendLine with each line of the answer, and with null at the end. The page can cancel the request
// by its id.
func (o *openRequests) answer(api *serve.API, id int, name, body string, sendLine js.Value) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.mu.Lock()
	o.cancel[id] = cancel
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.cancel, id)
		o.mu.Unlock()
		sendLine.Invoke(js.Null())
	}()
	api.Answer(ctx, name, strings.NewReader(body), func(line []byte, _ serve.Outcome) error {
		sendLine.Invoke(string(line))
		return nil
	})
}
