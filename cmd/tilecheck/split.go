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

// shardFlags let a command do one shard of its work.
type shardFlags struct {
	Shard   string `rare:"" help:"Do only part I of N, such as 2/5, and print nothing; tilecheck merge prints the result of all parts." placeholder:"I/N"`
	Partial string `rare:"" help:"With --shard: file for the results of the part." placeholder:"FILE" file:"out"`
}

// sharing has the shard of a command's work that the process does, or the shards that it merges.
type sharing struct {
	shard      *shard.Ledger // nil if the process does everything
	recording  *recording    // of a shard that is recorded
	shardFiles []string      // the files that are merged
	heldFiles  []heldFile    // the files that a merge will write
}

// beginShard starts the recording of a shard if --shard and --partial are given. When shards are merged, it checks that the command is the
// command of the shards.
func (e *environment) beginShard(kongContext *kong.Context, args []string) error {
	shardText, resultFile, canShard := shardFlagsOf(kongContext)
	if e.shard.Replaying() {
		return e.checkMergedCommand(kongContext, canShard, shardText+resultFile != "")
	}
	reportsShard := slices.Contains([]string{"test", "bench run"}, commandName(kongContext.Selected())) // with --shard alone, they print a report on the shard
	if resultFile == "" && (shardText == "" || reportsShard) {
		return nil
	}
	if err := e.checkShardFlags(shardText, resultFile); err != nil {
		return err
	}
	thisShard, err := shard.Parse(shardText)
	if err != nil {
		return usageError("--shard: %w", err)
	}
	e.shard = shard.Record(thisShard)
	e.recording = &recording{resultFile: resultFile, arguments: withoutShardFlags(args), resultWords: resultWords(kongContext)}
	e.stdout.(*stream.Stream).Hold()
	return nil
}

// checkShardFlags returns a usage error unless --shard and --partial are both given and all inputs are files. resultFile is the value of --partial.
func (e *environment) checkShardFlags(shardText, resultFile string) error {
	switch {
	case resultFile == "":
		return usageError("--shard is given without --partial, want a file for the results of the shard")
	case shardText == "":
		return usageError("--partial is given without --shard, want the shard to run, such as --shard 1/5")
	case isStdout(resultFile):
		return usageError("--partial is %s, want a file", resultFile)
	}
	for _, input := range e.commandFiles.inputs {
		if input.name == "-" {
			return usageError("%s is standard input, which cannot be read again to merge the shards: want a file", input.source)
		}
	}
	return nil
}

// shardFlagsOf returns the values of --shard and --partial. canShard reports whether the command has these flags.
func shardFlagsOf(kongContext *kong.Context) (shardText, resultFile string, canShard bool) {
	for _, flag := range kongContext.Flags() {
		switch flag.Name {
		case "shard":
			shardText, _ = flag.Target.Interface().(string)
		case "partial":
			resultFile, _ = flag.Target.Interface().(string)
			canShard = true
		}
	}
	return shardText, resultFile, canShard
}

// checkMergedCommand returns an error if the command that a merge runs differs from the command that wrote the shards.
func (e *environment) checkMergedCommand(kongContext *kong.Context, canShard, hasShardFlags bool) error {
	switch {
	case !canShard:
		return usageError("the command of the shards is %s, whose work cannot be divided into shards", commandName(kongContext.Selected()))
	case hasShardFlags:
		return usageError("the command of the shards has the flag --shard itself")
	}
	return shard.SameMeans(e.recording.resultWords, resultWords(kongContext))
}

// refuseWithShard returns a usage error if one of the flags was given together with --shard.
func (e *environment) refuseWithShard(flags ...string) error {
	return e.refuseFlags(e.shard != nil, "with --shard: it takes one process", flags...)
}

// recording has the file of a shard and the command that it records.
type recording struct {
	resultFile             string
	arguments, resultWords []string
	outputWords            []string // of a merge: the words that may name outputs
}

// withoutShardFlags returns a command line without the flags --shard and --partial.
func withoutShardFlags(args []string) []string {
	var words []string
	for argIndex := 0; argIndex < len(args); argIndex++ {
		if args[argIndex] == "--" {
			return append(words, args[argIndex:]...)
		}
		name, _, hasValue := strings.Cut(args[argIndex], "=")
		isShardFlag := name == "--shard" || name == "--partial"
		switch {
		case !isShardFlag:
			words = append(words, args[argIndex])
		case !hasValue:
			argIndex++ // the next word is the value of the flag
		}
	}
	return words
}

