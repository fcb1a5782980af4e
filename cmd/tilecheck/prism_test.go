package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/containers"
)

// requirePRISM skips a test when there is no image of PRISM to run, or fails it
// when TILECHECK_REQUIRE says that there must be one.
func requirePRISM(t *testing.T) {
	t.Helper()
	set := func(name, value string) error {
		t.Setenv(name, value)
		return nil
	}
	if err := containers.Prepare(t.Context(), os.LookupEnv, set); err != nil {
		t.Fatal(err)
	}
	why := ""
	if d, err := containers.Connect(t.Context()); err != nil {
		why = err.Error()
	} else {
		if _, err := defaultImage(t.Context(), d, "prism"); err != nil {
			why = err.Error()
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case why == "":
	case slices.Contains(strings.Split(os.Getenv("TILECHECK_REQUIRE"), ","), "prism"):
		t.Fatal(why)
	default:
		t.Skip(why)
	}
}

// tilecheck runs the command in this process.
func tilecheck(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
		getenv: os.Getenv, lookupEnv: os.LookupEnv, setenv: os.Setenv,
		terminal: func(io.Writer) (int, bool) { return 0, false },
	})
	return code, out.String(), errs.String()
}

// TestCrosscheckBoards: PRISM in a container and the embedded engine, both with
// bounds and with fractions, agree on boards with every policy and spawn.
func TestCrosscheckBoards(t *testing.T) {
	requirePRISM(t)
	policies := []string{"none", "random", "opposite", "orthogonal", "alternating"}
	if testing.Short() {
		policies = policies[:1]
	}
	for _, policy := range policies {
		for _, spawn := range []string{"cell", "module", "uniform"} {
			t.Run(policy+"-"+spawn, func(t *testing.T) {
				model := filepath.Join(t.TempDir(), "2048.prism")
				code, _, errs := tilecheck(t.Context(), "gen", "--rows", "2", "--cols", "2", "--max", "16", "--policy", policy, "--spawn", spawn, "-o", model)
				if code != 0 {
					t.Fatal(errs)
				}
				code, out, errs := tilecheck(t.Context(), "crosscheck", model, "--prop", "Pmin=? [ F fail ]", "--prop", "Pmax=? [ F success ]",
					"--engines", "native,native:exact,prism,prism:exact", "--format", "csv")
				// PRISM calls some of its results exact in floating point only.
				if code != 0 || strings.Count(out, ",agree,") != 2 {
					t.Errorf("exit code %d\n%s\n%s", code, out, errs)
				}
			})
		}
	}
}

// TestCompareEngines: a corner of the thesis's experiment on both engines.
func TestCompareEngines(t *testing.T) {
	requirePRISM(t)
	code, out, errs := tilecheck(t.Context(), "compare", "--engines", "prism,native", "--max", "128", "--seed", "1", "--strategies", "random,opposite")
	if code != 0 || !strings.Contains(out, "engines: 2 of 2 comparisons made, all compatible") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
}
