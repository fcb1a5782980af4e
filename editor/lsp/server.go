package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/uri"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
	"tilecheck/internal/limited"
	"tilecheck/prism/sema"
)

// server serves one client.
type server struct {
	opts    Options
	client  *conn
	methods map[string]method
	ctx     context.Context // ends with the server
	exit    func()
	utf8    bool // columns are bytes, otherwise units of UTF-16

	shutdownRequested atomic.Bool
	cleanExit         atomic.Bool // exit came after shutdown

	mu      sync.Mutex
	files   *editor.Files
	open    map[string]int32 // versions of the texts that the client has opened
	cancel  context.CancelFunc
	working sync.WaitGroup
	// published has the files for which the client shows diagnostics.
	published map[string]bool
	stopping  bool // no new work is started
	results   map[propertyKey]propertyResult
	refresh   []string // the requests that have the client ask for lenses and hints again
}

// snapshot is an immutable set of texts.
type snapshot struct {
	*editor.Files
	utf8 bool
}

func (s *server) now() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot{s.files, s.utf8}
}

// initialize answers with the capabilities of the server.
func (s *server) initialize(_ context.Context, params *protocol.InitializeParams) (any, error) {
	result := protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "tilecheck", Version: s.opts.Version},
		Capabilities: protocol.ServerCapabilities{
			TextDocumentSync:           protocol.TextDocumentSyncOptions{OpenClose: true, Change: protocol.SyncIncremental, Save: true},
			CompletionProvider:         protocol.CompletionOptions{TriggerCharacters: []string{`"`, "[", "(", "{"}},
			HoverProvider:              true,
			DefinitionProvider:         true,
			ReferencesProvider:         true,
			DocumentHighlightProvider:  true,
			DocumentSymbolProvider:     true,
			CodeActionProvider:         protocol.CodeActionOptions{CodeActionKinds: []string{protocol.CodeActionQuickFix}},
			DocumentFormattingProvider: true,
			RenameProvider:             protocol.RenameOptions{PrepareProvider: true},
			SemanticTokensProvider:     protocol.SemanticTokensOptions{Legend: legend(), Full: true, Range: true},
		},
	}
	if slices.Contains(params.Capabilities.General.PositionEncodings, protocol.PositionEncodingUTF8) {
		s.mu.Lock()
		s.utf8 = true
		s.mu.Unlock()
		result.Capabilities.PositionEncoding = protocol.PositionEncodingUTF8
	}
	if s.opts.Check != nil {
		result.Capabilities.ExecuteCommandProvider = &protocol.ExecuteCommandOptions{Commands: []string{resultCommand}}
		result.Capabilities.InlayHintProvider = true
		s.setRefresh(params)
	}
	s.configure(params.InitializationOptions)
	return result, nil
}

// setRefresh remembers what the client asks for again when it is told to.
func (s *server) setRefresh(params *protocol.InitializeParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if params.Capabilities.Workspace.CodeLens.RefreshSupport {
		s.refresh = append(s.refresh, "workspace/codeLens/refresh")
	}
	if params.Capabilities.Workspace.InlayHint.RefreshSupport {
		s.refresh = append(s.refresh, "workspace/inlayHint/refresh")
	}
}

// didChangeConfiguration takes over the settings of the client.
func (s *server) didChangeConfiguration(_ context.Context, params *protocol.DidChangeConfigurationParams) (any, error) {
	s.configure(params.Settings)
	return nil, nil
}

// configure takes over the values of constants in settings. Settings that do not have tilecheck.constants, or that are of another form, change nothing.
func (s *server) configure(raw json.RawMessage) {
	var settings protocol.Settings
	if json.Unmarshal(raw, &settings) != nil || settings.Tilecheck.Constants == nil {
		return
	}
	consts := []string{*settings.Tilecheck.Constants}
	if _, err := sema.ParseConsts(consts); err != nil {
		message := "tilecheck.constants: " + err.Error()
		_ = s.client.notify("window/showMessage", protocol.ShowMessageParams{Type: protocol.MessageWarning, Message: message})
		return
	}
	s.update(func() { s.files = s.files.WithConsts(consts) })
}

// ignore handles a notification without effect.
func (s *server) ignore(context.Context, *struct{}) (any, error) { return nil, nil }

// shutdown prepares for exit.
func (s *server) shutdown(context.Context, *struct{}) (any, error) {
	s.shutdownRequested.Store(true)
	return nil, nil
}

// end ends the server.
func (s *server) end(context.Context, *struct{}) (any, error) {
	s.cleanExit.Store(s.shutdownRequested.Load())
	s.exit()
	return nil, nil
}

// nameOf returns the name of a file in package editor.
func nameOf(u uri.URI) string {
	if !strings.HasPrefix(string(u), "file:") {
		return string(u) // a new text without a file
	}
	return filepath.ToSlash(u.FsPath())
}

