// Package kubernetes is the back end of package cluster for Kubernetes. A round is
// one Indexed Job. The package gets all information from kubectl, in the types of
// the API. It needs Kubernetes 1.29 and the permissions to create, list and delete
// Jobs and to list pods.
//
// Source: kubernetes.io/docs/concepts/workloads/controllers/job, and KEP-3329 (pod
// failure policy), KEP-3850 (backoff limit per index).
package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/cluster"
	"tilecheck/cluster/kubernetes/api"
	"tilecheck/cluster/settings"
	"tilecheck/internal/printable"
	"tilecheck/runner"
)

// Kubernetes implements cluster.Backend.
type Kubernetes struct {
	tool     Tool
	settings settings.Kubernetes
}

var _ cluster.Backend = (*Kubernetes)(nil)

// Tool returns the commander that runs kubectl, and the arguments to put before others.
type Tool func() (tool runner.Commander, before []string, err error)

// New returns the back end for the cluster in settings.
func New(tool Tool, s settings.Settings) *Kubernetes { return &Kubernetes{tool, s.Kubernetes} }

const (
	// maxOutput is the largest output of kubectl in bytes; it prints some kilobytes for each pod.
	maxOutput = 512 << 20
	// maxTasks is the largest number of indices of a Job.
	maxTasks = 100_000
	// overdue is the time after the end of a pod's grace period at which its node counts as lost. Kubernetes itself waits until an
	// administrator removes the node.
	overdue = time.Minute
	// maxSaid is the largest length of a message of kubectl that is shown.
	maxSaid = 400
)

// Name implements cluster.Backend.
func (*Kubernetes) Name() string { return "kubernetes" }

// Detached implements cluster.Backend.
func (*Kubernetes) Detached() bool { return true }

// Lag implements cluster.Backend: the volume may be a network file system.
func (*Kubernetes) Lag() time.Duration { return 3 * time.Second }

// Pace implements cluster.Backend: a call of Live requests two lists from the API server.
func (*Kubernetes) Pace(elapsed time.Duration) time.Duration {
	return min(max(elapsed/20, time.Second), 15*time.Second)
}

// Limits implements cluster.Backend. It is the first call, so it also checks that the cluster answers and that the user may create Jobs.
func (k *Kubernetes) Limits(ctx context.Context) (int, error) {
	_, err := k.run(ctx, "auth", "can-i", "create", "jobs.batch")
	if f, ok := errors.AsType[*failure](err); ok && f.said == "" { // kubectl has printed "no"
		return 0, fmt.Errorf("no leave to create Jobs in the namespace %s", cmp.Or(k.settings.Namespace, "of kubectl"))
	}
	return maxTasks, err
}

// failure is an error message of kubectl.
type failure struct {
	said string
	code int
}

func (f *failure) Error() string {
	if f.said == "" {
		return fmt.Sprintf("kubectl: exit code %d", f.code)
	}
	return "kubectl: " + f.said
}

// is reports whether the API server gave this reason, for example "AlreadyExists".
func (f *failure) is(reason string) bool {
	return strings.HasPrefix(f.said, "Error from server ("+reason+"):")
}

// passing reports whether the same call may succeed later, because the server or the network did not work.
func (f *failure) passing() bool {
	for _, reason := range []string{"InternalError", "ServiceUnavailable", "TooManyRequests", "Timeout", "ServerTimeout", "Conflict", "Expired"} {
		if f.is(reason) {
			return true
		}
	}
	for _, words := range []string{
		"The connection to the server", "Unable to connect to the server", "couldn't get current server API group list",
		"connection refused", "connection reset", "i/o timeout", "context deadline exceeded", "TLS handshake timeout", "unexpected EOF", "http2: ",
		"the server is currently unable to handle the request", "the server was unable to return a response in the time allotted",
		"etcdserver", "currently shutting down", "client rate limiter", "Too many requests", "an error on the server",
	} {
		if strings.Contains(f.said, words) && !strings.Contains(f.said, "x509: ") {
			return true
		}
	}
	return false
}

