// Package foreign reads command lines that are for PRISM or Storm, or for what
// tilecheck was before, as command lines of ours.
package foreign

import (
	"math/big"
	"path/filepath"
	"slices"
	"strings"
)

// Reading is what a command line for another program may mean here.
type Reading struct {
	Words []string // ours
	// File is where the other program would write what ours prints; empty if nowhere.
	File string
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

// line is a command line that is being translated.
type line struct {
	known    map[string]*Switch
	storm    bool // it is Storm's
	wanted   string
	files    []string
	imports  []string // files of states
	rest     []string
	own      []string // of rest, what belongs to the command that is wanted
	into     string
	sampling bool
}

// translated replaces the switches of PRISM and Storm, and puts a command in
// front if there is none. If some of them are those of a command of their own,
// alone leaves out the others, except constants, and all files but the model. It
// returns no words where there is nothing to put in front of, or a switch says what is not there.
func translated(args, commands []string, alone bool) Reading {
	l := &line{known: byName()}
	l.storm = slices.ContainsFunc(args, func(a string) bool {
		s := l.known[nameOf(a)]
		return strings.HasPrefix(a, "--") && s != nil && s.Input
	})
	command := ""
	if len(args) > 0 && slices.Contains(commands, args[0]) {
		command, args = args[0], args[1:]
	}
	for len(args) > 0 {
		n := l.read(args)
		if n == 0 {
			return Reading{}
		}
		args = args[n:]
	}
	if l.sampling && !slices.Contains(l.rest, "--method") {
		l.rest = append(l.rest, "--method", "sim")
	}
	if len(l.imports) > 0 {
		together, ok := combined(l.imports)
		if !ok {
			return Reading{}
		}
		l.files = append([]string{together}, slices.DeleteFunc(l.files, isModel)...)
	}
	switch {
	case l.wanted != "" && alone:
		command, l.files, l.rest = l.wanted, l.files[:min(1, len(l.files))], l.own
	case l.wanted != "":
		command = l.wanted
	case command != "":
	case len(l.files) > 0 && l.files[0] != "-" && !strings.ContainsAny(l.files[0], `./\`):
		return Reading{} // no model, but a command that is misspelt
	default:
		command = "check"
	}
	return Reading{slices.Concat([]string{command}, l.files, l.rest), l.into}
}

// read translates the first of the arguments, and returns how many that took; 0 if it cannot.
func (l *line) read(args []string) int {
	arg := args[0]
	if !strings.HasPrefix(arg, "-") || arg == "-" {
		l.files = append(l.files, arg)
		return 1
	}
	name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	joined = joined && !strings.Contains(name, ":") // as in -ii:upper=3
	s := l.known[nameOf(arg)]
	switch {
	case strings.HasPrefix(arg, "--") && isSetting(name):
		return 1 + values(args[1:])
	case s == nil || len(args) <= s.Takes && !joined, s.Names[0] == "engine" && !l.storm: // which is ours, too
		l.rest = append(l.rest, arg)
		return 1
	case s.Why != "" && !s.Needless:
		return 0
	case s.Takes == 0 && joined:
		l.rest = append(l.rest, arg)
		return 1
	}
	given, n := args[1:min(1+s.Takes, len(args))], 1+s.Takes
	if joined {
		given, n = []string{value}, 1
	}
	name = s.Names[0]
	switch {
	case name == "simpath":
		path, ok := simpath(given[0])
		if !ok {
			return 0
		}
		l.wanted, l.rest, l.own = s.Command, append(l.rest, path...), append(l.own, path...)
		if given[1] != "stdout" {
			l.into = given[1]
		}
		return n
	case name == "epsilon" && strings.Trim(given[0], "abcdefghijklmnopqrstuvwxyz-") == "": // Storm's --engine
		return n
	case s.States:
		l.imports = append(l.imports, given[0])
		return n
	case l.storm && (name == "property" || name == "janiproperty"):
		if n += min(values(args[n:]), 1); n > 1+s.Takes {
			l.rest = append(l.rest, "--select", args[n-1])
		}
	case s.May != "" && n < len(args) && slices.Contains(strings.Fields(s.May), args[n]):
		n++
	}
	if s.Command != "" {
		l.wanted = s.Command
	}
	l.sampling = l.sampling || strings.HasPrefix(name, "sim") && !s.Needless
	for word := range strings.FieldsSeq(s.Words) {
		for i, x := range given {
			word = strings.ReplaceAll(word, "{"+string(rune('1'+i))+"}", ours(name, x))
			word = strings.ReplaceAll(word, "{"+string(rune('1'+i))+"-}", complement(x))
		}
		if strings.HasPrefix(s.Words, "{") {
			l.files = append(l.files, word)
			continue
		}
		l.rest = append(l.rest, word)
		if s.Command != "" || s.Modifies || name == "const" {
			l.own = append(l.own, word)
		}
	}
	return n
}

// complement is 1 - x of a decimal number: PRISM has error probabilities where we have confidences.
func complement(x string) string {
	r, ok := new(big.Rat).SetString(x)
	if !ok {
		return x
	}
	digits, _ := r.FloatPrec()
	return r.Sub(big.NewRat(1, 1), r).FloatString(digits)
}

// nameOf is the name of a switch, without dashes, a value and options behind a colon.
func nameOf(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// values counts the arguments before the next switch.
func values(args []string) int {
	n := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if n < 0 {
		return len(args)
	}
	return n
}

func isModel(file string) bool {
	return slices.Contains([]string{".prism", ".nm", ".pm", ".sm", ".jani"}, filepath.Ext(file))
}

// combined names files of states as we do: m.tra,sta. They have one name up to the extension.
func combined(files []string) (string, bool) {
	if len(files) == 1 {
		return files[0], true
	}
	first, exts := "", []string(nil)
	for _, f := range files {
		base := strings.TrimSuffix(f, filepath.Ext(f))
		if first != "" && base != first || filepath.Ext(f) == "" {
			return "", false
		}
		first, exts = base, append(exts, filepath.Ext(f)[1:])
	}
	return first + "." + strings.Join(exts, ","), true
}

// simpath translates the options of PRISM's -simpath.
func simpath(options string) (words []string, ok bool) {
	depth := 0
	parts := strings.FieldsFunc(options, func(c rune) bool {
		depth += strings.Count("(", string(c)) - strings.Count(")", string(c))
		return c == ',' && depth == 0
	})
	flags := map[string]string{"loopcheck=false": "--no-loop-check", "probs=true": "--probs", "rewards=true": "--rewards", "changes=true": "--changes", "deadlock": "--deadlock"}
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		switch {
		case flags[part] != "":
			words = append(words, flags[part])
		case name == "time":
			words = append(words, "--time", value)
		case name == "vars":
			words = append(words, "--vars", strings.Trim(value, "()"))
		case strings.Trim(part, "0123456789") == "":
			words = append(words, "--steps", part)
		case name == "sep", value == "true" || value == "false": // the columns of a CSV file, and what is the default
		default:
			return nil, false
		}
	}
	return append(words, "--format", "csv"), true
}

// ours is an argument of a switch as we want it: PRISM and Storm count seconds,
// and their files of states have names of any form.
func ours(name, value string) string {
	switch name {
	case "timeout":
		if strings.Trim(value, "0123456789") == "" {
			return value + "s"
		}
	case "exportstates", "exporttrans", "exportlabels", "exportrewards", "exportstaterewards", "exporttransrewards",
		"exporttransdot", "exporttransdotstates", "exportdot", "exportexplicit":
		return strings.TrimSuffix(value, filepath.Ext(value))
	}
	return value
}

// Readings are what a command line for PRISM, for Storm, or with words that are no
// longer ours may mean, given the names of our commands: the likeliest first. Some
// may have no words, or those that were given.
func Readings(args, commands []string) []Reading {
	var out []Reading
	for _, words := range formerly(args) {
		out = append(out, Reading{Words: words})
	}
	return append(out, translated(args, commands, false), translated(args, commands, true))
}

// Absent returns the first switch of PRISM or Storm in a command line that nothing stands for, as
// it is written there; nil if there is none.
func Absent(args []string) (word string, s *Switch) {
	known := byName()
	for _, arg := range args {
		x := known[nameOf(arg)]
		if strings.HasPrefix(arg, "-") && x != nil && x.Why != "" && !x.Needless {
			return arg, x
		}
	}
	return "", nil
}

// Lookup returns the switch of that name, with dashes or without; nil if there is none.
func Lookup(name string) *Switch { return byName()[nameOf(name)] }
