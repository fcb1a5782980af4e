package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/internal/quote"
	"tilecheck/report/stream"

	"github.com/alecthomas/kong"

	"tilecheck/cluster"
	"tilecheck/cluster/settings"
	"tilecheck/cmd/tilecheck/submit"
	"tilecheck/internal/ending"
	"tilecheck/internal/shard"
	"tilecheck/runner"
)

// submitCmd has a command for each place where shards can run, and commands to continue or cancel a job.
type submitCmd struct {
	Local      submitLocalCmd      `cmd:"" help:"Run the shards as processes of this machine."`
	Slurm      submitSlurmCmd      `cmd:"" help:"Run the shards as an array job of Slurm."`
	Kubernetes submitKubernetesCmd `cmd:"" help:"Run the shards as an Indexed Job of Kubernetes."`
	Attach     submitAttachCmd     `cmd:"" help:"Wait for a job that was submitted, continue it if it was stopped, and print its result."`
	Cancel     submitCancelCmd     `cmd:"" help:"End the tasks of a job; finished results stay."`
	Task       submitTaskCmd       `cmd:"" hidden:"" help:"Do a task of a Job of Kubernetes: its pods run it."`
	Any        submitAnyCmd        `cmd:"" default:"withargs" hidden:"" help:"The same by flags."`
}

// jobDirFlags are the directory of a job, and how it is split.
type jobDirFlags struct {
	Dir     string `help:"Directory of the job, which every task can read and write (default: submit-… in the current directory; its name depends on the command, its files and the program)." placeholder:"DIR" file:"none"`
	Shards  int    `help:"Parts to split the work into (default: 64, or 4 for each process)." want:"[1,100000]" placeholder:"N"`
	Retries int    `rare:"" help:"How often a shard that fails is run again." default:"3" want:"[0,100]" placeholder:"N"`
}

// loginFlags are the flags that say how to run the clusters' own commands.
type loginFlags struct {
	SlurmPrefix string `rare:"" help:"Words before sbatch, squeue, scancel and scontrol, such as: ssh login. The directory has the same name there." env:"TILECHECK_SLURM_PREFIX" placeholder:"WORDS"`
	Kubectl     string `rare:"" help:"The program kubectl, or words such as: k3s kubectl." env:"TILECHECK_KUBECTL" default:"kubectl" placeholder:"WORDS"`
}

// login returns how to run the clusters' own commands.
func (f loginFlags) clusterCommands() submit.ClusterCommands {
	return submit.ClusterCommands{SlurmPrefix: f.SlurmPrefix, Kubectl: f.Kubectl}
}

type submitLocalCmd struct {
	Processes int      `arg:"" name:"processes" help:"How many processes at the same time." want:"[1,1024]"`
	Words     []string `arg:"" name:"command" help:"-- and the command to split: check --method sim, compare, …" want:"any"`

	jobDirFlags `embed:""`
}

// Run runs the shards of a command as processes on this machine.
func (c *submitLocalCmd) Run(ctx context.Context, env *environment) error {
	if c.Processes > settings.MaxCPUs {
		return usageError("<processes> is %d, want 1 to %d", c.Processes, settings.MaxCPUs)
	}
	return env.submitJob(ctx, c.jobDirFlags, loginFlags{}, cluster.Request{Given: c.Words, Backend: "local", Settings: settings.Settings{Tasks: c.Processes}})
}

type submitSlurmCmd struct {
	Words []string `arg:"" name:"command" help:"-- and the command to split: check --method sim, compare, …" want:"any"`

	jobDirFlags `embed:""`
	Partition   string    `help:"Partition (this and what follows: default of tilecheck.yaml here, block cluster, or of the cluster)." placeholder:"NAME"`
	Account     string    `help:"Account." placeholder:"NAME"`
	Time        string    `name:"time-limit" aliases:"time" help:"Time limit of a task, as sbatch --time takes it: 30 (minutes), 2:00:00 (default: that of the cluster)." placeholder:"TIME"`
	Memory      byteCount `help:"Memory of a task, such as 4GB (default: that of the cluster)." placeholder:"SIZE"`
	CPUs        int       `name:"cpus" help:"Processors of a task (default: that of the cluster)." want:"[1,1024]" placeholder:"N"`
	Sbatch      []string  `help:"One more option of sbatch: --sbatch=--qos=short; repeatable." sep:"none" placeholder:"OPTION"`
	Tasks       int       `help:"Tasks of the array, of one or more shards each (default: at most 64)." want:"[1,100000]" placeholder:"N"`
	DryRun      bool      `help:"Print the batch script, and do nothing."`
	loginFlags  `embed:""`
}

