package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tilecheck/report/stream"

	"tilecheck/internal/atomicfile"
	"tilecheck/internal/shard"
)

type mergeCmd struct {
	Files         []string `arg:"" name:"shard" help:"Files of shards, which --partial wrote; flags behind -- are given to the command that the shards are of." file:"in"`
	PartialResult bool     `help:"Print what the shards say that are there, if some are missing."`
}

// Run prints what one process would have printed.
func (c *mergeCmd) Run(ctx context.Context, env *environment) error {
	return env.merge(ctx, c.Files, env.mergedFlags, env.mergedFlags, c.PartialResult)
}

// splitMergedFlags takes what is behind -- off a command line of merge: flags of another
// command, which are not to be read as those of this one.
func splitMergedFlags(args []string) (own, more []string) {
	if i := slices.Index(args, "--"); i >= 0 && args[0] == "merge" {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// merge runs the command that files are shards of, on what they found, with more
// arguments. Nothing is printed or written unless they have all it takes; the
// error then is a *shard.More, or says which are missing or wrong. Of the outputs of
// the command it writes those that the words own of the caller's command line name: a
// file of somebody else must not choose what is written here.
func (e *environment) merge(ctx context.Context, names, more, own []string, allowed bool) error {
	files, err := readShards(names)
	if err != nil {
		return err
	}
	if e.split, err = shard.Join(files, allowed); err != nil {
		return err
	}
	if err := e.checkSameJob(files[0]); err != nil {
		return err
	}
	e.shardFiles, e.recording, e.heldFiles = names, &recording{meaning: files[0].Means, outputWords: own}, nil
	out := e.stdout.(*stream.Stream)
	out.Hold()
	code := e.runCommand(ctx, slices.Concat(files[0].Args, more))
	if err := e.split.Err(); err != nil {
		e.split = nil // the command has left it to its caller to tell
		out.Drop()
		return err
	}
	if err := out.Release(); err != nil {
		return err
	}
	set := &atomicfile.Set{OnExit: e.onExit}
	for _, f := range e.heldFiles {
		write := func(w io.Writer) error {
			_, err := w.Write(f.text)
			return err
		}
		if err := set.Add(f.name, write); err != nil {
			return errors.Join(err, set.Discard())
		}
	}
	if err := set.Commit(); err != nil {
		return err
	}
	return exitStatus(code)
}

// heldFile is a file that a merge writes when it is known that nothing is missing.
type heldFile struct {
	name string
	text []byte
}

// namesOutput reports whether words of a command line name a file: alone, with the flag in
// front of it, or with options behind a colon.
func namesOutput(words []string, name string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "-") {
			word = value
		}
		file, _ := cutTarget(word)
		return word == name || file == name
	})
}

// holdOutput keeps what is to be written to a file until then. An output that only a shard names is
// not written.
func (e *environment) holdOutput(name string, write func(io.Writer) error) error {
	if !namesOutput(e.recording.outputWords, name) {
		if !e.quiet {
			fmt.Fprintf(e.stderr, "note: %s is not written: a shard names it, want its flag behind -- of this merge\n", name)
		}
		return nil
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	e.heldFiles = append(e.heldFiles, heldFile{name, text.Bytes()})
	return nil
}

// readShards reads all files, and says what is wrong with each.
func readShards(names []string) (files []*shard.File, err error) {
	if len(names) == 0 {
		return nil, usageError("no shards, want the files that --partial wrote")
	}
	var errs []error
	for _, name := range names {
		f, err := shard.Read(name)
		files, errs = append(files, f), append(errs, err)
	}
	return files, errors.Join(errs...)
}

// checkSameJob refuses shards that this program, or what the files are now, would not have made.
func (e *environment) checkSameJob(f *shard.File) error {
	build, err := e.identify()
	if err != nil {
		return err
	}
	if f.Build != build {
		return fmt.Errorf("%s was made by another build: found %s, want %s, which this is", f.Name, f.Build, build)
	}
	for _, in := range f.Inputs {
		sum, _, err := shard.Digest(in.Name)
		switch {
		case err != nil:
			return fmt.Errorf("%s is of a file that cannot be read: %w", f.Name, err)
		case sum != in.SHA256:
			return fmt.Errorf("%s is of another %s: its content has changed since", f.Name, in.Name)
		}
	}
	return nil
}
