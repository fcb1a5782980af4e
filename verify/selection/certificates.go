package selection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/usage"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// provenLabel is the label of the native engine with certificates.
const provenLabel = native.Name + ":proven"

// Certify makes the native engine write a certificate for each answer, in the run and in every test. It returns an error if the run does not use
// the native engine, or would use an engine twice.
func (s *Selection) Certify() error {
	s.Labels = withCertificates(s.Labels)
	for i := range s.Tests {
		s.Tests[i].Engines = withCertificates(s.Tests[i].Engines)
	}
	if !slices.Contains(s.Labels, provenLabel) {
		return usage.Errorf("--certify is for the native engine, want --engine native among others")
	}
	return runner.Distinct(s.Labels)
}

// withCertificates returns the labels of engines, with "native" replaced by the label of the native engine that writes certificates.
func withCertificates(labels []string) []string {
	replaced := slices.Clone(labels)
	for i, label := range replaced {
		if label == native.Name {
			replaced[i] = provenLabel
		}
	}
	return replaced
}

// ProvenNotes returns a note with the number of proven answers, and a note for each reason why an answer is not proven.
func ProvenNotes(testReport *report.TestReport) []string {
	answers, proven := 0, 0
	reasons := make(map[string]int)
	for i := range testReport.Results {
		verdict := testReport.Results[i].Verdict
		if verdict == nil || verdict.Err != nil || testReport.Results[i].Engine != provenLabel {
			continue
		}
		answers++
		if verdict.Accuracy == result.Proven {
			proven++
		} else {
			reasons[reasonNotProven(verdict)]++
		}
	}
	notes := []string{fmt.Sprintf("%d of %d answers are proven", proven, answers)}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		notes = append(notes, fmt.Sprintf("not proven, %d times: %s", reasons[reason], reason))
	}
	return notes
}

// reasonNotProven returns the reason why an answer is not proven. It is in the last warning about this.
func reasonNotProven(verdict *result.Verdict) string {
	for _, warning := range slices.Backward(verdict.Warnings) {
		if reason, ok := strings.CutPrefix(warning, native.NotProven); ok {
			return reason
		}
	}
	return "computed otherwise, as the test asks"
}

// Identity returns a text for cache keys that identifies an engine: its label, tool, version and switches, and the version of this program. tool
// is nil for the embedded engine. Identity returns "" if the version of the tool is unknown.
func Identity(ctx context.Context, thisProgram, label string, tool runner.Commander, args []string) string {
	if tool == nil {
		return label + " " + thisProgram
	}
	versionFlag := "-version"
	if strings.HasPrefix(label, "storm") {
		versionFlag = "--version"
	}
	var output strings.Builder
	_, err := tool.Run(ctx, runner.Command{Args: []string{versionFlag}, Stdout: &output, Limits: runner.Limits{Time: time.Minute}})
	if err != nil || output.Len() == 0 {
		return ""
	}
	return strings.Join(append([]string{label, tool.Where(), output.String(), thisProgram}, args...), " ")
}
