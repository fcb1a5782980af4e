package main

import (
	"io"

	"tilecheck/report/stream"

	"tilecheck/report/locate"
	"tilecheck/report/table"
)

// beginJSON begins the JSON object that a command prints.
func (e *environment) beginJSON(command string) {
	e.jsonCommand = command
	go e.version() // starts early, because it takes time
	e.stdout.(*stream.Stream).Begin()
}

// endJSON ends the JSON object of the command, if one was begun. err is the error of the command, and code its exit code.
func (e *environment) endJSON(code int, err error) {
	var problem *table.Problem
	if err != nil {
		problem = &table.Problem{Message: err.Error(), ExitCode: code, Places: locate.Places(err)}
	}
	e.stdout.(*stream.Stream).End(e.reportOptions(), problem)
}

// wrapStreams replaces standard output and standard error by streams that can hold text back until a merge is complete.
func (e *environment) wrapStreams() {
	e.stdout, e.stderr = stream.New(e.stdout, "standard output", false), stream.New(e.stderr, "standard error", true)
	terminal := e.terminal
	e.terminal = func(w io.Writer) (int, bool) { return terminal(stream.Raw(w)) }
	if e.getenv("GITHUB_ACTIONS") == "true" {
		e.escapeGitHubCommands(false)
	}
}

// escapeGitHubCommands escapes printed text that GitHub Actions would execute as commands. With
// filesToo it also escapes text for a file, which may be shown later.
func (e *system) escapeGitHubCommands(filesToo bool) {
	for _, writer := range []io.Writer{e.stdout, e.stderr} {
		writer.(*stream.Stream).GuardGitHub(filesToo)
	}
}
