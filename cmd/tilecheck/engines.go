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
	GamesPath  string `name:"prism-games-path" rare:"" help:"PRISM-games on this machine." env:"TILECHECK_PRISM_GAMES" placeholder:"PATH" file:"in"`
	StormPath  string `help:"Storm on this machine." env:"TILECHECK_STORM" placeholder:"PATH" file:"in"`
	PrismImage string `rare:"" help:"Docker image of PRISM (default: the newest that tilecheck image made)." env:"TILECHECK_PRISM_IMAGE" placeholder:"IMAGE"`
	GamesImage string `name:"prism-games-image" rare:"" help:"Docker image of PRISM-games (default: the newest that tilecheck image made)." env:"TILECHECK_PRISM_GAMES_IMAGE" placeholder:"IMAGE"`
	StormImage string `rare:"" help:"Docker image of Storm (default: ${storm_image})." env:"TILECHECK_STORM_IMAGE" placeholder:"IMAGE"`
}

// toolNames returns the names of the engines that run external tools.
func toolNames() []string { return []string{"prism", "prism-games", "storm"} }

// placeOf returns where the tool of an engine is: its program and its image, as far as the user has named them.
func (p *toolPlaces) placeOf(engine string) toolbox.Place {
	return map[string]toolbox.Place{
		"prism":       {Path: p.PrismPath, Image: p.PrismImage},
		"prism-games": {Path: p.GamesPath, Image: p.GamesImage},
		"storm":       {Path: p.StormPath, Image: p.StormImage},
	}[engine]
}

// engineFlags are the flags that say where the tools are and how they are run.
type engineFlags struct {
	toolPlaces `embed:""`

	Jobs    int      `rare:"" help:"How many runs of a tool at the same time." default:"1" want:"[1,1024]" placeholder:"N"`
	ToolArg []string `rare:"" help:"Pass this switch to PRISM, PRISM-games or Storm unchanged; repeatable." sep:"none" placeholder:"ARG"`
}

// newToolbox returns the engines that the flags describe. The engines start the external tools with the given limits of memory and time.
func (e *environment) newToolbox(flags engineFlags, memory byteCount, timeout time.Duration) *toolbox.Box {
	places := make(map[string]toolbox.Place)
	for _, name := range toolNames() {
		place := flags.placeOf(name)
		if e.givenFlags[name+"-image"] && !e.givenFlags[name+"-path"] {
			place.Path = "" // an image on the command line wins over a path in the environment
		}
		places[name] = place
	}
	return &toolbox.Box{
		Places: places,
		Jobs:   flags.Jobs, Args: flags.ToolArg, Limits: runner.Limits{Memory: int64(memory), Time: timeout}, Connect: e.docker, Checker: validity.New(),
		UsesImage: e.recorder.addImage,
	}
}

// refuseToolFlags returns a usage error if a flag configures a tool that no engine in the list needs.
func (e *environment) refuseToolFlags(engines []string) error {
	for _, name := range toolNames() {
		path, image := name+"-path", name+"-image"
		err := cmp.Or(
			e.refuseFlags(!slices.Contains(engines, name), "without the engine "+name, path, image),
			e.refuseFlags(e.givenFlags[path], "with --"+path, image),
		)
		if err != nil {
			return err
		}
	}
	return e.refuseFlags(!slices.ContainsFunc(engines, isTool), noTools, "tool-arg")
}

// docker connects to Docker. Before, it prepares the environment variables that Docker reads.
func (e *environment) docker(ctx context.Context) (*containers.Docker, error) {
	if err := containers.Prepare(ctx, e.lookupEnv, e.setenv); err != nil {
		return nil, err
	}
	return containers.Connect(ctx)
}

// noTools says when flags for external tools have no effect.
const noTools = "without the engines prism, prism-games and storm"

// isPRISM reports whether the engine with this name runs PRISM or PRISM-games, which have the same switches.
func isPRISM(name string) bool { return name == "prism" || name == "prism-games" }

// isTool reports whether the engine with this name runs an external tool.
func isTool(name string) bool { return name != native.Name }

// engineNames returns the names of the engines in labels such as native:exact.
func engineNames(labels []string) []string {
	var names []string
	for _, label := range labels {
		name, _, _ := strings.Cut(label, ":")
		names = append(names, name)
	}
	return names
}

// splitNames splits the values of a flag at commas and returns the names that are not empty.
func splitNames(args []string) []string {
	var names []string
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
