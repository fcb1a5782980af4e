package shard

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRange(t *testing.T) {
	for _, n := range []int64{0, 1, 6, 7, 100, math.MaxInt64} {
		for _, of := range []int{1, 2, 7, 64, maxParts} {
			at := int64(0)
			for i := 1; i <= min(of, 64); i++ {
				first, end := (Part{i, of}).Range(n)
				if first != at || end < first || end-first != n/int64(of) && end-first != n/int64(of)+1 {
					t.Fatalf("part %d/%d of %d: %d to %d, want it from %d on", i, of, n, first, end, at)
				}
				at = end
			}
			if of <= 64 && at != n {
				t.Errorf("%d parts of %d end at %d", of, n, at)
			}
			if first, end := (Part{of + 1, of}).Range(n); of > 1 && first != end {
				t.Errorf("part %d/%d has %d to %d", of+1, of, first, end)
			}
		}
	}
}

func TestBlock(t *testing.T) {
	for _, of := range []int{1, 2, 7} {
		at, size := int64(0), int64(10)
		for i := 1; i <= 600; i++ {
			first, end := (Part{i, of}).Block(10, math.MaxInt64)
			if first != at || end < first {
				t.Fatalf("block %d/%d: %d to %d, want it from %d on", i, of, first, end, at)
			}
			if end != math.MaxInt64 && end-first != size {
				t.Fatalf("block %d/%d: %d to %d, want %d", i, of, first, end, size)
			}
			if at = end; i%of == 0 && size < 1<<61 {
				size *= 2
			}
		}
		if at != math.MaxInt64 {
			t.Errorf("blocks of %d end at %d", of, at)
		}
	}
	if first, end := (Part{3, 2}).Block(10, 25); first != 20 || end != 25 {
		t.Errorf("the last block is %d to %d, want 20 to 25", first, end)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Part{"1/1": {1, 1}, "2/5": {2, 5}, "7/5": {7, 5}} {
		if p, err := Parse(text); p != want || err != nil || p.String() != text {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "1", "0/1", "1/0", "-1/2", "1/2/3", "a/b", "1/99999999999", "99999999/2", "1.5/2"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %v", text, p)
		}
	}
}

// sample is the text of a file of two streams.
func sample(t *testing.T) []byte {
	t.Helper()
	l := Record(Part{2, 3})
	mean := 0.25
	l.Put(&Piece{Stream: "b", First: 10, End: 20, Data: []byte("some data"), Mean: &mean})
	l.Put(&Piece{Stream: "a", First: 0, End: 0})
	l.Put(&Piece{Stream: "b", First: 10, End: 20, Data: []byte("twice")})
	var out bytes.Buffer
	job := &Job{Build: "0.1.0+x", Args: []string{"check", "m"}, Means: []string{"check", "--seed 1"}, Inputs: []Input{{"m", "00"}}}
	if err := l.Write(&out, job); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readText(t *testing.T, text []byte) (*File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return Read(name)
}

func TestFile(t *testing.T) {
	f, err := readText(t, sample(t))
	if err != nil {
		t.Fatal(err)
	}
	if f.Part != (Part{2, 3}) || f.Build != "0.1.0+x" || fmt.Sprint(f.Args, f.Means, f.Inputs) != "[check m] [check --seed 1] [{m 00}]" {
		t.Errorf("%+v", f)
	}
	p := f.Pieces()
	if len(p) != 2 || p[0].Stream != "a" || p[1].Stream != "b" || p[1].First != 10 || p[1].End != 20 || *p[1].Mean != 0.25 {
		t.Fatalf("%+v", p)
	}
	if data, err := p[1].Load(); string(data) != "some data" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// TestMutants: 1,000 files that were damaged are refused, and so is each that somebody
// made look right again and that says what no file says.
func TestMutants(t *testing.T) {
	text := sample(t)
	name := filepath.Join(t.TempDir(), "f")
	rng := rand.New(rand.NewPCG(15, 5))
	read := func(text []byte) (*File, error) {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return Read(name)
	}
	for range 1000 {
		mutant := bytes.Clone(text)
		switch at := rng.IntN(len(mutant)); rng.IntN(4) {
		case 0:
			mutant[at] ^= 1 << rng.IntN(8)
		case 1:
			mutant = mutant[:at]
		case 2:
			mutant = append(mutant[:at], append([]byte{byte(rng.Uint32())}, mutant[at:]...)...)
		case 3:
			mutant = append(mutant, mutant[at:]...)
		}
		if f, err := read(mutant); err == nil && !bytes.Equal(mutant, text) {
			t.Fatalf("taken for %+v:\n%q", f, mutant)
		}
	}
	signed := func(text string) []byte {
		return fmt.Appendf([]byte(text), "%x\n", sha256.Sum256([]byte(text)))
	}
	body := string(text[:len(text)-2*sha256.Size-1])
	if _, err := read(signed(body)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"tilecheck shard 1\n", "tilecheck shard 2\n", "another version"},
		{`"shard":2`, `"shard":0`, "found shard 0 of 3"},
		{`"of":3`, `"of":999999999999`, "found shard 2 of 999999999999"},
		{`"of":3`, `"of":99999999999999999999`, "it is damaged"},
		{`"first":10`, `"first":21`, "found the numbers 21 to 20"},
		{`"first":10`, `"first":-1`, "found the numbers -1 to 20"},
		{`"bytes":9`, `"bytes":10`, "it is cut off after "},
		{`"bytes":9`, `"bytes":9223372036854775807`, "it is cut off after "},
		{`"bytes":9`, `"bytes":8`, "its pieces end at byte"},
		{`"bytes":9`, `"bytes":-9`, "in -9 bytes"},
		{`"stream":"a"`, `"stream":"b"`, `of "b" in 9 bytes`},
		{`"build":"0.1.0+x"`, `"build":""`, "does not say what it is of"},
		{`"args":["check","m"]`, `"args":[]`, "does not say what it is of"},
		{`"shard":2`, `"shard":2,"more":1`, "unknown field"},
		{`{"shard"`, "", "it is damaged"},
	} {
		mutant := strings.Replace(body, tt.old, tt.new, 1)
		if _, err := read(signed(mutant)); mutant == body || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q for %q: %v, want %q", tt.new, tt.old, err, tt.want)
		}
	}
}

// TestPieces: what parts say of a stream covers its numbers, or is an error.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	made := func(i int, first, end int64) *File {
		l := Record(Part{i, 3})
		l.Put(&Piece{Stream: "s", First: first, End: end})
		var out bytes.Buffer
		if err := l.Write(&out, &Job{Build: "b", Args: []string{"x"}}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, tt := range []struct {
		ends    [3][2]int64
		without int
		block   int64
		want    string
	}{
		{[3][2]int64{{0, 4}, {4, 7}, {7, 10}}, 0, 0, "[0 4 7]"},
		{[3][2]int64{{0, 4}, {4, 7}, {7, 9}}, 0, 1, "[0 4 7]"},
		{[3][2]int64{{0, 4}, {4, 7}, {7, 9}}, 0, 0, `no part has the numbers 9 to 9 of "s"`},
		{[3][2]int64{{0, 4}, {5, 7}, {7, 10}}, 0, 0, "found the numbers 5 to 7"},
		{[3][2]int64{{0, 4}, {3, 7}, {7, 10}}, 0, 1, "found the numbers 3 to 7"},
		{[3][2]int64{{0, 4}, {4, 7}, {7, 11}}, 0, 0, "found the numbers 7 to 11"},
		{[3][2]int64{{0, 4}, {4, 7}, {7, 10}}, 2, 0, "[0 7]"},
		{[3][2]int64{{0, 4}, {4, 7}, {7, 10}}, 2, 1, "[0]"},
	} {
		var files []*File
		for i, e := range tt.ends {
			if i+1 != tt.without {
				files = append(files, made(i+1, e[0], e[1]))
			}
		}
		l, err := Join(files, true)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := l.ordered(Stream{Name: "s", End: 10, Block: tt.block})
		var firsts []int64
		for _, p := range pieces {
			firsts = append(firsts, p.First)
		}
		got := fmt.Sprint(firsts)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || (err == nil) != (l.Err() == nil) {
			t.Errorf("%+v: %s, %v, want %s", tt, got, l.Err(), tt.want)
		}
	}
}

// TestWant: more parts are asked for until they have as many jobs as wanted, within two rounds.
func TestWant(t *testing.T) {
	for _, tt := range []struct {
		jobs, end int64
		want      int
	}{
		{41, math.MaxInt64, 5},
		{60, math.MaxInt64, 5},
		{61, math.MaxInt64, 6},
		{120, math.MaxInt64, 8},
		{121, math.MaxInt64, 9},
		{280, math.MaxInt64, 12},
		{1 << 60, math.MaxInt64, 12},
		{1, math.MaxInt64, 5},
		{1 << 60, 70, 6}, // the parts after 6/4 have no jobs
		{1 << 60, 41, 5},
	} {
		l := &Ledger{part: Part{1, 4}, files: []*File{{Part: Part{4, 4}}}}
		l.Want(Stream{Block: 10, End: tt.end}, tt.jobs)
		if more, ok := l.Err().(*More); !ok || *more != (More{4, tt.want, 4}) {
			t.Errorf("%d jobs: %v, want up to %d", tt.jobs, l.Err(), tt.want)
		}
	}
}
