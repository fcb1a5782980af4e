package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/internal/cgroup"
	"tilecheck/internal/shard"
	"tilecheck/native"
	record "tilecheck/report/bench"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/runner/local"
	"tilecheck/runner/measure"
	"tilecheck/verify/bench"
	"tilecheck/verify/regress"
	"tilecheck/verify/selection"
)

// benchCmd measures tools, and shows and compares measurements.
type benchCmd struct {
	Run     benchRunCmd     `cmd:"" default:"withargs" help:"Measure tools on a set of models: time, memory, and whether the values are right."`
	Compare benchCompareCmd `cmd:"" help:"Compare two measurements: is the new one slower than the old one, beyond chance?"`
	Tasks   benchTasksCmd   `cmd:"" help:"Write task definitions for BenchExec."`
	Report  benchReportCmd  `cmd:"" help:"Print measurements as a table, or write them as a page, CSV or LaTeX."`
}

// benchRunCmd measures tools on cases.
type benchRunCmd struct {
	Paths    []string `arg:"" name:"path" help:"Directories, models, properties files, .auto files, suite files (.yaml), patterns such as 'models/*.prism'." file:"some"`
	Suite    []string `help:"Only these suites of tilecheck.yaml." placeholder:"NAME"`
	NoConfig bool     `rare:"" help:"Do not read tilecheck.yaml."`
	QVBS     bool     `name:"qvbs" help:"The paths are directories of the Quantitative Verification Benchmark Set (QComp)."`

	MaxStates int      `name:"skip-larger" rare:"" help:"With --qvbs: skip cases with more states, by the numbers of the set." placeholder:"N"`
	Const     []string `help:"Constants, instead of those of .args files: a=1,b=2." sep:"none" placeholder:"DEFS"`

	Tool        []string      `help:"A tool: native, prism, prism-games or storm; @PROGRAM is another program, :exact how it computes, :-explicit its switches; repeatable." sep:"none" default:"native" placeholder:"TOOL"`
	Repetitions int           `help:"Runs of each tool on each case." default:"3" want:"[1,100000]" placeholder:"N"`
	Cores       string        `help:"Processors that the tools may use, such as 0 or 0,2-3 (default: all)." placeholder:"LIST"`
	Timeout     time.Duration `help:"Time limit of one run." default:"5m" placeholder:"DURATION"`
	Memory      byteCount     `help:"Memory limit of one run, for all of its processes together, such as 4GB (default: none)." placeholder:"SIZE"`
	Seed        uint64        `help:"Seed of random numbers." default:"1" want:"[0,]" placeholder:"N"`
	Shard       string        `help:"Measure only part I of N of the cases, such as 2/5." placeholder:"I/N"`
	Partial     string        `rare:"" help:"With --shard: print nothing, and write the runs of the part; tilecheck merge prints those of all parts." placeholder:"FILE" file:"out"`

	Output string       `short:"o" help:"File of JSON lines, one for each run. Runs that it has are not repeated." placeholder:"FILE" file:"keep"`
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	toolPlaces `embed:""`
}

// Run measures the tools on the cases and prints a table of the runs. A shard only records its runs. A merge of shards measures nothing and
// prints the recorded runs.
func (c *benchRunCmd) Run(ctx context.Context, env *environment) error {
	options, err := c.benchOptions(env)
	if err != nil {
		return err
	}
	selected, err := c.selection(env)
	if err != nil {
		return err
	}
	options.Suite.FS, options.Suite.Name = selected.Options.FS, selected.Options.Name
	var tools []*bench.Tool
	if !env.shard.Replaying() {
		if tools, err = c.tools(ctx, env, options); err != nil {
			return err
		}
	}
	runs, err := c.measureTools(ctx, env, selected.Tests, tools, options)
	if err != nil || env.shard.Recording() {
		return err
	}
	env.markOutputStarted()
	if err := record.Table(runs).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Shard != "" && len(runs) == 0 { // all cases are in other shards
		return nil
	}
	return exitStatus(record.ExitCode(runs))
}

