package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tilecheck/game/solve"
	"tilecheck/internal/ending"
	"tilecheck/internal/limited"
	"tilecheck/internal/progress"
	"tilecheck/native"
	"tilecheck/report/locate"
	"tilecheck/result"
	"tilecheck/runner"
)

// Options configures the API.
type Options struct {
	Version string
	// Engines are offered in addition to the embedded one.
	Engines []runner.Engine
	// Folders contain the files that the page can read and write; nil means none.
	Folders *Folders
	// Tables are solved games, which give the hints on their boards. The caller closes them.
	Tables []*solve.Table
	Limits Limits
}

// Limits are limits on one request, unless stated otherwise. Zero means the default.
type Limits struct {
	Time   time.Duration // 5 minutes
	States int           // 20 million
	Memory int64         // bytes of a state space; 4 GiB
	Body   int64         // bytes of a request; 8 MiB
	// Work is the number of requests that compute at the same time; others wait. The default
	// is the number of processors, but at least two.
	Work int
	// Kept is the memory for cached state spaces, in bytes; 1 GiB.
	Kept int64
}

func (l Limits) complete() Limits {
	set := func(x *int64, otherwise int64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	if l.Time == 0 {
		l.Time = 5 * time.Minute
	}
	if l.States == 0 {
		l.States = 20_000_000
	}
	if l.Work == 0 {
		l.Work = max(2, runtime.GOMAXPROCS(0))
	}
	set(&l.Memory, 4<<30)
	set(&l.Body, 8<<20)
	set(&l.Kept, 1<<30)
	return l
}

// maxWaiting is the largest number of requests that compute or wait.
const maxWaiting = 512

// handler is the API.
type handler struct {
	Options
	mux    *http.ServeMux
	native *native.Engine
	models *cache[*model]
	tables *cache[*solvedGame]
	texts  *cache[*texts]
	work   chan struct{} // semaphore for the requests that compute
	queue  chan struct{} // semaphore for the requests that compute or wait
}

// New returns the API, which is safe for concurrent use.
func New(opts Options) http.Handler {
	opts.Limits = opts.Limits.complete()
	h := &handler{
		Options: opts, mux: http.NewServeMux(), native: native.New(),
		models: newCache[*model](opts.Limits.Kept), tables: newCache[*solvedGame](opts.Limits.Kept / 4), texts: newCache[*texts](opts.Limits.Kept / 4),
		work: make(chan struct{}, opts.Limits.Work), queue: make(chan struct{}, maxWaiting),
	}
	h.routes()
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

func (h *handler) routes() {
	route(h, "info", quick, h.info)
	route(h, "examples", quick, h.examples)
	route(h, "generate", quick, h.generate)
	route(h, "files", quick, h.files)
	route(h, "open", quick, h.open)
	route(h, "save", quick, h.save)
	route(h, "diagnose", quick, h.diagnose)
	route(h, "complete", quick, h.complete)
	route(h, "hover", quick, h.hover)
	route(h, "layout", quick, h.layout)
	route(h, "colours", quick, h.colours)
	route(h, "check", slow, h.check)
	route(h, "graph", slow, h.graph)
	route(h, "find", slow, h.find)
	route(h, "predecessors", slow, h.predecessors)
	route(h, "components", slow, h.components)
	route(h, "path", slow, h.path)
	route(h, "why", slow, h.why)
	route(h, "step", slow, h.step)
	route(h, "walk", slow, h.walk)
	route(h, "follow", slow, h.follow)
	route(h, "experiment", slow, h.experiment)
	route(h, "agreement", quick, h.agreement)
	route(h, "strategies", slow, h.strategies)
	route(h, "published", quick, h.published)
	route(h, "turn", quick, h.turn)
	route(h, "hints", slow, h.hints)
	route(h, "watch", slow, h.watch)
	route(h, "replay", slow, h.replay)
}

// weight says whether a request needs a long computation.
type weight bool

const (
	quick weight = false
	slow  weight = true
)

// badRequest is an error in the request, not in the model.
type badRequest struct{ error }

// Unwrap returns the error itself.
func (b badRequest) Unwrap() error { return b.error }

func badf(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }

// route registers a kind of request. f returns the answer, and may send parts of it before.
func route[Q any](h *handler, name string, w weight, f func(ctx context.Context, q *Q, out *reply) (any, error)) {
	h.mux.HandleFunc("/api/"+name, func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := ending.After(r.Context(), h.Limits.Time)
		defer cancel()
		out := &reply{w: rw, gone: cancel}
		answer, err := func() (any, error) {
			q := new(Q)
			if err := h.read(r, q); err != nil {
				return nil, err
			}
			if w == slow {
				leave, err := h.enter(ctx)
				if err != nil {
					return nil, err
				}
				defer leave()
			}
			return f(ctx, q, out)
		}()
		out.end(answer, err)
	})
}

// read decodes a request.
func (h *handler) read(r *http.Request, q any) error {
	if r.Method != http.MethodPost {
		return badf("method %s, want POST", r.Method)
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return badf("content of type %q, want application/json", kind)
	}
	body, err := limited.Read(r.Body, h.Limits.Body)
	if err != nil {
		return badRequest{err}
	}
	if !utf8.Valid(body) { // the decoder would silently replace bytes
		return badf("the request is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return badf("the request is not as wanted: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badf("there is something behind the object of the request")
	}
	return nil
}

// errBusy says that too many requests are waiting.
var errBusy = errors.New("too many requests at a time; try again soon")

// enter waits until the request may compute.
func (h *handler) enter(ctx context.Context) (leave func(), err error) {
	select {
	case h.queue <- struct{}{}:
	default:
		return nil, errBusy
	}
	select {
	case h.work <- struct{}{}:
		return func() { <-h.work; <-h.queue }, nil
	case <-ctx.Done():
		<-h.queue
		return nil, ctx.Err()
	}
}

// reply sends the answer to a request. It is safe for concurrent use.
type reply struct {
	mu           sync.Mutex
	w            http.ResponseWriter
	gone         func() // cancels the request when the client no longer reads
	lastProgress time.Time
	sent         bool
	done         bool
}

// part sends a part of the answer under a name.
func (o *reply) part(name string, value any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.line(http.StatusOK, name, value)
	}
}

// line writes one line of the answer.
func (o *reply) line(status int, name string, value any) {
	text, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		text, err = json.Marshal(map[string]any{"error": failure{Message: "answer: " + err.Error()}})
		if err != nil {
			panic(err) // a string can always be encoded
		}
		o.done = true
	}
	if !o.sent {
		o.w.Header().Set("Content-Type", "application/x-ndjson")
		o.w.Header().Set("Cache-Control", "no-store")
		o.w.WriteHeader(status)
		o.sent = true
	}
	// A client that stops reading must not block other requests. Only connections have deadlines.
	c := http.NewResponseController(o.w)
	_ = c.SetWriteDeadline(time.Now().Add(readingTime(len(text))))
	_, err = o.w.Write(append(text, '\n'))
	if err == nil {
		err = c.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		o.done = true
		o.gone()
	}
}

