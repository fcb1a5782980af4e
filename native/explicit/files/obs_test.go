package files_test

import (
	"bytes"
	"strings"
	"testing"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
)

// TestObservations: the two rooms look the same, and so do the two ends. What PRISM writes
// (-exportmodel) is the same.
func TestObservations(t *testing.T) {
	const model = `pomdp
observable "end" = s>=3;
observable "k" = s=0?2:(s>3?1:0);
module m s:[0..4] init 0;
[] s=0 -> 1/2:(s'=1) + 1/2:(s'=2);
[left] s=1|s=2 -> (s'=s+2);
[right] s=1|s=2 -> (s'=5-s);
[] s>=3 -> true;
endmodule`
	space, err := buildText(t.Context(), "m.prism", []byte(model), nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# Transitions (POMDP)
5 7 8 4
- - 0 - 0
0 0 1 0.5 1
0 0 2 0.5 1
1 0 3 1 2 left
1 1 4 1 3 right
2 0 4 1 3 left
2 1 3 1 2 right
3 0 3 1 2
4 0 4 1 3

# States
(s)
0:(0)
1:(1)
2:(2)
3:(3)
4:(4)

# Observations
(end,k)
0:(false,2)
1:(false,0)
2:(true,0)
3:(true,1)
`
	if got := combined(t, space); !strings.HasPrefix(got, want) {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	w, err := files.NewWriter(space, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"DRN": w.DRN(t.Context(), new(bytes.Buffer)), "UMB": w.UMB(t.Context(), new(bytes.Buffer)), "DOT": w.DOT(t.Context(), new(bytes.Buffer))} {
		if err == nil || !strings.Contains(err.Error(), "type POMDP, which is not written as "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTransitionSystem reads what is written of a model without probabilities.
func TestTransitionSystem(t *testing.T) {
	const tra = "# Transitions (LTS)\n2 3 3\n0 0 1 go\n0 1 0\n1 0 1\n"
	read, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(tra)}}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := combined(t, read); !strings.HasPrefix(got, tra) {
		t.Errorf("found\n%s\nwant\n%s", got, tra)
	}
	for text, want := range map[string]string{
		"# Transitions (LTS)\n2 2 2\n0 0 1 0.5 go\n1 0 1\n": `m.tra:3:1: found 5 entries, wanted state, choice, target and perhaps an action`,
		"# Transitions (LTS)\n2 2 2\n0 0 1 1\n1 0 1\n":      `m.tra:3:7: found "1", wanted the name of an action`,
	} {
		_, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(text)}}, files.ReadOptions{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: found %v, want %s", text, err, want)
		}
	}
}
