package site

import (
	"bytes"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"tilecheck/internal/limited"
)

// Policy is what the page may do: run its own code and that of WebAssembly, and talk to where it comes from.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"

const (
	mostBodies = 64               // larger than smallBody that are read at a time
	smallBody  = 64 << 10         // bytes of a request that waits for no others
	bodyTime   = 30 * time.Second // in which a request has to arrive
)

// guard lets requests through that come from the page.
type guard struct {
	next   http.Handler
	hosts  []string // that the server may be called; nil for any, where others than this machine reach it
	token  string
	cross  *http.CrossOriginProtection
	bodies chan struct{}
	limit  int64
}

func newGuard(next http.Handler, addr net.Addr, token string, limit int64) *guard {
	g := &guard{next: next, token: token, cross: http.NewCrossOriginProtection(), bodies: make(chan struct{}, mostBodies), limit: limit}
	if a, ok := addr.(*net.TCPAddr); token == "" || ok && a.IP.IsLoopback() {
		_, port, _ := net.SplitHostPort(addr.String())
		g.hosts = []string{addr.String(), "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port}
	}
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", Policy+"; frame-ancestors 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	if !g.called(r.Host) {
		http.Error(w, "this server is not called "+safe(r.Host), http.StatusForbidden)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "want GET", http.StatusMethodNotAllowed)
			return
		}
		g.next.ServeHTTP(w, r)
		return
	}
	g.api(w, r)
}

// safe is a name of others for an error: letters, digits and what is between them in names of hosts.
func safe(host string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".:-[]", r)) {
			return r
		}
		return '?'
	}, host[:min(len(host), 80)])
}

// called reports whether the server may be called so. A page of somebody else whose name suddenly stands for this machine is refused.
func (g *guard) called(host string) bool {
	if g.hosts == nil {
		return true
	}
	for _, h := range g.hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// api lets a question of the page through.
func (g *guard) api(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	}
	if err := g.cross.Check(r); err != nil {
		http.Error(w, "a request from another origin", http.StatusForbidden)
		return
	}
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if g.token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) != 1 {
		http.Error(w, "want the token that tilecheck serve printed", http.StatusUnauthorized)
		return
	}
	body, status := g.body(w, r)
	if status != http.StatusOK {
		http.Error(w, "the request could not be read: "+http.StatusText(status), status)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.next.ServeHTTP(w, r)
}

// body reads a request, within some time. Small requests do not wait for large ones that arrive slowly.
func (g *guard) body(w http.ResponseWriter, r *http.Request) ([]byte, int) {
	c := http.NewResponseController(w)
	if err := c.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return nil, http.StatusInternalServerError
	}
	body, err := limited.Read(io.LimitReader(r.Body, smallBody), g.limit)
	if err == nil && len(body) == smallBody {
		select {
		case g.bodies <- struct{}{}:
			defer func() { <-g.bodies }()
		case <-r.Context().Done():
			return nil, http.StatusRequestTimeout
		case <-time.After(bodyTime):
			return nil, http.StatusServiceUnavailable
		}
		body, err = limited.Read(io.MultiReader(bytes.NewReader(body), r.Body), g.limit)
	}
	switch _, large := err.(limited.TooLarge); {
	case large:
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return nil, http.StatusInternalServerError
	}
	return body, http.StatusOK
}
