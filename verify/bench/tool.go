package bench

import (
	"fmt"
	"strings"

	"tilecheck/bridge"
	"tilecheck/internal/quote"
	"tilecheck/runner"
	"tilecheck/runner/measure"
	"tilecheck/verify/regress"
	"tilecheck/verify/suitefile"
)

// Spec is a tool in the form ENGINE[@PROGRAM][:ACCURACY] or ENGINE[@PROGRAM][:SWITCHES], such as native:exact or
// prism:-explicit. PROGRAM is the path of another program than the usual one.
type Spec struct {
	Label    string
	Engine   string // native, prism, prism-games or storm
	Program  string // empty for the usual one
	Switches []string
	Config   runner.EngineConfig
}

// ParseSpec parses a tool of the form ENGINE, ENGINE:MODE or ENGINE:SWITCHES, such as native:exact or prism:-explicit. A program may follow the engine, as in
// native@FILE:exact.
func ParseSpec(text string) (*Spec, error) {
	engineText, mode, _ := strings.Cut(text, ":")
	engine, program, hasProgram := strings.Cut(engineText, "@")
	if hasProgram && program == "" {
		return nil, fmt.Errorf("found %q, want a program behind @", text)
	}
	engineLabel := engine
	var switches []string
	if strings.HasPrefix(mode, "-") {
		var err error
		if switches, err = quote.Split(mode); err != nil {
			return nil, fmt.Errorf("found %q: %w", text, err)
		}
	} else if mode != "" {
		engineLabel += ":" + mode
	}
	name, config, err := suitefile.Engine(engineLabel)
	if err != nil {
		return nil, err
	}
	if name == "native" && len(switches) > 0 {
		return nil, fmt.Errorf("found %q, want native:bounded, native:exact, native:float or native:proven", text)
	}
	config.Label = text
	return &Spec{text, name, program, switches, config}, nil
}

// Tool is a tool whose runs are measured.
type Tool struct {
	*Spec
	Program string // its path
	Version string
	engine  regress.EngineConfig
	meter   *measure.Tool
}

// NewTool returns the tool of a spec. Each check runs the program and measures its time and memory.
func NewTool(spec *Spec, meter *measure.Tool, version string, limits runner.Limits) *Tool {
	tool := &Tool{Spec: spec, Program: meter.Where(), Version: version, meter: meter}
	tool.engine.EngineConfig = spec.Config
	options := bridge.Options{Args: spec.Switches, Limits: limits, Jobs: 1}
	switch spec.Engine {
	case "prism":
		tool.engine.Engine = bridge.PRISM(meter, options)
	case "prism-games":
		tool.engine.Engine = bridge.PRISMGames(meter, options)
	case "storm":
		tool.engine.Engine = bridge.Storm(meter, options)
	default:
		tool.engine.Engine = &worker{meter}
	}
	return tool
}

// useSwitches changes the tool so that PRISM reads the original files with the switches of the case. Otherwise it would read a translation of the
// model.
func (t *Tool) useSwitches() {
	if t.Engine == "prism" || t.Engine == "prism-games" {
		t.engine.PRISM = &regress.PRISM{Commander: t.meter, Args: t.Switches}
	}
}
