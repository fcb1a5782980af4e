package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Pairing says which properties files go with which models of a directory.
type Pairing uint8

// The pairings.
const (
	// Closest pairs a properties file with the models that its name begins with,
	// as die.prism.props with die.prism; if there are none, with the models that
	// have its name but for the extension, as die.props; if there are none, with
	// every model of the directory.
	Closest Pairing = iota
	// Matching pairs files as prism-auto -m: the name of the properties file must
	// begin with that of the model.
	Matching
	// Every pairs every properties file with every model, as prism-auto.
	Every
)

// Discover lists the runs of a directory and those below it, of a model, of a
// properties file, of an .auto file, or of a list file (.txt), in the order of
// prism-auto: directories first. Mistakes are of type *syntax.Error, with names of
// fsys.
//
// Source: benchmarkDir and benchmarkFile in prism/etc/scripts/prism-auto of PRISM 4.10.
func Discover(fsys fs.FS, name string, pairing Pairing) ([]Run, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return tree(fsys, name, pairing)
	}
	if isList(name) {
		return list(fsys, name, pairing)
	}
	d, err := open(fsys, path.Dir(name), pairing)
	if err != nil {
		return nil, err
	}
	switch file := path.Base(name); {
	case isModel(file):
		return d.modelFile(file)
	case isProps(file):
		return d.props(file)
	case isAuto(file):
		return d.autoFile(file)
	}
	return nil, &syntax.Error{File: name, Msg: "found a file of an unknown kind, want a directory, a model (.prism .nm .pm .sm), properties (.props .pctl .csl), an .auto file, or a list (.txt)"}
}

// tree lists the runs of a directory and of those below it, but for those whose
// name begins with a dot.
func tree(fsys fs.FS, dir string, pairing Pairing) ([]Run, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := tree(fsys, path.Join(dir, e.Name()), pairing)
		if err != nil {
			return nil, err
		}
		runs = append(runs, below...)
	}
	d, err := open(fsys, dir, pairing)
	if err != nil {
		return nil, err
	}
	own, err := d.runs()
	return append(runs, own...), err
}

