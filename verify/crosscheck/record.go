package crosscheck

import (
	"io"

	"tilecheck/report/table"
	"tilecheck/result"
)

// answerRecord is one engine's answer to one property, in JSON and CSV.
type answerRecord struct {
	Entrant string `json:"entrant"` // the engine as it was asked for, or the model
	result.Record
	Status Status       `json:"outcome"` // of all answers to the property
	Basis  string       `json:"basis,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Notes  []string     `json:"notes,omitempty"`
	Proof  *proofRecord `json:"proof,omitempty"`
}

// proofRecord is a Proof in JSON and CSV.
type proofRecord struct {
	Refuted   bool              `json:"refuted"`
	Lower     result.JSONNumber `json:"lower,omitempty"`
	Upper     result.JSONNumber `json:"upper,omitempty"`
	Off       result.JSONNumber `json:"off,omitempty"`
	States    int               `json:"states,omitempty"`
	StatesOff result.JSONNumber `json:"states_off,omitempty"`
	Worst     string            `json:"worst_valuation,omitempty"`
}

// summaryRecord is the summary of a Report in JSON.
type summaryRecord struct {
	Agree       int                `json:"agree"`
	Disagree    int                `json:"disagree"`
	Undecided   int                `json:"undecided"`
	Unchecked   int                `json:"unchecked"`
	Invalid     int                `json:"invalid"`
	Differ      int                `json:"differ"`     // pairs of state spaces, whatever the answers say
	Confidence  result.JSONNumber  `json:"confidence"` // of all statistical comparisons together
	Seconds     result.JSONNumber  `json:"seconds"`
	Models      []modelRecord      `json:"models"`
	Differences []differenceRecord `json:"differences"`
}

// modelRecord is the strict check of a model in JSON and CSV.
type modelRecord struct {
	Model       string                `json:"model"`
	Constants   result.Valuation      `json:"constants,omitempty"`
	Validity    Validity              `json:"outcome"`
	States      int                   `json:"states,omitempty"`
	Choices     int                   `json:"choices,omitempty"`
	Transitions int                   `json:"transitions,omitempty"`
	Note        string                `json:"reason,omitempty"`
	Error       *result.FailureRecord `json:"error,omitempty"`
}

// differenceRecord is a Diagnosis in JSON and CSV; without a kind the two state spaces are the same.
type differenceRecord struct {
	First     string                `json:"first"`
	Second    string                `json:"second"`
	Constants result.Valuation      `json:"constants,omitempty"`
	Kind      Kind                  `json:"difference,omitempty"`
	State     string                `json:"valuation,omitempty"`
	What      string                `json:"what,omitempty"`
	InFirst   string                `json:"in_first,omitempty"`
	InSecond  string                `json:"in_second,omitempty"`
	Made      []originRecord        `json:"made,omitempty"`
	Error     *result.FailureRecord `json:"error,omitempty"`
}

// originRecord is an Origin in JSON and CSV.
type originRecord struct {
	Model   string `json:"model,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int32  `json:"line,omitempty"`
	Column  int32  `json:"column,omitempty"`
	What    string `json:"what,omitempty"`
	Action  string `json:"action,omitempty"`
	Enabled bool   `json:"enabled"`
}

// Write prints the report: the table of [Report.Table], or for machine formats a record per answer and a summary.
func (r *Report) Write(w io.Writer, format table.Format, options table.Options) error {
	if !format.Machine() {
		return r.Table().Write(w, format, options)
	}
	records := []answerRecord{}
	for i := range r.Rows {
		for engine := range r.Rows[i].Verdicts {
			records = append(records, r.recordOfAnswer(&r.Rows[i], engine))
		}
	}
	return table.WriteRecords(w, format, options, r.summary(), records, r.Notes)
}

// recordOfAnswer returns the record of an engine's answer to the property of a row.
func (r *Report) recordOfAnswer(row *Row, engine int) answerRecord {
	answer := answerRecord{
		Entrant: r.Engines[engine], Record: result.NewRecord(&row.Verdicts[engine]),
		Status: row.Status, Basis: string(row.Basis), Reason: row.Reason, Notes: row.Notes,
	}
	answer.Property, answer.Name, answer.Constants = row.Property, row.Name, row.Constants
	if row.Proofs != nil && row.Proofs[engine] != nil {
		answer.Proof = newProofRecord(row.Proofs[engine], row.Truth)
	}
	return answer
}

// newProofRecord returns the JSON record of what a certificate proves about an answer. truth is the proven interval; nil if the property is true
// or false.
func newProofRecord(proof *Proof, truth *result.Interval) *proofRecord {
	record := &proofRecord{
		Refuted: proof.Refuted, Off: result.JSONNumber(proof.MaxError), States: proof.States,
		StatesOff: result.JSONNumber(proof.MaxStateError), Worst: proof.WorstState,
	}
	if truth != nil {
		record.Lower, record.Upper = result.JSONNumber(truth.Lo), result.JSONNumber(truth.Hi)
	}
	return record
}

// summary returns the record of the whole report.
func (r *Report) summary() summaryRecord {
	record := summaryRecord{
		Agree: r.Count(Agree), Disagree: r.Count(Disagree), Undecided: r.Count(Undecided), Unchecked: r.Count(Unchecked), Invalid: r.Count(Invalid),
		Differ: r.countModelDifferences(), Confidence: result.JSONNumber(r.Confidence), Seconds: result.JSONNumber(r.Seconds),
		Models: modelRecords(r.Models), Differences: []differenceRecord{},
	}
	for i := range r.Diagnoses {
		record.Differences = append(record.Differences, newDifferenceRecord(&r.Diagnoses[i]))
	}
	return record
}

// modelRecords returns the JSON records of the strict checks of the models.
func modelRecords(models []ModelCheck) []modelRecord {
	records := []modelRecord{}
	for i := range models {
		model := &models[i]
		records = append(records, modelRecord{
			Model: model.Model, Constants: model.Constants, Validity: model.Validity, States: model.States, Choices: model.Choices, Transitions: model.Transitions,
			Note: model.Note, Error: result.NewFailureRecord(model.Failure),
		})
	}
	return records
}

// newDifferenceRecord returns the JSON record of a diagnosis.
func newDifferenceRecord(diagnosis *Diagnosis) differenceRecord {
	record := differenceRecord{First: diagnosis.First, Second: diagnosis.Second, Constants: diagnosis.Constants, Error: result.NewFailureRecord(diagnosis.Err)}
	difference := diagnosis.Difference
	if difference == nil {
		return record
	}
	record.Kind, record.State, record.What = difference.Kind, difference.State, difference.What
	record.InFirst, record.InSecond = difference.First, difference.Second
	for _, origin := range difference.Origins {
		record.Made = append(record.Made, originRecord{origin.Model, origin.File, origin.Pos.Line, origin.Pos.Col, origin.What, origin.Action, origin.Enabled})
	}
	return record
}
