package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/cmd/tilecheck/describe"
	"tilecheck/internal/foreign"
	"tilecheck/report/table"

	"github.com/alecthomas/kong"
)

// description begins the help of the program.
const description = `Probabilistic model checker for models in the PRISM language and JANI. It can also run PRISM and Storm, and compares the answers.

    tilecheck check die.prism --prop 'P=? [ F s=7 ]'

Exit codes: 0 all verified or agreed, 1 could not run, 2 a property or expectation failed, 3 engines or models disagree, 4 time or memory limit, 80 wrong flags.`

// examples returns the example command lines of a help text.
func examples(lines ...string) string { return "Examples:\n\n    " + strings.Join(lines, "\n    ") }

// Help returns the examples in the help of the command.
func (genCmd) Help() string {
	return examples("tilecheck gen --size 2 --max 16 -o board.prism", "tilecheck gen --rows 2 --cols 3 --max 32 --policy alternating --spawn uniform")
}

// Help returns the examples in the help of the command.
func (checkCmd) Help() string {
	return examples(
		"tilecheck check die.prism --prop 'P=? [ F s=7 ]' --exact",
		"tilecheck check die.prism die.props --method sim --width 0.01 --seed 1",
	)
}

// Help returns the examples in the help of the command.
func (crosscheckCmd) Help() string {
	return examples("tilecheck crosscheck die.prism die.props", "tilecheck crosscheck die.prism --prop 'P=? [ F s=7 ]' --engine native,native:exact,native:ci",
		"tilecheck crosscheck --state-space die.prism --engine prism")
}

// Help returns the examples in the help of the command.
func (shieldCmd) Help() string {
	return examples("tilecheck shield board.prism 'Pmax=? [ F \"success\" ]' --threshold 0.05", "tilecheck shield board.prism 'Pmax=? [ F \"success\" ]' --threshold 1/50 --total -o shielded.prism")
}

// Help returns the examples in the help of the command.
func (simulateCmd) Help() string {
	return "The choices of an MDP are made at random, or by --scheduler; resolve writes the chain under a scheduler as a model.\n\n" +
		examples("tilecheck simulate die.prism --seed 1 --vars s,d", "tilecheck simulate die.prism --steps 100 --format csv")
}

// Help returns the examples in the help of the command.
func (serveCmd) Help() string {
	return examples("tilecheck serve .", "tilecheck serve --export playground")
}

// Help returns the examples in the help of the command.
func (compareCmd) Help() string {
	return "tilecheck compare is short for tilecheck compare models. An example:\n\n    tilecheck compare random --max 128"
}

// Help returns the examples in the help of the command.
func (compareModelsCmd) Help() string {
	return examples("tilecheck compare random orthogonal --max 128 --samples 200 --seed 1", "tilecheck compare --size 2 --max 8,16 --method states --exact")
}

// Help returns the examples in the help of the command.
func (comparePlayersCmd) Help() string {
	return examples("tilecheck compare players random pref:left,up,down,right --size 3", "tilecheck compare players expectimax:depth=1 sparse:depth=1 --games 10")
}

// Help returns the examples in the help of the command.
func (compareDocumentCmd) Help() string {
	return examples("tilecheck compare document thesis --row 'opposite, 128'", "tilecheck compare document lees-miller --table solved --row 2x2")
}

// Help returns the examples in the help of the command.
func (mergeCmd) Help() string {
	return "A shard is the file of a part of a command, such as\n\n    tilecheck check die.prism --prop 'P=? [ F s=7 ]' --method sim --seed 1 --shard 1/2 --partial 1.shard\n\n" +
		examples("tilecheck merge 1.shard 2.shard", "tilecheck merge 1.shard 2.shard -- --format json")
}

// Help returns the examples in the help of the command.
func (playCmd) Help() string {
	return examples("tilecheck play random --size 3 --games 100 --seed 1", "tilecheck play expectimax:eval=snake,depth=2 --size 3 --watch")
}

