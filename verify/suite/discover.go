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

// Pairing selects the properties files that belong to a model of the same directory.
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

// Discover returns the runs of a directory and its subdirectories, or of a single file. A file is a model, a properties file, an .auto file or a
// list (.txt). As in prism-auto, the runs of subdirectories come first. Errors in the files are of type *syntax.Error.
//
// Source: benchmarkDir and benchmarkFile in prism/etc/scripts/prism-auto of PRISM 4.10.
func Discover(fileSystem fs.FS, name string, pairing Pairing) ([]Run, error) {
	info, err := fs.Stat(fileSystem, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return discoverTree(fileSystem, name, pairing)
	}
	if isList(name) {
		return discoverList(fileSystem, name, pairing)
	}
	directory, err := openDirectory(fileSystem, path.Dir(name), pairing)
	if err != nil {
		return nil, err
	}
	switch file := path.Base(name); {
	case isModel(file):
		return directory.runsOfModelFile(file)
	case isProps(file):
		return directory.runsOfProps(file)
	case isAuto(file):
		return directory.runsOfAutoFile(file)
	}
	return nil, &syntax.Error{File: name, Msg: "found a file of an unknown kind, want a directory, a model (.prism .nm .pm .sm), " +
		"properties (.props .pctl .csl), an .auto file, a list (.txt), or a suite file (.yaml)"}
}

// discoverTree returns the runs of a directory and its subdirectories. It skips subdirectories with names that begin with a dot.
func discoverTree(fileSystem fs.FS, dir string, pairing Pairing) ([]Run, error) {
	entries, err := fs.ReadDir(fileSystem, dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		subdirectoryRuns, err := discoverTree(fileSystem, path.Join(dir, entry.Name()), pairing)
		if err != nil {
			return nil, err
		}
		runs = append(runs, subdirectoryRuns...)
	}
	directory, err := openDirectory(fileSystem, dir, pairing)
	if err != nil {
		return nil, err
	}
	directoryRuns, err := directory.discover()
	return append(runs, directoryRuns...), err
}

// discoverList returns the runs of a list file. Each line "dir,file" of the list names a properties file. dir is relative to the directory of the
// list.
func discoverList(fileSystem fs.FS, name string, pairing Pairing) ([]Run, error) {
	lines, err := readLines(fileSystem, name)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range lines {
		lineRuns, err := discoverLine(fileSystem, name, line, pairing)
		if err != nil {
			return nil, err
		}
		runs = append(runs, lineRuns...)
	}
	return runs, nil
}

// discoverLine returns the runs of one line of a list file.
func discoverLine(fileSystem fs.FS, listName string, line []word, pairing Pairing) ([]Run, error) {
	lineError := func(format string, args ...any) error {
		return &syntax.Error{File: listName, Pos: line[0].place.Pos, Msg: fmt.Sprintf(format, args...)}
	}
	var words []string
	for _, word := range line {
		words = append(words, word.text)
	}
	dir, file, ok := strings.Cut(strings.Join(words, " "), ",")
	dir, file = strings.TrimSpace(dir), strings.TrimSpace(file)
	if !ok || file == "" {
		return nil, lineError("found no comma, want a directory, a comma and a properties file")
	}
	if isList(file) { // two lists could name each other
		return nil, lineError("found %q, which is a list again, want a properties file", file)
	}
	runs, err := Discover(fileSystem, path.Join(path.Dir(listName), dir, file), pairing)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, lineError("%s: %v", path.Join(dir, file), pathErr.Err)
	}
	return runs, err
}

// directory is one directory, with its files in order.
type directory struct {
	fileSystem fs.FS
	dir        string
	files      []string
	pairing    Pairing
	runCount   int // the number of runs that were made, at most maxRuns
}

// openDirectory reads the names of the files of a directory.
func openDirectory(fileSystem fs.FS, dir string, pairing Pairing) (*directory, error) {
	entries, err := fs.ReadDir(fileSystem, dir)
	if err != nil {
		return nil, err
	}
	opened := &directory{fileSystem: fileSystem, dir: dir, pairing: pairing}
	for _, entry := range entries {
		if !entry.IsDir() {
			opened.files = append(opened.files, entry.Name())
		}
	}
	return opened, nil
}

// isModel reports whether a file has the extension of a model in PRISM's or JANI's language.
func isModel(name string) bool { return hasExt(name, ".jani", ".prism", ".nm", ".pm", ".sm") }
func isProps(name string) bool { return hasExt(name, ".props", ".pctl", ".csl") }
func isAuto(name string) bool  { return hasExt(name, ".auto") }
func isList(name string) bool  { return hasExt(name, ".txt") }

