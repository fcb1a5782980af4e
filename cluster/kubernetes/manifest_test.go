package kubernetes_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes"
	"tilecheck/cluster/kubernetes/kubetest"
	"tilecheck/cluster/settings"
	"tilecheck/runner"
)

// answering is a kubectl that lists no pods, and for everything else says one thing.
type answering struct{ answer any }

func (answering) Where() string { return "test" }

// Run implements runner.Commander.
func (a answering) Run(ctx context.Context, c runner.Command) (runner.Exit, error) {
	if slices.Contains(c.Args, "pods") {
		a.answer = corev1.PodList{}
	}
	err := json.NewEncoder(c.Stdout).Encode(a.answer)
	return runner.Exit{}, errors.Join(err, ctx.Err())
}

// preview returns the Job that would be submitted, read as strictly as API servers read it.
func preview(t *testing.T, dir string, q cluster.Request) (*batchv1.Job, string, error) {
	t.Helper()
	needsUnix(t)
	if err := kubernetes.Complete(&q.Settings, dir); err != nil {
		return nil, "", err
	}
	q.Program = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(q.Program, nil, 0o777); err != nil {
		t.Fatal(err)
	}
	q.Words, q.Dir = []string{"play", "random"}, cmp.Or(q.Dir, "/home/u")
	j, err := cluster.Describe(q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cluster.Preview(dir, j, q.Settings)
	if err != nil {
		t.Fatal(err)
	}
	made, err := kubernetes.Manifest(r)
	if err != nil {
		return nil, "", err
	}
	text, err := kubernetes.Print(made)
	if err != nil {
		t.Fatal(err)
	}
	read, err := kubetest.Decode(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return read, string(text), nil
}

// The manifest has what the documentation of Jobs and the restricted profile of pod
// security ask for.
//
// Source: kubernetes.io/docs/concepts/workloads/controllers/job (rules of the API:
// exit codes in order and not 0, restartPolicy Never, a mode that is Indexed);
// kubernetes.io/docs/concepts/security/pod-security-standards, Restricted.
func TestManifest(t *testing.T) {
	s := asked()
	s.CPUs, s.Memory, s.Time, s.Tasks = 2, 4_000_000_000, "1-2:30", 10
	k := &s.Kubernetes
	k.Mount, k.Parallelism, k.PullSecret, k.Priority = "/mnt/shared", 3, "registry", "batch"
	k.Labels, k.Nodes, k.Tolerations = []string{"kueue.x-k8s.io/queue-name=main"}, []string{"disk=ssd"}, []string{"batch=yes:NoSchedule", "spot"}
	job, text, err := preview(t, "/mnt/shared/u/job", cluster.Request{Shards: 25, Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	spec, pod := job.Spec, job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Namespace != "team" || *spec.CompletionMode != "Indexed" ||
		*spec.Completions != 10 || *spec.Parallelism != 3 || *spec.BackoffLimitPerIndex != 3 || *spec.TTLSecondsAfterFinished <= 0 {
		t.Errorf("the Job is\n%s", text)
	}
	rules := spec.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != "Ignore" || rules[0].OnPodConditions[0].Type != "DisruptionTarget" || rules[0].OnPodConditions[0].Status != "True" {
		t.Errorf("disruptions are not ignored first\n%s", text)
	}
	codes := rules[1].OnExitCodes
	if rules[1].Action != "FailIndex" || codes.Operator != "In" || !slices.IsSorted(codes.Values) || *codes.ContainerName != pod.Containers[0].Name {
		t.Errorf("the rule of exit codes is %+v", rules[1])
	}
	for code, final := range map[int32]bool{2: true, 3: true, 80: true, 4: true, 126: true, 127: true, 128: true, 0: false, 1: false, 137: false, 143: false} {
		if slices.Contains(codes.Values, code) != final {
			t.Errorf("exit code %d is final: %v", code, !final)
		}
	}
	c := pod.Containers[0]
	if pod.RestartPolicy != "Never" || *pod.AutomountServiceAccountToken || *pod.EnableServiceLinks || pod.ServiceAccountName != "" || pod.HostNetwork || pod.HostPID {
		t.Errorf("the pod is\n%s", text)
	}
	if sc := pod.SecurityContext; !*sc.RunAsNonRoot || *sc.RunAsUser != 1000 || *sc.RunAsGroup != 1000 || sc.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("the pod runs as %+v", sc)
	}
	if sc := c.SecurityContext; *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || !slices.Equal(sc.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(sc.Capabilities.Add) > 0 {
		t.Errorf("the container runs as %+v", sc)
	}
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		if list.Cpu().Value() != 2 || list.Memory().Value() != 4_000_000_000 {
			t.Errorf("resources are %+v", c.Resources)
		}
	}
	if *pod.ActiveDeadlineSeconds != 26*3600+30*60 || pod.PriorityClassName != "batch" || pod.ImagePullSecrets[0].Name != "registry" || pod.NodeSelector["disk"] != "ssd" {
		t.Errorf("the pod is\n%s", text)
	}
	if got := pod.Tolerations; got[0] != (corev1.Toleration{Key: "batch", Operator: "Equal", Value: "yes", Effect: "NoSchedule"}) || got[1] != (corev1.Toleration{Key: "spot", Operator: "Exists"}) {
		t.Errorf("tolerations are %+v", got)
	}
	if job.Labels["kueue.x-k8s.io/queue-name"] != "main" || spec.Template.Labels["kueue.x-k8s.io/queue-name"] != "main" {
		t.Errorf("labels are %v, %v", job.Labels, spec.Template.Labels)
	}
	// Of the claim a pod has its directory, under the name that it has here.
	mounts := c.VolumeMounts
	if len(mounts) != 2 || mounts[0].MountPath != "/mnt/shared/u/job" || mounts[0].SubPath != "u/job" || mounts[0].ReadOnly || mounts[1].MountPath != "/tmp" {
		t.Errorf("mounts are %+v", mounts)
	}
	if pod.Volumes[0].PersistentVolumeClaim.ClaimName != "shared" || pod.Volumes[1].EmptyDir == nil {
		t.Errorf("volumes are %+v", pod.Volumes)
	}
	if want := []string{"submit", "task", "--round=1", "/mnt/shared/u/job"}; !strings.HasPrefix(c.Command[0], "/mnt/shared/u/job/bin/") || !slices.Equal(c.Command[1:], want) || len(c.Args) > 0 {
		t.Errorf("the command is %q", c.Command)
	}
}

// Memory is written as Kubernetes itself writes it.
func TestMemory(t *testing.T) {
	for _, bytes := range []int64{1, 1024, 1536, 1 << 20, 3 << 29, 1 << 30, 4_000_000_000, 5 << 40, 1 << 60} {
		s := asked()
		s.Memory = bytes
		_, text, err := preview(t, "/mnt/shared/u/job", cluster.Request{Shards: 2, Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		if want := resource.NewQuantity(bytes, resource.BinarySI).String(); strings.Count(text, "memory: "+want+"\n")+strings.Count(text, "memory: \""+want+"\"\n") != 2 {
			t.Errorf("%d bytes are to be %s in\n%s", bytes, want, text)
		}
	}
}

// Files with absolute names are read where they are, if the claim has them.
func TestAbsoluteInputs(t *testing.T) {
	root := t.TempDir()
	table := filepath.Join(root, "table.2048")
	if err := os.WriteFile(table, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s := asked()
	s.Kubernetes.Mount = root
	q := cluster.Request{Shards: 2, Settings: s, Inputs: []string{table}, Dir: root}
	job, _, err := preview(t, filepath.Join(root, "job"), q)
	if err != nil {
		t.Fatal(err)
	}
	mounts := job.Spec.Template.Spec.Containers[0].VolumeMounts
	if len(mounts) != 3 || mounts[0].MountPath != root || !mounts[0].ReadOnly || mounts[1].ReadOnly {
		t.Errorf("mounts are %+v", mounts)
	}
	q.Settings.Kubernetes.Mount = filepath.Join(root, "job")
	if _, _, err := preview(t, filepath.Join(root, "job"), q); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("%v, want an error that names %s", err, table)
	}
}

// Names that mean something to Kubernetes mean themselves.
func TestHostileNames(t *testing.T) {
	job, _, err := preview(t, "/mnt/$(HOSTNAME)/\"job\" $$x", cluster.Request{Shards: 1, Settings: asked()})
	if err != nil {
		t.Fatal(err)
	}
	c := job.Spec.Template.Spec.Containers[0]
	// Kubernetes takes $(NAME) for a variable, and $$ for one $, in commands only.
	if c.Command[4] != "/mnt/$$(HOSTNAME)/\"job\" $$$$x" || c.VolumeMounts[0].MountPath != "/mnt/$(HOSTNAME)/\"job\" $$x" {
		t.Errorf("command %q, mounts %+v", c.Command, c.VolumeMounts)
	}
	for _, dir := range []string{"/", "/tmp", "/proc/x", "/dev/shm/x", "/mnt/a:b", "/mnt/" + strings.Repeat("a", 2000)} {
		if _, _, err := preview(t, dir, cluster.Request{Shards: 1, Settings: asked()}); err == nil {
			t.Errorf("%q is a directory", dir)
		}
	}
	s := asked()
	s.Kubernetes.Mount = "/mnt/shared"
	for _, dir := range []string{"/mnt/other", "/mnt/shared/../other", "/mnt/sharedx"} {
		if _, _, err := preview(t, dir, cluster.Request{Shards: 1, Settings: s}); err == nil || !strings.Contains(err.Error(), "want another --dir or --mount") {
			t.Errorf("%q in a claim at /mnt/shared: %v", dir, err)
		}
	}
	s.Time = "999999999"
	if job, _, err = preview(t, "/mnt/shared/job", cluster.Request{Shards: 1, Settings: s}); err != nil || *job.Spec.Template.Spec.ActiveDeadlineSeconds != math.MaxInt32 {
		t.Errorf("%v", err)
	}
}

// What is not given and cannot be guessed is asked for.
func TestComplete(t *testing.T) {
	needsUnix(t)
	for _, change := range []func(*settings.Kubernetes){
		func(k *settings.Kubernetes) { k.Image = "" },
		func(k *settings.Kubernetes) { k.Claim = "" },
		func(k *settings.Kubernetes) { k.RunAs = "0:0" },
		func(k *settings.Kubernetes) { k.Mount = "mnt" },
	} {
		s := asked()
		change(&s.Kubernetes)
		if err := kubernetes.Complete(&s, "/mnt/job"); err == nil {
			t.Errorf("%+v is complete", s.Kubernetes)
		}
	}
	s := settings.Settings{Kubernetes: settings.Kubernetes{Image: "tilecheck", Claim: "shared"}}
	err := kubernetes.Complete(&s, "/mnt/job")
	if root := os.Getuid() <= 0; root != (err != nil) || s.Kubernetes.Mount != "/mnt/job" {
		t.Errorf("%+v, %v", s.Kubernetes, err)
	}
}
