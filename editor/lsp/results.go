package lsp

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
)

// resultCommand is the command that the server runs: it checks a property of a file and keeps the result. Its arguments are the name of the
// file and that of the property, or its number.
const resultCommand = "tilecheck.result"

// Question asks for the value of a property. The texts are those of the editor, which need not be saved.
type Question struct {
	Model, Properties         string // the names of the files
	ModelText, PropertiesText []byte
	Index                     int    // of the property among those of the file
	Constants                 string // in the syntax of --const
}

// Check returns the value of a property in a short text such as "= 1/6".
type Check func(ctx context.Context, q *Question) (string, error)

// propertyKey names a property of a file.
type propertyKey struct{ file, property string }

// propertyResult is a value with the question that it answers.
type propertyResult struct {
	question Question
	text     string
}

// question returns the question about a property of a file.
func (f snapshot) question(key propertyKey) (*Question, error) {
	lenses := slices.DeleteFunc(f.Lenses(key.file), func(l editor.Lens) bool { return l.Command != "check" })
	index := slices.IndexFunc(lenses, func(l editor.Lens) bool { return l.Property == key.property })
	model := f.ModelOf(key.file)
	switch {
	case index < 0:
		return nil, errors.New("there is no property " + key.property + " in " + key.file)
	case model == "":
		return nil, errors.New("no model belongs to " + key.file)
	}
	return &Question{
		Model: model, Properties: key.file, ModelText: f.Text(model), PropertiesText: f.Text(key.file), Index: index, Constants: f.Constants(key.file),
	}, nil
}

// same reports whether two questions have the same texts and constants.
func (q *Question) same(other *Question) bool {
	return q.Model == other.Model && q.Index == other.Index && q.Constants == other.Constants &&
		string(q.ModelText) == string(other.ModelText) && string(q.PropertiesText) == string(other.PropertiesText)
}

// executeCommand checks a property, keeps its value for lenses and inlay hints, and answers with it.
func (s *server) executeCommand(ctx context.Context, params *protocol.ExecuteCommandParams) (any, error) {
	if params.Command != resultCommand || len(params.Arguments) != 2 || s.opts.Check == nil {
		return nil, &rpcError{codeInvalidParams, "found the command " + params.Command + ", want " + resultCommand + " with a file and a property"}
	}
	key := propertyKey{params.Arguments[0], params.Arguments[1]}
	q, err := s.snapshot(ctx).question(key)
	if err != nil {
		return nil, err
	}
	text, err := s.opts.Check(ctx, q)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.results == nil {
		s.results = make(map[propertyKey]propertyResult)
	}
	s.results[key] = propertyResult{*q, text}
	refresh := s.refresh
	s.mu.Unlock()
	for _, method := range refresh {
		_ = s.client.request(method)
	}
	return text, nil
}

// resultOf returns the value of a property, if it was checked. It says so if that was for other texts or constants.
func (s *server) resultOf(f snapshot, key propertyKey) string {
	s.mu.Lock()
	known, ok := s.results[key]
	s.mu.Unlock()
	if !ok {
		return ""
	}
	if now, err := f.question(key); err != nil || !now.same(&known.question) {
		return known.text + " before a change"
	}
	return known.text
}

// inlayHint answers with the values of the properties that were checked, behind each of them.
func (s *server) inlayHint(ctx context.Context, params *protocol.TextDocumentRangeParams) (any, error) {
	f := s.snapshot(ctx)
	name, _, lines := f.locate(params.TextDocument.URI, protocol.Position{})
	in := rangeIn(lines, params.Range, f.utf8)
	out := []protocol.InlayHint{}
	for _, l := range f.Lenses(name) {
		end := l.To
		if bytes.HasPrefix(f.Text(name)[end:], []byte(";")) {
			end++
		}
		if text := s.resultOf(f, propertyKey{name, l.Property}); l.Command == "check" && text != "" && in.From <= end && end <= in.To {
			out = append(out, protocol.InlayHint{Position: f.position(lines, end), Label: text, PaddingLeft: true})
		}
	}
	return out, nil
}
