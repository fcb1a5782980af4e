package lsp

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"tilecheck/editor"
	"tilecheck/internal/limited"
)

// server is what a client talks to.
type server struct {
	protocol.UnimplementedServer
	opts   Options
	client protocol.Client
	ctx    context.Context // of everything
	exit   func()
	utf8   bool // columns are bytes
	asked  atomic.Bool
	left   atomic.Bool

	mu      sync.Mutex
	files   *editor.Files
	open    map[string]int32 // versions of the texts that the client has
	cancel  context.CancelFunc
	told    map[string]bool // files that have diagnostics at the client
	working sync.WaitGroup
}

// snapshot are texts that belong together.
type snapshot struct {
	*editor.Files
	utf8 bool
}

func (s *server) now() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot{s.files, s.utf8}
}

// Initialize says what the server does.
func (s *server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	yes := true
	incremental := protocol.TextDocumentSyncKindIncremental
	result := &protocol.InitializeResult{ServerInfo: protocol.ServerInfo{Name: "tilecheck", Version: protocol.NewOptional(s.opts.Version)}}
	c := &result.Capabilities
	if g := params.Capabilities.General; g != nil && slices.Contains(g.PositionEncodings, protocol.PositionEncodingKindUTF8) {
		s.utf8 = true
		c.PositionEncoding = protocol.PositionEncodingKindUTF8
	}
	c.TextDocumentSync = &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental, Save: protocol.Boolean(true)}
	c.HoverProvider, c.DefinitionProvider, c.ReferencesProvider = protocol.Boolean(true), protocol.Boolean(true), protocol.Boolean(true)
	c.DocumentHighlightProvider, c.DocumentSymbolProvider = protocol.Boolean(true), protocol.Boolean(true)
	c.DocumentFormattingProvider = protocol.Boolean(true)
	c.CodeActionProvider = &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}}
	c.CompletionProvider = &protocol.CompletionOptions{TriggerCharacters: []string{`"`, "[", "(", "{"}}
	c.RenameProvider = &protocol.RenameOptions{PrepareProvider: &yes}
	c.CodeLensProvider = &protocol.CodeLensOptions{}
	c.SemanticTokensProvider = &protocol.SemanticTokensOptions{Legend: legend(), Full: protocol.Boolean(true), Range: protocol.Boolean(true)}
	return result, nil
}

// Initialized has nothing to do.
func (s *server) Initialized(context.Context, *protocol.InitializedParams) error { return nil }

// SetTrace has nothing to do.
func (s *server) SetTrace(context.Context, *protocol.SetTraceParams) error { return nil }

// Shutdown announces exit.
func (s *server) Shutdown(context.Context) error {
	s.asked.Store(true)
	return nil
}

// Exit ends the server.
func (s *server) Exit(context.Context) error {
	s.left.Store(s.asked.Load())
	s.exit()
	return nil
}

// nameOf is the name of a file for package editor.
func nameOf(u uri.URI) string {
	if !strings.HasPrefix(string(u), "file:") {
		return string(u) // of a text that is no file yet
	}
	return filepath.ToSlash(u.FsPath())
}

func uriOf(name string) uri.URI {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return uri.File(filepath.FromSlash(name))
	}
	return uri.URI(name)
}

// DidOpen takes a text, and the files beside it that belong to it.
func (s *server) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		s.open[name] = params.TextDocument.Version
		s.files = s.files.With(name, []byte(params.TextDocument.Text))
		s.beside(name)
	})
	return nil
}

// DidChange changes a text.
func (s *server) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		text := s.files.Text(name)
		for _, change := range params.ContentChanges {
			switch change := change.(type) {
			case *protocol.TextDocumentContentChangeWholeDocument:
				text = []byte(change.Text)
			case *protocol.TextDocumentContentChangePartial:
				at := rangeIn(editor.NewLines(text), change.Range, s.utf8)
				if at.To < at.From {
					continue
				}
				text = slices.Concat(text[:at.From], []byte(change.Text), text[at.To:])
			}
		}
		s.open[name] = params.TextDocument.Version
		s.files = s.files.With(name, text)
	})
	return nil
}

