// Package slurmtest brings up a real Slurm for tests: a controller with
// accounting and three nodes of two processors, each a container, with one
// directory that all of them and this machine share. It needs Docker, no
// privileges, and the image that image.sh makes. Limits of cgroups are not
// exercised: there are none.
package slurmtest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

// Image is the name of the image.
const Image = "local/slurm:bookworm"

// Nodes is how many nodes there are: n1, n2, …
const Nodes = 3

//go:embed slurm.conf slurmdbd.conf node.sh
var files embed.FS

// Cluster is a Slurm that is up.
type Cluster struct {
	Shared string // the directory, under the same name everywhere
	name   string
	tb     testing.TB
}

// Start returns a Slurm whose nodes are idle. It is gone when the test is.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	if !needs.Asked(tb, needs.Slurm) {
		needs.Have(tb, needs.Slurm, errors.New("takes minutes: set TILECHECK_REQUIRE=slurm"))
	}
	if _, err := exec.LookPath("docker"); err != nil {
		needs.Have(tb, needs.Slurm, err)
	}
	if out, err := exec.Command("docker", "image", "inspect", "--format", "{{.Id}}", Image).CombinedOutput(); err != nil {
		needs.Have(tb, needs.Slurm, fmt.Errorf("there is no image %s, which cluster/slurm/slurmtest/image.sh makes: %s", Image, strings.TrimSpace(string(out))))
	}
	config := tb.TempDir()
	if err := os.CopyFS(config, files); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(config, "node.sh"), 0o755); err != nil {
		tb.Fatal(err)
	}
	shared, err := os.MkdirTemp("", "tilecheck-slurmtest-")
	if err != nil {
		tb.Fatal(err)
	}
	c := &Cluster{Shared: shared, name: filepath.Base(shared), tb: tb}
	tb.Cleanup(c.remove)
	c.docker("network", "create", "--internal", "--label", "tilecheck=slurmtest", c.name)
	for _, host := range c.hosts() {
		role := "node"
		if host == "ctl" {
			role = "ctl"
		}
		args := []string{"run", "-d", "--rm", "--init", "--label", "tilecheck=slurmtest", "--network", c.name, "--name", c.container(host), "--hostname", host, "--network-alias", host}
		for _, mount := range []string{"slurm.conf:/etc/slurm/slurm.conf:ro", "slurmdbd.conf:/slurmdbd.conf:ro", "node.sh:/node.sh:ro"} {
			args = append(args, "-v", config+"/"+mount)
		}
		c.docker(append(args, "-v", shared+":"+shared, Image, "/node.sh", role)...)
	}
	c.wait("nodes are not idle", func() bool {
		out, err := c.Run("sinfo", "-h", "-N", "-o", "%t")
		return err == nil && strings.Count(out, "idle\n") == Nodes
	})
	return c
}

func (c *Cluster) hosts() []string {
	hosts := []string{"ctl"}
	for i := range Nodes {
		hosts = append(hosts, fmt.Sprintf("n%d", i+1))
	}
	return hosts
}

func (c *Cluster) container(host string) string { return c.name + "-" + host }

// Prefix is what to write before a command of Slurm.
func (c *Cluster) Prefix() string { return "docker exec " + c.container("ctl") }

// Run runs a command on the controller.
func (c *Cluster) Run(words ...string) (string, error) {
	out, err := exec.Command("docker", append([]string{"exec", c.container("ctl")}, words...)...).CombinedOutput()
	return string(out), err
}

// Kill ends a node as if its power failed.
func (c *Cluster) Kill(node string) { c.docker("kill", c.container(node)) }

// RestartController ends the controller, its accounting and its database as if
// their power failed, and returns when they are there again.
func (c *Cluster) RestartController() {
	c.tb.Helper()
	c.docker("restart", "-t", "0", c.container("ctl"))
	c.wait("the controller is not back", func() bool {
		_, err := c.Run("squeue")
		return err == nil
	})
}

func (c *Cluster) docker(args ...string) {
	c.tb.Helper()
	if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		c.tb.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (c *Cluster) wait(what string, is func() bool) {
	c.tb.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := exec.Command("docker", "logs", c.container("ctl")).CombinedOutput()
			c.tb.Fatalf("%s after two minutes\n%s", what, logs)
		}
	}
}

// remove removes everything; what tasks wrote belongs to root.
func (c *Cluster) remove() {
	_, err := c.Run("sh", "-c", "rm -rf "+c.Shared+"/*")
	args := []string{"rm", "-f"}
	for _, host := range c.hosts() {
		args = append(args, c.container(host))
	}
	_ = exec.Command("docker", args...).Run() // those that were killed are gone
	err = errors.Join(err, exec.Command("docker", "network", "rm", c.name).Run(), os.RemoveAll(c.Shared))
	if err != nil && !c.tb.Failed() {
		c.tb.Error(err)
	}
}
