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

// withDefault returns a copy of a flag with its default value in the help. It returns the flag itself if there is no default or if the help has it already.
func withDefault(flag *kong.Value) *kong.Value {
	if flag.Flag == nil || flag.Default == "" || flag.IsBool() || strings.Contains(flag.Help, "default") {
		return flag
	}
	shown := *flag
	shown.Help = fmt.Sprintf("%s (default: %s).", strings.TrimSuffix(flag.Help, "."), flag.Default)
	return &shown
}

// PrintHelp returns a printer for the help of a command. Flags with the tag "rare" are only named at the end, so that the help fits on
// one screen. If all is true, they are described like the other flags.
func PrintHelp(all bool) kong.HelpPrinter {
	return func(options kong.HelpOptions, kctx *kong.Context) error {
		node := kctx.Selected()
		if all || node == nil {
			return kong.DefaultHelpPrinter(options, kctx)
		}
		names := hideRareFlags(kctx, node)
		if err := kong.DefaultHelpPrinter(options, kctx); err != nil {
			return err
		}
		text := fmt.Sprintf("Also (tilecheck help --all %s): %s.", node.Path(), strings.Join(names, " "))
		_, err := fmt.Fprintf(kctx.Stdout, "\n%s", (&comment.Printer{TextWidth: 79}).Text(new(comment.Parser).Parse(text)))
		return err
	}
}

// hideRareFlags hides the rare flags of a command, and returns their names. Flags of the program come last.
func hideRareFlags(kctx *kong.Context, node *kong.Node) []string {
	var names []string
	for _, flags := range slices.Backward(node.AllFlags(true)) {
		for _, flag := range flags {
			if flag.Tag.Has("rare") || flag == kctx.Model.HelpFlag {
				flag.Hidden = true
				names = append(names, "--"+flag.Name)
			}
		}
	}
	return names
}