// run runs kubectl and returns its output. An error that another call cannot fix is a *failure.
func (k *Kubernetes) run(ctx context.Context, args ...string) ([]byte, error) {
	tool, words, err := k.tool()
	if err != nil {
		return nil, &cluster.Refused{Msg: err.Error()}
	}
	words = append(slices.Clone(words), "--request-timeout=60s")
	if k.settings.Context != "" {
		words = append(words, "--context="+k.settings.Context)
	}
	if k.settings.Namespace != "" {
		words = append(words, "--namespace="+k.settings.Namespace)
	}
	reply, err := cluster.Call(ctx, "kubectl", tool, maxOutput, append(words, args...)...)
	if err != nil {
		return nil, err
	}
	if reply.Code == 0 {
		return reply.Stdout, nil
	}
	f := &failure{said(string(reply.Stderr)), reply.Code}
	if strings.HasPrefix(f.said, "Error in configuration") { // the context does not exist
		return nil, &cluster.Refused{Msg: f.Error()}
	}
	return nil, f
}

// logLine matches the log lines that kubectl's libraries print before the message.
var logLine = regexp.MustCompile(`^([IWE]\d{4} |Warning: )`)

// said extracts kubectl's message from its standard error, as one line.
func said(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !logLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return printable.Line(strings.TrimPrefix(text, "error: "))
}

// final converts an error that another call cannot fix to a *cluster.Refused.
func final(err error) error {
	if f, ok := errors.AsType[*failure](err); ok && !f.passing() {
		return &cluster.Refused{Msg: f.Error()}
	}
	return err
}

