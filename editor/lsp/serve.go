package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
)

// Options configures a server.
type Options struct {
	Editor  editor.Options
	Version string // of the server
	Check   Check  // checks a property; nil if the server does not
}

// ErrNoShutdown is the error if the client ends without the request shutdown.
var ErrNoShutdown = errors.New("the client ended without shutdown")

// Serve reads messages of a client from in and writes the answers to out, until the client sends exit or closes the stream. It returns nil if the
// client has sent shutdown before, otherwise the cause of the context or ErrNoShutdown.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &server{opts: opts, files: editor.New(opts.Editor), exit: cancel, ctx: ctx, client: &conn{in: bufio.NewReaderSize(in, 1<<16), out: out}}
	server.methods = server.methodTable()
	go func() {
		defer cancel()
		server.readAll()
	}()
	<-ctx.Done()
	server.mu.Lock()
	server.stopping = true
	server.mu.Unlock()
	server.working.Wait()
	if closer, ok := in.(io.Closer); ok {
		go func() { _ = closer.Close() }() // may block until a read of standard input ends
	}
	if server.cleanExit.Load() {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return ErrNoShutdown
}

// readAll handles the messages of the client until the stream or the server ends. It answers an invalid message with an error.
func (s *server) readAll() {
	var running requests
	for s.ctx.Err() == nil {
		incoming, err := s.client.read()
		if _, ok := errors.AsType[*rpcError](err); ok {
			_ = s.client.reply(nil, nil, err)
			continue
		}
		if err != nil {
			return
		}
		s.receive(incoming, &running)
	}
}

// receive handles a message. It handles changes of texts before it returns. It starts a goroutine for any other request, which gets the texts of this
// moment. It ignores responses, because no request of the server needs one.
func (s *server) receive(incoming *message, running *requests) {
	method, isKnown := s.methods[incoming.Method]
	switch {
	case incoming.Method == "$/cancelRequest":
		var params protocol.CancelParams
		if json.Unmarshal(incoming.Params, &params) == nil {
			running.cancel(string(params.ID))
		}
	case incoming.ID == nil:
		if isKnown {
			_, _ = method.run(s.ctx, incoming.Params)
		}
	case incoming.Method == "" && incoming.Result == nil && incoming.Error == nil:
		_ = s.client.reply(incoming.ID, nil, &rpcError{codeInvalidRequest, "the message has an id and no method"})
	case incoming.Method == "":
	case !isKnown:
		_ = s.client.reply(incoming.ID, nil, &rpcError{codeMethodNotFound, "unknown method " + incoming.Method})
	case method.changes:
		result, err := method.run(s.ctx, incoming.Params)
		_ = s.client.reply(incoming.ID, result, err)
	default:
		ctx, end := running.begin(context.WithValue(s.ctx, snapshotKey{}, s.now()), string(incoming.ID))
		s.start(func() {
			defer end()
			s.answer(ctx, incoming, method)
		})
	}
}

// answer runs the method of a request and sends the response. The response to a cancelled request is an error.
func (s *server) answer(ctx context.Context, incoming *message, method method) {
	result, err := method.run(ctx, incoming.Params)
	_, hasCode := errors.AsType[*rpcError](err)
	if ctx.Err() != nil && !hasCode {
		result, err = nil, &rpcError{codeRequestCancelled, "cancelled"}
	}
	_ = s.client.reply(incoming.ID, result, err)
}

// start runs f in a goroutine, unless the server is ending.
func (s *server) start(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.working.Go(f)
	}
}

// method handles a request or a notification.
type method struct {
	run     func(ctx context.Context, params json.RawMessage) (any, error)
	changes bool // must be handled before the next message is read
}

// methodTable returns the methods by their names in the protocol.
func (s *server) methodTable() map[string]method {
	return map[string]method{
		"initialize":                        change(s.initialize),
		"initialized":                       change(s.ignore),
		"shutdown":                          change(s.shutdown),
		"exit":                              change(s.end),
		"workspace/didChangeConfiguration":  change(s.didChangeConfiguration),
		"textDocument/didOpen":              change(s.didOpen),
		"textDocument/didChange":            change(s.didChange),
		"textDocument/didSave":              change(s.didSave),
		"textDocument/didClose":             change(s.didClose),
		"textDocument/definition":           request(s.definition),
		"textDocument/references":           request(s.references),
		"textDocument/documentHighlight":    request(s.documentHighlight),
		"textDocument/hover":                request(s.hover),
		"textDocument/prepareRename":        request(s.prepareRename),
		"textDocument/rename":               request(s.rename),
		"textDocument/completion":           request(s.completion),
		"textDocument/documentSymbol":       request(s.documentSymbol),
		"textDocument/codeLens":             request(s.codeLens),
		"textDocument/inlayHint":            request(s.inlayHint),
		"workspace/executeCommand":          request(s.executeCommand),
		"textDocument/codeAction":           request(s.codeAction),
		"textDocument/formatting":           request(s.formatting),
		"textDocument/semanticTokens/full":  request(s.semanticTokensFull),
		"textDocument/semanticTokens/range": request(s.semanticTokensRange),
	}
}

// request returns the method that decodes its parameters and calls f with them. It runs concurrently with other requests.
func request[P any](handle func(context.Context, *P) (any, error)) method {
	return method{run: func(ctx context.Context, raw json.RawMessage) (any, error) {
		params := new(P)
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, params); err != nil {
				return nil, &rpcError{codeInvalidParams, err.Error()}
			}
		}
		return handle(ctx, params)
	}}
}

// change returns a method like request, which must end before the next message is read.
func change[P any](f func(context.Context, *P) (any, error)) method {
	m := request(f)
	m.changes = true
	return m
}

// requests are the running requests.
type requests struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by the IDs of the requests, as the client wrote them
}

// begin adds a request and returns its context. The caller must call done when the request has ended.
func (r *requests) begin(parent context.Context, id string) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancels == nil {
		r.cancels = make(map[string]context.CancelFunc)
	}
	r.cancels[id] = cancel
	return ctx, func() {
		r.mu.Lock()
		delete(r.cancels, id)
		r.mu.Unlock()
		cancel()
	}
}

// cancel cancels a request, if it is running.
func (r *requests) cancel(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.cancels[id]; cancel != nil {
		cancel()
	}
}

// snapshotKey is the key of the snapshot in the context of a request.
type snapshotKey struct{}

// snapshot returns the texts at the time when the server received the request of the context.
func (s *server) snapshot(ctx context.Context) snapshot {
	if texts, ok := ctx.Value(snapshotKey{}).(snapshot); ok {
		return texts
	}
	return s.now()
}
