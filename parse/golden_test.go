package parse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/parse"
	"tilecheck/result"
)

var update = flag.Bool("update", false, "rewrite the golden records")

// transcripts returns the recorded outputs: path below testdata of the
// repository, without those that are digests of several runs.
func transcripts(t testing.TB) map[string]parse.Tool {
	t.Helper()
	out := make(map[string]parse.Tool)
	root := os.DirFS("../testdata")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		base := filepath.Base(path)
		switch {
		case err != nil || d.IsDir() || base == "ctmc-inst-sound.log": // which has a part of the run, see TestUnreliable
		case strings.HasPrefix(path, "logs/storm/") && strings.HasSuffix(base, ".log"):
			out[path] = parse.Storm
		case strings.HasPrefix(path, "logs/prism-games/"):
			out[path] = parse.PRISMGames
		case strings.HasPrefix(path, "logs/prism/") && strings.HasSuffix(base, ".log") && !strings.HasPrefix(base, "gen-"),
			strings.HasPrefix(path, "conformance/") && strings.HasPrefix(base, "prism") && strings.HasSuffix(base, ".txt"):
			out[path] = parse.PRISM
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 450 {
		t.Fatalf("found %d transcripts, want at least 450", len(out))
	}
	return out
}

func readTranscript(t testing.TB, path string) parse.Transcript {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return parse.ReadTranscript(data)
}

func readLog(t testing.TB, path string, tool parse.Tool) *parse.Log {
	t.Helper()
	log, err := readTranscript(t, path).Log(tool, parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The golden form of a log: short, and without floats that JSON cannot hold.
type goldenLog struct {
	Tool       parse.Tool       `json:"tool"`
	Version    string           `json:"version,omitempty"`
	Command    string           `json:"command,omitempty"`
	Model      string           `json:"model,omitempty"`
	Listed     []string         `json:"listed,omitempty"`
	Builds     []string         `json:"builds,omitempty"`
	Properties []goldenProperty `json:"properties,omitempty"`
	Warnings   []string         `json:"warnings,omitempty"`
	Failures   []string         `json:"failures,omitempty"`
	Err        string           `json:"err,omitempty"`
}

type goldenProperty struct {
	Name       string   `json:"name,omitempty"`
	Text       string   `json:"text"`
	Constants  string   `json:"constants,omitempty"`
	Value      string   `json:"value,omitempty"`
	Printed    string   `json:"printed,omitempty"`
	Accuracy   string   `json:"accuracy,omitempty"`
	Resolution string   `json:"resolution,omitempty"`
	Simulation string   `json:"simulation,omitempty"`
	Details    string   `json:"details,omitempty"`
	Doubt      string   `json:"doubt,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
	Err        string   `json:"err,omitempty"`
}

func showFailure(f *result.Failure) string {
	if f == nil {
		return ""
	}
	return string(f.Class) + ": " + f.Error()
}

func showConstants(cs ...result.Constant) string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Name+"="+c.Value)
	}
	return strings.Join(out, ",")
}

func showValue(v result.Value) string {
	switch v.Kind {
	case result.NoValue:
		return ""
	case result.Boolean:
		return fmt.Sprintf("boolean %v", v.Bool)
	case result.Range:
		return fmt.Sprintf("range [%v, %v]", v.Num, v.Hi)
	case result.Curve:
		return "curve " + v.Text()
	}
	word := "number"
	if v.Kind == result.Integer {
		word = "integer"
	}
	if v.Rat != nil {
		return fmt.Sprintf("%s %v = %s", word, v.Num, v.Rat.RatString())
	}
	return fmt.Sprintf("%s %v", word, v.Num)
}

func showAccuracy(p *parse.Property) string {
	s := p.Accuracy.String()
	if p.Bound != nil {
		s += fmt.Sprintf(" [%v, %v]", p.Bound.Lo, p.Bound.Hi)
	}
	if p.HalfWidth != nil {
		s += fmt.Sprintf(" +/- %v", *p.HalfWidth)
	}
	if p.Confidence != 0 {
		s += fmt.Sprintf(" confidence %v", p.Confidence)
	}
	return s
}

func showSimulation(s *parse.Simulation) string {
	if s == nil {
		return ""
	}
	out := fmt.Sprintf("%s(%s) at most %d steps, %d samples, %v s", s.Method, showConstants(s.Parameters...), s.MaxPath, s.Samples, s.Seconds)
	if s.Steps != nil {
		out += fmt.Sprintf(", %d to %d steps, mean %v", s.Steps.Min, s.Steps.Max, s.Steps.Mean)
	}
	return out
}

func showDetails(p *parse.Property) string {
	out := fmt.Sprintf("build %d, %s, %v s", p.Build, p.Engine, p.Seconds)
	for _, it := range p.Iterations {
		out += fmt.Sprintf(", %s: %d", it.Method, it.Count)
	}
	if p.Heading != "" {
		out += ", " + p.Heading
	}
	if p.Testing != "" {
		out += ", testing: " + p.Testing
	}
	return out
}

func golden(log *parse.Log) goldenLog {
	m := log.Model
	g := goldenLog{Tool: log.Tool, Version: log.Version, Command: log.Command, Warnings: log.Warnings, Err: showFailure(log.Err)}
	if m.Type != "" || m.File != "" {
		g.Model = fmt.Sprintf("%s %q modules %v actions %v variables %v labels %q rewards %q", m.Type, m.File, m.Modules, m.Actions, m.Variables, m.Labels, m.Rewards)
	}
	for _, l := range log.Listed {
		g.Listed = append(g.Listed, strings.TrimPrefix(l.Name+": "+l.Text, ": "))
	}
	for _, b := range log.Builds {
		s := fmt.Sprintf("%s %s: %d states (%d initial), %d choices, %d transitions, %d deadlocks, %d iterations, %v s",
			b.Engine, showConstants(b.Constants...), b.States, b.Initial, b.Choices, b.Transitions, b.Deadlocks, b.Iterations, b.Seconds)
		for _, w := range b.Warnings {
			s += "; " + w
		}
		g.Builds = append(g.Builds, s)
	}
	for _, f := range log.Failures {
		g.Failures = append(g.Failures, showFailure(f))
	}
	for i, v := range log.Verdicts() {
		p := &log.Properties[i]
		g.Properties = append(g.Properties, goldenProperty{
			Name: p.Name, Text: p.Text, Constants: showConstants(slices.Concat(p.Model, p.Constants)...),
			Value: showValue(p.Value), Printed: p.ValueText, Accuracy: showAccuracy(p), Resolution: v.Resolution.String(),
			Simulation: showSimulation(p.Simulation), Details: showDetails(p), Doubt: p.Doubt, Warnings: p.Warnings, Err: showFailure(p.Err),
		})
	}
	return g
}

func encode(t testing.TB, log *parse.Log) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(golden(log)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func goldenPath(path string) string {
	return filepath.Join("testdata", "golden", strings.TrimSuffix(strings.TrimSuffix(path, ".log"), ".txt")+".golden")
}

// TestGolden compares the record of every transcript with the one that was
// looked at. "go test ./parse -update" rewrites them.
func TestGolden(t *testing.T) {
	all := transcripts(t)
	for path, tool := range all {
		got := encode(t, readLog(t, path, tool))
		name := goldenPath(path)
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s: %v (run with -update)", path, err)
			continue
		}
		if got != string(want) {
			t.Errorf("%s: record differs from %s\ngot:\n%s\nwant:\n%s", path, name, got, want)
		}
	}
	known := make(map[string]bool)
	for path := range all {
		known[goldenPath(path)] = true
	}
	err := filepath.WalkDir("testdata/golden", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !known[path] {
			t.Errorf("%s belongs to no transcript", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
