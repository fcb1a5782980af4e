package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// writeItems writes a directory with random models and properties, right and wrong
// expectations among them, and what cannot be run.
func writeItems(t *testing.T, rng *rand.Rand, models int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	properties := []string{
		"// RESULT: 1/3\nP=? [ F s=1 ];", "// RESULT: 0.3\nP=? [ F s=1 ];", "P=? [ F s=2 ];", "// RESULT: 1/\xff\nP=? [ F s=2 ];", "// RESULT: ?\nP=? [ F s=2 ];",
		"// RESULT: Infinity\nR=? [ F s=1 ];", "// RESULT: true\nP>0.2 [ F s=1 ];", "// RESULT: false\n\"name\": P>0.2 [ F s=1 ];",
		"// RESULT (k=1): 1/3\n// RESULT: 0\nP=? [ F<=k s=1 ];", "// RESULT: 1\nmulti(P>=0.1 [ F s=1 ], P>=0.1 [ F s=2 ]);",
		"// RESULT: 1/3\n// TILECHECK: samples=200\nP=? [ F s=1 ];", "// RESULT: 0.9\n// TILECHECK: samples=100\nP=? [ F s=1 ];",
		"// RESULT: 1/3\n// RESULT: 1/4\nP=? [ F s=1 ];", "// RESULT: 1/3 \nfilter(print, P=? [ F s=1 ], s<2);", "// TILECHECK: error=type\nP=? [ F \"nobody\" ];",
	}
	for i := range models {
		name := fmt.Sprintf("m%02d.prism", i)
		text := "dtmc\nconst double p;\nmodule m\n s:[0..2] init 0;\n [] s=0 -> p:(s'=1) + 1-p:(s'=2);\n [] s>0 -> true;\nendmodule\nrewards s<1 : 1; endrewards\n"
		switch rng.IntN(8) {
		case 0:
			text = strings.Replace(text, "s'=2", "s'=3", 1) // out of range
		case 1:
			text = "dtmc\nmodule\n"
		}
		write(name, text)
		var props []string
		for range 1 + rng.IntN(4) {
			props = append(props, properties[rng.IntN(len(properties))])
		}
		write(name+".props", "const int k;\n"+strings.Join(slices.Compact(props), "\n")+"\n")
		write(name+".props.args", []string{"-const p=1/3,k=1:3", "-const p=0.10:0.20:.5,k=1", "-const p=.25,k=1 -exact\n-const p=1/3,k=2"}[rng.IntN(3)])
	}
	return dir
}

// timeless leaves out times of reports as well.
func timeless(text string) string {
	for _, x := range [][2]string{
		{`(time|timestamp)="[^"]*"`, `$1=""`},
		{`(?s)<svg.*?</svg>`, "<svg/>"},
		{`(?m)^ *"seconds": 0,?\n`, ""}, // absent where there is none
		{`,"seconds": 0|"seconds": 0,`, ""},
		{`<time[^>]*>[^<]*</time>`, "<time/>"},
		{`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?`, "DATE"},
		{`(&lt;|\\+<?|<)T`, "T"},
	} {
		text = regexp.MustCompile(x[0]).ReplaceAllString(text, x[1])
	}
	return text
}

// reports are the files that a run of a suite is asked for.
func reports(dir string) (flags, files []string) {
	for _, kind := range []string{"junit", "markdown", "html", "jsonl"} {
		file := filepath.Join(dir, kind)
		flags, files = append(flags, "--"+kind+"="+file), append(files, file)
	}
	return flags, files
}

// told is what a command printed and wrote, without times.
func told(t *testing.T, out string, files []string) string {
	t.Helper()
	text := timeless(untimed(out))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += "\n==== " + filepath.Base(file) + "\n" + timeless(untimed(string(content)))
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// firstDifference is where two texts differ.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d lines, %d lines", len(as), len(bs))
}

// parts runs all parts of a job in random order, one of them twice, and returns
// their files and exit codes. Nothing is printed.
func parts(t *testing.T, rng *rand.Rand, job []string, of int, dir string) (files []string, codes []int) {
	t.Helper()
	order := rng.Perm(of)
	for k, i := range append(order, order[0]) {
		file := filepath.Join(dir, fmt.Sprintf("%d-%d.shard", k, i+1))
		code, out, errs := tilecheck(t.Context(), slices.Concat(job, []string{"--shard", fmt.Sprintf("%d/%d", i+1, of), "--partial", file})...)
		if out != "" || noSuchFile(file) {
			t.Fatalf("%q, part %d of %d: exit code %d, printed %q\n%s", job, i+1, of, code, out, errs)
		}
		files, codes = append(files, file), append(codes, code)
	}
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return files, codes
}

