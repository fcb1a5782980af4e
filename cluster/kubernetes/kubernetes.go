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
	// maxMessage is the largest length of a message of kubectl that is shown, in bytes.
	maxMessage = 400
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

// Limits implements cluster.Backend. Callers call it first, so it also checks that the cluster answers and that the user may create Jobs.
func (k *Kubernetes) Limits(ctx context.Context) (int, error) {
	_, err := k.run(ctx, "auth", "can-i", "create", "jobs.batch")
	if f, ok := errors.AsType[*failure](err); ok && f.message == "" { // kubectl has printed "no"
		return 0, fmt.Errorf("no leave to create Jobs in the namespace %s", cmp.Or(k.settings.Namespace, "of kubectl"))
	}
	return maxTasks, err
}

// failure is an error message of kubectl.
type failure struct {
	message string
	code    int // the exit code of kubectl
}

func (f *failure) Error() string {
	if f.message == "" {
		return fmt.Sprintf("kubectl: exit code %d", f.code)
	}
	return "kubectl: " + f.message
}

// hasReason reports whether the API server gave this reason, for example "AlreadyExists".
func (f *failure) hasReason(reason string) bool {
	return strings.HasPrefix(f.message, "Error from server ("+reason+"):")
}

// isTemporary reports whether the same call may succeed later, because the server or the network did not work.
func (f *failure) isTemporary() bool {
	for _, reason := range []string{"InternalError", "ServiceUnavailable", "TooManyRequests", "Timeout", "ServerTimeout", "Conflict", "Expired"} {
		if f.hasReason(reason) {
			return true
		}
	}
	if strings.Contains(f.message, "x509: ") { // a certificate is wrong
		return false
	}
	for _, words := range []string{
		"The connection to the server", "Unable to connect to the server", "couldn't get current server API group list",
		"connection refused", "connection reset", "i/o timeout", "context deadline exceeded", "TLS handshake timeout", "unexpected EOF", "http2: ",
		"the server is currently unable to handle the request", "the server was unable to return a response in the time allotted",
		"etcdserver", "currently shutting down", "client rate limiter", "Too many requests", "an error on the server",
	} {
		if strings.Contains(f.message, words) {
			return true
		}
	}
	return false
}

// run runs kubectl with arguments, for the context and namespace in the settings, and returns its standard output. If kubectl exits with an error,
// the error is a *failure, or a *cluster.Refused if the context does not exist.
func (k *Kubernetes) run(ctx context.Context, args ...string) ([]byte, error) {
	tool, firstArgs, err := k.tool()
	if err != nil {
		return nil, &cluster.Refused{Msg: err.Error()}
	}
	allArgs := append(slices.Clone(firstArgs), "--request-timeout=60s")
	if k.settings.Context != "" {
		allArgs = append(allArgs, "--context="+k.settings.Context)
	}
	if k.settings.Namespace != "" {
		allArgs = append(allArgs, "--namespace="+k.settings.Namespace)
	}
	reply, err := cluster.Call(ctx, "kubectl", tool, maxOutput, append(allArgs, args...)...)
	if err != nil {
		return nil, err
	}
	if reply.Code == 0 {
		return reply.Stdout, nil
	}
	failure := &failure{messageIn(string(reply.Stderr)), reply.Code}
	if strings.HasPrefix(failure.message, "Error in configuration") { // the context does not exist
		return nil, &cluster.Refused{Msg: failure.Error()}
	}
	return nil, failure
}

// logLine matches the log lines that kubectl's libraries print before the message.
var logLine = regexp.MustCompile(`^([IWE]\d{4} |Warning: )`)

// messageIn returns the message in the standard error of kubectl, without log lines, as one line of at most maxMessage bytes.
func messageIn(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !logLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, " ")
	return printable.Line(strings.TrimPrefix(shortened(text), "error: "))
}

// shortened returns a text of at most maxMessage bytes; an ellipsis shows that it is not complete.
func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

// asRefusal converts a *failure that is not temporary to a *cluster.Refused, so that the caller does not try again. It returns other errors
// unchanged.
func asRefusal(err error) error {
	if f, ok := errors.AsType[*failure](err); ok && !f.isTemporary() {
		return &cluster.Refused{Msg: f.Error()}
	}
	return err
}