// readingTime returns the time a client has to read n bytes.
func readingTime(n int) time.Duration {
	const (
		least = 2 * time.Second
		rate  = 100 << 10 // bytes per second
	)
	return least + time.Duration(n)*time.Second/rate
}

// progress reports progress, a few times per second.
func (o *reply) progress(p progress.Progress) {
	o.mu.Lock()
	due := time.Since(o.lastProgress) > 150*time.Millisecond
	if due {
		o.lastProgress = time.Now()
	}
	o.mu.Unlock()
	if due {
		o.part("progress", progressOf(p))
	}
}

type progressLine struct {
	Property  string            `json:"property,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Done      int64             `json:"done"`
	Target    int64             `json:"target,omitempty"`
	Unit      string            `json:"unit,omitempty"`
	Estimate  result.JSONNumber `json:"estimate,omitempty"`
	HalfWidth result.JSONNumber `json:"half_width,omitempty"`
}

func progressOf(p progress.Progress) progressLine {
	return progressLine{p.Property, p.Detail, p.Done, p.Target, string(p.Unit), result.JSONNumber(p.Estimate), result.JSONNumber(p.HalfWidth)}
}

// end sends the answer or the error.
func (o *reply) end(answer any, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.done:
	case err != nil:
		o.line(statusOf(err), "error", failureOf(err))
	default:
		o.line(http.StatusOK, "answer", answer)
	}
	o.done = true
}

// failure is an error in JSON.
type failure struct {
	Message string         `json:"message"`
	Class   result.Class   `json:"class,omitempty"`
	Kind    string         `json:"kind,omitempty"` // "changed": the file has changed since it was opened
	Places  []result.Place `json:"places,omitempty"`
}

func failureOf(err error) failure {
	out := failure{Message: err.Error(), Places: locate.Places(err)}
	if f, ok := errors.AsType[*result.Failure](err); ok {
		out.Class = f.Class
	}
	if errors.Is(err, errChanged) {
		out.Kind = "changed"
	}
	return out
}

func statusOf(err error) int {
	var large limited.TooLarge
	switch {
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, new(badRequest)):
		return http.StatusBadRequest
	}
	return http.StatusUnprocessableEntity
}
