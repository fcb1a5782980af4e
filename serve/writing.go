package serve

import (
	"context"
	"errors"
	"unicode/utf8"

	"tilecheck/editor"
	"tilecheck/prism/syntax"
)

// texts are those that are being written under two names, so that the next key costs no more than what it changes.
type texts struct{ files *editor.Files }

func (t *texts) bytes() int64 {
	n := int64(1 << 16)
	for _, name := range t.files.Names() {
		n += 40 * int64(len(t.files.Text(name)))
	}
	return n
}

// writing gives the texts of a source to f. Who has other texts under these names gets the right answers, if later.
func (h *handler) writing(ctx context.Context, s *source, f func(files *editor.Files, model, props string) error) error {
	job := h.job(s)
	opts := editor.Options{Consts: job.Consts}
	var files *editor.Files
	err := h.texts.use(ctx, job.File+"\x00"+job.PropsFile+"\x00"+s.Const, func() (*texts, error) {
		return &texts{editor.New(opts)}, nil
	}, func(t *texts) error {
		t.files = replaced(t.files, job.File, job.Model)
		t.files = replaced(t.files, job.PropsFile, job.Properties)
		files = t.files
		return nil
	})
	if err != nil {
		return err
	}
	return f(files, job.File, job.PropsFile)
}

// replaced is a set of texts with another one; an empty one of properties is none.
func replaced(f *editor.Files, name string, text []byte) *editor.Files {
	switch old := f.Text(name); {
	case len(text) == 0 && f.IsProperties(name):
		return f.Without(name)
	case len(text) == 0 && old == nil && syntax.IsProperties(name, nil):
		return f
	case old != nil && string(old) == string(text):
		return f
	}
	return f.With(name, text)
}

// placeQuestion is about a place in the model, or in its properties. It counts in units of UTF-16, as strings of the page do.
type placeQuestion struct {
	source
	InProps bool `json:"in_props"`
	At      int  `json:"at"`
	To      int  `json:"to"` // where the place ends; 0 for the end of the text
}

// which is the name of the text that a question is about, and the place in it in bytes.
func (q *placeQuestion) which(files *editor.Files, model, props string) (name string, at int) {
	name = model
	if q.InProps {
		name = props
	}
	return name, offset(files.Text(name), q.At)
}

// offset is how many bytes of a text there are before so many units of UTF-16.
func offset(text []byte, units int) (at int) {
	for ; units > 0 && at < len(text); units-- {
		r, size := utf8.DecodeRune(text[at:])
		at += size
		if r > 0xffff {
			units--
		}
	}
	return at
}

// completion is a word that can stand at a place.
type completion struct {
	Text   string `json:"text"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

// mostWords are shown of those that can stand at a place.
const mostWords = 500

// complete says which words can stand at a place, and where the one begins that stands there.
func (h *handler) complete(ctx context.Context, q *placeQuestion, _ *reply) (any, error) {
	out := struct {
		From  int          `json:"from"`
		Words []completion `json:"words"`
	}{Words: []completion{}}
	err := h.writing(ctx, &q.source, func(files *editor.Files, model, props string) error {
		name, at := q.which(files, model, props)
		from, found := files.Complete(name, at)
		out.From = q.At - editor.UTF16(files.Text(name)[from:at])
		for _, c := range found[:min(len(found), mostWords)] {
			kind := c.Kind.String()
			if c.Kind == editor.NoKind {
				kind = "keyword"
			}
			out.Words = append(out.Words, completion{c.Text, kind, c.Detail})
		}
		return nil
	})
	return out, err
}

// hover says what a name is: in Markdown, as an editor shows it.
func (h *handler) hover(ctx context.Context, q *placeQuestion, _ *reply) (any, error) {
	out := struct {
		Text string `json:"text"` // empty where there is no name
	}{}
	err := h.writing(ctx, &q.source, func(files *editor.Files, model, props string) error {
		name, at := q.which(files, model, props)
		out.Text, _, _ = files.Hover(ctx, name, at)
		return ctx.Err()
	})
	return out, err
}

// layout is a text as tilecheck fmt lays it out, or what is wrong with it.
func (h *handler) layout(ctx context.Context, q *placeQuestion, _ *reply) (any, error) {
	out := struct {
		Text  string `json:"text"`
		Wrong string `json:"wrong,omitempty"`
	}{}
	err := h.writing(ctx, &q.source, func(files *editor.Files, model, props string) error {
		name, _ := q.which(files, model, props)
		text, err := files.Format(name)
		if list, ok := errors.AsType[syntax.ErrorList](err); ok { // which is no failure of the question
			out.Wrong, err = list[0].Error(), nil
		}
		out.Text = string(text)
		return err
	})
	return out, err
}

// colours are the parts that have one of those that begin between two places: how far each is behind the one before, or behind the first
// place, how long it is, and what, as colourOf has it.
func (h *handler) colours(ctx context.Context, q *placeQuestion, _ *reply) (any, error) {
	out := struct {
		Parts []int `json:"parts"`
	}{Parts: []int{}}
	err := h.writing(ctx, &q.source, func(files *editor.Files, model, props string) error {
		name, end := q.which(files, model, props)
		text := files.Text(name)
		r := editor.Range{From: end, To: len(text)}
		if q.To > 0 {
			r.To = offset(text, q.To)
		}
		for _, t := range files.TokensIn(name, r) {
			if c := colourOf(t); c >= 0 && t.From >= end {
				out.Parts = append(out.Parts, editor.UTF16(text[end:t.From]), editor.UTF16(text[t.From:t.To]), c)
				end = t.To
			}
		}
		return nil
	})
	return out, err
}

// colourOf is a number of the list of colours of the page, -1 for a part without one.
func colourOf(t editor.Token) int {
	switch t.Kind {
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
	switch t.Class {
	case syntax.Comment:
		return 0
	case syntax.Keyword:
		return 1
	case syntax.Number:
		return 2
	}
	return -1
}