// Resolve returns the settings with the context and the namespace that kubectl uses now. With them, a later change of the current context has no
// effect. In a pod there is no current context, and both remain as they are.
func (k *Kubernetes) Resolve(ctx context.Context) (settings.Kubernetes, error) {
	resolved := k.settings
	if resolved.Context == "" {
		output, err := k.run(ctx, "config", "current-context")
		if failure, ok := errors.AsType[*failure](err); ok && strings.Contains(failure.message, "current-context is not set") {
			return resolved, nil
		} else if err != nil {
			return resolved, asRefusal(err)
		}
		resolved.Context = strings.TrimSpace(string(output))
		if err := settings.CheckContext(resolved.Context); err != nil {
			return resolved, err
		}
	}
	if resolved.Namespace == "" {
		withContext := &Kubernetes{k.tool, resolved}
		output, err := withContext.run(ctx, "config", "view", "--minify", "--output=jsonpath={.contexts[0].context.namespace}")
		if err != nil {
			return resolved, asRefusal(err)
		}
		resolved.Namespace = cmp.Or(strings.TrimSpace(string(output)), "default")
		if err := settings.CheckNamespace(resolved.Namespace); err != nil {
			return resolved, err
		}
	}
	return resolved, nil
}

// Print returns a manifest as YAML.
func Print(job *api.Job) ([]byte, error) { return api.YAML(job) }

// Submit implements cluster.Backend. It creates the Job of the round, and returns "job/NAME". It refuses a cluster that drops fields of the Job
// which the round needs.
func (k *Kubernetes) Submit(ctx context.Context, round *cluster.Round) (string, error) {
	name, err := writeManifest(round)
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	// Without --validate=ignore, kubectl would read the schema of the cluster. The check below needs no schema.
	output, err := k.run(ctx, "create", "--filename="+name, "--validate=ignore", "--output=json")
	if failure, ok := errors.AsType[*failure](err); ok && failure.hasReason("AlreadyExists") { // an earlier call created it, but its answer was lost
		return handle(round), nil
	} else if err != nil {
		return "", asRefusal(err)
	}
	var created api.Job
	if err := json.Unmarshal(output, &created); err != nil || created.Metadata.Name != round.Name {
		return "", fmt.Errorf("kubectl create: found no Job %s in its answer", round.Name)
	}
	// A cluster drops fields that it does not know.
	if created.Spec.BackoffLimitPerIndex == nil || created.Spec.PodFailurePolicy == nil {
		err := k.Cancel(ctx, []*cluster.Round{round})
		return "", &cluster.Refused{Msg: cmp.Or(err, errors.New("this cluster has no backoffLimitPerIndex, want Kubernetes 1.29 or later")).Error()}
	}
	return handle(round), nil
}

// writeManifest writes the manifest of a round into the directory of the job, and returns the name of the file.
func writeManifest(round *cluster.Round) (name string, err error) {
	job, err := Manifest(round)
	if err != nil {
		return "", err
	}
	text, err := Print(job)
	if err != nil {
		return "", err
	}
	return round.WriteScript("yaml", string(text))
}

func handle(r *cluster.Round) string { return "job/" + r.Name }

// Find implements cluster.Backend. It returns "" if the cluster has no Job of the round.
func (k *Kubernetes) Find(ctx context.Context, r *cluster.Round) (string, error) {
	out, err := k.run(ctx, "get", "jobs.v1.batch", r.Name, "--ignore-not-found", "--output=name")
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return "", asRefusal(err)
	}
	return handle(r), nil
}

// Live implements cluster.Backend. A task is live if its Job still has to complete its index, or one of its pods has not ended.
func (k *Kubernetes) Live(ctx context.Context, rounds []*cluster.Round) (cluster.Live, error) {
	snapshot := newSnapshot(rounds)
	if len(rounds) == 0 {
		return snapshot.taskStates(), nil
	}
	selector := "--selector=" + jobLabel + "=" + jobName(rounds[0])
	// List pods before Jobs: if a pod ends in between, the Job says so.
	var pods api.PodList
	if err := k.list(ctx, &pods, "pods", selector, "--field-selector=status.phase!=Succeeded"); err != nil {
		return cluster.Live{}, err
	}
	snapshot.addPods(pods.Items)
	var jobs api.JobList
	if err := k.list(ctx, &jobs, "jobs.v1.batch", selector); err != nil {
		return cluster.Live{}, err
	}
	for i := range jobs.Items {
		if err := snapshot.addJob(&jobs.Items[i]); err != nil {
			return cluster.Live{}, err
		}
	}
	return snapshot.taskStates(), nil
}

