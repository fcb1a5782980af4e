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

	"tilecheck/internal/noun"
	"tilecheck/internal/printable"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/verify/regress"
	"tilecheck/verify/selection"
)

type blessCmd struct {
	suiteFlags `embed:""`

	Update    bool  `help:"Also replace the values of RESULT annotations that fail. Suite files stay as they are."`
	Yes       bool  `short:"y" help:"Write without asking."`
	Samples   int64 `help:"Paths to sample if there are too many states." default:"10000" placeholder:"N"`
	MaxStates int   `name:"exact-states" aliases:"max-states" rare:"" help:"Largest state space on which fractions are tried." default:"20000" placeholder:"N"`
}

// Run computes an expectation for each property without one. It prints the changes of the files, and writes them if the user agrees.
func (c *blessCmd) Run(ctx context.Context, env *environment) error {
	selected, err := c.loadTests(env, nil, 0)
	if err != nil {
		return err
	}
	blessing, err := regress.Bless(ctx, selected.Tests, native.New(), regress.BlessOptions{Options: selected.Options, Update: c.Update, Samples: c.Samples, MaxStates: c.MaxStates})
	if err != nil {
		return err
	}
	if err := c.printBlessing(env, blessing); err != nil {
		return err
	}
	if len(blessing.Files)+len(blessing.Skipped)+len(blessing.Failing) == 0 && !env.quiet {
		fmt.Fprintln(env.stderr, "nothing to write: every result has an expectation that it meets")
	}
	if len(blessing.Files) > 0 {
		if err := c.writeFiles(ctx, env, selected, blessing); err != nil {
			return err
		}
	}
	if len(blessing.Skipped) > 0 {
		return exitStatus(exitCannotRun)
	}
	return exitStatus(regress.FailureCode(&report.TestReport{Results: blessing.Failing}))
}

// printBlessing prints the changes, the properties without a new expectation, and the expectations that fail.
func (c *blessCmd) printBlessing(env *environment, blessing *regress.Blessing) error {
	_, isTerminal := env.terminal(env.stdout)
	for i := range blessing.Files {
		diff := blessing.Files[i].Diff()
		if isTerminal { // in a pipe the diff stays unchanged, because patch may read it
			diff = printable.Text(diff)
		}
		if _, err := io.WriteString(env.stdout, diff); err != nil {
			return err
		}
	}
	for _, skipped := range blessing.Skipped {
		fmt.Fprintln(env.stderr, skippedText(skipped))
	}
	for i := range blessing.Failing {
		fmt.Fprintln(env.stderr, blessing.Failing[i].Summary())
	}
	if !env.quiet {
		for _, note := range failingNotes(blessing) {
			fmt.Fprintf(env.stderr, "note: %s\n", note)
		}
	}
	return nil
}

// failingNotes says how the user can change the values of the expectations that fail.
func failingNotes(blessing *regress.Blessing) []string {
	var notes []string
	if replaceable := blessing.Replaceable; replaceable > 0 {
		consequence := noun.Verb(replaceable, "fails and stays as it is; --update replaces its value", "fail and stay as they are; --update replaces their values")
		notes = append(notes, noun.Count(replaceable, "expectation")+" "+consequence)
	}
	if places := blessing.InSuiteFile; len(places) > 0 {
		notes = append(notes, fmt.Sprintf("bless does not change suite files; change the %s by hand: %s", noun.Verb(len(places), "expectation that fails", "expectations that fail"), strings.Join(places, ", ")))
	}
	return notes
}

// skippedText returns the message about a property that gets no expectation.
func skippedText(skipped regress.Skip) string {
	position := skipped.File
	if skipped.Line > 0 {
		position += fmt.Sprintf(":%d:%d", skipped.Line, skipped.Col)
	}
	if skipped.Property == "" {
		return position + ": " + skipped.Reason
	}
	return position + ": no expectation for " + skipped.Property + ": " + skipped.Reason
}

// writeFiles asks the user for permission and then writes every file. If the user refuses, it returns an error without a message.
func (c *blessCmd) writeFiles(ctx context.Context, env *environment, selected *selection.Selection, blessing *regress.Blessing) error {
	changes := changesText(blessing)
	if err := c.askUser(ctx, env, changes); err != nil {
		return err
	}
	for i := range blessing.Files {
		changedFile := &blessing.Files[i]
		name := selected.Abs(changedFile.File)
		if current, err := os.ReadFile(name); err != nil || !bytes.Equal(current, changedFile.Before) {
			return fmt.Errorf("%s: the file has changed meanwhile, nothing is written to it", changedFile.Name)
		}
		if err := env.writeFile(name, textWriter(string(changedFile.After))); err != nil {
			return err
		}
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "wrote %s\n", changes)
	}
	return nil
}

// changesText counts the changes of a blessing, such as "2 new expectations and 1 replaced value in 1 file".
func changesText(blessing *regress.Blessing) string {
	var counts []string
	if blessing.Added > 0 {
		counts = append(counts, noun.Count(blessing.Added, "new expectation"))
	}
	if blessing.Updated > 0 {
		counts = append(counts, noun.Count(blessing.Updated, "replaced value"))
	}
	return strings.Join(counts, " and ") + " in " + noun.Count(len(blessing.Files), "file")
}

// askUser asks the user whether to write the changes. With --yes it does not ask. It returns an error unless the answer is yes.
func (c *blessCmd) askUser(ctx context.Context, env *environment, changes string) error {
	if c.Yes {
		return nil
	}
	if _, isTerminal := env.terminal(env.stdout); !isTerminal { // nobody can answer
		fmt.Fprintf(env.stderr, "not written: %s; --yes writes them\n", changes)
		return exitStatus(exitFailed)
	}
	fmt.Fprintf(env.stderr, "write %s? [y/N] ", changes)
	line, err := env.readLine(ctx)
	if err != nil {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return exitStatus(exitFailed)
	}
	return nil
}

// readLine reads a line of standard input. It returns early if ctx ends.
func (e *system) readLine(ctx context.Context) (string, error) {
	type readResult struct {
		text string
		err  error
	}
	results := make(chan readResult, 1)
	go func() { // if ctx ends, this goroutine waits for ever; that is harmless, because nothing else reads standard input
		text, err := bufio.NewReader(e.stdin).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		results <- readResult{text, err}
	}()
	select {
	case result := <-results:
		return result.text, result.err
	case <-ctx.Done():
		fmt.Fprintln(e.stderr)
		return "", ctx.Err()
	}
}
