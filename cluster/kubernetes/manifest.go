package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes/api"
	"tilecheck/cluster/settings"
)

const (
	// The Job and the pods of a round have these labels. The value of roundLabel is the name of the round, that of jobLabel is the same for all
	// rounds of a directory.
	roundLabel, jobLabel = "tilecheck/round", "tilecheck/job"
	// maxFailures is the number of times that Kubernetes starts a failed index again in one round.
	maxFailures = 3
	// jobLifetime is the time until Kubernetes deletes a Job that has ended, in seconds. Until then, users can inspect the Job.
	jobLifetime = 24 * 3600
	// gracePeriod is the time that a pod has to end when it is deleted, in seconds.
	gracePeriod = 10
	// The names of the container and of the volumes in a pod.
	container, volume, scratch = "tilecheck", "shared", "scratch"
	scratchDir                 = "/tmp"

	defaultCPUs   = 1
	defaultMemory = 1 << 30
)

// The environment variables of a task.
const (
	NodeVariable     = "TILECHECK_TASK_NODE"     // the node on which the task runs
	FailuresVariable = "TILECHECK_TASK_FAILURES" // the number of times that the task has failed
	IndexVariable    = "JOB_COMPLETION_INDEX"    // the index of the task; Kubernetes sets it
)

// completionIndex is the label and annotation of a pod whose value is the index of its task.
const completionIndex = "batch.kubernetes.io/job-completion-index"

