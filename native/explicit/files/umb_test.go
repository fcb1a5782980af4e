package files_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
)

// umbOf is the UMB file of a space.
func umbOf(t *testing.T, space *explicit.Space, opts files.Options) []byte {
	t.Helper()
	w, err := files.NewWriter(space, opts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.UMB(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What was written in UMB and read is the same model, and is written again as it was.
func TestUMBRoundTrip(t *testing.T) {
	models, err := filepath.Glob("testdata/models/*.prism")
	if err != nil || len(models) == 0 {
		t.Fatal("no models", err)
	}
	for _, file := range models {
		for _, exact := range []bool{false, true} {
			name := filepath.Base(file)
			if exact {
				name += " exact"
			}
			t.Run(name, func(t *testing.T) {
				space, err := build(t.Context(), file, nil, explicit.Options{Exact: exact})
				if err != nil {
					t.Fatal(err)
				}
				for _, raw := range []bool{false, true} {
					first := umbOf(t, space, files.Options{Raw: raw})
					read, err := files.ReadUMB(t.Context(), files.Source{Name: "out.umb", Text: first}, files.ReadOptions{Exact: exact})
					if err != nil {
						t.Fatal(err)
					}
					if again := umbOf(t, read, files.Options{Raw: raw}); !bytes.Equal(again, first) {
						t.Errorf("raw %v: written again, %d bytes are not the first %d", raw, len(again), len(first))
					}
					opts := files.Options{Precision: files.MaxPrecision, Zeros: true}
					compareTexts(t, writeAll(t, read, opts), writeAll(t, space, opts), "")
				}
			})
		}
	}
}

// TestUMBWithPRISM: what PRISM writes is the model that it says it is, and what is
// written here PRISM reads as that: states, choices, probabilities, labels, rewards
// and actions, as its own explicit files have them.
//
//	TILECHECK_PRISM=/path/to/bin/prism go test ./native/explicit/files -run TestUMBWithPRISM
func TestUMBWithPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	own, err := filepath.Glob("testdata/models/*.prism")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		umbWithPRISM(t, prism, file, nil)
		umbWithPRISM(t, prism, file, nil, "-exact")
	}
	for _, e := range examples {
		file := filepath.Join(filepath.Dir(prism), "..", "..", "prism-examples", e.file)
		if _, err := os.Stat(file); err != nil {
			t.Logf("no example %s", e.file)
			continue
		}
		var consts []string
		if e.consts != "" {
			consts = []string{e.consts}
		}
		umbWithPRISM(t, prism, file, consts)
	}
	for name, cfg := range boards(t) {
		umbWithPRISM(t, prism, writeBoard(t, name, cfg), nil)
	}
}

func umbWithPRISM(t *testing.T, prism, file string, consts []string, args ...string) {
	exact := len(args) > 0
	t.Run(strings.Join(append([]string{filepath.Base(file)}, args...), " "), func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		run := func(args ...string) {
			t.Helper()
			if log, err := exec.CommandContext(t.Context(), prism, args...).CombinedOutput(); err != nil || bytes.Contains(log, []byte("\nError")) {
				t.Fatalf("%q: %v\n%s", args, err, log)
			}
		}
		first := append([]string{file, "-ex", "-exportmodel", dir + "/out.all", "-exportmodel", dir + "/out.umb"}, args...)
		if len(consts) > 0 {
			first = append(first, "-const", strings.Join(consts, ","))
		}
		run(first...)
		text, err := os.ReadFile(dir + "/out.umb")
		if err != nil {
			t.Fatal(err)
		}
		opts := files.ReadOptions{Exact: exact}
		theirs, err := files.ReadUMB(t.Context(), files.Source{Name: "out.umb", Text: text}, opts)
		if err != nil {
			t.Fatal(err)
		}
		space, err := build(t.Context(), file, consts, explicit.Options{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/ours.umb", umbOf(t, space, files.Options{}), 0o666); err != nil {
			t.Fatal(err)
		}
		run(append([]string{"-importmodel", dir + "/ours.umb", "-ex", "-exportmodel", dir + "/again.all"}, args...)...)
		got := writeAll(t, theirs, files.Options{})
		entries, err := filepath.Glob(dir + "/out*.*")
		if err != nil || len(entries) < 4 {
			t.Fatalf("PRISM wrote %q, %v", entries, err)
		}
		for _, name := range entries {
			base := filepath.Base(name)
			if base == "out.umb" {
				continue
			}
			want, err1 := os.ReadFile(name)
			again, err2 := os.ReadFile(dir + "/again" + strings.TrimPrefix(base, "out"))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if line, g, w := firstDifference(got[base], string(want)); line > 0 {
				t.Errorf("read from PRISM, %s:%d: %q, PRISM has %q", base, line, g, w)
			}
			if line, g, w := firstDifference(string(again), string(want)); line > 0 {
				t.Errorf("read by PRISM, %s:%d: %q, PRISM has %q", base, line, g, w)
			}
		}
	})
}
