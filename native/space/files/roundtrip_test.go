package files_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// sources makes sources of files that writeAll wrote.
func sources(texts map[string]string) files.Sources {
	source := func(name string) files.Source { return files.Source{Name: name, Text: []byte(texts[name])} }
	sta, lab := source("out.sta"), source("out.lab")
	out := files.Sources{Transitions: source("out.tra"), States: &sta, Labels: &lab}
	for _, number := range []string{"", "1", "2", "3", "4", "5"} {
		if _, ok := texts["out"+number+".srew"]; ok {
			out.StateRewards = append(out.StateRewards, source("out"+number+".srew"))
			out.TransitionRewards = append(out.TransitionRewards, source("out"+number+".trew"))
		}
	}
	return out
}

// What was written and read is written again as it was.
func TestRoundTrip(t *testing.T) {
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
				opts := files.Options{Precision: files.MaxPrecision, Zeros: true}
				first := writeAll(t, space, opts)
				read, err := files.Read(t.Context(), sources(first), files.ReadOptions{Exact: exact})
				if err != nil {
					t.Fatal(err)
				}
				compareTexts(t, writeAll(t, read, opts), first, "")
				opts.NoValuations = true
				first = writeAll(t, space, opts)
				read, err = files.ReadDRN(t.Context(), files.Source{Name: "out.drn", Text: []byte(first["out.drn"])}, files.ReadOptions{Exact: exact})
				if err != nil {
					t.Fatal(err)
				}
				compareTexts(t, writeAll(t, read, opts), first, ".drn")
			})
		}
	}
}

// With PRISM's 16 digits a second reading changes nothing any more.
func TestRoundTripDefaultPrecision(t *testing.T) {
	for _, name := range []string{"numbers_dtmc", "actions_ctmc", "sync_mdp", "big_dtmc"} {
		space, err := build(t.Context(), "testdata/models/"+name+".prism", nil, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := writeAll(t, space, files.Options{})
		read, err := files.Read(t.Context(), sources(first), files.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		compareTexts(t, writeAll(t, read, files.Options{}), first, "")
	}
}

// compareTexts compares the files whose names end so.
func compareTexts(t *testing.T, got, want map[string]string, suffix string) {
	t.Helper()
	for name, text := range want {
		if !strings.HasSuffix(name, suffix) || suffix == "" && name == "out.drn" {
			continue
		}
		if line, g, w := firstDifference(got[name], text); line > 0 {
			t.Errorf("%s:%d: %q, wanted %q", name, line, g, w)
		}
	}
}
