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

// EncodeResults returns results as JSON text, which [DecodeResults] reads.
func EncodeResults(results []TestResult) ([]byte, error) {
	kept := make([]keptResult, len(results))
	for i := range results {
		test := &results[i]
		kept[i] = keptResult{testRecord: test.record(), Judged: test.Verdict != nil}
		for _, constant := range test.Constants {
			kept[i].Values = append(kept[i].Values, constant.Value)
		}
	}
	return json.Marshal(kept)
}

// DecodeResults returns the results in a text of [EncodeResults]. Reports of these results are the same as those of the original results, except for
// bytes that are not UTF-8.
func DecodeResults(text []byte) ([]TestResult, error) {
	var kept []keptResult
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&kept); err != nil {
		return nil, err
	}
	results := make([]TestResult, len(kept))
	for i := range kept {
		stored := &kept[i]
		test, err := stored.testResult()
		if err != nil {
			return nil, err
		}
		if len(stored.Values) != len(test.Constants) {
			return nil, fmt.Errorf("found %d values of %d constants", len(stored.Values), len(test.Constants))
		}
		for index, value := range stored.Values {
			test.Constants[index].Value = value
		}
		test.Verdict = nil
		if stored.Judged {
			if test.Verdict, err = stored.Record.Verdict(); err != nil {
				return nil, err
			}
		}
		results[i] = *test
	}
	return results, nil
}
