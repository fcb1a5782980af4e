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
	stored := make([]keptResult, len(results))
	for i := range results {
		test := &results[i]
		stored[i] = keptResult{testRecord: test.record(), Judged: test.Verdict != nil}
		for _, constant := range test.Constants {
			stored[i].Values = append(stored[i].Values, constant.Value)
		}
	}
	return json.Marshal(stored)
}

// DecodeResults returns the results in a text of [EncodeResults]. Reports of these results are the same as those of the original results, except for
// bytes that are not UTF-8.
func DecodeResults(text []byte) ([]TestResult, error) {
	var storedResults []keptResult
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&storedResults); err != nil {
		return nil, err
	}
	results := make([]TestResult, len(storedResults))
	for i := range storedResults {
		storedResult := &storedResults[i]
		test, err := storedResult.testResult()
		if err != nil {
			return nil, err
		}
		if len(storedResult.Values) != len(test.Constants) {
			return nil, fmt.Errorf("found %d values of %d constants", len(storedResult.Values), len(test.Constants))
		}
		for index, value := range storedResult.Values {
			test.Constants[index].Value = value
		}
		test.Verdict = nil
		if storedResult.Judged {
			if test.Verdict, err = storedResult.Record.Verdict(); err != nil {
				return nil, err
			}
		}
		results[i] = *test
	}
	return results, nil
}
