package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/internal/quote"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/symmetry"
	"tilecheck/prism/syntax"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
)

type certifyCmd struct {
	Files  []string     `arg:"" name:"certificate" help:"Certificates that check, bound or solve --certificate wrote, also as .gz; - is standard input." file:"in"`
	Model  string       `help:"Check that the certificates are about this PRISM model and its properties." placeholder:"FILE" file:"in"`
	Props  string       `help:"Properties file with labels and constants that the properties use." placeholder:"FILE" file:"in"`
	Const  []string     `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	States int          `name:"max-states" rare:"" help:"Give up a certificate with more states (default: no limit)." placeholder:"N"`
	Memory byteCount    `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Format table.Format `help:"${formats}; json and csv have the bounds also as fractions." default:"table" placeholder:"FORMAT"`

	dialectFlag `embed:""`
	timeFlag    `embed:""`
}

// Run checks the certificates in the files and prints what they prove. It returns an error if a certificate proves nothing.
func (c *certifyCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	job, err := c.certifiedJob(env)
	if err != nil {
		return err
	}
	proofTable := certifyTable()
	allProven, err := c.appendRows(ctx, env, proofTable, job)
	if err != nil && len(proofTable.Rows) == 0 {
		return err
	}
	if err != nil { // print the results before the error
		env.markOutputStarted()
	}
	if err := errors.Join(proofTable.Write(env.stdout, c.Format, env.reportOptions()), err); err != nil {
		return err
	}
	if !allProven {
		return exitStatus(exitFailed)
	}
	return nil
}

// certifiedJob returns a job with the model of --model and the properties of --props. Without --model the job is empty.
func (c *certifyCmd) certifiedJob(env *environment) (job runner.Job, err error) {
	job = runner.Job{File: c.Model, PropsFile: c.Props, Consts: c.Const, Dialect: dialect(c.Dialect)}
	if err := env.refuseFlags(c.Model == "", "without --model", "dialect"); err != nil {
		return job, err
	}
	if c.Model == "" {
		if len(c.Const) > 0 || c.Props != "" {
			return job, usageError("--const and --props are for the model, want --model too")
		}
		return job, nil
	}
	if job.Model, err = env.readSource(c.Model); err != nil || c.Props == "" {
		return job, err
	}
	job.Properties, err = env.readSource(c.Props)
	return job, err
}

// certifyTable returns a table without rows.
func certifyTable() *table.Table {
	return &table.Table{Columns: []table.Column{
		{Name: "certificate", Min: 12},
		{Name: "property", Field: "property", Code: true, Min: 20},
		{Name: "claim", Field: "proves", Code: true, Min: 20},
		{Name: "value", Field: "-", Align: table.Right},
		{Field: "value"},
		{Field: "lower"},
		{Field: "upper"},
		{Field: "lower_fraction"},
		{Field: "upper_fraction"},
		{Name: "outcome"},
		{Name: "reason", Min: 20},
	}}
}

// appendRows checks the files and adds a row for each certificate. It stops at the first file that it cannot check.
func (c *certifyCmd) appendRows(ctx context.Context, env *environment, proofTable *table.Table, job runner.Job) (allProven bool, err error) {
	allProven = true
	for _, name := range c.Files {
		results, notes, err := c.checkFile(ctx, env, name, job)
		proofTable.Notes = append(proofTable.Notes, notes...)
		for i := range results {
			allProven = allProven && results[i].Err == nil
			proofTable.Append(certifyRow(name, &results[i])...)
		}
		if err != nil {
			return allProven, err
		}
	}
	return allProven, nil
}

// isModel reports whether a text is a model in Storm's dialect, which includes PRISM's language, or in JANI.
func isModel(text []byte) bool {
	_, err := syntax.ParseModelOf(syntax.Storm, "", text)
	return err == nil || jani.IsJANI(text)
}

