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
func (c *reduceCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
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
	whole, err := checked(ctx, job)
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
	reduced, err := checked(ctx, job)
	done()
	if err != nil {
		return err
	}
	if f := reduced[0].Err; job.Partition != nil && f != nil {
		if strings.HasPrefix(f.Message, c.Partition+":") { // the place is in that file, and not in the property
			return errors.New(f.Message)
		}
		return f
	}
	env.printing()
	t, records, code := reductions(whole, reduced)
	if c.Format.Machine() {
		err = table.WriteRecords(env.stdout, c.Format, env.reportOptions(), nil, records, t.Notes)
	} else {
		err = t.Write(env.stdout, c.Format, env.reportOptions())
	}
	env.warn(c.Format, reduced)
	return cmp.Or(err, status(code))
}

// checked asks the embedded engine.
func checked(ctx context.Context, job runner.Job) ([]result.Verdict, error) {
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, mistaken(err, &job)
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

// reductions has a row for each property, and the exit code.
func reductions(whole, reduced []result.Verdict) (*table.Table, []reductionRecord, int) {
	t := &table.Table{
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
		v, w := &whole[i], &reduced[i]
		relation := agree.Verdicts("whole", v, "reduced", w, agree.Ask(v.Property, v.Constants), agree.Options{}).Relation
		r := reductionRecord{
			Record: result.NewRecord(w), Outcome: relation.String(),
			ReducedStates: w.States, ReducedChoices: w.Choices, ReducedTransitions: w.Transitions,
		}
		r.States, r.Choices, r.Transitions = v.States, v.Choices, v.Transitions
		agreement := r.Outcome
		switch {
		case w.Err != nil:
			r.Outcome = ""
			agreement, code = w.Err.Error(), verdictCode(reduced)
		case relation == agree.Different:
			code = exitDisagree
		}
		records = append(records, r)
		t.Append(v.Property, v.States, w.States, v.Choices, w.Choices, v.Transitions, w.Transitions, valueText(w), agreement)
		for _, warning := range w.Warnings {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", w.Property, warning))
		}
	}
	if slices.ContainsFunc(reduced, func(v result.Verdict) bool { return v.Err == nil }) {
		t.Notes = append(t.Notes, "every partition was checked: states of a block have the same choices, probabilities and rewards, as fractions")
	}
	return t, records, code
}

// valueText is a value, for people: a fraction, a number in the middle of its bounds, or
// a truth value.
func valueText(v *result.Verdict) string {
	switch {
	case v.Err != nil:
		return ""
	case v.Value.Kind == result.Boolean:
		return strconv.FormatBool(v.Value.Bool)
	case v.Value.Rat != nil:
		return v.Value.Rat.RatString()
	}
	return strconv.FormatFloat(v.Value.Num, 'g', 9, 64)
}
