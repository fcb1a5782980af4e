// Package protocol has the messages of the Language Server Protocol that our server
// reads and writes, as encoding/json takes them. A module with the whole protocol
// takes as long to compile as a fifth of tilecheck.
//
// Source: Language Server Protocol Specification 3.17, with its names.
package protocol

import (
	"encoding/json"

	"go.lsp.dev/uri"
)

// Position is a place in a text, counted from 0. Characters are units of UTF-16, or
// bytes if the client agreed to that.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range ends before End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in a document.
type Location struct {
	URI   uri.URI `json:"uri"`
	Range Range   `json:"range"`
}

// PositionEncodingUTF8 says that Character counts bytes.
const PositionEncodingUTF8 = "utf-8"

// InitializeParams is what the client can do.
type InitializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			CodeLens  RefreshSupport `json:"codeLens"`
			InlayHint RefreshSupport `json:"inlayHint"`
		} `json:"workspace"`
	} `json:"capabilities"`
	InitializationOptions json.RawMessage `json:"initializationOptions"`
}

// RefreshSupport says whether the server may ask the client to ask again.
type RefreshSupport struct {
	RefreshSupport bool `json:"refreshSupport"`
}

// DidChangeConfigurationParams has the settings of the client.
type DidChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// Settings are the settings of this server.
type Settings struct {
	Tilecheck struct {
		Constants *string `json:"constants"` // in the syntax of --const; nil if the settings do not have it
	} `json:"tilecheck"`
}

// ShowMessageParams is a message for the user.
type ShowMessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// MessageWarning is the type of a warning.
const MessageWarning = 2

// InitializeResult is what the server can do.
type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   ServerInfo         `json:"serverInfo"`
}

// ServerInfo names the server.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServerCapabilities lists the requests that are answered.
type ServerCapabilities struct {
	PositionEncoding           string                  `json:"positionEncoding,omitzero"`
	TextDocumentSync           TextDocumentSyncOptions `json:"textDocumentSync"`
	CompletionProvider         CompletionOptions       `json:"completionProvider"`
	HoverProvider              bool                    `json:"hoverProvider"`
	DefinitionProvider         bool                    `json:"definitionProvider"`
	ReferencesProvider         bool                    `json:"referencesProvider"`
	DocumentHighlightProvider  bool                    `json:"documentHighlightProvider"`
	DocumentSymbolProvider     bool                    `json:"documentSymbolProvider"`
	CodeActionProvider         CodeActionOptions       `json:"codeActionProvider"`
	CodeLensProvider           struct{}                `json:"codeLensProvider"`
	DocumentFormattingProvider bool                    `json:"documentFormattingProvider"`
	RenameProvider             RenameOptions           `json:"renameProvider"`
	SemanticTokensProvider     SemanticTokensOptions   `json:"semanticTokensProvider"`
	ExecuteCommandProvider     *ExecuteCommandOptions  `json:"executeCommandProvider,omitempty"`
	InlayHintProvider          bool                    `json:"inlayHintProvider,omitzero"`
}

// SyncIncremental asks for the changes of a document instead of its whole text.
const SyncIncremental = 2

// TextDocumentSyncOptions says which changes of documents the client reports to the server.
type TextDocumentSyncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

// CompletionOptions has the characters that ask for completion.
type CompletionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

// CodeActionQuickFix is the kind of an action that mends a diagnostic.
const CodeActionQuickFix = "quickfix"

// CodeActionOptions has the kinds of actions that there are.
type CodeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

// RenameOptions says whether a name is asked for before it is renamed.
type RenameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

// SemanticTokensOptions says which tokens can be asked for.
type SemanticTokensOptions struct {
	Legend SemanticTokensLegend `json:"legend"`
	Range  bool                 `json:"range"`
	Full   bool                 `json:"full"`
}

// SemanticTokensLegend names the numbers in the tokens.
type SemanticTokensLegend struct {
	TokenTypes     []string `json:"tokenTypes"`
	TokenModifiers []string `json:"tokenModifiers"`
}

// TextDocumentIdentifier names a document, and its version where there is one.
type TextDocumentIdentifier struct {
	URI     uri.URI `json:"uri"`
	Version int32   `json:"version"`
}

// DidOpenTextDocumentParams has the text of a document.
type DidOpenTextDocumentParams struct {
	TextDocument struct {
		TextDocumentIdentifier
		Text string `json:"text"`
	} `json:"textDocument"`
}

