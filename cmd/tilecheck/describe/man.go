package describe

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"tilecheck/internal/build"
)

// Manual returns the manual page of the program with all its commands, in the language of troff.
func Manual(app *kong.Application) string {
	m := &manual{}
	m.line(`.TH TILECHECK 1 "" "tilecheck %s" "User Commands"`, build.Version)
	m.line(".SH NAME\ntilecheck \\- bridge to probabilistic model checkers, and one of its own")
	m.line(".SH SYNOPSIS\n.B tilecheck\n.I command\n[arguments] [flags]")
	m.line(".SH DESCRIPTION")
	m.text(app.Help)
	m.line(".SH GLOBAL OPTIONS")
	m.flags(app.Flags)
	m.line(".SH COMMANDS")
	m.commands(app.Node)
	return m.String()
}

// manual builds a page with the macros of man(7).
type manual struct{ strings.Builder }

// line writes a formatted line.
func (m *manual) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// text writes paragraphs. Indented paragraphs are shown unchanged.
func (m *manual) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if strings.HasPrefix(paragraph, "    ") {
			m.line(".EX\n%s\n.EE", roff(paragraph))
		} else {
			m.line("%s", roff(paragraph))
		}
	}
}

// commands writes the descriptions of all commands below a node.
func (m *manual) commands(parent *kong.Node) {
	for _, child := range parent.Children {
		if child.Hidden {
			continue
		}
		m.line(".SS %s", roff(child.Path()+arguments(child)))
		m.text(child.Help)
		if child.Detail != "" {
			m.line(".PP")
			m.text(child.Detail)
		}
		for _, argument := range child.Positional {
			m.line(".TP\n.I %s\n%s", roff(argument.Name), roff(argument.Help))
		}
		m.flags(child.Flags)
		m.commands(child)
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

// flags writes the descriptions of flags.
func (m *manual) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		name := `\fB` + roff("--"+flag.Name) + `\fR`
		if flag.Short != 0 {
			name = `\fB` + roff("-"+string(flag.Short)) + `\fR, ` + name
		}
		if !flag.IsBool() {
			name += `=\fI` + roff(flag.FormatPlaceHolder()) + `\fR`
		}
		m.line(".TP\n%s\n%s", name, roff(withDefault(flag.Value).Help))
	}
}

// roff escapes the characters of a text that troff would interpret.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