// hasExt reports whether a file name has one of the extensions, and more than the extension.
func hasExt(name string, exts ...string) bool {
	extension := path.Ext(name)
	return slices.Contains(exts, extension) && path.Base(name) != extension
}

// discover returns the runs of the directory without its subdirectories: first the runs of all models, then those of .auto files that belong to no model.
func (d *directory) discover() ([]Run, error) {
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, model := range models {
		modelRuns, err := d.runsOfModel(model)
		if err != nil {
			return nil, err
		}
		runs = append(runs, modelRuns...)
	}
	for _, file := range d.files {
		belongsToModel := len(d.modelsNamedBy(file)) > 0
		if !isAuto(file) || belongsToModel {
			continue
		}
		autoRuns, err := d.runsWithoutModel(file)
		if err != nil {
			return nil, err
		}
		runs = append(runs, autoRuns...)
	}
	return runs, nil
}

// modelLines returns the models, each followed by its switches. It reads them from the file "models" if this file exists.
func (d *directory) modelLines() ([][]word, error) {
	if slices.Contains(d.files, "models") {
		return d.readLines("models")
	}
	var lines [][]word
	for _, file := range d.files {
		if isModel(file) {
			lines = append(lines, []word{{text: file}})
		}
	}
	return lines, nil
}

// modelsNamedBy returns the models whose names are prefixes of the name of a file, such as "die.pm" for "die.pm.props".
func (d *directory) modelsNamedBy(file string) []string {
	var models []string
	for _, name := range d.files {
		if isModel(name) && strings.HasPrefix(file, name) {
			models = append(models, name)
		}
	}
	return models
}

// isPaired reports whether a properties file belongs to a model, by the pairing of the directory. models has all models of the directory, each
// followed by its switches.
func (d *directory) isPaired(model, props string, models [][]word) bool {
	switch d.pairing {
	case Every:
		return true
	case Matching:
		return beginsWithModel(props, model)
	}
	// The first rule that matches some model of the directory decides.
	for _, matches := range []func(props, model string) bool{beginsWithModel, hasStemOfModel} {
		if matches(props, model) {
			return true
		}
		if slices.ContainsFunc(models, func(line []word) bool { return matches(props, line[0].text) }) {
			return false
		}
	}
	return true
}

// beginsWithModel reports whether the name of a properties file begins with the name of a model, as die.prism.props and die.prism.
func beginsWithModel(props, model string) bool { return strings.HasPrefix(props, path.Base(model)) }

// hasStemOfModel reports whether two file names are equal without their extensions, as die.props and die.prism.
func hasStemOfModel(props, model string) bool {
	return strings.TrimSuffix(props, path.Ext(props)) == strings.TrimSuffix(path.Base(model), path.Ext(model))
}

// runsOfModelFile returns the runs of a model that the user named.
func (d *directory) runsOfModelFile(file string) ([]Run, error) {
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	models = slices.DeleteFunc(models, func(model []word) bool { return model[0].text != file })
	if d.pairing != Closest || len(models) == 0 {
		models = [][]word{{{text: file}}} // the model without switches
	}
	var runs []Run
	for _, model := range models {
		modelRuns, err := d.runsOfModel(model)
		if err != nil {
			return nil, err
		}
		runs = append(runs, modelRuns...)
	}
	return runs, nil
}

// runsOfModel returns the runs of a model with each of its properties files, and of its .auto files. line is the model followed by its switches.
func (d *directory) runsOfModel(line []word) ([]Run, error) {
	model, switches := line[0].text, line[1:]
	models, err := d.modelLines()
	if err != nil {
		return nil, err
	}
	argLines, err := d.argLinesOf(model)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, modelArgs := range argLines {
		args := slices.Concat(switches, modelArgs)
		withProps, err := d.runsWithProps(model, args, models)
		if err != nil {
			return nil, err
		}
		withAutos, err := d.runsOfAutos(model, args)
		if err != nil {
			return nil, err
		}
		runs = append(runs, withProps...)
		runs = append(runs, withAutos...)
	}
	return runs, nil
}

// runsWithProps returns the runs of a model with each properties file that belongs to it. args are the switches of the model. models has all
// models of the directory, each followed by its switches.
func (d *directory) runsWithProps(model string, args []word, models [][]word) ([]Run, error) {
	var runs []Run
	for _, file := range d.files {
		if !isProps(file) || !d.isPaired(model, file, models) {
			continue
		}
		propsRuns, err := d.combineArgs(file, func(propsArgs []word) Run { return d.newRun(model, file, args, propsArgs) })
		if err != nil {
			return nil, err
		}
		runs = append(runs, propsRuns...)
	}
	return runs, nil
}

