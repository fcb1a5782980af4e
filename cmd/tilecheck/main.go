package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"golang.org/x/term"

	stormimage "tilecheck/containers/storm"
	"tilecheck/modelgen"
)

// version is what --version and every JSON result say.
const version = "0.1.0"

// cli is the command line. One struct per command holds its flags and its Run method.
type cli struct {
	Gen            genCmd                    `cmd:"" help:"Generate a PRISM model of the game 2048."`
	Check          checkCmd                  `cmd:"" help:"Check properties of a model."`
	Crosscheck     crosscheckCmd             `cmd:"" help:"Ask several engines, and say whether they agree."`
	Simulate       simulateCmd               `cmd:"" help:"Print a random path of a model."`
	Compare        compareCmd                `cmd:"" help:"Compare strategies in a table; with no arguments, the thesis's experiment."`
	Play           playCmd                   `cmd:"" help:"Play games of 2048 with a strategy, and say how good it is."`
	Replay         replayCmd                 `cmd:"" help:"Check recorded games, and step through them."`
	Strategies     strategiesCmd             `cmd:"" help:"List the strategies that play the game, or say what a spec means."`
	Test           testCmd                   `cmd:"" help:"Run the properties of models against their expected results."`
	Bless          blessCmd                  `cmd:"" help:"Write the expected results of properties beside them."`
	Export         exportCmd                 `cmd:"" help:"Write the state space as files for PRISM, Storm and Graphviz."`
	Info           infoCmd                   `cmd:"" help:"Print the size and structure of the state space."`
	Solve          solveCmd                  `cmd:"" help:"Compute optimal play of the game 2048, and its value."`
	Policy         policyCmd                 `cmd:"" help:"Show, play and draw optimal play."`
	ExportStrategy exportStrategyCmd         `cmd:"" name:"export-strategy" help:"Write a model of the game played by a strategy, to be checked."`
	Bound          boundCmd                  `cmd:"" help:"Prove a lower bound of the best winning probability with a strategy."`
	Doctor         doctorCmd                 `cmd:"" help:"Say which engines are there, and what to do about the others."`
	Image          imageCmd                  `cmd:"" help:"Make and list the Docker images that PRISM and Storm run in."`
	Clean          cleanCmd                  `cmd:"" help:"Remove containers that a killed run left behind."`
	Completion     kongcompletion.Completion `cmd:"" help:"Print the shell code that turns completion on."`

	Quiet   bool             `short:"q" help:"No progress bars and no notes on standard error; errors and warnings stay."`
	NoColor bool             `help:"No colours (also: environment NO_COLOR)."`
	Version kong.VersionFlag `help:"Print the version."`
}

// world is what a command may touch besides its flags. Tests replace it.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	lookupEnv      func(string) (string, bool)
	setenv         func(name, value string) error
	// terminal reports whether a stream is a terminal, and its width in columns.
	terminal func(w io.Writer) (cols int, ok bool)
	quiet    bool
	noColor  bool
}

// color reports whether w should get colours.
func (e *world) color(w io.Writer) bool {
	_, tty := e.terminal(w)
	return tty && !e.noColor && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

// width is the number of columns to lay tables out for.
func (e *world) width() int {
	if cols, ok := e.terminal(e.stdout); ok && cols > 0 {
		return cols
	}
	return 120
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal kills: the first one asks commands to print what they have.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], &world{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, lookupEnv: os.LookupEnv, setenv: os.Setenv, terminal: terminalSize,
	})
	stop()
	os.Exit(code)
}

func terminalSize(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	return cols, err == nil
}

// run parses the arguments, runs the command and returns the exit code.
func run(ctx context.Context, args []string, env *world) int {
	var c cli
	exited := -1
	app, err := kong.New(
		&c,
		kong.Name("tilecheck"),
		kong.Description("Bridge to the probabilistic model checkers PRISM and Storm, with an engine of its own.\n\n"+
			"Exit codes: 0 all verified or agreed, 1 could not run, 2 an expectation failed, "+
			"3 engines disagree, 4 timeout or out of memory, 80 usage."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(env.stdout, env.stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": "tilecheck " + version, "p2": modelgen.DefaultP2, "thesis": thesisProperty, "storm_image": stormimage.DefaultImage},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(env),
	)
	if err != nil {
		fmt.Fprintf(env.stderr, "tilecheck: %v\n", err)
		return exitCannotRun
	}
	kongcompletion.Register(app)
	if exited >= 0 {
		return exited
	}
	kctx, err := app.Parse(args)
	if exited >= 0 { // --help and --version have done their work
		return exited
	}
	if err == nil {
		env.quiet, env.noColor = c.Quiet, c.NoColor
		err = kctx.Run()
	} else {
		err = usageError("%w (see tilecheck --help)", err)
	}
	return env.finish(err)
}

// finish prints the error, one line per diagnostic, and returns the exit code.
func (e *world) finish(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCannotRun
	if coder, ok := errors.AsType[*codedError](err); ok {
		code = coder.code
		err = coder.err
	}
	if err != nil {
		fmt.Fprintln(e.stderr, describe(err))
	}
	return code
}
