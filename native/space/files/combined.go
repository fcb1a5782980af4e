package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tilecheck/internal/limited"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/syntax"
)

// Combined writes PRISM's .pexp file: the contents of Transitions, States, Labels and, for every
// reward structure, StateRewards and TransitionRewards, separated by empty lines. A reader
// recognises the parts by their first comments, so comments are required, and the format must be
// Plain.
//
// Source: prism -exportmodel model.pexp.
func (w *Writer) Combined(ctx context.Context, out io.Writer) error {
	switch {
	case w.opts.NoHeaders:
		return errors.New("a .pexp file cannot be written without comments, which tell its parts apart")
	case w.opts.Format != Plain:
		return errors.New("a .pexp file is written in PRISM's explicit format only")
	}
	parts := []func(context.Context, io.Writer) error{w.Transitions, w.States}
	if w.program.Type == syntax.POMDP {
		parts = append(parts, w.Observations)
	}
	parts = append(parts, w.Labels)
	for i := range w.program.Rewards {
		parts = append(parts,
			func(ctx context.Context, out io.Writer) error { return w.StateRewards(ctx, out, i) },
			func(ctx context.Context, out io.Writer) error { return w.TransitionRewards(ctx, out, i) })
	}
	for i, part := range parts {
		if i > 0 {
			if _, err := io.WriteString(out, "\n"); err != nil {
				return err
			}
		}
		if err := part(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// ReadCombined reads a model from PRISM's .pexp file. The transitions must be the first part; the
// others may have any order. Errors are those of Read.
func ReadCombined(ctx context.Context, src Source, opts ReadOptions) (*explicit.Space, error) {
	parts, err := split(src)
	if err != nil {
		return nil, err
	}
	return Read(ctx, parts, opts)
}

// section is a part of a .pexp file. title is the first comment of a part with rewards.
type section struct {
	Source
	what, title string
}

// split cuts a .pexp file into its parts.
//
// Source: PRISM's PrismExplicitImporter.
func split(src Source) (Sources, error) {
	var out Sources
	l := newLines(src)
	for i, s := range sections(src) {
		switch {
		case s.what == "":
			l.failAt(s.begin(), `found a reward structure, wanted # State rewards or # Transition rewards behind its name`)
		case i == 0 && s.what != "transitions":
			l.failAt(s.begin(), "found the header of %s, wanted transitions as the first part", s.what)
		case i == 0:
			out.Transitions = s.Source
		case s.what == "transitions", s.what == "states" && out.States != nil, s.what == "labels" && out.Labels != nil,
			s.what == "observations" && out.Observations != nil:
			l.failAt(s.begin(), "found %s again, wanted each part once", s.what)
		case s.what == "states":
			out.States = &s.Source
		case s.what == "labels":
			out.Labels = &s.Source
		case s.what == "observations":
			out.Observations = &s.Source
		case s.what == "state rewards":
			*out.rewards(&out.StateRewards, &out.TransitionRewards, s.title) = s.Source
		case s.what == "transition rewards":
			*out.rewards(&out.TransitionRewards, &out.StateRewards, s.title) = s.Source
		}
	}
	return out, l.errs.Err()
}

// rewards returns the place for a part with rewards: in the last structure if that has the same
// title and only the other kind of rewards, otherwise in a new structure.
func (out *Sources) rewards(these, others *[]Source, title string) *Source {
	n := len(*these)
	if n == 0 || (*these)[n-1].Text != nil || titleOf((*others)[n-1]) != title {
		*these, *others = append(*these, Source{}), append(*others, Source{})
		n++
	}
	return &(*these)[n-1]
}

// titleOf returns the first line of rewards.
func titleOf(s Source) string {
	line, _, _ := bytes.Cut(s.Text, []byte("\n"))
	return strings.TrimSpace(string(line))
}

// begin returns the position of the first line of a part.
func (s *section) begin() syntax.Pos {
	return syntax.Pos{Offset: int32(min(s.offset, math.MaxInt32)), Line: int32(s.line + 1), Col: 1}
}

// sections splits the text at the comments that start a part. Text before the first of them is the
// transitions.
func sections(src Source) []section {
	var out []section
	add := func(s section) {
		if n := len(out); n > 0 {
			out[n-1].Text = src.Text[out[n-1].offset:s.offset]
		}
		out = append(out, s)
	}
	title := -1 // index in out of rewards whose kind the next comment gives; -1 for none
	data := false
	offset, line := 0, 0
	for text := range bytes.Lines(src.Text) {
		comment := ""
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '#' {
			comment = string(trimmed)
		} else {
			data = data || len(trimmed) > 0
		}
		at := section{Source: Source{Name: src.Name, offset: offset, line: line}}
		what := partOf(comment)
		switch {
		case strings.HasPrefix(comment, rewardTitle):
			at.title = comment
			title = len(out)
			add(at)
		case what == "":
			if data && len(out) == 0 {
				add(section{Source: Source{Name: src.Name}, what: "transitions"})
			}
		case title >= 0 && strings.HasSuffix(what, "rewards"):
			out[title].what = what
			title = -1
		default:
			at.what = what
			add(at)
			title = -1
		}
		offset += len(text)
		line++
	}
	if n := len(out); n > 0 {
		out[n-1].Text = src.Text[out[n-1].offset:]
		return out
	}
	return []section{{Source: src, what: "transitions"}}
}

// rewardTitle starts the first comment of both parts of a reward structure.
const rewardTitle = "# Reward structure"

// partOf returns the kind of part that starts with a comment, "" if none does.
func partOf(comment string) string {
	for _, h := range headers() {
		if strings.HasPrefix(comment, h.text) {
			return h.what
		}
	}
	return ""
}

// Gunzip decompresses a text. It counts the bytes first without storing them, because few bytes
// can expand to many. The error is limited.TooLarge if the text has more than limit bytes.
func Gunzip(zipped []byte, limit int64) ([]byte, error) {
	size, err := unzip(zipped, io.Discard, limit+1)
	if size > limit {
		return nil, limited.TooLarge(limit)
	}
	var text bytes.Buffer
	if err == nil {
		text.Grow(int(size) + bytes.MinRead)
		_, err = unzip(zipped, &text, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("not what gzip writes: %w", err)
	}
	return text.Bytes(), nil
}

// unzip decompresses at most limit bytes to out and returns their number.
func unzip(zipped []byte, out io.Writer, limit int64) (int64, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return 0, err
	}
	return io.Copy(out, io.LimitReader(r, limit))
}
