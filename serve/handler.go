package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
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
	set := func(limit *int64, otherwise int64) {
		if *limit == 0 {
			*limit = otherwise
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

// API answers the questions of the page. It is safe for concurrent use.
type API struct {
	Options
	answers map[string]answer // by the names of questions
	native  *native.Engine
	models  *cache[*model]
	tables  *cache[*solvedGame]
	texts   *cache[*texts]
	work    chan struct{} // semaphore for the requests that compute
	queue   chan struct{} // semaphore for the requests that compute or wait
}

// answer answers a question, an object of JSON, and sends the lines of the answer.
type answer func(ctx context.Context, question io.Reader, send Send)

// Send takes one line of an answer. An error means that nobody reads the lines any more.
type Send func(line []byte, outcome Outcome) error

// Outcome says what a line of an answer is.
type Outcome int

const (
	Answered   Outcome = iota // a part of the answer, or its end
	Failed                    // an error in the model or in its computation
	Malformed                 // an error in the question
	TooLarge                  // the question is larger than Limits.Body
	Busy                      // too many questions are waiting
	NoQuestion                // no question has that name
)

// New returns an API.
func New(opts Options) *API {
	opts.Limits = opts.Limits.complete()
	api := &API{
		Options: opts, answers: map[string]answer{}, native: native.New(),
		models: newCache[*model](opts.Limits.Kept), tables: newCache[*solvedGame](opts.Limits.Kept / 4), texts: newCache[*texts](opts.Limits.Kept / 4),
		work: make(chan struct{}, opts.Limits.Work), queue: make(chan struct{}, maxWaiting),
	}
	api.routes()
	return api
}

// Answer answers a question; name is its kind. It sends lines of JSON, each with a newline: any number of parts, then "answer" or "error".
func (h *API) Answer(ctx context.Context, name string, question io.Reader, send Send) {
	answer := h.answers[name]
	if answer == nil {
		response := &reply{send: send, gone: func() {}}
		names := slices.Sorted(maps.Keys(h.answers))
		response.end(nil, fmt.Errorf("%w, want %s", errNoQuestion, strings.Join(names, ", ")))
		return
	}
	answer(ctx, question, send)
}

// errNoQuestion is the error for a name that no question has.
var errNoQuestion = errors.New("there is no such question")

func (h *API) routes() {
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
	route(h, "export", slow, h.export)
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

// route registers the function that answers requests with the given name. handle returns the answer. Before it returns, it can send parts of the answer
// to response.
func route[Q any](api *API, name string, weight weight, handle func(ctx context.Context, decoded *Q, response *reply) (any, error)) {
	api.answers[name] = func(ctx context.Context, question io.Reader, send Send) {
		ctx, cancel := ending.After(ctx, api.Limits.Time)
		defer cancel()
		response := &reply{send: send, gone: cancel}
		answer, err := func() (any, error) {
			decoded := new(Q)
			if err := api.read(question, decoded); err != nil {
				return nil, err
			}
			if weight == slow {
				leave, err := api.enter(ctx, response)
				if err != nil {
					return nil, err
				}
				defer leave()
			}
			return handle(ctx, decoded, response)
		}()
		response.end(answer, err)
	}
}

// read decodes a request.
func (h *API) read(question io.Reader, target any) error {
	body, err := limited.Read(question, h.Limits.Body)
	if err != nil {
		return badRequest{err}
	}
	if !utf8.Valid(body) { // the decoder would silently replace bytes
		return badf("the request is not UTF-8")
	}
	if escape := halfOfPair(body); escape != "" { // so would it replace this
		return badf("found %s in the request, half of a surrogate pair, want both halves", escape)
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return badf("the request is not as wanted: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return badf("there is something behind the object of the request")
	}
	return nil
}

// halfOfPair returns the first Unicode escape in a JSON text, such as \ud800, that is half of a surrogate pair without the other half. It returns "" if there
// is none.
func halfOfPair(text []byte) string {
	for {
		start := bytes.IndexByte(text, '\\')
		if start < 0 {
			return ""
		}
		text = text[start:]
		switch first := escaped(text); {
		case !utf16.IsSurrogate(first):
			text = text[min(2, len(text)):]
		case utf16.DecodeRune(first, escaped(text[6:])) == utf8.RuneError:
			return string(text[:6])
		default:
			text = text[12:]
		}
	}
}

// escaped returns the character of the Unicode escape with which a text begins, or 0 if it begins with something else.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	code, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(code)
}

// errBusy says that too many requests are waiting.
var errBusy = errors.New("too many requests at a time; try again soon")

// enter waits until fewer than Limits.Work requests compute. It tells the client if it has to wait.
func (h *API) enter(ctx context.Context, response *reply) (leave func(), err error) {
	select {
	case h.queue <- struct{}{}:
	default:
		return nil, errBusy
	}
	leave = func() { <-h.work; <-h.queue }
	select {
	case h.work <- struct{}{}:
		return leave, nil
	default:
	}
	response.part("waiting", true)
	select {
	case h.work <- struct{}{}:
		response.part("waiting", false)
		return leave, nil
	case <-ctx.Done():
		<-h.queue
		return nil, ctx.Err()
	}
}

// reply sends the answer to a request. It is safe for concurrent use.
type reply struct {
	mu           sync.Mutex
	send         Send
	gone         func() // cancels the request when the client no longer reads
	lastProgress time.Time
	done         bool
}

// part sends a part of the answer under a name.
func (o *reply) part(name string, value any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.line(Answered, name, value)
	}
}

// line writes one line of the answer.
func (o *reply) line(outcome Outcome, name string, value any) {
	text, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		text, err = json.Marshal(map[string]any{"error": failure{Message: "answer: " + err.Error()}})
		if err != nil {
			panic(err) // a string can always be encoded
		}
		o.done = true
	}
	if err := o.send(append(text, '\n'), outcome); err != nil {
		o.done = true
		o.gone()
	}
}

// progress reports progress, a few times per second.
func (o *reply) progress(update progress.Progress) {
	o.mu.Lock()
	due := time.Since(o.lastProgress) > 150*time.Millisecond
	if due {
		o.lastProgress = time.Now()
	}
	o.mu.Unlock()
	if due {
		o.part("progress", progressOf(update))
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
		o.line(outcomeOf(err), "error", failureOf(err))
	default:
		o.line(Answered, "answer", answer)
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
	failure := failure{Message: err.Error(), Places: locate.Places(err)}
	if resultFailure, ok := errors.AsType[*result.Failure](err); ok {
		failure.Class = resultFailure.Class
	}
	if errors.Is(err, errChanged) {
		failure.Kind = "changed"
	}
	return failure
}

func outcomeOf(err error) Outcome {
	var large limited.TooLarge
	switch {
	case errors.Is(err, errNoQuestion):
		return NoQuestion
	case errors.Is(err, errBusy):
		return Busy
	case errors.As(err, &large):
		return TooLarge
	case errors.As(err, new(badRequest)):
		return Malformed
	}
	return Failed
}
