package subsystem

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Model returns the text of a model with some of its commands, by number, alone. A module
// keeps the actions that it takes part in, so that others still wait for it.
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
			out.Items[i] = cut(x, kept, numbers.first[module])
			module++
		case *syntax.RenamedModule:
			module++
		}
	}
	var b bytes.Buffer
	err := syntax.Fprint(&b, &out, syntax.Options{})
	return b.Bytes(), err
}

// cut returns a module with the commands that are kept, whose numbers begin at first.
func cut(x *syntax.Module, kept *sparse.Set, first int) *syntax.Module {
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
			out.Commands = append(out.Commands, never(cmd.Action))
		}
	}
	return &out
}

// never is a command that is never enabled.
func never(action *syntax.Ident) *syntax.Command {
	off, _ := syntax.ParseExpr("", []byte("false")) // which is one
	return &syntax.Command{Action: action, Guard: off, Updates: []*syntax.Update{{}}}
}

// CommandText returns a command as it is written in one line.
func CommandText(cmd *syntax.Command) (string, error) {
	var b bytes.Buffer
	plain := *cmd
	plain.Doc, plain.Notes = nil, syntax.Notes{}
	if err := syntax.Fprint(&b, &plain, syntax.Options{}); err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(b.String()), " "), nil
}

// TextOf returns the command of a text with a number, and its module.
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