// settings returns the settings of the flags. It completes them from the suite file in the current directory.
func (c *submitSlurmCmd) settings() (settings.Settings, error) {
	asked := settings.Settings{
		Partition: c.Partition, Account: c.Account, Time: c.Time, Memory: int64(c.Memory), CPUs: c.CPUs, Sbatch: c.Sbatch, Tasks: c.Tasks,
	}
	return submit.WithSuiteSettings(asked)
}

// Run submits the shards of a command to Slurm. With --dry-run it only prints the script.
func (c *submitSlurmCmd) Run(ctx context.Context, env *environment) error {
	if c.SlurmPrefix != "" && strings.TrimSpace(c.SlurmPrefix) == "" {
		return usageError("--slurm-prefix is blank, want words such as: ssh login")
	}
	requested, err := c.settings()
	if err != nil {
		return err
	}
	jobRequest := cluster.Request{Given: c.Words, Backend: "slurm", Settings: requested}
	if c.DryRun {
		return env.printScript(ctx, c.jobDirFlags, jobRequest)
	}
	return env.submitJob(ctx, c.jobDirFlags, c.loginFlags, jobRequest)
}

type submitAttachCmd struct {
	Dir        string `arg:"" name:"dir" help:"Directory of a job."`
	Retries    int    `rare:"" help:"How often a shard that fails is run again." default:"3" want:"[0,100]" placeholder:"N"`
	loginFlags `embed:""`
}

// Run continues a job whose directory exists.
func (c *submitAttachCmd) Run(ctx context.Context, env *environment) error {
	work, err := cluster.Open(c.Dir)
	if err != nil {
		return err
	}
	isQuiet := env.quiet // runJob changes env.quiet: it reads the flags of the job's command
	err = env.runJob(ctx, work, c.loginFlags, c.Retries)
	if !isQuiet {
		env.noteJobDirectory(ctx, work, err)
	}
	return err
}

type submitCancelCmd struct {
	Dir        string `arg:"" name:"dir" help:"Directory of a job."`
	loginFlags `embed:""`
}

// Run cancels the tasks of a job that still run.
func (c *submitCancelCmd) Run(ctx context.Context, env *environment) error {
	work, err := cluster.Open(c.Dir)
	if err != nil {
		return err
	}
	defer work.Close()
	if work.Backend == "local" { // Open has taken the lock of the directory, so no other process runs tasks of the job
		return nil
	}
	driver, endProcesses, err := env.newDriver(ctx, work, c.loginFlags)
	if err != nil {
		return err
	}
	defer endProcesses()
	return driver.Cancel(ctx)
}

// submitAnyCmd is the former command line, with flags in place of subcommands.
type submitAnyCmd struct {
	Words       []string `arg:"" optional:"" name:"command" want:"any"`
	Attach      string   `help:"Wait for a job that was submitted, continue it if it was stopped, and print its result." placeholder:"DIR" file:"none"`
	Local       int      `help:"Run the shards as so many processes of this machine." want:"[1,1024]" placeholder:"N"`
	jobDirFlags `embed:""`
	loginFlags  `embed:""`
}

// Run handles the flags of older versions: it runs the subcommand that has replaced them.
func (c *submitAnyCmd) Run(ctx context.Context, env *environment) error {
	hasOtherFlags := c.Local != 0 || len(c.Words) > 0 || c.Dir != ""
	switch {
	case c.Attach != "" && hasOtherFlags:
		return usageError("--attach continues a job as it is, want no other flags and words")
	case c.Attach != "":
		return (&submitAttachCmd{c.Attach, c.Retries, c.loginFlags}).Run(ctx, env)
	case c.Local != 0 && len(c.Words) > 0:
		return (&submitLocalCmd{c.Local, c.Words, c.jobDirFlags}).Run(ctx, env)
	}
	return usageError("want a subcommand and the command to run, such as tilecheck submit local 4 -- compare; see tilecheck submit --help")
}

