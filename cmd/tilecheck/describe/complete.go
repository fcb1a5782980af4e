package describe

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Complete prints the words that can complete the command line in a shell. The shell passes this line in COMP_LINE and the position of the cursor
// in COMP_POINT, as bash does for complete -C. It returns false if COMP_LINE is not set.
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
	earlier, current := words[1:len(words)-1], words[len(words)-1]
	typedPart := current
	if _, value, hasValue := strings.Cut(current, "="); hasValue {
		typedPart = value // the shell completes only the part behind "="
	}
	for _, word := range continuations(model.Node, earlier, current) {
		if word != "" && strings.HasPrefix(word, typedPart) {
			fmt.Fprintln(w, word)
		}
	}
	return true
}

// continuations returns the flags, subcommands or values that the user may be typing. earlier are the finished words of the command line, and
// current is the beginning of the next word.
func continuations(root *kong.Node, earlier []string, current string) []string {
	position := &linePosition{node: root, flags: slices.Clone(root.Flags)}
	for _, word := range earlier {
		position.addWord(word)
	}
	if position.needsValue != nil {
		return position.needsValue.EnumSlice()
	}
	if name, _, hasValue := strings.Cut(current, "="); hasValue {
		if flag := position.flag(name); flag != nil {
			return flag.EnumSlice()
		}
		return nil
	}
	if strings.HasPrefix(current, "-") {
		return position.flagNames()
	}
	return position.subcommandsAndValues()
}

// linePosition is a position in a command line.
type linePosition struct {
	node       *kong.Node   // the command so far
	flags      []*kong.Flag // the flags of the command and of the commands around it
	arguments  int          // the number of positional arguments so far
	needsValue *kong.Flag   // the flag whose value is the next word; nil if there is none
}

// addWord moves the position behind one more finished word of the command line: a flag, the value of a flag, a subcommand or an argument.
func (p *linePosition) addWord(word string) {
	if p.needsValue != nil {
		p.needsValue = nil
		return
	}
	if strings.HasPrefix(word, "-") {
		if flag := p.flag(word); flag != nil && !flag.IsBool() {
			p.needsValue = flag
		}
		return
	}
	childIndex := slices.IndexFunc(p.node.Children, func(child *kong.Node) bool { return child.Name == word })
	if childIndex < 0 {
		p.arguments++
		return
	}
	p.node, p.arguments = p.node.Children[childIndex], 0
	p.flags = append(p.flags, p.node.Flags...)
}

// flag returns the flag that a word names; nil if there is none.
func (p *linePosition) flag(word string) *kong.Flag {
	for _, flag := range p.flags {
		if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
			return flag
		}
	}
	return nil
}

// flagNames returns the names of the flags that help shows.
func (p *linePosition) flagNames() []string {
	var names []string
	for _, flag := range p.flags {
		if !flag.Hidden {
			names = append(names, "--"+flag.Name)
		}
	}
	return names
}

// subcommandsAndValues returns the subcommands, and the allowed values of the next positional argument.
func (p *linePosition) subcommandsAndValues() []string {
	var words []string
	for _, child := range p.node.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	if p.arguments < len(p.node.Positional) && p.node.Positional[p.arguments].Enum != "" {
		words = append(words, p.node.Positional[p.arguments].EnumSlice()...)
	}
	return words
}
