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

	"tilecheck/internal/noun"
	"tilecheck/native"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/files/named"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// reduceCmd reduces a model by bisimulation: it writes the quotient, and checks properties with and without reduction.
type reduceCmd struct {
	jobFlags `embed:""`

	Partition       string `help:"Reduce by the partition in this file, which is checked (default: the coarsest partition)." placeholder:"FILE" file:"in"`
	ExportPartition string `help:"Write the partition: the block of each state." placeholder:"FILE" file:"out"`
	Output          string `short:"o" help:"Write the quotient, with the labels and rewards of the model, as files of states: m.all, m.tra,sta,lab,srew,trew, m.pexp, m.dot, m.drn, m.umb, each also with .gz." placeholder:"FILE" file:"some"`

	Exact     bool          `help:"Compute in rational arithmetic: values are compared as fractions, and files of the quotient have fractions."`
	MaxStates int           `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory    byteCount     `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Timeout   time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
	Format    table.Format  `help:"${formats}." default:"table" placeholder:"FORMAT"`

	openedPartition *runner.PartitionFile // the file of --partition, after it was read
}

// Run computes the quotient of the model under bisimulation. With --output it writes the quotient. It also checks each property on the model and
// on its quotient, and compares the two answers.
func (c *reduceCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	c.mayLackProperties = c.Output != ""
	job, err := c.jobFlags.readJob(env)
	if err != nil {
		return err
	}
	if err := c.checkFlags(&job); err != nil {
		return err
	}
	job.Method = runner.States
	job.Numeric = runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)}
	if c.Exact {
		job.Numeric.Accuracy = result.Exact
	}
	if c.Output != "" {
		target, err := c.quotientOutput(env)
		if err != nil {
			return err
		}
		if err := c.writeQuotient(ctx, env, target, job); err != nil {
			return err
		}
	}
	if !hasProperties(&job) {
		if c.Format == table.JSON { // an empty list
			return table.WriteRecords(env.stdout, c.Format, env.reportOptions(), nil, []reductionRecord{}, nil)
		}
		return nil
	}
	return c.compareAnswers(ctx, env, job)
}

// checkFlags returns a usage error if the flags contradict each other.
func (c *reduceCmd) checkFlags(job *runner.Job) error {
	hasPartition := c.Partition != "" || c.ExportPartition != ""
	switch {
	case named.Is(c.ModelFile) && len(job.Model) == 0:
		return usageError("%s is a file of states, whose numbers may be rounded: want a model, whose numbers are known as fractions", c.ModelFile)
	case c.Partition != "" && c.ExportPartition != "":
		return usageError("--partition reads a partition, and --export-partition writes one: want only one of them")
	case hasPartition && !hasProperties(job):
		return usageError("--partition and --export-partition are about the partition for a property: want a properties file or --prop")
	}
	return nil
}

// hasProperties reports whether a job may have properties. A JANI model may contain them.
func hasProperties(job *runner.Job) bool {
	return len(job.Props) > 0 || job.PropsFile != "" || jani.IsJANI(job.Model)
}

// quotientOutput returns the files to which the quotient is written. It returns a usage error if their format cannot express a quotient.
func (c *reduceCmd) quotientOutput(env *environment) (output, error) {
	target, ok := stateFiles(c.Output)
	if !ok {
		return target, usageError("--output: %q %s", c.Output, wantStateFormat(c.Output))
	}
	if len(target.formats) == 1 && target.formats[0] == "sta" {
		return target, usageError("--output: the quotient has no values of variables, want another format than .sta")
	}
	return target, env.checkOutputs("--output", outputFiles([]output{target}, 0)...)
}

