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

// Certify replaces the native engine by the one that proves its answers with certificates.
func (s *Selection) Certify() error {
	replace := func(labels []string) []string {
		out := slices.Clone(labels)
		for i, label := range out {
			if label == native.Name {
				out[i] = provenLabel
			}
		}
		return out
	}
	s.Labels = replace(s.Labels)
	for i := range s.Tests {
		s.Tests[i].Engines = replace(s.Tests[i].Engines)
	}
	if !slices.Contains(s.Labels, provenLabel) {
		return usage.Errorf("--certify is for the native engine, want --engine native among others")
	}
	return runner.Distinct(s.Labels)
}

// ProvenNotes counts the proven answers, and the reasons why others are not proven.
func ProvenNotes(rep *report.TestReport) []string {
	answers, proven := 0, 0
	reasons := make(map[string]int)
	for i := range rep.Results {
		v := rep.Results[i].Verdict
		if v == nil || v.Err != nil || rep.Results[i].Engine != provenLabel {
			continue
		}
		if answers++; v.Accuracy == result.Proven {
			proven++
			continue
		}
		reason := "computed otherwise, as the test asks"
		for _, w := range v.Warnings {
			if why, ok := strings.CutPrefix(w, native.NotProven); ok {
				reason = why
			}
		}
		reasons[reason]++
	}
	out := []string{fmt.Sprintf("%d of %d answers are proven", proven, answers)}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		out = append(out, fmt.Sprintf("not proven, %d times: %s", reasons[reason], reason))
	}
	return out
}

// Identity identifies what produces the answers, for cache keys: the image or path of a tool with its version and switches,
// and own, the identity of this program, which reads the tool's output. It is empty if the tool's version is unknown.
func Identity(ctx context.Context, own, label string, cmd runner.Commander, args []string) string {
	if cmd == nil {
		return label + " " + own
	}
	flag := "-version"
	if strings.HasPrefix(label, "storm") {
		flag = "--version"
	}
	var output strings.Builder
	_, err := cmd.Run(ctx, runner.Command{Args: []string{flag}, Stdout: &output, Limits: runner.Limits{Time: time.Minute}})
	if err != nil || output.Len() == 0 {
		return ""
	}
	return strings.Join(append([]string{label, cmd.Where(), output.String(), own}, args...), " ")
}
