package lsp

import (
	"context"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
	"tilecheck/prism/syntax"
)

// definition answers with the declaration of a name.
func (s *server) definition(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, _ := f.locate(params.TextDocument.URI, params.Position)
	l, ok := f.Definition(name, offset)
	if !ok {
		return []protocol.Location{}, nil
	}
	return f.locations([]editor.Location{l}), nil
}

// references answers with the places where a name occurs.
func (s *server) references(ctx context.Context, params *protocol.ReferenceParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, _ := f.locate(params.TextDocument.URI, params.Position)
	list := f.References(name, offset)
	if decl, ok := f.Definition(name, offset); ok && !params.Context.IncludeDeclaration {
		kept := list[:0]
		for _, l := range list {
			if l != decl {
				kept = append(kept, l)
			}
		}
		list = kept
	}
	return f.locations(list), nil
}

// documentHighlight answers with the places in the same file where a name occurs.
func (s *server) documentHighlight(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, lines := f.locate(params.TextDocument.URI, params.Position)
	out := []protocol.DocumentHighlight{}
	for _, l := range f.References(name, offset) {
		if l.File == name {
			out = append(out, protocol.DocumentHighlight{Range: f.rangeOf(lines, l.Range)})
		}
	}
	return out, nil
}

// hover answers with the description of a name.
func (s *server) hover(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, lines := f.locate(params.TextDocument.URI, params.Position)
	text, at, ok := f.Hover(ctx, name, offset)
	if !ok {
		return nil, ctx.Err()
	}
	return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.Markdown, Value: text}, Range: f.rangeOf(lines, at)}, nil
}

// prepareRename answers with the name that would be renamed.
func (s *server) prepareRename(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, lines := f.locate(params.TextDocument.URI, params.Position)
	for _, l := range f.References(name, offset) {
		if l.File == name && l.From <= offset && offset <= l.To {
			return protocol.PrepareRenamePlaceholder{Range: f.rangeOf(lines, l.Range), Placeholder: string(f.Text(name)[l.From:l.To])}, nil
		}
	}
	return nil, nil
}

// rename answers with the edits that rename a name.
func (s *server) rename(ctx context.Context, params *protocol.RenameParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, _ := f.locate(params.TextDocument.URI, params.Position)
	edits, err := f.Rename(ctx, name, offset, params.NewName)
	if err != nil {
		return nil, err
	}
	return f.edit(edits), nil
}

// completion answers with the words that can be inserted.
func (s *server) completion(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	f := s.snapshot(ctx)
	name, offset, lines := f.locate(params.TextDocument.URI, params.Position)
	from, found := f.Complete(name, offset)
	at := f.rangeOf(lines, editor.Range{From: from, To: offset})
	items := []protocol.CompletionItem{}
	for _, c := range found {
		items = append(items, protocol.CompletionItem{
			Label: c.Text, Kind: completionKind(c.Kind), Detail: c.Detail, TextEdit: protocol.TextEdit{Range: at, NewText: c.Text},
		})
	}
	return items, nil
}

func completionKind(k editor.Kind) protocol.CompletionItemKind {
	switch k {
	case editor.NoKind:
		return protocol.CompletionKeyword
	case editor.Constant:
		return protocol.CompletionConstant
	case editor.Formula, editor.Function:
		return protocol.CompletionFunction
	case editor.Action:
		return protocol.CompletionEvent
	case editor.Module:
		return protocol.CompletionModule
	case editor.Label, editor.Property:
		return protocol.CompletionProperty
	}
	return protocol.CompletionVariable
}

// documentSymbol answers with the outline of a file.
func (s *server) documentSymbol(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	f := s.snapshot(ctx)
	name, _, lines := f.locate(params.TextDocument.URI, protocol.Position{})
	return f.outline(lines, f.Symbols(name)), nil
}

func (f snapshot) outline(lines *editor.Lines, symbols []editor.Symbol) []protocol.DocumentSymbol {
	out := []protocol.DocumentSymbol{}
	for _, x := range symbols {
		symbol := protocol.DocumentSymbol{
			Name: x.Name, Kind: symbolKind(x.Kind), Detail: x.Detail, Range: f.rangeOf(lines, x.Whole), SelectionRange: f.rangeOf(lines, x.Range),
		}
		if len(x.Inside) > 0 {
			symbol.Children = f.outline(lines, x.Inside)
		}
		out = append(out, symbol)
	}
	return out
}

func symbolKind(k editor.Kind) protocol.SymbolKind {
	switch k {
	case editor.Constant:
		return protocol.SymbolConstant
	case editor.Formula:
		return protocol.SymbolFunction
	case editor.Module, editor.SystemName:
		return protocol.SymbolModule
	case editor.RewardStruct:
		return protocol.SymbolStruct
	case editor.Label, editor.Observable:
		return protocol.SymbolBoolean
	case editor.Property:
		return protocol.SymbolProperty
	}
	return protocol.SymbolVariable
}

