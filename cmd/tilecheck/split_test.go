package main

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
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

// untimed leaves out what another run of the same command changes: times and
// speeds, and how wide a table is because of them.
func untimed(text string) string {
	if records, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err == nil && len(records) > 0 {
		for column, name := range records[0] {
			for i := range records {
				if name == "seconds" {
					records[i][column] = name
				}
			}
		}
		var lines []string
		for _, r := range records {
			lines = append(lines, fmt.Sprintf("%q", r))
		}
		text = strings.Join(lines, "\n")
	}
	for _, x := range [][2]string{
		{`"((?:run_)?seconds|started)": ?("[^"]*"|[-+.0-9e]+)`, `"$1": 0`},
		{`(?s)"quantity": "moves per second".*?\}`, "speed"},
		{`(?m)^.*moves per second.*$`, "speed"},
		{`(?m)^((\| )? *[-0-9]+ .*?) +[0-9]+( \|)?$`, "$1"}, // the last column of a contest
		{`\\?<?\b[.0-9]+(µs|ms|s)\b`, "T"},
		{` +`, " "},
		{`-{2,}`, "--"},
	} {
		text = regexp.MustCompile(x[0]).ReplaceAllString(text, x[1])
	}
	return text
}

// splitFiles are the models that jobs are made of.
func splitFiles(t *testing.T) (die, wrong string) {
	t.Helper()
	dir := t.TempDir()
	die, wrong = filepath.Join(dir, "die.prism"), filepath.Join(dir, "wrong.prism")
	text, err := os.ReadFile("../../examples/die.prism")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		die:   string(text),
		wrong: "mdp module m x:[0..40]; [] x<40 -> 0.5:(x'=x+1)+0.5:true; [] x=0 -> 0.001:(x'=x-1)+0.999:(x'=1); endmodule",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return die, wrong
}

// splitJobs are command lines whose work splits.
func splitJobs(t *testing.T, rng *rand.Rand, n int) (jobs [][]string) {
	t.Helper()
	die, wrong := splitFiles(t)
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	formats := []string{"table", "json", "csv", "markdown"}
	for i := range n {
		seed := "--seed=" + fmt.Sprint(rng.IntN(1000))
		format := "--format=" + formats[i%len(formats)]
		samples := "--samples=" + pick("1", "5", "100", "1000", "2003")
		width := "--width=" + pick("0.1", "0.03", "0.02")
		query := "--prop=" + pick("P=? [ F s=7 & d=6 ]", "P=? [ G<=3 s<7 ]", "P=? [ X s=1 ]", "P=? [ F d=9 ]")
		reward := "--prop=" + pick("R=? [ F s=7 ]", "R=? [ C<=4 ]", "R=? [ I=2 ]")
		bound := "--prop=" + pick("P>=0.1 [ F s=7 & d=6 ]", "P<0.5 [ F s=7 & d=6 ]", "P<=0.17 [ F s=7 & d=6 ]")
		switch i % 11 {
		case 0:
			jobs = append(jobs, []string{"check", die, query, reward, "--method=sim", samples, seed, format})
		case 1:
			jobs = append(jobs, []string{"check", die, query, reward, bound, "--method=sim", "--width=" + pick("0.2", "0.08"), seed, format})
		case 2:
			jobs = append(jobs, []string{"check", die, query, "--method=" + pick("ci", "aci"), width, "--alpha=0.05", seed, format})
		case 3:
			jobs = append(jobs, []string{"check", die, bound, bound, "--method=sprt", width, seed, format})
		case 4:
			jobs = append(jobs, []string{"check", die, query, bound, "--method=apmc", width, seed, format})
		case 5:
			jobs = append(jobs, []string{"check", wrong, "--prop=P=? [ F x=3 ]", "--prop=Pmin=? [ F x=40 ]", "--method=sim", "--max-path=" + pick("30", "400"), samples, seed, format})
		case 6:
			jobs = append(jobs, []string{"compare", pick("random", "opposite,random"), "--max=8,16", "--size=2", samples, seed, format})
		case 7:
			jobs = append(jobs, []string{"play", pick("random", "pref:left,up,down,right"), "--size=2", "--max=16", "--games=" + pick("1", "3", "200"), seed, format})
		case 8:
			jobs = append(jobs, []string{"compare", "players", "random", "opposite", "pref:up,left,down,right", "--size=2", "--max=16", "--games=" + pick("40", "500"), seed, format})
		case 10:
			jobs = append(jobs, []string{"check", die, reward, "--method=sim", samples, "--quantiles=0.5,0.9", seed, format})
		case 9:
			jobs = append(jobs, []string{"compare", "players", "random", "pref:left,up,down,right", "--by=score", "--rows=2", "--cols=3", "--games=" + pick("40", "500"), seed, format, pick("--all", "--alpha=0.05")})
		}
	}
	return jobs
}

