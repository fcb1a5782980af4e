// Package named maps file names on the command line to the files of a state space: model.tra,sta
// means two files, model.all means all that exist, and m.drn.gz is compressed. Package files reads
// and writes their contents.
package named

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/atomicfile"
	"tilecheck/internal/usage"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// Reader reads a whole file.
type Reader func(name string) ([]byte, error)

// IsFormat reports whether files of states have this extension.
func IsFormat(ext string) bool {
	return slices.Contains([]string{"tra", "sta", "lab", "srew", "trew", "obs", "pexp", "dot", "svg", "drn", "umb", "all"}, ext)
}

// isCompleteFormat reports whether one file with this extension contains a complete state space.
func isCompleteFormat(ext string) bool { return slices.Contains([]string{"pexp", "drn", "umb"}, ext) }

// Is reports whether a name on the command line means files of a state space, and not a model.
func Is(name string) bool {
	_, _, ok := Split(strings.TrimSuffix(name, Zip(name)))
	return ok
}

// Zip returns the extension of a gzip file, ".gz" or ".gzip"; "" for other files.
func Zip(name string) string {
	if ext := filepath.Ext(name); ext == ".gz" || ext == ".gzip" {
		return ext
	}
	return ""
}

// Split splits a name such as "dir/model.tra,sta" into the base "dir/model" and the extensions "tra" and "sta". ok is
// false if the name has no extension, or an extension that is no format of state spaces.
func Split(name string) (base string, exts []string, ok bool) {
	dir, file := filepath.Split(name)
	dotIndex := strings.LastIndexByte(file, '.')
	if dotIndex < 0 {
		return name, nil, false
	}
	exts = strings.Split(file[dotIndex+1:], ",")
	for _, ext := range exts {
		if !IsFormat(ext) {
			return name, nil, false
		}
	}
	return dir + file[:dotIndex], exts, true
}

// Expand replaces the format "all" by the formats that it stands for, and removes duplicates.
func Expand(formats []string) []string {
	var expanded []string
	for _, format := range formats {
		if format == "all" {
			expanded = append(expanded, "tra", "sta", "lab", "srew", "trew")
		} else {
			expanded = append(expanded, format)
		}
	}
	var unique []string
	for _, format := range expanded {
		if !slices.Contains(unique, format) {
			unique = append(unique, format)
		}
	}
	return unique
}

// Files returns the names of the files that a name on the command line stands for: the file of a model, or the files of a state space.
func Files(name string) []string {
	zipSuffix := Zip(name)
	base, exts, ok := Split(strings.TrimSuffix(name, zipSuffix))
	if !ok {
		return []string{name}
	}
	var names []string
	for _, ext := range Expand(exts) {
		names = append(names, Part(base, ext, zipSuffix, 0)...)
	}
	return names
}

// Part returns the names of the files with one extension: base.ext followed by zipSuffix. Files of rewards are numbered if there are several
// reward structures: model1.srew, model2.srew. numRewards is the number of reward structures; 0 means as many as there are existing files.
func Part(base, ext, zipSuffix string, numRewards int) []string {
	plain := base + "." + ext + zipSuffix
	hasRewards := ext == "srew" || ext == "trew"
	if !hasRewards || numRewards == 1 {
		return []string{plain}
	}
	if numRewards == 0 {
		numRewards = countNumbered(base, ext, zipSuffix)
		if !isMissing(plain) || numRewards == 0 {
			return []string{plain}
		}
	}
	var names []string
	for i := 1; i <= numRewards; i++ {
		names = append(names, numberedName(base, ext, zipSuffix, i))
	}
	return names
}

// countNumbered returns the number of existing files with consecutive numbers from 1.
func countNumbered(base, ext, zipSuffix string) int {
	count := 0
	for !isMissing(numberedName(base, ext, zipSuffix, count+1)) {
		count++
	}
	return count
}

// numberedName returns the name of the file of reward structure number i if there are several reward structures. The first number is 1.
func numberedName(base, ext, zipSuffix string, i int) string {
	return fmt.Sprintf("%s%d.%s%s", base, i, ext, zipSuffix)
}

