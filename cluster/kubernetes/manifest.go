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
	// roundLabel has the name of a round, on its Job and on its pods, and allLabel
	// what the rounds of a directory have in common.
	roundLabel, allLabel = "tilecheck/round", "tilecheck/job"
	// restarts is how often an index may fail in one round.
	restarts = 3
	// keptFor is how long a Job that has ended is there to be looked at, in seconds.
	keptFor = 24 * 3600
	// stopTime is how long a pod may take to end, in seconds.
	stopTime = 10
	// container and volume are their names in a pod.
	container, volume, scratch = "tilecheck", "shared", "scratch"
	scratchDir                 = "/tmp"

	defaultCPUs   = 1
	defaultMemory = 1 << 30
)

// NodeVariable and FailuresVariable tell a task where it runs, and how often it
// has failed there.
const (
	NodeVariable     = "TILECHECK_TASK_NODE"
	FailuresVariable = "TILECHECK_TASK_FAILURES"
	IndexVariable    = "JOB_COMPLETION_INDEX" // which Kubernetes sets
)

// completionIndex is the label and annotation of a pod that has its index.
const completionIndex = "batch.kubernetes.io/job-completion-index"

// Complete adds to settings what they do not say: the claim has nothing but the
// directory, and pods run as who submits.
func Complete(s *settings.Settings, dir string) error {
	k := &s.Kubernetes
	switch {
	case k.Image == "":
		return errors.New("there is no image, want --image: any will do, the program is staged; packaging/build-image makes one that has nothing else")
	case k.Claim == "":
		return errors.New("there is no claim, want --claim: the persistent volume claim, ReadWriteMany, that has the directory")
	}
	k.Mount = cmp.Or(k.Mount, dir)
	if k.RunAs == "" {
		if os.Getuid() <= 0 {
			return errors.New("pods do not run as root, want --run-as UID:GID: who may write to the directory")
		}
		k.RunAs = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	return s.Check()
}

// below returns where a path is in the claim, and whether it is there.
func below(mount, path string) (string, bool) {
	rel, err := filepath.Rel(mount, path)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// Check returns what keeps a job in a directory from running with completed settings.
func Check(dir string, j *cluster.Job, s settings.Settings) error {
	k := s.Kubernetes
	if err := settings.CheckMount(dir); err != nil {
		return fmt.Errorf("the directory: %w", err)
	}
	if _, ok := below(k.Mount, dir); !ok {
		return fmt.Errorf("%s is not below %s, where the claim %s is mounted here: want another --dir or --mount", dir, k.Mount, k.Claim)
	}
	for _, in := range j.Inputs {
		if _, ok := below(k.Mount, in.Name); filepath.IsAbs(in.Name) && !ok {
			return fmt.Errorf("%s is not below %s: pods do not see it; a relative name is copied", in.Name, k.Mount)
		}
	}
	return nil
}

// Manifest returns the Job of a round, with completed settings.
func Manifest(r *cluster.Round) (*api.Job, error) {
	if err := Check(string(r.Dir), r.Job, r.Settings); err != nil {
		return nil, err
	}
	pod, err := podSpec(r)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"app.kubernetes.io/name": "tilecheck"}
	for _, label := range r.Settings.Kubernetes.Labels {
		key, value, _ := strings.Cut(label, "=")
		labels[key] = value
	}
	labels[roundLabel], labels[allLabel] = r.Name, all(r)
	n := len(r.Tasks)
	return &api.Job{
		APIVersion: "batch/v1", Kind: "Job",
		Metadata: api.Meta{Name: r.Name, Namespace: r.Settings.Kubernetes.Namespace, Labels: labels},
		Spec: api.JobSpec{
			CompletionMode:       "Indexed",
			Completions:          n,
			Parallelism:          min(n, cmp.Or(r.Settings.Kubernetes.Parallelism, n)),
			BackoffLimitPerIndex: new(restarts),
			// The first rule that fits decides: a pod that was evicted is no failure,
			// whatever it ended with.
			PodFailurePolicy: &api.PodFailurePolicy{Rules: []api.PodFailureRule{
				{Action: "Ignore", OnPodConditions: []api.PodCondition{{Type: api.DisruptionTarget, Status: api.True}}},
				// 2 and 3 are of shards that have finished, 4 and 80 the same again every
				// time; 126 to 128 are of programs that cannot be started.
				{Action: "FailIndex", OnExitCodes: &api.ExitCodes{ContainerName: container, Operator: "In", Values: []int{2, 3, 4, 80, 126, 127, 128}}},
			}},
			TTLSecondsAfterFinished: keptFor,
			Template:                api.PodTemplate{Metadata: api.Meta{Labels: labels}, Spec: *pod},
		},
	}, nil
}

// all is the name of all rounds of a directory.
func all(r *cluster.Round) string { return strings.TrimSuffix(r.Name, "-"+strconv.Itoa(r.Number)) }

// podSpec is what every pod of a round is. Of the claim it may write to the
// directory only.
func podSpec(r *cluster.Round) (*api.PodSpec, error) {
	s, k := r.Settings, r.Settings.Kubernetes
	uid, gid, err := settings.RunAs(k.RunAs)
	if err != nil {
		return nil, err
	}
	rel, _ := below(k.Mount, string(r.Dir))
	var mounts []api.Mount
	if slices.ContainsFunc(r.Job.Inputs, func(in cluster.Staged) bool { return filepath.IsAbs(in.Name) }) {
		mounts = append(mounts, api.Mount{Name: volume, MountPath: k.Mount, ReadOnly: true})
	}
	if own := (api.Mount{Name: volume, MountPath: string(r.Dir), SubPath: rel}); rel == "." {
		own.SubPath = ""
		mounts = []api.Mount{own} // the same place
	} else {
		mounts = append(mounts, own)
	}
	mounts = append(mounts, api.Mount{Name: scratch, MountPath: scratchDir})

	cpus := cmp.Or(s.CPUs, defaultCPUs)
	resources := api.Amounts{CPU: strconv.Itoa(cpus), Memory: quantity(cmp.Or(s.Memory, defaultMemory))}
	field := func(path string) *api.ValueSource {
		from := new(api.ValueSource)
		from.FieldRef.FieldPath = path
		return from
	}
	command := []string{r.Dir.Program(r.Job), "submit", "task", "--round=" + strconv.Itoa(r.Number), string(r.Dir)}
	for i, word := range command { // $(NAME) is a variable there
		command[i] = strings.ReplaceAll(word, "$", "$$")
	}
	spec := &api.PodSpec{
		RestartPolicy:                 "Never",
		TerminationGracePeriodSeconds: stopTime,
		PriorityClassName:             k.Priority,
		SecurityContext: api.PodSecurityContext{
			RunAsNonRoot:   true,
			RunAsUser:      uid,
			RunAsGroup:     gid,
			SeccompProfile: api.SeccompProfile{Type: "RuntimeDefault"},
		},
		Containers: []api.Container{{
			Name:    container,
			Image:   k.Image,
			Command: command,
			Env: []api.Variable{
				{Name: NodeVariable, ValueFrom: field("spec.nodeName")},
				{Name: FailuresVariable, ValueFrom: field("metadata.annotations['batch.kubernetes.io/job-index-failure-count']")},
				{Name: "GOMAXPROCS", Value: strconv.Itoa(cpus)},
				{Name: "HOME", Value: scratchDir},
				{Name: "TMPDIR", Value: scratchDir},
				{Name: "XDG_CACHE_HOME", Value: scratchDir},
			},
			Resources:                api.Resources{Requests: resources, Limits: resources},
			VolumeMounts:             mounts,
			TerminationMessagePolicy: "FallbackToLogsOnError",
			SecurityContext:          api.SecurityContext{ReadOnlyRootFilesystem: true, Capabilities: api.Capabilities{Drop: []string{"ALL"}}},
		}},
		Volumes: []api.Volume{
			{Name: volume, PersistentVolumeClaim: &api.Claim{ClaimName: k.Claim}},
			{Name: scratch, EmptyDir: new(struct{})},
		},
	}
	if s.Time != "" {
		seconds, err := settings.Seconds(s.Time)
		if err != nil {
			return nil, err
		}
		spec.ActiveDeadlineSeconds = min(seconds, math.MaxInt32)
	}
	if k.PullSecret != "" {
		spec.ImagePullSecrets = []api.Reference{{Name: k.PullSecret}}
	}
	for _, node := range k.Nodes {
		if spec.NodeSelector == nil {
			spec.NodeSelector = make(map[string]string)
		}
		key, value, _ := strings.Cut(node, "=")
		spec.NodeSelector[key] = value
	}
	for _, t := range k.Tolerations {
		key, value, effect, err := settings.Toleration(t)
		if err != nil {
			return nil, err
		}
		op := "Exists"
		if value != "" {
			op = "Equal"
		}
		spec.Tolerations = append(spec.Tolerations, api.Toleration{Key: key, Operator: op, Value: value, Effect: effect})
	}
	return spec, nil
}

// quantity writes a number of bytes with the largest unit that divides it.
func quantity(bytes int64) string {
	unit := 0
	for ; unit < 6 && bytes%1024 == 0; unit++ {
		bytes /= 1024
	}
	return strconv.FormatInt(bytes, 10) + [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[unit]
}
