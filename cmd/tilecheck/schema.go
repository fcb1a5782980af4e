package main

import (
	"strings"

	"tilecheck/report/schema"
)

// schemaCmd prints the JSON Schema of the output of a command.
type schemaCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as check or image list." name:"of"`
}

// Run prints the JSON schema of a command. Without a command, it prints the names of all commands that have a schema.
func (c *schemaCmd) Run(env *environment) error {
	if len(c.Command) == 0 {
		return textWriter(strings.Join(schema.Commands(), "\n") + "\n")(env.stdout)
	}
	text, err := schema.ForCommand(strings.Join(c.Command, " "))
	if err != nil {
		return usageError("%w", err)
	}
	return textWriter(string(text))(env.stdout)
}