// completeRequest completes a request with the program, its build, the submitted command and the number of shards. It returns the directory of
// the job and its description.
func (e *environment) completeRequest(ctx context.Context, flags jobDirFlags, request *cluster.Request) (dir string, job cluster.Job, err error) {
	if request.Dir, err = os.Getwd(); err != nil {
		return "", job, err
	}
	if request.Program, err = os.Executable(); err != nil {
		return "", job, err
	}
	if request.Build, err = e.identifyBuild(); err != nil {
		return "", job, err
	}
	if err := e.readCommand(ctx, request); err != nil {
		return "", job, err
	}
	defaultShards := 64
	if request.Backend == "local" {
		defaultShards = 4 * request.Settings.Tasks
	}
	request.Shards = cmp.Or(flags.Shards, request.Settings.Shards, defaultShards)
	if job, err = cluster.Describe(*request); err != nil {
		return "", job, err
	}
	return cmp.Or(flags.Dir, "submit-"+job.ID()), job, nil
}

// readCommand parses the command of a request and stores its words and input files in the request. If the command needs a seed and has none, it
// draws one seed for all shards.
func (e *environment) readCommand(ctx context.Context, request *cluster.Request) error {
	var submittedFlags cli
	submittedEnv := &environment{system: e.system}
	kongContext, err := parseSubmitted(ctx, request.Given, &submittedFlags, submittedEnv)
	if err != nil {
		return err
	}
	files := commandFilesOf(kongContext, submittedEnv)
	if err := files.check(); err != nil {
		return err
	}
	flags := make(map[string]*kong.Flag)
	for _, flag := range kongContext.Flags() {
		flags[flag.Name] = flag
	}
	if err := checkDivisible(kongContext, flags, submittedEnv.givenFlags); err != nil {
		return err
	}
	e.quiet = e.quiet || submittedFlags.Quiet
	name := commandName(kongContext.Selected())
	if name == "check" && computesStates(name, flags) {
		return usageError("check computes the values from the whole state space, which cannot be divided into shards: want a command that samples (check --method sim), plays games or has many results (crosscheck)")
	}
	suitePaths, err := suiteInputs(name, &submittedFlags)
	if err != nil {
		return err
	}
	request.Inputs = slices.Concat(request.Inputs, inputsOfShards(files), suitePaths)
	request.Words = request.Given
	hasDefaultSeed := name == "test" || name == "bench run"
	drawsSeed := flags["seed"] != nil && !hasDefaultSeed && !computesStates(name, flags)
	if drawsSeed && !submittedEnv.givenFlags["seed"] {
		request.Words, err = e.withSeed(request.Given)
	}
	return err
}

// suiteInputs returns the files and directories with the tests of the command test or bench run; nil for all other commands.
func suiteInputs(command string, line *cli) ([]string, error) {
	switch command {
	case "test":
		return line.Test.Paths, nil
	case "bench run":
		return line.Bench.Run.inputPaths()
	}
	return nil, nil
}

// parseSubmitted parses a submitted command. It stores the values of its flags in line, and the names of the given flags in env.
func parseSubmitted(ctx context.Context, words []string, line *cli, env *environment) (*kong.Context, error) {
	app, err := newApp(ctx, line, env, func(int) {}, words...)
	if err != nil {
		return nil, err
	}
	isHelp := func(word string) bool { return word == "--help" || word == "-h" || word == "--version" }
	if slices.ContainsFunc(words, isHelp) {
		return nil, usageError("--help and --version cannot be divided into shards: %s", strings.Join(words, " "))
	}
	kongContext, err := app.Parse(words)
	if err != nil {
		return nil, explainParseError(ctx, words, findCommand(app.Model.Node, words), err)
	}
	env.givenFlags, err = checkedFlags(kongContext)
	return kongContext, err
}

// checkDivisible returns a usage error if the work of a command cannot be divided into shards. flags has all flags of the command, by name;
// givenFlags has the names of the flags on the command line.
func checkDivisible(kongContext *kong.Context, flags map[string]*kong.Flag, givenFlags map[string]bool) error {
	for _, arg := range kongContext.Selected().Positional {
		kind := arg.Tag.Get("file")
		isInput := kind == "in" || kind == "states"
		if isInput && arg.Target.String() == "-" {
			return usageError("<%s> is standard input, which tasks do not have: want a file", arg.Name)
		}
	}
	if flags["partial"] == nil {
		return usageError("%s cannot be divided into shards, want a command that has --shard and --partial", commandName(kongContext.Selected()))
	}
	if givenFlags["shard"] || givenFlags["partial"] {
		return usageError("submit sets --shard and --partial itself, want the command without them")
	}
	return nil
}