// Help returns the examples in the help of the command.
func (replayCmd) Help() string {
	return examples("tilecheck replay games.txt", "tilecheck replay games.txt --game 1")
}

// Help returns the examples in the help of the command.
func (strategiesCmd) Help() string {
	return examples("tilecheck strategies", "tilecheck strategies sparse:depth=2 random")
}

// Help returns the examples in the help of the command.
func (fmtCmd) Help() string {
	return examples("tilecheck fmt --stdout die.prism", "tilecheck fmt coin.prism")
}

// Help returns the examples in the help of the command.
func (lintCmd) Help() string {
	return "docs/editors.md explains the warnings. A comment // lint: ignore, at the end of the line or in the line above, silences a warning.\n\n" +
		examples("tilecheck lint die.prism die.props", "tilecheck lint coin.prism --const p=0.5 --format json")
}

// Help returns the examples in the help of the command.
func (lspCmd) Help() string {
	return "It is started by editors; docs/editors.md has their settings.\n\n" +
		examples("tilecheck lsp", "tilecheck lsp --const p=0.5")
}

// Help returns the examples in the help of the command.
func (testCmd) Help() string {
	return examples("tilecheck test suite", "tilecheck test suite --engine native,native:exact --junit report.xml")
}

// Help returns the examples in the help of the command.
func (benchRunCmd) Help() string {
	return "docs/bench.md explains what is measured, and the fields of the results.\n\n" +
		examples("tilecheck bench suite --tool native --tool native:exact -o results.jsonl", "tilecheck bench suite --tool prism:-explicit --cores 1 --memory 4GB")
}

// Help returns the examples in the help of the command.
func (benchCompareCmd) Help() string {
	return examples("tilecheck bench compare old.jsonl new.jsonl --fail-slower 10%", "tilecheck bench compare results.jsonl results.jsonl --old-tool native --new-tool native:exact")
}

// Help returns the examples in the help of the command.
func (benchTasksCmd) Help() string {
	return "For BenchExec: packaging/benchexec has the tool-info module and a benchmark definition.\n\n" +
		examples("tilecheck bench tasks suite --dir tasks", "tilecheck bench tasks examples --dir tasks")
}

// Help returns the examples in the help of the command.
func (benchReportCmd) Help() string {
	return examples("tilecheck bench report results.jsonl", "tilecheck bench report results.jsonl -o results.html")
}

// Help returns the examples in the help of the command.
func (rerunCmd) Help() string {
	return "docs/artifact.md shows records end to end.\n\n" + examples("tilecheck rerun record", "tilecheck rerun record --format json")
}

// Help returns the examples in the help of the command.
func (blessCmd) Help() string {
	return examples("tilecheck bless suite", "tilecheck bless suite --update --yes") + "\n\nThe exit code is 2 if changes are shown and not written."
}

// Help returns the examples in the help of the command.
func (schemaCmd) Help() string { return examples("tilecheck schema", "tilecheck schema check") }

// Help returns the examples in the help of the command.
func (exportCmd) Help() string {
	return examples("tilecheck export die.prism -o die.all", "tilecheck export die.prism -o die.tra,sta,lab -o die.dot")
}

// Help returns the examples in the help of the command.
func (certifyCmd) Help() string {
	return examples("tilecheck certify die.cert", "tilecheck certify die.cert --model die.prism --format json")
}

// Help returns the examples in the help of the command.
func (infoCmd) Help() string {
	return examples("tilecheck info die.prism", "tilecheck info coin.prism --const p=0.5 --format json")
}

// Help returns the examples in the help of the command.
func (distributionCmd) Help() string {
	return examples("tilecheck distribution die.prism --exact", "tilecheck distribution die.prism --time 1:3 --format csv")
}

// Help returns the examples in the help of the command.
func (resolveCmd) Help() string {
	return "The choices are made by --scheduler, a file of check --export-scheduler; by --policy, a file of modules, or a policy of 2048; or by --uniform. To see one path under a scheduler, use simulate --scheduler.\n\n" +
		examples("tilecheck resolve game.prism --policy random", "tilecheck resolve game.prism --uniform")
}

