// Package kubetest is as much of a Kubernetes as tests of submit need: an API with
// Jobs and pods, for kubectl or for a double of it, and a controller of Indexed
// Jobs by what their documentation says. A pod is a function. It is no evidence
// that a real cluster takes a manifest, or starts a pod.
//
// Source: kubernetes.io/docs/concepts/workloads/controllers/job; the messages of
// kubectl are those of kubectl 1.32, which tests compare.
package kubetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Outcome is how a pod ends.
type Outcome struct {
	Code            int
	Reason, Message string // of the container
	Disrupted       bool   // it was evicted
	Lost            bool   // its node was lost, and it sends no more messages
}

// Cluster is a Kubernetes. Its fields are set before it is used.
type Cluster struct {
	// Run is what a pod does. The context ends when the pod is deleted.
	Run func(ctx context.Context, pod *corev1.Pod, index int) Outcome
	// Refuse may refuse a request (create, get, delete, list), before it is done.
	Refuse func(verb string) *metav1.Status
	// NoLeave says that the user may not create Jobs.
	NoLeave bool
	// LoseAnswer does a request and then fails, once.
	LoseAnswer string
	// Old leaves out what Kubernetes 1.28 does not know.
	Old bool
	// Pending keeps pods from being started, with a reason.
	Pending string

	mu      sync.Mutex
	jobs    map[string]*job
	pods    map[string]*pod
	number  int
	started int
	all     sync.WaitGroup
	ctx     context.Context
}

type job struct {
	batchv1.Job
	ended    map[int]bool // true if it failed
	failures map[int]int32
}

type pod struct {
	corev1.Pod
	index int
	stop  context.CancelFunc
}

// New returns a cluster without Jobs. Its pods have ended when the test has.
func New(t testing.TB) *Cluster {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Cluster{jobs: make(map[string]*job), pods: make(map[string]*pod), ctx: ctx}
	t.Cleanup(func() { cancel(); c.all.Wait() })
	return c
}

// Allow has no request refused any more. Those of a kubectl that was killed may go on.
func (c *Cluster) Allow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Refuse = nil
}

// Started returns how many pods were started.
func (c *Cluster) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// Jobs returns the names of the Jobs.
func (c *Cluster) Jobs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.jobs))
}

// Forget removes all Jobs, and ends their pods.
func (c *Cluster) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.jobs {
		c.remove(name)
	}
}

func refused(code int32, reason metav1.StatusReason, format string, args ...any) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}
}

// Refusal is an answer of an API server.
func Refusal(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return refused(code, reason, "%s", message)
}

// Decode reads a manifest. What the API does not know is an error.
func Decode(text []byte) (*batchv1.Job, error) {
	var j batchv1.Job
	return &j, yaml.UnmarshalStrict(text, &j)
}

func (c *Cluster) request(verb string) *metav1.Status {
	if c.Refuse != nil {
		return c.Refuse(verb)
	}
	return nil
}

func (c *Cluster) lost(verb string) *metav1.Status {
	if c.LoseAnswer != verb {
		return nil
	}
	c.LoseAnswer = ""
	return refused(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the answer was lost")
}

func (c *Cluster) create(text []byte) (*batchv1.Job, *metav1.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.request("create"); s != nil {
		return nil, s
	}
	j, err := Decode(text)
	if err != nil {
		return nil, refused(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	if c.jobs[j.Name] != nil {
		return nil, refused(http.StatusConflict, metav1.StatusReasonAlreadyExists, "jobs.batch %q already exists", j.Name)
	}
	if c.Old {
		j.Spec.BackoffLimitPerIndex, j.Spec.PodFailurePolicy = nil, nil
	}
	mine := &job{Job: *j, ended: make(map[int]bool), failures: make(map[int]int32)}
	c.jobs[j.Name] = mine
	c.reconcile(mine)
	return j, c.lost("create")
}

// reconcile starts the pods of a Job, and ends it.
func (c *Cluster) reconcile(j *job) {
	active := 0
	has := make(map[int]bool)
	for _, p := range c.pods {
		if p.Labels["batch.kubernetes.io/job-name"] == j.Name && (p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending) {
			active++
			has[p.index] = true
		}
	}
	n := int(*j.Spec.Completions)
	for i := range n {
		if _, ended := j.ended[i]; !ended && !has[i] && active < int(*j.Spec.Parallelism) {
			active++
			c.start(j, i)
		}
	}
	var done, failed []string
	for i := range n {
		if fails, ended := j.ended[i]; ended && fails {
			failed = append(failed, strconv.Itoa(i))
		} else if ended {
			done = append(done, strconv.Itoa(i))
		}
	}
	j.Status.CompletedIndexes, j.Status.FailedIndexes = strings.Join(done, ","), new(strings.Join(failed, ","))
	if len(done)+len(failed) == n && len(j.Status.Conditions) == 0 {
		kind := batchv1.JobComplete
		if len(failed) > 0 {
			kind = batchv1.JobFailed
		}
		j.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
	}
}

func (c *Cluster) start(j *job, index int) {
	c.number++
	ctx, cancel := context.WithCancel(c.ctx)
	p := &pod{index: index, stop: cancel}
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	p.Name, p.Namespace = fmt.Sprintf("%s-%d-%05d", j.Name, index, c.number), j.Namespace
	p.Labels = maps.Clone(j.Spec.Template.Labels)
	p.Labels["batch.kubernetes.io/job-name"], p.Labels[batchv1.JobCompletionIndexAnnotation] = j.Name, strconv.Itoa(index)
	p.CreationTimestamp = metav1.NewTime(time.Unix(int64(1_700_000_000+c.number), 0))
	p.Spec = *j.Spec.Template.Spec.DeepCopy()
	p.Spec.NodeName = "node-" + strconv.Itoa(c.number%3)
	p.Status.Phase = corev1.PodRunning
	c.pods[p.Name] = p
	if c.Pending != "" {
		p.Status.Phase = corev1.PodPending
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: c.Pending}}}}
		return
	}
	c.started++
	given := p.DeepCopy()
	c.all.Go(func() {
		o := c.Run(ctx, given, index)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(j, p, o)
	})
}