// list lists the runs of the properties files that a list file names: a
// directory relative to it and a file there in each line, with a comma between.
func list(fsys fs.FS, name string, pairing Pairing) ([]Run, error) {
	found, err := readLines(fsys, name)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range found {
		var words []string
		for _, w := range line {
			words = append(words, w.text)
		}
		dir, file, ok := strings.Cut(strings.Join(words, " "), ",")
		dir, file = strings.TrimSpace(dir), strings.TrimSpace(file)
		if !ok || file == "" {
			return nil, &syntax.Error{File: name, Pos: line[0].place.Pos, Msg: "found no comma, want a directory, a comma and a properties file"}
		}
		if isList(file) { // it could name this one
			return nil, &syntax.Error{File: name, Pos: line[0].place.Pos, Msg: fmt.Sprintf("found %q, which is a list again, want a properties file", file)}
		}
		more, err := Discover(fsys, path.Join(path.Dir(name), dir, file), pairing)
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, &syntax.Error{File: name, Pos: line[0].place.Pos, Msg: fmt.Sprintf("%s: %v", path.Join(dir, file), e.Err)}
		} else if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// directory is one directory; files are its files in order.
type directory struct {
	fsys    fs.FS
	dir     string
	files   []string
	pairing Pairing
	found   int // runs
}

func open(fsys fs.FS, dir string, pairing Pairing) (*directory, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	d := &directory{fsys: fsys, dir: dir, pairing: pairing}
	for _, e := range entries {
		if !e.IsDir() {
			d.files = append(d.files, e.Name())
		}
	}
	return d, nil
}

// Files are told apart by name. JANI is ours: prism-auto does not know it.
func isModel(name string) bool { return hasExt(name, ".jani", ".prism", ".nm", ".pm", ".sm") }
func isProps(name string) bool { return hasExt(name, ".props", ".pctl", ".csl") }
func isAuto(name string) bool  { return hasExt(name, ".auto") }
func isList(name string) bool  { return hasExt(name, ".txt") }

func hasExt(name string, exts ...string) bool {
	ext := path.Ext(name)
	return slices.Contains(exts, ext) && path.Base(name) != ext
}

// runs lists the runs of the directory itself.
func (d *directory) runs() ([]Run, error) {
	models, err := d.models()
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, m := range models {
		more, err := d.model(m)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	for _, f := range d.files {
		if !isAuto(f) || len(d.namesakes(f)) > 0 {
			continue
		}
		more, err := d.orphan(f)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// models lists the models, each with switches behind its name: those in the file
// "models", if there is one.
func (d *directory) models() ([][]word, error) {
	if slices.Contains(d.files, "models") {
		return d.args("models")
	}
	var out [][]word
	for _, f := range d.files {
		if isModel(f) {
			out = append(out, []word{{text: f}})
		}
	}
	return out, nil
}

// namesakes lists the models that the name of a file begins with.
func (d *directory) namesakes(file string) []string {
	return slices.DeleteFunc(slices.Clone(d.files), func(m string) bool { return !isModel(m) || !strings.HasPrefix(file, m) })
}

// paired reports whether a properties file goes with a model.
func (d *directory) paired(model, props string, models [][]word) bool {
	if d.pairing == Every {
		return true
	}
	named := func(m string) bool { return strings.HasPrefix(props, path.Base(m)) }
	if d.pairing == Matching {
		return named(model)
	}
	stem := func(m string) bool {
		return strings.TrimSuffix(props, path.Ext(props)) == strings.TrimSuffix(path.Base(m), path.Ext(m))
	}
	for _, fits := range []func(string) bool{named, stem} {
		if fits(model) {
			return true
		}
		if slices.ContainsFunc(models, func(m []word) bool { return fits(m[0].text) }) {
			return false
		}
	}
	return true
}

// modelFile lists the runs of a model that was asked for by name. In the pairing
// Closest it has the switches of the file "models", if it is there.
func (d *directory) modelFile(file string) ([]Run, error) {
	models, err := d.models()
	if err != nil {
		return nil, err
	}
	models = slices.DeleteFunc(models, func(m []word) bool { return m[0].text != file })
	if d.pairing != Closest || len(models) == 0 {
		models = [][]word{{{text: file}}}
	}
	var runs []Run
	for _, m := range models {
		more, err := d.model(m)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// model lists the runs of a model, with the switches behind its name.
func (d *directory) model(own []word) ([]Run, error) {
	model, own := own[0].text, own[1:]
	models, err := d.models()
	if err != nil {
		return nil, err
	}
	argLines, err := d.argsOf(model)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range argLines {
		args = slices.Concat(own, args)
		for _, f := range d.files {
			if !isProps(f) || !d.paired(model, f, models) {
				continue
			}
			more, err := d.combine(f, func(extra []word) Run { return d.run(model, f, args, extra) })
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

// props lists the runs of a properties file.
func (d *directory) props(file string) ([]Run, error) {
	models, err := d.models()
	if err != nil {
		return nil, err
	}
	if d.pairing == Matching { // the file "models" does not count
		models = nil
		for _, m := range d.namesakes(file) {
			models = append(models, []word{{text: m}})
		}
	}
	extras, err := d.argsOf(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, extra := range extras {
		for _, m := range models {
			model := m[0].text
			if !d.paired(model, file, models) {
				continue
			}
			more, err := d.combine(model, func(args []word) Run { return d.run(model, file, m[1:], args, extra) })
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// autoFile lists the runs of an .auto file.
func (d *directory) autoFile(file string) ([]Run, error) {
	names := d.namesakes(file)
	if len(names) == 0 {
		return d.orphan(file)
	}
	var runs []Run
	for _, model := range names {
		argLines, err := d.argsOf(model)
		if err != nil {
			return nil, err
		}
		for _, args := range argLines {
			more, err := d.auto(model, file, args)
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// orphan lists the runs of an .auto file without a model, whose lines name theirs.
func (d *directory) orphan(file string) ([]Run, error) {
	argLines, err := d.args(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range argLines {
		runs = append(runs, d.run("", "", args))
	}
	return runs, nil
}

// combine returns a run for every line of the .args file of a file.
func (d *directory) combine(file string, run func(args []word) Run) ([]Run, error) {
	argLines, err := d.argsOf(file)
	if err != nil {
		return nil, err
	}
	if d.found += len(argLines); d.found > maxRuns {
		return nil, &syntax.Error{File: path.Join(d.dir, file), Msg: fmt.Sprintf("found more than %d runs in this directory, want less", maxRuns)}
	}
	var runs []Run
	for _, args := range argLines {
		runs = append(runs, run(args))
	}
	return runs, nil
}

// auto returns the runs of an .auto file with its model.
func (d *directory) auto(model, file string, args []word) ([]Run, error) {
	argLines, err := d.args(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range argLines {
		more, err := d.combine(file, func(extra []word) Run { return d.run(model, "", args, line, extra) })
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// run returns the run of a model and a properties file, each empty if there is none.
func (d *directory) run(model, props string, args ...[]word) Run {
	r := Run{Dir: d.dir}
	if model != "" {
		r.Model = path.Join(d.dir, model)
	}
	if props != "" {
		r.Props = path.Join(d.dir, props)
	}
	for _, w := range slices.Concat(args...) {
		r.Args = append(r.Args, w.text)
		r.Places = append(r.Places, w.place)
	}
	return r
}

// argsOf reads the .args file of a file; without one there is one line without
// switches.
func (d *directory) argsOf(file string) ([][]word, error) {
	found, err := d.args(file + ".args")
	if errors.Is(err, fs.ErrNotExist) {
		return [][]word{nil}, nil
	}
	return found, err
}

// args reads the lines of a file.
func (d *directory) args(file string) ([][]word, error) {
	return readLines(d.fsys, path.Join(d.dir, file))
}
