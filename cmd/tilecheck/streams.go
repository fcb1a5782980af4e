package main

import (
	"io"

	"tilecheck/report/stream"

	"tilecheck/report/locate"
	"tilecheck/report/table"
)

// begins says that a command prints one object of JSON.
func (e *world) begins(command string) {
	e.name = command
	go e.version() // which takes time, and there may be little in the end
	e.stdout.(*stream.Stream).Begin()
}

// ends ends the object, if there is one. Code is the exit code of an error.
func (e *world) ends(code int, err error) {
	var p *table.Problem
	if err != nil {
		p = &table.Problem{Message: err.Error(), ExitCode: code, Places: locate.Places(err)}
	}
	e.stdout.(*stream.Stream).End(e.reportOptions(), p)
}

// streams puts streams in front of what the world writes to.
func (e *world) streams() {
	e.stdout, e.stderr = stream.New(e.stdout, "standard output", false), stream.New(e.stderr, "standard error", true)
	terminal := e.terminal
	e.terminal = func(w io.Writer) (int, bool) { return terminal(stream.Raw(w)) }
	if e.getenv("GITHUB_ACTIONS") == "true" {
		e.guardGitHub(false)
	}
}

// guardGitHub keeps what is printed from being taken for commands of GitHub
// Actions; filesToo says whether also what goes to a file, to be shown later.
func (e *system) guardGitHub(filesToo bool) {
	for _, w := range []io.Writer{e.stdout, e.stderr} {
		w.(*stream.Stream).GuardGitHub(filesToo)
	}
}
