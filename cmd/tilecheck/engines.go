package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/containers"
	"tilecheck/native"
	"tilecheck/runner"
	"tilecheck/verify/validity"
)

// toolPlaces are the flags that say where the tools are.
type toolPlaces struct {
	PrismPath  string `help:"PRISM on this machine." env:"TILECHECK_PRISM" placeholder:"PATH" file:"in"`
	StormPath  string `help:"Storm on this machine." env:"TILECHECK_STORM" placeholder:"PATH" file:"in"`
	PrismImage string `rare:"" help:"Docker image of PRISM (default: the newest that tilecheck image made)." env:"TILECHECK_PRISM_IMAGE" placeholder:"IMAGE"`
	StormImage string `rare:"" help:"Docker image of Storm (default: ${storm_image})." env:"TILECHECK_STORM_IMAGE" placeholder:"IMAGE"`
}

// engineFlags are the flags that say where the tools are and how they are run.
type engineFlags struct {
	toolPlaces `embed:""`

	Jobs    int      `rare:"" help:"Runs of a tool at a time." default:"1" want:"[1,1024]" placeholder:"N"`
	ToolArg []string `rare:"" help:"A switch for PRISM or Storm as it is; repeatable." sep:"none" placeholder:"ARG"`
}

// toolbox returns the engines that the flags describe.
func (e *environment) toolbox(flags engineFlags, memory byteCount, timeout time.Duration) *toolbox.Box {
	// An image that was asked for wins over a path of the environment.
	if e.given["prism-image"] && !e.given["prism-path"] {
		flags.PrismPath = ""
	}
	if e.given["storm-image"] && !e.given["storm-path"] {
		flags.StormPath = ""
	}
	return &toolbox.Box{
		PrismPath: flags.PrismPath, StormPath: flags.StormPath, PrismImage: flags.PrismImage, StormImage: flags.StormImage,
		Jobs: flags.Jobs, Args: flags.ToolArg, Limits: runner.Limits{Memory: int64(memory), Time: timeout}, Connect: e.docker, Checker: validity.New(),
	}
}

// refuseToolFlags returns a usage error if a flag is for a tool that is not among the engines.
func (e *environment) refuseToolFlags(engines []string) error {
	prism, storm := slices.Contains(engines, "prism"), slices.Contains(engines, "storm")
	return cmp.Or(
		e.refuseFlags(!prism, "without the engine prism", "prism-path", "prism-image"),
		e.refuseFlags(!storm, "without the engine storm", "storm-path", "storm-image"),
		e.refuseFlags(!prism && !storm, "without the engines prism and storm", "tool-arg"),
		e.refuseFlags(e.given["prism-path"], "with --prism-path", "prism-image"),
		e.refuseFlags(e.given["storm-path"], "with --storm-path", "storm-image"),
	)
}

// docker connects to Docker.
func (e *environment) docker(ctx context.Context) (*containers.Docker, error) {
	if err := containers.Prepare(ctx, e.lookupEnv, e.setenv); err != nil {
		return nil, err
	}
	return containers.Connect(ctx)
}

// isTool reports whether the engine with this name runs an external tool.
func isTool(name string) bool { return name != native.Name }

// engineNames returns the names of the engines in labels such as native:exact.
func engineNames(labels []string) []string {
	var out []string
	for _, label := range labels {
		name, _, _ := strings.Cut(label, ":")
		out = append(out, name)
	}
	return out
}

// splitNames splits the values of a flag at commas, and drops empty names.
func splitNames(args []string) []string {
	var out []string
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