// benchOptions returns the options of the measurement that the flags describe. The caller adds the file system of the suite.
func (c *benchRunCmd) benchOptions(env *environment) (*bench.Options, error) {
	if err := env.refuseFlags(!c.QVBS, "without --qvbs", "skip-larger"); err != nil {
		return nil, err
	}
	tilecheckVersion, err := env.identifyBuild()
	if err != nil {
		return nil, err
	}
	options := &bench.Options{QVBS: c.QVBS, Repetitions: c.Repetitions, Tilecheck: tilecheckVersion}
	options.Suite = regress.Options{Seed: c.Seed, Time: c.Timeout, Memory: int64(c.Memory)}
	if options.Cores, err = parseCores(c.Cores); err != nil {
		return nil, usageError("--cores: %w", err)
	}
	options.Ledger = env.shard
	if c.Shard != "" && c.Partial == "" {
		options.Shard, err = shard.Parse(c.Shard)
		if err != nil || options.Shard.Index > options.Shard.Count {
			return nil, usageError("--shard: found %q, want the number of a shard and the number of shards, such as 2/5", c.Shard)
		}
	}
	return options, nil
}

// maxCore is the greatest number of a processor that is accepted.
const maxCore = 1 << 16

// parseCores parses a list of processors such as 0,2-3. The result is sorted and has no duplicates. It returns an error if this process is not
// allowed to run on one of these processors.
func parseCores(text string) (cores []int, err error) {
	if text == "" {
		return nil, nil
	}
	for coreRange := range strings.SplitSeq(text, ",") {
		first, last, err := parseCoreRange(coreRange)
		if err != nil || first < 0 || last < first || last > maxCore {
			return nil, fmt.Errorf("found %q, want numbers of processors, such as 0 or 0,2-3", text)
		}
		for core := first; core <= last; core++ {
			cores = append(cores, core)
		}
	}
	slices.Sort(cores)
	cores = slices.Compact(cores)
	return cores, cgroup.CheckCores(cores)
}

// parseCoreRange parses a range of processors such as 2-3, or the number of one processor.
func parseCoreRange(text string) (first, last int, err error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	if first, err = strconv.Atoi(low); err != nil {
		return 0, 0, err
	}
	last, err = strconv.Atoi(high)
	return first, last, err
}

// selection returns the cases that the command line selects. Their files become inputs of the command.
func (c *benchRunCmd) selection(env *environment) (*selection.Selection, error) {
	return c.caseRequest().Find(func(files []string) error {
		env.commandFiles.addInputs("the set's", files...)
		return env.commandFiles.check()
	})
}

// inputPaths returns the files and directories that the command reads. A recorded run contains copies of them.
func (c *benchRunCmd) inputPaths() ([]string, error) {
	request := c.caseRequest()
	inputs := slices.Clone(request.Paths)
	_, err := request.Find(func(files []string) error {
		inputs = append(inputs, files...)
		return nil
	})
	return inputs, err
}

// caseRequest returns the request that selects the cases. It expands patterns in the paths.
func (c *benchRunCmd) caseRequest() *selection.Request {
	request := &selection.Request{
		Suites: c.Suite, NoConfig: c.NoConfig, QVBS: c.QVBS, MaxStates: int64(c.MaxStates), Consts: c.Const,
		Engines: []string{native.Name}, Jobs: 1,
	}
	for _, path := range c.Paths {
		request.Paths = append(request.Paths, expandPattern(path)...)
	}
	return request
}

// expandPattern returns the paths that match a pattern such as *.prism. If a file has the pattern as its name, or nothing matches, it returns the
// pattern itself.
func expandPattern(path string) []string {
	if _, err := os.Stat(path); err == nil {
		return []string{path}
	}
	matches, err := filepath.Glob(path)
	if err != nil || len(matches) == 0 {
		return []string{path}
	}
	return matches
}

// tools returns the tools of the flag --tool.
func (c *benchRunCmd) tools(ctx context.Context, env *environment, options *bench.Options) ([]*bench.Tool, error) {
	var foundTools []*bench.Tool
	var labels []string
	for _, text := range c.Tool {
		spec, err := bench.ParseSpec(text)
		if err != nil {
			return nil, usageError("--tool: %w", err)
		}
		labels = append(labels, spec.Label)
		tool, err := c.findTool(ctx, env, spec, options)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", text, err)
		}
		foundTools = append(foundTools, tool)
	}
	if err := runner.Distinct(labels); err != nil {
		return nil, usageError("--tool: %w", err)
	}
	return foundTools, nil
}