// Complete sets defaults in the settings of a job in the directory dir: the claim is mounted at dir, and pods run as the current user. It returns
// an error if the settings have no image or no claim.
func Complete(jobSettings *settings.Settings, dir string) error {
	kubernetes := &jobSettings.Kubernetes
	switch {
	case kubernetes.Image == "":
		return errors.New("there is no image, want --image: any will do, the program is staged; packaging/build-image makes one that has nothing else")
	case kubernetes.Claim == "":
		return errors.New("there is no claim, want --claim: the persistent volume claim, ReadWriteMany, that has the directory")
	}
	kubernetes.Mount = cmp.Or(kubernetes.Mount, dir)
	if kubernetes.RunAs == "" {
		if os.Getuid() <= 0 {
			return errors.New("pods do not run as root, want --run-as UID:GID: who may write to the directory")
		}
		kubernetes.RunAs = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	return jobSettings.Check()
}

// below returns the path relative to the mount point of the claim, and whether the path is below it.
func below(mount, path string) (relative string, ok bool) {
	rel, err := filepath.Rel(mount, path)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// Check returns an error if a job in the directory dir cannot run with these settings, which Complete has completed: its pods see only the files
// below the mount point of the claim.
func Check(dir string, job *cluster.Job, jobSettings settings.Settings) error {
	kubernetes := jobSettings.Kubernetes
	if err := settings.CheckMount(dir); err != nil {
		return fmt.Errorf("the directory: %w", err)
	}
	if _, ok := below(kubernetes.Mount, dir); !ok {
		return fmt.Errorf("%s is not below %s, where the claim %s is mounted here: want another --dir or --mount", dir, kubernetes.Mount, kubernetes.Claim)
	}
	for _, input := range job.Inputs {
		if _, ok := below(kubernetes.Mount, input.Name); filepath.IsAbs(input.Name) && !ok {
			return fmt.Errorf("%s is not below %s: pods do not see it; a relative name is copied", input.Name, kubernetes.Mount)
		}
	}
	return nil
}

// Manifest returns the Kubernetes Job of a round, whose settings Complete has completed.
func Manifest(round *cluster.Round) (*api.Job, error) {
	if err := Check(string(round.Dir), round.Job, round.Settings); err != nil {
		return nil, err
	}
	pod, err := podSpec(round)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"app.kubernetes.io/name": "tilecheck"}
	for _, label := range round.Settings.Kubernetes.Labels {
		key, value, _ := strings.Cut(label, "=")
		labels[key] = value
	}
	labels[roundLabel], labels[jobLabel] = round.Name, jobName(round)
	numTasks := len(round.Tasks)
	return &api.Job{
		APIVersion: "batch/v1", Kind: "Job",
		Metadata: api.Meta{Name: round.Name, Namespace: round.Settings.Kubernetes.Namespace, Labels: labels},
		Spec: api.JobSpec{
			CompletionMode:       "Indexed",
			Completions:          numTasks,
			Parallelism:          min(numTasks, cmp.Or(round.Settings.Kubernetes.Parallelism, numTasks)),
			BackoffLimitPerIndex: new(maxFailures),
			// The first matching rule applies. So an evicted pod does not count as a failure, with any exit code.
			PodFailurePolicy: &api.PodFailurePolicy{Rules: []api.PodFailureRule{
				{Action: "Ignore", OnPodConditions: []api.PodCondition{{Type: api.DisruptionTarget, Status: api.True}}},
				// Another attempt is useless: with 2 and 3 the shard has finished, 4 and 80 would occur again, and with 126 to 128 the program
				// could not be started.
				{Action: "FailIndex", OnExitCodes: &api.ExitCodes{ContainerName: container, Operator: "In", Values: []int{2, 3, 4, 80, 126, 127, 128}}},
			}},
			TTLSecondsAfterFinished: jobLifetime,
			Template:                api.PodTemplate{Metadata: api.Meta{Labels: labels}, Spec: *pod},
		},
	}, nil
}

// jobName returns the name of a round without its number, which is the same for all rounds of a directory.
func jobName(r *cluster.Round) string { return strings.TrimSuffix(r.Name, "-"+strconv.Itoa(r.Number)) }

// podSpec returns the specification of the pods of a round. A pod may write only to the directory of the job and to its scratch directory.
func podSpec(round *cluster.Round) (*api.PodSpec, error) {
	jobSettings, kubernetes := round.Settings, round.Settings.Kubernetes
	uid, gid, err := settings.RunAs(kubernetes.RunAs)
	if err != nil {
		return nil, err
	}
	spec := &api.PodSpec{
		RestartPolicy:                 "Never",
		TerminationGracePeriodSeconds: gracePeriod,
		PriorityClassName:             kubernetes.Priority,
		NodeSelector:                  nodeSelector(kubernetes.Nodes),
		SecurityContext: api.PodSecurityContext{
			RunAsNonRoot:   true,
			RunAsUser:      uid,
			RunAsGroup:     gid,
			SeccompProfile: api.SeccompProfile{Type: "RuntimeDefault"},
		},
		Containers: []api.Container{taskContainer(round)},
		Volumes: []api.Volume{
			{Name: volume, PersistentVolumeClaim: &api.Claim{ClaimName: kubernetes.Claim}},
			{Name: scratch, EmptyDir: new(struct{})},
		},
	}
	if jobSettings.Time != "" {
		seconds, err := settings.Seconds(jobSettings.Time)
		if err != nil {
			return nil, err
		}
		spec.ActiveDeadlineSeconds = min(seconds, math.MaxInt32)
	}
	if kubernetes.PullSecret != "" {
		spec.ImagePullSecrets = []api.Reference{{Name: kubernetes.PullSecret}}
	}
	spec.Tolerations, err = tolerations(kubernetes.Tolerations)
	if err != nil {
		return nil, err
	}
	return spec, nil
}

// taskContainer returns the container that runs one task of a round.
func taskContainer(round *cluster.Round) api.Container {
	cpus := strconv.Itoa(cmp.Or(round.Settings.CPUs, defaultCPUs))
	resources := api.Amounts{CPU: cpus, Memory: quantity(cmp.Or(round.Settings.Memory, defaultMemory))}
	command := []string{round.Dir.Program(round.Job), "submit", "task", "--round=" + strconv.Itoa(round.Number), string(round.Dir)}
	for i, word := range command { // Kubernetes replaces $(NAME) by the value of a variable
		command[i] = strings.ReplaceAll(word, "$", "$$")
	}
	return api.Container{
		Name:    container,
		Image:   round.Settings.Kubernetes.Image,
		Command: command,
		Env: []api.Variable{
			{Name: NodeVariable, ValueFrom: podField("spec.nodeName")},
			{Name: FailuresVariable, ValueFrom: podField("metadata.annotations['batch.kubernetes.io/job-index-failure-count']")},
			{Name: "GOMAXPROCS", Value: cpus},
			{Name: "HOME", Value: scratchDir},
			{Name: "TMPDIR", Value: scratchDir},
			{Name: "XDG_CACHE_HOME", Value: scratchDir},
		},
		Resources:                api.Resources{Requests: resources, Limits: resources},
		VolumeMounts:             volumeMounts(round),
		TerminationMessagePolicy: "FallbackToLogsOnError",
		SecurityContext:          api.SecurityContext{ReadOnlyRootFilesystem: true, Capabilities: api.Capabilities{Drop: []string{"ALL"}}},
	}
}

// podField returns the source of a variable whose value is a field of the pod.
func podField(path string) *api.ValueSource {
	source := new(api.ValueSource)
	source.FieldRef.FieldPath = path
	return source
}

// volumeMounts returns the mounts of a task: the directory of the job, the scratch directory and, read-only, the whole claim if an input has an
// absolute name.
func volumeMounts(round *cluster.Round) []api.Mount {
	mount := round.Settings.Kubernetes.Mount
	jobDir := api.Mount{Name: volume, MountPath: string(round.Dir)}
	scratchMount := api.Mount{Name: scratch, MountPath: scratchDir}
	subPath, _ := below(mount, string(round.Dir))
	if subPath == "." { // the directory of the job is the whole claim
		return []api.Mount{jobDir, scratchMount}
	}
	jobDir.SubPath = subPath
	if slices.ContainsFunc(round.Job.Inputs, func(input cluster.Staged) bool { return filepath.IsAbs(input.Name) }) {
		return []api.Mount{{Name: volume, MountPath: mount, ReadOnly: true}, jobDir, scratchMount}
	}
	return []api.Mount{jobDir, scratchMount}
}

// nodeSelector returns the labels KEY=VALUE that a node must have; nil if there are none.
func nodeSelector(labels []string) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	selector := make(map[string]string)
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		selector[key] = value
	}
	return selector
}

// tolerations parses the tolerations of the settings. A toleration without a value tolerates every value.
func tolerations(texts []string) ([]api.Toleration, error) {
	var list []api.Toleration
	for _, text := range texts {
		key, value, effect, err := settings.Toleration(text)
		if err != nil {
			return nil, err
		}
		operator := "Exists"
		if value != "" {
			operator = "Equal"
		}
		list = append(list, api.Toleration{Key: key, Operator: operator, Value: value, Effect: effect})
	}
	return list, nil
}

// quantity returns a number of bytes as Kubernetes writes it, with the largest unit that divides it: 1536 is "1536", 2048 is "2Ki".
func quantity(bytes int64) string {
	unit := 0
	for ; unit < 6 && bytes%1024 == 0; unit++ {
		bytes /= 1024
	}
	return strconv.FormatInt(bytes, 10) + [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[unit]
}
