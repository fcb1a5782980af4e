package check_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	loader "tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// writtenAutomaton returns the states of a Markov automaton through a file of a format, drn or umb.
func writtenAutomaton(t *testing.T, text, format string, exact bool) *files.StateFiles {
	t.Helper()
	model, _, err := loader.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(text), Dialect: syntax.Storm})
	if err != nil {
		t.Fatal(err)
	}
	space, err := explicit.Build(t.Context(), model, explicit.Options{Exact: exact})
	if err != nil {
		t.Fatal(err)
	}
	written := writeAutomaton(t, space, format)
	again, err := readAutomaton(format)(t.Context(), files.Source{Name: "m." + format, Text: written}, files.ReadOptions{Exact: exact})
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if second := writeAutomaton(t, again, format); format == "drn" && !bytes.Equal(withoutComments(second), withoutComments(written)) {
		t.Fatalf("%s\nwas read and written as\n%s", written, second)
	}
	given, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "m." + format, Text: written}}, format, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// readAutomaton returns the reader of a format.
func readAutomaton(format string) func(context.Context, files.Source, files.ReadOptions) (*explicit.Space, error) {
	if format == "drn" {
		return files.ReadDRN
	}
	return files.ReadUMB
}

// writeAutomaton returns a space in a format.
func writeAutomaton(t *testing.T, space *explicit.Space, format string) []byte {
	t.Helper()
	writer, err := files.NewWriter(space, files.Options{Precision: files.MaxPrecision, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	write := map[string]func(context.Context, io.Writer) error{"drn": writer.DRN, "umb": writer.UMB}[format]
	if err := write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withoutComments returns the lines that are no comments.
func withoutComments(text []byte) []byte {
	var lines [][]byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("//")) {
			lines = append(lines, line)
		}
	}
	return bytes.Join(lines, nil)
}

// TestFilesOfMarkovAutomata: the states in a file have the answers of the text.
func TestFilesOfMarkovAutomata(t *testing.T) {
	for seed := range needs.Some(uint64(25)) {
		rng := rand.New(rand.NewPCG(seed, 46))
		n := 2 + rng.IntN(5)
		text := newRandomAutomaton(rng, n, 3).text(rng) + fmt.Sprintf("label \"last\" = s=%d;\nlabel \"first\" = s=0;\n", n-1)
		for _, format := range []string{"drn", "umb"} {
			for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
				states := writtenAutomaton(t, text, format, accuracy == result.Exact)
				properties := []string{`Smin=? [ "last" ]`, `R{"r"}max=? [ S ]`, `R{"r"}max=? [ F "last" ]`}
				if accuracy == result.Bounded {
					properties = append(properties, `Pmin=? [ F<=0.3 "last" ]`, `Pmax=? [ "first" U<1.7 "last" ]`)
				}
				job := runner.Job{File: "m." + format, States: states, Props: properties, Dialect: syntax.Storm, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}}}
				read, err := runner.Check(t.Context(), native.New(), job)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
				for i, property := range properties {
					if want := storm(t, text, accuracy, property)[0]; !overlap(read[i], want) {
						t.Fatalf("seed %d: %s in %s: found %v in %v, %v, want %v in %v\n%s", seed, property, format, read[i].Value, read[i].Bound, read[i].Err, want.Value, want.Bound, text)
					}
				}
			}
		}
	}
}

// overlap reports whether two verdicts have equal fractions, or bounds with a common number.
func overlap(found, want result.Verdict) bool {
	if found.Err != nil || want.Err != nil {
		return false
	}
	if found.Bound == nil || want.Bound == nil {
		return found.Value.Rat != nil && want.Value.Rat != nil && found.Value.Rat.Cmp(want.Value.Rat) == 0 || found.Value.Num == want.Value.Num
	}
	return found.Bound.Lo <= want.Bound.Hi && want.Bound.Lo <= found.Bound.Hi
}

// TestFileWithoutMaximalProgress: a state with an exit rate and several choices is refused.
func TestFileWithoutMaximalProgress(t *testing.T) {
	text := "@type: Markov Automaton\n@parameters\n\n@reward_models\n\n@nr_states\n1\n@nr_choices\n2\n@model\nstate 0 !2 init\n\taction a\n\t\t0 : 1\n\taction b\n\t\t0 : 1\n"
	_, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "state 0 has an exit rate and 2 choices") {
		t.Errorf("found %v", err)
	}
}
