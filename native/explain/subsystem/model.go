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

// Model returns the text of the model with only the kept commands. If an action loses all its commands in a module, the module gets a command
// that is never enabled, so that it still blocks the action.
func Model(tree *syntax.Model, program *sema.Program, keptCommands *sparse.Set) ([]byte, error) {
	numbering := NewNumbering(program)
	result := *tree
	result.Items = slices.Clone(tree.Items)
	module := 0
	for i, item := range result.Items {
		switch item := item.(type) {
		case *syntax.Module:
			hasSameCommands := module < len(program.Modules) && len(program.Modules[module].Commands) == len(item.Commands)
			if !hasSameCommands {
				return nil, errors.New("the model's text and its program have different commands; this is a bug: please report it")
			}
			result.Items[i] = restrictModule(item, keptCommands, numbering.firstNumbers[module])
			module++
		case *syntax.RenamedModule:
			module++
		}
	}
	var text bytes.Buffer
	err := syntax.Fprint(&text, &result, syntax.Options{})
	return text.Bytes(), err
}

// restrictModule returns a module with its kept commands, and a disabled command for each action without a kept command.
// first is the number of the module's first command.
func restrictModule(module *syntax.Module, keptCommands *sparse.Set, first int) *syntax.Module {
	result := *module
	result.Commands = nil
	alphabet := map[string]bool{} // the actions of the commands in restricted
	for i, command := range module.Commands {
		if !keptCommands.Has(first + i) {
			continue
		}
		result.Commands = append(result.Commands, command)
		if command.Action != nil {
			alphabet[command.Action.Name] = true
		}
	}
	for _, command := range module.Commands {
		if command.Action != nil && !alphabet[command.Action.Name] {
			alphabet[command.Action.Name] = true
			result.Commands = append(result.Commands, disabledCommand(command.Action))
		}
	}
	return &result
}

// disabledCommand returns a command with the guard false.
func disabledCommand(action *syntax.Ident) *syntax.Command {
	never, _ := syntax.ParseExpr("", []byte("false")) // cannot fail
	return &syntax.Command{Action: action, Guard: never, Updates: []*syntax.Update{{}}}
}

// CommandText returns a command in PRISM's language, on one line and without comments.
func CommandText(command *syntax.Command) (string, error) {
	var text bytes.Buffer
	withoutComments := *command
	withoutComments.Doc, withoutComments.Notes = nil, syntax.Notes{}
	if err := syntax.Fprint(&text, &withoutComments, syntax.Options{}); err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(text.String()), " "), nil
}

// TextOf returns the syntax of the command with the given number, and of its module. It returns nil if there is no such command.
func TextOf(tree *syntax.Model, program *sema.Program, number int) (*syntax.Module, *syntax.Command) {
	wanted := NewNumbering(program).Command(number)
	module := 0
	for _, item := range tree.Items {
		switch item := item.(type) {
		case *syntax.Module:
			if module == wanted.Module {
				return item, item.Commands[wanted.Command]
			}
			module++
		case *syntax.RenamedModule:
			module++
		}
	}
	return nil, nil
}
