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

// submitCmd are the places where shards run, and how to come back to them.
type submitCmd struct {
	Local      submitLocalCmd      `cmd:"" help:"Run the shards as processes of this machine."`
	Slurm      submitSlurmCmd      `cmd:"" help:"Run the shards as an array job of Slurm."`
	Kubernetes submitKubernetesCmd `cmd:"" help:"Run the shards as an Indexed Job of Kubernetes."`
	Attach     submitAttachCmd     `cmd:"" help:"Go on with what is in the directory of a job."`
	Cancel     submitCancelCmd     `cmd:"" help:"End the tasks of a job; what is finished stays."`
	Task       submitTaskCmd       `cmd:"" hidden:"" help:"Do a task of a Job of Kubernetes: its pods run it."`
	Any        submitAnyCmd        `cmd:"" default:"withargs" hidden:"" help:"The same by flags."`
}

// jobDirFlags say what is shared out, and where.
type jobDirFlags struct {
	Dir     string `help:"Directory of the job, which every task sees (default: submit-… here, by the command)." placeholder:"DIR" file:"none"`
	Shards  int    `help:"Parts to split the work into (default: 64, or 4 for each process)." want:"[1,100000]" placeholder:"N"`
	Retries int    `rare:"" help:"How often a shard may fail and be run again." default:"3" want:"[0,100]" placeholder:"N"`
}

// loginFlags say where the clusters' own commands are.
type loginFlags struct {
	SlurmPrefix string `rare:"" help:"Words before sbatch, squeue, scancel and scontrol, such as: ssh login. The directory has the same name there." env:"TILECHECK_SLURM_PREFIX" placeholder:"WORDS"`
	Kubectl     string `rare:"" help:"The program kubectl, or words such as: k3s kubectl." env:"TILECHECK_KUBECTL" default:"kubectl" placeholder:"WORDS"`
}

// login says where the commands are.
func (f loginFlags) login() submit.ClusterCommands {
	return submit.ClusterCommands{SlurmPrefix: f.SlurmPrefix, Kubectl: f.Kubectl}
}

type submitLocalCmd struct {
	Processes int      `arg:"" name:"processes" help:"How many at a time." want:"[1,1024]"`
	Words     []string `arg:"" name:"command" help:"-- and a command that splits: check --method sim, compare, …" want:"any"`

	jobDirFlags `embed:""`
}

// Run runs the shards here.
func (c *submitLocalCmd) Run(ctx context.Context, env *environment) error {
	if c.Processes > settings.MaxCPUs {
		return usageError("<processes> is %d, want 1 to %d", c.Processes, settings.MaxCPUs)
	}
	return env.submit(ctx, c.jobDirFlags, loginFlags{}, cluster.Request{Given: c.Words, Backend: "local", Settings: settings.Settings{Tasks: c.Processes}})
}

type submitSlurmCmd struct {
	Words []string `arg:"" name:"command" help:"-- and a command that splits: check --method sim, compare, …" want:"any"`

	jobDirFlags `embed:""`
	Partition   string    `help:"Partition (this and what follows: default of tilecheck.yaml here, block cluster, or of the cluster)." placeholder:"NAME"`
	Account     string    `help:"Account." placeholder:"NAME"`
	Time        string    `name:"time-limit" aliases:"time" help:"Time limit of a task, as sbatch --time takes it: 30 (minutes), 2:00:00 (default: that of the cluster)." placeholder:"TIME"`
	Memory      byteCount `help:"Memory of a task, such as 4GB." placeholder:"SIZE"`
	CPUs        int       `name:"cpus" help:"Processors of a task." want:"[1,1024]" placeholder:"N"`
	Sbatch      []string  `help:"One more option of sbatch: --sbatch=--qos=short; repeatable." sep:"none" placeholder:"OPTION"`
	Tasks       int       `help:"Tasks of the array, of one or more shards each (default: at most 64)." want:"[1,100000]" placeholder:"N"`
	DryRun      bool      `help:"Print the batch script, and do nothing."`
	loginFlags  `embed:""`
}

// settings are those of the flags, over those of the suite file here.
func (c *submitSlurmCmd) settings() (settings.Settings, error) {
	asked := settings.Settings{
		Partition: c.Partition, Account: c.Account, Time: c.Time, Memory: int64(c.Memory), CPUs: c.CPUs, Sbatch: c.Sbatch, Tasks: c.Tasks,
	}
	return submit.WithSuiteSettings(asked)
}

