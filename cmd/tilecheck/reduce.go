package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/native"
	"tilecheck/native/space/files/named"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// reduceCmd checks properties with and without reduction.
type reduceCmd struct {
	jobFlags `embed:""`

	Partition       string `help:"Reduce by the partition of a file, which is checked, and not by the coarsest one." placeholder:"FILE" file:"in"`
	ExportPartition string `help:"Write the partition: the block of each state." placeholder:"FILE" file:"out"`

	Exact     bool          `help:"Compute in rational arithmetic: values are compared as fractions."`
	MaxStates int           `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory    byteCount     `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Timeout   time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
	Format    table.Format  `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run prints the sizes of the model and of its quotients.
func (c *reduceCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	job, err := c.jobFlags.job(env)
	if err != nil {
		return err
	}
	if named.Is(c.ModelFile) {
		return usageError("%s has states, whose numbers may be rounded: want a model, of which the fractions are known", c.ModelFile)
	}
	if c.Partition != "" && c.ExportPartition != "" {
		return usageError("--partition is a partition that there is, and --export-partition writes one: want one of the two")
	}
	job.Method = runner.States
	job.Numeric = runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)}
	if c.Exact {
		job.Numeric.Accuracy = result.Exact
	}
	progress, done := env.progress()
	job.Progress = progress
	whole, err := checkNative(ctx, job)
	if err != nil {
		return err
	}
	job.Numeric.Reduce = true
	switch {
	case c.Partition != "":
		text, err := env.readSource(c.Partition)
		if err != nil {
			return err
		}
		job.Partition = &runner.PartitionFile{File: c.Partition, Text: append([]byte{}, text...)}
	case c.ExportPartition != "":
		job.Partition = &runner.PartitionFile{File: c.ExportPartition, Write: env.writeFile}
	}
	reduced, err := checkNative(ctx, job)
	done()
	if err != nil {
		return err
	}
	if failure := reduced[0].Err; job.Partition != nil && failure != nil {
		if strings.HasPrefix(failure.Message, c.Partition+":") { // the place is in that file
			return errors.New(failure.Message)
		}
		return failure
	}
	env.beginsPrinting()
	reductions, records, code := reductionTable(whole, reduced)
	if c.Format.Machine() {
		err = table.WriteRecords(env.stdout, c.Format, env.reportOptions(), nil, records, reductions.Notes)
	} else {
		err = reductions.Write(env.stdout, c.Format, env.reportOptions())
	}
	env.printWarnings(c.Format, reduced)
	return cmp.Or(err, exitStatus(code))
}

// checkNative checks a job with the embedded engine.
func checkNative(ctx context.Context, job runner.Job) ([]result.Verdict, error) {
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, explainMisplaced(err, &job)
	}
	return native.New().Check(ctx, plan)
}

// reductionRecord is a row in JSON and CSV: the verdict on the quotient, with the sizes of the model and of the quotient.
type reductionRecord struct {
	result.Record
	ReducedStates      int64  `json:"reduced_states,omitempty"`
	ReducedChoices     int64  `json:"reduced_choices,omitempty"`
	ReducedTransitions int64  `json:"reduced_transitions,omitempty"`
	Outcome            string `json:"outcome,omitempty"` // of the comparison of the two values
}

// reductionTable returns a table and records with a row for each property, and the exit code. whole has the verdicts about the model, reduced the verdicts about its quotients.
func reductionTable(whole, reduced []result.Verdict) (*table.Table, []reductionRecord, int) {
	out := &table.Table{
		Columns: []table.Column{
			{Name: "property", Min: 24, Code: true},
			{Name: "states", Align: table.Right},
			{Name: "reduced", Field: "reduced_states", Align: table.Right},
			{Name: "choices", Align: table.Right},
			{Name: "reduced", Field: "reduced_choices", Align: table.Right},
			{Name: "transitions", Align: table.Right},
			{Name: "reduced", Field: "reduced_transitions", Align: table.Right},
			{Name: "value"},
			{Name: "outcome", Min: 10},
		},
	}
	code := verdictCode(whole)
	records := []reductionRecord{}
	for i := range whole {
		ofModel, ofQuotient := &whole[i], &reduced[i]
		relation := agree.Verdicts("whole", ofModel, "reduced", ofQuotient, agree.Ask(ofModel.Property, ofModel.Constants), agree.Options{}).Relation
		record := reductionRecord{
			Record: result.NewRecord(ofQuotient), Outcome: relation.String(),
			ReducedStates: ofQuotient.States, ReducedChoices: ofQuotient.Choices, ReducedTransitions: ofQuotient.Transitions,
		}
		record.States, record.Choices, record.Transitions = ofModel.States, ofModel.Choices, ofModel.Transitions
		agreement := record.Outcome
		switch {
		case ofQuotient.Err != nil:
			record.Outcome = ""
			agreement, code = ofQuotient.Err.Error(), verdictCode(reduced)
		case relation == agree.Different:
			code = exitDisagree
		}
		records = append(records, record)
		out.Append(ofModel.Property, ofModel.States, ofQuotient.States, ofModel.Choices, ofQuotient.Choices, ofModel.Transitions, ofQuotient.Transitions, valueText(ofQuotient), agreement)
		for _, warning := range ofQuotient.Warnings {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %s", ofQuotient.Property, warning))
		}
	}
	if slices.ContainsFunc(reduced, func(ofModel result.Verdict) bool { return ofModel.Err == nil }) {
		out.Notes = append(out.Notes, "every partition was checked: states of a block have the same choices, probabilities and rewards, as fractions")
	}
	return out, records, code
}

// valueText returns the value of a verdict: a fraction, a decimal number, or a truth value.
func valueText(verdict *result.Verdict) string {
	switch {
	case verdict.Err != nil:
		return ""
	case verdict.Value.Kind == result.Boolean:
		return strconv.FormatBool(verdict.Value.Bool)
	case verdict.Value.Rat != nil:
		return verdict.Value.Rat.RatString()
	}
	return strconv.FormatFloat(verdict.Value.Num, 'g', 9, 64)
}
