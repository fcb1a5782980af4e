// Package submit runs commands on the back ends of package cluster: Slurm, Kubernetes, and
// processes of this machine. The caller describes the job, and drives it.
package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes"
	"tilecheck/cluster/local"
	"tilecheck/cluster/settings"
	"tilecheck/cluster/slurm"
	"tilecheck/internal/usage"
	"tilecheck/runner"
	tool "tilecheck/runner/local"
	"tilecheck/verify/suitefile"
)

// ClusterCommands says how to run the clusters' own commands.
type ClusterCommands struct {
	SlurmPrefix string // words before sbatch, squeue, scancel and scontrol
	Kubectl     string // the program kubectl, or words
}

// slurm finds a command of Slurm, such as sbatch. It returns the program to start, and the words that come before the arguments of the command,
// as in "ssh login sbatch".
func (f ClusterCommands) slurm(program string) (runner.Commander, []string, error) {
	words := append(strings.Fields(f.SlurmPrefix), program)
	client, err := tool.New(words[0])
	if err != nil && len(words) == 1 {
		err = fmt.Errorf("%w; --slurm-prefix 'ssh login' runs it on another machine", err)
	}
	return client, words[1:], err
}

// Program returns a commander that runs a program in the given directory, with additional environment variables.
func Program(program, dir string, env ...string) (runner.Commander, error) {
	found, err := tool.New(program)
	if err != nil {
		return nil, err
	}
	return found.In(dir, env...), nil
}

// kubectl finds the program kubectl. It returns the program, and the words that come before its arguments. The program runs in the current
// directory, because KUBECONFIG may contain relative paths.
func (f ClusterCommands) kubectl() (runner.Commander, []string, error) {
	words := strings.Fields(f.Kubectl)
	if len(words) == 0 {
		return nil, nil, usage.Errorf("--kubectl is blank, want words such as: k3s kubectl")
	}
	program, err := tool.New(words[0])
	if err != nil {
		return nil, nil, fmt.Errorf("%w; submit kubernetes needs kubectl, or --kubectl", err)
	}
	return program.In("."), words[1:], nil
}

// WithSuiteSettings returns the settings of the flags. Settings without a flag come from the suite file in the current directory.
func WithSuiteSettings(requested settings.Settings) (settings.Settings, error) {
	if err := requested.Check(); err != nil {
		return requested, usage.Errorf("%w", err)
	}
	file, err := suitefile.In(os.DirFS("."), ".", func(name string) string { return name })
	if err != nil || file == nil {
		return requested, err
	}
	requested = requested.Over(file.Cluster)
	return requested, requested.Check()
}

// Open opens the directory of a job. It creates a missing directory; an existing one must contain the same job. numShards is the number of shards
// that an existing directory must have; 0 accepts any number. isNew reports whether the directory is new.
func Open(ctx context.Context, dir string, job cluster.Job, request cluster.Request, numShards int, commands ClusterCommands) (work *cluster.Work, isNew bool, err error) {
	if err := CompleteAndCheck(dir, &job, &request); err != nil {
		return nil, false, err
	}
	if cluster.Exists(dir) {
		work, err := openExisting(dir, &job, &request, numShards)
		return work, false, err
	}
	if request.Backend == "kubernetes" {
		if request.Settings.Kubernetes, err = kubernetes.New(commands.kubectl, request.Settings).Resolve(ctx); err != nil {
			return nil, false, err
		}
	}
	_, err = os.Stat(dir)
	isNew = errors.Is(err, fs.ErrNotExist)
	work, err = cluster.Create(dir, request)
	return work, isNew, err
}

// openExisting opens a directory that already contains a job. It returns an error if this is another job than the requested one.
func openExisting(dir string, job *cluster.Job, request *cluster.Request, numShards int) (*cluster.Work, error) {
	work, err := cluster.Open(dir)
	if err != nil {
		return nil, err
	}
	isSame := work.Job.Same(job) && work.Backend == request.Backend && (numShards == 0 || numShards == work.Job.Shards)
	if !isSame {
		work.Close()
		return nil, usage.Errorf("%s has another job, want another --dir: %s", dir, strings.Join(work.Job.Given, " "))
	}
	if request.Backend == "local" {
		work.Settings.Tasks = request.Settings.Tasks
	}
	return work, nil
}

// RemoveFailed removes the directory of a job that failed before it had results, and returns err, the error of the job. A job is removed only if
// it was refused or if its command line was wrong; then the error names no log. usageCode is the exit code of a wrong command line.
func RemoveFailed(work *cluster.Work, err error, usageCode int) error {
	_, isRefused := errors.AsType[*cluster.Refused](err)
	failure, _ := errors.AsType[*cluster.Failure](err)
	isWrongCommand := failure != nil && failure.Code == usageCode && work.Backend == "local" // tasks on a cluster may still run
	if !isRefused && !isWrongCommand {
		return err
	}
	if results, _ := filepath.Glob(work.Dir.Part("*")); len(results) > 0 {
		return err
	}
	if failure != nil {
		failure.Log = "" // it is in the directory
	}
	return errors.Join(err, os.RemoveAll(string(work.Dir)))
}

// Preview returns the script or manifest that would be submitted.
func Preview(dir string, job cluster.Job, request cluster.Request) (string, error) {
	if err := CompleteAndCheck(dir, &job, &request); err != nil {
		return "", err
	}
	firstRound, err := cluster.Preview(dir, job, request.Settings)
	if err != nil {
		return "", err
	}
	switch request.Backend {
	case "slurm":
		return slurm.Script(firstRound), nil
	case "kubernetes":
		return manifest(firstRound)
	}
	return "", nil
}

// CompleteAndCheck completes the settings of the batch system in the request. It returns an error if the batch system cannot run the job in this
// directory.
func CompleteAndCheck(dir string, job *cluster.Job, request *cluster.Request) error {
	absolutePath, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	switch request.Backend {
	case "slurm":
		if _, err := slurm.New(nil, absolutePath); err != nil {
			return usage.Errorf("--dir: %w", err)
		}
	case "kubernetes":
		if err := cmp.Or(kubernetes.Complete(&request.Settings, absolutePath), kubernetes.Check(absolutePath, job, request.Settings)); err != nil {
			return usage.Errorf("%w", err)
		}
	}
	return nil
}

// manifest returns the Job of a round in YAML.
func manifest(r *cluster.Round) (string, error) {
	job, err := kubernetes.Manifest(r)
	if err != nil {
		return "", err
	}
	text, err := kubernetes.Print(job)
	return string(text), err
}

// Driver returns the driver that runs the shards of a job, and a function that ends the processes of the driver.
func Driver(ctx context.Context, work *cluster.Work, commands ClusterCommands, showNote func(text string)) (driver *cluster.Driver, endProcesses func(), err error) {
	driver = &cluster.Driver{Work: work, Note: showNote}
	switch work.Backend {
	case "local":
		processes := local.New(ctx, Program, max(1, work.Settings.Tasks))
		driver.Backend = processes
		return driver, processes.Close, nil
	case "slurm":
		driver.Backend, err = slurm.New(commands.slurm, string(work.Dir))
		return driver, func() {}, err
	case "kubernetes":
		driver.Backend = kubernetes.New(commands.kubectl, work.Settings)
		return driver, func() {}, nil
	}
	return nil, nil, fmt.Errorf("%s was submitted to %q, which this program does not know", work.Dir, work.Backend)
}
