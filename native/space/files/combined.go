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

// Combined writes PRISM's .pexp file. It has the transitions, states and labels, and the rewards of every
// structure, separated by empty lines. The format must be Plain. Comments are required, because a reader
// recognises the contents by them.
//
// Source: prism -exportmodel model.pexp.
func (writer *Writer) Combined(ctx context.Context, out io.Writer) error {
	switch {
	case writer.opts.NoHeaders:
		return errors.New("a .pexp file cannot be written without comments, because they separate its parts")
	case writer.opts.Format != Plain:
		return errors.New("a .pexp file is written in PRISM's explicit format only")
	}
	for i, writePart := range writer.sectionWriters() {
		if i > 0 {
			if _, err := io.WriteString(out, "\n"); err != nil {
				return err
			}
		}
		if err := writePart(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// sectionWriters returns the functions that write the sections of a .pexp file, in their order. Each section is like a separate file of
// PRISM.
func (writer *Writer) sectionWriters() []func(context.Context, io.Writer) error {
	writers := []func(context.Context, io.Writer) error{writer.Transitions, writer.States}
	if writer.program.Type == syntax.POMDP {
		writers = append(writers, writer.Observations)
	}
	writers = append(writers, writer.Labels)
	for i := range writer.program.Rewards {
		writers = append(writers,
			func(ctx context.Context, out io.Writer) error { return writer.StateRewards(ctx, out, i) },
			func(ctx context.Context, out io.Writer) error { return writer.TransitionRewards(ctx, out, i) })
	}
	return writers
}

// ReadCombinedFile reads a model from PRISM's .pexp file. The transitions must be the first section. Other sections
// may have any order. It returns the same errors as Read.
func ReadCombinedFile(ctx context.Context, source Source, opts ReadOptions) (*explicit.Space, error) {
	parts, err := splitSections(source)
	if err != nil {
		return nil, err
	}
	return Read(ctx, parts, opts)
}

// section is a part of a .pexp file. kind names its contents, such as "state rewards". rewardTitle
// is the first comment of a part with rewards.
type section struct {
	Source
	kind, rewardTitle string
}

// splitSections splits a .pexp file at its headers into the separate files that Read expects. It returns an error for a missing or a
// repeated section.
//
// Source: PRISM's PrismExplicitImporter.
func splitSections(source Source) (Sources, error) {
	var sources Sources
	diagnostics := newLines(source)
	for index, current := range findSections(source) {
		switch {
		case current.kind == "":
			diagnostics.ErrorAtPos(current.firstPos(), `found a reward structure, wanted # State rewards or # Transition rewards behind its name`)
		case index == 0 && current.kind != "transitions":
			diagnostics.ErrorAtPos(current.firstPos(), "found the header of %s, wanted transitions as the first part", current.kind)
		case index > 0 && sources.hasSection(current.kind):
			diagnostics.ErrorAtPos(current.firstPos(), "found %s again, wanted each part once", current.kind)
		default:
			sources.setSection(current)
		}
	}
	return sources, diagnostics.Errs.Err()
}

// hasSection reports whether an earlier section of a .pexp file has the given kind, if the kind may occur only once. The transitions are
// always the first section, so the file has them.
func (sources *Sources) hasSection(kind string) bool {
	switch kind {
	case "transitions":
		return true
	case "states":
		return sources.States != nil
	case "labels":
		return sources.Labels != nil
	case "observations":
		return sources.Observations != nil
	}
	return false
}

// setSection stores a section of a .pexp file as the source of its kind.
func (sources *Sources) setSection(section section) {
	switch section.kind {
	case "transitions":
		sources.Transitions = section.Source
	case "states":
		sources.States = &section.Source
	case "labels":
		sources.Labels = &section.Source
	case "observations":
		sources.Observations = &section.Source
	case "state rewards":
		*sources.rewardSource(&sources.StateRewards, &sources.TransitionRewards, section.rewardTitle) = section.Source
	case "transition rewards":
		*sources.rewardSource(&sources.TransitionRewards, &sources.StateRewards, section.rewardTitle) = section.Source
	}
}

// rewardSource returns where to store a section with rewards. sameKind are the sections of the same kind (state rewards or transition
// rewards), and otherKind those of the other kind. Entry i of both belongs to reward structure i. The section belongs to the last structure
// if this has only a section of the other kind, with the same title. Otherwise the section starts a new structure.
func (sources *Sources) rewardSource(sameKind, otherKind *[]Source, title string) *Source {
	last := len(*sameKind) - 1 // the index of the last structure
	belongsToLast := last >= 0 && (*sameKind)[last].Text == nil && firstLine((*otherKind)[last]) == title
	if !belongsToLast {
		*sameKind, *otherKind = append(*sameKind, Source{}), append(*otherKind, Source{})
		last++
	}
	return &(*sameKind)[last]
}

// firstLine returns the first line of a section, which is the title of a reward structure.
func firstLine(source Source) string {
	line, _, _ := bytes.Cut(source.Text, []byte("\n"))
	return strings.TrimSpace(string(line))
}

// firstPos returns the position of the first line of a section.
func (section *section) firstPos() syntax.Pos {
	return syntax.Pos{Offset: int32(min(section.Offset, math.MaxInt32)), Line: int32(section.Line + 1), Col: 1}
}

// findSections splits the text of a .pexp file into sections, at the comments that start a section. Text before the first such comment is a
// section with the transitions.
func findSections(source Source) []section {
	splitter := sectionSplitter{nextSource: Source{Name: source.Name}, text: source.Text}
	for line := range bytes.Lines(source.Text) {
		splitter.addLine(bytes.TrimSpace(line))
		splitter.nextSource.Offset += len(line)
		splitter.nextSource.Line++
	}
	splitter.endSection()
	if len(splitter.sections) == 0 {
		return []section{{Source: source, kind: "transitions"}}
	}
	return splitter.sections
}

// sectionSplitter splits the text of a .pexp file into sections. The text of the last section is
// not yet known.
type sectionSplitter struct {
	text       []byte
	sections   []section
	nextSource Source // a section that starts with the current line
}

// addLine looks at the next line of a .pexp file, and starts a section if the line is the first one of a section. The line has no blanks at
// its ends. The section of a reward structure starts with a comment with the title, and a later comment has the kind of rewards.
func (splitter *sectionSplitter) addLine(line []byte) {
	if len(line) == 0 {
		return
	}
	if line[0] != '#' {
		if len(splitter.sections) == 0 { // the section begins with the comments before the data
			splitter.startSection(section{Source: Source{Name: splitter.nextSource.Name}, kind: "transitions"})
		}
		return
	}
	comment := string(line)
	kind := sectionKind(comment)
	switch {
	case strings.HasPrefix(comment, rewardTitlePrefix):
		splitter.startSection(section{Source: splitter.nextSource, rewardTitle: comment})
	case kind == "":
		return
	case splitter.awaitsKind() && strings.HasSuffix(kind, "rewards"):
		splitter.sections[len(splitter.sections)-1].kind = kind
	default:
		splitter.startSection(section{Source: splitter.nextSource, kind: kind})
	}
}

// awaitsKind reports whether the last section has the title of a reward structure and no comment with its kind
// yet.
func (splitter *sectionSplitter) awaitsKind() bool {
	count := len(splitter.sections)
	return count > 0 && splitter.sections[count-1].kind == ""
}

// startSection ends the last section and starts another.
func (splitter *sectionSplitter) startSection(started section) {
	splitter.endSection()
	splitter.sections = append(splitter.sections, started)
}

// endSection sets the text of the last section, which ends before the current line.
func (splitter *sectionSplitter) endSection() {
	if count := len(splitter.sections); count > 0 {
		last := &splitter.sections[count-1]
		last.Text = splitter.text[last.Offset:splitter.nextSource.Offset]
	}
}

// rewardTitlePrefix starts the first comment of a part with state or transition rewards.
const rewardTitlePrefix = "# Reward structure"

// sectionKind returns the kind of the section that starts with a comment. It returns "" if the comment starts no section.
func sectionKind(comment string) string {
	for _, header := range fileHeaders() {
		if strings.HasPrefix(comment, header.text) {
			return header.kind
		}
	}
	return ""
}

// Gunzip decompresses the contents of a gzip file. If the result has more than limit bytes, the error is limited.TooLarge.
func Gunzip(zipped []byte, limit int64) ([]byte, error) {
	// Count the bytes first without storing them, because few bytes can expand to many.
	size, err := decompress(zipped, io.Discard, limit+1)
	if size > limit {
		return nil, limited.TooLarge(limit)
	}
	var text bytes.Buffer
	if err == nil {
		text.Grow(int(size) + bytes.MinRead)
		_, err = decompress(zipped, &text, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("not a valid gzip file: %w", err)
	}
	return text.Bytes(), nil
}

// decompress writes at most limit decompressed bytes to out and returns their number.
func decompress(zipped []byte, out io.Writer, limit int64) (int64, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return 0, err
	}
	return io.Copy(out, io.LimitReader(r, limit))
}