// Stale returns the existing files with one extension that must be removed when a set of files with numRewards reward structures is
// written: those that a later reader would take for files of this set.
func Stale(base, ext, zipSuffix string, numRewards int) []string {
	var current, stale []string // the files of the written set, and all other existing files
	if numRewards > 0 {
		current = Part(base, ext, zipSuffix, numRewards)
	}
	if plain := base + "." + ext + zipSuffix; !isMissing(plain) && !slices.Contains(current, plain) {
		stale = append(stale, plain)
	}
	for i := 1; ; i++ {
		numbered := numberedName(base, ext, zipSuffix, i)
		exists := !isMissing(numbered)
		if !exists && i > numRewards {
			return stale
		}
		if exists && !slices.Contains(current, numbered) {
			stale = append(stale, numbered)
		}
	}
}

// Open reads the files of a state space for a name on the command line.
func (read Reader) Open(ctx context.Context, name string, opts files.ReadOptions) (*files.StateFiles, error) {
	zipSuffix := Zip(name)
	base, exts, _ := Split(strings.TrimSuffix(name, zipSuffix))
	if len(exts) == 1 && isCompleteFormat(exts[0]) {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		return files.Open(ctx, files.Sources{Transitions: files.Source{Name: name, Text: text}}, exts[0], opts)
	}
	src, err := read.readSources(base, exts, zipSuffix)
	if err != nil {
		return nil, err
	}
	return files.Open(ctx, src, "tra", opts)
}

// readSources reads the files with the given extensions in PRISM's formats. If "all" is among the extensions, it reads all files that
// exist. zipSuffix is the end of every file name.
func (read Reader) readSources(base string, exts []string, zipSuffix string) (files.Sources, error) {
	readsAll := slices.Contains(exts, "all")
	if err := checkReadTogether(base, exts, zipSuffix); err != nil {
		return files.Sources{}, err
	}
	if len(exts) > 1 || readsAll {
		if err := atomicfile.Torn(base); err != nil {
			return files.Sources{}, err
		}
	}
	var sources files.Sources
	for _, ext := range []string{"tra", "sta", "lab", "obs", "srew", "trew"} {
		if !readsAll && !slices.Contains(exts, ext) {
			continue
		}
		mayMiss := readsAll && ext != "tra"
		if err := read.readPart(&sources, base, ext, zipSuffix, mayMiss); err != nil {
			return sources, err
		}
	}
	return sources, nil
}

// checkReadTogether returns an error unless the files have PRISM's formats and include the transitions.
func checkReadTogether(base string, exts []string, zipSuffix string) error {
	if first, others, isList := strings.Cut(base, ","); isList && strings.TrimSuffix(first, ".tra") != first {
		name := strings.TrimSuffix(first, ".tra")
		return usage.Errorf("%s,%s.%s: write the name once, and then all extensions, such as %s.tra,sta,lab", first, others, strings.Join(exts, ","), name)
	}
	if !slices.Contains(exts, "all") && !slices.Contains(exts, "tra") {
		return usage.Errorf("%s: no transitions, want %s.tra%s among the files", exts, base, zipSuffix)
	}
	for _, ext := range exts {
		if ext == "dot" || ext == "svg" || isCompleteFormat(ext) {
			return usage.Errorf("%s.%s cannot be read together with other files, want only tra, sta, lab, obs, srew and trew", base, ext)
		}
	}
	return nil
}

// readPart reads the files with one extension in PRISM's formats. If mayMiss is set, a file need not exist.
func (read Reader) readPart(sources *files.Sources, base, ext, zipSuffix string, mayMiss bool) (err error) {
	suffix := "." + ext + zipSuffix
	switch ext {
	case "tra":
		var transitions *files.Source
		if transitions, err = read.readSource(base+suffix, mayMiss); err == nil {
			sources.Transitions = *transitions
		}
	case "sta":
		sources.States, err = read.readSource(base+suffix, mayMiss)
	case "lab":
		sources.Labels, err = read.readSource(base+suffix, mayMiss)
	case "obs":
		sources.Observations, err = read.readSource(base+suffix, mayMiss)
	case "srew":
		sources.StateRewards, err = read.readRewardFiles(base, suffix, mayMiss)
	case "trew":
		sources.TransitionRewards, err = read.readRewardFiles(base, suffix, mayMiss)
	}
	return err
}

// readSource reads a file. If mayMiss is set and the file does not exist, it returns nil.
func (read Reader) readSource(name string, mayMiss bool) (*files.Source, error) {
	if mayMiss && isMissing(name) {
		return nil, nil
	}
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	return &files.Source{Name: name, Text: text}, nil
}