// inputsOfShards returns the input files that every shard needs. It omits the programs of tools, files that the command updates, and missing
// files.
func inputsOfShards(files *commandFiles) []string {
	toolFlags := []string{"--prism-path", "--prism-games-path", "--storm-path"}
	var names []string
	for _, input := range files.inputs {
		if !slices.Contains(toolFlags, input.source) && !input.isUpdated && !noSuchFile(input.name) {
			names = append(names, input.name)
		}
	}
	return names
}

// withSeed returns a command line with a random seed. It inserts the flag before the word --.
func (e *environment) withSeed(words []string) ([]string, error) {
	seed, err := e.seedOrRandom(nil)
	end := slices.Index(words, "--")
	if end < 0 {
		end = len(words)
	}
	return slices.Insert(slices.Clone(words), end, "--seed", strconv.FormatUint(seed, 10)), err
}

// computesStates reports whether a command builds the state space instead of sampling. Such a command needs no seed.
func computesStates(name string, flags map[string]*kong.Flag) bool {
	flag := flags["method"]
	if flag == nil {
		return false
	}
	method := flag.Target.String()
	if method == "" && name == "check" {
		_, mode, _ := strings.Cut(flags["engine"].Target.String(), ":") // such as native:sim
		return !slices.Contains([]string{"sim", "ci", "aci", "apmc", "sprt"}, mode)
	}
	return method == string(runner.States)
}

// printScript prints the script or manifest that would be submitted, for --dry-run.
func (e *environment) printScript(ctx context.Context, flags jobDirFlags, request cluster.Request) error {
	dir, job, err := e.completeRequest(ctx, flags, &request)
	if err != nil {
		return err
	}
	text, err := submit.Preview(dir, job, request)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, text)
	return err
}

// submitJob submits a command as a job and runs the job. If the directory already contains the same job, it continues this job.
func (e *environment) submitJob(ctx context.Context, flags jobDirFlags, login loginFlags, request cluster.Request) error {
	dir, description, err := e.completeRequest(ctx, flags, &request)
	if err != nil {
		return err
	}
	work, isNew, err := submit.Open(ctx, dir, description, request, flags.Shards, login.clusterCommands())
	if err != nil {
		return err
	}
	isQuiet := e.quiet // runJob sets e.quiet to the flag of the submitted command
	err = e.runJob(ctx, work, login, flags.Retries)
	if isNew {
		err = submit.RemoveFailed(work, err, exitUsage)
	}
	if !isQuiet {
		e.noteJobDirectory(ctx, work, err)
	}
	return err
}

// newDriver returns the driver that runs a job, and a function that ends the processes of the driver.
func (e *environment) newDriver(ctx context.Context, work *cluster.Work, login loginFlags) (driver *cluster.Driver, endProcesses func(), err error) {
	return submit.Driver(ctx, work, login.clusterCommands(), func(text string) {
		if !e.quiet {
			fmt.Fprintln(e.stderr, "note:", text)
		}
	})
}

const (
	// linger is how long the program waits for a second interrupt, which cancels the job.
	linger = 700 * time.Millisecond
	// cancelLimit is how long cancelling may take.
	cancelLimit = 10 * time.Second
)

// runJob runs the job in a directory and prints the merged result of its shards. It closes work.
func (e *environment) runJob(ctx context.Context, work *cluster.Work, login loginFlags, retries int) error {
	defer work.Close()
	build, err := e.identifyBuild()
	if err != nil {
		return err
	}
	if work.Job.Build != build {
		return fmt.Errorf("%s was submitted by another build, %s; its own program is %s", work.Dir, work.Job.Build, work.Dir.Program(&work.Job))
	}
	if err := os.Chdir(work.Job.Dir); err != nil { // relative file names refer to this directory
		return err
	}
	driver, endProcesses, err := e.newDriver(ctx, work, login)
	if err != nil {
		return err
	}
	defer endProcesses()
	if work.Backend == "local" && !e.quiet {
		fmt.Fprintf(e.stderr, "note: submit local runs %s as processes of this machine, at most %d at a time; their files are in %s\n", noun.Count(work.Job.Shards, "shard"), max(1, work.Settings.Tasks), work.Dir)
	}
	var secondInterrupt <-chan struct{}
	if driver.Backend.Detached() {
		secondInterrupt = e.hearSecondInterrupt()
	}
	showProgress, clearBar := e.startProgress()
	driver.Progress, driver.Retries = showProgress, retries
	driver.Merge = func(ctx context.Context, files []string) error {
		clearBar()
		return e.mergeQuietly(ctx, files, work.Job.Given)
	}
	err = driver.Run(ctx)
	clearBar()
	reason := ctx.Err()
	if err == nil || reason == nil || !errors.Is(err, reason) {
		return cmp.Or(withExitCode(err), work.Sweep())
	}
	if !driver.Backend.Detached() {
		endProcesses()
	}
	return e.afterInterrupt(driver, reason, secondInterrupt)
}

