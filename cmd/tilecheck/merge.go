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
	Files         []string `arg:"" name:"shard" help:"Files of shards, which --partial wrote; flags after -- go to the command of the shards, such as -- --export-results merged.csv." file:"in"`
	Format        string   `help:"A format of the command that was split: table, json, …" placeholder:"FORMAT"`
	PartialResult bool     `help:"Print a result even if some shards are missing: that of the shards that are there."`
}

// Run prints the results of the shards as if one process had computed them.
func (c *mergeCmd) Run(ctx context.Context, env *environment) error {
	moreArgs := env.mergedFlags
	if c.Format != "" {
		moreArgs = slices.Concat([]string{"--format=" + c.Format}, moreArgs)
	}
	return env.merge(ctx, c.Files, moreArgs, env.mergedFlags, c.PartialResult)
}

// splitMergedFlags splits a command line of merge at --. The words after it are flags of the
// command that the shards are of, and kong must not read them as flags of merge.
func splitMergedFlags(args []string) (own, more []string) {
	if i := slices.Index(args, "--"); i >= 0 && args[0] == "merge" {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// merge repeats the command of the shards on their recorded results, with moreArgs added to its arguments. If results are missing, it prints
// nothing and returns a *shard.More, or an error that names the shards. It writes only the files that outputWords name.
func (e *environment) merge(ctx context.Context, shardFiles, moreArgs, outputWords []string, allowMissing bool) error {
	shards, err := readShards(shardFiles)
	if err != nil {
		return err
	}
	if e.shard, err = shard.Join(shards, allowMissing); err != nil {
		return err
	}
	if err := e.checkBuildAndInputs(shards[0]); err != nil {
		return err
	}
	// A shard file from another person must not choose which files are written here, so the merge has its own outputWords.
	e.shardFiles, e.recording, e.heldFiles = shardFiles, &recording{resultWords: shards[0].Means, outputWords: outputWords}, nil
	output := e.stdout.(*stream.Stream)
	output.Hold()
	code := e.runCommand(ctx, slices.Concat(shards[0].Args, moreArgs))
	if err := e.shard.Err(); err != nil {
		e.shard = nil // the caller prints the error, not the command
		output.Drop()
		return err
	}
	if err := output.Release(); err != nil {
		return err
	}
	if err := e.writeHeldFiles(); err != nil {
		return err
	}
	return exitStatus(code)
}

// heldFile is a file that a merge writes when it knows that no result is missing.
type heldFile struct {
	name string
	text []byte
}

// namesOutput reports whether the words of a command line contain the name of a file, as FILE, --flag=FILE or FILE:OPTIONS.
func namesOutput(words []string, name string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "-") {
			word = value
		}
		file, _ := cutTarget(word)
		return word == name || file == name
	})
}

// holdOutput stores the contents of a file until the merge is complete. A file that the command line of the merge does not name is dropped with a
// note.
func (e *environment) holdOutput(name string, write func(io.Writer) error) error {
	if !namesOutput(e.recording.outputWords, name) {
		if !e.quiet {
			fmt.Fprintf(e.stderr, "note: %s is not written, because only the command of the shards names it: give its flag after -- in the command line of the merge\n", name)
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

// readShards reads all shard files.
func readShards(names []string) (shards []*shard.File, err error) {
	if len(names) == 0 {
		return nil, usageError("no shards, want the files that --partial wrote")
	}
	var errs []error
	for _, name := range names {
		file, err := shard.Read(name)
		if _, isDamaged := errors.AsType[*shard.Damage](err); isDamaged {
			err = fmt.Errorf("%w; compute this shard again", err)
		}
		shards, errs = append(shards, file), append(errs, err)
	}
	return shards, errors.Join(errs...)
}

// checkBuildAndInputs returns an error if another build of this program has made the shard file, or if an input file of the shard has changed since.
func (e *environment) checkBuildAndInputs(file *shard.File) error {
	build, err := e.identifyBuild()
	if err != nil {
		return err
	}
	if file.Build != build {
		return fmt.Errorf("%s was made by another build: found %s, want %s, which is this program", file.Name, file.Build, build)
	}
	for _, input := range file.Inputs {
		digest, _, err := shard.Digest(input.Name)
		switch {
		case err != nil:
			return fmt.Errorf("%s was made from a file that cannot be read: %w", file.Name, err)
		case digest != input.SHA256:
			return fmt.Errorf("%s was made from another version of %s: its content has changed since", file.Name, input.Name)
		}
	}
	return nil
}

// writeHeldFiles writes the files that holdOutput has stored: all of them, or none.
func (e *environment) writeHeldFiles() error {
	outputs := &atomicfile.Set{OnExit: e.onExit}
	for _, file := range e.heldFiles {
		e.recorder.addOutputs(file.name)
		if err := outputs.Add(file.name, textWriter(string(file.text))); err != nil {
			return errors.Join(err, outputs.Discard())
		}
	}
	return outputs.Commit()
}
