package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tilecheck/cmd/tilecheck/describe"
	"tilecheck/internal/foreign"
	"tilecheck/internal/quote"
	"tilecheck/report/stream"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	stormimage "tilecheck/containers/storm"
	"tilecheck/internal/build"
	"tilecheck/internal/memory"
	"tilecheck/modelgen"
	"tilecheck/report/table"
	"tilecheck/verify/experiment"
)

// cli is the command line. One struct per command holds its flags and its Run method.
type cli struct {
	Check        checkCmd        `cmd:"" group:"Models:" help:"Check properties of a model."`
	Crosscheck   crosscheckCmd   `cmd:"" group:"Models:" help:"Compare the answers of several engines, or of two models."`
	Certify      certifyCmd      `cmd:"" group:"Models:" help:"Check certificates, and print what they prove."`
	Shield       shieldCmd       `cmd:"" group:"Models:" help:"List the choices that keep a probability close to the optimum: a shield."`
	Simulate     simulateCmd     `cmd:"" group:"Models:" help:"Print a random path of a model."`
	Info         infoCmd         `cmd:"" group:"Models:" help:"Print the size and structure of the state space."`
	Distribution distributionCmd `cmd:"" group:"Models:" help:"Print the steady-state or transient probabilities of a Markov chain (PRISM's -ss, -tr)."`
	Resolve      resolveCmd      `cmd:"" group:"Models:" help:"Apply a scheduler to an MDP, and write the induced Markov chain."`
	Reduce       reduceCmd       `cmd:"" group:"Models:" help:"Say how much bisimulation minimisation reduces a model (check --reduce checks the quotient)."`
	Export       exportCmd       `cmd:"" group:"Models:" help:"Write the state space as files for PRISM, Storm and Graphviz."`
	Serve        serveCmd        `cmd:"" group:"Models:" help:"Show models, experiments and games in a browser."`

	Fmt  fmtCmd  `cmd:"" group:"Texts:" help:"Lay out model and properties files."`
	Lint lintCmd `cmd:"" group:"Texts:" help:"Warn about what is legal in a model and probably not intended."`
	LSP  lspCmd  `cmd:"" name:"lsp" group:"Texts:" help:"Serve an editor: a language server on standard input and output."`

	Test  testCmd  `cmd:"" group:"Tests of models:" help:"Run the properties of models against their expected results."`
	Bless blessCmd `cmd:"" group:"Tests of models:" help:"Write computed results into properties files as RESULT comments; shows a diff first."`

	Compare        compareCmd        `cmd:"" group:"The game 2048:" help:"Compare strategies; with no arguments, the thesis's experiment."`
	Gen            genCmd            `cmd:"" group:"The game 2048:" help:"Generate a PRISM model of the game."`
	Play           playCmd           `cmd:"" group:"The game 2048:" help:"Play games with a strategy, and say how good it is."`
	Replay         replayCmd         `cmd:"" group:"The game 2048:" help:"Check recorded games, and step through them."`
	Strategies     strategiesCmd     `cmd:"" group:"The game 2048:" help:"List the strategies, or say what a spec means."`
	Solve          solveCmd          `cmd:"" group:"The game 2048:" help:"Compute optimal play, and its value."`
	Policy         policyCmd         `cmd:"" group:"The game 2048:" help:"Show, play and draw the optimal policy of the game."`
	ExportStrategy exportStrategyCmd `cmd:"" group:"The game 2048:" name:"export-strategy" help:"Write a strategy as a model, to be checked."`
	Bound          boundCmd          `cmd:"" group:"The game 2048:" help:"Prove a lower bound of optimal play with a strategy."`

	Submit submitCmd `cmd:"" group:"Many machines:" help:"Run the shards of a command on a cluster, and merge them."`
	Merge  mergeCmd  `cmd:"" group:"Many machines:" help:"Print what the shards of a command found together."`

	Doctor     doctorCmd     `cmd:"" group:"Engines and this machine:" help:"Say which engines are there, and what to do about the others."`
	Image      imageCmd      `cmd:"" group:"Engines and this machine:" help:"Make and list the Docker images that PRISM and Storm run in."`
	Clean      cleanCmd      `cmd:"" group:"Engines and this machine:" help:"Remove containers, directories and temporary files that a killed run left behind."`
	Schema     schemaCmd     `cmd:"" group:"Engines and this machine:" help:"Print the JSON Schema of what a command prints with --format json."`
	Completion completionCmd `cmd:"" group:"Engines and this machine:" help:"Print the shell code that turns completion on."`
	Help       helpCmd       `cmd:"" group:"Engines and this machine:" help:"Print the help of a command."`
	Version    versionCmd    `cmd:"" group:"Engines and this machine:" help:"Print the version."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`

	Quiet       bool        `short:"q" rare:"" group:"Any command:" help:"No progress; errors, warnings and notes about results stay."`
	NoColor     bool        `rare:"" group:"Any command:" help:"No colours (also: environment NO_COLOR)."`
	VersionFlag versionFlag `name:"version" short:"v" rare:"" group:"Any command:" help:"Print the version."`
}