// findTool finds the program that a spec names, asks it for its version, and returns the tool to measure.
func (c *benchRunCmd) findTool(ctx context.Context, env *environment, spec *bench.Spec, options *bench.Options) (*bench.Tool, error) {
	path, err := c.programPath(spec)
	if err != nil {
		return nil, err
	}
	isThisProgram := spec.Engine == native.Name && path == ""
	if isThisProgram {
		if path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	program, err := local.New(cmp.Or(path, spec.Engine))
	if err != nil {
		return nil, err
	}
	version := options.Tilecheck
	if !isThisProgram {
		version, err = withVersionTimeout(ctx, func(ctx context.Context) (string, error) { return toolVersion(ctx, spec.Engine, program) })
		if err != nil {
			return nil, err
		}
	}
	measuredTool := measure.New(program, measure.Options{Cores: options.Cores, Memory: options.Suite.Memory})
	return bench.NewTool(spec, measuredTool, version, runner.Limits{Time: options.Suite.Time, Memory: options.Suite.Memory}), nil
}

// programPath returns the path of the tool's program. It is in the spec or in a flag; otherwise the path is empty.
func (c *benchRunCmd) programPath(spec *bench.Spec) (string, error) {
	location := c.placeOf(spec.Engine)
	path := cmp.Or(spec.Program, location.Path)
	if path == "" && location.Image != "" {
		return "", errors.New("programs in containers are not measured, want the path of one on this machine")
	}
	return path, nil
}

// toolVersion runs a program to ask for its version. The program is a build of tilecheck or the external tool of the engine.
func toolVersion(ctx context.Context, engine string, program *local.Tool) (string, error) {
	if engine != native.Name {
		return toolbox.ImageKind(engine).Version(ctx, program)
	}
	var output bytes.Buffer
	exited, err := program.Run(ctx, runner.Command{Args: []string{"version"}, Stdout: &output})
	if err == nil && exited.Code != 0 {
		err = fmt.Errorf("%s version: exit code %d", program.Where(), exited.Code)
	}
	return strings.TrimSpace(strings.TrimPrefix(output.String(), "tilecheck ")), err
}

// collectedRuns are the runs of a measurement.
type collectedRuns struct {
	runs        []record.Run
	file        *bench.Results      // the file of results; nil if there is none
	earlierRuns map[record.Key]bool // the runs that an earlier measurement wrote to the file
}

// addRun adds a run to the result and appends it to the file of results. It ignores a run that the file contained before this measurement.
func (c *collectedRuns) addRun(run *record.Run) error {
	if c.earlierRuns[run.Key()] { // a repeated merge gives the same runs again
		return nil
	}
	c.runs = append(c.runs, *run)
	if c.file == nil {
		return nil
	}
	return c.file.Append(run)
}

// measureTools measures the tools on the tests and returns the runs. The runs that are already in the file of --output come first, and are not
// measured again.
func (c *benchRunCmd) measureTools(ctx context.Context, env *environment, tests []regress.Test, tools []*bench.Tool, options *bench.Options) (runs []record.Run, err error) {
	var collected collectedRuns
	if c.writesResults(env) {
		file, openErr := bench.OpenResults(c.Output)
		if openErr != nil {
			return nil, openErr
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		collected.runs, collected.file = file.Runs, file
		if options.Done, err = bench.KeysOfRuns(file.Runs, tools, options, c.Output); err != nil {
			return nil, err
		}
		collected.earlierRuns = options.Done
	}
	options.Record = collected.addRun
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	if showProgress != nil {
		options.Progress = func(finished, total int, next string) {
			showProgress(runner.Progress{Property: "measuring " + next, Done: int64(finished), Target: int64(total), Unit: "runs"})
		}
	}
	err = bench.Run(ctx, tests, tools, *options)
	return collected.runs, err
}

// writesResults reports whether this process writes the file of results. A shard does not, because the merge of the shards writes the file. A
// merge writes it only if its own command line names it.
func (c *benchRunCmd) writesResults(env *environment) bool {
	switch {
	case env.shard.Recording():
		return false
	case env.shard.Replaying():
		return c.Output != "" && namesOutput(env.recording.outputWords, c.Output)
	}
	return c.Output != ""
}

// benchWorkerCmd is the hidden command that runs the embedded engine in the process that bench measures.
type benchWorkerCmd struct {
	File string `arg:"" help:"The question." file:"in"`
}

// Run checks the job in the file with the embedded engine, and prints the verdicts.
func (c benchWorkerCmd) Run(ctx context.Context, env *environment) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	return bench.Answer(ctx, text, env.stdout)
}
