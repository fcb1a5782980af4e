package describe

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"tilecheck/internal/build"
)

// Manual returns the manual page of the program with all its commands, in the language of troff.
func Manual(app *kong.Application) string {
	page := &manual{}
	page.line(`.TH TILECHECK 1 "" "tilecheck %s" "User Commands"`, build.Version)
	page.line(".SH NAME\ntilecheck \\- bridge to probabilistic model checkers, and one of its own")
	page.line(".SH SYNOPSIS\n.B tilecheck\n.I command\n[arguments] [flags]")
	page.line(".SH DESCRIPTION")
	page.writeText(app.Help)
	page.line(".SH GLOBAL OPTIONS")
	page.writeFlags(app.Flags)
	page.line(".SH COMMANDS")
	page.writeCommands(app.Node)
	return page.String()
}

// manual builds a page with the macros of man(7).
type manual struct{ strings.Builder }

// line writes a formatted line.
func (m *manual) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// writeText writes paragraphs. Indented paragraphs are shown unchanged.
func (m *manual) writeText(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if strings.HasPrefix(paragraph, "    ") {
			m.line(".EX\n%s\n.EE", escapeTroff(paragraph))
		} else {
			m.line("%s", escapeTroff(paragraph))
		}
	}
}

// writeCommands writes the descriptions of all commands below a node.
func (m *manual) writeCommands(parent *kong.Node) {
	for _, child := range parent.Children {
		if child.Hidden {
			continue
		}
		m.line(".SS %s", escapeTroff(child.Path()+arguments(child)))
		m.writeText(child.Help)
		if child.Detail != "" {
			m.line(".PP")
			m.writeText(child.Detail)
		}
		for _, argument := range child.Positional {
			m.line(".TP\n.I %s\n%s", escapeTroff(argument.Name), escapeTroff(argument.Help))
		}
		m.writeFlags(child.Flags)
		m.writeCommands(child)
	}
}

// arguments returns the arguments of a command as they are shown in its usage.
func arguments(command *kong.Node) string {
	var usage strings.Builder
	for _, argument := range command.Positional {
		usage.WriteString(" " + argument.Summary())
	}
	return usage.String()
}

// writeFlags writes the descriptions of flags.
func (m *manual) writeFlags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		name := `\fB` + escapeTroff("--"+flag.Name) + `\fR`
		if flag.Short != 0 {
			name = `\fB` + escapeTroff("-"+string(flag.Short)) + `\fR, ` + name
		}
		if !flag.IsBool() {
			name += `=\fI` + escapeTroff(flag.FormatPlaceHolder()) + `\fR`
		}
		m.line(".TP\n%s\n%s", name, escapeTroff(withDefault(flag.Value).Help))
	}
}

// escapeTroff escapes the characters of a text that troff would interpret.
func escapeTroff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