// DidChangeTextDocumentParams has the changes of a document, in their order.
type DidChangeTextDocumentParams struct {
	TextDocument   TextDocumentIdentifier           `json:"textDocument"`
	ContentChanges []TextDocumentContentChangeEvent `json:"contentChanges"`
}

// TextDocumentContentChangeEvent replaces a range, or without one the whole document.
type TextDocumentContentChangeEvent struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

// TextDocumentParams names the document that a request or a notification is about.
type TextDocumentParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// TextDocumentPositionParams names a place.
type TextDocumentPositionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Position     Position               `json:"position"`
}

// TextDocumentRangeParams names a part of a document.
type TextDocumentRangeParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
}

// ReferenceParams asks where a name stands.
type ReferenceParams struct {
	TextDocumentPositionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// RenameParams has the new name.
type RenameParams struct {
	TextDocumentPositionParams
	NewName string `json:"newName"`
}

// CancelParams names a request that nobody waits for any longer, by a number or a string.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// DocumentHighlight is a place to highlight.
type DocumentHighlight struct {
	Range Range `json:"range"`
}

// Hover is the text that the client shows beside a range.
type Hover struct {
	Contents MarkupContent `json:"contents"`
	Range    Range         `json:"range"`
}

// Markdown is a kind of text.
const Markdown = "markdown"

// MarkupContent is a text of a kind.
type MarkupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// PrepareRenamePlaceholder is a name that can be renamed.
type PrepareRenamePlaceholder struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}

// TextEdit replaces a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit has edits of several documents.
type WorkspaceEdit struct {
	Changes map[uri.URI][]TextEdit `json:"changes"`
}

// CompletionItemKind is the symbol beside a completion.
type CompletionItemKind int

// The kinds of completions that we have.
const (
	CompletionFunction CompletionItemKind = 3
	CompletionVariable CompletionItemKind = 6
	CompletionModule   CompletionItemKind = 9
	CompletionProperty CompletionItemKind = 10
	CompletionKeyword  CompletionItemKind = 14
	CompletionConstant CompletionItemKind = 21
	CompletionEvent    CompletionItemKind = 23
)

// CompletionItem is what can stand at a place.
type CompletionItem struct {
	Label    string             `json:"label"`
	Kind     CompletionItemKind `json:"kind"`
	Detail   string             `json:"detail,omitzero"`
	TextEdit TextEdit           `json:"textEdit"`
}

// SymbolKind is the symbol beside an entry of the outline.
type SymbolKind int

// The kinds of symbols that we have.
const (
	SymbolModule   SymbolKind = 2
	SymbolProperty SymbolKind = 7
	SymbolFunction SymbolKind = 12
	SymbolVariable SymbolKind = 13
	SymbolConstant SymbolKind = 14
	SymbolBoolean  SymbolKind = 17
	SymbolStruct   SymbolKind = 23
)

// DocumentSymbol is an entry of the outline.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail"`
	Kind           SymbolKind       `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// CodeLens is a command that is shown above a line.
type CodeLens struct {
	Range   Range   `json:"range"`
	Command Command `json:"command"`
}

// Command is for the client to run.
type Command struct {
	Title     string   `json:"title"`
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// ExecuteCommandOptions lists the commands that the server runs.
type ExecuteCommandOptions struct {
	Commands []string `json:"commands"`
}

// ExecuteCommandParams is a command with its arguments.
type ExecuteCommandParams struct {
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// InlayHint is a text that is shown within a line, and is not in the file.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
}

// CodeAction mends diagnostics.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics"`
	Edit        *WorkspaceEdit `json:"edit"`
}

// SemanticTokens has five numbers for each token.
type SemanticTokens struct {
	Data []uint32 `json:"data"`
}

// DiagnosticSeverity says how bad it is.
type DiagnosticSeverity int

// The severities that we have.
const (
	SeverityError   DiagnosticSeverity = 1
	SeverityWarning DiagnosticSeverity = 2
	SeverityHint    DiagnosticSeverity = 4
)

// Diagnostic describes a problem in a range of a document.
type Diagnostic struct {
	Range    Range              `json:"range"`
	Severity DiagnosticSeverity `json:"severity"`
	Code     string             `json:"code,omitzero"`
	Source   string             `json:"source"`
	Message  string             `json:"message"`
}

// PublishDiagnosticsParams are all diagnostics of a document. The version is that of
// the text; a document that the client has not opened has none.
type PublishDiagnosticsParams struct {
	URI         uri.URI      `json:"uri"`
	Version     *int32       `json:"version,omitzero"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}