// checkFile checks the certificates in a file. With --model it also checks that they are about the model and the properties of the job.
func (c *certifyCmd) checkFile(ctx context.Context, env *environment, name string, job runner.Job) (results []certify.Result, notes []string, err error) {
	file, err := env.openFile(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	text, kind, err := certificateText(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if kind != nil {
		return c.checkGame(ctx, kind, name, text)
	}
	results, isReduced, err := c.checkModel(ctx, env, name, text, job)
	switch {
	case err != nil || c.Model != "":
	case isReduced:
		notes = []string{name + ": the claims are about one of the states that differ only by a permutation; --model FILE checks that they hold for the whole model"}
	default:
		notes = []string{name + ": not compared with a model; --model FILE checks that the certificate is about your model and its properties"}
	}
	hasProof := func(result certify.Result) bool { return result.Err == nil }
	if err == nil && slices.ContainsFunc(results, hasProof) && isTimed(ctx, job) {
		notes = []string{name + ": the claims are about the MDP of the clocks of " + c.Model + ", which has the values of the automaton (docs/certificates.md)"}
	}
	return results, notes, err
}

// isTimed reports whether the model of a job is a timed automaton. It returns false if the job has no valid model.
func isTimed(ctx context.Context, job runner.Job) bool {
	plan, err := runner.PlanModel(ctx, job)
	return err == nil && plan.Model != nil && plan.Model.ModelType() == syntax.PTA
}

// checkGame checks a certificate about the game 2048. The notes describe the certificate.
func (c *certifyCmd) checkGame(ctx context.Context, kind *gameCertificate, name string, text io.Reader) (results []certify.Result, notes []string, err error) {
	if c.Model != "" {
		return nil, nil, usageError("%s is about the game 2048 and not about a model, want it without --model", name)
	}
	checked, note, err := kind.checkText(ctx, text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if note != "" {
		notes = []string{name + ": " + note}
	}
	return []certify.Result{checked}, notes, nil
}

// checkModel checks certificates about a model. isReduced says that they claim a symmetry.
func (c *certifyCmd) checkModel(ctx context.Context, env *environment, name string, file io.Reader, job runner.Job) (results []certify.Result, isReduced bool, err error) {
	certificates, err := certificate.Read(ctx, file, certificate.Limits{States: c.States})
	if err != nil {
		if c.Model == "" && env.isModelFile(name) {
			return nil, false, usageError("%s is a model and no certificate, want --model %s", name, quote.Word(name))
		}
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	results, err = certify.Check(ctx, certificates)
	if err != nil {
		if c.Model != "" {
			results = nil // it is unknown whether they are about the model
		}
		return results, false, fmt.Errorf("%s: %w", name, err)
	}
	isReduced = certificates.Symmetry != nil
	if len(results) == 0 {
		return nil, false, fmt.Errorf("%s: it claims nothing", name)
	}
	if c.Model == "" {
		return results, isReduced, nil
	}
	results, err = c.confirmModel(ctx, certificates, results, job)
	return results, isReduced, err
}

// isModelFile reports whether a file contains a model. It returns false for standard input, which can be read only once.
func (e *environment) isModelFile(name string) bool {
	if name == "-" {
		return false
	}
	text, err := e.readText(name)
	return err == nil && len(text) > 0 && isModel(text)
}

// confirmModel checks that certificates are about the model of --model and about its properties. It stores a difference as the error of the
// result. If the context ends, the error is ctx.Err().
func (c *certifyCmd) confirmModel(ctx context.Context, certificates *certificate.File, results []certify.Result, job runner.Job) ([]certify.Result, error) {
	for i := range results {
		if !slices.Contains(job.Props, results[i].Property) {
			job.Props = append(job.Props, results[i].Property)
		}
	}
	space, props, err := c.spaceAndProperties(ctx, job, certificates.Symmetry)
	if err != nil {
		if _, _, modelErr := load.Model(ctx, job); modelErr != nil || ctx.Err() != nil { // the error is not in the properties
			return nil, err
		}
		for i := range results {
			results[i].Err = fmt.Errorf("its properties are not about %s: %w", c.Model, err)
		}
		return results, nil
	}
	certifiedModel, err := prove.Model(space)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Model, err)
	}
	var modelDifference error
	if err := certificates.Model.Difference(certifiedModel); err != nil {
		modelDifference = fmt.Errorf("it is not about %s: %w", c.Model, err)
	}
	symmetryErrs := prove.ConfirmSymmetry(ctx, certificates, space, props)
	for i, err := range prove.Confirm(certificates, space, props) {
		results[i].Err = cmp.Or(results[i].Err, modelDifference, symmetryErrs[i], err)
	}
	return results, ctx.Err()
}

// spaceAndProperties returns the state space of the job's model, with fractions as weights, and the properties of the job. If a certificate claims a symmetry, the space
// has the states up to this symmetry.
func (c *certifyCmd) spaceAndProperties(ctx context.Context, job runner.Job, claimed *certificate.Symmetry) (*explicit.Space, []*prove.Property, error) {
	job.Numeric.Accuracy = result.Exact
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	loadProperties := load.Properties
	switch {
	case claimed != nil:
		loadProperties = func(ctx context.Context, plan *runner.Plan) (*explicit.Space, []runner.Instance, error) {
			return load.QuotientProperties(ctx, plan, func(program *sema.Program) ([]symmetry.Class, []symmetry.Permutation, error) {
				return prove.Reduction(program, claimed)
			})
		}
	case plan.Model.ModelType() == syntax.PTA:
		loadProperties = load.ClockProperties
	}
	space, instances, err := loadProperties(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	var proveProperties []*prove.Property
	for _, instance := range instances {
		proveProperties = append(proveProperties, &prove.Property{Property: instance})
	}
	return space, proveProperties, nil
}

// certifyRow returns the table row of a checked certificate.
func certifyRow(name string, checked *certify.Result) []any {
	outcome, reason := table.Cell{Text: "proven", Tone: table.Good}, table.Cell{}
	if checked.Err != nil {
		outcome, reason = table.Cell{Text: "not proven", Tone: table.Bad}, table.Cell{Text: checked.Err.Error()}
	}
	row := []any{name, checked.Property, checked.Statement}
	row = append(row, valueCells(checked)...)
	return append(row, outcome, reason)
}

// numValueCells is the number of cells that valueCells returns.
const numValueCells = 6

// valueCells returns the cells of a row about a proven value: the value as text, the truth value, the two bounds, and the two bounds as fractions.
// Cells that do not apply are nil.
func valueCells(checked *certify.Result) []any {
	switch {
	case checked.Err != nil:
		return make([]any, numValueCells)
	case checked.Number:
		bounds := interval.Between(checked.Lower, checked.Upper)
		return []any{
			provenText(checked, bounds), nil,
			boundCell(bounds.Lo), boundCell(bounds.Hi),
			fractionOrNil(checked.Lower), fractionOrNil(checked.Upper),
		}
	}
	text := strconv.FormatBool(checked.Holds)
	return []any{text, table.Cell{Text: text, Value: checked.Holds}, nil, nil, nil, nil}
}

// boundCell returns the cell of a bound.
func boundCell(bound float64) table.Cell { return table.Cell{Text: number(bound), Value: bound} }

// fractionOrNil returns a fraction as text, or nil if there is none.
func fractionOrNil(bound *big.Rat) any {
	if bound == nil {
		return nil
	}
	return bound.RatString()
}

// provenText returns a proven number as text: a fraction if the number is exact and the fraction is short, otherwise an interval that contains it.
func provenText(checked *certify.Result, bounds interval.Interval) string {
	const maxFraction = 24
	if checked.Lower == nil {
		return "infinite"
	}
	decimals := "[" + number(bounds.Lo) + ", " + number(bounds.Hi) + "]"
	if isExact := checked.Upper != nil && checked.Lower.Cmp(checked.Upper) == 0; !isExact {
		return decimals
	}
	if text := checked.Lower.RatString(); len(text) <= maxFraction {
		return text
	}
	return "a fraction in " + decimals
}

// number returns the shortest decimal text of a float64.
func number(x float64) string { return result.JSONNumber(x + 0).String() } // -0 + 0 is 0
