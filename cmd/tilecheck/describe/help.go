package describe

import (
	"fmt"
	"go/doc/comment"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// HelpOptions returns the layout of all help texts.
func HelpOptions() kong.HelpOptions {
	return kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, ValueFormatter: ValueHelp}
}

// ValueHelp returns the help of a flag or argument, with its default.
func ValueHelp(v *kong.Value) string { return kong.DefaultHelpValueFormatter(withDefault(v)) }

// withDefault returns a flag whose help ends with its default value. It returns the flag itself if there is no default value or the help already
// names it.
func withDefault(flag *kong.Value) *kong.Value {
	if flag.Flag == nil || flag.Default == "" || flag.IsBool() || strings.Contains(flag.Help, "default") {
		return flag
	}
	shown := *flag
	shown.Help = fmt.Sprintf("%s (default: %s).", strings.TrimSuffix(flag.Help, "."), flag.Default)
	return &shown
}

// PrintHelp returns a printer for the help of a command. Without showsRareFlags it does not describe the flags with the struct tag "rare", and only
// lists their names at the end.
func PrintHelp(showsRareFlags bool) kong.HelpPrinter {
	return func(options kong.HelpOptions, kongContext *kong.Context) error {
		node := kongContext.Selected()
		if showsRareFlags || node == nil {
			return kong.DefaultHelpPrinter(options, kongContext)
		}
		names := hideRareFlags(kongContext, node)
		if err := kong.DefaultHelpPrinter(options, kongContext); err != nil {
			return err
		}
		text := fmt.Sprintf("Also (tilecheck help --all %s): %s.", node.Path(), strings.Join(names, " "))
		_, err := fmt.Fprintf(kongContext.Stdout, "\n%s", (&comment.Printer{TextWidth: 79}).Text(new(comment.Parser).Parse(text)))
		return err
	}
}

// hideRareFlags hides the flags with the tag "rare" and returns their names. The flags of the command come before the global flags.
func hideRareFlags(kongContext *kong.Context, node *kong.Node) []string {
	var names []string
	for _, flags := range slices.Backward(node.AllFlags(true)) {
		for _, flag := range flags {
			if flag.Tag.Has("rare") || flag == kongContext.Model.HelpFlag {
				flag.Hidden = true
				names = append(names, "--"+flag.Name)
			}
		}
	}
	return names
}
