package scheduler

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is a format of files of schedulers.
type Format uint8

// The formats. All but JSON and Tree are PRISM's.
const (
	// Actions lists states with the action chosen: (0,true)=move. Unlabelled
	// choices have an empty one. With steps: (0,true),3=move.
	Actions Format = iota
	// Indices lists states with the index of the choice among the state's,
	// from 0: 17=1. With steps: 17,3=1.
	Indices
	// InducedModel lists the transitions of the induced model (.tra).
	InducedModel
	// Dot draws the induced model in GraphViz's language.
	Dot
	// JSON is Storm's: a list of objects with the state (s), the steps taken
	// (m, of schedulers that count them), and the choice (c) with its number
	// in the model, or "undefined" where any will do.
	JSON
	// Tree is a decision tree, which package tree makes: the file's extension says in
	// which form.
	Tree
)

// String returns the name that PRISM's -exportstrat has for the format, json and tree.
func (f Format) String() string {
	return [...]string{"actions", "indices", "induced", "dot", "json", "tree"}[f]
}

// ParseFormat returns the format with a name; "model" is PRISM's other name of
// "induced".
func ParseFormat(name string) (Format, error) {
	if name == "model" {
		return InducedModel, nil
	}
	for f := Actions; f <= Tree; f++ {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, fmt.Errorf("scheduler format %q, want actions, indices, induced, dot, json or tree", name)
}

// Options are the options of PRISM's -exportstrat, and loss.
type Options struct {
	// States shows states as their valuations in lists of actions, and in Dot
	// besides their numbers (states).
	States bool
	// Reachable leaves states that the scheduler does not reach out of induced
	// models (reach). Those of schedulers that count steps never have them.
	Reachable bool
	// Restrict keeps induced models MDPs, with one choice per state (mode=restrict).
	Restrict bool
	// Loss is how much a tree may lose of the value (loss).
	Loss float64
}

// Defaults returns PRISM's options for a format.
func (f Format) Defaults() Options { return Options{States: true, Reachable: f == Dot} }

// ParseTarget takes the argument of PRISM's -exportstrat apart:
//
//	file[:type=…,mode=restrict|reduce,reach[=true|false],states[=true|false],loss=…]
//
// The options begin at the first colon that no backslash follows. Without a type
// the file's extension decides: .tra, .dot, .json, otherwise actions.
func ParseTarget(arg string) (file string, f Format, opts Options, err error) {
	file, list := cut(arg)
	f = byExtension(file)
	var words []string
	if list != "" {
		words = strings.Split(list, ",")
	}
	for _, w := range words {
		if key, value, _ := option(w); key == "type" {
			if f, err = ParseFormat(value); err != nil {
				return "", 0, Options{}, err
			}
		}
	}
	opts = f.Defaults()
	for _, w := range words {
		if err := opts.set(w); err != nil {
			return "", 0, Options{}, err
		}
	}
	if opts.Loss > 0 && f != Tree {
		return "", 0, Options{}, fmt.Errorf("scheduler option loss is for type=tree, found type=%v", f)
	}
	return file, f, opts, nil
}

// cut splits off the options. In C:\x the colon is part of the file's name.
func cut(arg string) (file, list string) {
	for i := range arg {
		if arg[i] == ':' && !strings.HasPrefix(arg[i+1:], `\`) {
			return arg[:i], arg[i+1:]
		}
	}
	return arg, ""
}

func byExtension(file string) Format {
	switch filepath.Ext(file) {
	case ".tra":
		return InducedModel
	case ".dot":
		return Dot
	case ".json":
		return JSON
	}
	return Actions
}

// option splits key=value; a key alone has the value true.
func option(word string) (key, value string, alone bool) {
	key, value, found := strings.Cut(word, "=")
	if !found {
		value = "true"
	}
	return strings.TrimSpace(key), strings.TrimSpace(value), !found
}

func (o *Options) set(word string) error {
	key, value, alone := option(word)
	var to *bool
	values := [2]string{"false", "true"}
	switch key {
	case "type":
		return nil
	case "mode":
		to, values = &o.Restrict, [2]string{"reduce", "restrict"}
	case "reach":
		to = &o.Reachable
	case "states":
		to = &o.States
	case "loss":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("value %q of the scheduler option loss, want a number of at least 0", value)
		}
		o.Loss = x
		return nil
	case "obs":
		return fmt.Errorf("scheduler option obs is for partially observable models, whose schedulers are not computed")
	default:
		return fmt.Errorf("scheduler option %q, want type, mode, reach, states or loss", key)
	}
	switch {
	case key == "mode" && alone:
		return fmt.Errorf("scheduler option mode without a value, want restrict or reduce")
	case value != values[0] && value != values[1]:
		return fmt.Errorf("value %q of the scheduler option %s, want %s or %s", value, key, values[1], values[0])
	}
	*to = value == values[1]
	return nil
}