// Help returns the examples in the help of the command.
func (reduceCmd) Help() string {
	return examples("tilecheck reduce board.prism -o small.umb", "tilecheck reduce die.prism die.props", "tilecheck reduce die.prism --prop 'P=? [ F s=7 ]' --format json")
}

// Help returns the examples in the help of the command.
func (solveCmd) Help() string {
	return examples("tilecheck solve --size 2 --max 16", "tilecheck solve --size 2 --max 32 --objective score -o table.2048")
}

// Help returns the examples in the help of the command.
func (trainCmd) Help() string {
	return examples("tilecheck train 2x3.ntuple --rows 2 --cols 3 --games 20000 --seed 1", "tilecheck play ntuple:2x3.ntuple --rows 2 --cols 3 --max 32 --seed 2")
}

// Help returns the examples in the help of the command.
func (policyCmd) Help() string {
	return examples("tilecheck policy --size 2 --max 16 --board '2 . / 4 2'", "tilecheck policy table.2048 --play --seed 1")
}

// Help returns the examples in the help of the command.
func (exportStrategyCmd) Help() string {
	return examples("tilecheck export-strategy random --size 2 --max 16 -o random.prism", "tilecheck export-strategy pref:left,up,down,right --size 2 --max 16 --explicit left --exact")
}

// Help returns the examples in the help of the command.
func (boundCmd) Help() string {
	return examples("tilecheck bound pref:left,up,down,right --size 2 --max 16 --certificate proof.gz", "tilecheck certify proof.gz")
}

// Help returns the examples in the help of the command.
func (submitCmd) Help() string {
	return "A job has a directory with its inputs and results. submit attach continues a job that was stopped or killed."
}

// Help returns the examples in the help of the command.
func (submitLocalCmd) Help() string {
	return examples(
		"tilecheck submit local 2 -- check die.prism --prop 'P=? [ F d=6 ]' --method sim --seed 1",
		"tilecheck submit local 2 --dir job -- compare random --max 8 --size 2 --samples 100 --seed 1",
	)
}

// Help returns the examples in the help of the command.
func (submitSlurmCmd) Help() string {
	return examples(
		"tilecheck submit slurm --time-limit 30 -- compare --samples 1000000 --seed 1",
		"tilecheck submit slurm --dry-run --partition main -- compare random --samples 1000000",
	)
}

// Help returns the examples in the help of the command.
func (submitKubernetesCmd) Help() string {
	return examples(
		"tilecheck submit kubernetes --mount /mnt/shared --dir /mnt/shared/job --image tilecheck:1 --claim shared -- compare --samples 1000000 --seed 1",
		"tilecheck submit kubernetes --dry-run --image tilecheck:1 --claim shared --run-as 1000:1000 -- compare random --samples 1000000",
	)
}

// Help returns the examples in the help of the command.
func (submitAttachCmd) Help() string {
	return examples("tilecheck submit attach job", "tilecheck submit --attach job")
}

// Help returns the examples in the help of the command.
func (submitCancelCmd) Help() string {
	return examples("tilecheck submit cancel job", "tilecheck submit cancel job --slurm-prefix 'ssh login'")
}

// Help returns the examples in the help of the command.
func (doctorCmd) Help() string {
	return "PRISM and Storm are optional. The exit code is 1 if one that you named, by a flag or in the environment, is not ready; otherwise it is 0.\n\n" +
		examples("tilecheck doctor", "tilecheck doctor --prism-path /opt/prism/bin/prism --format json")
}

// Help returns the examples in the help of the command.
func (imageListCmd) Help() string {
	return examples("tilecheck image", "tilecheck image list --format json")
}

// Help returns the examples in the help of the command.
func (imagePrismCmd) Help() string {
	return examples("tilecheck image prism --from /opt/prism", "tilecheck image prism --from /opt/prism --tag prism:mine --base eclipse-temurin:21")
}

