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
	"tilecheck/internal/noun"
	"tilecheck/internal/quote"
	"tilecheck/report/stream"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	stormimage "tilecheck/containers/storm"
	"tilecheck/internal/build"
	"tilecheck/internal/memory"
	_ "tilecheck/internal/memory/startup" // before the Go runtime starts
	"tilecheck/internal/quickstart"
	"tilecheck/modelgen"
	"tilecheck/prism/syntax"
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
	Reduce       reduceCmd       `cmd:"" group:"Models:" help:"Reduce a model by bisimulation: write the quotient, or compare its answers with those of the model."`
	Export       exportCmd       `cmd:"" group:"Models:" help:"Write the state space as files for PRISM, Storm and Graphviz."`
	Serve        serveCmd        `cmd:"" group:"Models:" help:"Show models, experiments and games in a browser."`

	Fmt  fmtCmd  `cmd:"" group:"Texts:" help:"Lay out model and properties files."`
	Lint lintCmd `cmd:"" group:"Texts:" help:"Warn about likely mistakes in models that are not errors."`
	LSP  lspCmd  `cmd:"" name:"lsp" group:"Texts:" help:"Serve an editor: a language server on standard input and output."`

	Test  testCmd  `cmd:"" group:"Tests of models:" help:"Run the properties of models against their expected results."`
	Bench benchCmd `cmd:"" group:"Tests of models:" help:"Measure tools on models, and compare measurements."`
	Rerun rerunCmd `cmd:"" group:"Tests of models:" help:"Repeat a recorded run (--record-run) on its recorded inputs, and say what differs."`
	Bless blessCmd `cmd:"" group:"Tests of models:" help:"Write computed results into properties files as RESULT comments; shows a diff first."`

	Compare        compareCmd        `cmd:"" group:"The game 2048:" help:"Compare strategies; with no arguments, the thesis's experiment."`
	Gen            genCmd            `cmd:"" group:"The game 2048:" help:"Generate a PRISM model of the game."`
	Play           playCmd           `cmd:"" group:"The game 2048:" help:"Play games with a strategy, and estimate how often it wins."`
	Replay         replayCmd         `cmd:"" group:"The game 2048:" help:"Check recorded games, and step through them."`
	Strategies     strategiesCmd     `cmd:"" group:"The game 2048:" help:"List the strategies, or print one with all its defaults."`
	Solve          solveCmd          `cmd:"" group:"The game 2048:" help:"Compute optimal play, and its value."`
	Train          trainCmd          `cmd:"" group:"The game 2048:" help:"Train an n-tuple network to play, for the strategy ntuple:FILE."`
	Policy         policyCmd         `cmd:"" group:"The game 2048:" help:"Show, play and draw the optimal policy of the game."`
	ExportStrategy exportStrategyCmd `cmd:"" group:"The game 2048:" name:"export-strategy" help:"Write a strategy as a PRISM model, which check can verify."`
	Bound          boundCmd          `cmd:"" group:"The game 2048:" help:"Prove a lower bound of optimal play from the boards that a strategy visits."`

	Submit submitCmd `cmd:"" group:"Many machines:" help:"Run the shards of a command on a cluster, and merge them."`
	Merge  mergeCmd  `cmd:"" group:"Many machines:" help:"Print the result of a command from the files of its shards."`

	Doctor     doctorCmd     `cmd:"" group:"Engines and this machine:" help:"Say which engines this machine has, and how to get the others."`
	Image      imageCmd      `cmd:"" group:"Engines and this machine:" help:"Make and list the Docker images that PRISM and Storm run in."`
	Clean      cleanCmd      `cmd:"" group:"Engines and this machine:" help:"Remove containers, directories and temporary files that a killed run left behind."`
	Schema     schemaCmd     `cmd:"" group:"Engines and this machine:" help:"Print the JSON Schema of what a command prints with --format json."`
	Completion completionCmd `cmd:"" group:"Engines and this machine:" help:"Print the code for completion in bash, zsh or fish."`
	Help       helpCmd       `cmd:"" group:"Engines and this machine:" help:"Print the help of a command."`
	Version    versionCmd    `cmd:"" group:"Engines and this machine:" help:"Print the version."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`

	BenchWorker benchWorkerCmd `cmd:"" hidden:"" name:"bench-worker" help:"Answer a question of bench."`

	Quiet       bool        `short:"q" rare:"" group:"Any command:" help:"No progress; errors, warnings and notes about results stay."`
	RecordRun   string      `rare:"" group:"Any command:" help:"Keep a record of the run: inputs, command, versions, output; tilecheck rerun repeats it." placeholder:"DIR" file:"none"`
	NoColor     bool        `rare:"" group:"Any command:" help:"No colours (also: environment NO_COLOR)."`
	VersionFlag versionFlag `name:"version" rare:"" group:"Any command:" help:"Print the version."`
}

