package suite

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Run is one run of a model checker.
type Run struct {
	// Dir is where the files are; file names in Args are relative to it. All
	// paths are slash-separated and belong to the file system searched.
	Dir string
	// Model and Props are the files; each is empty if there is none, or if Args
	// names it.
	Model, Props string
	// Args are switches, in PRISM's order: those of the model, of the .args file
	// of the model, and of the .args file of the properties, or a line of an .auto
	// file with one of its .args file.
	Args []string
}

// String returns the run as prism-auto prints it, without the program.
func (r Run) String() string {
	var words []string
	for _, w := range append([]string{r.Model, r.Props}, r.Args...) {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Discover lists the runs in a directory and those below it, in the order of
// prism-auto: directories first. If matching, models are combined only with
// properties files that begin with their name (prism-auto -m).
//
// Source: benchmarkDir in prism/etc/scripts/prism-auto of PRISM 4.10.
func Discover(fsys fs.FS, dir string, matching bool) ([]Run, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	d := &directory{fsys: fsys, dir: dir, matching: matching}
	for _, e := range entries {
		if !e.IsDir() {
			d.files = append(d.files, e.Name())
			continue
		}
		below, err := Discover(fsys, path.Join(dir, e.Name()), matching)
		if err != nil {
			return nil, err
		}
		runs = append(runs, below...)
	}
	own, err := d.runs()
	return append(runs, own...), err
}

// directory is one directory; files are its files in order.
type directory struct {
	fsys     fs.FS
	dir      string
	files    []string
	matching bool
}

// Files are told apart by name.
func isModel(name string) bool {
	return slices.Contains([]string{".prism", ".nm", ".pm", ".sm"}, path.Ext(name)) && path.Ext(name) != name
}

func isProps(name string) bool {
	return slices.Contains([]string{".props", ".pctl", ".csl"}, path.Ext(name)) && path.Ext(name) != name
}

func isAuto(name string) bool { return path.Ext(name) == ".auto" && name != ".auto" }

func (d *directory) runs() ([]Run, error) {
	models, err := d.models()
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, m := range models {
		of, err := d.model(m[0], m[1:])
		if err != nil {
			return nil, err
		}
		runs = append(runs, of...)
	}
	for _, f := range d.files {
		if !isAuto(f) || slices.ContainsFunc(d.files, func(m string) bool { return isModel(m) && strings.HasPrefix(f, m) }) {
			continue
		}
		lines, err := d.args(f)
		if err != nil {
			return nil, err
		}
		for _, args := range lines {
			runs = append(runs, Run{Dir: d.dir, Args: args})
		}
	}
	return runs, nil
}

// models lists the models, each with switches: those in the file "models", if
// there is one.
func (d *directory) models() ([][]string, error) {
	if slices.Contains(d.files, "models") {
		return d.args("models")
	}
	var out [][]string
	for _, f := range d.files {
		if isModel(f) {
			out = append(out, []string{f})
		}
	}
	return out, nil
}

// model lists the runs of a model.
func (d *directory) model(model string, own []string) ([]Run, error) {
	lines, err := d.argsOf(model)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range lines {
		args = slices.Concat(own, args)
		for _, f := range d.files {
			if !isProps(f) || d.matching && !strings.HasPrefix(f, path.Base(model)) {
				continue
			}
			more, err := d.combine(f, func(extra []string) Run {
				return Run{Dir: d.dir, Model: path.Join(d.dir, model), Props: path.Join(d.dir, f), Args: slices.Concat(args, extra)}
			})
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
		for _, f := range d.files {
			if !isAuto(f) || !strings.HasPrefix(f, path.Base(model)) {
				continue
			}
			more, err := d.auto(model, f, args)
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// combine returns a run for every line of the .args file of a file.
func (d *directory) combine(file string, run func(args []string) Run) ([]Run, error) {
	lines, err := d.argsOf(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range lines {
		runs = append(runs, run(args))
	}
	return runs, nil
}

// auto returns the runs of an .auto file with its model.
func (d *directory) auto(model, file string, args []string) ([]Run, error) {
	lines, err := d.args(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range lines {
		more, err := d.combine(file, func(extra []string) Run {
			return Run{Dir: d.dir, Model: path.Join(d.dir, model), Args: slices.Concat(args, line, extra)}
		})
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// argsOf reads the .args file of a file; without one there is one line without
// switches.
func (d *directory) argsOf(file string) ([][]string, error) {
	lines, err := d.args(file + ".args")
	if errors.Is(err, fs.ErrNotExist) {
		return [][]string{nil}, nil
	}
	return lines, err
}

// args reads the lines of a file, split at blanks, without those that are empty
// or start with #.
func (d *directory) args(file string) ([][]string, error) {
	text, err := fs.ReadFile(d.fsys, path.Join(d.dir, file))
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line != "" && line[0] != '#' {
			lines = append(lines, strings.FieldsFunc(line, func(r rune) bool { return r == ' ' }))
		}
	}
	return lines, nil
}
