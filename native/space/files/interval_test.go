package files_test

import (
	"bytes"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

// What PRISM writes of the model (-exportmodel), but for 0.7 and 0.1, which its doubles
// make 0.7000000000000001 and 0.1000000000000001.
const intervalTra = `# Transitions (IMDP)
4 5 8
0 0 1 [0.1,0.3] a
0 0 2 [0.7,0.9] a
0 1 2 [0.75,0.8] b
0 1 3 [0.2,0.25] b
1 0 2 [0.1,0.5]
1 0 3 [0.5,0.9]
2 0 2 [1,1]
3 0 3 [1,1]
`

const intervalText = `mdp
module m
  s : [0..3] init 0;
  [a] s=0 -> [0.1,0.3]:(s'=1) + [0.6,0.95]:(s'=2);
  [b] s=0 -> [0.2,0.25]:(s'=3) + [0.75,0.8]:(s'=2);
  [] s=1 -> [0.5,0.9]:(s'=3) + [0.1,0.5]:(s'=2);
  [] s>=2 -> true;
endmodule
rewards "r" [a] true : 3; s=1 : 0.5; endrewards
`

// TestIntervals writes and reads a model with intervals, as doubles and as fractions.
func TestIntervals(t *testing.T) {
	for _, exact := range []bool{false, true} {
		space, err := buildText(t.Context(), "m.prism", []byte(intervalText), nil, explicit.Options{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		first := combined(t, space)
		want := intervalTra
		if exact {
			want = strings.NewReplacer("0.1,0.3", "1/10,3/10", "0.7,0.9", "7/10,9/10", "0.75,0.8", "3/4,4/5", "0.2,0.25", "1/5,1/4", "0.1,0.5", "1/10,1/2", "0.5,0.9", "1/2,9/10").Replace(want)
		}
		if !strings.HasPrefix(first, want) {
			t.Errorf("found\n%s\nwant\n%s", first, want)
		}
		for _, typ := range []syntax.ModelType{syntax.TypeNone, syntax.IMDP} {
			text := strings.Replace(first, " (IMDP)", "", 1) // told by its entries
			read, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "m.pexp", Text: []byte(text)}, files.ReadOptions{Exact: exact, Type: typ})
			if err != nil {
				t.Fatal(err)
			}
			if again := combined(t, read); again != first {
				t.Errorf("read and written again\n%s\nwant\n%s", again, first)
			}
		}
	}
}

func combined(t *testing.T, s *explicit.Space) string {
	t.Helper()
	w, err := files.NewWriter(s, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.Combined(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestIntervalErrors(t *testing.T) {
	for tra, want := range map[string]string{
		"2 2\n0 1 [0.5,1]\n1 1 1\n":                      `m.tra:3:5: found "1", wanted an interval such as [0.1,0.3]`,
		"2 2\n0 1 [1,0.5]\n1 1 [1,1]\n":                  `m.tra:2:5: found "[1,0.5]", wanted an interval of probabilities from 0 to 1, with an upper bound above 0`,
		"2 2\n0 1 [0.2,0.5]\n1 1 [1,1]\n":                `m.tra:2:1: the intervals from here on sum to exactly [1/5,1/2], wanted an interval that contains 1`,
		"2 2\n0 1 [0.2,x]\n1 1 [1,1]\n":                  `m.tra:2:10: found "x", wanted a probability, a finite number such as 0.25, 1e-3 or 1/3`,
		"2 3\n0 1 [0.7,0.8]\n0 0 [0.7,0.8]\n1 1 [1,1]\n": `m.tra:2:1: the intervals from here on sum to exactly [7/5,8/5], wanted an interval that contains 1`,
	} {
		_, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(tra)}}, files.ReadOptions{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: found %v, want %s", tra, err, want)
		}
	}
}