// Help returns the examples in the help of the command.
func (imageGamesCmd) Help() string {
	return examples("tilecheck image prism-games --from /opt/prism-games", "tilecheck image prism-games --from /opt/prism-games --base eclipse-temurin:21")
}

// Help returns the examples in the help of the command.
func (cleanCmd) Help() string { return examples("tilecheck clean", "tilecheck clean --running") }

// Help returns the examples in the help of the command.
func (completionCmd) Help() string {
	return examples("source <(tilecheck completion bash)", "tilecheck completion fish | source")
}

// Help returns the examples in the help of the command.
func (helpCmd) Help() string { return examples("tilecheck help check", "tilecheck help --all check") }

// Help returns the examples in the help of the command.
func (manCmd) Help() string { return examples("tilecheck man | man -l -") }

// Help returns the examples in the help of the command.
func (versionCmd) Help() string { return examples("tilecheck version", "tilecheck --version") }

// helpCmd prints what --help prints.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as check."`
	All     bool     `help:"Also describe the rare flags, of which the short help has only the names."`
}

// Run prints the help of a command, or of the program.
func (c *helpCmd) Run(ctx context.Context, kongContext *kong.Context) error {
	node := kongContext.Model.Node
	for _, word := range c.Command {
		childIndex := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if childIndex >= 0 {
			node = node.Children[childIndex]
			continue
		}
		if knownSwitch := foreign.Lookup(word); knownSwitch != nil && node.Parent == nil { // a switch of PRISM or Storm
			_, err := fmt.Fprintln(kongContext.Stdout, knownSwitch.Explain(word))
			return err
		}
		if hint := helpOfFlag(ctx, word); hint != "" {
			return usageError("there is no command %q; --%s is %s", strings.Join(c.Command, " "), word, hint)
		}
		return usageError("there is no command %q, want one of %s", strings.Join(c.Command, " "), strings.Join(visibleCommandNames(kongContext.Kong), ", "))
	}
	trace, err := kong.Trace(kongContext.Kong, append(c.Command, "--help")) // does not report missing arguments
	if err != nil {
		return err
	}
	return describe.PrintHelp(c.All || len(c.Command) == 0)(describe.HelpOptions(), trace)
}

// helpOfFlag returns the end of a message about a flag: which commands have it, and which help explains it. It returns "" if no command has it.
func helpOfFlag(ctx context.Context, name string) string {
	switch commands := commandsWithFlag(ctx, name); {
	case len(commands) == 0:
		return ""
	case len(commands) <= maxCommandsOfFlag:
		return "a flag of " + strings.Join(commands, ", ") + " (see tilecheck help --all " + commands[0] + ")"
	default:
		return fmt.Sprintf("a flag of %d commands, such as %s (see tilecheck help --all %s)", len(commands), commands[0], commands[0])
	}
}

// visibleCommandNames returns the names of the commands that the help of the program lists.
func visibleCommandNames(app *kong.Kong) []string {
	var names []string
	for _, command := range app.Model.Children {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	return names
}

// versionCmd prints what --version prints.
type versionCmd struct {
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run prints the version.
func (c versionCmd) Run(env *environment) error {
	if c.Format == table.Text {
		_, err := fmt.Fprintln(env.stdout, "tilecheck "+env.version())
		return err
	}
	versionTable := &table.Table{Columns: []table.Column{{Name: "version"}}}
	versionTable.Append(env.version())
	return versionTable.Write(env.stdout, c.Format, env.reportOptions())
}

// versionFlag is --version, which needs no command.
type versionFlag bool

// BeforeReset prints the version and ends the run. kong calls it when it finds the flag --version.
func (versionFlag) BeforeReset(app *kong.Kong, env *environment) error {
	command := versionCmd{}
	if env.asksJSON {
		command.Format = table.JSON
		env.beginJSON("version")
	}
	err := command.Run(env)
	app.Exit(exitOK)
	return err
}

// version returns the version of this program for output. An error of reading it matters only where
// results are kept, so it is ignored here.
func (e *environment) version() string {
	id, _ := e.identifyBuild()
	return id
}
