package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/pmezard/go-difflib/difflib"

	"tilecheck/native/space/files/named"
	"tilecheck/prism/format"
)

// fmtCmd formats model and properties files.
type fmtCmd struct {
	Files  []string `arg:"" name:"file" help:"Model and properties files; - reads standard input and prints." file:"in"`
	Check  bool     `help:"Change nothing: name the files that would change, exit code 2 if there are any." xor:"instead"`
	Diff   bool     `help:"Change nothing: print what would change, exit code 2 if anything would." xor:"instead"`
	Stdout bool     `help:"Change nothing: print the files as they would be." xor:"instead"`

	dialectFlag `embed:""`
	timeFlag    `embed:""`
}

// Run formats the files. A file that cannot be parsed does not stop the run; its error is returned at the end.
func (c *fmtCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	var errs []error
	isAnyChanged := false
	for _, name := range c.Files {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		isChanged, err := c.formatFile(env, name)
		if err != nil {
			errs = append(errs, err)
		}
		isAnyChanged = isAnyChanged || isChanged
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if isAnyChanged && (c.Check || c.Diff) {
		return exitStatus(exitFailed)
	}
	return nil
}

// formatFile formats one file and reports whether the formatted text differs.
func (c *fmtCmd) formatFile(env *environment, name string) (isChanged bool, err error) {
	if named.Zip(name) != "" {
		return false, usageError("%s is compressed, want the file itself", name)
	}
	src, err := env.readSource(name)
	if err != nil {
		return false, err
	}
	formatted, err := format.Source(dialect(c.Dialect), name, src)
	if err != nil {
		return false, err
	}
	isChanged = !bytes.Equal(src, formatted)
	writesStdout := c.Stdout || name == "-" && !c.Check && !c.Diff
	if writesStdout || isChanged {
		err = c.writeFormatted(env, name, src, formatted, writesStdout)
	}
	return isChanged, err
}

// writeFormatted writes a formatted text to standard output or to its file. With --check it only prints the name of the file, and with --diff
// only the changes.
func (c *fmtCmd) writeFormatted(env *environment, name string, src, formatted []byte, writesStdout bool) error {
	switch {
	case writesStdout:
		_, err := env.stdout.Write(formatted)
		return err
	case c.Check:
		_, err := fmt.Fprintln(env.stdout, name)
		return err
	case c.Diff:
		return difflib.WriteUnifiedDiff(env.stdout, difflib.UnifiedDiff{
			A: difflib.SplitLines(string(src)), B: difflib.SplitLines(string(formatted)),
			FromFile: name, ToFile: name + " (formatted)", Context: 3,
		})
	}
	if err := env.writeFile(name, textWriter(string(formatted))); err != nil {
		return err
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "%s\n", name)
	}
	return nil
}