func uriOf(name string) uri.URI {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return uri.File(filepath.FromSlash(name))
	}
	return uri.URI(name)
}

// didOpen adds a text and the files in its folder.
func (s *server) didOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) (any, error) {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		s.open[name] = params.TextDocument.Version
		s.files = s.files.With(name, []byte(params.TextDocument.Text))
		s.readFolder(name)
	})
	return nil, nil
}

// didChange changes a text.
func (s *server) didChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) (any, error) {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		text := s.files.Text(name)
		for _, change := range params.ContentChanges {
			if change.Range == nil {
				text = []byte(change.Text)
				continue
			}
			if at := rangeIn(editor.NewLines(text), *change.Range, s.utf8); at.From <= at.To {
				text = slices.Concat(text[:at.From], []byte(change.Text), text[at.To:])
			}
		}
		s.open[name] = params.TextDocument.Version
		s.files = s.files.With(name, text)
	})
	return nil, nil
}

// didSave reads the files in the folder again.
func (s *server) didSave(_ context.Context, params *protocol.TextDocumentParams) (any, error) {
	s.update(func() { s.readFolder(nameOf(params.TextDocument.URI)) })
	return nil, nil
}

// didClose drops the text of a file and reads the file from disk.
func (s *server) didClose(_ context.Context, params *protocol.TextDocumentParams) (any, error) {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		delete(s.open, name)
		s.files = s.files.Without(name)
		s.readFolder(name)
	})
	return nil, nil
}

// update changes the texts and starts computing diagnostics.
func (s *server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open, s.published = make(map[string]int32), make(map[string]bool)
	}
	change()
	if s.cancel != nil {
		s.cancel()
	}
	if s.stopping {
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

// The limits on the files that are read from the folder of an open file.
const (
	maxFolderFiles = 100
	maxFolderBytes = 4 * editor.MaxText // in total
)

// readFolder reads the model and properties files in the folder of a file that are not open, so
// that their names are known.
func (s *server) readFolder(name string) {
	dir := path.Dir(name)
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return
	}
	cleanExit, bytes := maxFolderFiles, int64(maxFolderBytes)
	for _, e := range entries {
		other := path.Join(dir, e.Name())
		if _, isOpen := s.open[other]; isOpen || !e.Type().IsRegular() || !slices.Contains(extensions(), path.Ext(other)) {
			continue
		}
		if cleanExit--; cleanExit < 0 {
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

func extensions() []string {
	return []string{".prism", ".nm", ".pm", ".sm", ".props", ".prop", ".pctl", ".csl"}
}

// diagnoseDelay is how long the texts must stay unchanged before they are checked.
const diagnoseDelay = 60 * time.Millisecond

const publishDiagnostics = "textDocument/publishDiagnostics"

// diagnose sends the diagnostics of the open texts, unless they change first.
func (s *server) diagnose(ctx context.Context, files snapshot, open map[string]int32) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(diagnoseDelay):
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
		_ = s.client.notify(publishDiagnostics, protocol.PublishDiagnosticsParams{URI: uriOf(name), Diagnostics: []protocol.Diagnostic{}})
	}
}

// closed returns the files with published diagnostics that are no longer open.
func (s *server) closed(open map[string]int32) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for name := range s.published {
		if _, isOpen := open[name]; !isOpen {
			out = append(out, name)
			delete(s.published, name)
		}
	}
	slices.Sort(out)
	return out
}

func (s *server) publish(ctx context.Context, files snapshot, name string, version int32, found []editor.Diagnostic) {
	params := protocol.PublishDiagnosticsParams{URI: uriOf(name), Version: &version, Diagnostics: []protocol.Diagnostic{}}
	lines := editor.NewLines(files.Text(name))
	for _, d := range found {
		params.Diagnostics = append(params.Diagnostics, files.diagnostic(lines, d))
	}
	s.mu.Lock()
	s.published[name] = true
	s.mu.Unlock()
	if ctx.Err() == nil {
		_ = s.client.notify(publishDiagnostics, params)
	}
}

func (f snapshot) diagnostic(lines *editor.Lines, d editor.Diagnostic) protocol.Diagnostic {
	severity := [...]protocol.DiagnosticSeverity{
		editor.Error: protocol.SeverityError, editor.Warning: protocol.SeverityWarning, editor.Hint: protocol.SeverityHint,
	}[d.Severity]
	return protocol.Diagnostic{Range: f.rangeOf(lines, d.Range), Severity: severity, Code: d.Code, Source: "tilecheck", Message: d.Message}
}

// locate returns the name of a file, an offset in it, and its lines.
func (f snapshot) locate(u uri.URI, p protocol.Position) (name string, offset int, lines *editor.Lines) {
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

// locations converts locations to those of the protocol.
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

// edit converts edits to an edit of the workspace.
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

// replacement returns one edit that changes the lines from the first to the last difference.
func (f snapshot) replacement(name string, text []byte) []protocol.TextEdit {
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
