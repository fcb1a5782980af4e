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

// Pairing says which properties files belong to which models of a directory.
type Pairing uint8

// The pairings.
const (
	// Closest pairs a properties file with the models whose name is a prefix of its own,
	// as die.prism.props with die.prism. If there are none, it pairs the file with the models that
	// have the same name except for the extension, as die.props. If there are none, it pairs it with
	// every model of the directory.
	Closest Pairing = iota
	// Matching pairs files as prism-auto -m: the name of the properties file must
	// begin with that of the model.
	Matching
	// Every pairs every properties file with every model, as prism-auto.
	Every
)

// Discover lists the runs of a file: a directory and all below it, a model, a properties file, an .auto file or a list
// file (.txt). The order is prism-auto's: subdirectories first. Errors in the files are of type *syntax.Error, with
// names of fsys.
//
// Source: benchmarkDir and benchmarkFile in prism/etc/scripts/prism-auto of PRISM 4.10.
func Discover(fsys fs.FS, name string, pairing Pairing) ([]Run, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return discoverTree(fsys, name, pairing)
	}
	if isList(name) {
		return discoverList(fsys, name, pairing)
	}
	d, err := openDirectory(fsys, path.Dir(name), pairing)
	if err != nil {
		return nil, err
	}
	switch file := path.Base(name); {
	case isModel(file):
		return d.runsOfModelFile(file)
	case isProps(file):
		return d.runsOfProps(file)
	case isAuto(file):
		return d.runsOfAutoFile(file)
	}
	return nil, &syntax.Error{File: name, Msg: "found a file of an unknown kind, want a directory, a model (.prism .nm .pm .sm), properties (.props .pctl .csl), an .auto file, or a list (.txt)"}
}

// discoverTree lists the runs of a directory and of its subdirectories, except those whose name begins with a dot.
func discoverTree(fsys fs.FS, dir string, pairing Pairing) ([]Run, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := discoverTree(fsys, path.Join(dir, e.Name()), pairing)
		if err != nil {
			return nil, err
		}
		runs = append(runs, below...)
	}
	d, err := openDirectory(fsys, dir, pairing)
	if err != nil {
		return nil, err
	}
	own, err := d.discover()
	return append(runs, own...), err
}

