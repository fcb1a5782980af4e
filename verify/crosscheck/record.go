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
func (r *Report) Write(w io.Writer, f table.Format, opt table.Options) error {
	if !f.Machine() {
		return r.Table().Write(w, f, opt)
	}
	records := []answerRecord{}
	for i := range r.Rows {
		row := &r.Rows[i]
		for k := range row.Verdicts {
			a := answerRecord{
				Entrant: r.Engines[k], Record: result.NewRecord(&row.Verdicts[k]),
				Status: row.Status, Basis: string(row.Basis), Reason: row.Reason, Notes: row.Notes,
			}
			if row.Proofs != nil && row.Proofs[k] != nil {
				x := row.Proofs[k]
				a.Proof = &proofRecord{Refuted: x.Refuted, Off: result.JSONNumber(x.Off), States: x.States, StatesOff: result.JSONNumber(x.StatesOff), Worst: x.Worst}
				if row.Truth != nil {
					a.Proof.Lower, a.Proof.Upper = result.JSONNumber(row.Truth.Lo), result.JSONNumber(row.Truth.Hi)
				}
			}
			a.Property, a.Name, a.Constants = row.Property, row.Name, row.Constants
			records = append(records, a)
		}
	}
	return table.WriteRecords(w, f, opt, r.summary(), records, r.Notes)
}

func (r *Report) summary() summaryRecord {
	s := summaryRecord{
		Agree: r.Count(Agree), Disagree: r.Count(Disagree), Undecided: r.Count(Undecided), Unchecked: r.Count(Unchecked), Invalid: r.Count(Invalid), Differ: r.differ(),
		Confidence: result.JSONNumber(r.Confidence), Seconds: result.JSONNumber(r.Seconds),
		Models: modelRecords(r.Models), Differences: []differenceRecord{},
	}
	for i := range r.Diagnoses {
		s.Differences = append(s.Differences, newDifferenceRecord(&r.Diagnoses[i]))
	}
	return s
}

func modelRecords(models []ModelCheck) []modelRecord {
	out := []modelRecord{}
	for i := range models {
		m := &models[i]
		out = append(out, modelRecord{
			Model: m.Model, Constants: m.Constants, Validity: m.Validity, States: m.States, Choices: m.Choices, Transitions: m.Transitions,
			Note: m.Note, Error: result.NewFailureRecord(m.Failure),
		})
	}
	return out
}

func newDifferenceRecord(d *Diagnosis) differenceRecord {
	x := differenceRecord{First: d.First, Second: d.Second, Constants: d.Constants, Error: result.NewFailureRecord(d.Err)}
	if diff := d.Difference; diff != nil {
		x.Kind, x.State, x.What, x.InFirst, x.InSecond = diff.Kind, diff.State, diff.What, diff.First, diff.Second
		for _, o := range diff.Made {
			x.Made = append(x.Made, originRecord{o.Model, o.File, o.Pos.Line, o.Pos.Col, o.What, o.Action, o.Enabled})
		}
	}
	return x
}
