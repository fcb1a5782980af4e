package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDistributionInterrupted: files of several times are replaced together, or not at all.
func TestDistributionInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model, first := filepath.Join(dir, "m.prism"), filepath.Join(dir, "p0.txt")
	for name, text := range map[string]string{
		model: "dtmc module m x:[0..2]; [] x<2 -> 1/3:(x'=x+1) + 2/3:true; [] x=2 -> true; endmodule",
		first: "old",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(times, timeout string) (code int, errs string) {
		code, _, errs = tilecheck(t.Context(), "distribution", model, "--exact", "--time", times, "-o", filepath.Join(dir, "p.txt"), "--timeout", timeout)
		return code, errs
	}
	// The second time takes more steps with fractions than any machine makes in a second.
	if code, errs := run("0:1000000000:1000000000", "1s"); code != exitOutOfLimit || strings.Contains(errs, "wrote") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	entries, err := os.ReadDir(dir)
	if text, errRead := os.ReadFile(first); err != nil || errRead != nil || string(text) != "old" || len(entries) != 2 {
		t.Errorf("the first file has %q, %v; the folder has %v, %v", text, errRead, entries, err)
	}
	if code, errs := run("0:1:1", "1m"); code != exitOK || !strings.Contains(errs, "p0.txt") || !strings.Contains(errs, "p1.txt") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if text, err := os.ReadFile(first); err != nil || string(text) == "old" {
		t.Errorf("the first file has %q, %v", text, err)
	}
}
