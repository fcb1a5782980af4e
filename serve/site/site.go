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
	"tilecheck/serve/page"
)

// Options say what is served, and to whom.
type Options struct {
	API http.Handler
	// Token is asked for with each question: other users of this machine reach every address of it. Empty asks for none.
	Token string
	// Body is the number of bytes of a request at most; 8 MiB if zero.
	Body int64
}

// patience is how long requests may take to end by themselves.
const patience = 300 * time.Millisecond

// Serve answers until the context ends, which is no error. Requests that are under way then are ended.
func Serve(ctx context.Context, l net.Listener, opts Options) error {
	if opts.Body == 0 {
		opts.Body = 8 << 20
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", opts.API)
	mux.Handle("/", &static{page: pageFiles("server"), graphviz: sync.OnceValues(compressed)})
	srv := &http.Server{
		Handler:     newGuard(mux, l.Addr(), opts.Token, opts.Body),
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if srv.Shutdown(soon) != nil {
			_ = srv.Close() // there is nobody left to tell
		}
	}()
	err := srv.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		<-ended
		return nil
	}
	return err
}

// graphvizFile is the Graphviz that draws graphs in the browser, compressed; no server takes the name for an encoding.
const graphvizFile = "graphviz.bin"

// compressed is Graphviz as the page gets it.
func compressed() ([]byte, error) { return squeeze(draw.GraphvizModule()) }

func squeeze(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// pageFiles are the files of the page, told by which transport they reach the API.
func pageFiles(transport string) map[string][]byte {
	files := page.Files()
	files["index.html"] = bytes.Replace(files["index.html"], []byte(`name="tilecheck-transport" content=""`),
		fmt.Appendf(nil, `name="tilecheck-transport" content=%q`, transport), 1)
	return files
}

// static gives out the files of the page, and nothing else.
type static struct {
	page     map[string][]byte
	graphviz func() ([]byte, error)
}

// ServeHTTP implements http.Handler.
func (s *static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
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
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", page.Type(name))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
