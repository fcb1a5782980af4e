package scheduler

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Format is a file format of schedulers.
type Format uint8

// The formats. All but JSON and Tree are PRISM's.
const (
	// Actions lists states with the action of the choice: (0,true)=move. It is empty for choices
	// without action. With steps: (0,true),3=move.
	Actions Format = iota
	// Indices lists states with the index of the choice in the state, from 0: 17=1. With steps: 17,3=1.
	Indices
	// InducedModel lists the transitions of the induced model (.tra).
	InducedModel
	// Dot draws the induced model in GraphViz's language.
	Dot
	// JSON is Storm's format: a list of objects with the state (s), the number of steps (m) if the
	// scheduler counts them, and the choice (c) with its number in the model, or "undefined" for any
	// choice. If a scheduler of a game has memory, the other choices of the state follow with probability 0.
	JSON
	// Tree is a decision tree, which package tree writes. The file's extension selects text, DOT or PRISM's language.
	Tree
)

// String returns the name of the format in PRISM's -exportstrat; also json and tree.
func (format Format) String() string {
	return [...]string{"actions", "indices", "induced", "dot", "json", "tree"}[format]
}

// ParseFormat returns the format with the given name. "model" is another name of PRISM for "induced".
func ParseFormat(name string) (Format, error) {
	if name == "model" {
		return InducedModel, nil
	}
	for format := Actions; format <= Tree; format++ {
		if format.String() == name {
			return format, nil
		}
	}
	return 0, fmt.Errorf("scheduler format %q, want actions, indices, induced, dot, json or tree", name)
}

// Options are the options of PRISM's -exportstrat, and Loss.
type Options struct {
	// States shows valuations of states in lists of actions, and in Dot in addition to state numbers
	// (option states).
	States bool
	// Reachable omits unreachable states from induced models (option reach). Schedulers that count
	// steps always omit them.
	Reachable bool
	// Restrict writes induced models as MDPs with one choice per state (option mode=restrict).
	Restrict bool
	// Loss is the loss of value that a tree may cause (option loss).
	Loss float64
}

// Defaults returns PRISM's options for a format.
func (format Format) Defaults() Options { return Options{States: true, Reachable: format == Dot} }

// ParseTarget parses the argument of PRISM's option -exportstrat, which says where and how a scheduler is written:
//
//	file[:type=…,mode=restrict|reduce,reach[=true|false],states[=true|false],loss=…]
//
// A colon before a backslash belongs to the file name, because it follows a Windows drive, as in C:\x. Without a type, the extensions
// .tra, .dot and .json select the format. The default is the format actions.
func ParseTarget(arg string) (file string, format Format, opts Options, err error) {
	file, optionText := splitOptions(arg)
	var words []string
	if optionText != "" {
		words = strings.Split(optionText, ",")
	}
	if format, err = selectFormat(file, words); err != nil {
		return "", 0, Options{}, err
	}
	opts = format.Defaults()
	for _, word := range words {
		if err := opts.setOption(word); err != nil {
			return "", 0, Options{}, err
		}
	}
	if opts.Loss > 0 && format != Tree {
		return "", 0, Options{}, fmt.Errorf("scheduler option loss is for type=tree, found type=%v", format)
	}
	return file, format, opts, nil
}

// selectFormat returns the format that the last option type=… names. Without this option, it returns the format that the extension of the file stands
// for. It is an error if the extension stands for a compressed file or, without this option, for a file that cannot have a scheduler.
func selectFormat(file string, words []string) (Format, error) {
	format, hasType := formatOf(file), false
	for _, word := range words {
		key, value, _ := parseOption(word)
		if key != "type" {
			continue
		}
		hasType = true
		var err error
		format, err = ParseFormat(value)
		if err != nil {
			return 0, err
		}
	}
	if filepath.Ext(file) == ".gz" {
		return 0, fmt.Errorf("%s: schedulers are not compressed, want .json, .tra, .dot or .txt", file)
	}
	if !hasType && isOtherFile(file) {
		return 0, fmt.Errorf("%s: a scheduler is one file: want .json for its choices, .tra or .dot for the chain under it, or .txt for a list; resolve MODEL --scheduler FILE.json -o %s writes the chain in other formats", file, file)
	}
	return format, nil
}

// isOtherFile reports whether the extension of a file stands for a model or for files of states that cannot have a scheduler.
func isOtherFile(file string) bool {
	extension := strings.TrimPrefix(filepath.Ext(file), ".")
	first, _, hasSeveral := strings.Cut(extension, ",")
	return hasSeveral || slices.Contains([]string{"all", "sta", "lab", "srew", "trew", "pexp", "drn", "umb", "prism", "jani", "svg", "png", "pdf"}, first)
}

// splitOptions splits an argument such as sched.txt:type=dot at its first colon. It skips the colon of a Windows drive, as in C:\x.
func splitOptions(arg string) (file, options string) {
	for i := range arg {
		if arg[i] == ':' && !strings.HasPrefix(arg[i+1:], `\`) {
			return arg[:i], arg[i+1:]
		}
	}
	return arg, ""
}

// formatOf returns the format that a file's extension stands for.
func formatOf(file string) Format {
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

// parseOption splits an option key=value. The value of an option without = is "true".
func parseOption(word string) (key, value string, hasValue bool) {
	key, value, hasValue = strings.Cut(word, "=")
	if !hasValue {
		value = "true"
	}
	return strings.TrimSpace(key), strings.TrimSpace(value), hasValue
}

// setOption sets an option from a text such as "reach=true". It is an error if the option is unknown or its value is wrong.
func (options *Options) setOption(word string) error {
	key, value, hasValue := parseOption(word)
	var err error
	switch key {
	case "type": // selectFormat reads it
	case "mode":
		if !hasValue {
			return fmt.Errorf("scheduler option mode without a value, want restrict or reduce")
		}
		options.Restrict, err = parseBool(key, value, "reduce", "restrict")
	case "reach":
		options.Reachable, err = parseBool(key, value, "false", "true")
	case "states":
		options.States, err = parseBool(key, value, "false", "true")
	case "loss":
		options.Loss, err = parseLoss(value)
	case "obs":
		err = fmt.Errorf("scheduler option obs is for partially observable models, whose schedulers are not computed")
	default:
		err = fmt.Errorf("scheduler option %q, want type, mode, reach, states or loss", key)
	}
	return err
}

// parseBool returns whether the value of option key is trueText. Any other value than trueText and falseText is an error.
func parseBool(key, value, falseText, trueText string) (bool, error) {
	if value != falseText && value != trueText {
		return false, fmt.Errorf("value %q of the scheduler option %s, want %s or %s", value, key, trueText, falseText)
	}
	return value == trueText, nil
}

// parseLoss parses the value of the option loss, a finite number of at least 0.
func parseLoss(value string) (float64, error) {
	loss, err := strconv.ParseFloat(value, 64)
	isValid := err == nil && loss >= 0 && !math.IsInf(loss, 1)
	if !isValid {
		return 0, fmt.Errorf("value %q of the scheduler option loss, want a number of at least 0", value)
	}
	return loss, nil
}
