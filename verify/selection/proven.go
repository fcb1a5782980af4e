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

// provenMode is how the engine that makes certificates is called.
const provenMode = native.Name + ":proven"

// Certify makes native an engine that proves its answers.
func (s *Selection) Certify() error {
	replace := func(labels []string) []string {
		out := slices.Clone(labels)
		for i, label := range out {
			if label == native.Name {
				out[i] = provenMode
			}
		}
		return out
	}
	s.Labels = replace(s.Labels)
	for i := range s.Tests {
		s.Tests[i].Engines = replace(s.Tests[i].Engines)
	}
	if !slices.Contains(s.Labels, provenMode) {
		return usage.Errorf("--certify is for the native engine, want --engine native among others")
	}
	return runner.Distinct(s.Labels)
}

// ProvenNotes count the answers that are proven, and why others are not.
func ProvenNotes(rep *report.TestReport) []string {
	answers, proven := 0, 0
	reasons := make(map[string]int)
	for i := range rep.Results {
		v := rep.Results[i].Verdict
		if v == nil || v.Err != nil || rep.Results[i].Engine != provenMode {
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

// Identity says what runs: the image or path of a tool with its version and
// switches, or this program itself, whose own identity counts for tools,
// too: it reads what they print. It is empty if that cannot be known.
func Identity(ctx context.Context, own, label string, cmd runner.Commander, args []string) string {
	if cmd == nil {
		return label + " " + own
	}
	flag := "-version"
	if strings.HasPrefix(label, "storm") {
		flag = "--version"
	}
	var said strings.Builder
	_, err := cmd.Run(ctx, runner.Command{Args: []string{flag}, Stdout: &said, Limits: runner.Limits{Time: time.Minute}})
	if err != nil || said.Len() == 0 {
		return ""
	}
	return strings.Join(append([]string{label, cmd.Where(), said.String(), own}, args...), " ")
}
