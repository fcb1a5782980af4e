package main

import (
	"fmt"
	"time"

	"tilecheck/native"
	"tilecheck/runner"
	"tilecheck/runner/bridge"
	"tilecheck/runner/local"
)

// engineFlags say where the tools are.
type engineFlags struct {
	PrismPath string   `help:"PRISM on this machine (also: environment TILECHECK_PRISM)." env:"TILECHECK_PRISM" placeholder:"PATH"`
	StormPath string   `help:"Storm on this machine (also: environment TILECHECK_STORM)." env:"TILECHECK_STORM" placeholder:"PATH"`
	ToolArg   []string `help:"A switch for PRISM or Storm as it is; repeatable." sep:"none" placeholder:"ARG"`
}

// engine returns the engine of that name.
func (f engineFlags) engine(name string, memory byteCount, timeout time.Duration) (runner.Engine, error) {
	opt := bridge.Options{Args: f.ToolArg, Limits: runner.Limits{Memory: int64(memory), Time: timeout}}
	switch name {
	case native.Name:
		return native.New(), nil
	case "prism":
		cmd, err := f.commander(name, f.PrismPath)
		if err != nil {
			return nil, err
		}
		return bridge.PRISM(cmd, opt), nil
	case "storm":
		cmd, err := f.commander(name, f.StormPath)
		if err != nil {
			return nil, err
		}
		return bridge.Storm(cmd, opt), nil
	}
	return nil, fmt.Errorf("unknown engine %q, want native, prism or storm", name)
}

func (f engineFlags) commander(name, path string) (runner.Commander, error) {
	if path == "" {
		path = name
	}
	return local.New(path)
}