// environment is everything that a command uses besides its flags: this machine, the command line, the files it reads, and how it
// ends.
type environment struct {
	system
	invocation
	sources
	lifetime
	sharing
}

// system is the interface to this machine. Tests replace it.
type system struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	lookupEnv      func(string) (string, bool)
	setenv         func(name, value string) error
	// terminal reports whether a stream is a terminal, and its width in columns.
	terminal      func(w io.Writer) (cols int, ok bool)
	identifyBuild func() (string, error) // build.Identify, once
}

// invocation is the part of the command line that concerns every command.
type invocation struct {
	jsonCommand  string // of the command, for JSON; empty unless it prints JSON
	asksJSON     bool   // the command line asks for JSON, whether or not it can be parsed
	quiet        bool
	noColor      bool
	givenFlags   givenFlags // the flags
	commandFiles *commandFiles
	mergedFlags  []string  // for merge: the words for the merged command
	recorder     *recorder // nil without --record-run
}

// color reports whether w should get colours.
func (e *environment) color(w io.Writer) bool {
	_, tty := e.terminal(w)
	return tty && !e.noColor && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
}

// width returns the number of columns of standard output, for the layout of tables.
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

// defaultColumns is the number of columns to print if neither the environment nor a terminal says another one.
const defaultColumns = 120

// widthOf returns the number of columns for output to w. It is the environment variable COLUMNS, or else the width of the terminal w, or else
// defaultColumns.
func (e *system) widthOf(w io.Writer) int {
	if columns := e.columns(); columns > 0 {
		return columns
	}
	if columns, isTerminal := e.terminal(w); isTerminal && columns > 0 {
		return columns
	}
	return defaultColumns
}

// main starts the program in a second, supervised process if memory.Supervise asks for this, and passes on its exit code. Otherwise it runs the program itself:
// either it is the supervised process, or no supervision is needed.
func main() {
	quickstart.End()
	if code, isExhausted, isSupervised := memory.Supervise(os.Stderr); isSupervised {
		if isExhausted {
			fmt.Fprintln(os.Stderr, "tilecheck: memory limit reached: the system gives this process no more addresses (ulimit -v)")
			code = exitOutOfLimit
		}
		os.Exit(code)
	}
	os.Exit(runProcess(sync.OnceValues(build.Identify)))
}

// runProcess runs the program with the streams and the environment of the operating system, and returns its exit code. identify returns the
// version of the build.
func runProcess(identify func() (string, error)) int {
	env := &environment{system: system{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, lookupEnv: os.LookupEnv, setenv: os.Setenv, terminal: terminalSize,
		identifyBuild: identify,
	}}
	ignoreWriteSignals()
	ctx := env.listenForSignals(context.Background())
	return env.claimExit(run(ctx, os.Args[1:], env))
}

// terminalSize returns the width of a terminal in columns. It returns false if w is not a terminal.
func terminalSize(w io.Writer) (columns int, isTerminal bool) {
	file, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	return columns, err == nil
}

