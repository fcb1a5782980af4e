package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"tilecheck/report/stream"

	"github.com/alecthomas/kong"

	"tilecheck/internal/atomicfile"
	"tilecheck/internal/shard"
)

// splitFlags have a command do one part of its work.
type splitFlags struct {
	Shard   string `rare:"" help:"Do one part of so many, such as 2/5, and print nothing; tilecheck merge prints what all parts found." placeholder:"I/N"`
	Partial string `rare:"" help:"Where to write what the part found." placeholder:"FILE" file:"out"`
}

// sharing is the part of a command's work that a process does, or the parts that are merged.
type sharing struct {
	split      *shard.Ledger // nil if the process does everything
	recording  *recording    // of a part that is recorded
	shardFiles []string      // the files that are merged
	heldFiles  []heldFile    // the files that a merge will write
}

// beginShard has a command that was given a part do that, and nothing else.
func (e *environment) beginShard(kctx *kong.Context, args []string) error {
	var text, file string
	shares := false
	for _, f := range kctx.Flags() {
		switch f.Name {
		case "shard":
			text, _ = f.Target.Interface().(string)
		case "partial":
			file, _ = f.Target.Interface().(string)
			shares = true
		}
	}
	own := nameOf(kctx.Selected()) == "test" // which reports on a part of its own
	switch {
	case e.split.Replaying() && !shares:
		return usageError("a shard is of the command %s, which shares no work", nameOf(kctx.Selected()))
	case e.split.Replaying() && text+file != "":
		return usageError("a command that shards are of cannot have --shard itself")
	case e.split.Replaying():
		return shard.SameMeans(e.recording.meaning, meaningOf(kctx))
	case file == "" && (text == "" || own):
		return nil
	case file == "":
		return usageError("--shard is without --partial, want a file for what the part finds")
	case text == "":
		return usageError("--partial is without --shard, want the part to do, such as --shard 1/5")
	case isStdout(file):
		return usageError("--partial is %s, want a file", file)
	}
	part, err := shard.Parse(text)
	if err != nil {
		return usageError("--shard: %w", err)
	}
	for _, in := range e.files.inputs {
		if in.name == "-" {
			return usageError("%s is standard input, which nobody can read again to merge the shards: want a file", in.source)
		}
	}
	e.split = shard.Record(part)
	e.recording = &recording{file: file, arguments: withoutSplit(args), meaning: meaningOf(kctx)}
	e.stdout.(*stream.Stream).Hold()
	return nil
}

// refuseWithShard refuses flags that only a process that does everything can follow.
func (e *environment) refuseWithShard(flags ...string) error {
	return e.refuseFlags(e.split != nil, "with --shard: it takes one process", flags...)
}

// recording is where a part is recorded.
type recording struct {
	file               string
	arguments, meaning []string
	outputWords        []string // of a merge: the words that may name outputs
}

// withoutSplit is a command line without its part.
func withoutSplit(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, _, joined := strings.Cut(args[i], "=")
		if name != "--shard" && name != "--partial" {
			out = append(out, args[i])
		} else if !joined {
			i++
		}
	}
	return out
}

// decidesNothing has the flags that decide nothing of what a command finds, besides those
// that name outputs.
func decidesNothing(f *kong.Value) bool {
	kind := f.Tag.Get("file")
	return kind == "out" || kind == "target" || slices.Contains([]string{
		"help", "version", "quiet", "no-color", "format", "github", "workers", "jobs", "timeout", "shard", "partial", "partial-result",
		"cache", "no-cache", "baseline",
	}, f.Name)
}

// meaningOf says what of a command line decides what the command finds.
func meaningOf(kctx *kong.Context) []string {
	node := kctx.Selected()
	out := []string{nameOf(node)}
	for _, arg := range node.Positional {
		if arg.Target.IsZero() {
			continue
		}
		out = append(out, fmt.Sprintf("<%s> %q", arg.Name, fmt.Sprint(flagValue(arg.Target))))
	}
	for _, f := range kctx.Flags() {
		if !decidesNothing(f.Value) && !f.Target.IsZero() {
			out = append(out, fmt.Sprintf("--%s %q", f.Name, fmt.Sprint(flagValue(f.Target))))
		}
	}
	return out
}

// flagValue is that of a flag that was given, or has a default.
func flagValue(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v.Interface()
}

// endShard ends a command that did one part, whose error this is: it writes the file.
func (e *environment) endShard(ctx context.Context, outcome error) (err error) {
	if !e.split.Recording() {
		return outcome
	}
	if coder, ok := errors.AsType[*codedError](outcome); outcome != nil && (!ok || coder.err != nil) {
		return outcome
	}
	if undone := cmp.Or(ctx.Err(), e.split.Undone()); undone != nil {
		return fmt.Errorf("shard %v is not finished: %w", e.split.Part(), undone)
	}
	if e.split.Streams() == 0 {
		return usageError("there is nothing to share, want a command that samples paths (--method sim), plays games or has many results")
	}
	job := &shard.Job{Args: e.recording.arguments, Means: e.recording.meaning}
	if job.Build, err = e.identify(); err != nil {
		return err
	}
	if job.Inputs, err = e.files.digests(); err != nil {
		return err
	}
	write := func(w io.Writer) error { return e.split.Write(w, job) }
	if unwritten := atomicfile.WriteOr(e.recording.file, e.onExit, write); unwritten != nil {
		return unwritten
	}
	if !e.quiet {
		fmt.Fprintf(e.stderr, "note: shard %v is in %s\n", e.split.Part(), e.recording.file)
	}
	if e.split.HasResults() {
		return outcome
	}
	return nil
}

// digests identifies the inputs by their content.
func (p *commandFiles) digests() (out []shard.Input, err error) {
	for _, in := range p.inputs {
		if in.kept || noSuchFile(in.name) {
			continue
		}
		sum, _, err := shard.Digest(in.name)
		if err != nil {
			return nil, err
		}
		out = append(out, shard.Input{Name: in.name, SHA256: sum})
	}
	return out, nil
}
