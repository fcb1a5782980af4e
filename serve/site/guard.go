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

// Policy is the Content-Security-Policy of the page: it may run its own code and WebAssembly, and
// connect to its own server.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"

const (
	maxLargeBodies = 64               // requests above smallBody that are read at the same time
	smallBody      = 64 << 10         // size in bytes up to which a request does not wait
	bodyTime       = 30 * time.Second // time for a request to arrive
)

// guard accepts only requests from the page.
type guard struct {
	next   http.Handler
	hosts  []string // accepted names of the server; nil accepts all, if other machines can reach it
	token  string
	cross  *http.CrossOriginProtection
	bodies chan struct{}
	limit  int64
}

func newGuard(next http.Handler, addr net.Addr, token string, limit int64) *guard {
	guarded := &guard{next: next, token: token, cross: http.NewCrossOriginProtection(), bodies: make(chan struct{}, maxLargeBodies), limit: limit}
	if tcpAddr, ok := addr.(*net.TCPAddr); token == "" || ok && tcpAddr.IP.IsLoopback() {
		_, port, _ := net.SplitHostPort(addr.String())
		guarded.hosts = []string{addr.String(), "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port}
	}
	return guarded
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", Policy+"; frame-ancestors 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	if !g.isOwnHost(request.Host) {
		http.Error(w, "this server is not called "+sanitize(request.Host), http.StatusForbidden)
		return
	}
	if !strings.HasPrefix(request.URL.Path, "/api/") {
		if request.Method != http.MethodGet && request.Method != http.MethodHead {
			http.Error(w, "want GET", http.StatusMethodNotAllowed)
			return
		}
		g.next.ServeHTTP(w, request)
		return
	}
	g.api(w, request)
}

// sanitize replaces unusual characters of a host name for an error message.
func sanitize(host string) string {
	return strings.Map(func(character rune) rune {
		if character < 0x80 && (character >= 'a' && character <= 'z' || character >= 'A' && character <= 'Z' || character >= '0' && character <= '9' || strings.ContainsRune(".:-[]", character)) {
			return character
		}
		return '?'
	}, host[:min(len(host), 80)])
}

// isOwnHost reports whether a host name is one of the server. It rejects pages of other hosts
// whose name resolves to this machine (DNS rebinding).
func (g *guard) isOwnHost(host string) bool {
	if g.hosts == nil {
		return true
	}
	for _, ownHost := range g.hosts {
		if strings.EqualFold(ownHost, host) {
			return true
		}
	}
	return false
}

// api checks a request to the API and passes it on.
func (g *guard) api(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	}
	if err := g.cross.Check(request); err != nil {
		http.Error(w, "a request from another origin", http.StatusForbidden)
		return
	}
	token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if g.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1 {
		http.Error(w, "want the token that tilecheck serve printed", http.StatusUnauthorized)
		return
	}
	body, status := g.body(w, request)
	if status != http.StatusOK {
		http.Error(w, "the request could not be read: "+http.StatusText(status), status)
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	g.next.ServeHTTP(w, request)
}

// body reads a request within bodyTime. Only maxLargeBodies large requests are read at a time. Small
// requests do not wait for them.
func (g *guard) body(w http.ResponseWriter, request *http.Request) ([]byte, int) {
	controller := http.NewResponseController(w)
	if err := controller.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return nil, http.StatusInternalServerError
	}
	body, err := limited.Read(io.LimitReader(request.Body, smallBody), g.limit)
	if err == nil && len(body) == smallBody {
		select {
		case g.bodies <- struct{}{}:
			defer func() { <-g.bodies }()
		case <-request.Context().Done():
			return nil, http.StatusRequestTimeout
		case <-time.After(bodyTime):
			return nil, http.StatusServiceUnavailable
		}
		body, err = limited.Read(io.MultiReader(bytes.NewReader(body), request.Body), g.limit)
	}
	switch _, large := err.(limited.TooLarge); {
	case large:
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	if err := controller.SetReadDeadline(time.Time{}); err != nil {
		return nil, http.StatusInternalServerError
	}
	return body, http.StatusOK
}