// changesResults reports whether a flag can change the results of a command, and not only how the command runs or prints.
func changesResults(flag *kong.Value) bool {
	kind := flag.Tag.Get("file")
	isOutput := kind == "out" || kind == "target"
	return !isOutput && !slices.Contains([]string{
		"help", "version", "quiet", "no-color", "format", "github", "workers", "jobs", "timeout", "shard", "partial", "partial-result",
		"cache", "no-cache", "baseline", "output",
	}, flag.Name)
}

// resultWords returns the words of a command line that can change its results. Shards can be merged only if these words are equal.
func resultWords(kongContext *kong.Context) []string {
	node := kongContext.Selected()
	words := []string{commandName(node)}
	for _, arg := range node.Positional {
		if arg.Target.IsZero() {
			continue
		}
		words = append(words, fmt.Sprintf("<%s> %q", arg.Name, fmt.Sprint(flagValue(arg.Target))))
	}
	for _, flag := range kongContext.Flags() {
		if changesResults(flag.Value) && !flag.Target.IsZero() {
			words = append(words, fmt.Sprintf("--%s %q", flag.Name, fmt.Sprint(flagValue(flag.Target))))
		}
	}
	return words
}

// flagValue returns the value of a flag or argument, or the value to which it points. The value must not be nil.
func flagValue(target reflect.Value) any {
	if target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	return target.Interface()
}

// endShard writes the file of a shard after the command has ended with commandErr. It returns the error that ends the run: commandErr, or why the shard has no
// file. An unfinished shard and a shard without work have none.
func (e *environment) endShard(ctx context.Context, commandErr error) error {
	if e.shard.Replaying() {
		return nameMissingShards(e.shard.Lacking(), commandErr)
	}
	if !e.shard.Recording() {
		return commandErr
	}
	if coded, ok := errors.AsType[*codedError](commandErr); commandErr != nil && (!ok || coded.err != nil) {
		return commandErr // a real error, not only an exit code
	}
	if unfinishedErr := cmp.Or(ctx.Err(), e.shard.Undone()); unfinishedErr != nil {
		return fmt.Errorf("shard %v is not finished: %w", e.shard.Part(), unfinishedErr)
	}
	if e.shard.Streams() == 0 {
		return usageError("the work of this command cannot be divided into shards, want a command that samples paths (--method sim), plays games or has many results")
	}
	if e.shard.BeyondLast() {
		thisShard := e.shard.Part()
		return usageError("--shard is %v, want 1/%d to %d/%d: a shard beyond the last one has work only if the results decide how much is sampled or played", thisShard, thisShard.Count, thisShard.Count, thisShard.Count)
	}
	if err := e.writeShard(); err != nil {
		return err
	}
	if !e.quiet {
		fmt.Fprintf(e.stderr, "note: shard %v is in %s\n", e.shard.Part(), e.recording.resultFile)
	}
	if e.shard.HasResults() {
		return commandErr
	}
	return nil
}

// nameMissingShards returns the error of a merge that lacks some shards. It names them, unless commandErr has a message. It keeps the exit code of
// commandErr.
func nameMissingShards(missing []shard.Part, commandErr error) error {
	coded, isCoded := errors.AsType[*codedError](commandErr)
	if len(missing) == 0 || commandErr != nil && !(isCoded && coded.err == nil) {
		return commandErr
	}
	code := exitCannotRun
	if isCoded {
		code = coded.code
	}
	return &codedError{code: code, err: fmt.Errorf("%s: the result is of the others", shard.Missing(missing))}
}

// writeShard writes the results of the shard to the file of --partial, together with its command line and the digests of its inputs.
func (e *environment) writeShard() (err error) {
	job := &shard.Job{Args: e.recording.arguments, Means: e.recording.resultWords}
	if job.Build, err = e.identifyBuild(); err != nil {
		return err
	}
	if job.Inputs, err = e.commandFiles.inputDigests(); err != nil {
		return err
	}
	return atomicfile.WriteWithExitHook(e.recording.resultFile, e.onExit, func(w io.Writer) error { return e.shard.Write(w, job) })
}

// inputDigests returns the names of the input files with their SHA-256 digests.
func (files *commandFiles) inputDigests() (inputs []shard.Input, err error) {
	for _, input := range files.inputs {
		if input.isUpdated || noSuchFile(input.name) {
			continue
		}
		digest, _, err := shard.Digest(input.name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, shard.Input{Name: input.name, SHA256: digest})
	}
	return inputs, nil
}
