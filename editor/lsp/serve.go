package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"tilecheck/editor"
)

// Options say how to serve.
type Options struct {
	Editor  editor.Options
	Version string // of the server
}

// ErrNoShutdown is the error of a client that has gone without a word.
var ErrNoShutdown = errors.New("the client ended without shutdown")

// Serve answers a client until it says exit or its end of the stream is closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{opts: opts, files: editor.New(opts.Editor), exit: cancel}
	conn := jsonrpc2.NewConn(newTolerant(jsonrpc2.NewHeaderStream(pipe{in, out})), jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	s.ctx = ctx
	conn.Go(ctx, s.handle(protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler)))
	select {
	case <-ctx.Done():
	case <-conn.Done():
	}
	cancel()
	s.working.Wait()
	_ = conn.Close()
	switch {
	case s.left.Load():
		return nil
	case context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return context.Cause(ctx)
	}
	return ErrNoShutdown
}

// codec reads and writes the unions of the protocol.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error { return protocol.Unmarshal(data, v) }

// pipe is both ends of a stream. The reader is not closed: standard input may be in
// the middle of a read, which ends with the process.
type pipe struct {
	io.Reader
	io.Writer
}

func (p pipe) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		go func() { _ = c.Close() }()
	}
	return nil
}

// handle lets requests run while further messages are read, with the texts as they are
// now. The context of a request is one of ours: that of the connection is used again once
// the request is answered, and goroutines that wait for it crash.
func (s *server) handle(next jsonrpc2.Handler) jsonrpc2.Handler {
	var running requests
	answer := func(conn context.Context, req *jsonrpc2.Request) (any, error) {
		switch {
		case changes(req.Method()):
			return next(s.ctx, req)
		case req.Method() == protocol.MethodCancelRequest:
			var params protocol.CancelParams
			if err := protocol.Unmarshal(req.Params(), &params); err != nil {
				return nil, err
			}
			running.cancel(params.ID)
			return nil, nil
		}
		ctx, done := running.begin(context.WithValue(s.ctx, snapshotKey{}, s.now()), req.ID())
		defer done()
		jsonrpc2.Async(conn)
		result, err := next(ctx, req)
		if ctx.Err() != nil {
			return nil, protocol.ErrRequestCancelled
		}
		if errors.Is(err, jsonrpc2.ErrParse) { // the message itself has been parsed
			err = fmt.Errorf("%w: %w", jsonrpc2.ErrInvalidParams, err)
		}
		return result, err
	}
	return func(conn context.Context, req *jsonrpc2.Request) (any, error) {
		result, err := answer(conn, req)
		if !req.ID().IsValid() { // one of the many that are not for us, and ends the connection if it has an error
			return nil, nil
		}
		return result, err
	}
}

// requests are those that are being answered.
type requests struct {
	mu      sync.Mutex
	cancels map[protocol.ProgressToken]context.CancelFunc
}

func (r *requests) begin(parent context.Context, id jsonrpc2.ID) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	token := tokenOf(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancels == nil {
		r.cancels = make(map[protocol.ProgressToken]context.CancelFunc)
	}
	r.cancels[token] = cancel
	return ctx, func() {
		r.mu.Lock()
		delete(r.cancels, token)
		r.mu.Unlock()
		cancel()
	}
}

func (r *requests) cancel(id protocol.ProgressToken) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.cancels[id]; cancel != nil {
		cancel()
	}
}

func tokenOf(id jsonrpc2.ID) protocol.ProgressToken {
	if n, ok := id.Number(); ok {
		return protocol.Integer(n)
	}
	text, _ := id.StringValue()
	return protocol.String(text)
}

// changes reports whether a message is handled before the next one is read.
func changes(method string) bool {
	switch method {
	case protocol.MethodInitialize, protocol.MethodInitialized, protocol.MethodShutdown, protocol.MethodExit,
		protocol.MethodTextDocumentDidOpen, protocol.MethodTextDocumentDidChange, protocol.MethodTextDocumentDidSave, protocol.MethodTextDocumentDidClose:
		return true
	}
	return false
}

type snapshotKey struct{}

// snapshot is that of a request.
func (s *server) snapshot(ctx context.Context) snapshot {
	if x, ok := ctx.Value(snapshotKey{}).(snapshot); ok {
		return x
	}
	return s.now()
}
