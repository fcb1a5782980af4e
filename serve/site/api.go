package site

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tilecheck/serve"
)

// apiHandler answers a POST of JSON to /api/NAME with the lines of serve.API.
type apiHandler struct{ api *serve.API }

// ServeHTTP implements http.Handler.
func (h apiHandler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if err := wellFormed(request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := &lines{w: w}
	h.api.Answer(request.Context(), strings.TrimPrefix(request.URL.Path, "/api/"), request.Body, response.send)
}

// wellFormed returns an error unless a request is a POST of JSON. Browsers let a page of another site send other kinds of requests without a check.
func wellFormed(request *http.Request) error {
	if request.Method != http.MethodPost {
		return fmt.Errorf("method %s, want POST", request.Method)
	}
	if kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return fmt.Errorf("content of type %q, want application/json", kind)
	}
	return nil
}

// lines writes the lines of an answer. The first one decides the status.
type lines struct {
	w    http.ResponseWriter
	sent bool
}

// send implements serve.Send. A client that stops reading must not block other requests, so each line has a deadline.
func (l *lines) send(line []byte, outcome serve.Outcome) error {
	if !l.sent {
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.Header().Set("Cache-Control", "no-store")
		l.w.WriteHeader(statusOf(outcome))
		l.sent = true
	}
	controller := http.NewResponseController(l.w)
	_ = controller.SetWriteDeadline(time.Now().Add(readingTime(len(line)))) // only connections have deadlines
	_, err := l.w.Write(line)
	if err == nil {
		err = controller.Flush()
	}
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// readingTime returns the time a client has to read n bytes.
func readingTime(n int) time.Duration {
	const (
		least = 2 * time.Second
		rate  = 100 << 10 // bytes per second
	)
	return least + time.Duration(n)*time.Second/rate
}

func statusOf(outcome serve.Outcome) int {
	switch outcome {
	case serve.Answered:
		return http.StatusOK
	case serve.NoQuestion:
		return http.StatusNotFound
	case serve.Busy:
		return http.StatusServiceUnavailable
	case serve.TooLarge:
		return http.StatusRequestEntityTooLarge
	case serve.Malformed:
		return http.StatusBadRequest
	}
	return http.StatusUnprocessableEntity
}