// world is what a command may touch besides its flags.
type world struct {
	system
	invocation
	sources
	lifetime
	sharing
}

// system is this machine. Tests replace it.
type system struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	lookupEnv      func(string) (string, bool)
	setenv         func(name, value string) error
	// terminal reports whether a stream is a terminal, and its width in columns.
	terminal func(w io.Writer) (cols int, ok bool)
	identify func() (string, error) // build.Identify, once
}

// invocation is what the command line says to every command.
type invocation struct {
	name     string // of the command, for JSON; empty unless it prints JSON
	asksJSON bool   // the command line asks for JSON, whether or not it can be parsed
	quiet    bool
	noColor  bool
	given    given // the flags
	places   *places
	more     []string // for merge: the words for the merged command
}

// color reports whether w should get colours.
func (e *world) color(w io.Writer) bool {
	_, tty := e.terminal(w)
	return tty && !e.noColor && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

// width is the number of columns to lay tables out for.
func (e *system) width() int { return e.widthOf(e.stdout) }

// whole reports whether cells of tables stay whole: standard output is no terminal, and nothing says how wide it is.
func (e *system) whole() bool {
	_, terminal := e.terminal(e.stdout)
	return !terminal && e.columns() == 0
}

// columns is the width that the environment asks for; 0 if it does not.
func (e *system) columns() int {
	n, err := strconv.Atoi(e.getenv("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (e *system) widthOf(w io.Writer) int {
	if n := e.columns(); n > 0 {
		return n
	}
	if cols, ok := e.terminal(w); ok && cols > 0 {
		return cols
	}
	return 120
}

func main() {
	if code, exhausted, ok := memory.Supervise(os.Stderr); ok {
		if exhausted {
			fmt.Fprintln(os.Stderr, "tilecheck: memory limit reached: the system gives this process no more addresses (ulimit -v)")
			code = exitOutOfLimit
		}
		os.Exit(code)
	}
	os.Exit(process(sync.OnceValues(build.Identify)))
}

// process is the program but for who says which build it is.
func process(identify func() (string, error)) int {
	env := &world{system: system{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, lookupEnv: os.LookupEnv, setenv: os.Setenv, terminal: terminalSize,
		identify: identify,
	}}
	hearWrites()
	ctx := env.hear(context.Background())
	return env.ended(run(ctx, os.Args[1:], env))
}

func terminalSize(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	return cols, err == nil
}

// newApp describes the command line to kong: every command, or the one that a
// line begins with, which takes a tenth of the time. exit is called for --help and
// --version.
func newApp(ctx context.Context, c *cli, env *world, exit func(code int), line ...string) (*kong.Kong, error) {
	app, err := kong.New(
		c,
		kong.Name("tilecheck"),
		kong.Description(description),
		kong.ConfigureHelp(describe.HelpOptions()),
		kong.ValueFormatter(describe.ValueHelp),
		kong.Help(describe.PrintHelp(false)),
		kong.Writers(env.stdout, env.stderr),
		kong.Exit(exit),
		kong.Vars{"p2": modelgen.DefaultP2, "thesis": experiment.ThesisProperty, "storm_image": stormimage.DefaultImage},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(env),
		onlyFirst(line),
	)
	if err == nil {
		app.Model.HelpFlag.Group = &kong.Group{Key: "Any command:", Title: "Any command:"}
	}
	return app, err
}

// onlyFirst leaves out the commands that are not the first word of a line, unless
// that is none, or one that is about all of them.
func onlyFirst(line []string) kong.Option {
	var others []string
	found := false
	for f := range reflect.TypeFor[cli]().Fields() {
		if _, isCommand := f.Tag.Lookup("cmd"); !isCommand {
			continue
		}
		if len(line) > 0 && line[0] == cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)) && f.Name != "Help" && f.Name != "Man" {
			found = true
		} else {
			others = append(others, f.Name)
		}
	}
	if !found {
		return kong.OptionFunc(func(*kong.Kong) error { return nil })
	}
	return kong.IgnoreFields(`^cli\.(` + strings.Join(others, "|") + `)$`)
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string, env *world) int {
	env.streams()
	return env.answered(env.command(ctx, args))
}

// answered is the exit code of a run, which is not a success if what it printed
// did not arrive.
func (e *world) answered(code int) int {
	told, err := e.stdout.(*stream.Stream).Failed()
	if err == nil {
		return code
	}
	if !told {
		fmt.Fprintf(e.stderr, "tilecheck: %v\n", err)
	}
	return exitCannotRun
}

// command runs the command of a command line.
func (e *world) command(ctx context.Context, args []string) int {
	var c cli
	exited := -1
	line := args
	if e.getenv("COMP_LINE") != "" {
		line = nil // the words are the shell's
	}
	app, err := newApp(ctx, &c, e, func(code int) { exited = code }, line...)
	if err != nil {
		fmt.Fprintf(e.stderr, "tilecheck: %v\n", err)
		return exitCannotRun
	}
	if describe.Complete(e.stdout, app.Model, e.getenv) {
		return exitOK
	}
	if len(args) == 0 {
		_, _ = app.Parse([]string{"--help"}) // which prints
		return exitUsage
	}
	args, e.more = cutMore(args)
	args = explained(args)
	e.asksJSON = asksJSON(args)
	kctx, err := app.Parse(args)
	if exited >= 0 { // --help and --version have done their work
		e.ends(exited, nil)
		return exited
	}
	if err != nil {
		node := commandOf(app.Model.Node, args)
		if e.asksJSON && node == nil && (slices.Contains(args, "--version") || slices.Contains(args, "-v")) {
			e.begins("version") // --format is a flag of commands, and --version has none
			return e.finish(versionCmd{Format: table.JSON}.Run(e))
		}
		if e.asksJSON {
			e.begins(nameOf(node))
		}
		return e.finish(misread(ctx, args, node, err))
	}
	e.quiet, e.noColor = c.Quiet, c.NoColor
	for _, f := range kctx.Flags() {
		if f.Name == "format" && f.Target.Interface() == table.JSON {
			e.begins(nameOf(kctx.Selected()))
		}
	}
	if c.Test.GitHub {
		e.guardGitHub(!c.Test.Format.Machine())
	}
	if e.given, err = flagsOf(kctx); err == nil {
		e.places = placesOf(kctx, e)
		err = e.places.check()
	}
	if err == nil && e.name != "" && len(e.places.printed) > 0 {
		err = usageError("%s is standard output, which has the JSON, want a file", e.places.printed[0])
	}
	if err == nil {
		err = e.splits(kctx, args)
	}
	if err == nil {
		err = e.records(ctx, kctx.Run())
	}
	return e.finish(err)
}

// misread is the error of a command line that could not be parsed, of that command
// or none. It says what somebody who knows PRISM or Storm may have meant.
func misread(ctx context.Context, args []string, node *kong.Node, err error) error {
	found, _, _ := strings.Cut(err.Error(), ", did you mean") // flags that have nothing to do with it
	found = wholeFlag(args, found)
	if r := meant(ctx, args); r.Words != nil {
		for i := range r.Words {
			r.Words[i] = quote.Word(r.Words[i])
		}
		if r.File != "" {
			r.Words = append(r.Words, ">", quote.Word(r.File))
		}
		return usageError("%s; did you mean: tilecheck %s", found, strings.Join(r.Words, " "))
	}
	word, unknown := strings.CutPrefix(found, "unknown flag ")
	s := foreign.Lookup(word)
	if absent, x := foreign.Absent(args); !unknown || s == nil || s.Needless && strings.HasPrefix(word, "--") { // which may be a flag of another command
		word, s = absent, x
	}
	if s != nil {
		return usageError("unknown flag %s; of the switches of PRISM and Storm, %s", word, s.Explain())
	}
	if found != err.Error() && strings.HasPrefix(found, "unknown flag") && !strings.HasPrefix(err.Error(), found) {
		err = errors.New(found) // the word, and not the flags that begin as it does
	}
	if node == nil {
		return usageError("%w (see tilecheck --help)", err)
	}
	return usageError("%w (see %s --help)", err, node.FullPath())
}

// finish prints the error, one line per diagnostic, and returns the exit code.
func (e *world) finish(err error) int {
	code := exitOK
	if err != nil {
		code, err = codeOf(err)
	}
	if err != nil && !(e.split.Replaying() && errors.Is(err, e.split.Err())) {
		e.stdout.(*stream.Stream).SetReported(err)
		e.saying()
		e.explain(e.stderr, errorText(err))
	}
	e.ends(code, err)
	return code
}

// asksJSON reports whether a command line that could not be parsed asks for JSON.
func asksJSON(args []string) (asked bool) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return asked
		case arg == "--format" && i+1 < len(args):
			asked = args[i+1] == table.JSON.String()
		case strings.HasPrefix(arg, "--format="):
			asked = arg == "--format="+table.JSON.String()
		}
	}
	return asked
}

// commandOf is the command of such a command line; nil if there is none.
func commandOf(node *kong.Node, args []string) *kong.Node {
	for _, arg := range args {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == arg })
		if i >= 0 {
			return commandOf(node.Children[i], args[1:])
		}
		args = args[1:]
	}
	if node.Type == kong.ApplicationNode {
		return nil
	}
	if node.DefaultCmd != nil {
		return node.DefaultCmd
	}
	return node
}

// nameOf is the name of a command: "image list"; empty for none.
func nameOf(node *kong.Node) string {
	if node == nil {
		return ""
	}
	if node.Parent == nil || node.Parent.Type == kong.ApplicationNode {
		return node.Name
	}
	return nameOf(node.Parent) + " " + node.Name
}