// writeQuotient writes the quotient of the model with all labels and reward structures. Its states have no valuations, because a block has states
// with different valuations.
func (c *reduceCmd) writeQuotient(ctx context.Context, env *environment, target output, job runner.Job) error {
	job.Numeric.Reduce = true // builds the states with fractions
	space, properties, err := buildWithProperties(ctx, env, job)
	if err != nil {
		return err
	}
	program := space.Program()
	if len(job.Properties) > 0 {
		if program, err = files.WithLabels(space, job.Dialect, job.PropsFile, job.Properties); err != nil {
			return err
		}
	}
	quotient, program, err := c.buildQuotient(ctx, env, space, program, properties)
	if err != nil {
		return err
	}
	if !c.Exact {
		quotient = quotient.WithoutFractions()
	}
	target.formats = slices.DeleteFunc(slices.Clone(target.formats), func(format string) bool { return format == "sta" })
	if !env.quiet {
		fmt.Fprintf(env.stderr, "note: %s of the model; %s of the quotient\n", sizeText(space.Model()), sizeText(quotient.Model()))
	}
	quotientExporter := &exporter{env: env, space: quotient, options: files.Options{Program: program, Precision: files.MaxPrecision, Zeros: true, NoValuations: true}}
	return quotientExporter.writeOutputs(ctx, target)
}

// buildQuotient returns the quotient of a state space, and a program with the labels that the quotient has. The partition comes from the file of --partition;
// without this flag, it is the coarsest one. A note tells of each label and reward that differs within a block of the partition.
func (c *reduceCmd) buildQuotient(ctx context.Context, env *environment, space *explicit.Space, program *sema.Program, properties []*check.Property) (*explicit.Space, *sema.Program, error) {
	if c.Partition == "" {
		reduced, err := check.ReduceAll(ctx, space, program, properties)
		if err != nil {
			return nil, nil, err
		}
		return reduced.Space, program, nil
	}
	file, err := c.partitionFile(env)
	if err != nil {
		return nil, nil, err
	}
	partition, err := check.ReadPartition(ctx, file.File, file.Text, space)
	if err != nil {
		return nil, nil, err
	}
	reduced, err := check.ReduceBy(ctx, space, program, properties, partition)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file.File, err)
	}
	for _, omitted := range reduced.Omitted {
		fmt.Fprintf(env.stderr, "note: the files have no %s, which distinguishes states of a block of %s\n", omitted, file.File)
	}
	return reduced.Space, reduced.Program, nil
}

// sizeText returns the numbers of states, choices and transitions of a model as text.
func sizeText(model *sparse.Model) string {
	return fmt.Sprintf("%s, %s, %s", noun.Count(model.NumStates(), "state"), noun.Count(model.NumChoices(), "choice"), noun.Count(model.NumTransitions(), "transition"))
}

// buildWithProperties builds the state space of a job. It also returns the properties of the job.
func buildWithProperties(ctx context.Context, env *environment, job runner.Job) (*explicit.Space, []*check.Property, error) {
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	job.Progress = showProgress
	newPlan := runner.NewPlan
	if !hasProperties(&job) {
		newPlan = runner.PlanModel
	}
	plan, err := newPlan(ctx, job)
	if err != nil {
		return nil, nil, explainSwappedFiles(err, &job)
	}
	space, instances, err := load.Properties(ctx, plan)
	if err != nil {
		return nil, nil, stateLimitError(err)
	}
	properties := make([]*check.Property, len(instances))
	for i := range instances {
		properties[i] = &instances[i]
	}
	return space, properties, nil
}

// compareAnswers checks each property on the model and on its quotient. It prints the sizes of both, and whether the values agree.
func (c *reduceCmd) compareAnswers(ctx context.Context, env *environment, job runner.Job) error {
	showProgress, stopProgress := env.startProgress()
	job.Progress = showProgress
	verdicts, err := checkNative(ctx, job)
	if err != nil {
		return err
	}
	job.Numeric.Reduce = true
	if job.Partition, err = c.partitionFile(env); err != nil {
		return err
	}
	reducedVerdicts, err := checkNative(ctx, job)
	stopProgress()
	if err != nil {
		return err
	}
	if failure := reducedVerdicts[0].Err; job.Partition != nil && failure != nil {
		return c.partitionError(failure)
	}
	env.markOutputStarted()
	reductions, records, code := reductionTable(verdicts, reducedVerdicts)
	if c.Format.Machine() {
		err = table.WriteRecords(env.stdout, c.Format, env.reportOptions(), nil, records, reductions.Notes)
	} else {
		err = reductions.Write(env.stdout, c.Format, env.reportOptions())
	}
	env.printWarnings(c.Format, reducedVerdicts)
	return cmp.Or(err, exitStatus(code))
}

