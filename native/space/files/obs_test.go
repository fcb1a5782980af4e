package files_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
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
	for half, exact := range map[string]bool{"0.5": false, "1/2": true} {
		text := strings.ReplaceAll(want, "0.5", half)
		read, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "m.pexp", Text: []byte(text)}, files.ReadOptions{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		if got := combined(t, read); !strings.HasPrefix(got, text) {
			t.Errorf("read and written again:\n%s\nwant\n%s", got, text)
		}
	}
	transitions, _, _ := strings.Cut(want, "\n\n")
	read, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(transitions + "\n")}}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := combined(t, read); !strings.Contains(got, "# Observations\n(o)\n0:(0)\n1:(1)\n2:(2)\n3:(3)\n") {
		t.Errorf("without a file of observations:\n%s", got)
	}
	w, err := files.NewWriter(space, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"UMB": w.UMB(t.Context(), new(bytes.Buffer)), "DOT": w.DOT(t.Context(), new(bytes.Buffer))} {
		if err == nil || !strings.Contains(err.Error(), "type POMDP, which cannot be written as "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIndistinctChoices: no file is made of a model whose player could not tell choices
// apart, as PRISM makes none.
func TestIndistinctChoices(t *testing.T) {
	for name, want := range map[string]string{
		"pomdp_dup_action":   "/model.prism: state (s=0) has two choices with the same action, and a scheduler of a partially observable model cannot distinguish them",
		"pomdp_diff_actions": "/model.prism: states (s=0,o=0) and (s=1,o=0) have the same observation (0) but different actions",
	} {
		space, err := build(t.Context(), corpus+"/"+name+"/model.prism", nil, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := files.NewWriter(space, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"transitions": w.Transitions(t.Context(), io.Discard), "observations": w.Observations(t.Context(), io.Discard)} {
			if err == nil || !strings.HasSuffix(err.Error(), name+want) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

// TestObservationErrors: what is wrong with observations is said with its place.
func TestObservationErrors(t *testing.T) {
	const tra, obs = "# Transitions (POMDP)\n2 2 2 2\n- - 0 - 0\n0 0 1 1 1\n1 0 1 1 1\n", "# Observations\n(o)\n0:(1)\n1:(2)\n"
	for _, c := range []struct{ old, text, want string }{
		{"2 2 2 2", "2 2 2", `m.tra:2:1: found "2 2 2", wanted the number of states and the number of choices and the number of transitions and the number of observations`},
		{"2 2 2 2", "2 2 2 3", `m.tra:2:7: found 3 observations of 2 states, wanted no more than states`},
		{"- - 0 - 0", "- - 0 0", `m.tra:3:1: found 4 entries, wanted -, -, an initial state, - and its observation`},
		{"- - 0 - 0", "- - 0 - 2", `m.tra:3:9: found observation 2, wanted one below 2`},
		{"- - 0 - 0\n", "", `m.tra:5:1: found no observation of state 0, wanted one for each state`},
		{"1 0 1 1 1", "1 0 1 1 0", `m.tra:5:9: found observation 0 of state 1, wanted 1 as before`},
		{"1 0 1 1 1", "1 0 1 1", `m.tra:5:1: found 4 entries, wanted state, choice, target, probability, observation and perhaps an action`},
		{"1:(2)\n", "", `m.obs:4:1: found 1 observations, wanted 2 as in the transitions`},
		{"1:(2)", "1:(true)", `m.obs:4:4: found "true", wanted an integer of 32 bits for "o"`},
		{"# Observations", "# States", `m.obs:1:1: found the header of a file of states, wanted observations`},
	} {
		_, err := files.Read(t.Context(), files.Sources{
			Transitions:  files.Source{Name: "m.tra", Text: []byte(strings.Replace(tra, c.old, c.text, 1))},
			Observations: &files.Source{Name: "m.obs", Text: []byte(strings.Replace(obs, c.old, c.text, 1))},
		}, files.ReadOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: found %v, want %s", c.text, err, c.want)
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
