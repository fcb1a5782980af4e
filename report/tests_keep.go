package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// keptResult is a result with what JSON lines leave out.
type keptResult struct {
	testRecord
	Values []string `json:"values,omitempty"` // of the constants, as they are written
	Judged bool     `json:"judged"`           // there is a verdict, perhaps one that says nothing
}

// EncodeResults returns results as text that [DecodeResults] reads.
func EncodeResults(results []TestResult) ([]byte, error) {
	kept := make([]keptResult, len(results))
	for i := range results {
		r := &results[i]
		kept[i] = keptResult{testRecord: r.record(), Judged: r.Verdict != nil}
		for _, c := range r.Constants {
			kept[i].Values = append(kept[i].Values, c.Value)
		}
	}
	return json.Marshal(kept)
}

// DecodeResults reads what [EncodeResults] wrote. Every report of the results is
// the same as of those that were written; what is not UTF-8 is lost.
func DecodeResults(text []byte) ([]TestResult, error) {
	var kept []keptResult
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&kept); err != nil {
		return nil, err
	}
	out := make([]TestResult, len(kept))
	for i := range kept {
		k := &kept[i]
		r, err := k.testResult()
		if err != nil {
			return nil, err
		}
		if len(k.Values) != len(r.Constants) {
			return nil, fmt.Errorf("found %d values of %d constants", len(k.Values), len(r.Constants))
		}
		for j, value := range k.Values {
			r.Constants[j].Value = value
		}
		if r.Verdict = nil; k.Judged {
			if r.Verdict, err = k.Record.Verdict(); err != nil {
				return nil, err
			}
		}
		out[i] = *r
	}
	return out, nil
}