// discoverList lists the runs of a list file. Each line has a directory, relative to the list, a comma, and a properties
// file in that directory.
func discoverList(fsys fs.FS, name string, pairing Pairing) ([]Run, error) {
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
		if isList(file) { // two lists could name each other for ever
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

// directory is one directory, with its files in order.
type directory struct {
	fsys     fs.FS
	dir      string
	files    []string
	pairing  Pairing
	runCount int // runs so far; see maxRuns
}

func openDirectory(fsys fs.FS, dir string, pairing Pairing) (*directory, error) {
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

// discover lists the runs of the directory itself.
func (d *directory) discover() ([]Run, error) {
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, m := range models {
		more, err := d.runsOfModel(m)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	for _, f := range d.files {
		if !isAuto(f) || len(d.modelsNamedBy(f)) > 0 {
			continue
		}
		more, err := d.runsWithoutModel(f)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// modelLines lists the models, each followed by its switches: the lines of the file "models", or all models if there is no such file.
func (d *directory) modelLines() ([][]word, error) {
	if slices.Contains(d.files, "models") {
		return d.readLines("models")
	}
	var out [][]word
	for _, f := range d.files {
		if isModel(f) {
			out = append(out, []word{{text: f}})
		}
	}
	return out, nil
}

// modelsNamedBy lists the models whose name is a prefix of the file's name.
func (d *directory) modelsNamedBy(file string) []string {
	return slices.DeleteFunc(slices.Clone(d.files), func(m string) bool { return !isModel(m) || !strings.HasPrefix(file, m) })
}

// isPaired reports whether a properties file belongs to a model.
func (d *directory) isPaired(model, props string, models [][]word) bool {
	if d.pairing == Every {
		return true
	}
	nameMatches := func(m string) bool { return strings.HasPrefix(props, path.Base(m)) }
	if d.pairing == Matching {
		return nameMatches(model)
	}
	stemMatches := func(m string) bool {
		return strings.TrimSuffix(props, path.Ext(props)) == strings.TrimSuffix(path.Base(m), path.Ext(m))
	}
	for _, fits := range []func(string) bool{nameMatches, stemMatches} {
		if fits(model) {
			return true
		}
		if slices.ContainsFunc(models, func(m []word) bool { return fits(m[0].text) }) {
			return false
		}
	}
	return true
}

// runsOfModelFile lists the runs of a model that the user named. With the pairing Closest the model gets its switches from the
// file "models".
func (d *directory) runsOfModelFile(file string) ([]Run, error) {
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	models = slices.DeleteFunc(models, func(m []word) bool { return m[0].text != file })
	if d.pairing != Closest || len(models) == 0 {
		models = [][]word{{{text: file}}}
	}
	var runs []Run
	for _, m := range models {
		more, err := d.runsOfModel(m)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// runsOfModel lists the runs of a model; own is its name followed by its switches.
func (d *directory) runsOfModel(own []word) ([]Run, error) {
	model, own := own[0].text, own[1:]
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	argLines, err := d.argLinesOf(model)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range argLines {
		args = slices.Concat(own, args)
		for _, f := range d.files {
			if !isProps(f) || !d.isPaired(model, f, models) {
				continue
			}
			more, err := d.combineArgs(f, func(extra []word) Run { return d.newRun(model, f, args, extra) })
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
		for _, f := range d.files {
			if !isAuto(f) || !strings.HasPrefix(f, path.Base(model)) {
				continue
			}
			more, err := d.runsOfAuto(model, f, args)
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// runsOfProps lists the runs of a properties file.
func (d *directory) runsOfProps(file string) ([]Run, error) {
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	if d.pairing == Matching { // prism-auto -m ignores the file "models"
		models = nil
		for _, m := range d.modelsNamedBy(file) {
			models = append(models, []word{{text: m}})
		}
	}
	extras, err := d.argLinesOf(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, extra := range extras {
		for _, m := range models {
			model := m[0].text
			if !d.isPaired(model, file, models) {
				continue
			}
			more, err := d.combineArgs(model, func(args []word) Run { return d.newRun(model, file, m[1:], args, extra) })
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// runsOfAutoFile lists the runs of an .auto file that the user named.
func (d *directory) runsOfAutoFile(file string) ([]Run, error) {
	names := d.modelsNamedBy(file)
	if len(names) == 0 {
		return d.runsWithoutModel(file)
	}
	var runs []Run
	for _, model := range names {
		argLines, err := d.argLinesOf(model)
		if err != nil {
			return nil, err
		}
		for _, args := range argLines {
			more, err := d.runsOfAuto(model, file, args)
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
		}
	}
	return runs, nil
}

// runsWithoutModel lists the runs of an .auto file that belongs to no model; its lines name the models.
func (d *directory) runsWithoutModel(file string) ([]Run, error) {
	argLines, err := d.readLines(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, args := range argLines {
		runs = append(runs, d.newRun("", "", args))
	}
	return runs, nil
}

// combineArgs returns one run for every line of the .args file that belongs to a file.
func (d *directory) combineArgs(file string, run func(args []word) Run) ([]Run, error) {
	argLines, err := d.argLinesOf(file)
	if err != nil {
		return nil, err
	}
	if d.runCount += len(argLines); d.runCount > maxRuns {
		return nil, &syntax.Error{File: path.Join(d.dir, file), Msg: fmt.Sprintf("found more than %d runs in this directory, want less", maxRuns)}
	}
	var runs []Run
	for _, args := range argLines {
		runs = append(runs, run(args))
	}
	return runs, nil
}

// runsOfAuto lists the runs of an .auto file with its model.
func (d *directory) runsOfAuto(model, file string, args []word) ([]Run, error) {
	argLines, err := d.readLines(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range argLines {
		more, err := d.combineArgs(file, func(extra []word) Run { return d.newRun(model, "", args, line, extra) })
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// newRun returns the run of a model and a properties file; each is empty if there is none.
func (d *directory) newRun(model, props string, args ...[]word) Run {
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

// argLinesOf reads the .args file that belongs to a file. If it does not exist there is one line without switches.
func (d *directory) argLinesOf(file string) ([][]word, error) {
	found, err := d.readLines(file + ".args")
	if errors.Is(err, fs.ErrNotExist) {
		return [][]word{nil}, nil
	}
	return found, err
}

// readLines reads the lines of a file.
func (d *directory) readLines(file string) ([][]word, error) {
	return readLines(d.fsys, path.Join(d.dir, file))
}
