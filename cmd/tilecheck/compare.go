package main

import (
	"slices"
	"strings"

	"tilecheck/report/plot"
	"tilecheck/verify/experiment"
)

// compareCmd is three commands, which ask who is better of different witnesses.
type compareCmd struct {
	Models   compareModelsCmd   `cmd:"" default:"withargs" help:"Check models of the game; with no arguments, the thesis's experiment."`
	Players  comparePlayersCmd  `cmd:"" help:"Have strategies play, and say who is better."`
	Document compareDocumentCmd `cmd:"" help:"Repeat the tables of a source document."`
}

// strategyFlag is how strategies were given before they were arguments.
type strategyFlag struct {
	Strategies []string `hidden:"" help:"Strategies, separated by semicolons." sep:";" placeholder:"S"`
}

// specs are the strategies asked for, or those of the thesis.
func (f strategyFlag) specs(words []string) []string {
	if asked := slices.Concat(words, f.Strategies); len(asked) > 0 {
		return splitStrategies(asked)
	}
	return experiment.ThesisStrategies()
}

// splitStrategies separates names by commas; a policy with lists has commas of its own.
func splitStrategies(args []string) []string {
	var out []string
	for _, arg := range args {
		parts := []string{arg}
		if !strings.Contains(arg, ":") {
			parts = strings.Split(arg, ",")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// plotFlag draws what is printed.
type plotFlag struct {
	Plot string `help:"Draw the table, .svg or .png, with error bars." placeholder:"FILE" file:"out"`
}

// check refuses a file that cannot be drawn before the work begins.
func (f plotFlag) check() error {
	if f.Plot == "" {
		return nil
	}
	if err := plot.CheckPath(f.Plot); err != nil {
		return usageError("%w", err)
	}
	return nil
}
