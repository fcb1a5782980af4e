// Package foreign reads command lines that are for PRISM or Storm, or for what
// tilecheck was before, as command lines of ours.
package foreign

import (
	"path/filepath"
	"slices"
	"strings"
)

// meaning is a switch of PRISM or Storm, and what says the same here.
type meaning struct {
	takes int    // arguments of the switch
	words string // ours; {1} and {2} stand for the arguments
	// command is the one that ours belong to, check if empty.
	command string
}

// switches are the switches of PRISM, which have one dash or two, and of
// Storm. Those without words need none here.
//
// Source: reference, tools and options.
func switches() map[string]meaning {
	all := map[string]meaning{
		"const": {1, "--const {1}", ""}, "constants": {1, "--const {1}", ""},
		"prism": {1, "{1}", ""}, "importmodel": {1, "{1}", ""}, "importtrans": {1, "{1}", ""}, "explicit-drn": {1, "{1}", ""},
		"prop": {1, "--prop {1}", ""},
		"sim":  {0, "--method sim", ""}, "simmethod": {1, "--method {1}", ""}, "simsamples": {1, "--samples {1}", ""},
		"simconf": {1, "--alpha {1}", ""}, "simwidth": {1, "--width {1}", ""}, "simapprox": {1, "--width {1}", ""},
		"simpathlen": {1, "--max-path {1}", ""}, "simmaxrwd": {1, "--max-reward {1}", ""},
		"simpath":      {2, "--steps {1} --format csv", "simulate"},
		"exact":        {0, "--exact", ""},
		"nofixdl":      {0, "--no-fix-deadlocks", ""},
		"exportstrat":  {1, "--export-scheduler {1}", ""},
		"exportadv":    {1, "--export-scheduler {1}", ""},
		"exportmodel":  {1, "-o {1}", "export"},
		"exportstates": {1, "-o {1}.sta", "export"}, "exporttrans": {1, "-o {1}.tra", "export"}, "exportlabels": {1, "-o {1}.lab", "export"},
		"exportrewards": {2, "-o {1}.srew,trew", "export"}, "exporttransdot": {1, "-o {1}.dot", "export"}, "exportdot": {1, "-o {1}.dot", "export"},
		"steadystate": {0, "", "distribution"}, "transient": {1, "--time {1}", "distribution"}, "exportsteadystate": {1, "-o {1}", "distribution"},
		"exportresults": {1, "--export-results {1}", ""}, "exportscheduler": {1, "--export-scheduler {1}", ""},
		"javamaxmem": {1, "--memory {1}", ""}, "cuddmaxmem": {1, "--memory {1}", ""}, "maxmem": {1, "--memory {1}", ""},
		"timeout": {1, "--timeout {1}", ""}, "version": {0, "--version", ""},
		"dtmc": {0, "--dtmc", ""}, "mdp": {0, "--mdp", ""}, "ctmc": {0, "--ctmc", ""},
		"test": {0, "", "test"}, "testall": {0, "", "test"},
	}
	for name, same := range map[string]string{
		"pf": "prop", "pctl": "prop", "csl": "prop", "property": "prop", "exportstrategy": "exportstrat", "ss": "steadystate", "tr": "transient",
		"exportss": "exportsteadystate", "exporttransient": "exportsteadystate", "exporttr": "exportsteadystate", "importstates": "importmodel",
	} {
		all[name] = all[same]
	}
	all["epsilon"] = meaning{1, "--epsilon {1}", ""}
	all["e"], all["precision"] = all["epsilon"], all["epsilon"]
	// Bounds are the default here, and so are engines, methods and orders.
	for _, name := range []string{
		"explicit", "ex", "sparse", "s", "hybrid", "h", "mtbdd", "m", "sound", "intervaliter", "ii", "gs", "gaussseidel", "power", "jacobi",
		"valiter", "politer", "fixdl", "buildfull", "build-all-labels", "prismcompat", "verbose",
	} {
		all[name] = meaning{}
	}
	all["maxiters"] = meaning{takes: 1}
	return all
}

// formerly are the readings of a command line of compare from when it was one
// command with a flag --preset: the one that keeps most first.
func formerly(args []string) [][]string {
	if len(args) == 0 || args[0] != "compare" {
		return nil
	}
	command, args := []string{"compare", "players"}, args[1:]
	if len(args) > 0 && slices.Contains([]string{"models", "players", "document"}, args[0]) {
		if args[0] == "document" {
			command[1] = "document"
		}
		args = args[1:]
	}
	var rest []string
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--preset" && joined:
			command = []string{"compare", "document", value}
		case name == "--preset" && i+1 < len(args):
			i++
			command = []string{"compare", "document", args[i]}
		case name == "--samples": // of players, they are games
			rest = append(rest, "--games"+args[i][len(name):])
		default:
			rest = append(rest, args[i])
		}
	}
	out := [][]string{slices.Concat(command, rest)}
	if len(command) == 3 {
		out = append(out, command)
	}
	return out
}

// translated replaces the switches of PRISM and Storm, and puts a command in
// front if there is none. If some of them are those of a command of their own,
// alone leaves out the others, except constants, and all files but the model. It
// returns nil where there is nothing to put in front of.
func translated(args, commands []string, alone bool) []string {
	known := switches()
	command := ""
	if len(args) > 0 && slices.Contains(commands, args[0]) {
		command, args = args[0], args[1:]
	}
	wanted := ""
	var files, rest, own []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f, ok := known[name]
		switch {
		case !strings.HasPrefix(arg, "-") || arg == "-":
			files = append(files, arg)
			continue
		case !ok || len(args) < f.takes && !joined:
			rest = append(rest, arg)
			continue
		}
		given := args[:min(f.takes, len(args))]
		if joined {
			given = []string{value}
		} else {
			args = args[f.takes:]
		}
		if f.command != "" {
			wanted = f.command
		}
		for word := range strings.FieldsSeq(f.words) {
			for i, x := range given {
				word = strings.ReplaceAll(word, "{"+string(rune('1'+i))+"}", ours(name, x))
			}
			if strings.HasPrefix(f.words, "{") {
				files = append(files, word)
				continue
			}
			rest = append(rest, word)
			if f.command != "" || strings.HasPrefix(f.words, "--const") {
				own = append(own, word)
			}
		}
	}
	switch {
	case wanted != "" && alone:
		command, files, rest = wanted, files[:min(1, len(files))], own
	case command != "":
	case wanted != "":
		command = wanted
	case len(files) > 0 && files[0] != "-" && !strings.ContainsAny(files[0], `./\`):
		return nil // no model, but a command that is misspelt
	default:
		command = "check"
	}
	return slices.Concat([]string{command}, files, rest)
}

// ours is an argument of a switch as we want it: PRISM and Storm count seconds,
// and their files of states have names of any form.
func ours(name, value string) string {
	switch name {
	case "timeout":
		if strings.Trim(value, "0123456789") == "" {
			return value + "s"
		}
	case "exportstates", "exporttrans", "exportlabels", "exportrewards", "exporttransdot", "exportdot":
		return strings.TrimSuffix(value, filepath.Ext(value))
	}
	return value
}

// Readings are what a command line for PRISM, for Storm, or with words that are no
// longer ours may mean, given the names of our commands: the likeliest first. Some
// may be nil, or as it was.
func Readings(args, commands []string) [][]string {
	return append(formerly(args), translated(args, commands, false), translated(args, commands, true))
}
