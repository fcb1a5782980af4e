package editor_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/editor"
	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
)

// everything asks for all that there is at a place.
func everything(t *testing.T, files *editor.Files, name string, offset int) {
	t.Helper()
	if _, err := files.Diagnostics(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	text := files.Text(name)
	for _, d := range files.Tokens(name) {
		if d.From < 0 || d.To > len(text) || d.From >= d.To {
			t.Fatalf("a token at %v of %d", d.Range, len(text))
		}
	}
	files.Symbols(name)
	files.Lenses(name)
	files.Definition(name, offset)
	files.References(name, offset)
	files.Hover(t.Context(), name, offset)
	files.Complete(name, offset)
	if _, err := files.Format(name); err != nil && strings.Contains(err.Error(), "mistake of tilecheck") {
		t.Fatalf("%v\n%s", err, text)
	}
	if edits, err := files.Rename(t.Context(), name, offset, "another_name"); err == nil {
		if _, err := files.Apply(edits); err != nil {
			t.Fatal(err)
		}
	}
}

// models are a hundred texts: those of the corpus, and random ones.
func models(t *testing.T) []string {
	t.Helper()
	var out []string
	paths, err := filepath.Glob(corpus + "/*/model.prism")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(paths) && len(out) < 60; i += 3 {
		text, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	for i := uint64(0); len(out) < 100; i++ {
		out = append(out, wild.New(1, i, 1).Text)
	}
	return out
}

// A text that is being written is any prefix of what it will be.
func TestPrefixes(t *testing.T) {
	texts := append(models(t), model)
	for i := range needs.Some(len(texts)) {
		text := texts[(i*41)%len(texts)]
		for end := range len(text) {
			everything(t, editor.New(editor.Options{}).With("m.prism", []byte(text[:end])), "m.prism", end)
		}
	}
	for end := range len(props) {
		everything(t, editor.New(editor.Options{}).With("m.prism", []byte(model)).With("m.props", []byte(props[:end])), "m.props", end)
	}
}

// Random edits: bytes and words put in, taken out and doubled. The seed is fixed; another one may
// find what is not known today.
func TestRandomEdits(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	r := rand.New(rand.NewPCG(seed, 0))
	words := []string{"module", "endmodule", "(", ")", "[", "]", `"`, "'", "=", "->", ";", ":", "x", "0.5", "//", "\n", "\xff", "é", "init", "&", "P=? [ F ", "filter(", "{", "}"}
	texts := models(t)
	slowest := time.Duration(0)
	n := 10_000
	if !needs.IsFull() {
		n = needs.Some(n) / 4
	}
	for i := range n {
		text := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(4) {
			at := r.IntN(len(text) + 1)
			end := min(at+r.IntN(12), len(text))
			switch r.IntN(3) {
			case 0:
				text = text[:at] + words[r.IntN(len(words))] + text[at:]
			case 1:
				text = text[:at] + text[end:]
			case 2:
				text = text[:end] + text[at:]
			}
		}
		start := time.Now()
		name := [...]string{"m.prism", "m.props", "m"}[r.IntN(3)]
		everything(t, editor.New(editor.Options{}).With(name, []byte(text)), name, r.IntN(len(text)+1))
		slowest = max(slowest, time.Since(start))
		if t.Failed() {
			t.Fatalf("edit %d of seed %d", i, seed)
		}
	}
	t.Logf("the slowest took %v", slowest)
}

// long is a model of about 10,000 lines.
func long() []byte {
	var b strings.Builder
	b.WriteString("mdp\nconst int N = 9;\n")
	for i := range 20 {
		fmt.Fprintf(&b, "module M%d\n  x%d : [0..N] init 0;\n", i, i)
		for j := range 490 {
			fmt.Fprintf(&b, "  [a%d] x%d=%d & x0<N -> 0.5:(x%d'=min(x%d+1,N)) + 0.5:true; // %d\n", j%7, i, j%10, i, i, j)
		}
		b.WriteString("endmodule\n\n")
	}
	return []byte(b.String())
}

// What an editor asks for after each key: typed into a text that is open, in a command, in one
// of the constants that all commands have, and what there is to do when a text is opened.
func BenchmarkKey(b *testing.B) {
	text := long()
	ask := map[string]func(*editor.Files){
		"diagnostics": func(f *editor.Files) { _, _ = f.Diagnostics(b.Context(), "m.prism") },
		"tokens":      func(f *editor.Files) { f.Tokens("m.prism") },
		"symbols":     func(f *editor.Files) { f.Symbols("m.prism") },
		"completion":  func(f *editor.Files) { f.Complete("m.prism", len(text)/2) },
		"hover":       func(f *editor.Files) { f.Hover(b.Context(), "m.prism", len(text)/2) },
		"format":      func(f *editor.Files) { _, _ = f.Format("m.prism") },
	}
	all := []string{"diagnostics", "tokens", "symbols", "completion", "hover", "format"}
	command := bytes.Index(text, []byte("x9=3 & x0<N"))
	places := map[string]int{"command": command + 3, "wrong": command, "unparsable": command + 4, "constant": bytes.Index(text, []byte("9;"))}
	for _, where := range []string{"command", "wrong", "unparsable", "constant"} {
		at := places[where]
		key := map[string]string{"command": "1", "wrong": "x", "unparsable": "(", "constant": "2"}[where]
		for _, what := range all {
			b.Run(where+"/"+what, func(b *testing.B) {
				files := editor.New(editor.Options{}).With("m.prism", text)
				for _, ask := range ask {
					ask(files)
				}
				typed := [][]byte{slices.Insert(slices.Clone(text), at, key[0]), slices.Insert(slices.Clone(text), at, key[0]-1)}
				for i := 0; b.Loop(); i++ {
					files = files.With("m.prism", typed[i%2])
					ask[what](files)
				}
			})
		}
	}
	for _, what := range all {
		b.Run("open/"+what, func(b *testing.B) {
			for b.Loop() {
				ask[what](editor.New(editor.Options{}).With("m.prism", text))
			}
		})
	}
}
