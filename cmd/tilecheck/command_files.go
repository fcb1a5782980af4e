package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"tilecheck/native/space/files/named"

	"tilecheck/report/stream"

	"github.com/alecthomas/kong"

	"tilecheck/internal/atomicfile"
	"tilecheck/report/plot"
)

// commandFiles are the files that a command line names. The tag "file" of a flag or argument says how the
// command uses them:
//
//	in       read; - is standard input
//	states   read: a model, or files of states, of which one name has several
//	out      written at the end; - is standard output
//	target   out, with options behind a colon
//	keep     read and written while the command runs
//	some     files that the command adds itself, when it knows them
//	none     not a file that could be the same as an output
type commandFiles struct {
	stdin, stdout, stderr any
	inputs, outputs       []namedFile
	toStdout              []string // the flags whose output is written to standard output
	fromStdin             []string // the flags and arguments that are read from standard input
}

// namedFile is a file, with the flag or argument that names it.
type namedFile struct {
	source, name string
	location     atomicfile.Place
	isUpdated    bool // read and written while the command runs
}

// String returns the flag and the file as error messages name them.
func (p namedFile) String() string { return strings.TrimSpace(p.source + " " + p.name) }

// commandFilesOf returns the files that the flags and arguments of a command name. The struct tag "file" of a flag says whether the command reads
// or writes the file.
func commandFilesOf(kongContext *kong.Context, env *environment) *commandFiles {
	files := &commandFiles{stdin: env.stdin, stdout: stream.Raw(env.stdout), stderr: stream.Raw(env.stderr)}
	files.addUpdated("shard", env.shardFiles...)
	node := kongContext.Selected()
	if node == nil {
		return files
	}
	values := slices.Clone(node.Positional)
	for _, flags := range node.AllFlags(false) {
		for _, flag := range flags {
			values = append(values, flag.Value)
		}
	}
	for _, value := range values {
		files.addFlag(flagName(value), value.Tag.Get("file"), value.Target)
	}
	if env.shard.Replaying() { // merge writes only the files that its own command line names
		files.outputs = slices.DeleteFunc(files.outputs, func(output namedFile) bool { return !namesOutput(env.recording.outputWords, output.name) })
	}
	return files
}

// addFlag adds the files that a flag or argument names. Its value is a text or a list of texts. source is the name of the flag for messages. kind
// is its struct tag "file", which says how the command uses the files.
func (files *commandFiles) addFlag(source, kind string, value reflect.Value) {
	if value.Kind() == reflect.Slice {
		for i := range value.Len() {
			files.addFlag(source, kind, value.Index(i))
		}
		return
	}
	if value.Kind() != reflect.String {
		return
	}
	name := value.String()
	switch kind {
	case "in":
		files.addInputs(source, name)
	case "states": // several files with the states of a model
		files.addInputs(source, named.Files(name)...)
	case "out":
		files.addOutputs(source, name)
	case "target": // a file with options behind a colon
		file, _ := cutTarget(name)
		files.addOutputs(source, file)
	case "keep": // a file that the command reads and updates
		files.addUpdated(source, name)
	}
}

// checkOutputs returns an error if the command cannot write these files in addition to the files that the command line names, or if a record of
// the run cannot contain them. source is the flag that names these files.
func (e *environment) checkOutputs(source string, names ...string) error {
	extended := *e.commandFiles
	extended.outputs = slices.Clone(extended.outputs)
	extended.addOutputs(source, names...)
	return cmp.Or(extended.check(), e.recorder.checkFiles(&extended))
}

// addInputs adds files that the command reads.
func (files *commandFiles) addInputs(source string, names ...string) {
	for _, name := range names {
		switch name {
		case "": // the flag is not given
		case "-":
			files.fromStdin = append(files.fromStdin, source)
			if place, ok := placeOfStream(files.stdin); ok {
				files.inputs = append(files.inputs, namedFile{source: source, name: name, location: place})
			}
		default:
			files.inputs = append(files.inputs, namedFile{source: source, name: name, location: atomicfile.PlaceOf(name)})
		}
	}
}

// placeOfStream returns the place of a standard stream that is redirected to a regular file; false for other streams.
func placeOfStream(stream any) (atomicfile.Place, bool) {
	file, ok := stream.(*os.File)
	if !ok {
		return atomicfile.Place{}, false
	}
	place, err := atomicfile.PlaceOfOpen(file)
	return place, err == nil && place.Regular()
}

