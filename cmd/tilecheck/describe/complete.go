package describe

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Complete answers the shell that asks how a command line may go on: COMP_LINE is
// what is typed, up to the byte COMP_POINT, as bash tells commands of complete -C.
// It reports whether one asked. Without an answer the shell offers files.
func Complete(w io.Writer, model *kong.Application, getenv func(string) string) bool {
	line := getenv("COMP_LINE")
	if line == "" {
		return false
	}
	if point, err := strconv.Atoi(getenv("COMP_POINT")); err == nil && point >= 0 && point < len(line) {
		line = line[:point]
	}
	words := strings.Fields(line)
	if strings.TrimRight(line, " \t") != line {
		words = append(words, "")
	}
	if len(words) < 2 {
		return true // the program itself
	}
	last := words[len(words)-1]
	for _, s := range continuations(model.Node, words[1:len(words)-1], last) {
		if _, typed, ok := strings.Cut(last, "="); ok {
			last = typed // to a shell the value is a word of its own
		}
		if s != "" && strings.HasPrefix(s, last) {
			fmt.Fprintln(w, s)
		}
	}
	return true
}

// continuations are the words that may stand after others.
func continuations(node *kong.Node, before []string, last string) (out []string) {
	flags := slices.Clone(node.Flags)
	find := func(word string) *kong.Flag {
		i := slices.IndexFunc(flags, func(f *kong.Flag) bool {
			return "--"+f.Name == word || f.Short != 0 && "-"+string(f.Short) == word
		})
		if i < 0 {
			return nil
		}
		return flags[i]
	}
	arguments := 0
	var open *kong.Flag // which wants the next word as its value
	for _, word := range before {
		if open != nil {
			open = nil
			continue
		}
		if strings.HasPrefix(word, "-") {
			if f := find(word); f != nil && !f.IsBool() {
				open = f
			}
			continue
		}
		if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			node, arguments = node.Children[i], 0
			flags = append(flags, node.Flags...)
		} else {
			arguments++
		}
	}
	name, _, valued := strings.Cut(last, "=")
	switch {
	case open != nil:
		return open.EnumSlice()
	case valued:
		if f := find(name); f != nil {
			return f.EnumSlice()
		}
	case strings.HasPrefix(last, "-"):
		for _, f := range flags {
			if !f.Hidden {
				out = append(out, "--"+f.Name)
			}
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden {
				out = append(out, n.Name)
			}
		}
		if arguments < len(node.Positional) && node.Positional[arguments].Enum != "" {
			out = append(out, node.Positional[arguments].EnumSlice()...)
		}
	}
	return out
}