// runsOfAutos returns the runs of all .auto files with names that begin with the name of the model.
func (d *directory) runsOfAutos(model string, args []word) ([]Run, error) {
	var runs []Run
	for _, file := range d.files {
		if !isAuto(file) || !strings.HasPrefix(file, path.Base(model)) {
			continue
		}
		autoRuns, err := d.runsOfAuto(model, file, args)
		if err != nil {
			return nil, err
		}
		runs = append(runs, autoRuns...)
	}
	return runs, nil
}

// runsOfProps returns the runs of a properties file with each model to which it belongs.
func (d *directory) runsOfProps(file string) ([]Run, error) {
	models, err := d.modelsFor(file)
	if err != nil {
		return nil, err
	}
	propsArgLines, err := d.argLinesOf(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, propsArgs := range propsArgLines {
		for _, line := range models {
			model, switches := line[0].text, line[1:]
			if !d.isPaired(model, file, models) {
				continue
			}
			modelRuns, err := d.combineArgs(model, func(modelArgs []word) Run { return d.newRun(model, file, switches, modelArgs, propsArgs) })
			if err != nil {
				return nil, err
			}
			runs = append(runs, modelRuns...)
		}
	}
	return runs, nil
}

// modelsFor returns the models that may be paired with a properties file, each followed by its switches.
func (d *directory) modelsFor(file string) ([][]word, error) {
	models, err := d.modelLines()
	if err != nil || d.pairing != Matching {
		return models, err
	}
	models = nil // prism-auto -m ignores the file "models"
	for _, model := range d.modelsNamedBy(file) {
		models = append(models, []word{{text: model}})
	}
	return models, nil
}

// runsOfAutoFile returns the runs of an .auto file that the user named.
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
			modelRuns, err := d.runsOfAuto(model, file, args)
			if err != nil {
				return nil, err
			}
			runs = append(runs, modelRuns...)
		}
	}
	return runs, nil
}

// runsWithoutModel returns the runs of an .auto file that belongs to no model. Its lines name the models.
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

// combineArgs returns one run for each line in the .args file that belongs to the named file. newRun makes a run from the switches in such a line.
func (d *directory) combineArgs(file string, newRun func(args []word) Run) ([]Run, error) {
	argLines, err := d.argLinesOf(file)
	if err != nil {
		return nil, err
	}
	d.runCount += len(argLines)
	if d.runCount > maxRuns {
		return nil, &syntax.Error{File: path.Join(d.dir, file), Msg: fmt.Sprintf("found more than %d runs in this directory, want fewer", maxRuns)}
	}
	var runs []Run
	for _, args := range argLines {
		runs = append(runs, newRun(args))
	}
	return runs, nil
}

// runsOfAuto returns one run for each line of an .auto file combined with each line of its .args file. modelArgs are the switches of the model.
func (d *directory) runsOfAuto(model, file string, modelArgs []word) ([]Run, error) {
	argLines, err := d.readLines(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, line := range argLines {
		lineRuns, err := d.combineArgs(file, func(autoArgs []word) Run { return d.newRun(model, "", modelArgs, line, autoArgs) })
		if err != nil {
			return nil, err
		}
		runs = append(runs, lineRuns...)
	}
	return runs, nil
}

// newRun returns the run of a model and a properties file with lists of switches. An empty name means no file.
func (d *directory) newRun(model, props string, args ...[]word) Run {
	run := Run{Dir: d.dir}
	if model != "" {
		run.Model = path.Join(d.dir, model)
	}
	if props != "" {
		run.Props = path.Join(d.dir, props)
	}
	for _, word := range slices.Concat(args...) {
		run.Args = append(run.Args, word.text)
		run.Places = append(run.Places, word.place)
	}
	return run
}

// argLinesOf returns the lines of the .args file of the named file. If there is no such file, it returns one line without switches.
func (d *directory) argLinesOf(file string) ([][]word, error) {
	lines, err := d.readLines(file + ".args")
	if errors.Is(err, fs.ErrNotExist) {
		return [][]word{nil}, nil
	}
	return lines, err
}

// readLines reads the lines of a file.
func (d *directory) readLines(file string) ([][]word, error) {
	return readLines(d.fileSystem, path.Join(d.dir, file))
}