// newApp returns the parser of the command line. If line begins with a command, the parser knows only this command, which saves time. kong calls
// exit after it has printed the help or the version.
func newApp(ctx context.Context, c *cli, env *environment, exit func(code int), line ...string) (*kong.Kong, error) {
	app, err := kong.New(
		c,
		kong.Name("tilecheck"),
		kong.Description(description),
		kong.ConfigureHelp(describe.HelpOptions()),
		kong.ValueFormatter(describe.ValueHelp),
		kong.Help(describe.PrintHelp(false)),
		kong.Writers(env.stdout, env.stderr),
		kong.Exit(exit),
		kong.Vars{"probability_of_2": modelgen.DefaultP2, "thesis": experiment.ThesisProperty, "storm_image": stormimage.DefaultImage, "formats": table.Choices},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(env),
		kong.KindMapper(reflect.String, kong.MapperFunc(decodeString)),
		onlyFirstCommand(line),
	)
	if err == nil {
		app.Model.HelpFlag.Help = "Print help."
		app.Model.HelpFlag.Group = &kong.Group{Key: "Any command:", Title: "Any command:"}
	}
	return app, err
}

// decodeString sets a flag or an argument to the bytes of the command line. The mapper of kong would replace the bytes that are not UTF-8.
func decodeString(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	target.SetString(token.String())
	return nil
}

// onlyFirstCommand makes kong ignore all commands except the one that the line begins with. It ignores none if the line begins with help, man or
// no command.
func onlyFirstCommand(line []string) kong.Option {
	var ignoredFields []string
	isFound := false
	for field := range reflect.TypeFor[cli]().Fields() {
		if _, isCommand := field.Tag.Lookup("cmd"); !isCommand {
			continue
		}
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
		needsAll := name == "help" || name == "man"
		if len(line) > 0 && line[0] == name && !needsAll {
			isFound = true
		} else {
			ignoredFields = append(ignoredFields, field.Name)
		}
	}
	if !isFound {
		return kong.OptionFunc(func(*kong.Kong) error { return nil })
	}
	return kong.IgnoreFields(`^cli\.(` + strings.Join(ignoredFields, "|") + `)$`)
}

// run runs a command line and returns the exit code. With the flag --record-run it also records the run in a directory.
func run(ctx context.Context, args []string, env *environment) int {
	dir, args, isRecorded := cutRecord(args)
	if !isRecorded {
		env.wrapStreams()
		return env.codeAfterOutput(env.runCommand(ctx, args))
	}
	recorder, err := env.beginRecord(dir, args)
	env.recorder = recorder
	env.wrapStreams()
	if err != nil {
		return env.reportError(err)
	}
	code := env.codeAfterOutput(env.runCommand(ctx, args))
	if code == exitUsage { // no command ran, so the directory is empty
		_ = os.Remove(dir)
		return code
	}
	if err := recorder.writeRecord(env, code); err != nil {
		return cmp.Or(code, env.reportError(err))
	}
	return code
}

// codeAfterOutput returns the exit code of a run: code if standard output could be written, and exitCannotRun otherwise. It prints the write error, unless the
// run has already reported it.
func (e *environment) codeAfterOutput(code int) int {
	isReported, err := e.stdout.(*stream.Stream).Failed()
	if err == nil {
		return code
	}
	if !isReported {
		fmt.Fprintf(e.stderr, "tilecheck: %v\n", err)
	}
	return exitCannotRun
}

// runCommand runs the command of a command line and returns its exit code.
func (e *environment) runCommand(ctx context.Context, args []string) int {
	var line cli
	const notExited = -1
	exitedWith := notExited
	knownWords := args
	if e.getenv("COMP_LINE") != "" {
		knownWords = nil // a shell asks for completions, so the parser must know all commands
	}
	app, err := newApp(ctx, &line, e, func(code int) { exitedWith = code }, knownWords...)
	if err != nil {
		fmt.Fprintf(e.stderr, "tilecheck: %v\n", err)
		return exitCannotRun
	}
	if describe.Complete(e.stdout, app.Model, e.getenv) {
		return exitOK
	}
	if len(args) == 0 {
		_, _ = app.Parse([]string{"--help"}) // prints the help
		return exitUsage
	}
	args, e.mergedFlags = splitMergedFlags(args)
	args = switchesAsWords(args)
	e.asksJSON = asksJSON(args)
	kongContext, err := app.Parse(args)
	if exitedWith != notExited { // kong has printed the help or the version
		e.endJSON(exitedWith, nil)
		return exitedWith
	}
	if err != nil {
		return e.reportParseError(ctx, app, args, err)
	}
	e.applyGlobalFlags(kongContext, &line)
	if err := e.checkCommandLine(kongContext, args); err != nil {
		return e.reportError(err)
	}
	return e.reportError(e.endShard(ctx, kongContext.Run()))
}

