package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
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
	open    map[string]int32   // the versions of the texts that the client has opened
	cancel  context.CancelFunc // stops the computation of diagnostics
	working sync.WaitGroup     // the goroutines that compute answers and diagnostics
	// published has the files for which the client shows diagnostics.
	published map[string]bool
	stopping  bool // the server starts no more goroutines
	results   map[propertyKey]propertyResult
	refresh   []string // the methods of the requests after which the client asks for lenses and hints again
}

// snapshot is an immutable set of texts.
type snapshot struct {
	*editor.Files
	utf8 bool // columns are bytes, otherwise units of UTF-16
}

// now returns the current texts.
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

// setRefresh sets the refresh requests that the client supports.
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

// configure sets the values of constants from the field tilecheck.constants of the settings. It ignores settings without this field. If the values
// are wrong, the client shows a warning.
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

// end ends the server. The exit is clean if the client has sent the request shutdown before.
func (s *server) end(context.Context, *struct{}) (any, error) {
	s.cleanExit.Store(s.shutdownRequested.Load())
	s.exit()
	return nil, nil
}

// nameOf returns the name that package editor uses for a file: its path, or the whole URI of a text without a file.
func nameOf(u uri.URI) string {
	if !strings.HasPrefix(string(u), "file:") {
		return string(u)
	}
	return filepath.ToSlash(u.FsPath())
}

// uriOf returns the URI of a file name; it is the inverse of nameOf.
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

// didChange replaces parts of a text, or the whole text.
func (s *server) didChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) (any, error) {
	name := nameOf(params.TextDocument.URI)
	s.update(func() {
		text := s.files.Text(name)
		for _, change := range params.ContentChanges {
			if change.Range == nil {
				text = []byte(change.Text)
				continue
			}
			replaced := rangeIn(editor.NewLines(text), *change.Range, s.utf8)
			if replaced.From <= replaced.To {
				text = slices.Concat(text[:replaced.From], []byte(change.Text), text[replaced.To:])
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

// update calls change, which changes the texts, and starts to compute diagnostics. It stops the computation for the old texts.
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
	files, open := s.files, maps.Clone(s.open)
	s.working.Go(func() { s.diagnose(ctx, snapshot{files, s.utf8}, open) })
}

// The limits on the files that are read from the folder of an open file.
const (
	maxFolderFiles = 100
	maxFolderBytes = 4 * editor.MaxText // in total
)

// readFolder reads the other model and properties files in the folder of a file, except open ones, because the file may use their names. It stops
// at maxFolderFiles files, and skips files that exceed maxFolderBytes.
func (s *server) readFolder(name string) {
	dir := path.Dir(name)
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return
	}
	numFiles, remainingBytes := 0, int64(maxFolderBytes)
	for _, entry := range entries {
		other := path.Join(dir, entry.Name())
		isReadable := entry.Type().IsRegular() && slices.Contains(extensions(), path.Ext(other))
		if _, isOpen := s.open[other]; isOpen || !isReadable {
			continue
		}
		numFiles++
		if numFiles > maxFolderFiles {
			return
		}
		text, err := limited.ReadFile(os.DirFS(filepath.FromSlash(dir)), entry.Name(), min(editor.MaxText, remainingBytes))
		if err != nil {
			continue
		}
		remainingBytes -= int64(len(text))
		if string(s.files.Text(other)) != string(text) {
			s.files = s.files.With(other, text)
		}
	}
}

// extensions returns the endings of the names of model and properties files.
func extensions() []string {
	return []string{".prism", ".nm", ".pm", ".sm", ".props", ".prop", ".pctl", ".csl"}
}

// diagnoseDelay is how long the texts must stay unchanged before they are checked.
const diagnoseDelay = 60 * time.Millisecond

const publishDiagnostics = "textDocument/publishDiagnostics"

// diagnose sends the diagnostics of the open texts to the client, and removes the diagnostics of closed texts. open has the versions of the open texts. It
// stops when the context ends, which it does when a text changes.
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
		diagnostics, err := files.Diagnostics(ctx, name)
		if err != nil {
			return
		}
		s.publish(ctx, files, name, version, diagnostics)
	}
	for _, name := range s.takeClosed(open) {
		_ = s.client.notify(publishDiagnostics, protocol.PublishDiagnosticsParams{URI: uriOf(name), Diagnostics: []protocol.Diagnostic{}})
	}
}

// takeClosed returns the files that are not open and for which the client shows diagnostics, sorted, and removes them from published.
func (s *server) takeClosed(open map[string]int32) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.published {
		if _, isOpen := open[name]; !isOpen {
			names = append(names, name)
			delete(s.published, name)
		}
	}
	slices.Sort(names)
	return names
}

