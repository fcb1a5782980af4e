package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"tilecheck/editor/lsp"
)

// client is the other end of a server, in plain JSON.
type client struct {
	t           *testing.T
	conn        jsonrpc2.Conn
	diagnostics chan json.RawMessage
	stopping    chan error
}

func start(t *testing.T) *client { return startWith(t, lsp.Options{}) }

func startWith(t *testing.T, opts lsp.Options) *client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	c := &client{t: t, diagnostics: make(chan json.RawMessage, 1000), stopping: make(chan error, 1)}
	go func() { c.stopping <- lsp.Serve(t.Context(), toServer, fromServer, opts); fromServer.Close() }()
	c.conn = jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(duplex{toClient, fromClient}))
	c.conn.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() == "textDocument/publishDiagnostics" {
			c.diagnostics <- json.RawMessage(strings.Clone(string(req.Params())))
		}
		return nil, nil
	})
	t.Cleanup(func() { fromClient.Close(); toClient.Close() })
	c.call("initialize", map[string]any{"capabilities": map[string]any{}}, nil)
	return c
}

type duplex struct {
	*io.PipeReader
	*io.PipeWriter
}

func (d duplex) Close() error { return errors.Join(d.PipeReader.Close(), d.PipeWriter.Close()) }

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if _, err := c.conn.Call(c.t.Context(), method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) tell(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(c.t.Context(), method, params); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) open(u uri.URI, text string) {
	c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": u, "languageId": "prism", "version": 1, "text": text}})
}

// told waits for the diagnostics of a version.
func (c *client) published(version int) string {
	c.t.Helper()
	for {
		select {
		case d := <-c.diagnostics:
			var got struct {
				Version     int
				Diagnostics json.RawMessage
			}
			if err := json.Unmarshal(d, &got); err != nil {
				c.t.Fatal(err)
			}
			if got.Version == version {
				return string(got.Diagnostics)
			}
		case <-time.After(20 * time.Second):
			c.t.Fatalf("no diagnostics of version %d", version)
		}
	}
}

// Changes come in order, however many; what is told is about the last text. Columns are those of UTF-16.
func TestChanges(t *testing.T) {
	c := start(t)
	u := uri.File(filepath.Join(t.TempDir(), "m.prism"))
	text := "dtmc\nmodule M // 😀\n  x : [0..2];\nendmodule\n"
	c.open(u, text)
	if got := c.published(1); got != "[]" {
		t.Fatalf("at first %s", got)
	}
	// Type " //😀 [] true -> tru;" letter by letter in front of endmodule.
	col := 0
	for i, letter := range []string{"/", "/", "😀", "\n", "[", "]", " ", "y", "=", "1", " ", "-", ">", " ", "t", "r", "u", "e", ";"} {
		line := 3
		if i > 3 {
			line = 4
		}
		if i == 4 {
			col = 0
		}
		at := map[string]int{"line": line, "character": col}
		c.tell("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": u, "version": 2 + i},
			"contentChanges": []any{map[string]any{"range": map[string]any{"start": at, "end": at}, "text": letter}},
		})
		if col++; letter == "😀" {
			col++
		}
	}
	got := c.published(2 + 18)
	if !strings.Contains(got, `"start":{"line":4,"character":3},"end":{"line":4,"character":4}`) || strings.Count(got, "message") != 1 {
		t.Errorf("at last %s", got)
	}
	var hover jsonrpc2.RawMessage
	c.call("textDocument/hover", at(u, 2, 2), &hover)
	if !strings.Contains(string(hover), `"start":{"line":2,"character":2}`) {
		t.Errorf("hover %s", hover)
	}
	c.call("shutdown", nil, nil)
	c.tell("exit", nil)
	if err := <-c.stopping; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func at(u uri.URI, line, col int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": u}, "position": map[string]any{"line": line, "character": col}}
}

