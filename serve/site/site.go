package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tilecheck/game/solve/draw"
	"tilecheck/serve"
	"tilecheck/serve/page"
)

// Options has the API that is served, and the conditions for access to it.
type Options struct {
	API *serve.API
	// Token is required with each request, because other users of this machine can reach all of
	// its addresses. An empty token disables the check.
	Token string
	// Body is the largest size of a request in bytes; 0 means 8 MiB.
	Body int64
}

// shutdownTimeout is the time that running requests have to finish.
const shutdownTimeout = 300 * time.Millisecond

// Serve answers requests until the context ends. Then it cancels the requests that are still
// running, and returns nil.
func Serve(ctx context.Context, listener net.Listener, opts Options) error {
	if opts.Body == 0 {
		opts.Body = 8 << 20
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", apiHandler{opts.API})
	mux.Handle("/", &static{page: pageFiles("server"), graphviz: sync.OnceValues(graphvizModule)})
	srv := &http.Server{
		Handler:     newGuard(mux, listener.Addr(), opts.Token, opts.Body),
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	shutdownDone := make(chan struct{})
	go func() {
		defer close(shutdownDone)
		<-ctx.Done()
		shutdownContext, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if srv.Shutdown(shutdownContext) != nil {
			_ = srv.Close() // the error has no receiver
		}
	}()
	err := srv.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-shutdownDone
		return nil
	}
	return err
}

// graphvizFile is the compressed Graphviz that draws graphs in the browser. The name has no
// extension that a server would take for an encoding.
const graphvizFile = "graphviz.bin"

// graphvizModule returns the compressed Graphviz.
func graphvizModule() ([]byte, error) { return compress(draw.GraphvizModule()) }

func compress(data []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return buffer.Bytes(), err
}

// pageFiles returns the files of the page, with the transport to the API set in index.html.
func pageFiles(transport string) map[string][]byte {
	files := page.Files()
	files["index.html"] = bytes.Replace(files["index.html"], []byte(`name="tilecheck-transport" content=""`),
		fmt.Appendf(nil, `name="tilecheck-transport" content=%q`, transport), 1)
	return files
}

// static serves the files of the page and nothing else.
type static struct {
	page     map[string][]byte
	graphviz func() ([]byte, error)
}

// ServeHTTP implements http.Handler.
func (s *static) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name := strings.TrimPrefix(request.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	data, ok := s.page[name]
	if name == graphvizFile {
		var err error
		data, err = s.graphviz()
		ok = err == nil
	}
	if !ok {
		http.NotFound(w, request)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", page.Type(name))
	http.ServeContent(w, request, "", time.Time{}, bytes.NewReader(data))
}