// Run runs the shards on Slurm.
func (c *submitSlurmCmd) Run(ctx context.Context, env *environment) error {
	if c.SlurmPrefix != "" && strings.TrimSpace(c.SlurmPrefix) == "" {
		return usageError("--slurm-prefix is blank, want words such as: ssh login")
	}
	asked, err := c.settings()
	if err != nil {
		return err
	}
	request := cluster.Request{Given: c.Words, Backend: "slurm", Settings: asked}
	if c.DryRun {
		return env.dryRun(c.jobDirFlags, request)
	}
	return env.submit(ctx, c.jobDirFlags, c.loginFlags, request)
}

type submitAttachCmd struct {
	Dir        string `arg:"" name:"dir" help:"Directory of a job."`
	Retries    int    `rare:"" help:"How often a shard may fail and be run again." default:"3" want:"[0,100]" placeholder:"N"`
	loginFlags `embed:""`
}

// Run goes on with a job.
func (c *submitAttachCmd) Run(ctx context.Context, env *environment) error {
	w, err := cluster.Open(c.Dir)
	if err != nil {
		return err
	}
	quiet := env.quiet // the merge reads the flags of the job's own command
	err = env.runJob(ctx, w, c.loginFlags, c.Retries)
	if !quiet {
		env.noteJobDirectory(ctx, w, err)
	}
	return err
}

type submitCancelCmd struct {
	Dir        string `arg:"" name:"dir" help:"Directory of a job."`
	loginFlags `embed:""`
}

// Run ends the tasks of a job.
func (c *submitCancelCmd) Run(ctx context.Context, env *environment) error {
	w, err := cluster.Open(c.Dir)
	if err != nil {
		return err
	}
	defer w.Close()
	if w.Backend == "local" { // whose tasks ended with the driver, which would have the lock
		return nil
	}
	d, done, err := env.driver(ctx, w, c.loginFlags)
	if err != nil {
		return err
	}
	defer done()
	return d.Cancel(ctx)
}

// submitAnyCmd has the other commands as flags.
type submitAnyCmd struct {
	Words       []string `arg:"" optional:"" name:"command" want:"any"`
	Attach      string   `help:"Go on with what is in the directory of a job." placeholder:"DIR" file:"none"`
	Local       int      `help:"Run the shards as so many processes of this machine." want:"[1,1024]" placeholder:"N"`
	jobDirFlags `embed:""`
	loginFlags  `embed:""`
}

// Run runs what is asked for.
func (c *submitAnyCmd) Run(ctx context.Context, env *environment) error {
	switch {
	case c.Attach != "" && (c.Local != 0 || len(c.Words) > 0 || c.Dir != ""):
		return usageError("--attach goes on with a job as it is, want nothing else with it")
	case c.Attach != "":
		return (&submitAttachCmd{c.Attach, c.Retries, c.loginFlags}).Run(ctx, env)
	case c.Local != 0 && len(c.Words) > 0:
		return (&submitLocalCmd{c.Local, c.Words, c.jobDirFlags}).Run(ctx, env)
	}
	return usageError("want a place and a command, such as tilecheck submit local 4 -- compare; see tilecheck submit --help")
}

// completeRequest completes what is to be submitted, and says where.
func (e *environment) completeRequest(f jobDirFlags, q *cluster.Request) (dir string, job cluster.Job, err error) {
	if q.Dir, err = os.Getwd(); err != nil {
		return "", job, err
	}
	if q.Program, err = os.Executable(); err != nil {
		return "", job, err
	}
	if q.Build, err = e.identify(); err != nil {
		return "", job, err
	}
	if err := e.readCommand(q); err != nil {
		return "", job, err
	}
	shards := 64
	if q.Backend == "local" {
		shards = 4 * q.Settings.Tasks
	}
	q.Shards = cmp.Or(f.Shards, q.Settings.Shards, shards)
	if job, err = cluster.Describe(*q); err != nil {
		return "", job, err
	}
	return cmp.Or(f.Dir, "submit-"+job.ID()), job, nil
}

