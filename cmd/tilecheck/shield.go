package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tilecheck/internal/interval"
	"tilecheck/native"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/explain/shield"
	"tilecheck/native/load"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
	digits "tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
)

type shieldCmd struct {
	ModelFile       string       `arg:"" name:"model" help:"PRISM model, or - for standard input." file:"in"`
	Property        string       `arg:"" help:"The probability to keep near its optimum: 'Pmax=? [ F goal ]', 'Pmin=? [ ... ]'."`
	Const           []string     `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	Threshold       *fraction    `required:"" help:"Allow choices whose value is at most D from that of the best choice of the state: 0.05 or 1/20." placeholder:"D"`
	Relative        bool         `help:"D is relative: 0.05 allows a loss of 5 % of the best value."`
	Total           bool         `help:"D limits the loss of the whole path, not of each choice; this is proven."`
	Output          string       `short:"o" help:"Write the shield: .prism is the model with the allowed choices only, .all, .umb, ... its states, .json a scheduler as Storm writes it." placeholder:"FILE" file:"some"`
	ExportScheduler string       `help:"Write the worst scheduler that the shield allows (FILE:type=indices, ...)." placeholder:"FILE" file:"target"`
	States          int          `name:"list" aliases:"states" help:"States to list." default:"10" want:"[0,]" placeholder:"N"`
	MaxStates       int          `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory          byteCount    `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Format          table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// fraction is a number of at least 0, kept exactly.
type fraction struct{ big.Rat }

// UnmarshalText parses a number that is at least 0, such as "0.05", "1e-3" or "1/20". The length and the exponent are limited, so that the
// fraction stays small.
func (f *fraction) UnmarshalText(text []byte) error {
	const maxLength, maxExponent = 64, 1000
	if len(text) > maxLength {
		return fmt.Errorf("found a number of %d characters, want at most %d", len(text), maxLength)
	}
	if i := strings.IndexAny(string(text), "eE"); i >= 0 {
		exponent, err := strconv.Atoi(string(text[i+1:]))
		if err != nil || exponent < -maxExponent || exponent > maxExponent {
			return fmt.Errorf("%q is not a number with an exponent from -%d to %d", text, maxExponent, maxExponent)
		}
	}
	if _, ok := f.SetString(string(text)); !ok || f.Sign() < 0 {
		return fmt.Errorf("%q is not a number of at least 0", text)
	}
	return nil
}

// Run computes the shield and the values that it guarantees. It writes the files of the shield and prints a summary.
func (c *shieldCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	if err := c.checkOutputFiles(env); err != nil {
		return err
	}
	text, err := env.readSource(c.ModelFile)
	if err != nil {
		return err
	}
	start := time.Now()
	question, tree, err := c.newQuestion(ctx, env, c.ModelFile, text)
	if err != nil {
		return err
	}
	computed, err := shield.New(ctx, question, &shield.Options{Threshold: &c.Threshold.Rat, Relative: c.Relative, Total: c.Total})
	if err != nil {
		return err
	}
	promise, err := computed.Promise(ctx)
	if err != nil {
		return err
	}
	written, err := c.writeFiles(ctx, env, computed, promise, tree)
	return errors.Join(c.printShield(env, computed, promise, written, time.Since(start)), err)
}

// checkOutputFiles returns an error if an output file has a format that cannot express a shield, or if the file cannot be written.
func (c *shieldCmd) checkOutputFiles(env *environment) error {
	outputs := []string{c.Output}
	if target, ok := stateFiles(c.Output); ok {
		outputs = outputFiles([]output{target}, 0)
	} else if extension := filepath.Ext(c.Output); c.Output != "" && extension != ".prism" && extension != ".json" {
		return usageError("-o is %q, want a file .prism or .json, or files of states, such as .all or .umb", c.Output)
	}
	if err := env.checkOutputs("--output", outputs...); err != nil || c.ExportScheduler == "" {
		return err
	}
	_, format, _, err := scheduler.ParseTarget(c.ExportScheduler)
	switch {
	case err != nil:
		return usageError("--export-scheduler: %w", err)
	case format == scheduler.Tree:
		return usageError("--export-scheduler: found type=tree, want one of PRISM's types or json: a decision tree cannot express the worst scheduler of a shield")
	}
	return nil
}

// writeFiles writes the files of --output and --export-scheduler, and returns the names of the written files.
func (c *shieldCmd) writeFiles(ctx context.Context, env *environment, computed *shield.Shield, promise *shield.Promise, tree *syntax.Model) (written []string, err error) {
	if c.Output != "" {
		if written, err = c.writeShield(ctx, env, computed, promise, tree); err != nil {
			return nil, err
		}
	}
	if c.ExportScheduler != "" {
		file, err := c.writeScheduler(ctx, env, computed, promise)
		if err != nil {
			return written, err
		}
		written = append(written, file)
	}
	return written, nil
}

// newQuestion builds the state space of a model, and returns the property whose probability the shield must keep. It also returns the syntax tree of
// the model.
func (c *shieldCmd) newQuestion(ctx context.Context, env *environment, file string, text []byte) (question *shield.Question, tree *syntax.Model, err error) {
	job := runner.Job{
		File: file, Model: text, Props: []string{c.Property}, PropNames: []string{"property"}, Consts: c.Const,
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory), Accuracy: result.Exact}},
	}
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, nil, explainSwappedFiles(err, &job)
	}
	_, properties, err := plan.Instances()
	if err != nil {
		return nil, nil, err
	}
	if len(properties) != 1 {
		return nil, nil, usageError("found %d properties, want one for a shield", len(properties))
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	space, err := load.Space(ctx, plan.WithOutputs(func(outputs *runner.Outputs) { outputs.Progress = showProgress }))
	if err != nil {
		return nil, nil, stateLimitError(err)
	}
	properties[0].Text = c.Property // error messages show the user's text
	question, err = native.ShieldQuestion(ctx, space, &properties[0])
	return question, plan.Tree, err
}

// writeScheduler writes the worst scheduler that the shield allows, and returns the name of its file. Before it writes, it checks that this
// scheduler attains the promised worst value.
func (c *shieldCmd) writeScheduler(ctx context.Context, env *environment, computed *shield.Shield, promise *shield.Promise) (string, error) {
	file, format, options, err := scheduler.ParseTarget(c.ExportScheduler)
	if err != nil {
		return "", err
	}
	if err := computed.ConfirmScheduler(ctx, promise); err != nil {
		return "", brokenPromise(file, err)
	}
	return file, env.writeFile(file, func(w io.Writer) error {
		return scheduler.Write(ctx, w, computed.Space, scheduler.Scheduler{promise.WorstScheduler}, format, options)
	})
}

// brokenPromise adds to the error about a broken promise that the file was not written, and that this is a bug. It returns any other error
// unchanged.
func brokenPromise(file string, err error) error {
	if _, broken := errors.AsType[*shield.BrokenPromise](err); broken {
		return fmt.Errorf("%s was not written: %w; this is a bug: please report it", file, err)
	}
	return err
}

// writeShield writes the shield in the format of --output, and returns the names of its files. tree is the model without the shield. For a model, it
// first checks the promised values on the text that it writes.
func (c *shieldCmd) writeShield(ctx context.Context, env *environment, computed *shield.Shield, promise *shield.Promise, tree *syntax.Model) (files []string, err error) {
	if filepath.Ext(c.Output) == ".json" {
		return []string{c.Output}, env.writeFile(c.Output, func(w io.Writer) error { return computed.JSON(ctx, w) })
	}
	if target, ok := stateFiles(c.Output); ok {
		return c.writeStates(ctx, env, computed, target)
	}
	text, err := computed.Model(ctx, tree)
	if err != nil {
		return nil, err
	}
	shielded, _, err := c.newQuestion(ctx, env, c.Output, text)
	if err != nil {
		return nil, fmt.Errorf("check the shielded model: %w", err)
	}
	if err := promise.Confirm(ctx, shielded); err != nil {
		return nil, brokenPromise(c.Output, err)
	}
	return []string{c.Output}, env.writeFile(c.Output, textWriter(string(text)))
}

// writeStates writes the state space with only the allowed choices, as the files of an output. It returns the names of these files.
func (c *shieldCmd) writeStates(ctx context.Context, env *environment, computed *shield.Shield, target output) ([]string, error) {
	restricted, err := computed.Space.Restrict(computed.Allowed)
	if err != nil {
		return nil, err
	}
	if err := env.checkOutputs("--output", outputFiles([]output{target}, len(restricted.Program().Rewards))...); err != nil {
		return nil, err
	}
	shieldExporter := &exporter{env: env, space: restricted.WithoutFractions(), options: files.Options{Precision: files.MaxPrecision, Zeros: true}}
	err = shieldExporter.writeOutputs(ctx, target)
	return shieldExporter.writtenNames, err
}

// printShield prints the facts about the shield, and a list of states that it restricts.
func (c *shieldCmd) printShield(env *environment, computed *shield.Shield, promise *shield.Promise, written []string, elapsed time.Duration) error {
	facts := c.shieldFacts(computed, promise)
	facts.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, nil)
	if len(written) > 0 {
		facts.Notes = append(facts.Notes, "wrote "+strings.Join(written, ", "))
	}
	facts.Notes = append(facts.Notes, computed.Space.Warnings()...)
	env.markOutputStarted()
	err := facts.Write(env.stdout, c.Format, env.reportOptions())
	listsStates := c.States > 0 && (c.Format == table.Text || c.Format == table.Markdown)
	if err != nil || !listsStates {
		return err
	}
	if _, err := fmt.Fprintln(env.stdout); err != nil {
		return err
	}
	return c.stateTable(computed).Write(env.stdout, c.Format, env.reportOptions())
}

// shieldFacts returns the facts about the shield: the values that it guarantees, and the numbers of its states and choices.
func (c *shieldCmd) shieldFacts(computed *shield.Shield, promise *shield.Promise) *table.Facts {
	facts := &table.Facts{Title: "Shield of " + c.ModelFile}
	figures := computed.Figures()
	thresholdKind := "absolute"
	if c.Relative {
		thresholdKind = "relative"
	}
	facts.Add(table.Column{Field: "model"}, c.ModelFile, nil)
	facts.Add(table.Column{Name: "property"}, c.Property, nil)
	facts.Add(table.Column{Name: "threshold"}, fractionCell(&c.Threshold.Rat), thresholdKind)
	switch {
	case !c.Total: // the loss of a choice is the threshold
		facts.Add(table.Column{Field: "choice_loss"}, fractionCell(&c.Threshold.Rat), nil)
	case computed.Loss != nil:
		facts.Add(table.Column{Name: "loss of a choice", Field: "choice_loss"}, fractionCell(computed.Loss), "the greatest for which the worst scheduler keeps the threshold")
	default:
		facts.Add(table.Column{Name: "loss of a choice", Field: "choice_loss"}, table.Cell{Text: "none"}, "only a best scheduler keeps the threshold")
	}
	facts.Add(table.Column{Name: "best", Field: "best_value"}, probabilityCell(promise.Best), "best value under the shield, equal to that of the model")
	facts.Add(table.Column{Name: "worst", Field: "worst_value"}, probabilityCell(promise.Worst), "worst value under the shield, which it guarantees")
	facts.Add(table.Column{Name: "uniform", Field: "uniform_value"}, probabilityCell(promise.Uniform), "if the allowed choices are equally likely")
	facts.Add(table.Column{Name: "uniform without", Field: "unshielded_uniform_value"}, probabilityCell(promise.Free), "if all choices are equally likely, without the shield")
	facts.Add(table.Column{Name: "states"}, figures.States, "reachable under the shield")
	facts.Add(table.Column{Name: "deciding states", Field: "deciding_states"}, figures.Deciding, "states with several choices")
	facts.Add(table.Column{Name: "restricted states", Field: "restricted_states"}, figures.Restricted, "states in which a choice is not allowed")
	facts.Add(table.Column{Name: "choices"}, figures.Choices, "of the deciding states")
	facts.Add(table.Column{Name: "allowed", Field: "allowed_choices"}, figures.Allowed, "allowed choices of the deciding states")
	return facts
}

// fractionCell returns a table cell with a fraction as a decimal number. Its value for programs is the nearest float64.
func fractionCell(fraction *big.Rat) table.Cell {
	nearest, _ := fraction.Float64()
	return table.Cell{Text: digits.Text(nearest), Value: nearest}
}

// probabilityCell returns a table cell with as many digits of a probability as its bounds prove.
func probabilityCell(probability interval.Number) table.Cell {
	if probability.Exact != nil {
		return fractionCell(probability.Exact)
	}
	nearest := probability.Nearest()
	return table.Cell{Text: digits.ScaleOf(nearest, probability.Width()/2).Format(nearest, 0), Value: nearest}
}

// stateTable returns a table of the first states in which a choice is not allowed.
func (c *shieldCmd) stateTable(computed *shield.Shield) *table.Table {
	stateRows := &table.Table{Columns: []table.Column{
		{Name: "state"}, {Name: "action"}, {Name: "value", Align: table.Right}, {Name: "allowed", Field: "allowed_choices"}, {Name: "instead"},
	}}
	listed, omitted := 0, 0
	for _, state := range computed.Space.Order() {
		if !isRestricted(computed, int(state)) {
			continue
		}
		if listed == c.States {
			omitted++
			continue
		}
		listed++
		appendChoices(stateRows, computed, int(state))
	}
	if omitted > 0 {
		stateRows.Notes = append(stateRows.Notes, fmt.Sprintf("and %d more states in which a choice is not allowed", omitted))
	}
	return stateRows
}

// isRestricted reports whether a choice of a state is not allowed.
func isRestricted(computed *shield.Shield, state int) bool {
	firstChoice, endChoice := computed.Space.Model().Choices(state)
	for choice := firstChoice; choice < endChoice; choice++ {
		if !computed.Allowed.Has(choice) {
			return true
		}
	}
	return false
}

// appendChoices adds a row for each choice of a state, with the choice that the shield makes instead if it is not allowed. Only the first row has
// the name of the state.
func appendChoices(stateRows *table.Table, computed *shield.Shield, state int) {
	stateText := computed.Space.Compiled().StateText(computed.Space.State(nil, state))
	firstChoice, endChoice := computed.Space.Model().Choices(state)
	for choice := firstChoice; choice < endChoice; choice++ {
		allowed, instead := "yes", ""
		if !computed.Allowed.Has(choice) {
			allowed, instead = "no", choiceText(computed, computed.Correction(state, choice))
		}
		stateRows.Append(stateText, choiceText(computed, choice), probabilityCell(computed.ChoiceValue(choice)).Text, allowed, instead)
		stateText = ""
	}
}

// choiceText returns the action of a choice or, if it has none, its number.
func choiceText(computed *shield.Shield, choice int) string {
	if name := computed.Action(choice); name != "" {
		return name
	}
	return "choice " + strconv.Itoa(choice)
}