// partitionError returns the error of a check with a partition. If its message begins with a position in the partition file, the error is only
// this message.
func (c *reduceCmd) partitionError(failure *result.Failure) error {
	if strings.HasPrefix(failure.Message, c.Partition+":") {
		return errors.New(failure.Message)
	}
	return failure
}

// checkNative checks a job with the embedded engine.
func checkNative(ctx context.Context, job runner.Job) ([]result.Verdict, error) {
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, explainSwappedFiles(err, &job)
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

// partitionFile returns the file that --partition names, with its text, or the file that --export-partition names. It returns nil without these
// flags.
func (c *reduceCmd) partitionFile(env *environment) (*runner.PartitionFile, error) {
	switch {
	case c.openedPartition != nil:
		return c.openedPartition, nil
	case c.Partition != "":
		text, err := env.readSource(c.Partition)
		if err != nil {
			return nil, err
		}
		c.openedPartition = &runner.PartitionFile{File: c.Partition, Text: append([]byte{}, text...)}
		return c.openedPartition, nil
	case c.ExportPartition != "":
		return &runner.PartitionFile{File: c.ExportPartition, Write: env.writeFile}, nil
	}
	return nil, nil
}

// reductionTable returns a table with a row for each property, the same rows as JSON records, and the exit code. verdicts has the verdicts on the
// model, and reducedVerdicts has the verdicts on its quotient.
func reductionTable(verdicts, reducedVerdicts []result.Verdict) (reductions *table.Table, records []reductionRecord, code int) {
	reductions = &table.Table{Columns: reductionColumns()}
	code = verdictCode(verdicts)
	records = []reductionRecord{}
	for i := range verdicts {
		onModel, onQuotient := &verdicts[i], &reducedVerdicts[i]
		relation := agree.Verdicts("whole", onModel, "reduced", onQuotient, agree.Ask(onModel.Property, onModel.Constants), agree.Options{}).Relation
		agreement := relation.String()
		switch {
		case onQuotient.Err != nil:
			agreement, code = onQuotient.Err.Error(), verdictCode(reducedVerdicts)
		case relation == agree.Different:
			code = exitDisagree
		}
		records = append(records, newReductionRecord(onModel, onQuotient, relation))
		property := table.Cell{Text: result.NamedProperty(onModel.Name, onModel.Property), Value: onModel.Property}
		reductions.Append(property, onModel.States, onQuotient.States, onModel.Choices, onQuotient.Choices, onModel.Transitions, onQuotient.Transitions, valueText(onQuotient), agreement)
		for _, warning := range onQuotient.Warnings {
			reductions.Notes = append(reductions.Notes, fmt.Sprintf("%s: %s", onQuotient.Property, warning))
		}
	}
	if slices.ContainsFunc(reducedVerdicts, func(verdict result.Verdict) bool { return verdict.Err == nil }) {
		reductions.Notes = append(reductions.Notes, "every partition was checked: states of a block have the same choices, probabilities and rewards, as fractions")
	}
	return reductions, records, code
}

// reductionColumns returns the columns of the table of reductionTable.
func reductionColumns() []table.Column {
	return []table.Column{
		{Name: "property", Min: 24, Code: true},
		{Name: "states", Align: table.Right},
		{Name: "reduced", Field: "reduced_states", Align: table.Right},
		{Name: "choices", Align: table.Right},
		{Name: "reduced", Field: "reduced_choices", Align: table.Right},
		{Name: "transitions", Align: table.Right},
		{Name: "reduced", Field: "reduced_transitions", Align: table.Right},
		{Name: "value"},
		{Name: "outcome", Min: 10},
	}
}

// newReductionRecord returns the JSON record for one property, from the verdicts on the model and on its quotient. relation is the comparison of
// the two verdicts. If the quotient has no value, the record has no outcome.
func newReductionRecord(onModel, onQuotient *result.Verdict, relation agree.Relation) reductionRecord {
	record := reductionRecord{
		Record:        result.NewRecord(onQuotient),
		ReducedStates: onQuotient.States, ReducedChoices: onQuotient.Choices, ReducedTransitions: onQuotient.Transitions,
	}
	record.States, record.Choices, record.Transitions = onModel.States, onModel.Choices, onModel.Transitions
	if onQuotient.Err == nil {
		record.Outcome = relation.String()
	}
	return record
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
