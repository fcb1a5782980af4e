package main

import (
	"io"

	"tilecheck/cmd/tilecheck/describe"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, for packages of this program.
type manCmd struct{}

// Run prints the page: one section of the manual for all commands.
func (manCmd) Run(kongContext *kong.Context, env *environment) error {
	_, err := io.WriteString(env.stdout, describe.Manual(kongContext.Model))
	return err
}