// reportParseError prints the error of a command line that cannot be parsed, and returns the exit code.
func (e *environment) reportParseError(ctx context.Context, app *kong.Kong, args []string, err error) int {
	command := findCommand(app.Model.Node, args)
	asksVersion := slices.Contains(args, "--version") || slices.Contains(args, "-v")
	switch {
	case e.asksJSON && command == nil && asksVersion: // kong rejects --version --format json, because --format is a flag of commands
		e.beginJSON("version")
		return e.reportError(versionCmd{Format: table.JSON}.Run(e))
	case e.asksJSON:
		e.beginJSON(commandName(command))
	}
	return e.reportError(explainParseError(ctx, args, command, err))
}

// applyGlobalFlags applies the flags that change how every command prints, such as --quiet.
func (e *environment) applyGlobalFlags(kongContext *kong.Context, line *cli) {
	e.quiet, e.noColor = line.Quiet, line.NoColor
	for _, flag := range kongContext.Flags() {
		if flag.Name == "format" && flag.Target.Interface() == table.JSON {
			e.beginJSON(commandName(kongContext.Selected()))
		}
	}
	if line.Test.GitHub {
		e.escapeGitHubCommands(!line.Test.Format.Machine())
	}
}

// checkCommandLine checks the flags and the files of a parsed command line. If the command is a shard, it begins the shard.
func (e *environment) checkCommandLine(kongContext *kong.Context, args []string) (err error) {
	if e.givenFlags, err = checkedFlags(kongContext); err != nil {
		return err
	}
	e.commandFiles = commandFilesOf(kongContext, e)
	if err := cmp.Or(e.commandFiles.check(), e.recorder.checkFiles(e.commandFiles)); err != nil {
		return err
	}
	if e.jsonCommand != "" && len(e.commandFiles.toStdout) > 0 {
		return usageError("%s is standard output, which has the JSON, want a file", e.commandFiles.toStdout[0])
	}
	return e.beginShard(kongContext, args)
}

// explainParseError returns the error of a command line that cannot be parsed. It suggests a translation of the switches of PRISM and Storm.
// node is the command of the line; nil if there is none.
func explainParseError(ctx context.Context, args []string, node *kong.Node, err error) error {
	message, _, _ := strings.Cut(err.Error(), ", did you mean") // kong suggests flags with the same first letter, which are rarely related
	message = plainValueError(withFullFlag(args, message))
	if reading := translateForeign(ctx, args); reading.Words != nil {
		return usageError("%s; did you mean: tilecheck %s%s", message, shellText(reading), leftOutText(reading))
	}
	if word, knownSwitch := foreignSwitch(wordsWithoutFlags(args, node), message); knownSwitch != nil {
		return usageError("unknown flag %s; as a switch of PRISM or Storm, %s", word, knownSwitch.Explain(word))
	}
	if flag, isUnknown := strings.CutPrefix(message, "unknown flag --"); isUnknown && node != nil && node.Name == "help" {
		if hint := helpOfFlag(ctx, flag); hint != "" {
			return usageError("%s; it is %s", message, hint)
		}
	}
	err = rewordParseError(ctx, node, message, err)
	if node == nil {
		return usageError("%w (see tilecheck --help)", err)
	}
	return usageError("%w (see %s --help)", err, node.FullPath())
}

