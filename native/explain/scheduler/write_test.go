package scheduler_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
)

const corpus = "../../../testdata/conformance"

// TestRecorded compares with the files that PRISM wrote for the corpus.
func TestRecorded(t *testing.T) {
	tests := []struct{ dir, file, target string }{
		{"ex_strat", "strat.txt", "strat.txt"},
		{"ex_strat", "strat_ns.txt", "strat_ns.txt:type=actions,states=false"},
		{"ex_strat", "strat_idx.txt", "strat_idx.txt:type=indices"},
		{"ex_strat", "strat_ind.tra", "strat_ind.tra:mode=restrict"},
		{"ex_strat", "strat_red.tra", "strat_red.tra:mode=reduce"},
		{"ex_strat", "strat_reach.tra", "strat_reach.tra:reach=true"},
		{"ex_strat", "strat.dot", "strat.dot"},
		{"ex_strat_bounded", "strat.txt", "strat.txt"},
		{"ex_strat_reward", "strat.txt", "strat.txt"},
	}
	for _, tt := range tests {
		dir := filepath.Join(corpus, tt.dir)
		x := scheduled(t, read(t, dir+"/model.prism"), read(t, dir+"/props.props"), check.Options{})
		if got, want := written(t, x, tt.target), read(t, dir+"/"+tt.file); got != want {
			t.Errorf("%s %s:\n%s\nwant\n%s", tt.dir, tt.target, got, want)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// walk has two variables whose states PRISM sorts otherwise than a search finds
// them, an action that occurs once in a state at most, and no two optimal
// choices where one is listed.
const walk = `mdp
module m
  x:[0..4] init 2;
  b:bool init true;
  [left] x>0&x<4 -> 0.7:(x'=x-1) + 0.3:(x'=x+1)&(b'=!b);
  [right] x>0&x<4 -> 1/3:(x'=x-1) + 2/3:(x'=x+1);
  [] x=2&b -> 1e-5:(x'=0) + 1-1e-5:(x'=1)&(b'=false);
  [] x=0|x=4 -> true;
endmodule
rewards "r" [left] true : 1; [right] b : 3; x>0&x<4&!b : 0.25; endrewards`

var walkProperties = []string{
	`Pmax=? [ F x=4 ]`,
	`Pmin=? [ F x=0 ]`,
	`Pmax=? [ !b U x=0 ]`,
	`Pmax=? [ G x>0 ]`,
	`Pmin=? [ X b ]`,
	`R{"r"}max=? [ F x=0|x=4 ]`,
	`R{"r"}min=? [ F x=0|x=4 ]`,
	`Pmax=? [ F<=3 x=4 ]`,
	`Pmin=? [ F<=4 x=4 ]`,
}

var targets = []string{
	"f.txt", "f.txt:states=false", "f.txt:type=indices", "f.tra", "f.tra:reach", "f.tra:mode=restrict", "f.tra:mode=restrict,reach=true",
	"f.dot", "f.dot:mode=restrict", "f.dot:reach=false,states=false",
}

// TestPRISM compares with the files that PRISM writes now.
func TestPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/m.prism", []byte(walk), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, property := range walkProperties {
		x := scheduled(t, walk, property, check.Options{})
		for j, target := range targets {
			if (i+j)%5 != 0 { // a run of PRISM takes a second or more; each target has its turn
				continue
			}
			file, _, _ := strings.Cut(target, ":")
			cmd := exec.Command(prism, "m.prism", "-pf", property, "-ex", "-exportstrat", target)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s %s: %v\n%s", property, target, err, out)
			}
			want := read(t, filepath.Join(dir, file))
			if got := written(t, x, target); got != want {
				t.Errorf("%s %s:\n%s\nwant\n%s", property, target, got, want)
			}
		}
	}
}