// The setting tilecheck.constants gives values to hovers and lenses, to each file those that it needs.
func TestConstants(t *testing.T) {
	c := start(t)
	dir := t.TempDir()
	model, props, other := uri.File(filepath.Join(dir, "m.prism")), uri.File(filepath.Join(dir, "m.props")), uri.File(filepath.Join(dir, "other", "o.prism"))
	c.open(model, "mdp const int N; module M x:[0..N]; endmodule")
	c.open(props, "const int k; P>=1 [ F<=k x=N ]")
	c.open(other, "mdp module M x:[0..1]; endmodule")
	lens := func(u uri.URI) string {
		var lenses []struct {
			Command struct {
				Arguments []string `json:"arguments"`
			} `json:"command"`
		}
		c.call("textDocument/codeLens", at(u, 0, 0), &lenses)
		var arguments []string
		for _, argument := range lenses[0].Command.Arguments {
			arguments = append(arguments, filepath.Base(argument))
		}
		return strings.Join(arguments, " ")
	}
	hover := func() string {
		var hover struct {
			Contents struct {
				Value string `json:"value"`
			} `json:"contents"`
		}
		c.call("textDocument/hover", at(model, 0, 14), &hover)
		return hover.Contents.Value
	}
	if got := lens(model) + ", " + lens(props); got != "m.prism, m.prism m.props 1" {
		t.Errorf("without the setting: %s", got)
	}
	configure := func(constants any) {
		c.tell("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"tilecheck": map[string]any{"constants": constants}}})
	}
	configure("N=3,k=1:2:5,z=4")
	for range 2 {
		if got := lens(model) + ", " + lens(props) + ", " + lens(other); got != "m.prism N=3, m.prism m.props 1 N=3,k=1:2:5, o.prism" {
			t.Errorf("with the setting: %s", got)
		}
		if got := hover(); !strings.Contains(got, "value 3") {
			t.Errorf("hover %q, want the value", got)
		}
		configure("N") // no definition: the values stay
	}
	configure("")
	if got := hover() + lens(model); strings.Contains(got, "value") || strings.Contains(got, "N=3") {
		t.Errorf("without the setting again: %q", got)
	}
}

// A property that the server has checked has its value in the title of its lens and in an inlay hint. After a change both say that the value is older.
func TestResults(t *testing.T) {
	var asked []string
	c := startWith(t, lsp.Options{Check: func(_ context.Context, q *lsp.Question) (string, error) {
		asked = append(asked, fmt.Sprintf("%s %s %d %s", filepath.Base(q.Model), q.PropertiesText, q.Index, q.Constants))
		if q.Index == 1 {
			return "", errors.New("no such states")
		}
		return "= 1/2", nil
	}})
	dir := t.TempDir()
	model, props := uri.File(filepath.Join(dir, "m.prism")), uri.File(filepath.Join(dir, "m.props"))
	c.open(model, "dtmc module M x:[0..1]; endmodule")
	c.open(props, "\"a\": P=? [ F x=1 ];\nP=? [ F x=0 ];\n")
	c.tell("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"tilecheck": map[string]any{"constants": "N=3"}}})
	titles := func() string {
		var lenses []struct {
			Command struct {
				Title string `json:"title"`
			} `json:"command"`
		}
		c.call("textDocument/codeLens", at(props, 0, 0), &lenses)
		var out []string
		for _, l := range lenses {
			out = append(out, l.Command.Title)
		}
		var hints []struct {
			Label    string `json:"label"`
			Position struct {
				Line      int `json:"line"`
				Character int `json:"character"`
			} `json:"position"`
		}
		c.call("textDocument/inlayHint", map[string]any{"textDocument": map[string]any{"uri": props}, "range": map[string]any{
			"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 9, "character": 0},
		}}, &hints)
		for _, h := range hints {
			out = append(out, fmt.Sprintf("%d:%d %s", h.Position.Line, h.Position.Character, h.Label))
		}
		return strings.Join(out, ", ")
	}
	if got := titles(); got != "check, result, check, result" {
		t.Errorf("before: %s", got)
	}
	run := func(property string) error {
		_, err := c.conn.Call(t.Context(), "workspace/executeCommand", map[string]any{"command": "tilecheck.result", "arguments": []string{filepath.ToSlash(filepath.Join(dir, "m.props")), property}}, nil)
		return err
	}
	if err := run("a"); err != nil {
		t.Fatal(err)
	}
	if err := run("2"); err == nil || !strings.Contains(err.Error(), "no such states") {
		t.Errorf("an error of the check: %v", err)
	}
	if err := run("b"); err == nil || !strings.Contains(err.Error(), "there is no property b") {
		t.Errorf("a property that there is not: %v", err)
	}
	if len(asked) != 2 || !strings.HasPrefix(asked[0], "m.prism \"a\": P=?") || !strings.HasSuffix(asked[0], " 0 ") {
		t.Errorf("asked %q", asked)
	}
	if got := titles(); got != "check, = 1/2, check, result, 0:19 = 1/2" {
		t.Errorf("after: %s", got)
	}
	c.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": model, "version": 2}, "contentChanges": []any{map[string]any{"text": "dtmc module M x:[0..2]; endmodule"}}})
	if got := titles(); got != "check, = 1/2 before a change, check, result, 0:19 = 1/2 before a change" {
		t.Errorf("after a change: %s", got)
	}
}

// Files beside one that is open count, and every request is answered for places that are none, files
// that are none, and texts that are none.
func TestEverything(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"m.prism": "mdp const int N=1; module M x:[0..N]; endmodule", "other.txt": "N", "m.pctl": "P>=1 [ F x=N ]"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t)
	props := uri.File(filepath.Join(dir, "m.props"))
	c.open(props, "P>=1 [ F x=N ]")
	var found []any
	params := at(props, 0, 11)
	params["context"] = map[string]any{"includeDeclaration": true}
	c.call("textDocument/references", params, &found)
	if len(found) != 4 {
		t.Errorf("N is in %v, want the model twice and each properties file", found)
	}
	for _, u := range []uri.URI{props, uri.File("/nowhere.prism"), "untitled:1", ""} {
		if u != props {
			c.open(u, "é module [ \"")
		}
		for _, place := range [][2]int{{0, 0}, {0, 9}, {99, 99}, {1 << 31, 1 << 31}} {
			for _, method := range []string{"hover", "definition", "references", "documentHighlight", "completion", "prepareRename", "rename", "documentSymbol", "codeLens", "codeAction", "formatting", "semanticTokens/full", "semanticTokens/range"} {
				params := at(u, place[0], place[1])
				params["newName"] = "a"
				params["context"] = map[string]any{"includeDeclaration": false, "diagnostics": []any{}}
				params["range"] = map[string]any{"start": params["position"], "end": params["position"]}
				params["options"] = map[string]any{"tabSize": 2, "insertSpaces": true}
				if _, err := c.conn.Call(t.Context(), "textDocument/"+method, params, nil); err != nil && method != "rename" && method != "formatting" {
					t.Errorf("%s of %q at %v: %v", method, u, place, err)
				}
			}
		}
	}
}

// Colours, by hand: each is its line and column after the one before, its length in units of UTF-16, its type and
// whether it declares. Those of a part of the text begin with the first one there.
func TestColours(t *testing.T) {
	c := start(t)
	u := uri.File(filepath.Join(t.TempDir(), "m.prism"))
	c.open(u, "dtmc // 😀 é\r\nmodule M x : bool;\nendmodule")
	var got struct {
		Data []uint32 `json:"data"`
	}
	second := []uint32{0, 6, 1, 0 /* module */, 0, 7, 1, 9, 1 /* M */, 0, 2, 1, 4, 1 /* x */, 0, 2, 1, 3, 0 /* : */, 0, 2, 4, 1, 0, 0, 4, 1, 3, 0}
	all := slices.Concat([]uint32{0, 0, 4, 1, 0, 0, 5, 7, 0, 0, 1}, second, []uint32{1, 0, 9, 1, 0})
	c.call("textDocument/semanticTokens/full", at(u, 0, 0), &got)
	if !slices.Equal(got.Data, all) {
		t.Errorf("%v, want %v", got.Data, all)
	}
	params := at(u, 0, 0)
	params["range"] = map[string]any{"start": map[string]int{"line": 1, "character": 2}, "end": map[string]int{"line": 2, "character": 0}}
	c.call("textDocument/semanticTokens/range", params, &got)
	if want := append([]uint32{1}, second...); !slices.Equal(got.Data, want) {
		t.Errorf("%v, want %v", got.Data, want)
	}
}

// A client that goes is no success, and a request that is cancelled is told so.
func TestEnds(t *testing.T) {
	c := start(t)
	u := uri.File(filepath.Join(t.TempDir(), "m.prism"))
	var b strings.Builder
	b.WriteString("dtmc module M x:[0..1];\n")
	for range 20_000 {
		b.WriteString("[] x=0 -> (x'=1);\n")
	}
	c.open(u, b.String()+"endmodule")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.conn.Call(ctx, "textDocument/semanticTokens/full", at(u, 0, 0), nil); err == nil {
		t.Error("a cancelled request is answered")
	}
	c.tell("$/cancelRequest", map[string]any{"id": 77})
	c.tell("$/cancelRequest", map[string]any{"id": "none"})
	start := time.Now()
	c.conn.Close()
	select {
	case err := <-c.stopping:
		if !errors.Is(err, lsp.ErrNoShutdown) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("not ended after %v", time.Since(start))
	}
}

// Editors notify of more than a server knows; it goes on. What is asked and not known has an error.
func TestNotifications(t *testing.T) {
	c := start(t)
	u := uri.File(filepath.Join(t.TempDir(), "m.prism"))
	c.open(u, model)
	for method, params := range map[string]any{
		"workspace/didChangeConfiguration": map[string]any{"settings": map[string]any{}}, "workspace/didChangeWatchedFiles": map[string]any{"changes": []any{}},
		"$/setTrace": map[string]any{"value": "off"}, "$/progress": map[string]any{"token": 1}, "textDocument/willSave": map[string]any{"textDocument": map[string]any{"uri": u}, "reason": 1},
		"window/workDoneProgress/cancel": map[string]any{"token": "x"}, "notebookDocument/didOpen": nil, "nobody/knows": nil, "textDocument/didChange": "nonsense", "$/cancelRequest": 7,
	} {
		c.tell(method, params)
	}
	if _, err := c.conn.Call(t.Context(), "nobody/knows", nil, nil); err == nil {
		t.Error("what nobody knows has an answer")
	}
	var hover jsonrpc2.RawMessage
	c.call("textDocument/hover", at(u, 1, 10), &hover)
	if !strings.Contains(string(hover), "const int N") {
		t.Errorf("afterwards the hover is %s", hover)
	}
}

// A message that makes no sense is answered with the code that JSON-RPC 2.0 has for it, section 5.1, and
// the next one is read. The body of a message without a length is passed over.
func TestBadMessages(t *testing.T) {
	framed := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	const parse, invalid, unknown, params = -32700, -32600, -32601, -32602
	for _, test := range []struct {
		name, bytes string
		codes       []int
	}{
		{"no JSON", framed(`{"jsonrpc":`), []int{parse}},
		{"bytes that are no UTF-8", framed("\xff\xfe"), []int{parse}},
		{"nothing", framed(""), []int{parse}},
		{"nested deeply", framed(strings.Repeat("[", 100_000)), []int{parse}},
		{"no object", framed(`17`), []int{invalid}},
		{"a batch", framed(`[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]`), []int{invalid}},
		{"no version", framed(`{"id":1,"method":"shutdown"}`), []int{invalid}},
		{"a number for a method", framed(`{"jsonrpc":"2.0","id":1,"method":1}`), []int{invalid}},
		{"an object for an id", framed(`{"jsonrpc":"2.0","id":{},"method":"shutdown"}`), []int{invalid}},
		{"an unknown method", framed(`{"jsonrpc":"2.0","id":1,"method":"none"}`), []int{unknown}},
		{"parameters of another kind", framed(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"position":7}}`), []int{params}},
		{"an answer", framed(`{"jsonrpc":"2.0","id":1,"result":null}`), nil},
		{"no length", "Content-Type: x\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, []int{parse}},
		{"a word for a length", "Content-Length: many\r\n\r\n" + `{"jsonrpc":"2.0"}`, []int{parse}},
		{"a negative length", "Content-Length: -1\r\n\r\n" + `{"jsonrpc":"2.0"}`, []int{parse}},
		{"more than there will ever be", "Content-Length: 9223372036854775807\r\n\r\n" + `{"jsonrpc":"2.0"}`, []int{parse}},
		{"a length that is too small", "Content-Length: 5\r\n\r\n" + `{"jsonrpc":"2.0"}`, []int{parse}},
		{"a long line", strings.Repeat("x", 1<<20), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := framed(`{"jsonrpc":"2.0","id":"first","method":"shutdown"}`) + test.bytes +
				framed(`{"jsonrpc":"2.0","id":"last","method":"shutdown"}`) + framed(`{"jsonrpc":"2.0","method":"exit"}`)
			var out strings.Builder
			if err := lsp.Serve(t.Context(), strings.NewReader(in), &out, lsp.Options{}); err != nil {
				t.Fatal(err)
			}
			var codes []int
			for rest := out.String(); rest != ""; {
				var length int
				if _, err := fmt.Sscanf(rest, "Content-Length: %d\r\n\r\n", &length); err != nil {
					t.Fatalf("%v in %q", err, rest)
				}
				_, rest, _ = strings.Cut(rest, "\r\n\r\n")
				body := rest[:length]
				rest = rest[length:]
				var answer struct {
					ID    any
					Error *struct{ Code int }
				}
				if err := json.Unmarshal([]byte(body), &answer); err != nil {
					t.Fatalf("%v in %q", err, body)
				}
				if answer.Error != nil {
					codes = append(codes, answer.Error.Code)
				}
			}
			if !slices.Equal(codes, test.codes) || !strings.Contains(out.String(), `"id":"last","result":null`) {
				t.Errorf("the codes are %v, want %v, in\n%s", codes, test.codes, out.String())
			}
		})
	}
}

// A layout is an edit of the lines that change, and of no others: cursors and folds elsewhere stay.
func TestFormatting(t *testing.T) {
	for _, test := range []struct {
		name, text, edits string
	}{
		{"one line", "dtmc\nmodule M\n  x:[0..2];\n  y : bool;\nendmodule\n", `[{"range":{"start":{"line":2,"character":0},"end":{"line":3,"character":0}},"newText":"  x : [0..2];\n"}]`},
		{"nothing", "dtmc\nmodule M\n  x : [0..2];\nendmodule\n", `[]`},
		{"wrong", "dtmc\nmodule\n  x:[0..2];\n", `[]`},
		{"no line end", "dtmc\nmodule M\nendmodule", `[{"range":{"start":{"line":2,"character":0},"end":{"line":2,"character":9}},"newText":"endmodule\n"}]`},
		{"a line too many", "dtmc // 😀\n\n\nmodule M\nendmodule\n", `[{"range":{"start":{"line":2,"character":0},"end":{"line":3,"character":0}},"newText":""}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t)
			u := uri.File(filepath.Join(t.TempDir(), "m.prism"))
			c.open(u, test.text)
			var got jsonrpc2.RawMessage
			c.call("textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": u}, "options": map[string]any{"tabSize": 2, "insertSpaces": true}}, &got)
			if string(got) != test.edits {
				t.Errorf("the edits are %s, want %s", got, test.edits)
			}
		})
	}
}