// itemJobs are a test and a crosscheck of random models, with the files that they write.
func itemJobs(t *testing.T, rng *rand.Rand, i int) (jobs [][]string, files [][]string) {
	t.Helper()
	dir := writeItems(t, rng, 2+rng.IntN(5))
	format := "--format=" + []string{"table", "json", "csv", "markdown"}[i%4]
	flags, written := reports(t.TempDir())
	suite := slices.Concat([]string{"test", dir, "--no-cache", format, "--jobs=2"}, flags)
	for _, more := range []string{"--github", "--strict", "--engine=native,native:exact", "--balance"} {
		if rng.IntN(2) == 0 {
			continue
		}
		if more == "--balance" {
			times := filepath.Join(dir, "times")
			_, _, _ = tilecheck(t.Context(), "test", dir, "--no-cache", "--jsonl", times)
			more += "=" + times
		}
		suite = append(suite, more)
	}
	model := filepath.Join(dir, "m00.prism")
	cross := []string{"crosscheck", model, model + ".props", "--const=p=0.1:0.1:0.3,k=1:2", "--samples=100", "--max-samples=2000", "--seed=" + fmt.Sprint(rng.IntN(9)), format}
	cross = append(cross, "--engine="+[]string{"native,native:exact", "native,native:sim", "native,native:ci,native:float,native:sprt"}[rng.IntN(3)])
	if rng.IntN(3) == 0 {
		other := filepath.Join(dir, "other.prism")
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other, []byte(strings.Replace(string(text), "p:(s'=1)", "p:(s'=2)", 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		cross = append(cross, "--against="+other)
	}
	return [][]string{suite, cross}, [][]string{written, nil}
}

// TestMergeItems: parts of suites and of cross-checks, however many, in random order
// and one of them twice, say what one process says, in every report. The exit codes
// of parts are no graver than that of the whole.
func TestMergeItems(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	n, numbers := 2, []int{3, 2}
	if needs.IsLong() {
		n, numbers = 20, []int{2, 7, 64}
	}
	for i := range n {
		jobs, files := itemJobs(t, rng, i)
		for k, job := range jobs {
			of := numbers[i%len(numbers)]
			one := slices.DeleteFunc(slices.Clone(job), func(arg string) bool { return strings.HasPrefix(arg, "--balance") })
			code, out, errs := wideTilecheck(t.Context(), one...)
			if code == exitCannotRun && out == "" && errs != "" {
				continue // a model that cannot be read
			}
			want := told(t, out, files[k]) + timeless(untimed(errs))
			shards, codes := parts(t, rng, job, of, t.TempDir())
			merge := append([]string{"merge"}, append(shards, "--")...)
			for _, file := range files[k] {
				merge = append(merge, "--"+filepath.Base(file)+"="+file)
			}
			gotCode, gotOut, gotErrs := wideTilecheck(t.Context(), merge...)
			if gotCode != code {
				t.Fatalf("%q in %d shards: exit code %d, one process %d\n%s", job, of, gotCode, code, gotErrs)
			}
			if got := told(t, gotOut, files[k]) + timeless(untimed(gotErrs)); got != want {
				t.Fatalf("%q in %d shards: %s", job, of, firstDifference(got, want))
			}
			for _, c := range codes {
				if c != exitOK && code == exitOK || c == exitUsage {
					t.Errorf("%q: a part has exit code %d, the whole %d", job, c, code)
				}
			}
		}
	}
}

// TestMergeCrosscheck: jobs that random ones do not have. In the first one a property
// that is decided, with samples that say nothing, is beside one that is drawn again; the
// second one has files of states, and the third one no tool that it may do without.
func TestMergeCrosscheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	coin := "dtmc module m s:[0..3]; [] s=0 -> 0.3:(s'=1)+0.2:(s'=2)+0.5:(s'=3); [] s>0 -> true; endmodule"
	a, b := write("a.prism", coin), write("b.prism", strings.NewReplacer("0.3", "0.305", "0.2", "0.195").Replace(coin))
	states := write("x.tra", "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")
	t.Setenv("DOCKER_HOST", "unix:///nonexistent")
	t.Setenv("PATH", dir)
	for _, job := range [][]string{
		{"crosscheck", a, "--against", b, "--prop=P=? [ F s=1 ]", "--prop=P=? [ F s=3 ]", "--engine=native,native:ci", "--seed=1", "--samples=100"},
		{"crosscheck", states, "--dtmc", "--prop=P=? [ F \"init\" ]", "--prop=P=? [ X \"init\" ]", "--engine=native,native:exact"},
		{"crosscheck", a, "--prop=P=? [ F s=1 ]", "--prop=P=? [ F s=3 ]", "--seed=1"},
	} {
		code, out, errs := wideTilecheck(t.Context(), job...)
		files, _ := parts(t, rand.New(rand.NewPCG(15, 4)), job, 2, t.TempDir())
		gotCode, got, gotErrs := wideTilecheck(t.Context(), append([]string{"merge"}, files...)...)
		if got, want := timeless(untimed(got+gotErrs)), timeless(untimed(out+errs)); gotCode != code || got != want || out == "" {
			t.Errorf("%q: exit code %d, one process %d, %s\n%s", job, gotCode, code, firstDifference(got, want), errs)
		}
	}
}

// TestMergeItemsRefuses: results of another suite, job or build, and damaged ones, are
// named, and neither printed nor written.
func TestMergeItemsRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 3))
	dir, other, here := writeItems(t, rng, 3), writeItems(t, rng, 3), t.TempDir()
	report := filepath.Join(here, "report")
	part := func(file, part string, more ...string) string {
		t.Helper()
		file = filepath.Join(here, file)
		line := slices.Concat([]string{"test", dir, "--no-cache", "--jsonl", report, "--shard", part, "--partial", file}, more)
		if _, out, errs := tilecheck(t.Context(), line...); out != "" || noSuchFile(file) {
			t.Fatalf("%q: printed %q\n%s", line, out, errs)
		}
		return file
	}
	refused := func(want string, files ...string) {
		t.Helper()
		code, out, errs := tilecheck(t.Context(), append([]string{"merge"}, files...)...)
		if code != exitCannotRun || out != "" || !strings.Contains(errs, want) || !noSuchFile(report) {
			t.Errorf("%q: exit code %d, printed %q\n%s\nwant %q", files, code, out, errs, want)
		}
	}
	one, two := part("1", "1/2"), part("2", "2/2")
	refused("shard 2/2 is missing", one)
	refused(`of different jobs: found nothing and --engine "[native:exact]"`, one, part("engine", "2/2", "--engine=native:exact"))
	refused(`of different jobs: found nothing and --seed "2"`, one, part("seed", "2/2", "--seed=2"))
	refused(`another job than the shards': found --id`, one, two, "--", "--id=0123456789")
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(here, "damaged")
	n := 20
	if needs.IsLong() {
		n = 1000
	}
	for i := range n {
		mutant := slices.Clone(text)
		if at := rng.IntN(len(mutant)); i%4 == 0 {
			mutant = mutant[:at]
		} else {
			mutant[at] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(damaged, mutant, 0o666); err != nil {
			t.Fatal(err)
		}
		refused(damaged, one, damaged)
	}
	t.Setenv("TILECHECK_TEST_BUILD", "other")
	refused("another build", one, two)
	elsewhere := part("elsewhere", "2/2")
	refused("different builds", one, elsewhere)
	t.Setenv("TILECHECK_TEST_BUILD", "")
	own := dir
	dir = other
	refused("of different jobs: found <path>", one, part("foreign", "2/2"))
	dir = own
	added := filepath.Join(dir, "z.prism")
	for _, name := range []string{added, added + ".props"} {
		if err := os.WriteFile(name, []byte("dtmc module m x:bool; [] true -> true; endmodule"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	refused("its tests have changed since then", one, two)
	if err := errors.Join(os.Remove(added), os.Remove(added+".props"), os.WriteFile(filepath.Join(dir, "m00.prism"), []byte("dtmc"), 0o666)); err != nil {
		t.Fatal(err)
	}
	refused("its content has changed since", one, two)
}
