package lsp

import (
	"cmp"
	"context"
	"slices"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
	"tilecheck/prism/syntax"
)

// definition answers with the declaration of a name.
func (s *server) definition(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, _ := files.locate(params.TextDocument.URI, params.Position)
	location, ok := files.Definition(name, offset)
	if !ok {
		return []protocol.Location{}, nil
	}
	return files.locations([]editor.Location{location}), nil
}

// references answers with the places where a name occurs.
func (s *server) references(ctx context.Context, params *protocol.ReferenceParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, _ := files.locate(params.TextDocument.URI, params.Position)
	locations := files.References(name, offset)
	if decl, ok := files.Definition(name, offset); ok && !params.Context.IncludeDeclaration {
		locations = slices.DeleteFunc(locations, func(location editor.Location) bool { return location == decl })
	}
	return files.locations(locations), nil
}

// documentHighlight answers with the places in the same file where a name occurs.
func (s *server) documentHighlight(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, lines := files.locate(params.TextDocument.URI, params.Position)
	highlights := []protocol.DocumentHighlight{}
	for _, location := range files.References(name, offset) {
		if location.File == name {
			highlights = append(highlights, protocol.DocumentHighlight{Range: files.rangeOf(lines, location.Range)})
		}
	}
	return highlights, nil
}

// hover answers with the description of the name or operator at a position.
func (s *server) hover(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, lines := files.locate(params.TextDocument.URI, params.Position)
	text, where, ok := files.Hover(ctx, name, offset)
	if !ok {
		return nil, ctx.Err()
	}
	return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.Markdown, Value: text}, Range: files.rangeOf(lines, where)}, nil
}

// prepareRename answers with the name at a position that a rename would change; nil if there is none.
func (s *server) prepareRename(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, lines := files.locate(params.TextDocument.URI, params.Position)
	for _, location := range files.References(name, offset) {
		if location.File == name && location.From <= offset && offset <= location.To {
			return protocol.PrepareRenamePlaceholder{Range: files.rangeOf(lines, location.Range), Placeholder: string(files.Text(name)[location.From:location.To])}, nil
		}
	}
	return nil, nil
}

// rename answers with the edits that rename a name.
func (s *server) rename(ctx context.Context, params *protocol.RenameParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, _ := files.locate(params.TextDocument.URI, params.Position)
	edits, err := files.Rename(ctx, name, offset, params.NewName)
	if err != nil {
		return nil, err
	}
	return files.edit(edits), nil
}

// completion answers with the words that can be inserted.
func (s *server) completion(ctx context.Context, params *protocol.TextDocumentPositionParams) (any, error) {
	files := s.snapshot(ctx)
	name, offset, lines := files.locate(params.TextDocument.URI, params.Position)
	from, completions := files.Complete(name, offset)
	word := files.rangeOf(lines, editor.Range{From: from, To: offset})
	items := []protocol.CompletionItem{}
	for _, completion := range completions {
		items = append(items, protocol.CompletionItem{
			Label: completion.Text, Kind: completionKind(completion.Kind), Detail: completion.Detail, TextEdit: protocol.TextEdit{Range: word, NewText: completion.Text},
		})
	}
	return items, nil
}