// shards runs shards of a job in random order, one of them twice, and returns their files.
func shards(t *testing.T, rng *rand.Rand, job []string, from, to, of int, dir string) (files []string) {
	t.Helper()
	order := rng.Perm(to - from + 1)
	for k, i := range append(order, order[0]) {
		file := filepath.Join(dir, fmt.Sprintf("%d.shard", from+i))
		if k == len(order) {
			file = filepath.Join(dir, fmt.Sprintf("%d.again", from+i))
		}
		line := append(slices.Clone(job), "--shard", fmt.Sprintf("%d/%d", from+i, of), "--partial="+file, "--workers="+fmt.Sprint(1+rng.IntN(3)))
		if code, out, errs := tilecheck(t.Context(), line...); code != exitOK || out != "" {
			t.Fatalf("%q: exit code %d, printed %q\n%s", line, code, out, errs)
		}
		files = append(files, file)
	}
	return files
}

// merged merges shards, and runs more of them for as long as that is asked for.
func merged(t *testing.T, rng *rand.Rand, job []string, of int) (code int, out, errs string, files []string) {
	t.Helper()
	more := regexp.MustCompile(`not decided by (\d+) shards: want (\d+) more`)
	dir := t.TempDir()
	files = shards(t, rng, job, 1, of, of, dir)
	for {
		rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		code, out, errs = wideTilecheck(t.Context(), append([]string{"merge"}, files...)...)
		m := more.FindStringSubmatch(errs)
		if m == nil {
			return code, out, errs, files
		}
		if code != exitCannotRun || out != "" {
			t.Fatalf("merge that lacks shards: exit code %d, printed %q", code, out)
		}
		var have, want int
		_, _ = fmt.Sscan(m[1], &have)
		_, _ = fmt.Sscan(m[2], &want)
		files = append(files, shards(t, rng, job, have+1, have+want, of, dir)...)
	}
}

// TestMerge: shards, however many, finished in random order and one of them twice,
// say what one process says.
func TestMerge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 1))
	n, numbers := 10, []int{2, 3}
	if needs.IsFull() {
		n, numbers = 20, []int{2, 7, 64}
	}
	for i, job := range splitJobs(t, rng, n) {
		of := numbers[i%len(numbers)]
		code, out, errs := wideTilecheck(t.Context(), job...)
		gotCode, got, gotErrs, _ := merged(t, rng, job, of)
		if gotCode != code || untimed(got) != untimed(out) || untimed(gotErrs) != untimed(errs) {
			t.Errorf("%q in %d shards: exit code %d, one process %d\n%s%s\none process\n%s%s", job, of, gotCode, code, got, gotErrs, out, errs)
		}
	}
}