// readCommand reads the command: the files that it reads, and its seed, which all shards
// have to share.
func (e *environment) readCommand(q *cluster.Request) error {
	var c cli
	sub := &environment{system: e.system}
	app, err := newApp(context.Background(), &c, sub, func(int) {}, q.Given...)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(q.Given, func(w string) bool { return w == "--help" || w == "-h" || w == "--version" }) {
		return usageError("--help and --version do not split: %s", strings.Join(q.Given, " "))
	}
	kctx, err := app.Parse(q.Given)
	if err != nil {
		return usageError("%s: %w", strings.Join(q.Given, " "), err)
	}
	if sub.given, err = checkedFlags(kctx); err != nil {
		return err
	}
	places := commandFilesOf(kctx, sub)
	if err := places.check(); err != nil {
		return err
	}
	flags := make(map[string]*kong.Flag)
	for _, f := range kctx.Flags() {
		flags[f.Name] = f
	}
	name := nameOf(kctx.Selected())
	for _, arg := range kctx.Selected().Positional {
		if kind := arg.Tag.Get("file"); (kind == "in" || kind == "states") && arg.Target.String() == "-" {
			return usageError("<%s> is standard input, which tasks do not have: want a file", arg.Name)
		}
	}
	switch {
	case flags["partial"] == nil:
		return usageError("%s does not split, want a command that has --shard and --partial", name)
	case sub.given["shard"] || sub.given["partial"]:
		return usageError("--shard and --partial are for submit to give")
	case c.Quiet:
		e.quiet = true
	}
	for _, in := range places.inputs {
		switch {
		case in.source == "--prism-path" || in.source == "--storm-path" || in.kept || noSuchFile(in.name):
			continue // tools are there or not; what is not there is for the command to say
		}
		q.Inputs = append(q.Inputs, in.name)
	}
	if name == "test" {
		q.Inputs = append(q.Inputs, c.Test.Paths...)
	}
	q.Words = q.Given
	if flags["seed"] != nil && !sub.given["seed"] && name != "test" && !computesStates(name, flags) { // a suite has a seed by itself
		q.Words, err = e.withSeed(q.Given)
	}
	return err
}

// withSeed is a command with a seed that is drawn for all shards.
func (e *environment) withSeed(words []string) ([]string, error) {
	drawn, err := e.seedOr(nil)
	at := slices.Index(words, "--")
	if at < 0 {
		at = len(words)
	}
	return slices.Insert(slices.Clone(words), at, "--seed", strconv.FormatUint(drawn, 10)), err
}

// computesStates reports whether a command has no samples, and so no seed.
func computesStates(name string, flags map[string]*kong.Flag) bool {
	f := flags["method"]
	if f == nil {
		return false
	}
	method := f.Target.String()
	return method == string(runner.States) || method == "" && name == "check"
}

// dryRun prints the script that would be submitted.
func (e *environment) dryRun(f jobDirFlags, q cluster.Request) error {
	dir, job, err := e.completeRequest(f, &q)
	if err != nil {
		return err
	}
	text, err := submit.Preview(dir, job, q)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.stdout, text)
	return err
}

// submit submits a command, or goes on where the same one was.
func (e *environment) submit(ctx context.Context, f jobDirFlags, login loginFlags, q cluster.Request) error {
	dir, job, err := e.completeRequest(f, &q)
	if err != nil {
		return err
	}
	w, ours, err := submit.Open(ctx, dir, job, q, f.Shards, login.login())
	if err != nil {
		return err
	}
	quiet := e.quiet // the merge reads the flags of the job's own command
	if err = e.runJob(ctx, w, login, f.Retries); ours {
		err = submit.RemoveFailed(w, err, exitUsage)
	}
	if !quiet {
		e.noteJobDirectory(ctx, w, err)
	}
	return err
}

// driver returns what runs a job, and what ends its processes.
func (e *environment) driver(ctx context.Context, w *cluster.Work, login loginFlags) (*cluster.Driver, func(), error) {
	return submit.Driver(ctx, w, login.login(), func(text string) {
		if !e.quiet {
			fmt.Fprintln(e.stderr, "note:", text)
		}
	})
}

const (
	// linger is how long a second interrupt, which cancels, is waited for.
	linger = 700 * time.Millisecond
	// cancelLimit is how long that may take then.
	cancelLimit = 10 * time.Second
)

