package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"tilecheck/internal/foreign"
	"tilecheck/internal/quote"

	"github.com/alecthomas/kong"

	"tilecheck/internal/build"
)

// translateForeign translates a command line of PRISM, Storm or an older version of tilecheck. If no translation is a valid command line, the
// result has no words.
func translateForeign(ctx context.Context, args []string) foreign.Reading {
	var commands cli
	silentEnv := &environment{system: system{stdout: io.Discard, stderr: io.Discard, identifyBuild: func() (string, error) { return build.Version, nil }}}
	app, err := newApp(ctx, &commands, silentEnv, func(int) {})
	if err != nil {
		return foreign.Reading{}
	}
	for _, reading := range foreign.Readings(args, commandNames(app)) {
		if reading.Words == nil || slices.Equal(reading.Words, args) {
			continue
		}
		if _, err := app.Parse(reading.Words); err == nil {
			return reading
		}
	}
	return foreign.Reading{}
}

// withFullFlag returns kong's message about an unknown flag with the whole word. For a word with one dash, such as -prop, kong names only the
// first letter.
func withFullFlag(args []string, message string) string {
	letter, isUnknown := strings.CutPrefix(message, "unknown flag -")
	if !isUnknown || len(letter) != 1 {
		return message
	}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--") && strings.HasPrefix(arg, "-"+letter) {
			return "unknown flag " + quote.Word(arg)
		}
	}
	return message
}

// switchesAsWords changes the switches of PRISM and Storm in a command line so that kong, the parser of command lines, reads them as whole words.
func switchesAsWords(args []string) []string {
	if len(args) >= 2 && args[0] == "help" {
		return topicsWithoutDashes(args)
	}
	return withTwoDashes(args)
}

// topicsWithoutDashes removes the dashes of PRISM's and Storm's switches in a request for help, such as "help -simpath".
func topicsWithoutDashes(args []string) []string {
	words := slices.Clone(args)
	for i, arg := range words {
		name := strings.TrimLeft(arg, "-")
		isOurFlag := len(name) <= 1 || name == "version" // such as -h
		if !isOurFlag && foreign.Lookup(name) != nil {
			words[i] = name
		}
	}
	return words
}

// withTwoDashes writes PRISM's -help and -version with two dashes, so that kong does not read them as short flags. -v is --version only as the
// first word; after a command it is PRISM's verbose.
func withTwoDashes(args []string) []string {
	words := slices.Clone(args)
	for i, arg := range words {
		switch {
		case arg == "-v" && i == 0:
			words[i] = "--version"
		case arg == "-help" || arg == "-version":
			words[i] = "-" + arg
		case arg == "--": // what follows belongs to another command
			return words
		}
	}
	return words
}

// commandNames returns the names of all commands.
func commandNames(app *kong.Kong) []string {
	var names []string
	for _, command := range app.Model.Children {
		names = append(names, command.Name)
	}
	return names
}