// TestMergeRefuses: what is not all shards of one job, made by this build, is named.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	die, _ := splitFiles(t)
	dir := t.TempDir()
	job := []string{"check", die, "--prop", "P=? [ F s=7 & d=6 ]", "--method=sim", "--seed=1"}
	name := func(n string) string { return filepath.Join(dir, n) }
	part := func(file, shard string, more ...string) string {
		t.Helper()
		line := slices.Concat(job, more, []string{"--shard", shard, "--partial", name(file)})
		if code, _, errs := tilecheck(t.Context(), line...); code != exitOK {
			t.Fatalf("%q: %d, %s", line, code, errs)
		}
		return name(file)
	}
	one, two, three := part("1", "1/3"), part("2", "2/3"), part("3", "3/3")
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) string {
		t.Helper()
		if err := os.WriteFile(name(file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name(file)
	}
	link := name("link")
	if err := os.Symlink(two, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{one, three}, "shard 2/3 is missing"},
		{[]string{three}, "shards 1/3, 2/3 are missing"},
		{[]string{one, two, part("fourth", "2/4")}, "want parts of the same number"},
		{[]string{one, part("seed", "2/3", "--seed=2"), three}, `found --seed "1" and --seed "2"`},
		{[]string{one, part("prop", "2/3", "--prop=P=? [ F s=7 ]"), three}, "are of different jobs"},
		{[]string{one, link, three}, "found a symbolic link, want a file of a shard"},
		{[]string{one, dir, three}, "found a directory"},
		{[]string{one, write("short", string(text[:len(text)-70])), three}, fmt.Sprintf("it is damaged: it is cut off after %d bytes; compute this shard again", len(text)-70)},
		{[]string{one, write("start", string(text[:80])), three}, "it is damaged: it is cut off after 80 bytes; compute this shard again"},
		{[]string{one, write("beginning", string(text[:10])), three}, "it is damaged: it is cut off after 10 bytes; compute this shard again"},
		{[]string{one, write("empty", ""), three}, "not a file of --partial"},
		{[]string{one, write("model", "dtmc\n"), three}, "not a file of --partial"},
		{[]string{one, write("later", strings.Replace(string(text), "shard 1\n", "shard 2\n", 1)), three}, "in another format, of another version"},
		{[]string{one, name("nothing"), three}, "no such file"},
	} {
		code, out, errs := tilecheck(t.Context(), append([]string{"merge"}, tt.files...)...)
		if code != exitCannotRun || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: exit code %d, printed %q\n%s\nwant %q", tt.files, code, out, errs, tt.want)
		}
	}
	if err := os.WriteFile(die, []byte("dtmc module m s:[0..7]; d:[0..6]; [] true -> (s'=7); endmodule"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := tilecheck(t.Context(), "merge", one, two, three); code != exitCannotRun || out != "" || !strings.Contains(errs, "its content has changed since") {
		t.Errorf("a model that has changed: exit code %d, printed %q\n%s", code, out, errs)
	}
}

// TestShardUsage: parts that mean nothing are refused before anything is drawn.
func TestShardUsage(t *testing.T) {
	t.Parallel()
	die, _ := splitFiles(t)
	file := filepath.Join(t.TempDir(), "p")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--method=sim", "--seed=1", "--shard=1/2"}, "--shard is given without --partial"},
		{[]string{"--method=sim", "--seed=1", "--partial=" + file}, "--partial is given without --shard"},
		{[]string{"--method=sim", "--shard=1/2", "--partial=" + file}, "--shard needs --seed"},
		{[]string{"--method=sim", "--seed=1", "--shard=0/2", "--partial=" + file}, `found "0/2"`},
		{[]string{"--method=sim", "--seed=1", "--shard=1/2", "--partial=-"}, "want a file"},
		{[]string{"--method=sim", "--seed=1", "--shard=1/2", "--partial=" + die}, "is the same file as"},
		{[]string{"--shard=1/2", "--partial=" + file, "--seed=1"}, "--seed has no effect"},
		{[]string{"--method=sim", "--seed=1", "--samples=1000", "--shard=5/4", "--partial=" + file}, "--shard is 5/4, want 1/4 to 4/4"},
	} {
		code, _, errs := tilecheck(t.Context(), append([]string{"check", die, "--prop=P=? [ F s=7 ]"}, tt.args...)...)
		if code != exitUsage || !strings.Contains(errs, tt.want) || !noSuchFile(file) {
			t.Errorf("%q: exit code %d, %s\nwant %q", tt.args, code, errs, tt.want)
		}
	}
}

// TestShardBeyondLast: a shard with a number above that of the shards has work only if the results decide how much is played or sampled.
func TestShardBeyondLast(t *testing.T) {
	t.Parallel()
	die, _ := splitFiles(t)
	for _, tt := range []struct {
		command string
		code    int
	}{
		{"play random --size 2 --max 16 --games 10 --seed 1", exitUsage},
		{"compare players random orthogonal --size 2 --max 16 --all-games --games 10 --seed 1", exitUsage},
		{"compare players random orthogonal --size 2 --max 16 --games 1000 --seed 1", exitOK},
		{"check " + die + " --method sim --seed 1 --prop P>=0.5[F(s=7)]", exitOK},
		{"crosscheck " + die + " --prop P=?[F(s=7)]", exitUsage},
	} {
		file := filepath.Join(t.TempDir(), "p")
		code, _, errs := tilecheck(t.Context(), append(strings.Fields(tt.command), "--shard=5/4", "--partial="+file)...)
		isRefused := strings.Contains(errs, "--shard is 5/4, want 1/4 to 4/4")
		if code != tt.code || isRefused != (tt.code == exitUsage) || noSuchFile(file) != (tt.code == exitUsage) {
			t.Errorf("%s: exit code %d, want %d\n%s", tt.command, code, tt.code, errs)
		}
	}
}