// DidSave reads the files beside a file again.
func (s *server) DidSave(_ context.Context, params *protocol.DidSaveTextDocumentParams) error {
	s.update(func() { s.beside(nameOf(params.TextDocument.URI)) })
	return nil
}

// DidClose leaves a file to what is on disk.
func (s *server) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		delete(s.open, name)
		s.files = s.files.Without(name)
		s.beside(name)
	})
	return nil
}

// update changes the texts and has them looked at.
func (s *server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open, s.told = make(map[string]int32), make(map[string]bool)
	}
	change()
	if s.cancel != nil {
		s.cancel()
	}
	if s.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	files, open := s.files, make(map[string]int32, len(s.open))
	for name, version := range s.open {
		open[name] = version
	}
	s.working.Go(func() { s.diagnose(ctx, snapshot{files, s.utf8}, open) })
}

// The limits of what is read beside a file that is open.
const (
	mostBeside = 100
	mostRead   = 4 * editor.MaxText // in bytes, of all of them
)

// beside reads the models and properties in the folder of a file that are not open, so that
// names are found in them.
func (s *server) beside(name string) {
	dir := path.Dir(name)
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return
	}
	left, bytes := mostBeside, int64(mostRead)
	for _, e := range entries {
		other := path.Join(dir, e.Name())
		if _, isOpen := s.open[other]; isOpen || !e.Type().IsRegular() || !slices.Contains(endings(), path.Ext(other)) {
			continue
		}
		if left--; left < 0 {
			return
		}
		if text, err := limited.ReadFile(os.DirFS(filepath.FromSlash(dir)), e.Name(), min(editor.MaxText, bytes)); err == nil {
			bytes -= int64(len(text))
			if string(s.files.Text(other)) != string(text) {
				s.files = s.files.With(other, text)
			}
		}
	}
}

func endings() []string {
	return []string{".prism", ".nm", ".pm", ".sm", ".props", ".prop", ".pctl", ".csl"}
}

// pause is how long the texts must have stayed the same.
const pause = 60 * time.Millisecond

// diagnose sends the diagnostics of the open texts, unless they change before.
func (s *server) diagnose(ctx context.Context, files snapshot, open map[string]int32) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(pause):
	}
	for _, name := range files.Names() {
		version, isOpen := open[name]
		if !isOpen {
			continue
		}
		found, err := files.Diagnostics(ctx, name)
		if err != nil {
			return
		}
		s.publish(ctx, files, name, version, found)
	}
	for _, name := range s.closed(open) {
		_ = s.client.PublishDiagnostics(ctx, &protocol.PublishDiagnosticsParams{URI: uriOf(name), Diagnostics: []protocol.Diagnostic{}})
	}
}

// closed are the files that have diagnostics at the client and are open no longer.
func (s *server) closed(open map[string]int32) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for name := range s.told {
		if _, isOpen := open[name]; !isOpen {
			out = append(out, name)
			delete(s.told, name)
		}
	}
	slices.Sort(out)
	return out
}

func (s *server) publish(ctx context.Context, files snapshot, name string, version int32, found []editor.Diagnostic) {
	params := &protocol.PublishDiagnosticsParams{URI: uriOf(name), Version: protocol.NewOptional(version), Diagnostics: []protocol.Diagnostic{}}
	lines := editor.NewLines(files.Text(name))
	for _, d := range found {
		params.Diagnostics = append(params.Diagnostics, files.diagnostic(lines, d))
	}
	s.mu.Lock()
	s.told[name] = true
	s.mu.Unlock()
	if ctx.Err() == nil {
		_ = s.client.PublishDiagnostics(ctx, params)
	}
}

