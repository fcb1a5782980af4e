package main

import (
	"slices"
	"strings"

	"tilecheck/report"
	"tilecheck/verify/experiment"
)

// compareCmd is three commands, which ask who is better of different witnesses.
type compareCmd struct {
	Models   compareModelsCmd   `cmd:"" default:"withargs" help:"Check models of the game, one for each strategy and tile; with no arguments, the thesis's experiment."`
	Players  comparePlayersCmd  `cmd:"" help:"Have strategies play, and say who is better."`
	Document compareDocumentCmd `cmd:"" help:"Repeat the tables of a source document, published numbers beside ours."`
}

// strategyArgs are the strategies to compare.
type strategyArgs struct {
	Words      []string `arg:"" optional:"" name:"strategy" help:"Names of the thesis (random, opposite, orthogonal, alternating; these four by default) or policies such as pref:left,up,down,right; for players, any of tilecheck strategies."`
	Strategies []string `hidden:"" help:"The same, separated by semicolons." sep:";" placeholder:"S"`
}

// specs are the strategies asked for, or those of the thesis.
func (c strategyArgs) specs() []string {
	if asked := slices.Concat(c.Words, c.Strategies); len(asked) > 0 {
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
	Plot string `help:"Draw the table as a picture, .svg or .png, with error bars." placeholder:"FILE" file:"out"`
}

// check refuses a file that cannot be drawn before the work begins.
func (f plotFlag) check() error {
	if f.Plot == "" {
		return nil
	}
	if err := report.CheckPlotPath(f.Plot); err != nil {
		return usageError("%w", err)
	}
	return nil
}