// completionKind returns the kind in the protocol, which decides the icon that an editor shows.
func completionKind(kind editor.Kind) protocol.CompletionItemKind {
	switch kind {
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

// outline converts symbols, with those inside of them, to the symbols of the protocol.
func (f snapshot) outline(lines *editor.Lines, symbols []editor.Symbol) []protocol.DocumentSymbol {
	result := []protocol.DocumentSymbol{}
	for _, symbol := range symbols {
		converted := protocol.DocumentSymbol{
			Name: symbol.Name, Kind: symbolKind(symbol.Kind), Detail: symbol.Detail,
			Range: f.rangeOf(lines, symbol.Whole), SelectionRange: f.rangeOf(lines, symbol.Range),
		}
		if len(symbol.Inside) > 0 {
			converted.Children = f.outline(lines, symbol.Inside)
		}
		result = append(result, converted)
	}
	return result
}

// symbolKind returns the kind in the protocol, which decides the icon that an editor shows.
func symbolKind(kind editor.Kind) protocol.SymbolKind {
	switch kind {
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

// codeLens answers with the commands to show in a file. The client runs tilecheck.check, whose arguments are the model, the file and the property,
// and tilecheck.simulate, whose argument is the file. The last argument is the values of constants, if the model needs some. The server runs
// resultCommand; its title is the value of the property, or "result" if it was not checked.
func (s *server) codeLens(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	files := s.snapshot(ctx)
	name, _, lines := files.locate(params.TextDocument.URI, protocol.Position{})
	lenses := []protocol.CodeLens{}
	for _, lens := range files.Lenses(name) {
		args := []string{name}
		if lens.Command == "check" {
			args = []string{files.ModelOf(name), name, lens.Property}
		}
		if consts := files.Constants(name); consts != "" {
			args = append(args, consts)
		}
		command := protocol.Command{Title: lens.Command, Command: "tilecheck." + lens.Command, Arguments: args}
		start := files.rangeOf(lines, editor.Range{From: lens.From, To: lens.From})
		lenses = append(lenses, protocol.CodeLens{Range: start, Command: command})
		if lens.Command != "check" || s.opts.Check == nil {
			continue
		}
		title := cmp.Or(s.resultOf(files, propertyKey{name, lens.Property}), "result")
		result := protocol.Command{Title: title, Command: resultCommand, Arguments: []string{name, lens.Property}}
		lenses = append(lenses, protocol.CodeLens{Range: start, Command: result})
	}
	return lenses, nil
}

// codeAction answers with the quick fixes.
func (s *server) codeAction(ctx context.Context, params *protocol.TextDocumentRangeParams) (any, error) {
	files := s.snapshot(ctx)
	name, _, lines := files.locate(params.TextDocument.URI, protocol.Position{})
	fixes, err := files.Fixes(ctx, name, rangeIn(lines, params.Range, files.utf8))
	if err != nil {
		return nil, err
	}
	actions := []protocol.CodeAction{}
	for _, fix := range fixes {
		actions = append(actions, protocol.CodeAction{
			Title: fix.Title, Kind: protocol.CodeActionQuickFix, Edit: files.edit(fix.Edits), Diagnostics: []protocol.Diagnostic{files.diagnostic(lines, fix.Of)},
		})
	}
	return actions, nil
}

// formatting answers with the edits that format a file. It answers with none if the file does not parse, because the editor shows the errors already.
func (s *server) formatting(ctx context.Context, params *protocol.TextDocumentParams) (any, error) {
	files := s.snapshot(ctx)
	name := nameOf(params.TextDocument.URI)
	text, err := files.Format(name)
	if _, isSyntaxError := err.(syntax.ErrorList); isSyntaxError {
		return []protocol.TextEdit{}, nil
	}
	if err != nil {
		return nil, err
	}
	return files.replacement(name, text), nil
}

// legend names the types of semantic tokens, in the order of tokenType.
func legend() protocol.SemanticTokensLegend {
	return protocol.SemanticTokensLegend{
		TokenTypes:     []string{"comment", "keyword", "number", "operator", "variable", "enumMember", "macro", "string", "event", "namespace", "struct", "function"},
		TokenModifiers: []string{"declaration", "readonly"},
	}
}

// tokenType returns the index of a token's type in the legend; false if the token gets no colour.
func tokenType(token editor.Token) (index uint32, ok bool) {
	switch token.Kind {
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
	switch token.Class {
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

// tokenModifiers returns the modifiers of a token: bit i stands for modifier i of the legend.
func tokenModifiers(token editor.Token) (bits uint32) {
	if token.Declares {
		bits |= 1
	}
	if token.Kind == editor.Constant {
		bits |= 2
	}
	return bits
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

// semanticTokens returns the semantic tokens in a part of a file. As the protocol requires, each token is five numbers: lines since the previous
// token; columns since the previous token, or since the start of the line; length; index of the type; modifiers as bits.
func (f snapshot) semanticTokens(ctx context.Context, name string, within editor.Range) (any, error) {
	text := f.Text(name)
	lines := editor.NewLines(text)
	data := make([]uint32, 0, 64)
	units := func(from, to int) uint32 { // length in the units of the protocol
		if f.utf8 {
			return uint32(to - from)
		}
		return uint32(editor.UTF16(text[from:to]))
	}
	line, start := 0, 0 // the line and the offset of the previous token
	for i, token := range f.TokensIn(name, within) {
		index, ok := tokenType(token)
		if !ok {
			continue
		}
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tokenLine := line
		for tokenLine+1 < lines.Count() && lines.Offset(tokenLine+1, 0) <= token.From {
			tokenLine++
		}
		if tokenLine > line {
			start = lines.Offset(tokenLine, 0)
		}
		data = append(data, uint32(tokenLine-line), units(start, token.From), units(token.From, token.To), index, tokenModifiers(token))
		line, start = tokenLine, token.From
	}
	return protocol.SemanticTokens{Data: data}, nil
}
