package main

import (
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

// commandFiles are the files of a run. A flag or argument that names files says with
// its tag "file" what happens to them:
//
//	in       read; - is standard input
//	states   read: a model, or files of states, of which one name has several
//	out      written at the end; - is standard output
//	target   out, with options behind a colon
//	keep     read and written while the command runs, by what opens it first
//	some     files that the command adds itself, when it knows them
//	none     not a file, or one that no output can be taken for
type commandFiles struct {
	stdin, stdout, stderr any
	inputs, outputs       []namedFile
	toStdout              []string // what of the command line is written to standard output
}

// namedFile is a file, and what of the command line names it.
type namedFile struct {
	source, name string
	place        atomicfile.Place
	kept         bool // read and written while the command runs
}

func (p namedFile) String() string { return strings.TrimSpace(p.source + " " + p.name) }

// commandFilesOf lists the files of the flags and arguments of a command.
func commandFilesOf(kctx *kong.Context, env *environment) *commandFiles {
	p := &commandFiles{stdin: env.stdin, stdout: stream.Raw(env.stdout), stderr: stream.Raw(env.stderr)}
	p.addKept("shard", env.shardFiles...)
	node := kctx.Selected()
	if node == nil {
		return p
	}
	values := slices.Clone(node.Positional)
	for _, flags := range node.AllFlags(false) {
		for _, f := range flags {
			values = append(values, f.Value)
		}
	}
	for _, v := range values {
		p.addFlag(flagName(v), v.Tag.Get("file"), v.Target)
	}
	if env.split.Replaying() { // what only a shard names is not written
		p.outputs = slices.DeleteFunc(p.outputs, func(out namedFile) bool { return !namesOutput(env.recording.outputWords, out.name) })
	}
	return p
}

func (p *commandFiles) addFlag(what, kind string, x reflect.Value) {
	switch x.Kind() {
	case reflect.Slice:
		for i := range x.Len() {
			p.addFlag(what, kind, x.Index(i))
		}
		return
	case reflect.String:
	default:
		return
	}
	name := x.String()
	switch kind {
	case "in":
		p.addInputs(what, name)
	case "states":
		p.addInputs(what, named.Files(name)...)
	case "out":
		p.addOutputs(what, name)
	case "target":
		file, _ := cutTarget(name)
		p.addOutputs(what, file)
	case "keep":
		p.addKept(what, name)
	}
}

// withOutputs returns the places with more outputs, which the command line names with what.
func (p *commandFiles) withOutputs(what string, names ...string) *commandFiles {
	more := *p
	more.outputs = slices.Clone(p.outputs)
	more.addOutputs(what, names...)
	return &more
}

// addInputs adds inputs.
func (p *commandFiles) addInputs(what string, names ...string) {
	for _, name := range names {
		if name == "-" {
			if f, ok := p.stdin.(*os.File); ok {
				if place, err := atomicfile.PlaceOfOpen(f); err == nil && place.Regular() {
					p.inputs = append(p.inputs, namedFile{source: what, name: "-", place: place})
				}
			}
		} else if name != "" {
			p.inputs = append(p.inputs, namedFile{source: what, name: name, place: atomicfile.PlaceOf(name)})
		}
	}
}

// addOutputs adds outputs.
func (p *commandFiles) addOutputs(what string, names ...string) {
	for _, name := range names {
		if isStdout(name) {
			p.toStdout = append(p.toStdout, what)
		}
		if place := atomicfile.PlaceOf(name); name != "" && !isStdout(name) && place.Keeps() {
			p.outputs = append(p.outputs, namedFile{source: what, name: name, place: place})
		}
	}
}

// addKept adds what is nobody else's.
func (p *commandFiles) addKept(what string, names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		p.inputs = append(p.inputs, namedFile{what, name, atomicfile.PlaceOf(name), true})
	}
}

// check refuses an output that is an input or another output, and reports what
// would keep an output from being written.
func (p *commandFiles) check() error {
	taken := slices.Clone(p.inputs)
	for _, x := range []struct {
		what   string
		stream any
	}{{"standard output", p.stdout}, {"standard error", p.stderr}} {
		if f, ok := x.stream.(*os.File); ok {
			if place, err := atomicfile.PlaceOfOpen(f); err == nil && place.Regular() {
				taken = append(taken, namedFile{source: x.what, place: place})
			}
		}
	}
	for _, out := range p.outputs {
		i := slices.IndexFunc(taken, func(other namedFile) bool { return out.place.Same(other.place) })
		if i >= 0 {
			return usageError("%v is the same file as %v, want another one", out, taken[i])
		}
		taken = append(taken, out)
	}
	for _, out := range p.outputs {
		if err := atomicfile.Check(out.name); err != nil {
			return fmt.Errorf("%s: %w", out.source, err)
		}
	}
	return nil
}

// isStdout reports whether a name means standard output, as PRISM's switches do.
func isStdout(name string) bool { return name == "-" || name == "stdout" }

// writeFile writes a file completely or not at all.
func (e *environment) writeFile(name string, write func(io.Writer) error) error {
	switch {
	case isStdout(name):
		return write(e.stdout)
	case e.split.Recording():
		return nil // a part has no results
	case e.split.Replaying():
		return e.holdOutput(name, write)
	}
	return atomicfile.WriteOr(name, e.onExit, write)
}

// writeFile adds a file to a set.
type writeFile = func(name string, write func(io.Writer) error) error

// writeSet writes files that belong together, all or none: files adds them. names are the names of the set for its readers, such as
// w for w.tra and w.lab.
func (e *environment) writeSet(names []string, files func(add writeFile) error, stale ...string) error {
	set := &atomicfile.Set{OnExit: e.onExit, Stale: stale}
	err := files(func(name string, write func(io.Writer) error) error {
		if isStdout(name) || e.split != nil {
			return e.writeFile(name, write)
		}
		return set.Add(name, write)
	})
	if err != nil {
		return errors.Join(err, set.Discard())
	}
	return set.Commit(names...)
}

// plot draws a chart to a file.
func (e *environment) plot(name string, chart *plot.Chart) error {
	return e.writeFile(name, func(w io.Writer) error { return plot.Write(w, name, chart) })
}

// cutTarget splits options off a file. In C:\x the colon is part of the name.
func cutTarget(target string) (file, options string) {
	volume := filepath.VolumeName(target)
	file, options, _ = strings.Cut(target[len(volume):], ":")
	return volume + file, options
}