// mergeQuietly merges the shard files of a job. If the merge needs further shards, it prints nothing and returns a *shard.More.
func (e *environment) mergeQuietly(ctx context.Context, files, command []string) error {
	errorStream := e.stderr.(*stream.Stream)
	errorStream.Hold()
	err := e.merge(ctx, files, nil, command, false)
	if _, needsMore := errors.AsType[*shard.More](err); needsMore {
		errorStream.Drop()
		return err
	}
	return errors.Join(err, errorStream.Release())
}

// afterInterrupt returns the error of an interrupted job. The error names the command that continues the job. If the tasks run on without this
// process, a second interrupt cancels them.
func (e *environment) afterInterrupt(driver *cluster.Driver, reason error, secondInterrupt <-chan struct{}) error {
	e.setReasonPrinted()
	attachCommand := "tilecheck submit attach " + quote.Word(string(driver.Work.Dir))
	if !driver.Backend.Detached() {
		return fmt.Errorf("%w; what is finished stays: %s", reason, attachCommand)
	}
	interrupt, _ := errors.AsType[*ending.Interrupt](reason)
	if secondInterrupt == nil || interrupt == nil || interrupt.Signal != "SIGINT" {
		return fmt.Errorf("%w; the tasks go on: %s", reason, attachCommand)
	}
	e.allowMoreTime(linger + 100*time.Millisecond)
	fmt.Fprintf(e.stderr, "tilecheck: %v; the tasks go on: %s\n(another interrupt cancels them)\n", reason, attachCommand)
	select {
	case <-time.After(linger):
		return exitStatus(exitCannotRun)
	case <-secondInterrupt:
		return e.cancelTasks(driver, strings.Replace(attachCommand, "attach", "cancel", 1))
	}
}

// cancelTasks cancels the tasks of a job. If this fails, the error names cancelCommand, a command line with which the user can try again.
func (e *environment) cancelTasks(driver *cluster.Driver, cancelCommand string) error {
	e.allowMoreTime(cancelLimit + time.Second)
	fmt.Fprintln(e.stderr, "tilecheck: cancelling the tasks; what is finished stays")
	ctx, cancel := context.WithTimeout(context.Background(), cancelLimit)
	defer cancel()
	if err := driver.Cancel(ctx); err != nil {
		return fmt.Errorf("the tasks may go on: %w; %s", err, cancelCommand)
	}
	return exitStatus(exitCannotRun)
}

// noteJobDirectory prints the size of a local job's directory, and whether the user may remove it. It prints nothing after an interrupt.
func (e *environment) noteJobDirectory(ctx context.Context, work *cluster.Work, err error) {
	dir := string(work.Dir)
	if work.Backend != "local" || ctx.Err() != nil || noSuchFile(dir) {
		return
	}
	megabytes := max(1, float64(sizeBelow(dir))/1e6)
	attachCommand := "tilecheck submit attach " + quote.Word(dir)
	size := fmt.Sprintf("%s has %.0f MB", dir, megabytes)
	codedErr, isCoded := errors.AsType[*codedError](err)
	isFinished := err == nil || isCoded && codedErr.err == nil
	if isFinished {
		fmt.Fprintf(e.stderr, "note: %s and can be removed. To print the result again: %s\n", size, attachCommand)
	} else {
		fmt.Fprintf(e.stderr, "note: %s and keeps the finished parts. To continue: %s; to begin again, remove the directory\n", size, attachCommand)
	}
}

// sizeBelow returns the total size of the files in a directory and its subdirectories, in bytes. It omits files that cannot be read.
func sizeBelow(dir string) int64 {
	numBytes := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			numBytes += info.Size()
		}
		return nil
	})
	return numBytes
}

// withExitCode adds the exit code of a failed shard to the error of a driver, if it is the code of a usage error or a limit.
func withExitCode(err error) error {
	if failure, ok := errors.AsType[*cluster.Failure](err); ok && (failure.Code == exitUsage || failure.Code == exitOutOfLimit) {
		return &codedError{failure.Code, err}
	}
	return err
}
