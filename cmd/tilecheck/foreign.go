package main

import (
	"context"
	"io"
	"slices"

	"tilecheck/internal/foreign"

	"github.com/alecthomas/kong"

	"tilecheck/internal/build"
)

// meant translates a command line for PRISM or Storm, or one with words that are
// no longer ours. It returns nil unless that gives one that this program
// understands.
func meant(ctx context.Context, args []string) []string {
	var c cli
	unheard := &world{stdout: io.Discard, stderr: io.Discard, identify: func() (string, error) { return build.Version, nil }}
	app, err := newApp(ctx, &c, unheard, func(int) {})
	if err != nil {
		return nil
	}
	commands := commandNames(app)
	for _, words := range foreign.Readings(args, commands) {
		if words == nil || slices.Equal(words, args) {
			continue
		}
		if _, err := app.Parse(words); err == nil {
			return words
		}
	}
	return nil
}

func commandNames(app *kong.Kong) []string {
	var out []string
	for _, cmd := range app.Model.Children {
		out = append(out, cmd.Name)
	}
	return out
}
