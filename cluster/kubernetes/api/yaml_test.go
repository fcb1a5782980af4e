package api

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What is written is read back by the library that kubectl reads manifests with, and simple values are
// written as it writes them.
func TestYAML(t *testing.T) {
	words := []string{
		"", "a", "y", "Yes", "off", "null", "~", "1", "1e3", "0x1", "3Gi", "Ki", "0o7", "1_000", ".inf", "2001-01-01", "12:30", "=", "<<", "!x", "&a", "*a", "%", "@", "`",
		"--round=1", "--", "-", "- a", "? a", "a: b", "a:", ":a", "a #b", "#", "[a]", "a[b]", "{}", "{a", "a'b", "'", `"`, `\`, "$$(A)", "/mnt/a b", "/mnt/a", "k8s.io/x=1", "é", "\t", "a\nb", "\u0085", "\u2028", "😀", "<&>", "|", ">", "a,b",
	}
	for _, w := range words {
		for _, value := range []any{map[string]any{w: w, "b": []any{w, map[string]any{w: w}}}, []any{w}, map[string]any{"m": map[string]any{w: []any{}, "e": map[string]any{}}}} {
			text, err := YAML(value)
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if err := yaml.UnmarshalStrict(text, &got); err != nil || !reflect.DeepEqual(got, value) {
				t.Errorf("%q is read as %v (%v) from\n%s", value, got, err, text)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var tree func(depth int) any
	tree = func(depth int) any {
		switch n := random.IntN(3); {
		case depth == 0:
			return []any{"text", true, 12.0, "3Gi", "x/y:1", "yes", nil}[random.IntN(7)]
		case n == 0:
			list := make([]any, random.IntN(4))
			for i := range list {
				for list[i] = tree(depth - 1); reflect.TypeOf(list[i]) == reflect.TypeFor[[]any](); { // lists of lists do not occur
					list[i] = tree(depth - 1)
				}
			}
			return list
		}
		m := make(map[string]any)
		for range random.IntN(5) {
			m[strings.Repeat("k", 1+random.IntN(5))] = tree(depth - 1)
		}
		return m
	}
	for range 200 {
		value := map[string]any{"root": tree(4)}
		text, err := YAML(value)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := yaml.Marshal(value); err != nil || string(text) != string(want) {
			t.Fatalf("%v: got\n%s\nwant\n%s", err, text, want)
		}
	}
}
