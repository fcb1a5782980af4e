package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestRenamedFlags: for one release, a flag is also read under the name that it had in 0.1.
func TestRenamedFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, before, now string }{
		{"bless x", "--all", "--pair-all"},
		{"bless x", "--max-states=5", "--exact-states=5"},
		{"bound random", "--states=5", "--explore-states=5"},
		{"bound random", "--time=5s", "--budget=5s"},
		{"clean", "--all", "--running"},
		{"compare document dtu", "--state=dir", "--checkpoint=dir"},
		{"compare document dtu", "--time=5s", "--row-budget=5s"},
		{"compare models", "--engines=native", "--engine=native"},
		{"compare models", "--property=true", "--prop=true"},
		{"compare players", "--all", "--all-games"},
		{"compare players", "--state=dir", "--checkpoint=dir"},
		{"crosscheck m.prism", "--max-states=5", "--explore-states=5"},
		{"crosscheck m.prism", "--model", "--state-space"},
		{"crosscheck m.prism", "--precision=0.1", "--sample-tolerance=0.1"},
		{"export m.prism", "--rows", "--distribution-rows"},
		{"export-strategy random", "--fractions", "--exact"},
		{"gen", "--model=dtmc", "--kind=dtmc"},
		{"lint m.prism", "--max-states=5", "--explore-states=5"},
		{"play random", "--max-states=5", "--shield-states=5"},
		{"play random", "--resume=file", "--checkpoint=file"},
		{"play random", "--state=file", "--checkpoint=file"},
		{"serve", "--limit=5s", "--timeout=5s"},
		{"serve", "--table=file", "--solved=file"},
		{"shield m.prism true --threshold=0.1", "--states=5", "--list=5"},
		{"simulate m.prism", "--board", "--as-board"},
		{"solve --max 16", "--against=worst", "--spawn=worst"},
		{"solve", "--out=file", "--output=file"},
		{"submit kubernetes", "--time=5", "--time-limit=5"},
		{"submit slurm", "--time=5", "--time-limit=5"},
		{"test x", "--all", "--pair-all"},
		{"test x", "--max-states=5", "--skip-larger=5"},
		{"check m.prism", "--method=exact", "--method=states"},
	} {
		words := strings.Fields(c.command)
		values := func(flag string) string {
			app, _ := lineParser(t, words...)
			args := append(words[:len(words):len(words)], flag)
			if words[0] == "submit" {
				args = append(args, "--", "check")
			}
			kctx, err := app.Parse(args)
			if err != nil {
				t.Errorf("%s %s: %v", c.command, flag, err)
				return ""
			}
			if _, err := checkedFlags(kctx); err != nil {
				t.Errorf("%s %s: %v", c.command, flag, err)
			}
			var out strings.Builder
			for _, f := range kctx.Flags() {
				x := f.Target
				for x.Kind() == reflect.Pointer && !x.IsNil() {
					x = x.Elem()
				}
				fmt.Fprintf(&out, "%s=%v ", f.Name, x)
			}
			return out.String()
		}
		if before, now := values(c.before), values(c.now); before != now {
			t.Errorf("%s: %s gives\n%s\nand %s\n%s", c.command, c.before, before, c.now, now)
		}
	}
}

// TestConfidence: --alpha, the error probability, was the flag for --confidence in 0.1.
func TestConfidence(t *testing.T) {
	t.Parallel()
	point := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		flags confidenceFlags
		want  float64
	}{
		{confidenceFlags{}, 0.99},
		{confidenceFlags{Confidence: point(0.95)}, 0.95},
		{confidenceFlags{Alpha: point(0.05)}, 0.95},
	} {
		if got := c.flags.confidence(0.99); got != c.want {
			t.Errorf("%+v: %v, want %v", c.flags, got, c.want)
		}
	}
	for _, command := range []string{"check m.prism", "compare models", "compare players", "compare document dtu", "play random"} {
		for flag, want := range map[string]bool{"--alpha=0.05": true, "--confidence=0.95": true, "--confidence=1.5": false, "--alpha=2": false} {
			_, parse := lineParser(t)
			if err := parse(append(strings.Fields(command), flag)...); (err == nil) != want {
				t.Errorf("%s %s: %v", command, flag, err)
			}
		}
	}
}
