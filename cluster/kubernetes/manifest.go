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

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tilecheck/cluster"
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

// Complete adds to settings what they do not say: the claim has nothing but the
// directory, and pods run as who submits.
func Complete(s *settings.Settings, dir string) error {
	k := &s.Kubernetes
	switch {
	case k.Image == "":
		return errors.New("there is no image, want --image: any will do, the program is staged; ci/build-image makes one that has nothing else")
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
func Manifest(r *cluster.Round) (*batchv1.Job, error) {
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
	exits := func(op batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) *batchv1.PodFailurePolicyOnExitCodesRequirement {
		return &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new(container), Operator: op, Values: codes}
	}
	n := len(r.Tasks)
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Name, Namespace: r.Settings.Kubernetes.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          new(int32(n)),
			Parallelism:          new(int32(min(n, cmp.Or(r.Settings.Kubernetes.Parallelism, n)))),
			BackoffLimitPerIndex: new(int32(restarts)),
			// The first rule that fits decides: a pod that was evicted is no failure,
			// whatever it ended with.
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{
					Action:          batchv1.PodFailurePolicyActionIgnore,
					OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
				},
				// 2 and 3 are of shards that have finished, 4 and 80 the same again every
				// time; 126 to 128 are of programs that cannot be started.
				{Action: batchv1.PodFailurePolicyActionFailIndex, OnExitCodes: exits(batchv1.PodFailurePolicyOnExitCodesOpIn, 2, 3, 4, 80, 126, 127, 128)},
			}},
			TTLSecondsAfterFinished: new(int32(keptFor)),
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *pod},
		},
	}, nil
}

// all is the name of all rounds of a directory.
func all(r *cluster.Round) string { return strings.TrimSuffix(r.Name, "-"+strconv.Itoa(r.Number)) }

// podSpec is what every pod of a round is. Of the claim it may write to the
// directory only.
func podSpec(r *cluster.Round) (*corev1.PodSpec, error) {
	s, k := r.Settings, r.Settings.Kubernetes
	uid, gid, err := settings.RunAs(k.RunAs)
	if err != nil {
		return nil, err
	}
	rel, _ := below(k.Mount, string(r.Dir))
	var mounts []corev1.VolumeMount
	if slices.ContainsFunc(r.Job.Inputs, func(in cluster.Staged) bool { return filepath.IsAbs(in.Name) }) {
		mounts = append(mounts, corev1.VolumeMount{Name: volume, MountPath: k.Mount, ReadOnly: true})
	}
	if own := (corev1.VolumeMount{Name: volume, MountPath: string(r.Dir), SubPath: rel}); rel == "." {
		own.SubPath = ""
		mounts = []corev1.VolumeMount{own} // the same place
	} else {
		mounts = append(mounts, own)
	}
	mounts = append(mounts, corev1.VolumeMount{Name: scratch, MountPath: scratchDir})

	cpus := cmp.Or(s.CPUs, defaultCPUs)
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(cpus), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(cmp.Or(s.Memory, defaultMemory), resource.BinarySI),
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	command := []string{r.Dir.Program(r.Job), "submit", "task", "--round=" + strconv.Itoa(r.Number), string(r.Dir)}
	for i, word := range command { // $(NAME) is a variable there
		command[i] = strings.ReplaceAll(word, "$", "$$")
	}
	spec := &corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(stopTime)),
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		PriorityClassName:             k.Priority,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      &uid,
			RunAsGroup:     &gid,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name:    container,
			Image:   k.Image,
			Command: command,
			Env: []corev1.EnvVar{
				{Name: NodeVariable, ValueFrom: field("spec.nodeName")},
				{Name: FailuresVariable, ValueFrom: field("metadata.annotations['" + batchv1.JobIndexFailureCountAnnotation + "']")},
				{Name: "GOMAXPROCS", Value: strconv.Itoa(cpus)},
				{Name: "HOME", Value: scratchDir},
				{Name: "TMPDIR", Value: scratchDir},
				{Name: "XDG_CACHE_HOME", Value: scratchDir},
			},
			Resources:                corev1.ResourceRequirements{Requests: resources, Limits: resources},
			VolumeMounts:             mounts,
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: volume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: k.Claim}}},
			{Name: scratch, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
	if s.Time != "" {
		seconds, err := settings.Seconds(s.Time)
		if err != nil {
			return nil, err
		}
		spec.ActiveDeadlineSeconds = new(min(seconds, math.MaxInt32))
	}
	if k.PullSecret != "" {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: k.PullSecret}}
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
		op := corev1.TolerationOpExists
		if value != "" {
			op = corev1.TolerationOpEqual
		}
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: op, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return spec, nil
}