// readRewardFiles reads the rewards of one structure from model.srew, or of several structures from model1.srew,
// model2.srew, and so on.
func (read Reader) readRewardFiles(base, ext string, mayMiss bool) ([]files.Source, error) {
	if isMissing(base+ext) && !isMissing(base+"1"+ext) {
		return read.readNumberedFiles(base, ext)
	}
	src, err := read.readSource(base+ext, mayMiss)
	if err != nil || src == nil {
		return nil, err
	}
	return []files.Source{*src}, nil
}

// readNumberedFiles reads model1.srew, model2.srew, and so on, until a file does not exist.
func (read Reader) readNumberedFiles(base, ext string) ([]files.Source, error) {
	var sources []files.Source
	for i := 1; ; i++ {
		name := base + strconv.Itoa(i) + ext
		if isMissing(name) {
			return sources, nil
		}
		src, err := read.readSource(name, false)
		if err != nil {
			return nil, err
		}
		sources = append(sources, *src)
	}
}

// isMissing reports whether a file does not exist.
func isMissing(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// Format says which file to write: its format, the index of the reward structure for a file of
// rewards, whether to compress it, and whether to write only the labels of the properties.
type Format struct {
	Name       string
	Reward     int
	Zipped     bool
	OnlyLabels bool
	// Draw returns the picture of a graph in Graphviz's language. It is needed for the format svg.
	Draw func(ctx context.Context, dot string) ([]byte, error)
}

// maxDrawn is the largest number of states and choices that are drawn, and of transitions. Graphviz takes some seconds for so many.
const maxDrawn = 1000

// checkDrawable returns an error if a space is too large for a picture.
func checkDrawable(space *explicit.Space) error {
	model := space.Model()
	for _, size := range []struct {
		number int
		noun   string
	}{{model.NumStates(), "states"}, {model.NumChoices(), "choices"}, {model.NumTransitions(), "transitions"}} {
		if size.number > maxDrawn {
			return fmt.Errorf("svg: the model has %d %s, want at most %d in a picture; .dot has any number of them", size.number, size.noun, maxDrawn)
		}
	}
	return nil
}

// labelPrecision is the number of significant digits in pictures. With it 1-0.9, which PRISM writes as 0.09999999999999998, is 0.1.
const labelPrecision = 15

// Writer returns a function that writes a space in the format.
func (format Format) Writer(ctx context.Context, space *explicit.Space, opts files.Options) (func(io.Writer) error, error) {
	opts.Raw = format.Zipped // otherwise the file would be compressed twice
	if opts.Precision == 0 && format.Name == "drn" {
		opts.Precision = files.MaxPrecision
	}
	if opts.Precision == 0 && (format.Name == "dot" || format.Name == "svg") {
		opts.Precision = labelPrecision
	}
	if format.Name == "svg" {
		if err := checkDrawable(space); err != nil {
			return nil, err
		}
	}
	writer, err := files.NewWriter(space, opts)
	if err != nil {
		return nil, err
	}
	write := func(out io.Writer) error { return format.writeFormat(ctx, writer, out) }
	if format.Zipped {
		return withGzip(write), nil
	}
	return write, nil
}

// writeFormat writes the state space in the format, by the matching method of the writer.
func (format Format) writeFormat(ctx context.Context, writer *files.Writer, out io.Writer) error {
	switch format.Name {
	case "sta":
		return writer.States(ctx, out)
	case "lab":
		if format.OnlyLabels {
			return writer.PropertyLabels(ctx, out)
		}
		return writer.Labels(ctx, out)
	case "obs":
		return writer.Observations(ctx, out)
	case "pexp":
		return writer.Combined(ctx, out)
	case "srew":
		return writer.StateRewards(ctx, out, format.Reward)
	case "trew":
		return writer.TransitionRewards(ctx, out, format.Reward)
	case "dot":
		return writer.DOT(ctx, out)
	case "svg":
		return format.writePicture(ctx, writer, out)
	case "drn":
		return writer.DRN(ctx, out)
	case "umb":
		return writer.UMB(ctx, out)
	}
	return writer.Transitions(ctx, out)
}

// writePicture writes a picture of the state space, which Graphviz draws from its DOT file.
func (format Format) writePicture(ctx context.Context, writer *files.Writer, out io.Writer) error {
	var dot strings.Builder
	if err := writer.DOT(ctx, &dot); err != nil {
		return err
	}
	picture, err := format.Draw(ctx, dot.String())
	if err != nil {
		return err
	}
	_, err = out.Write(picture)
	return err
}

// withGzip returns a function that compresses the output of write with gzip.
func withGzip(write func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		zipped := gzip.NewWriter(out)
		if err := write(zipped); err != nil {
			return err
		}
		return zipped.Close()
	}
}
