// Package settings has what people may ask of a cluster, by flags or by the block
// "cluster" of tilecheck.yaml. The values end in a batch script or in the manifest
// of a Job, and the file may come with a pull request: nothing that could begin
// another line, be read by a shell, or that the API would refuse, is a value.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Settings are the requested resources; zero is the cluster's own default.
type Settings struct {
	Partition string   `json:"partition,omitzero"`
	Account   string   `json:"account,omitzero"`
	Time      string   `json:"time,omitzero"`   // of a task, as Slurm writes it
	Memory    int64    `json:"memory,omitzero"` // of a task, in bytes
	CPUs      int      `json:"cpus,omitzero"`   // of a task
	Sbatch    []string `json:"sbatch,omitzero"` // more options of sbatch: --qos=short
	Shards    int      `json:"shards,omitzero"` // into which the work is split
	Tasks     int      `json:"tasks,omitzero"`  // at a time, at most

	Kubernetes Kubernetes `json:"kubernetes,omitzero"`
}

// The limits of the numbers: more shards than that make no run faster.
const (
	MaxShards = 100_000
	MaxCPUs   = 1024
	maxText   = 256
	maxSbatch = 64
)

// Over returns the settings of s and, where s has none, those of defaults. It joins the options of sbatch.
func (s Settings) Over(defaults Settings) Settings {
	return Settings{
		Partition: cmp.Or(s.Partition, defaults.Partition),
		Account:   cmp.Or(s.Account, defaults.Account),
		Time:      cmp.Or(s.Time, defaults.Time),
		Memory:    cmp.Or(s.Memory, defaults.Memory),
		CPUs:      cmp.Or(s.CPUs, defaults.CPUs),
		Sbatch:    slices.Concat(defaults.Sbatch, s.Sbatch),
		Shards:    cmp.Or(s.Shards, defaults.Shards),
		Tasks:     cmp.Or(s.Tasks, defaults.Tasks),

		Kubernetes: s.Kubernetes.over(defaults.Kubernetes),
	}
}

// Check returns an error if a setting is invalid.
func (s Settings) Check() error {
	err := cmp.Or(
		optional(s.Partition, CheckName),
		optional(s.Account, CheckName),
		optional(s.Time, CheckTime),
		within("memory", s.Memory, 1<<60),
		within("cpus", int64(s.CPUs), MaxCPUs),
		within("shards", int64(s.Shards), MaxShards),
		within("tasks", int64(s.Tasks), MaxShards),
		s.Kubernetes.check(),
	)
	if err == nil && len(s.Sbatch) > maxSbatch {
		err = fmt.Errorf("found %d options of sbatch, want at most %d", len(s.Sbatch), maxSbatch)
	}
	for _, option := range s.Sbatch {
		err = cmp.Or(err, CheckSbatch(option))
	}
	return err
}

func optional(s string, check func(string) error) error {
	if s == "" {
		return nil
	}
	return check(s)
}

func within(what string, n, most int64) error {
	if n < 0 || n > most {
		return fmt.Errorf("found %s %d, want 1 to %d", what, n, most)
	}
	return nil
}

// CheckName checks the name of a partition or an account, or a list of them.
func CheckName(s string) error { return matches(s, namePattern, "want letters, digits and _.,@+-") }

// CheckTime checks a limit of time in one of the forms of sbatch: minutes,
// minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, or
// days-hours:minutes:seconds.
func CheckTime(s string) error {
	return matches(s, timePattern, "want minutes, hours:minutes:seconds or days-hours")
}

// CheckSbatch checks one option of sbatch.
func CheckSbatch(option string) error {
	if err := matches(option, sbatchPattern, "want --option or --option=value, without blanks, quotes and #"); err != nil {
		return err
	}
	name, _, _ := strings.Cut(option[2:], "=")
	for _, reservedName := range reserved {
		// sbatch accepts a prefix of a name in place of the name.
		if strings.HasPrefix(reservedName, name) {
			return fmt.Errorf("found %q, want none of %s, which decide what is run and where its output goes", option, strings.Join(reserved, ", "))
		}
	}
	return nil
}

// reserved are options of sbatch that are ours, or that would have other files written or programs run.
var reserved = []string{
	"array", "batch", "bb", "bbf", "chdir", "clusters", "container", "error", "export", "export-file", "get-user-env", "gid", "help", "input",
	"job-name", "kill-on-invalid-dep", "no-kill", "no-requeue", "open-mode", "output", "parsable", "quiet", "requeue", "signal", "spread-job", "test-only", "uid",
	"usage", "verbose", "version", "wait", "wrap",
}

func matches(text string, pattern *regexp.Regexp, want string) error {
	switch {
	case text == "":
		return errors.New("found nothing, " + want)
	case len(text) > maxText:
		return fmt.Errorf("found %d characters, want at most %d", len(text), maxText)
	case !pattern.MatchString(text):
		return fmt.Errorf("found %q, %s", text, want)
	}
	return nil
}

var (
	namePattern   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,@+-]*$`)
	timePattern   = regexp.MustCompile(`^([0-9]{1,9}(:[0-9]{1,2}){0,2}|[0-9]{1,6}-[0-9]{1,2}(:[0-9]{1,2}){0,2})$`)
	sbatchPattern = regexp.MustCompile(`^--[a-z][a-z0-9-]*(=[A-Za-z0-9_.,:=+@%/*&|!()\[\]-]+)?$`)
)
