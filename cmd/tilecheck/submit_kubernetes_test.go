//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tilecheck/cluster/kubernetes/kubetest"
	"tilecheck/internal/needs"
)

// A driver is killed, its pods go on, and another one prints what one process
// prints. Pods are processes here that run the command of the manifest.
func TestSubmitKubernetes(t *testing.T) {
	dir := t.TempDir()
	c := kubetest.New(t)
	hold, release := context.WithCancel(t.Context())
	defer release()
	c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
		select {
		case <-hold.Done():
		case <-ctx.Done():
			return kubetest.Outcome{Code: 143}
		}
		words := pod.Spec.Containers[0].Command
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "$$", "$")
		}
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		var log bytes.Buffer
		cmd.Stderr = &log
		cmd.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(index), "TILECHECK_TASK_NODE=node one", "TILECHECK_TASK_FAILURES=")
		_ = cmd.Run() // the exit code says it
		return kubetest.Outcome{Code: cmd.ProcessState.ExitCode(), Message: log.String()}
	}
	env := c.ServeDouble(t)
	start := func(words ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
		cmd, stdout, stderr = exec.Command(ownProgram(t), words...), new(bytes.Buffer), new(bytes.Buffer)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, stdout, stderr, append(os.Environ(), env, "TILECHECK_KUBECTL=kubectl-double")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stdout, stderr
	}
	words := []string{"check", "die $(x).prism", "--prop", "P>0.9 [ F d=6 ]", "--method", "sprt", "--seed", "1", "--format", "csv"}
	if err := os.WriteFile(filepath.Join(dir, words[1]), []byte(die), 0o666); err != nil {
		t.Fatal(err)
	}
	alone, want, _ := start(words...)
	if _ = alone.Wait(); alone.ProcessState.ExitCode() != 2 { // the chance is 1/6
		t.Fatalf("exit code %d\n%s", alone.ProcessState.ExitCode(), want)
	}
	job := filepath.Join(dir, "$(HOME)")
	submit := append([]string{"submit", "kubernetes", "--dir", job, "--image", "tilecheck", "--claim", "shared", "--run-as", "1000:1000", "--shards", "2", "--"}, words...)
	killed, _, stderr := start(submit...)
	for end := time.Now().Add(time.Minute); c.Started() < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no pods after a minute\n%s", stderr)
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	release()
	attached, stdout, stderr := start("submit", "attach", job)
	_ = attached.Wait()
	if got := untimed(stdout.String()); attached.ProcessState.ExitCode() != 2 || got != untimed(want.String()) {
		t.Errorf("exit code %d, want 2, and\n%s\nwant\n%s\n%s", attached.ProcessState.ExitCode(), got, want, stderr)
	}
	if len(c.Jobs()) != 1 {
		t.Errorf("Jobs %v, want one", c.Jobs())
	}
	// A shard is finished when its results are there; its pod writes the record of the run after that.
	record, err := os.ReadFile(filepath.Join(job, "runs", "1-1"))
	for end := time.Now().Add(time.Minute); errors.Is(err, fs.ErrNotExist) && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		record, err = os.ReadFile(filepath.Join(job, "runs", "1-1"))
	}
	if err != nil || !strings.HasPrefix(string(record), "0 ") || !strings.HasSuffix(string(record), " node-one 0\n") {
		t.Errorf("the record is %q, %v", record, err)
	}
}

// The containers of a manifest, run by Docker with all that Docker and Kubernetes have
// in common, do their shards in the image of ci/Dockerfile: not as root, without
// capabilities, on a file system that is read only. No kubelet is in it.
func TestSubmitKubernetesContainers(t *testing.T) {
	if !needs.Asked(t, needs.Docker) {
		needs.Have(t, needs.Docker, errors.New("builds an image: set TILECHECK_REQUIRE=docker"))
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
	}
	image := "local/tilecheck-kubetest:" + strconv.Itoa(os.Getpid())
	dir := t.TempDir()
	program := filepath.Join(dir, "tilecheck")
	run("../../packaging/build-image", image)
	t.Cleanup(func() { run("docker", "image", "rm", image) })
	run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "tilecheck/cmd/tilecheck")

	c := kubetest.New(t)
	c.Run = func(ctx context.Context, pod *corev1.Pod, index int) kubetest.Outcome {
		container, user := pod.Spec.Containers[0], pod.Spec.SecurityContext
		args := []string{
			"run", "--rm", "--network=none", "--read-only=" + strconv.FormatBool(*container.SecurityContext.ReadOnlyRootFilesystem), "--security-opt=no-new-privileges",
			fmt.Sprintf("--user=%d:%d", *user.RunAsUser, *user.RunAsGroup), "--memory=" + strconv.FormatInt(container.Resources.Limits.Memory().Value(), 10),
			"--env=JOB_COMPLETION_INDEX=" + strconv.Itoa(index), "--entrypoint=" + container.Command[0],
		}
		for _, cap := range container.SecurityContext.Capabilities.Drop {
			args = append(args, "--cap-drop="+string(cap))
		}
		for _, e := range container.Env {
			if e.ValueFrom == nil {
				args = append(args, "--env="+e.Name+"="+e.Value)
			}
		}
		for _, m := range container.VolumeMounts {
			if m.Name == "scratch" {
				args = append(args, "--tmpfs="+m.MountPath+":mode=1777")
			} else {
				args = append(args, "--volume="+filepath.Join(dir, m.SubPath)+":"+m.MountPath) // dir is the root of the claim
			}
		}
		cmd := exec.CommandContext(ctx, "docker", slices.Concat(args, []string{container.Image}, container.Command[1:])...)
		var log bytes.Buffer
		cmd.Stderr = &log
		_ = cmd.Run()
		return kubetest.Outcome{Code: cmd.ProcessState.ExitCode(), Message: log.String()}
	}
	words := []string{"compare", "random", "opposite", "--size", "2", "--max", "8,16", "--samples", "2000", "--seed", "4"}
	alone, err := exec.Command(program, words...).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Pods write what others may: the user is not the one of the test, who may be root.
	submit := []string{
		"-c", `umask 0; exec "$@"`, "sh", program, "submit", "kubernetes", "--mount", dir, "--dir", filepath.Join(dir, "jobs", "one"), "--image", image, "--claim", "shared",
		"--run-as", "65534:65534", "--shards", "4", "--tasks", "2", "--",
	}
	cmd := exec.Command("sh", append(submit, words...)...)
	cmd.Env = append(os.Environ(), c.ServeDouble(t), "TILECHECK_KUBECTL=kubectl-double")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if got, err := cmd.Output(); err != nil || !bytes.Equal(got, alone) {
		t.Errorf("%v, found\n%s\nwant\n%s\n%s", err, got, alone, &stderr)
	}
}
