package subsystem

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Model returns the text of the model with the kept commands only. A module keeps its alphabet, so that
// synchronisation with it still blocks: an action without commands gets a command that is never
// enabled.
func Model(tree *syntax.Model, prog *sema.Program, kept *sparse.Set) ([]byte, error) {
	numbers := NewNumbering(prog)
	out := *tree
	out.Items = slices.Clone(tree.Items)
	module := 0
	for i, item := range out.Items {
		switch x := item.(type) {
		case *syntax.Module:
			if module >= len(prog.Modules) || len(prog.Modules[module].Commands) != len(x.Commands) {
				return nil, errors.New("the text of the model has other commands; this is a bug: please report it")
			}
			out.Items[i] = restrictModule(x, kept, numbers.first[module])
			module++
		case *syntax.RenamedModule:
			module++
		}
	}
	var b bytes.Buffer
	err := syntax.Fprint(&b, &out, syntax.Options{})
	return b.Bytes(), err
}

// restrictModule returns a module with its kept commands. first is the number of its first command.
func restrictModule(x *syntax.Module, kept *sparse.Set, first int) *syntax.Module {
	out := *x
	out.Commands = nil
	alphabet := map[string]bool{}
	for i, cmd := range x.Commands {
		if !kept.Has(first + i) {
			continue
		}
		out.Commands = append(out.Commands, cmd)
		if cmd.Action != nil {
			alphabet[cmd.Action.Name] = true
		}
	}
	for _, cmd := range x.Commands {
		if cmd.Action != nil && !alphabet[cmd.Action.Name] {
			alphabet[cmd.Action.Name] = true
			out.Commands = append(out.Commands, disabledCommand(cmd.Action))
		}
	}
	return &out
}

// disabledCommand returns a command with guard false.
func disabledCommand(action *syntax.Ident) *syntax.Command {
	off, _ := syntax.ParseExpr("", []byte("false")) // cannot fail
	return &syntax.Command{Action: action, Guard: off, Updates: []*syntax.Update{{}}}
}

// CommandText returns a command as text in one line.
func CommandText(cmd *syntax.Command) (string, error) {
	var b bytes.Buffer
	plain := *cmd
	plain.Doc, plain.Notes = nil, syntax.Notes{}
	if err := syntax.Fprint(&b, &plain, syntax.Options{}); err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(b.String()), " "), nil
}

// TextOf returns the command with a number, and its module.
func TextOf(tree *syntax.Model, prog *sema.Program, number int) (*syntax.Module, *syntax.Command) {
	ref := NewNumbering(prog).Command(number)
	module := 0
	for _, item := range tree.Items {
		switch x := item.(type) {
		case *syntax.Module:
			if module == ref.Module {
				return x, x.Commands[ref.Command]
			}
			module++
		case *syntax.RenamedModule:
			module++
		}
	}
	return nil, nil
}
