package main

import (
	"context"
	"os"
	"strconv"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes"
	"tilecheck/cluster/settings"
	"tilecheck/cmd/tilecheck/submit"
)

type submitKubernetesCmd struct {
	Words []string `arg:"" name:"command" help:"-- and the command to split: check --method sim, compare, …" want:"any"`

	jobDirFlags   `embed:""`
	Image         string    `help:"Image that the staged program runs in (this and what follows: default of tilecheck.yaml here, block cluster)." placeholder:"NAME"`
	Claim         string    `help:"Persistent volume claim, ReadWriteMany, that has the directory." placeholder:"NAME"`
	Mount         string    `help:"Where the root of the claim is mounted here (default: it is the directory)." placeholder:"DIR" file:"none"`
	Namespace     string    `short:"n" help:"Namespace (default: of the context)." placeholder:"NAME"`
	Context       string    `help:"Context of kubectl (default: the current one)." placeholder:"NAME"`
	CPUs          int       `name:"cpus" help:"Processors of a pod (default: 1)." want:"[1,1024]" placeholder:"N"`
	Memory        byteCount `help:"Memory of a pod, such as 4GB (default: 1GiB)." placeholder:"SIZE"`
	Time          string    `name:"time-limit" aliases:"time" help:"Time limit of a pod: minutes, hours:minutes:seconds or days-hours (default: none)." placeholder:"TIME"`
	Tasks         int       `help:"Indices of the Job, of one or more shards each (default: at most 64)." want:"[1,100000]" placeholder:"N"`
	Parallelism   int       `help:"Pods at a time (default: all)." want:"[1,100000]" placeholder:"N"`
	RunAs         string    `help:"User of the pods, who writes to the directory (default: who submits)." placeholder:"UID:GID"`
	PullSecret    string    `rare:"" help:"Secret for the registry of the image." placeholder:"NAME"`
	PriorityClass string    `rare:"" help:"Priority class of the pods." placeholder:"NAME"`
	Label         []string  `rare:"" help:"Label of Job and pods, such as kueue.x-k8s.io/queue-name=main; repeatable." sep:"none" placeholder:"KEY=VALUE"`
	Node          []string  `rare:"" help:"Label that a node must have; repeatable." sep:"none" placeholder:"KEY=VALUE"`
	Toleration    []string  `rare:"" help:"Taint that does not matter: KEY[=VALUE][:EFFECT]; repeatable." sep:"none" placeholder:"TAINT"`
	DryRun        bool      `help:"Print the manifest, and do nothing."`
	loginFlags    `embed:""`
}

// kubernetesSettings returns the settings of the flags. Settings without a flag come from the suite file in the current directory.
func (c *submitKubernetesCmd) kubernetesSettings() (settings.Settings, error) {
	return submit.WithSuiteSettings(settings.Settings{
		Time: c.Time, Memory: int64(c.Memory), CPUs: c.CPUs, Tasks: c.Tasks,
		Kubernetes: settings.Kubernetes{
			Image: c.Image, Claim: c.Claim, Mount: c.Mount, Namespace: c.Namespace, Context: c.Context, Parallelism: c.Parallelism, RunAs: c.RunAs,
			PullSecret: c.PullSecret, Priority: c.PriorityClass, Labels: c.Label, Nodes: c.Node, Tolerations: c.Toleration,
		},
	})
}

// Run submits the shards of a command to Kubernetes. With --dry-run it only prints the manifest.
func (c *submitKubernetesCmd) Run(ctx context.Context, env *environment) error {
	requested, err := c.kubernetesSettings()
	if err != nil {
		return err
	}
	request := cluster.Request{Given: c.Words, Backend: "kubernetes", Settings: requested}
	if c.DryRun {
		return env.printScript(ctx, c.jobDirFlags, request)
	}
	return env.submitJob(ctx, c.jobDirFlags, c.loginFlags, request)
}

// submitTaskCmd is the command that a pod runs.
type submitTaskCmd struct {
	Dir   string `arg:"" name:"dir" help:"Directory of a job."`
	Round int    `help:"Round of the job." default:"1" want:"[1,100000]" placeholder:"N"`
}

// Run computes the shards of one task in a pod. Kubernetes passes the index of the task in the environment.
func (c *submitTaskCmd) Run(ctx context.Context, env *environment) error {
	index, err := strconv.Atoi(env.getenv(kubernetes.IndexVariable))
	if err != nil || index < 0 {
		return usageError("%s is %q, want the index of a pod", kubernetes.IndexVariable, env.getenv(kubernetes.IndexVariable))
	}
	place := cluster.Place{Host: env.getenv(kubernetes.NodeVariable)}
	if place.Host == "" {
		place.Host, _ = os.Hostname() // only shown to the user
	}
	place.Restarts, _ = strconv.Atoi(env.getenv(kubernetes.FailuresVariable)) // empty for none
	code, err := cluster.Perform(ctx, c.Dir, c.Round, index+1, submit.Program, place, env.stderr)
	if err != nil || code == 0 {
		return err
	}
	return exitStatus(code)
}