// list reads the objects of a kind, such as pods, into list, which is a pointer to a list type of package api. args are arguments of kubectl get.
func (k *Kubernetes) list(ctx context.Context, list any, kind string, args ...string) error {
	output, err := k.run(ctx, append([]string{"get", kind, "--output=json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(output, list); err != nil {
		return fmt.Errorf("kubectl get %s: %w", kind, err)
	}
	return nil
}

// Cancel implements cluster.Backend.
func (k *Kubernetes) Cancel(ctx context.Context, rounds []*cluster.Round) error {
	const maxNames = 100 // in one call of kubectl
	for chunk := range slices.Chunk(rounds, maxNames) {
		args := []string{"delete", "jobs.v1.batch", "--ignore-not-found", "--wait=false"}
		for _, round := range chunk {
			args = append(args, round.Name)
		}
		if _, err := k.run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// snapshot is the state of rounds on the cluster at one time.
type snapshot struct {
	now          time.Time
	rounds       map[string]*cluster.Round // by name
	open         map[cluster.TaskID]bool   // the tasks that their Job still has to complete
	pods         map[cluster.TaskID][]*api.Pod
	waitingTasks []string // the reasons why pods do not start
	waitingJobs  []string // the reasons why Jobs do not start
}

func newSnapshot(rounds []*cluster.Round) *snapshot {
	snapshot := &snapshot{
		now: time.Now(), rounds: make(map[string]*cluster.Round),
		open: make(map[cluster.TaskID]bool), pods: make(map[cluster.TaskID][]*api.Pod),
	}
	for _, round := range rounds {
		snapshot.rounds[round.Name] = round
	}
	return snapshot
}

// addPods adds the pods that belong to tasks of the rounds.
func (s *snapshot) addPods(pods []api.Pod) {
	for i := range pods {
		pod := &pods[i]
		round := s.rounds[pod.Metadata.Labels[roundLabel]]
		index, err := strconv.Atoi(cmp.Or(pod.Metadata.Labels[completionIndex], pod.Metadata.Annotations[completionIndex]))
		if round == nil || err != nil || index < 0 || index >= len(round.Tasks) {
			continue // a pod of another program
		}
		id := cluster.TaskID{Round: round.Number, Task: index + 1}
		s.pods[id] = append(s.pods[id], pod)
	}
}

// addJob adds the tasks that a Job still has to complete: none if the Job has ended or is being deleted.
func (s *snapshot) addJob(job *api.Job) error {
	round := s.rounds[job.Metadata.Name]
	if round == nil || job.Metadata.DeletionTimestamp != nil {
		return nil
	}
	for _, condition := range job.Status.Conditions {
		if condition.Status != api.True {
			continue
		}
		switch condition.Type {
		case api.JobComplete, api.JobFailed:
			return nil
		case api.JobSuspended:
			s.waitingJobs = append(s.waitingJobs, cmp.Or(condition.Message, "suspended"))
		}
	}
	hasEnded := make([]bool, len(round.Tasks))
	for _, list := range []string{job.Status.CompletedIndexes, job.Status.FailedIndexes} {
		if err := markIndexes(hasEnded, list); err != nil {
			return fmt.Errorf("kubectl get jobs: %s: %w", job.Metadata.Name, err)
		}
	}
	for i, isEnded := range hasEnded {
		if !isEnded {
			s.open[cluster.TaskID{Round: round.Number, Task: i + 1}] = true
		}
	}
	return nil
}

// markIndexes sets the elements of marked whose indices are in a list such as 1,3-5.
func markIndexes(marked []bool, list string) error {
	if list == "" {
		return nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		firstText, lastText, isRange := strings.Cut(entry, "-")
		if !isRange {
			lastText = firstText
		}
		first, err := strconv.Atoi(firstText)
		last, lastErr := strconv.Atoi(lastText)
		isValid := err == nil && lastErr == nil && 0 <= first && first <= last && last < len(marked)
		if !isValid {
			return fmt.Errorf("found the indices %.40q, want numbers below %d", entry, len(marked))
		}
		for i := first; i <= last; i++ {
			marked[i] = true
		}
	}
	return nil
}

// taskStates returns the states of the tasks, which follow from the states of the Jobs and pods.
func (s *snapshot) taskStates() cluster.Live {
	live := cluster.Live{Tasks: make(map[cluster.TaskID]bool), Ended: make(map[cluster.TaskID]string)}
	for id, pods := range s.pods {
		s.addTask(&live, id, pods)
	}
	for id := range s.open {
		addWaiting(&live, id)
	}
	for id := range live.Tasks {
		delete(live.Ended, id)
	}
	slices.Sort(s.waitingTasks) // the order of the pods is that of a map
	if reasons := slices.Concat(s.waitingTasks, s.waitingJobs); len(reasons) > 0 {
		live.Waiting = reasons[0]
	}
	return live
}

// addTask adds the state of a task with these pods. If all of them have ended, the newest pod says why.
func (s *snapshot) addTask(live *cluster.Live, id cluster.TaskID, pods []*api.Pod) {
	slices.SortFunc(pods, func(left, right *api.Pod) int {
		return cmp.Or(left.Metadata.CreationTimestamp.Compare(right.Metadata.CreationTimestamp), cmp.Compare(left.Metadata.Name, right.Metadata.Name))
	})
	for _, pod := range pods {
		switch {
		case pod.Status.Phase != api.PodPending && pod.Status.Phase != api.PodRunning:
			live.Ended[id] = ending(pod)
		case pod.Metadata.DeletionTimestamp != nil && s.now.Sub(*pod.Metadata.DeletionTimestamp) > overdue:
			live.Ended[id] = "its node, " + cmp.Or(pod.Spec.NodeName, "if any") + ", does not answer"
			delete(s.open, id) // Kubernetes does not replace the pod
		case pod.Status.Phase == api.PodRunning:
			live.Tasks[id] = true
		default:
			addWaiting(live, id)
			if reason := pending(pod); reason != "" {
				s.waitingTasks = append(s.waitingTasks, reason)
			}
		}
	}
}

// addWaiting adds a task that waits, unless another pod of the task runs.
func addWaiting(live *cluster.Live, id cluster.TaskID) {
	if !live.Tasks[id] {
		live.Tasks[id] = false
	}
}

// pending returns the reason why a pod does not run yet; "" if it is just starting.
func pending(pod *api.Pod) string {
	for _, condition := range pod.Status.ContainerStatuses {
		waiting := condition.State.Waiting
		isStarting := waiting == nil || waiting.Reason == "ContainerCreating" || waiting.Reason == "PodInitializing"
		if !isStarting {
			return sentence(waiting.Reason, waiting.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == api.PodScheduled && condition.Status == api.False {
			return sentence(condition.Reason, condition.Message)
		}
	}
	return ""
}

// ending returns the reason why a pod ended; "" if Kubernetes gives none.
func ending(pod *api.Pod) string {
	for _, status := range pod.Status.Conditions {
		if status.Type == api.DisruptionTarget && status.Status == api.True {
			return sentence(status.Reason, status.Message)
		}
	}
	if pod.Status.Reason != "" { // Evicted, DeadlineExceeded
		return sentence(pod.Status.Reason, pod.Status.Message)
	}
	for _, status := range pod.Status.ContainerStatuses {
		terminated := status.State.Terminated
		if terminated == nil {
			continue
		}
		reason := terminated.Reason // such as OOMKilled or StartError
		if reason == "Error" || reason == "" {
			reason = fmt.Sprintf("exit code %d", terminated.ExitCode)
		}
		return sentence(reason, terminated.Message)
	}
	return ""
}

// sentence joins a reason and the last line of a message.
func sentence(reason, message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		reason += ": " + last
	}
	return shortened(reason)
}
