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

// translateForeign translates a command line for PRISM or Storm, or one with words that are
// no longer ours. It returns no words unless that gives one that this program
// understands.
func translateForeign(ctx context.Context, args []string) foreign.Reading {
	var c cli
	unheard := &environment{system: system{stdout: io.Discard, stderr: io.Discard, identify: func() (string, error) { return build.Version, nil }}}
	app, err := newApp(ctx, &c, unheard, func(int) {})
	if err != nil {
		return foreign.Reading{}
	}
	for _, r := range foreign.Readings(args, commandNames(app)) {
		if r.Words == nil || slices.Equal(r.Words, args) {
			continue
		}
		if _, err := app.Parse(r.Words); err == nil {
			return r
		}
	}
	return foreign.Reading{}
}

// withFullFlag names in an error the whole word of a command line where only its first letter was
// read, as that of a short flag.
func withFullFlag(args []string, found string) string {
	letter, unknown := strings.CutPrefix(found, "unknown flag -")
	if !unknown || len(letter) != 1 {
		return found
	}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--") && strings.HasPrefix(arg, "-"+letter) {
			return "unknown flag " + quote.Word(arg)
		}
	}
	return found
}

// switchesAsWords makes words of the switches of PRISM and Storm in a request for help.
func switchesAsWords(args []string) []string {
	if len(args) < 2 || args[0] != "help" {
		return args
	}
	out := slices.Clone(args)
	for i, arg := range out {
		if name := strings.TrimLeft(arg, "-"); name != arg && len(name) > 1 && name != "version" && foreign.Lookup(name) != nil {
			out[i] = name
		}
	}
	return out
}

func commandNames(app *kong.Kong) []string {
	var out []string
	for _, cmd := range app.Model.Children {
		out = append(out, cmd.Name)
	}
	return out
}
