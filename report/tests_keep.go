package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// keptResult is a result with the fields that JSON lines do not have.
type keptResult struct {
	testRecord
	Values []string `json:"values,omitempty"` // of the constants, as in the files
	Judged bool     `json:"judged"`           // there is a verdict, perhaps an empty one
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

// DecodeResults reads the text of [EncodeResults]. Every report of the decoded results is the same as that of the
// original ones, except for bytes that are not UTF-8.
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