// codeLens answers with the commands of a file. The client runs them: tilecheck.check with the
// model, the file and the property, and tilecheck.simulate with the file. The values of constants that the model needs are behind them.
// The server runs resultCommand, whose title is the value once that is known.
func (s *server) codeLens(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	f := s.snapshot(ctx)
	name, _, lines := f.locate(params.TextDocument.URI, protocol.Position{})
	out := []protocol.CodeLens{}
	for _, l := range f.Lenses(name) {
		args := []string{name}
		if l.Command == "check" {
			args = []string{f.ModelOf(name), name, l.Property}
		}
		if consts := f.Constants(name); consts != "" {
			args = append(args, consts)
		}
		command := protocol.Command{Title: l.Command, Command: "tilecheck." + l.Command, Arguments: args}
		at := f.rangeOf(lines, editor.Range{From: l.From, To: l.From})
		out = append(out, protocol.CodeLens{Range: at, Command: command})
		if l.Command != "check" || s.opts.Check == nil {
			continue
		}
		title := s.resultOf(f, propertyKey{name, l.Property})
		if title == "" {
			title = "result"
		}
		out = append(out, protocol.CodeLens{Range: at, Command: protocol.Command{Title: title, Command: resultCommand, Arguments: []string{name, l.Property}}})
	}
	return out, nil
}

// codeAction answers with the quick fixes.
func (s *server) codeAction(ctx context.Context, params *protocol.TextDocumentRangeParams) (any, error) {
	f := s.snapshot(ctx)
	name, _, lines := f.locate(params.TextDocument.URI, protocol.Position{})
	fixes, err := f.Fixes(ctx, name, rangeIn(lines, params.Range, f.utf8))
	if err != nil {
		return nil, err
	}
	out := []protocol.CodeAction{}
	for _, fix := range fixes {
		out = append(out, protocol.CodeAction{
			Title: fix.Title, Kind: protocol.CodeActionQuickFix, Edit: f.edit(fix.Edits), Diagnostics: []protocol.Diagnostic{f.diagnostic(lines, fix.Of)},
		})
	}
	return out, nil
}

// formatting answers with the edits that format a file; none if the file does not parse, since its
// errors are shown already.
func (s *server) formatting(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	f := s.snapshot(ctx)
	name := nameOf(params.TextDocument.URI)
	text, err := f.Format(name)
	if _, wrong := err.(syntax.ErrorList); wrong {
		return []protocol.TextEdit{}, nil
	}
	if err != nil {
		return nil, err
	}
	return f.replacement(name, text), nil
}

// legend names the types of semantic tokens, in the order of tokenType.
func legend() protocol.SemanticTokensLegend {
	return protocol.SemanticTokensLegend{
		TokenTypes:     []string{"comment", "keyword", "number", "operator", "variable", "enumMember", "macro", "string", "event", "namespace", "struct", "function"},
		TokenModifiers: []string{"declaration", "readonly"},
	}
}

// tokenType is the index of a token's type in the legend.
func tokenType(t editor.Token) (index uint32, ok bool) {
	switch t.Kind {
	case editor.Constant:
		return 5, true
	case editor.Formula:
		return 6, true
	case editor.Label, editor.Property, editor.Observable:
		return 7, true
	case editor.Action:
		return 8, true
	case editor.Module, editor.SystemName:
		return 9, true
	case editor.RewardStruct:
		return 10, true
	case editor.Function:
		return 11, true
	case editor.Variable:
		return 4, true
	}
	switch t.Class {
	case syntax.Comment:
		return 0, true
	case syntax.Keyword:
		return 1, true
	case syntax.Number:
		return 2, true
	case syntax.Symbol:
		return 3, true
	case syntax.Name, syntax.Primed:
		return 4, true
	}
	return 0, false
}

// semanticTokensFull answers with the semantic tokens of a file.
func (s *server) semanticTokensFull(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	f := s.snapshot(ctx)
	name := nameOf(params.TextDocument.URI)
	return f.semanticTokens(ctx, name, editor.Range{To: len(f.Text(name))})
}

// semanticTokensRange answers with the semantic tokens of a part of a file, such as the visible
// one.
func (s *server) semanticTokensRange(ctx context.Context, params *protocol.TextDocumentRangeParams) (any, error) {
	f := s.snapshot(ctx)
	name, _, lines := f.locate(params.TextDocument.URI, protocol.Position{})
	return f.semanticTokens(ctx, name, rangeIn(lines, params.Range, f.utf8))
}

// semanticTokens returns the semantic tokens in a part of a file, each relative to the previous one.
func (f snapshot) semanticTokens(ctx context.Context, name string, in editor.Range) (any, error) {
	text := f.Text(name)
	lines := editor.NewLines(text)
	data := make([]uint32, 0, 64)
	units := func(from, to int) uint32 { // length in the units of the protocol
		if f.utf8 {
			return uint32(to - from)
		}
		return uint32(editor.UTF16(text[from:to]))
	}
	line, at := 0, 0 // of the previous token
	for i, t := range f.TokensIn(name, in) {
		index, ok := tokenType(t)
		if !ok {
			continue
		}
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		next := line
		for next+1 < lines.Count() && lines.Offset(next+1, 0) <= t.From {
			next++
		}
		if next > line {
			at = lines.Offset(next, 0)
		}
		var modifiers uint32
		if t.Declares {
			modifiers |= 1
		}
		if t.Kind == editor.Constant {
			modifiers |= 2
		}
		data = append(data, uint32(next-line), units(at, t.From), units(t.From, t.To), index, modifiers)
		line, at = next, t.From
	}
	return protocol.SemanticTokens{Data: data}, nil
}