// runJob runs a job to its end and prints what its shards found, as the command
// itself would have. It takes over the directory.
func (e *environment) runJob(ctx context.Context, w *cluster.Work, login loginFlags, retries int) error {
	defer w.Close()
	build, err := e.identify()
	if err != nil {
		return err
	}
	if w.Job.Build != build {
		return fmt.Errorf("%s was submitted by another build, %s; its own program is %s", w.Dir, w.Job.Build, w.Dir.Program(&w.Job))
	}
	if err := os.Chdir(w.Job.Dir); err != nil { // which the names of files are relative to
		return err
	}
	d, done, err := e.driver(ctx, w, login)
	if err != nil {
		return err
	}
	defer done()
	if w.Backend == "local" && !e.quiet {
		fmt.Fprintf(e.stderr, "note: submit local runs %d shards as processes of this machine, at most %d at a time; their files are in %s\n", w.Job.Shards, max(1, w.Settings.Tasks), w.Dir)
	}
	var second <-chan struct{}
	if d.Backend.Detached() {
		second = e.hearSecondInterrupt()
	}
	progress, clear := e.progress()
	d.Progress, d.Retries = progress, retries
	said := e.stderr.(*stream.Stream)
	d.Merge = func(ctx context.Context, files []string) error {
		clear()
		said.Hold() // a merge that wants more is to say nothing
		err := e.merge(ctx, files, nil, w.Job.Given, false)
		if _, more := errors.AsType[*shard.More](err); more {
			said.Drop()
			return err
		}
		return errors.Join(err, said.Release())
	}
	err = d.Run(ctx)
	clear()
	why := ctx.Err()
	if err == nil || why == nil || !errors.Is(err, why) {
		return cmp.Or(withExitCode(err), w.Sweep())
	}
	if !d.Backend.Detached() {
		done()
	}
	return e.afterInterrupt(d, why, second)
}

// afterInterrupt says what becomes of a job whose driver was told to end; a second
// interrupt cancels what goes on without it.
func (e *environment) afterInterrupt(d *cluster.Driver, why error, second <-chan struct{}) error {
	e.printsReason()
	back := "tilecheck submit attach " + quote.Word(string(d.Work.Dir))
	if !d.Backend.Detached() {
		return fmt.Errorf("%w; what is finished stays: %s", why, back)
	}
	interrupt, _ := errors.AsType[*ending.Interrupt](why)
	if second == nil || interrupt == nil || interrupt.Signal != "SIGINT" {
		return fmt.Errorf("%w; the tasks go on: %s", why, back)
	}
	e.allowMoreTime(linger + 100*time.Millisecond)
	fmt.Fprintf(e.stderr, "tilecheck: %v; the tasks go on: %s\n(again, and they are cancelled)\n", why, back)
	select {
	case <-time.After(linger):
		return exitStatus(exitCannotRun)
	case <-second:
	}
	e.allowMoreTime(cancelLimit + time.Second)
	fmt.Fprintln(e.stderr, "tilecheck: cancelling the tasks; what is finished stays")
	ctx, cancel := context.WithTimeout(context.Background(), cancelLimit)
	defer cancel()
	if err := d.Cancel(ctx); err != nil {
		return fmt.Errorf("the tasks may go on: %w; %s", err, strings.Replace(back, "attach", "cancel", 1))
	}
	return exitStatus(exitCannotRun)
}

// noteJobDirectory says what a job of this machine leaves in its directory, and whether that can be removed. An interrupt says so itself.
func (e *environment) noteJobDirectory(ctx context.Context, w *cluster.Work, err error) {
	if w.Backend != "local" || ctx.Err() != nil || noSuchFile(string(w.Dir)) {
		return
	}
	size := int64(0)
	_ = filepath.WalkDir(string(w.Dir), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // what cannot be read is not counted
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	attach := "tilecheck submit attach " + quote.Word(string(w.Dir))
	left := fmt.Sprintf("%s has %.0f MB, this program and the inputs included", w.Dir, max(1, float64(size)/1e6))
	if answer, ok := errors.AsType[*codedError](err); err == nil || ok && answer.err == nil {
		fmt.Fprintf(e.stderr, "note: %s; it can be removed, and until then this prints the result again: %s\n", left, attach)
	} else {
		fmt.Fprintf(e.stderr, "note: %s; it keeps what is finished, for %s; remove it to begin anew\n", left, attach)
	}
}

// withExitCode gives the errors of a driver their exit codes.
func withExitCode(err error) error {
	if f, ok := errors.AsType[*cluster.Failure](err); ok && (f.Code == exitUsage || f.Code == exitOutOfLimit) {
		return &codedError{f.Code, err}
	}
	return err
}
