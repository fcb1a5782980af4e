package describe

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Complete prints the possible next words of a command line, if a shell asks for them. COMP_LINE is the command line so far and COMP_POINT the
// position of the cursor in it, as bash sets them for complete -C. It returns false if no shell asks. Without an answer the shell offers files.
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
		return true // the shell completes the name of the program
	}
	last := words[len(words)-1]
	for _, s := range continuations(model.Node, words[1:len(words)-1], last) {
		if _, typed, ok := strings.Cut(last, "="); ok {
			last = typed // for a shell the value is a separate word
		}
		if s != "" && strings.HasPrefix(s, last) {
			fmt.Fprintln(w, s)
		}
	}
	return true
}

// continuations returns the words that may follow the words before in a command line: flags, subcommands or values. last is the beginning of the
// next word.
func continuations(node *kong.Node, before []string, last string) (out []string) {
	flags := slices.Clone(node.Flags)
	findFlag := func(word string) *kong.Flag {
		i := slices.IndexFunc(flags, func(f *kong.Flag) bool {
			return "--"+f.Name == word || f.Short != 0 && "-"+string(f.Short) == word
		})
		if i < 0 {
			return nil
		}
		return flags[i]
	}
	arguments := 0
	var needsValue *kong.Flag // the flag whose value is the next word
	for _, word := range before {
		if needsValue != nil {
			needsValue = nil
			continue
		}
		if strings.HasPrefix(word, "-") {
			if f := findFlag(word); f != nil && !f.IsBool() {
				needsValue = f
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
	name, _, hasValue := strings.Cut(last, "=")
	switch {
	case needsValue != nil:
		return needsValue.EnumSlice()
	case hasValue:
		if f := findFlag(name); f != nil {
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
