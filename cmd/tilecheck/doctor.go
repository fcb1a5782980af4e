package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/containers"
	"tilecheck/report/table"
	"tilecheck/runner/local"
)

// doctorCmd lists what the engines need, whether it is available, and what to do if not.
type doctorCmd struct {
	toolPlaces `embed:""`
	Report     bool         `help:"Print a text for a bug report: more about the machine, no names of folders, users or hosts."`
	Format     table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run prints a row for each program or image that an engine may need. It returns an error only if a flag or the environment names a tool that is
// not ready.
func (c *doctorCmd) Run(ctx context.Context, env *environment) error {
	toolTable := &table.Table{Columns: []table.Column{{Name: "name"}, {Name: "outcome"}, {Name: "detail", Min: 30}}}
	toolTable.Append("native engine", "ready", "tilecheck "+env.version())
	toolTable.Append("machine", "ready", fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH))
	checks := &checkup{command: c, env: env, table: toolTable}
	for _, name := range toolNames() {
		checks.checkLocal(ctx, name, c.placeOf(name).Path)
	}
	err := checks.checkDocker(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // the checks are incomplete
	}
	if err != nil {
		return err
	}
	toolTable.Notes = append(toolTable.Notes, checks.nextCommand())
	if c.Report {
		addMachine(toolTable, env)
		hidePrivateData(toolTable)
	}
	if err := toolTable.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if len(checks.failedNames) > 0 {
		return fmt.Errorf("a flag or the environment names what is not ready: %s", strings.Join(checks.failedNames, ", "))
	}
	return nil
}

// checkup is the state of a run of doctor.
type checkup struct {
	command     *doctorCmd
	env         *environment
	table       *table.Table
	readyTools  []string
	failedNames []string // what the user named and is not ready
}

// addReady records that a tool is ready to be used.
func (c *checkup) addReady(tool string) {
	if !slices.Contains(c.readyTools, tool) {
		c.readyTools = append(c.readyTools, tool)
	}
}

// addFailed adds a row for an item that is not ready, with the error as the reason. isNamedByUser says that a flag or the environment names the
// item.
func (c *checkup) addFailed(item, state string, err error, isNamedByUser bool) {
	c.table.Append(item, state, err.Error())
	if isNamedByUser {
		c.failedNames = append(c.failedNames, item)
	}
}

// nextCommand returns a note that suggests which command the user may run next.
func (c *checkup) nextCommand() string {
	const models = " MODEL PROPS"
	if len(c.failedNames) > 0 {
		return "next: correct or unset what the last line names, and run tilecheck doctor again"
	}
	if len(c.readyTools) > 0 {
		return "next: tilecheck crosscheck" + models + " --engine native," + strings.Join(c.readyTools, ",")
	}
	return "next: tilecheck check" + models + " (no other engine is needed)"
}

// homepages are the addresses from which the tools can be installed.
var homepages = map[string]string{
	"prism":       "https://www.prismmodelchecker.org",
	"prism-games": "https://www.prismmodelchecker.org/games",
	"storm":       "https://www.stormchecker.org",
}

// versionTimeout is the time limit for a tool to print its version.
const versionTimeout = 20 * time.Second

// withVersionTimeout calls a function that asks a tool for its version, with a time limit.
func withVersionTimeout(ctx context.Context, askVersion func(context.Context) (string, error)) (string, error) {
	limited, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	version, err := askVersion(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return "", fmt.Errorf("it did not print its version within %s", versionTimeout)
	}
	return version, err
}

// checkLocal checks whether a tool is installed on this machine. A tool is ready if it prints its version. path is empty unless the user has
// named the program.
func (c *checkup) checkLocal(ctx context.Context, name, path string) {
	rowName, isNamed := name+" on this machine", path != ""
	if !isNamed {
		path = name
	}
	tool, err := local.New(path)
	if err != nil {
		if !isNamed {
			err = fmt.Errorf("install it (%s) and put it on PATH, or give --%s-path", homepages[name], name)
		}
		c.addFailed(rowName, "missing", err, isNamed)
		return
	}
	version, err := withVersionTimeout(ctx, func(ctx context.Context) (string, error) { return toolbox.ImageKind(name).Version(ctx, tool) })
	if err != nil {
		c.addFailed(rowName, "failing", err, isNamed)
		return
	}
	c.addReady(name)
	c.table.Append(rowName, "ready", "version "+version+", "+tool.Where())
}

// checkDocker checks Docker and the images of the tools. It also counts the containers of killed runs.
func (c *checkup) checkDocker(ctx context.Context) (err error) {
	hasNamedImage := c.command.PrismImage+c.command.GamesImage+c.command.StormImage != ""
	docker, err := c.env.docker(ctx)
	if err != nil {
		c.addFailed("Docker", "missing", err, hasNamedImage)
		return nil
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	engine, err := docker.Engine(ctx)
	if err != nil {
		c.addFailed("Docker", "failing", err, hasNamedImage)
		return nil
	}
	c.table.Append("Docker", "ready", fmt.Sprintf("engine %s at %s, %d cores, %s of memory", engine.Version, engine.Host, engine.CPUs, units.BytesSize(float64(engine.Memory))))
	for _, name := range toolNames() {
		c.checkImage(ctx, docker, name, c.command.placeOf(name).Image)
	}
	leftovers, err := docker.Leftovers(ctx)
	if err != nil {
		return err
	}
	if ended := endedContainers(leftovers); ended > 0 {
		c.table.Append("containers left behind", "to do", fmt.Sprintf("%d: tilecheck clean removes them", ended))
	}
	return nil
}

// endedContainers returns the number of containers whose run has ended.
func endedContainers(leftovers []containers.Leftover) int {
	count := 0
	for _, container := range leftovers {
		if container.Dead {
			count++
		}
	}
	return count
}

// checkImage checks the image of a tool. The image is ready if the tool in the image prints its version. imageName is the image that the user has
// named, or empty.
func (c *checkup) checkImage(ctx context.Context, client *containers.Docker, name, imageName string) {
	rowName := "image of " + name
	toolImage, err := toolbox.FindImage(ctx, client, name, imageName, toolbox.ImageCache())
	if err != nil {
		c.addFailed(rowName, "missing", err, imageName != "")
		return
	}
	labelVersion := toolImage.Version
	if toolImage, err = client.Try(ctx, toolbox.ImageKind(name), toolImage); err != nil {
		return // ctx has ended; the caller checks it
	}
	if toolImage.Problem != "" {
		c.addFailed(rowName, "failing", fmt.Errorf("%s: %s", toolImage.Image, toolImage.Problem), imageName != "")
		return
	}
	c.addReady(name)
	detail := toolImage.Image.String() + " " + toolImage.Version + ", program " + toolImage.Program
	if labelVersion != "" && labelVersion != toolImage.Version {
		detail += ", although its label says " + labelVersion
	}
	c.table.Append(rowName, "ready", detail)
}
