package main

import (
	"fmt"
	"os"
	"os/user"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/docker/go-units"

	"tilecheck/internal/cgroup"
	"tilecheck/report/table"
	"tilecheck/verify/bench"
)

// addMachine adds rows about this machine: its operating system, its hardware, its control groups and the environment variables.
func addMachine(rows *table.Table, env *environment) {
	machine := bench.ThisMachine()
	rows.Append("system", "ready", strings.TrimSpace(machine.System+" "+machine.Kernel))
	rows.Append("processor", "ready", fmt.Sprintf("%s, %d cores, %s of memory", machine.Processor, machine.Cores, units.BytesSize(float64(machine.Memory))))
	rows.Append("Go", "ready", runtime.Version()+cgoText())
	controlGroup, err := cgroup.New(cgroup.Limits{})
	if err != nil {
		rows.Append("control groups", "missing", strings.ReplaceAll(err.Error(), "\n", "; "))
	} else {
		rows.Append("control groups", "ready", controlGroup.Version())
		_ = controlGroup.Close() // it is empty
	}
	rows.Append("variables that are set", "ready", strings.Join(setVariables(env), " "))
}

// setVariables returns the names of the environment variables that influence the program and are set.
func setVariables(env *environment) []string {
	names := []string{
		"TILECHECK_CACHE", "TILECHECK_PRISM", "TILECHECK_PRISM_GAMES", "TILECHECK_STORM",
		"DOCKER_HOST", "KUBECONFIG", "NO_COLOR", "COLUMNS", "GOMEMLIMIT", "GOMAXPROCS", "LANG",
	}
	return slices.DeleteFunc(names, func(name string) bool { return env.getenv(name) == "" })
}

// cgoText returns a text that says whether the program was built with cgo; empty if this is unknown.
func cgoText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "CGO_ENABLED" {
			return ", CGO_ENABLED=" + setting.Value
		}
	}
	return ""
}

// folders matches the folders of an absolute path of Unix or Windows, or the host and folders of a URL.
var folders = regexp.MustCompile(`([A-Za-z]:)?([\\/][^\\/\s:;,"']*)*[\\/]`)

// hidePrivateData removes private data from all cells and notes: the folders of paths, and the names of the user and the host.
func hidePrivateData(rows *table.Table) {
	names := privateNames()
	for _, row := range rows.Rows {
		for i := range row {
			row[i].Text = withoutPrivateData(row[i].Text, names)
			if text, ok := row[i].Value.(string); ok {
				row[i].Value = withoutPrivateData(text, names)
			}
		}
	}
	for i := range rows.Notes {
		rows.Notes[i] = withoutPrivateData(rows.Notes[i], names)
	}
}

// privateNames returns the names of the host and the user. It omits root and names of at most two bytes, which occur in other words.
func privateNames() []string {
	var names []string
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	if thisUser, err := user.Current(); err == nil {
		names = append(names, thisUser.Username)
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(name) <= 2 || name == "root" })
}

// withoutPrivateData returns a text without the folders of its paths and without the given names.
func withoutPrivateData(text string, names []string) string {
	text = folders.ReplaceAllStringFunc(text, func(path string) string {
		if len(path) == 1 { // a slash between words, such as in linux/amd64
			return path
		}
		return ".../"
	})
	for _, name := range names {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(text, "(name)")
	}
	return text
}
