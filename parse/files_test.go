package parse_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"tilecheck/parse"
	"tilecheck/result"
)

func TestStormFiles(t *testing.T) {
	open := func(name string) *bytes.Reader {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(data)
	}
	results, err := parse.ReadStormResults(open("result.json"))
	if err != nil || len(results) != 1 || results[0].Value.Num != 0.18918890226163915 || !slices.Equal(results[0].Labels, []string{"init"}) {
		t.Errorf("results %+v, %v", results, err)
	}
	exact, err := parse.ReadStormResults(strings.NewReader(`[{"s":7,"v":"7/37","l":[]},{"s":8,"v":true}]`))
	if err != nil || exact[0].State.Index != 7 || exact[0].Value.Rat.RatString() != "7/37" || exact[1].Value.Kind != result.Boolean {
		t.Errorf("exact results %+v, %v", exact, err)
	}
	for _, text := range []string{`[{"v":1}]`, `[{"s":0,"v":"x"}]`, `[] []`, `{}`, `[{"s":0`} {
		if got, err := parse.ReadStormResults(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}
