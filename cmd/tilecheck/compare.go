package main

import (
	"slices"
	"strings"

	"tilecheck/report/plot"
	"tilecheck/verify/experiment"
)

// compareCmd has three commands that compare strategies: in models, in played games, and with published tables.
type compareCmd struct {
	Models   compareModelsCmd   `cmd:"" default:"withargs" help:"Check models of the game; with no arguments, the thesis's experiment."`
	Players  comparePlayersCmd  `cmd:"" help:"Let strategies play, and say which one is better."`
	Document compareDocumentCmd `cmd:"" help:"Repeat the tables of a source document."`
}

// strategyFlag is the former way to name strategies, which are arguments now.
type strategyFlag struct {
	Strategies []string `hidden:"" help:"Strategies, separated by semicolons." sep:";" placeholder:"S"`
}

// specsOrThesis returns the strategies that the user names on the command line, or the strategies of the thesis if there are none.
func (f strategyFlag) specsOrThesis(words []string) []string {
	if asked := slices.Concat(words, f.Strategies); len(asked) > 0 {
		return splitStrategies(asked)
	}
	return experiment.ThesisStrategies()
}

// splitStrategies splits arguments such as "random,greedy" at commas. An argument with a colon, such as pref:left,up, is one strategy.
func splitStrategies(args []string) []string {
	var strategies []string
	for _, arg := range args {
		texts := []string{arg}
		if hasOptions := strings.Contains(arg, ":"); !hasOptions {
			texts = strings.Split(arg, ",")
		}
		for _, text := range texts {
			if name := strings.TrimSpace(text); name != "" {
				strategies = append(strategies, name)
			}
		}
	}
	return strategies
}

// plotFlag is the file of a chart.
type plotFlag struct {
	Plot string `help:"Draw the table, .svg or .png, with error bars." placeholder:"FILE" file:"out"`
}

// checkExtension returns a usage error if the extension of the file is not one of a picture.
func (f plotFlag) checkExtension() error {
	if f.Plot == "" {
		return nil
	}
	if err := plot.CheckPath(f.Plot); err != nil {
		return usageError("%w", err)
	}
	return nil
}
