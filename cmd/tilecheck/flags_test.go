package main

import (
	"encoding"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// lineParser returns what parses a command line without running it, of one
// command if that is named.
func lineParser(t *testing.T, of ...string) (*kong.Kong, func(args ...string) error) {
	t.Helper()
	var c cli
	app, err := newApp(t.Context(), &c, &environment{system: system{stdout: io.Discard, stderr: io.Discard, identifyBuild: testBuild}}, func(int) {}, of...)
	if err != nil {
		t.Fatal(err)
	}
	return app, func(args ...string) error {
		kctx, err := app.Parse(args)
		if err == nil {
			_, err = checkedFlags(kctx)
		}
		return err
	}
}

// hostile are values that hardly any flag should accept.
func hostile() []string {
	return []string{"NaN", "Inf", "-Inf", "-1", "-1s", "0", "0s", "", "1e400", "99999999999999999999", "1000000000"}
}

// TestHostileValues gives every flag that takes a number or a text, of every
// command, values that mean nothing. The list says what is accepted, and why.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	// Text is checked where it is used, so that a flag that takes one accepts all but the empty one.
	text := []string{"NaN", "Inf", "-Inf", "-1", "-1s", "0", "0s", "1e400", "99999999999999999999", "1000000000"}
	large := []string{"99999999999999999999", "1000000000"}
	accepted := map[string][]string{
		// Numbers of games, samples, states and steps that are large are only slow, or end at a limit.
		"samples": {"1000000000"}, "max-samples": {"1000000000"}, "games": {"1000000000"}, "steps": {"0", "1000000000"},
		"max-path": {"1000000000"}, "max-states": {"1000000000"}, "explore-states": {"1000000000"}, "exact-states": {"1000000000"}, "shield-states": {"1000000000"}, "skip-larger": {"1000000000"},
		"size": {"1000000000"}, "rows": {"1000000000"}, "cols": {"1000000000"}, "max": {"1000000000"}, // checked by the game
		// How far apart values of a reward may be, and how large a reward, depends on the model.
		"width": large, "sample-tolerance": large, "max-reward": large, "time": large,
		"seed": {"0", "1000000000"}, // of 64 bits
		// The first game is number 0, and a film may have no pauses.
		"game": {"0", "1000000000"}, "delay": {"0s", "0"}, "refine": {"0", "1000000000"},
		"retries": {"0"}, // none
		"slack":   {"0"}, // the other tiles do not exceed the tile to make
		"beliefs": {"1000000000"},
	}
	special := map[string][]string{
		"strategies --max":   {"0", "1000000000"}, // 0: the game goes on
		"export --precision": nil,                 // digits
		"shield --list":      {"0", "1000000000"}, // 0 lists none
		"train --round":      {"-1", "0"},         // -1: not rounded
	}
	// The words of a submitted command are for that command to refuse.
	for _, place := range []string{"local", "slurm", "kubernetes", "any"} {
		special["submit "+place+" --command"] = hostile()
	}
	app, _ := lineParser(t)
	tried := 0
	for _, cmd := range app.Model.Leaves(false) {
		_, parse := lineParser(t, strings.Fields(cmd.Path())...)
		for _, v := range cmd.Values() {
			want, ok := special[cmd.Path()+" --"+v.Name]
			kind := elem(v.Target.Type())
			switch {
			case v.IsBool() || v.Enum != "" || unmarshals(kind):
				continue
			case ok:
			case kind.Kind() == reflect.String:
				want = text
			default:
				want = accepted[v.Name]
			}
			for _, value := range hostile() {
				tried++
				if err := parse(commandLine(cmd, v, value)...); (err == nil) != slices.Contains(want, value) {
					t.Errorf("%q: error %v", commandLine(cmd, v, value), err)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("%d values tried, want those of every flag", tried)
	}
}

// commandLine gives one value, and those that must be there.
func commandLine(cmd *kong.Node, v *kong.Value, value string) []string {
	words := strings.Fields(cmd.Path())
	for _, flag := range cmd.Flags {
		if flag.Required && flag.Value != v {
			words = append(words, "--"+flag.Name+"="+map[bool]string{true: "x", false: "1"}[elem(flag.Target.Type()).Kind() == reflect.String])
		}
	}
	if v.Flag != nil {
		words = append(words, "--"+v.Name+"="+value)
	}
	words = append(words, "--")
	given := false
	for _, p := range cmd.Positional {
		switch {
		case p == v:
			words, given = append(words, value), true
		case given && !p.Required: // the rest may be left out
			return words
		case p.Enum != "":
			words = append(words, p.EnumSlice()[0])
		case elem(p.Target.Type()).Kind() == reflect.Int:
			words = append(words, "1")
		case p.Required || v.Flag == nil:
			words = append(words, "x")
		}
	}
	return words
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// unmarshals reports whether a type reads its values itself, and is tested where it is.
func unmarshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// TestWants checks that every interval of a tag is one.
func TestWants(t *testing.T) {
	app, _ := lineParser(t)
	known := map[string]string{
		"[0,]": "at least 0", "[0,100]": "0 to 100", "[0,4096]": "0 to 4096", "[1,1024]": "1 to 1024", "[1,]": "at least 1", "(0,]": "a positive duration", "[-1,20]": "-1 to 20", "[4,32768]": "4 to 32768", "[2,32768]": "2 to 32768", "[1,100000]": "1 to 100000", "[1,17]": "1 to 17", "(0,1)": "a number between 0 and 1",
		"[1e-15,1)": "a number between 1e-15 and 1", "(0,1]": "a number above 0 and at most 1", "(0,0.1]": "a number above 0 and at most 0.1",
	}
	for _, cmd := range app.Model.Leaves(false) {
		for _, v := range cmd.Values() {
			tag := v.Tag.Get("want")
			if tag == "" || tag == "any" {
				continue
			}
			if _, ok := known[tag]; !ok {
				t.Errorf("%s --%s wants %q, which is not among %q", cmd.Path(), v.Name, tag, slices.Sorted(maps.Keys(known)))
				continue
			}
			if text := allowedInterval(v, v.Target).describe(elem(v.Target.Type())); text != known[tag] && text != "a duration of at least 0" {
				t.Errorf("%s --%s wants %q, want %q", cmd.Path(), v.Name, text, known[tag])
			}
		}
	}
}
