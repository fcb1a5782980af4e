package main

import (
	"io"

	"tilecheck/report/stream"

	"tilecheck/report/locate"
	"tilecheck/report/table"
)

// beginJSON says that a command prints one object of JSON.
func (e *environment) beginJSON(command string) {
	e.name = command
	go e.version() // which takes time, and there may be little in the end
	e.stdout.(*stream.Stream).Begin()
}

// endJSON ends the object, if there is one. Code is the exit code of an error.
func (e *environment) endJSON(code int, err error) {
	var p *table.Problem
	if err != nil {
		p = &table.Problem{Message: err.Error(), Code: code, Places: locate.Places(err)}
	}
	e.stdout.(*stream.Stream).End(e.reportOptions(), p)
}

// wrapStreams puts streams in front of what the world writes to.
func (e *environment) wrapStreams() {
	e.stdout, e.stderr = stream.New(e.stdout, "standard output", false), stream.New(e.stderr, "standard error", true)
	terminal := e.terminal
	e.terminal = func(w io.Writer) (int, bool) { return terminal(stream.Raw(w)) }
	if e.getenv("GITHUB_ACTIONS") == "true" {
		e.escapeGitHubCommands(false)
	}
}

// escapeGitHubCommands keeps what is printed from being taken for commands of GitHub
// Actions; filesToo says whether also what goes to a file, to be shown later.
func (e *system) escapeGitHubCommands(filesToo bool) {
	for _, w := range []io.Writer{e.stdout, e.stderr} {
		w.(*stream.Stream).GuardGitHub(filesToo)
	}
}