// end is the end of a pod, judged by the first rule of the Job that fits.
func (c *Cluster) end(j *job, p *pod, o Outcome) {
	if c.pods[p.Name] == nil || c.jobs[j.Name] != j { // it was deleted
		return
	}
	if o.Lost {
		p.DeletionTimestamp = new(metav1.NewTime(time.Now().Add(-time.Hour)))
		return
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(o.Code), Reason: cmp.Or(o.Reason, "Error"), Message: o.Message},
	}}}
	if o.Code == 0 && !o.Disrupted {
		p.Status.Phase = corev1.PodSucceeded
		j.ended[p.index] = false
		c.reconcile(j)
		return
	}
	p.Status.Phase = corev1.PodFailed
	if o.Disrupted {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	}
	switch c.action(j, p, int32(o.Code)) {
	case batchv1.PodFailurePolicyActionIgnore:
	case batchv1.PodFailurePolicyActionFailIndex:
		j.ended[p.index] = true
	default:
		if j.failures[p.index]++; j.failures[p.index] > *j.Spec.BackoffLimitPerIndex {
			j.ended[p.index] = true
		}
	}
	c.reconcile(j)
}

func (c *Cluster) action(j *job, p *pod, code int32) batchv1.PodFailurePolicyAction {
	for _, rule := range j.Spec.PodFailurePolicy.Rules {
		if on := rule.OnExitCodes; on != nil && (on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) == slices.Contains(on.Values, code) {
			return rule.Action
		}
		for _, on := range rule.OnPodConditions {
			if slices.ContainsFunc(p.Status.Conditions, func(is corev1.PodCondition) bool { return is.Type == on.Type && is.Status == on.Status }) {
				return rule.Action
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

func (c *Cluster) get(name string) (*batchv1.Job, *metav1.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.request("get"); s != nil {
		return nil, s
	}
	if j := c.jobs[name]; j != nil {
		return j.DeepCopy(), nil
	}
	return nil, refused(http.StatusNotFound, metav1.StatusReasonNotFound, "jobs.batch %q not found", name)
}

func (c *Cluster) delete(name string) *metav1.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.request("delete"); s != nil {
		return s
	}
	if c.jobs[name] == nil {
		return refused(http.StatusNotFound, metav1.StatusReasonNotFound, "jobs.batch %q not found", name)
	}
	c.remove(name)
	return c.lost("delete")
}

func (c *Cluster) remove(name string) {
	delete(c.jobs, name)
	maps.DeleteFunc(c.pods, func(_ string, p *pod) bool {
		if p.Labels["batch.kubernetes.io/job-name"] != name {
			return false
		}
		p.stop()
		return true
	})
}

// matches reports whether labels are selected by one label, all that is needed here.
func matches(selector string, labels map[string]string) bool {
	key, value, _ := strings.Cut(selector, "=")
	return selector == "" || labels[key] == value
}

func (c *Cluster) listJobs(selector string) (*batchv1.JobList, *metav1.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := &batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}}
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		if j := c.jobs[name]; matches(selector, j.Labels) {
			list.Items = append(list.Items, *j.DeepCopy())
		}
	}
	return list, c.request("list")
}

func (c *Cluster) listPods(selector, field string) (*corev1.PodList, *metav1.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		p := c.pods[name]
		if not, ok := strings.CutPrefix(field, "status.phase!="); matches(selector, p.Labels) && !(ok && string(p.Status.Phase) == not) {
			list.Items = append(list.Items, *p.DeepCopy())
		}
	}
	return list, c.request("list")
}
