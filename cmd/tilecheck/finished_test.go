package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPrintsWhatIsFinished asks for files that cannot be written: what was computed before is printed.
func TestPrintsWhatIsFinished(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there is no directory /proc, in which nobody can make files
	}
	model := filepath.Join(t.TempDir(), "m.prism")
	text := "mdp module m s:[0..2]; [a] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [b] s=0 -> 1/4:(s'=1) + 3/4:(s'=2); [] s>0 -> true; endmodule\n"
	if err := os.WriteFile(model, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"shield @ Pmax=?[F(s=1)] --threshold 0.1 --export-scheduler /proc/x.tra", "worst"},
		{"check @ --prop Pmax=?[F(s=1)] --export-scheduler /proc/x.tra", "0.5"},
		{"check @ --prop Pmax=?[F(s=1)] --certificate /proc/x.cert", "0.5"},
		{"check @ --prop Pmax=?[F(s=1)] --export-results /proc/x.csv", "0.5"},
		{"check @ --prop P<=1/4[F(s=1)] --witness --export-witness /proc/x.path", "false"},
		{"check @ --prop P<=1/4[F(s=1)] --witness --subsystem --export-subsystem /proc/x.prism", "false"},
	} {
		args := strings.Fields(strings.ReplaceAll(tt.args, "@", model))
		code, out, errs := tilecheck(t.Context(), args...)
		if code == 0 || !strings.Contains(out, tt.want) || !strings.Contains(out+errs, "/proc") {
			t.Errorf("%s: exit code %d, want the result, and an error about the file:\n%s%s", tt.args, code, out, errs)
		}
	}
}
