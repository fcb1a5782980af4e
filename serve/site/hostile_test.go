package site_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tilecheck/serve"
	"tilecheck/serve/site"
)

// target is a server with small limits, two folders and a secret beside them.
type target struct {
	at, host string
	dir      string
	client   *http.Client
}

func aim(t *testing.T, token string, limits serve.Limits) *target {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("open/m.prism", walk)
	write("open/deep/n.prism", walk)
	write("one/only.prism", walk)
	write("one/other.prism", "secret")
	write("secret.prism", "secret")
	for name, to := range map[string]string{"open/link.prism": "../secret.prism", "open/out": "..", "open/absolute.prism": filepath.Join(dir, "secret.prism")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	folders, err := serve.OpenFolders([]string{filepath.Join(dir, "open"), filepath.Join(dir, "one", "only.prism")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	opts := site.Options{API: serve.New(serve.Options{Folders: folders, Limits: limits}), Token: token, Body: 1 << 20}
	go func() { done <- site.Serve(ctx, l, opts) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err := errors.Join(err, folders.Close()); err != nil {
				t.Error(err)
			}
		case <-time.After(time.Second):
			t.Error("the server does not end within a second")
		}
	})
	return &target{at: "http://" + l.Addr().String(), host: l.Addr().String(), dir: dir, client: &http.Client{Timeout: 20 * time.Second}}
}

var small = serve.Limits{Time: 2 * time.Second, States: 20_000, Memory: 64 << 20, Kept: 64 << 20}

// send sends a request, which change may spoil, and returns the status and the text of the answer.
func (a *target) send(t *testing.T, path, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, a.at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", a.at)
	if change != nil {
		change(r)
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// object is a question about a model.
func object(model, props string, more ...any) string {
	q := map[string]any{"model": model, "props": props}
	for i := 0; i+1 < len(more); i += 2 {
		q[more[i].(string)] = more[i+1]
	}
	text, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Each of these is refused with the status, and says nothing of what it must not.
func TestHostileRequests(t *testing.T) {
	a := aim(t, "", small)
	is := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	open := func(path string) string { return fmt.Sprintf(`{"path":%q}`, path) }
	deep := strings.Repeat("[", 100_000)
	for _, tt := range []struct {
		name, path, body string
		change           func(*http.Request)
		status           int
	}{
		{"a name that was bound anew", "/api/info", `{}`, is("evil.example"), 403},
		{"the same with our port", "/api/info", `{}`, is("evil.example:" + strings.Split(a.host, ":")[1]), 403},
		{"another port", "/api/info", `{}`, is("localhost:1"), 403},
		{"an empty port", "/api/info", `{}`, is("localhost:"), 403},
		{"a name that begins like ours", "/api/info", `{}`, is("localhost.evil.example"), 403},
		{"the page under another name", "/index.html", ``, func(r *http.Request) { r.Method = "GET"; r.Host = "evil.example" }, 403},
		{"another origin", "/api/info", `{}`, header("Origin", "http://evil.example"), 403},
		{"an origin of this machine with another port", "/api/info", `{}`, header("Origin", "http://localhost:1"), 403},
		{"no origin at all, from elsewhere", "/api/info", `{}`, header("Sec-Fetch-Site", "cross-site"), 403},
		{"a page of the same site", "/api/info", `{}`, header("Sec-Fetch-Site", "same-site"), 403},
		{"the origin of a sandbox", "/api/info", `{}`, header("Origin", "null"), 403},
		{"a form", "/api/info", `{}`, header("Content-Type", "text/plain"), 400},
		{"a form with fields", "/api/info", `a=b`, header("Content-Type", "application/x-www-form-urlencoded"), 400},
		{"no type", "/api/info", `{}`, header("Content-Type", ""), 400},
		{"GET", "/api/info", ``, method("GET"), 405},
		{"DELETE", "/api/save", ``, method("DELETE"), 405},
		{"OPTIONS", "/api/info", ``, method("OPTIONS"), 405},
		{"PUT of the page", "/index.html", `x`, method("PUT"), 405},
		{"POST to the page", "/", `x`, nil, 405},
		{"a question that there is not", "/api/exec", `{}`, nil, 404},
		{"a path within the API", "/api/../../etc/passwd", `{}`, nil, 0},
		{"a file of the machine", "/../../etc/passwd", ``, method("GET"), 404},
		{"a file of the machine, encoded", "/%2e%2e/%2e%2e/etc/passwd", ``, method("GET"), 404},
		{"the folder as a page", "/open/m.prism", ``, method("GET"), 404},
		{"no object", "/api/check", ``, nil, 400},
		{"half an object", "/api/check", `{"model":`, nil, 400},
		{"two objects", "/api/info", `{}{}`, nil, 400},
		{"a field that there is not", "/api/info", `{"shell":"rm"}`, nil, 400},
		{"another type", "/api/check", `{"model":{"a":1}}`, nil, 400},
		{"very deep", "/api/check", `{"model":` + deep, nil, 400},
		{"too long", "/api/check", `{"model":"` + strings.Repeat("x", 1<<21) + `"}`, nil, 413},
		{"not UTF-8", "/api/open", "{\"path\":\"\xff\xfe\"}", nil, 400},
		{"above the folders", "/api/open", open("open/../secret.prism"), nil, 400},
		{"far above the folders", "/api/open", open("../../../../etc/passwd.prism"), nil, 400},
		{"an absolute name", "/api/open", open("/etc/passwd"), nil, 400},
		{"an absolute name within", "/api/open", open("open//etc/passwd.txt"), nil, 400},
		{"a link out", "/api/open", open("open/link.prism"), nil, 400},
		{"an absolute link out", "/api/open", open("open/absolute.prism"), nil, 400},
		{"through a folder that is a link", "/api/open", open("open/out/secret.prism"), nil, 400},
		{"the neighbour of a single file", "/api/open", open("one/other.prism"), nil, 400},
		{"a zero in a name", "/api/open", `{"path":"open/m.prism\u0000"}`, nil, 400},
		{"a hidden file", "/api/open", open("open/.m.prism"), nil, 400},
		{"a file of another kind", "/api/open", open("open/id_rsa"), nil, 400},
		{"a folder", "/api/open", open("open/deep"), nil, 400},
		{"Windows's way up", "/api/open", open(`open/..\secret.prism`), nil, 400},
		{"write above", "/api/save", `{"path":"open/../new.prism","text":"x"}`, nil, 400},
		{"write through a link", "/api/save", `{"path":"open/link.prism","text":"x"}`, nil, 400},
		{"write over what was not read", "/api/save", `{"path":"open/m.prism","text":"x"}`, nil, 422},
		{"write a program", "/api/save", `{"path":"open/run.sh","text":"x"}`, nil, 400},
		{"a strategy from a file", "/api/hints", `{"rows":2,"cols":2,"tile":16,"strategy":"optimal:file=/etc/passwd"}`, nil, 400},
		{"a table as large as the machine", "/api/hints", `{"rows":4,"cols":4,"tile":2048,"cells":[2,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"strategy":"optimal"}`, nil, 400},
		{"a board without an end", "/api/turn", `{"rows":100000,"cols":100000,"tile":2048}`, nil, 400},
		{"a board of negative size", "/api/turn", `{"rows":-1,"cols":-1,"tile":2048}`, nil, 400},
		{"tiles that there are not", "/api/turn", `{"rows":2,"cols":2,"tile":16,"cells":[3,5,7,-1],"dir":"left"}`, nil, 400},
		{"games without end", "/api/strategies", `{"rows":2,"cols":2,"tile":16,"strategies":["random","opposite"],"samples":99999999999}`, nil, 400},
		{"a state outside of its range", "/api/graph", object(walk, "", "open", [][]int32{{99}}), nil, 400},
		{"a state of another model", "/api/step", object(walk, "", "state", []int32{1, 2, 3}), nil, 400},
		{"more states than are drawn", "/api/graph", object(walk, "", "open", make([][]int32, 400)), nil, 400},
		{"a walk without end", "/api/walk", object(walk, "", "steps", 1<<40), nil, 400},
		{"a property that there is not", "/api/graph", object(walk, "P=? [ F x=4 ];", "property", 7), nil, 422},
		{"an engine that there is not", "/api/check", object(walk, "P=? [ F x=4 ];", "engine", "/bin/sh"), nil, 400},
	} {
		status, text := a.send(t, tt.path, tt.body, tt.change)
		if tt.status != 0 && status != tt.status {
			t.Errorf("%s: status %d (%.200s), want %d", tt.name, status, text, tt.status)
		}
		if strings.Contains(text, "secret") && !strings.Contains(tt.body, "secret") || strings.Contains(text, "root:") {
			t.Errorf("%s: the answer has the secret: %s", tt.name, text)
		}
		if status == 200 && tt.status != 0 {
			t.Errorf("%s: answered %.200s", tt.name, text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(a.dir, "secret.prism")); err != nil || string(text) != "secret" {
		t.Errorf("the secret is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "new.prism")); err == nil {
		t.Error("a file was written above the folders")
	}
	if status, text := a.send(t, "/api/info", `{}`, nil); status != 200 || !strings.Contains(text, "answer") {
		t.Errorf("afterwards: %d %s", status, text)
	}
}

// Models that want more than there is are ended, with a reason, and hurt nobody else.
func TestHostileModels(t *testing.T) {
	limits := small
	limits.Time, limits.States = 400*time.Millisecond, 2000
	a := aim(t, "", limits)
	script := `<img src=x onerror=alert(1)>`
	for _, tt := range []struct{ name, path, body, want string }{
		{"more states than allowed", "/api/check", object("dtmc module m x:[0..2000000]; [] x<2000000 -> 1:(x'=x+1); endmodule", "P=? [ F x=3 ];"), "2000 states"},
		{"more states than allowed, to look for one", "/api/find", object("dtmc module m x:[0..2000000]; [] x<2000000 -> 1:(x'=x+1); endmodule", "", "expr", "x=5", "all", true), "2000 states"},
		{"an experiment of a million points", "/api/experiment", object("dtmc const int n; module m x:[0..1]; [] x<1 -> 1:(x'=x+1); endmodule", "P=? [ F x=n ];", "const", "n=0:1000000"), "error"},
		{"an experiment of more points than there are numbers", "/api/experiment", object("dtmc const double n; module m x:[0..1]; [] x<1 -> 1:(x'=x+1); endmodule", "P=? [ F x>n ];", "const", "n=0:1e-300:1"), "error"},
		{"samples without end", "/api/check", object("dtmc module m x:[0..1]; [] x<1 -> 0.5:(x'=1)+0.5:true; endmodule", "P=? [ F x=1 ];", "method", "ci", "samples", 1<<50, "select", []int{0}), "limit"},
		{"a formula that doubles", "/api/diagnose", object("dtmc "+doubling(60)+" module m x:[0..1]; [] f60>0 -> true; endmodule", ""), "answer"},
		{"a million commands' product", "/api/graph", object(product(12), ""), ""},
		{"parentheses", "/api/diagnose", object("dtmc module m x:[0..1] init "+strings.Repeat("(", 50_000)+"0", ""), ""},
		{"markup for a name", "/api/diagnose", object("dtmc module m x:[0..1]; endmodule label \""+script+"\" = true;", ""), "found"},
		{"overflow", "/api/graph", object("dtmc module m x:[0..2147483647] init 2147483647; [] true -> 1:(x'=x+1); endmodule", ""), "error"},
		{"no initial state", "/api/step", object("dtmc module m x:[0..1]; endmodule init x>5 endinit", ""), "error"},
		{"a division by zero", "/api/step", object("dtmc module m x:[0..1]; [] 1/x>0 -> 1/x:(x'=1); endmodule", ""), ""},
	} {
		begun := time.Now()
		status, text := a.send(t, tt.path, tt.body, nil)
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("%s: took %v, want about the limit", tt.name, took)
		}
		if status == 0 || status == 500 || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %.300s, want %q", tt.name, status, text, tt.want)
		}
		if strings.Contains(text, "<img") { // JSON says \u003c
			t.Errorf("%s: markup in the answer: %.300s", tt.name, text)
		}
	}
}

func doubling(n int) string {
	var b strings.Builder
	fmt.Fprint(&b, "formula f0 = x; ")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "formula f%d = f%d+f%d; ", i, i-1, i-1)
	}
	return b.String()
}

// product is modules that all synchronise with several commands each.
func product(n int) string {
	var b strings.Builder
	fmt.Fprint(&b, "mdp ")
	for i := range n {
		fmt.Fprintf(&b, "module m%d x%d:[0..3]; [a] true -> (x%d'=1); [a] true -> (x%d'=2); [a] true -> (x%d'=3); endmodule ", i, i, i, i, i)
	}
	return b.String()
}

// Without the token nobody learns anything, and every answer forbids what a page of others could do with it.
func TestToken(t *testing.T) {
	a := aim(t, "s3cret-token", small)
	for value, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer s3cret-toke": 401, "Basic s3cret-token": 401, "Bearer s3cret-token": 200} {
		if got, text := a.send(t, "/api/info", `{}`, header("Authorization", value)); got != want {
			t.Errorf("authorization %q: %d %s, want %d", value, got, text, want)
		}
	}
	resp, err := a.client.Get(a.at + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
	} {
		if got := resp.Header.Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("the answer is for %q", got)
	}
}

// A server of this machine alone that has a token is still not called by other names.
func TestTokenAndName(t *testing.T) {
	a := aim(t, "s3cret-token", small)
	status, text := a.send(t, "/api/info", `{}`, func(r *http.Request) {
		r.Host = "evil.example"
		r.Header.Set("Authorization", "Bearer s3cret-token")
	})
	if status != http.StatusForbidden {
		t.Errorf("%d %s, want 403", status, text)
	}
}

// Requests whose bodies never arrive do not keep others waiting.
func TestSlowBodies(t *testing.T) {
	a := aim(t, "", small)
	for range 80 {
		c, err := net.Dial("tcp", a.host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /api/info HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{", a.host)
	}
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	if status, text := a.send(t, "/api/info", `{}`, nil); status != 200 || time.Since(begun) > 5*time.Second {
		t.Errorf("%d %.100s after %v", status, text, time.Since(begun))
	}
}

// A closed tab ends its work: the place of a request that is gone is free for the next one.
func TestClosedTab(t *testing.T) {
	a := aim(t, "", serve.Limits{Time: time.Minute, Work: 1})
	body := object("dtmc module m x:[0..1]; [] x<1 -> 1e-9:(x'=1)+1-1e-9:true; endmodule", "P=? [ F x=1 ];", "method", "ci", "samples", 1<<40, "select", []int{0})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.at+"/api/check", bytes.NewReader([]byte(body)))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		if resp, err := a.client.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	time.Sleep(200 * time.Millisecond)
	cancel()
	<-done
	begun := time.Now()
	if status, text := a.send(t, "/api/check", object(walk, "P=? [ F x=4 ];"), nil); status != 200 || !strings.Contains(text, "0.5") {
		t.Errorf("the next request: %d %s", status, text)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the next request took %v: the work of the closed tab went on", took)
	}
}

// A hundred requests at once are all answered, and the page meanwhile.
func TestHundredRequests(t *testing.T) {
	a := aim(t, "", serve.Limits{Time: 20 * time.Second, States: 50_000, Memory: 64 << 20})
	var wg sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for i := range 100 {
		wg.Go(func() {
			model := fmt.Sprintf("dtmc module m x:[0..%d] init 1; [] x>0 & x<%d -> 0.5:(x'=x-1)+0.5:(x'=x+1); endmodule", 200+i, 200+i)
			status, text := a.send(t, "/api/check", object(model, "P=? [ F x=0 ];"), nil)
			if status != 200 || !strings.Contains(text, `{"verdict":`) {
				mu.Lock()
				defer mu.Unlock()
				if failed++; failed == 1 {
					t.Errorf("request %d: %d %.300s", i, status, text)
				}
			}
		})
	}
	begun := time.Now()
	if status, _ := a.send(t, "/api/info", `{}`, nil); status != 200 || time.Since(begun) > 3*time.Second {
		t.Errorf("meanwhile the page waits %v for an answer (%d)", time.Since(begun), status)
	}
	wg.Wait()
	a.client.CloseIdleConnections()
	for range 50 {
		if runtime.NumGoroutine() < 60 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left", runtime.NumGoroutine())
}