// publish sends the diagnostics of one version of a text to the client, unless the context has ended.
func (s *server) publish(ctx context.Context, files snapshot, name string, version int32, diagnostics []editor.Diagnostic) {
	params := protocol.PublishDiagnosticsParams{URI: uriOf(name), Version: &version, Diagnostics: []protocol.Diagnostic{}}
	lines := editor.NewLines(files.Text(name))
	for _, diagnostic := range diagnostics {
		params.Diagnostics = append(params.Diagnostics, files.diagnostic(lines, diagnostic))
	}
	s.mu.Lock()
	s.published[name] = true
	s.mu.Unlock()
	if ctx.Err() == nil {
		_ = s.client.notify(publishDiagnostics, params)
	}
}

// diagnostic converts a diagnostic to the type of the protocol. lines are the lines of its file.
func (f snapshot) diagnostic(lines *editor.Lines, d editor.Diagnostic) protocol.Diagnostic {
	severity := [...]protocol.DiagnosticSeverity{
		editor.Error: protocol.SeverityError, editor.Warning: protocol.SeverityWarning, editor.Hint: protocol.SeverityHint,
	}[d.Severity]
	return protocol.Diagnostic{Range: f.rangeOf(lines, d.Range), Severity: severity, Code: d.Code, Source: "tilecheck", Message: d.Message}
}

// locate converts a file and a position of the protocol to the name of the file and an offset, and returns the lines of the file.
func (f snapshot) locate(u uri.URI, p protocol.Position) (name string, offset int, lines *editor.Lines) {
	name = nameOf(u)
	lines = editor.NewLines(f.Text(name))
	return name, offsetIn(lines, p, f.utf8), lines
}

// offsetIn converts a position of the protocol to an offset. Its columns are bytes if utf8 is set, otherwise units of UTF-16.
func offsetIn(lines *editor.Lines, p protocol.Position, utf8 bool) int {
	line, col := int(min(p.Line, 1<<30)), int(min(p.Character, 1<<30))
	if utf8 {
		return lines.Offset(line, col)
	}
	return lines.FromUTF16(line, col)
}

// rangeIn converts a range of the protocol to offsets, as offsetIn does.
func rangeIn(lines *editor.Lines, r protocol.Range, utf8 bool) editor.Range {
	return editor.Range{From: offsetIn(lines, r.Start, utf8), To: offsetIn(lines, r.End, utf8)}
}

// position converts an offset to a position of the protocol.
func (f snapshot) position(lines *editor.Lines, offset int) protocol.Position {
	line, col := lines.Position(offset)
	if !f.utf8 {
		line, col = lines.UTF16(offset)
	}
	return protocol.Position{Line: uint32(line), Character: uint32(col)}
}

// rangeOf converts offsets to a range of the protocol.
func (f snapshot) rangeOf(lines *editor.Lines, r editor.Range) protocol.Range {
	return protocol.Range{Start: f.position(lines, r.From), End: f.position(lines, r.To)}
}

// locations converts locations to the type of the protocol.
func (f snapshot) locations(list []editor.Location) []protocol.Location {
	lines := make(map[string]*editor.Lines)
	converted := []protocol.Location{}
	for _, location := range list {
		if lines[location.File] == nil {
			lines[location.File] = editor.NewLines(f.Text(location.File))
		}
		converted = append(converted, protocol.Location{URI: uriOf(location.File), Range: f.rangeOf(lines[location.File], location.Range)})
	}
	return converted
}

// edit converts edits to an edit of the workspace.
func (f snapshot) edit(edits []editor.Edit) *protocol.WorkspaceEdit {
	workspaceEdit := &protocol.WorkspaceEdit{Changes: make(map[uri.URI][]protocol.TextEdit)}
	lines := make(map[string]*editor.Lines)
	for _, edit := range edits {
		if lines[edit.File] == nil {
			lines[edit.File] = editor.NewLines(f.Text(edit.File))
		}
		fileURI := uriOf(edit.File)
		workspaceEdit.Changes[fileURI] = append(workspaceEdit.Changes[fileURI], protocol.TextEdit{Range: f.rangeOf(lines[edit.File], edit.Range), NewText: edit.Text})
	}
	return workspaceEdit
}

// replacement returns the edit that changes the text of a file to a new text, or no edit if the texts are equal. It replaces the lines from the first
// to the last difference.
func (f snapshot) replacement(name string, text []byte) []protocol.TextEdit {
	oldText := f.Text(name)
	if string(oldText) == string(text) {
		return []protocol.TextEdit{}
	}
	prefix, suffix := editor.Common(oldText, text)
	prefix = bytes.LastIndexByte(oldText[:prefix], '\n') + 1
	if !isLineStart(oldText, len(oldText)-suffix) || !isLineStart(text, len(text)-suffix) {
		suffix = len(afterFirstLine(oldText[len(oldText)-suffix:]))
	}
	replaced := editor.Range{From: prefix, To: len(oldText) - suffix}
	return []protocol.TextEdit{{Range: f.rangeOf(editor.NewLines(oldText), replaced), NewText: string(text[prefix : len(text)-suffix])}}
}

// isLineStart reports whether a line of a text starts at an offset.
func isLineStart(text []byte, offset int) bool { return offset == 0 || text[offset-1] == '\n' }

// afterFirstLine returns the text behind the first line break.
func afterFirstLine(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}
