package serve

import (
	"context"
	"errors"
	"unicode/utf8"

	"tilecheck/editor"
	"tilecheck/prism/syntax"
)

// texts holds the texts that are edited under two names, so that a keystroke costs only what it
// changes.
type texts struct{ files *editor.Files }

func (t *texts) bytes() int64 {
	n := int64(1 << 16)
	for _, name := range t.files.Names() {
		n += 40 * int64(len(t.files.Text(name)))
	}
	return n
}

// withTexts calls action with the files of a source. It keeps the analysed files, by their names,
// for the next request. If two users have different texts under the same names, each request
// analyses the texts again.
func (h *API) withTexts(ctx context.Context, input *source, action func(files *editor.Files, model, props string) error) error {
	job := h.job(input)
	opts := editor.Options{Consts: job.Consts}
	var files *editor.Files
	err := h.texts.use(ctx, job.File+"\x00"+job.PropsFile+"\x00"+input.Const, func() (*texts, error) {
		return &texts{editor.New(opts)}, nil
	}, func(cached *texts) error {
		cached.files = replaced(cached.files, job.File, job.Model)
		cached.files = replaced(cached.files, job.PropsFile, job.Properties)
		files = cached.files
		return nil
	})
	if err != nil {
		return err
	}
	return action(files, job.File, job.PropsFile)
}

// replaced returns the set with a new text. An empty properties file is removed.
func replaced(files *editor.Files, name string, text []byte) *editor.Files {
	switch oldText := files.Text(name); {
	case len(text) == 0 && files.IsProperties(name):
		return files.Without(name)
	case len(text) == 0 && oldText == nil && syntax.IsProperties(name, nil):
		return files
	case oldText != nil && string(oldText) == string(text):
		return files
	}
	return files.With(name, text)
}

// placeQuestion is a request about a place in the model or its properties. Offsets count units of
// UTF-16, as strings in JavaScript do.
type placeQuestion struct {
	source
	InProps bool `json:"in_props"`
	At      int  `json:"at"`
	To      int  `json:"to"` // where the place ends; 0 for the end of the text
}

// place returns the name of the text and the offset in bytes.
func (q *placeQuestion) place(files *editor.Files, model, props string) (name string, at int) {
	name = model
	if q.InProps {
		name = props
	}
	return name, offset(files.Text(name), q.At)
}

// offset returns the number of bytes before the given number of UTF-16 units.
func offset(text []byte, units int) (start int) {
	for ; units > 0 && start < len(text); units-- {
		character, size := utf8.DecodeRune(text[start:])
		start += size
		if character > 0xffff {
			units--
		}
	}
	return start
}

// completion is a word that can be inserted.
type completion struct {
	Text   string `json:"text"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

// maxWords is the largest number of completions in an answer.
const maxWords = 500

// complete returns the words that can be inserted at a place, and the start of the word that they
// replace.
func (h *API) complete(ctx context.Context, question *placeQuestion, _ *reply) (any, error) {
	answer := struct {
		From  int          `json:"from"`
		Words []completion `json:"words"`
	}{Words: []completion{}}
	err := h.withTexts(ctx, &question.source, func(files *editor.Files, model, props string) error {
		name, offset := question.place(files, model, props)
		start, words := files.Complete(name, offset)
		answer.From = question.At - editor.UTF16(files.Text(name)[start:offset])
		for _, word := range words[:min(len(words), maxWords)] {
			kind := word.Kind.String()
			if word.Kind == editor.NoKind {
				kind = "keyword"
			}
			answer.Words = append(answer.Words, completion{word.Text, kind, word.Detail})
		}
		return nil
	})
	return answer, err
}

// hover describes a name in Markdown.
func (h *API) hover(ctx context.Context, question *placeQuestion, _ *reply) (any, error) {
	answer := struct {
		Text string `json:"text"` // empty where there is no name
	}{}
	err := h.withTexts(ctx, &question.source, func(files *editor.Files, model, props string) error {
		name, offset := question.place(files, model, props)
		answer.Text, _, _ = files.Hover(ctx, name, offset)
		return ctx.Err()
	})
	return answer, err
}

// layout returns the formatted text, as tilecheck fmt does, or its first error.
func (h *API) layout(ctx context.Context, question *placeQuestion, _ *reply) (any, error) {
	answer := struct {
		Text  string `json:"text"`
		Wrong string `json:"wrong,omitempty"`
	}{}
	err := h.withTexts(ctx, &question.source, func(files *editor.Files, model, props string) error {
		name, _ := question.place(files, model, props)
		text, err := files.Format(name)
		if list, ok := errors.AsType[syntax.ErrorList](err); ok { // a text that does not parse is a valid request
			answer.Wrong, err = list[0].Error(), nil
		}
		answer.Text = string(text)
		return err
	})
	return answer, err
}

// colours returns the coloured parts of a text between two places. Each part has three numbers:
// its distance from the end of the previous part, its length, and its colour.
func (h *API) colours(ctx context.Context, question *placeQuestion, _ *reply) (any, error) {
	answer := struct {
		Parts []int `json:"parts"`
	}{Parts: []int{}}
	err := h.withTexts(ctx, &question.source, func(files *editor.Files, model, props string) error {
		name, end := question.place(files, model, props)
		text := files.Text(name)
		span := editor.Range{From: end, To: len(text)}
		if question.To > 0 {
			span.To = offset(text, question.To)
		}
		for _, token := range files.TokensIn(name, span) {
			if colour := colourOf(token); colour >= 0 && token.From >= end {
				answer.Parts = append(answer.Parts, editor.UTF16(text[end:token.From]), editor.UTF16(text[token.From:token.To]), colour)
				end = token.To
			}
		}
		return nil
	})
	return answer, err
}

// colourOf returns the number of a colour on the page; -1 for a part without one.
func colourOf(token editor.Token) int {
	switch token.Kind {
	case editor.Constant:
		return 3
	case editor.Formula:
		return 4
	case editor.Label, editor.Property, editor.Observable:
		return 5
	case editor.Action:
		return 6
	case editor.Module, editor.SystemName, editor.RewardStruct:
		return 7
	case editor.Function:
		return 1
	}
	switch token.Class {
	case syntax.Comment:
		return 0
	case syntax.Keyword:
		return 1
	case syntax.Number:
		return 2
	}
	return -1
}