// Resolve returns the context and the namespace that kubectl uses now, so that a later change of the current context has no effect. In a pod there
// is no context, and both are empty.
func (k *Kubernetes) Resolve(ctx context.Context) (settings.Kubernetes, error) {
	s := k.settings
	if s.Context == "" {
		out, err := k.run(ctx, "config", "current-context")
		if f, ok := errors.AsType[*failure](err); ok && strings.Contains(f.said, "current-context is not set") {
			return s, nil
		} else if err != nil {
			return s, final(err)
		}
		s.Context = strings.TrimSpace(string(out))
		if err := settings.CheckContext(s.Context); err != nil {
			return s, err
		}
	}
	if s.Namespace == "" {
		named := &Kubernetes{k.tool, s}
		out, err := named.run(ctx, "config", "view", "--minify", "--output=jsonpath={.contexts[0].context.namespace}")
		if err != nil {
			return s, final(err)
		}
		s.Namespace = cmp.Or(strings.TrimSpace(string(out)), "default")
		if err := settings.CheckNamespace(s.Namespace); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Print returns a manifest as YAML.
func Print(job *api.Job) ([]byte, error) { return api.YAML(job) }

// Submit implements cluster.Backend.
func (k *Kubernetes) Submit(ctx context.Context, r *cluster.Round) (string, error) {
	want, err := Manifest(r)
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	text, err := Print(want)
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	name, err := r.WriteScript("yaml", string(text))
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	// An unknown field in a strict check would need the schema; the check below finds it without one.
	out, err := k.run(ctx, "create", "--filename="+name, "--validate=ignore", "--output=json")
	if f, ok := errors.AsType[*failure](err); ok && f.is("AlreadyExists") { // an earlier call created it, but its answer was lost
		return handle(r), nil
	} else if err != nil {
		return "", final(err)
	}
	var got api.Job
	if err := json.Unmarshal(out, &got); err != nil || got.Metadata.Name != r.Name {
		return "", fmt.Errorf("kubectl create: found no Job %s in its answer", r.Name)
	}
	// A cluster drops fields that it does not know.
	if got.Spec.BackoffLimitPerIndex == nil || got.Spec.PodFailurePolicy == nil {
		err := k.Cancel(ctx, []*cluster.Round{r})
		return "", &cluster.Refused{Msg: cmp.Or(err, errors.New("this cluster has no backoffLimitPerIndex, want Kubernetes 1.29 or later")).Error()}
	}
	return handle(r), nil
}

func handle(r *cluster.Round) string { return "job/" + r.Name }

// Find implements cluster.Backend.
func (k *Kubernetes) Find(ctx context.Context, r *cluster.Round) (string, error) {
	out, err := k.run(ctx, "get", "jobs.v1.batch", r.Name, "--ignore-not-found", "--output=name")
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return "", final(err)
	}
	return handle(r), nil
}

// Live implements cluster.Backend. A task is live if its Job still has to complete its index, or one of its pods has not ended.
func (k *Kubernetes) Live(ctx context.Context, rounds []*cluster.Round) (cluster.Live, error) {
	l := look{now: time.Now(), rounds: make(map[string]*cluster.Round), open: make(map[cluster.TaskID]bool), pods: make(map[cluster.TaskID][]*api.Pod)}
	if len(rounds) == 0 {
		return l.live(), nil
	}
	for _, r := range rounds {
		l.rounds[r.Name] = r
	}
	selector := "--selector=" + allLabel + "=" + all(rounds[0])
	// List pods before Jobs: if a pod ends in between, the Job says so.
	var pods api.PodList
	if err := k.list(ctx, &pods, "pods", selector, "--field-selector=status.phase!=Succeeded"); err != nil {
		return cluster.Live{}, err
	}
	l.addPods(pods.Items)
	var jobs api.JobList
	if err := k.list(ctx, &jobs, "jobs.v1.batch", selector); err != nil {
		return cluster.Live{}, err
	}
	for i := range jobs.Items {
		if err := l.addJob(&jobs.Items[i]); err != nil {
			return cluster.Live{}, err
		}
	}
	return l.live(), nil
}

// list reads a list of objects.
func (k *Kubernetes) list(ctx context.Context, to any, kind string, args ...string) error {
	out, err := k.run(ctx, append([]string{"get", kind, "--output=json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, to); err != nil {
		return fmt.Errorf("kubectl get %s: %w", kind, err)
	}
	return nil
}

// Cancel implements cluster.Backend.
func (k *Kubernetes) Cancel(ctx context.Context, rounds []*cluster.Round) error {
	for some := range slices.Chunk(rounds, 100) {
		args := []string{"delete", "jobs.v1.batch", "--ignore-not-found", "--wait=false"}
		for _, r := range some {
			args = append(args, r.Name)
		}
		if _, err := k.run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// look collects the state of rounds on the cluster.
type look struct {
	now     time.Time
	rounds  map[string]*cluster.Round // by name
	open    map[cluster.TaskID]bool   // tasks that their Job still has to complete
	pods    map[cluster.TaskID][]*api.Pod
	waiting []string // why Jobs do
}

// addPods adds the pods of tasks.
func (l *look) addPods(pods []api.Pod) {
	for i := range pods {
		p := &pods[i]
		r := l.rounds[p.Metadata.Labels[roundLabel]]
		index, err := strconv.Atoi(cmp.Or(p.Metadata.Labels[completionIndex], p.Metadata.Annotations[completionIndex]))
		if r == nil || err != nil || index < 0 || index >= len(r.Tasks) {
			continue // a pod of another program
		}
		id := cluster.TaskID{Round: r.Number, Task: index + 1}
		l.pods[id] = append(l.pods[id], p)
	}
}

// addJob adds the tasks that a Job still has to complete.
func (l *look) addJob(job *api.Job) error {
	r := l.rounds[job.Metadata.Name]
	if r == nil || job.Metadata.DeletionTimestamp != nil {
		return nil
	}
	for _, c := range job.Status.Conditions {
		if c.Status != api.True {
			continue
		}
		switch c.Type {
		case api.JobComplete, api.JobFailed:
			return nil
		case api.JobSuspended:
			l.waiting = append(l.waiting, cmp.Or(c.Message, "suspended"))
		}
	}
	ended := make(map[int]bool)
	for _, list := range []string{job.Status.CompletedIndexes, job.Status.FailedIndexes} {
		if err := indexes(list, len(r.Tasks), func(i int) { ended[i] = true }); err != nil {
			return fmt.Errorf("kubectl get jobs: %s: %w", job.Metadata.Name, err)
		}
	}
	for i := range r.Tasks {
		if !ended[i] {
			l.open[cluster.TaskID{Round: r.Number, Task: i + 1}] = true
		}
	}
	return nil
}

// indexes parses a list of indices below n, for example 1,3-5, and calls each with them.
func indexes(list string, n int, each func(int)) error {
	if list == "" {
		return nil
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= n {
			return fmt.Errorf("found the indices %.40q, want numbers below %d", part, n)
		}
		for i := from; i <= to; i++ {
			each(i)
		}
	}
	return nil
}

// live combines the states of Jobs and pods.
func (l *look) live() cluster.Live {
	live := cluster.Live{Tasks: make(map[cluster.TaskID]bool), Ended: make(map[cluster.TaskID]string)}
	waits := func(id cluster.TaskID) {
		if !live.Tasks[id] { // another pod of the task may run
			live.Tasks[id] = false
		}
	}
	var waiting []string
	for id, pods := range l.pods {
		// If no pod runs, the last one decides.
		slices.SortFunc(pods, func(a, b *api.Pod) int {
			return cmp.Or(a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
		})
		lost := false
		for _, p := range pods {
			switch {
			case p.Status.Phase != api.PodPending && p.Status.Phase != api.PodRunning:
				live.Ended[id] = ending(p)
			case p.Metadata.DeletionTimestamp != nil && l.now.Sub(*p.Metadata.DeletionTimestamp) > overdue:
				lost = true
				live.Ended[id] = "its node, " + cmp.Or(p.Spec.NodeName, "if any") + ", does not answer"
			case p.Status.Phase == api.PodRunning:
				live.Tasks[id] = true
			default:
				waits(id)
				if why := pending(p); why != "" {
					waiting = append(waiting, why)
				}
			}
		}
		if lost { // Kubernetes does not replace the pod
			delete(l.open, id)
		}
	}
	for id := range l.open {
		waits(id)
	}
	for id := range live.Tasks {
		delete(live.Ended, id)
	}
	slices.Sort(waiting)
	if all := slices.Concat(waiting, l.waiting); len(all) > 0 {
		live.Waiting = all[0]
	}
	return live
}

// pending returns why a pod does not run yet, empty if it is just starting.
func pending(p *api.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return sentence(w.Reason, w.Message)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == api.PodScheduled && c.Status == api.False {
			return sentence(c.Reason, c.Message)
		}
	}
	return ""
}

// ending returns why a pod failed.
func ending(p *api.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == api.DisruptionTarget && c.Status == api.True {
			return sentence(c.Reason, c.Message)
		}
	}
	if p.Status.Reason != "" { // Evicted, DeadlineExceeded
		return sentence(p.Status.Reason, p.Status.Message)
	}
	for _, c := range p.Status.ContainerStatuses {
		t := c.State.Terminated
		switch {
		case t == nil:
		case t.Reason == "Error" || t.Reason == "":
			return sentence(fmt.Sprintf("exit code %d", t.ExitCode), t.Message)
		default: // OOMKilled, StartError
			return sentence(t.Reason, t.Message)
		}
	}
	return ""
}

// sentence joins a reason and the last line of a message.
func sentence(reason, message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		reason += ": " + last
	}
	if len(reason) > maxSaid {
		reason = strings.ToValidUTF8(reason[:maxSaid], "") + "…"
	}
	return reason
}
