package main

import (
	"context"
	"runtime/debug"

	"tilecheck/editor"
	"tilecheck/editor/lsp"
	"tilecheck/report/stream"
)

// lspCmd is the language server.
type lspCmd struct {
	Const []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	Stdio bool     `hidden:"" help:"What some clients say, and nothing else is possible."`

	dialectFlag `embed:""`
}

// Run serves one client.
func (c *lspCmd) Run(ctx context.Context, env *environment) error {
	opts := lsp.Options{Version: env.version(), Editor: editor.Options{Consts: c.Const, Dialect: dialect(c.Dialect)}}
	debug.SetGCPercent(400) // each key makes trees of a text and drops them
	return lsp.Serve(ctx, env.stdin, stream.Raw(env.stdout), opts)
}
