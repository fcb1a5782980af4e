package lsp

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"tilecheck/editor"
	"tilecheck/editor/lsp/protocol"
)

// resultCommand is the name of the server's command. It checks a property of a file and stores the result. Its arguments are the name of the file,
// and the name or number of the property.
const resultCommand = "tilecheck.result"

// Question asks for the value of a property. The texts are those in the editor; the files may have others.
type Question struct {
	Model, Properties         string // the names of the files
	ModelText, PropertiesText []byte
	Index                     int    // of the property in its file, from 0
	Constants                 string // in the syntax of --const
}

// Check returns the value of a property as a short text such as "= 1/6".
type Check func(ctx context.Context, q *Question) (string, error)

// propertyKey identifies a property by the name of its file and its name, or its number from 1.
type propertyKey struct{ file, property string }

// propertyResult is the value of a property, with the question that it answers.
type propertyResult struct {
	question Question
	text     string
}

// question returns the question for the value of a property, with the current texts. It returns an error if the file has no such property, or no
// model.
func (f snapshot) question(key propertyKey) (*Question, error) {
	lenses := slices.DeleteFunc(f.Lenses(key.file), func(lens editor.Lens) bool { return lens.Command != "check" })
	index := slices.IndexFunc(lenses, func(lens editor.Lens) bool { return lens.Property == key.property })
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

// equal reports whether two questions have the same property, texts and constants.
func (q *Question) equal(other *Question) bool {
	return q.Model == other.Model && q.Index == other.Index && q.Constants == other.Constants &&
		string(q.ModelText) == string(other.ModelText) && string(q.PropertiesText) == string(other.PropertiesText)
}

// executeCommand checks a property and answers with its value. It stores the value for lenses and inlay hints, and the client asks for these again.
func (s *server) executeCommand(ctx context.Context, params *protocol.ExecuteCommandParams) (any, error) {
	if params.Command != resultCommand || len(params.Arguments) != 2 || s.opts.Check == nil {
		return nil, &rpcError{codeInvalidParams, "found the command " + params.Command + ", want " + resultCommand + " with a file and a property"}
	}
	key := propertyKey{params.Arguments[0], params.Arguments[1]}
	question, err := s.snapshot(ctx).question(key)
	if err != nil {
		return nil, err
	}
	text, err := s.opts.Check(ctx, question)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.results == nil {
		s.results = make(map[propertyKey]propertyResult)
	}
	s.results[key] = propertyResult{*question, text}
	refreshMethods := s.refresh
	s.mu.Unlock()
	for _, method := range refreshMethods {
		_ = s.client.request(method)
	}
	return text, nil
}

// resultOf returns the text of a property's value, or "" if the property was not checked. If a file or the constants have changed since, the text
// says so.
func (s *server) resultOf(files snapshot, key propertyKey) string {
	s.mu.Lock()
	stored, ok := s.results[key]
	s.mu.Unlock()
	if !ok {
		return ""
	}
	if current, err := files.question(key); err != nil || !current.equal(&stored.question) {
		return stored.text + " before a change"
	}
	return stored.text
}

// inlayHint answers with the values of the checked properties in a part of a file. Each hint is behind its property and the semicolon.
func (s *server) inlayHint(ctx context.Context, params *protocol.TextDocumentRangeParams) (any, error) {
	files := s.snapshot(ctx)
	name, _, lines := files.locate(params.TextDocument.URI, protocol.Position{})
	within := rangeIn(lines, params.Range, files.utf8)
	hints := []protocol.InlayHint{}
	for _, lens := range files.Lenses(name) {
		end := lens.To
		if bytes.HasPrefix(files.Text(name)[end:], []byte(";")) {
			end++
		}
		isInPart := within.From <= end && end <= within.To
		if lens.Command != "check" || !isInPart {
			continue
		}
		if text := s.resultOf(files, propertyKey{name, lens.Property}); text != "" {
			hints = append(hints, protocol.InlayHint{Position: files.position(lines, end), Label: text, PaddingLeft: true})
		}
	}
	return hints, nil
}