// leftOutText returns the end of a message about a translated command line: which switches it leaves out, and why. It is "" if there are none.
func leftOutText(reading foreign.Reading) string {
	var reasons, parts []string
	textsOf := make(map[string][]string) // by reason
	for _, dropped := range reading.Dropped {
		if textsOf[dropped.Reason] == nil {
			reasons = append(reasons, dropped.Reason)
		}
		textsOf[dropped.Reason] = append(textsOf[dropped.Reason], dropped.Text)
	}
	for _, reason := range reasons {
		texts := textsOf[reason]
		parts = append(parts, fmt.Sprintf("%s %s left out: %s", strings.Join(texts, ", "), noun.Verb(len(texts), "is", "are"), reason))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// rewordParseError returns an error of kong in better words. message is the text of the error without kong's suggestions.
func rewordParseError(ctx context.Context, node *kong.Node, message string, err error) error {
	if word, isUnknown := strings.CutPrefix(message, "unknown flag "); isUnknown {
		return errors.New(message + flagHint(ctx, node, word))
	}
	flag, problem, isFlag := strings.Cut(message, ": ")
	if isFlag && (strings.HasSuffix(problem, endOfLine) || problem == `missing value, expecting "<arg>"`) {
		return fmt.Errorf("%s has no value", flag)
	}
	if name, isMissing := strings.CutPrefix(message, `expected "<`); isMissing && node != nil {
		name, _, _ = strings.Cut(name, ">")
		return fmt.Errorf("the argument <%s> is missing", name)
	}
	if isFlag && strings.HasPrefix(problem, "found ") { // by plainValueError
		return errors.New(message)
	}
	text := strings.Replace(err.Error(), `,"" but got`, " but got", 1) // the default value is empty
	if word, isUnknown := strings.CutPrefix(message, "unexpected argument "); isUnknown && node == nil {
		_, suggestion, _ := strings.Cut(text, word)
		return fmt.Errorf("there is no command %q%s", word, suggestion)
	}
	return errors.New(text)
}

// shellText returns a translated command line as a user would type it in a shell.
func shellText(reading foreign.Reading) string {
	var words []string
	for _, word := range reading.Words {
		words = append(words, quote.Word(word))
	}
	if reading.File != "" {
		words = append(words, ">", quote.Word(reading.File))
	}
	return strings.Join(words, " ")
}

// maxCommandsOfFlag is the number of commands that flagHint names.
const maxCommandsOfFlag = 3

// flagHint returns the end of the message about an unknown flag: a similar flag of the command, or the commands that have this flag. node is nil
// if the command is unknown.
func flagHint(ctx context.Context, node *kong.Node, word string) string {
	name, isLong := strings.CutPrefix(word, "--")
	if !isLong {
		return ""
	}
	name, _, _ = strings.Cut(name, "=")
	if node != nil {
		if name == "scheduler" && hasFlag(node, "prop") {
			return "; the model under a scheduler is: tilecheck resolve MODEL --scheduler FILE -o chain.prism"
		}
		if name == "props" && slices.ContainsFunc(node.Positional, func(argument *kong.Positional) bool { return argument.Name == name }) {
			return "; a properties file is an argument: " + node.FullPath() + " MODEL FILE"
		}
		if similar := similarFlagOf(node, name); similar != "" {
			return "; did you mean --" + similar + "?"
		}
	}
	commands := commandsWithFlag(ctx, name)
	if len(commands) == 0 || len(commands) > maxCommandsOfFlag {
		return ""
	}
	return "; it is a flag of " + strings.Join(commands, ", ")
}

// similarFlagOf returns the flag of a command that is most similar to name in meaning or spelling, or the only flag that begins with name; empty if
// there is none.
func similarFlagOf(node *kong.Node, name string) string {
	for _, similar := range similarFlags(name) {
		if hasFlag(node, similar) {
			return similar
		}
	}
	isOtherFlag := func(flag string) bool { return !strings.HasPrefix(flag, name) }
	if flags := slices.DeleteFunc(namesOfFlags(node), isOtherFlag); len(flags) == 1 {
		return flags[0]
	}
	return syntax.Nearest(name, slices.Values(namesOfFlags(node)))
}

// commandsWithFlag returns the names of all commands that have a flag.
func commandsWithFlag(ctx context.Context, flag string) []string {
	app, err := newApp(ctx, &cli{}, &environment{system: system{stdout: io.Discard, stderr: io.Discard}}, func(int) {})
	if err != nil {
		return nil
	}
	var commands []string
	for _, node := range app.Model.Leaves(true) {
		if hasFlag(node, flag) {
			commands = append(commands, commandName(node))
		}
	}
	return commands
}

// hasFlag reports whether the help of a command describes a flag.
func hasFlag(node *kong.Node, flag string) bool { return slices.Contains(namesOfFlags(node), flag) }

// similarFlags returns flags with about the same meaning as a name.
func similarFlags(name string) []string {
	switch name {
	case "samples", "games", "max-samples", "n":
		return []string{"samples", "games", "max-samples"}
	case "property", "formula":
		return []string{"prop"}
	case "out", "file":
		return []string{"output"}
	case "limit", "time-limit", "time":
		return []string{"timeout"}
	case "threads", "cores", "parallel":
		return []string{"workers", "jobs"}
	case "tolerance", "precision":
		return []string{"epsilon"}
	case "constants", "define":
		return []string{"const"}
	}
	return nil
}

// namesOfFlags returns the names of the flags of a command that its help describes.
func namesOfFlags(node *kong.Node) []string {
	var names []string
	for _, flags := range node.AllFlags(true) {
		for _, flag := range flags {
			names = append(names, flag.Name)
		}
	}
	return names
}

// wordsWithoutFlags returns the words of a command line without the flags of its command. node is nil if the command is unknown.
func wordsWithoutFlags(args []string, node *kong.Node) []string {
	if node == nil {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(word string) bool {
		name, isLong := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		return isLong && hasFlag(node, name)
	})
}

// foreignSwitch returns the switch of PRISM or Storm that probably causes a parse error, and the word on the command line; likelySwitch is nil if
// there is none. It prefers the unknown flag that kong's message names.
func foreignSwitch(args []string, message string) (word string, likelySwitch *foreign.Switch) {
	word, isUnknownFlag := strings.CutPrefix(message, "unknown flag ")
	likelySwitch = foreign.Lookup(word)
	mayBeOurFlag := likelySwitch != nil && strings.HasPrefix(word, "--") && (likelySwitch.IsNeedless || word == "--prop")
	if isUnknownFlag && likelySwitch != nil && !mayBeOurFlag {
		return word, likelySwitch
	}
	return foreign.Absent(args)
}

// reportError prints an error, if there is one, and returns its exit code.
func (e *environment) reportError(err error) int {
	code := exitOK
	if err != nil {
		code, err = exitCodeOf(err)
	}
	isReportedByMerge := e.shard.Replaying() && errors.Is(err, e.shard.Err())
	if err != nil && !isReportedByMerge {
		e.stdout.(*stream.Stream).SetReported(err)
		e.setReasonPrinted()
		e.printWithSource(e.stderr, errorText(err))
	}
	e.endJSON(code, err)
	return code
}

// asksJSON reports whether a command line asks for JSON, even if it cannot be parsed. The last --format counts.
func asksJSON(args []string) (isAsked bool) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return isAsked
		case arg == "--format" && i+1 < len(args):
			isAsked = args[i+1] == table.JSON.String()
		case strings.HasPrefix(arg, "--format="):
			isAsked = arg == "--format="+table.JSON.String()
		}
	}
	return isAsked
}

// findCommand returns the command of a command line that cannot be parsed; nil if there is none.
func findCommand(node *kong.Node, args []string) *kong.Node {
	for i, arg := range args {
		for _, child := range node.Children {
			if child.Name == arg {
				return findCommand(child, args[i+1:])
			}
		}
	}
	if node.Type == kong.ApplicationNode {
		return nil
	}
	if node.DefaultCmd != nil {
		return node.DefaultCmd
	}
	return node
}

// commandName returns the full name of a command, such as "image list"; empty for nil.
func commandName(node *kong.Node) string {
	if node == nil {
		return ""
	}
	if node.Parent == nil || node.Parent.Type == kong.ApplicationNode {
		return node.Name
	}
	return commandName(node.Parent) + " " + node.Name
}
