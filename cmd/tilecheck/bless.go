package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tilecheck/internal/printable"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/verify/regress"
	"tilecheck/verify/selection"
)

type blessCmd struct {
	suiteFlags `embed:""`

	Update    bool  `help:"Also replace values that fail."`
	Yes       bool  `short:"y" help:"Write without asking."`
	Samples   int64 `help:"Paths to sample where there are too many states." default:"10000" placeholder:"N"`
	MaxStates int   `name:"exact-states" aliases:"max-states" rare:"" help:"Largest state space on which fractions are tried." default:"20000" placeholder:"N"`
}

// Run shows what it would write, and writes it if that is wanted.
func (c *blessCmd) Run(ctx context.Context, env *world) error {
	s, err := c.load(env, nil, 0)
	if err != nil {
		return err
	}
	b, err := regress.Bless(ctx, s.Tests, native.New(), regress.BlessOptions{Options: s.Options, Update: c.Update, Samples: c.Samples, MaxStates: c.MaxStates})
	if err != nil {
		return err
	}
	for i := range b.Files {
		diff := b.Files[i].Diff()
		if _, tty := env.terminal(env.stdout); tty { // elsewhere it may go to patch
			diff = printable.Text(diff)
		}
		if _, err := io.WriteString(env.stdout, diff); err != nil {
			return err
		}
	}
	for _, x := range b.Skipped {
		fmt.Fprintln(env.stderr, skipText(x))
	}
	for i := range b.Failing {
		fmt.Fprintln(env.stderr, b.Failing[i].Summary())
	}
	if n := len(b.Failing); n > 0 && !c.Update && !env.quiet {
		fmt.Fprintf(env.stderr, "note: expectations that fail: %d, which stay as they are; --update replaces their values\n", n)
	}
	if len(b.Files) > 0 {
		if err := c.write(ctx, env, s, b); err != nil {
			return err
		}
	}
	if len(b.Skipped) > 0 {
		return status(exitCannotRun)
	}
	return status(regress.FailureCode(&report.TestReport{Results: b.Failing}))
}

func skipText(x regress.Skip) string {
	place := x.File
	if x.Line > 0 {
		place += fmt.Sprintf(":%d:%d", x.Line, x.Col)
	}
	if x.Property == "" {
		return place + ": " + x.Reason
	}
	return place + ": no expectation for " + x.Property + ": " + x.Reason
}

// write asks, unless that was answered, and writes every file. The error is a
// status if nothing is to be written.
func (c *blessCmd) write(ctx context.Context, env *world, s *selection.Selection, b *regress.Blessing) error {
	what := fmt.Sprintf("%d new annotations and %d new values in %d files", b.Added, b.Updated, len(b.Files))
	if !c.Yes {
		if _, tty := env.terminal(env.stdout); !tty {
			fmt.Fprintf(env.stderr, "%s are not written: give --yes to write them\n", what)
			return status(exitFailed)
		}
		fmt.Fprintf(env.stderr, "write %s? [y/N] ", what)
		answer, err := env.line(ctx)
		if err != nil {
			return err
		}
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return status(exitFailed)
		}
	}
	for i := range b.Files {
		f := &b.Files[i]
		name := s.Abs(f.File)
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, f.Before) {
			return fmt.Errorf("%s: the file has changed meanwhile, nothing is written to it", f.Name)
		}
		if err := env.writeFile(name, func(w io.Writer) error {
			_, err := w.Write(f.After)
			return err
		}); err != nil {
			return err
		}
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "wrote %s\n", what)
	}
	return nil
}

// line reads a line of standard input. The end of ctx ends the wait, and leaves
// the reader behind: nobody else reads.
func (e *system) line(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(e.stdin).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		read <- answer{text, err}
	}()
	select {
	case a := <-read:
		return a.text, a.err
	case <-ctx.Done():
		fmt.Fprintln(e.stderr)
		return "", ctx.Err()
	}
}
