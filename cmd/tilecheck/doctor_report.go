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
func addMachine(out *table.Table, env *environment) {
	machine := bench.ThisMachine()
	out.Append("system", "ready", strings.TrimSpace(machine.System+" "+machine.Kernel))
	out.Append("processor", "ready", fmt.Sprintf("%s, %d cores, %s of memory", machine.Processor, machine.Cores, units.BytesSize(float64(machine.Memory))))
	out.Append("Go", "ready", runtime.Version()+cgoText())
	group, err := cgroup.New(cgroup.Limits{})
	if err != nil {
		out.Append("control groups", "missing", strings.ReplaceAll(err.Error(), "\n", "; "))
	} else {
		out.Append("control groups", "ready", group.Version())
		_ = group.Close() // it is empty
	}
	out.Append("variables that are set", "ready", strings.Join(setVariables(env), " "))
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

// hidePrivate removes private data from all cells and notes: the folders of paths, and the names of the user and the host.
func hidePrivate(out *table.Table) {
	names := privateNames()
	for _, row := range out.Rows {
		for i := range row {
			row[i].Text = withoutPrivate(row[i].Text, names)
			if text, ok := row[i].Value.(string); ok {
				row[i].Value = withoutPrivate(text, names)
			}
		}
	}
	for i := range out.Notes {
		out.Notes[i] = withoutPrivate(out.Notes[i], names)
	}
}

// privateNames returns the names of the host and the user. It omits root and names of at most two bytes, which occur in other words.
func privateNames() []string {
	var names []string
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	if current, err := user.Current(); err == nil {
		names = append(names, current.Username)
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(name) <= 2 || name == "root" })
}

// withoutPrivate returns a text without the folders of its paths and without the given names.
func withoutPrivate(text string, names []string) string {
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
