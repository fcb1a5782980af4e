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
	restricted := *tree
	restricted.Items = slices.Clone(tree.Items)
	moduleIndex := 0
	for i, item := range tree.Items {
		switch item := item.(type) {
		case *syntax.Module:
			hasSameCommands := moduleIndex < len(program.Modules) && len(program.Modules[moduleIndex].Commands) == len(item.Commands)
			if !hasSameCommands {
				return nil, errors.New("the model's text and its program have different commands; this is a bug: please report it")
			}
			restricted.Items[i] = restrictModule(item, keptCommands, numbering.firstNumbers[moduleIndex])
			moduleIndex++
		case *syntax.RenamedModule:
			moduleIndex++
		}
	}
	var text bytes.Buffer
	err := syntax.Fprint(&text, &restricted, syntax.Options{})
	return text.Bytes(), err
}

// restrictModule returns a module with its kept commands, and a disabled command for each action without a kept command.
// firstNumber is the number of the module's first command.
func restrictModule(module *syntax.Module, keptCommands *sparse.Set, firstNumber int) *syntax.Module {
	restricted := *module
	restricted.Commands = nil
	hasCommand := map[string]bool{} // the actions of the commands in restricted
	for i, command := range module.Commands {
		if !keptCommands.Has(firstNumber + i) {
			continue
		}
		restricted.Commands = append(restricted.Commands, command)
		if command.Action != nil {
			hasCommand[command.Action.Name] = true
		}
	}
	for _, command := range module.Commands {
		if command.Action != nil && !hasCommand[command.Action.Name] {
			hasCommand[command.Action.Name] = true
			restricted.Commands = append(restricted.Commands, disabledCommand(command.Action))
		}
	}
	return &restricted
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
	moduleIndex := 0
	for _, item := range tree.Items {
		switch module := item.(type) {
		case *syntax.Module:
			if moduleIndex == wanted.Module {
				return module, module.Commands[wanted.Command]
			}
			moduleIndex++
		case *syntax.RenamedModule:
			moduleIndex++
		}
	}
	return nil, nil
}