func (f snapshot) diagnostic(lines *editor.Lines, d editor.Diagnostic) protocol.Diagnostic {
	severity := [...]protocol.DiagnosticSeverity{
		editor.Error: protocol.DiagnosticSeverityError, editor.Warning: protocol.DiagnosticSeverityWarning, editor.Hint: protocol.DiagnosticSeverityHint,
	}[d.Severity]
	out := protocol.Diagnostic{
		Range: f.rangeOf(lines, d.Range), Severity: severity,
		Source: protocol.NewOptional("tilecheck"), Message: protocol.String(d.Message),
	}
	if d.Code != "" {
		out.Code = protocol.String(d.Code)
	}
	return out
}

// place is a file and an offset in it.
func (f snapshot) place(u uri.URI, p protocol.Position) (name string, offset int, lines *editor.Lines) {
	name = nameOf(u)
	lines = editor.NewLines(f.Text(name))
	return name, offsetIn(lines, p, f.utf8), lines
}

func offsetIn(lines *editor.Lines, p protocol.Position, utf8 bool) int {
	line, col := int(min(p.Line, 1<<30)), int(min(p.Character, 1<<30))
	if utf8 {
		return lines.Offset(line, col)
	}
	return lines.FromUTF16(line, col)
}

func rangeIn(lines *editor.Lines, r protocol.Range, utf8 bool) editor.Range {
	return editor.Range{From: offsetIn(lines, r.Start, utf8), To: offsetIn(lines, r.End, utf8)}
}

func (f snapshot) position(lines *editor.Lines, offset int) protocol.Position {
	line, col := lines.Position(offset)
	if !f.utf8 {
		line, col = lines.UTF16(offset)
	}
	return protocol.Position{Line: uint32(line), Character: uint32(col)}
}

func (f snapshot) rangeOf(lines *editor.Lines, r editor.Range) protocol.Range {
	return protocol.Range{Start: f.position(lines, r.From), End: f.position(lines, r.To)}
}

// locations turns places of package editor into those of the protocol.
func (f snapshot) locations(list []editor.Location) []protocol.Location {
	lines := make(map[string]*editor.Lines)
	out := []protocol.Location{}
	for _, l := range list {
		if lines[l.File] == nil {
			lines[l.File] = editor.NewLines(f.Text(l.File))
		}
		out = append(out, protocol.Location{URI: uriOf(l.File), Range: f.rangeOf(lines[l.File], l.Range)})
	}
	return out
}

// edit turns edits into an edit of the workspace.
func (f snapshot) edit(edits []editor.Edit) *protocol.WorkspaceEdit {
	out := &protocol.WorkspaceEdit{Changes: make(map[uri.URI][]protocol.TextEdit)}
	lines := make(map[string]*editor.Lines)
	for _, e := range edits {
		if lines[e.File] == nil {
			lines[e.File] = editor.NewLines(f.Text(e.File))
		}
		u := uriOf(e.File)
		out.Changes[u] = append(out.Changes[u], protocol.TextEdit{Range: f.rangeOf(lines[e.File], e.Range), NewText: e.Text})
	}
	return out
}

// replaced is one edit that makes a text of another one: of the lines from the first to the last that differ.
func (f snapshot) replaced(name string, text []byte) []protocol.TextEdit {
	old := f.Text(name)
	if string(old) == string(text) {
		return []protocol.TextEdit{}
	}
	front, back := editor.Common(old, text)
	front = bytes.LastIndexByte(old[:front], '\n') + 1
	begins := func(t []byte) bool { at := len(t) - back; return at == 0 || t[at-1] == '\n' }
	if end := bytes.IndexByte(old[len(old)-back:], '\n'); !begins(old) || !begins(text) {
		back -= end + 1
		if end < 0 {
			back = 0
		}
	}
	r := editor.Range{From: front, To: len(old) - back}
	return []protocol.TextEdit{{Range: f.rangeOf(editor.NewLines(old), r), NewText: string(text[front : len(text)-back])}}
}
