package parse_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/parse"
)

// fuzzParser checks, on any bytes, that how they are cut never changes the
// record, that a prefix gives no property a value that the whole gives
// otherwise, and that every property has either a value or a failure.
func fuzzParser(f *testing.F, tool parse.Tool) {
	all := transcripts(f)
	n := 0
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if tr := readTranscript(f, path); all[path] == tool && len(tr.Stdout) < 6000 {
			if n++; tool == parse.PRISM && n%4 != 0 {
				continue // the others are like these
			}
			f.Add(tr.Stdout, tr.Stderr, uint16(len(tr.Stdout)/2), uint8(n))
		}
	}
	for _, short := range []string{"Type:\nModel checking:\nResult:\n", "Type:\nSimulating:\nResults:\n : \n", "Error:\n\n(1) \n1 property:\n(1) \n", "Time for model input parsing:\nModel checking property \"\":  ...\nResult (for initial states): \n"} {
		f.Add([]byte(short), []byte(nil), uint16(9), uint8(0))
	}
	f.Fuzz(func(t *testing.T, out, errs []byte, cut uint16, seed uint8) {
		rng := rand.New(rand.NewPCG(uint64(seed), uint64(cut)))
		end := parse.End{Known: seed&1 != 0, Code: int(seed >> 1)}
		for _, opts := range []parse.Options{{}, {MaxLine: 100, MaxKept: 8 << 10}} {
			tr := parse.Transcript{Stdout: out, Stderr: errs, End: end}
			whole, err := tr.Log(tool, opts)
			if err != nil {
				t.Fatal(err)
			}
			checkLog(t, whole)
			if got, want := encode(t, feed(tool, tr, rng, opts)), encode(t, whole); got != want {
				t.Errorf("another record in pieces:\n%s\nwant\n%s", got, want)
			}
			tr.Stdout = out[:min(int(cut), len(out))]
			part, err := tr.Log(tool, opts)
			if err != nil {
				t.Fatal(err)
			}
			checkLog(t, part)
			checkPrefix(t, part, whole)
		}
	})
}

func FuzzPRISM(f *testing.F) { fuzzParser(f, parse.PRISM) }

func FuzzStorm(f *testing.F) { fuzzParser(f, parse.Storm) }

// FuzzFiles requires that the readers of files never panic.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{`[{"s":3,"v":"1/3","l":[]}]`, `[{"s":{"x":1,"b":true},"v":0.5}]`, "$ prism\nPRISM\n[stderr]\n[exit code 1]\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = parse.ReadStormResults(bytes.NewReader(data))
		parse.ReadTranscript(data)
	})
}
