package main

import (
	"context"
	"runtime/debug"

	"tilecheck/editor"
	"tilecheck/editor/lsp"
	"tilecheck/internal/stream"
	"tilecheck/prism/syntax"
)

// lspCmd is the language server.
type lspCmd struct {
	Const   []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	Dialect string   `rare:"" help:"Whose language the texts are in: prism or storm." default:"prism" enum:"prism,storm"`
	Stdio   bool     `hidden:"" help:"What some clients say, and nothing else is possible."`
}

// Run serves one client.
func (c *lspCmd) Run(ctx context.Context, env *world) error {
	opts := lsp.Options{Version: env.version(), Editor: editor.Options{Consts: c.Const}}
	if c.Dialect == "storm" {
		opts.Editor.Dialect = syntax.Storm
	}
	debug.SetGCPercent(400) // each key makes trees of a text and drops them
	return lsp.Serve(ctx, env.stdin, stream.Raw(env.stdout), opts)
}
