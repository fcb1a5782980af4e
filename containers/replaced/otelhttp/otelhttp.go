// Package otelhttp passes requests on and traces none. See README.md of the folder above.
package otelhttp

import (
	"cmp"
	"net/http"

	"go.opentelemetry.io/otel/trace"
)

// Transport is a transport of the program's own.
type Transport struct{ base http.RoundTripper }

// Option is ignored.
type Option struct{}

// NewTransport returns a transport that does what base does, or http.DefaultTransport if base is nil.
func NewTransport(base http.RoundTripper, _ ...Option) *Transport {
	return &Transport{cmp.Or(base, http.DefaultTransport)}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.base.RoundTrip(r) }

// WithSpanNameFormatter is ignored.
func WithSpanNameFormatter(func(operation string, r *http.Request) string) Option { return Option{} }

// WithTracerProvider is ignored.
func WithTracerProvider(trace.TracerProvider) Option { return Option{} }