// addOutputs adds files that the command writes at its end. It omits devices such as /dev/null, because several outputs may be written to one
// device.
func (files *commandFiles) addOutputs(source string, names ...string) {
	for _, name := range names {
		if isStdout(name) {
			files.toStdout = append(files.toStdout, source)
			continue
		}
		if place := atomicfile.PlaceOf(name); name != "" && place.KeepsOutput() {
			files.outputs = append(files.outputs, namedFile{source: source, name: name, location: place})
		}
	}
}

// addUpdated adds files that the command reads and writes while it runs, such as a cache. No output may overwrite them.
func (p *commandFiles) addUpdated(source string, names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		p.inputs = append(p.inputs, namedFile{source: source, name: name, location: atomicfile.PlaceOf(name), isUpdated: true})
	}
}

// check returns an error if an output cannot be written, or if it is the same file as an input or another output.
func (files *commandFiles) check() error {
	usedFiles := slices.Clone(files.inputs)
	if place, ok := placeOfStream(files.stdout); ok {
		usedFiles = append(usedFiles, namedFile{source: "standard output", location: place})
	}
	if place, ok := placeOfStream(files.stderr); ok {
		usedFiles = append(usedFiles, namedFile{source: "standard error", location: place})
	}
	for _, output := range files.outputs {
		sameFile := slices.IndexFunc(usedFiles, func(otherFile namedFile) bool { return output.location.Same(otherFile.location) })
		if sameFile >= 0 {
			return usageError("%v is the same file as %v, want another one", output, usedFiles[sameFile])
		}
		usedFiles = append(usedFiles, output)
	}
	for _, output := range files.outputs {
		if err := atomicfile.Check(output.name); err != nil {
			return fmt.Errorf("%s: %w", output.source, err)
		}
	}
	return nil
}

// isStdout reports whether a name means standard output, as PRISM's switches do.
func isStdout(name string) bool { return name == "-" || name == "stdout" }

// writeFile writes a file completely or not at all. A shard writes nothing, because the merge of the shards has the results. A merge holds the
// file back until it is complete.
func (e *environment) writeFile(name string, write func(io.Writer) error) error {
	switch {
	case isStdout(name):
		return write(e.stdout)
	case e.shard.Recording():
		return nil
	case e.shard.Replaying():
		return e.holdOutput(name, write)
	}
	e.recorder.addOutputs(name)
	return atomicfile.WriteWithExitHook(name, e.onExit, write)
}

// writeFile adds a file to a set.
type writeFile = func(name string, write func(io.Writer) error) error

// writeSet writes several files, either all or none of them. addFiles passes each file to the function add. names are the base names of files that belong
// together, such as w for w.tra and w.lab. After success, the files in stale are removed, because they belong to an earlier set.
func (e *environment) writeSet(names []string, addFiles func(add writeFile) error, stale ...string) error {
	set := &atomicfile.Set{OnExit: e.onExit, Stale: stale}
	err := addFiles(func(name string, write func(io.Writer) error) error {
		if isStdout(name) || e.shard != nil {
			return e.writeFile(name, write)
		}
		e.recorder.addOutputs(name)
		return set.Add(name, write)
	})
	if err != nil {
		return errors.Join(err, set.Discard())
	}
	return set.Commit(names...)
}

// writeChart writes a chart to a file. If this succeeds, it prints the name of the file.
func (e *environment) writeChart(name string, chart *plot.Chart) error {
	return e.writeNamed(name, func(w io.Writer) error { return plot.Write(w, name, chart) })
}

// writeNamed writes a file. If this succeeds, it prints the name of the file.
func (e *environment) writeNamed(name string, write func(io.Writer) error) error {
	err := e.writeFile(name, write)
	if err == nil {
		e.noteWritten(name)
	}
	return err
}

// noteWritten prints the names of the files that this process has written, unless --quiet is given.
func (e *environment) noteWritten(names ...string) {
	if e.quiet || e.shard.Recording() {
		return
	}
	var written []string
	for _, name := range names {
		isWritten := !e.shard.Replaying() || namesOutput(e.recording.outputWords, name)
		if isWritten && !isStdout(name) {
			written = append(written, name)
		}
	}
	if len(written) > 0 {
		fmt.Fprintf(e.stderr, "wrote %s\n", strings.Join(written, ", "))
	}
}

// warn prints warnings on standard error.
func (e *environment) warn(warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", warning)
	}
}

// cutTarget splits a target FILE:OPTIONS at the colon. The colon after the drive letter in a name such as C:\x belongs to the file.
func cutTarget(target string) (file, options string) {
	volume := filepath.VolumeName(target)
	file, options, _ = strings.Cut(target[len(volume):], ":")
	return volume + file, options
}