// TestPartialResult: what is there is printed with an interval of its own, and is no success.
func TestPartialResult(t *testing.T) {
	t.Parallel()
	die, _ := splitFiles(t)
	for _, tt := range []struct {
		args    []string
		samples float64
	}{
		{[]string{"--samples=1000"}, 750},
		{[]string{"--method=ci", "--width=0.001"}, 2 * 207340}, // blocks of 2.5758293^2/(4*0.001^2)/8 each, up to the gap
	} {
		job := append([]string{"check", die, "--prop=P=? [ F s=7 & d=6 ]", "--method=sim", "--seed=1", "--format=json"}, tt.args...)
		var files []string
		for _, i := range []int{1, 2, 4} {
			file := filepath.Join(t.TempDir(), "p")
			line := append(slices.Clone(job), "--shard", fmt.Sprintf("%d/4", i), "--partial", file)
			if code, _, errs := tilecheck(t.Context(), line...); code != exitOK {
				t.Fatalf("%q: %d, %s", line, code, errs)
			}
			files = append(files, file)
		}
		code, out, errs := tilecheck(t.Context(), append([]string{"merge", "--partial-result"}, files...)...)
		var got struct {
			Results []struct {
				Value, Lower, Upper, Samples float64
				Error                        struct{ Class, Message string }
			}
			Error struct{ Message string }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Results) != 1 {
			t.Fatalf("%v: %s%s", err, out, errs)
		}
		r := got.Results[0]
		if code != exitCannotRun || r.Error.Class != "interrupted" || !strings.Contains(r.Error.Message, "shard 3/4 is missing") {
			t.Errorf("%q: exit code %d\n%s", tt.args, code, out)
		}
		if want := "shard 3/4 is missing: the result is of the others"; got.Error.Message != want || !strings.Contains(errs, want) {
			t.Errorf("%q: found the error %q and on standard error %q, want %q", tt.args, got.Error.Message, errs, want)
		}
		if r.Samples != tt.samples || !(r.Lower < 1./6 && 1./6 < r.Upper) {
			t.Errorf("%q: %+v", tt.args, r)
		}
	}
}

// TestPartialResultOfGames: the error names the missing shards, as that of check does.
func TestPartialResultOfGames(t *testing.T) {
	t.Parallel()
	for _, job := range [][]string{{"play", "random"}, {"compare", "players", "random", "pref:left,up,down,right", "--all-games"}} {
		merge := []string{"merge", "--partial-result"}
		for _, index := range []int{1, 2, 4} {
			file := filepath.Join(t.TempDir(), "part")
			line := append(slices.Clone(job), "--size=2", "--games=40", "--seed=1", fmt.Sprintf("--shard=%d/4", index), "--partial", file)
			if code, _, errs := tilecheck(t.Context(), line...); code != exitOK {
				t.Fatalf("%q: %d, %s", line, code, errs)
			}
			merge = append(merge, file)
		}
		code, out, errs := tilecheck(t.Context(), merge...)
		if code != exitCannotRun || !strings.Contains(errs, "shard 3/4 is missing: the result is of ") || !strings.Contains(out, "shard 3/4 is missing") {
			t.Errorf("%q: exit code %d\n%s%s", job, code, out, errs)
		}
	}
}

// A merge writes the files that its own command line names, and none that only a shard names.
func TestMergeWritesOwnOutputsOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, die := filepath.Join(dir, "victim"), filepath.Join(dir, "die.prism")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(die, []byte("dtmc module m x:[0..1]; [] x=0 -> 0.5:(x'=1)+0.5:true; [] x=1 -> true; endmodule"), 0o600); err != nil {
		t.Fatal(err)
	}
	merge := []string{"merge"}
	for _, part := range []string{"1/2", "2/2"} {
		file := filepath.Join(dir, part[:1]+".shard")
		code, _, errs := tilecheck(t.Context(), "check", die, "--prop", "P=? [ X x=1 ]", "--method", "sim", "--samples", "100", "--seed", "1",
			"--export-results", victim, "--shard", part, "--partial", file)
		if code != exitOK {
			t.Fatalf("%d, %s", code, errs)
		}
		merge = append(merge, file)
	}
	code, _, errs := tilecheck(t.Context(), merge...)
	if text, err := os.ReadFile(victim); code != exitOK || err != nil || string(text) != "precious" || !strings.Contains(errs, "victim is not written") {
		t.Errorf("exit code %d, %s, the file is %q, %v", code, errs, text, err)
	}
	code, _, errs = tilecheck(t.Context(), append(merge, "--", "--export-results", victim+":csv")...)
	if text, err := os.ReadFile(victim); code != exitOK || err != nil || string(text) == "precious" {
		t.Errorf("exit code %d, %s, the file is %q, %v", code, errs, text, err)
	}
	text, err := os.ReadFile(merge[1])
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(text[:len(text)-65]), `"args":["check"`, `"args":["fmt"`, 1)
	sum := sha256.Sum256([]byte(forged))
	if err := os.WriteFile(merge[1], []byte(forged+hex.EncodeToString(sum[:])+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := tilecheck(t.Context(), "merge", "--partial-result", merge[1]); code != exitUsage || !strings.Contains(errs, "unknown flag --prop") {
		t.Errorf("another command: exit code %d, %s", code, errs)
	}
}
