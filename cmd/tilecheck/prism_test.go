package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/containers"
	"tilecheck/internal/needs"
)

// requirePRISM skips a test when there is no image of PRISM to run, or fails it
// when there must be one. The test's commands then run that image, and none that
// another test makes of a tool that is not PRISM.
func requirePRISM(t *testing.T) {
	t.Helper()
	needs.Wanted(t, needs.PRISMImage)
	set := func(name, value string) error {
		t.Setenv(name, value)
		return nil
	}
	if err := containers.Prepare(t.Context(), os.LookupEnv, set); err != nil {
		t.Fatal(err)
	}
	d, err := containers.Connect(t.Context())
	needs.Have(t, needs.Docker, err)
	defer func() {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	image := needs.Given("TILECHECK_PRISM_IMAGE")
	if image == "" {
		all, err := d.Discover(t.Context(), toolbox.ImageKind("prism"), "")
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(f containers.Found) bool {
			return f.Problem != "" || strings.HasPrefix(f.Image.Ref, "tilecheck-test/")
		})
		if err = errors.New(toolbox.MissingImage("prism")); len(all) > 0 {
			image, err = all[0].Image.Ref, nil
		}
		needs.Have(t, needs.PRISMImage, err)
	}
	t.Setenv("TILECHECK_PRISM_IMAGE", image)
}

// tilecheck runs the command in this process.
func tilecheck(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return onTerminal(ctx, 0, args)
}

// wideTilecheck is tilecheck whose tables have room enough, so that how long a time
// is does not decide where lines break.
func wideTilecheck(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return onTerminal(ctx, 400, args)
}

// onTerminal is tilecheck whose standard output is a terminal with so many columns and
// no colours; with none it is no terminal.
func onTerminal(ctx context.Context, columns int, args []string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &environment{system: system{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
		getenv: func(name string) string {
			if name == "NO_COLOR" && columns > 0 {
				return "1"
			}
			return os.Getenv(name)
		},
		lookupEnv: os.LookupEnv, setenv: os.Setenv,
		terminal: func(w io.Writer) (int, bool) { return columns, columns > 0 && w == &out }, identifyBuild: testBuild,
	}})
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
					"--engine", "native,native:exact,prism,prism:exact", "--format", "csv")
				// PRISM calls some of its results exact in floating point only.
				if code != 0 || strings.Count(out, ",agree,") != 2*4 {
					t.Errorf("exit code %d\n%s\n%s", code, out, errs)
				}
			})
		}
	}
}

// TestCompareEngines: a corner of the thesis's experiment on both engines.
func TestCompareEngines(t *testing.T) {
	requirePRISM(t)
	code, out, errs := tilecheck(t.Context(), "compare", "--engine", "prism,native", "--max", "128", "--seed", "1", "random", "opposite")
	if code != 0 || !strings.Contains(out, "4 of 4 comparisons made") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
}

// TestCrosscheckFiles: PRISM reads files of states that it did not write, and
// means the same by them; the values are those of the model.
func TestCrosscheckFiles(t *testing.T) {
	prism := needs.PRISM(t)
	base := filepath.Join(t.TempDir(), "die")
	code, _, errs := tilecheck(t.Context(), "export", "../../testdata/suite/dtmc/die.prism", "-o", base+".all", "-o", base+".pexp", "-o", base+".umb")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, name := range []string{base + ".tra,sta,lab,srew", base + ".all", base + ".pexp", base + ".umb"} {
		code, out, errs := tilecheck(t.Context(), "crosscheck", name, "--prop", "P=? [ F d=6 ]", "--prop", `R=? [ F s=7 ]`,
			"--engine", "native,native:exact,prism", "--prism-path", prism, "--format", "csv")
		if code != 0 || strings.Count(out, ",agree,") != 2*3 || strings.Contains(out, "did not answer") {
			t.Errorf("%s: exit code %d\n%s\n%s", name, code, out, errs)
		}
	}
}
