package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/foreign"
	"tilecheck/internal/needs"

	"github.com/alecthomas/kong"
)

// exampleLines are the command lines in a help.
func exampleLines(help string) []string {
	var out []string
	for line := range strings.Lines(help) {
		if line = strings.TrimSpace(line); strings.Contains(line, "tilecheck ") && !strings.HasPrefix(line, "Run ") {
			out = append(out, line)
		}
	}
	return out
}

// ownWords is a command line as it is parsed.
func ownWords(args []string) []string {
	own, _ := splitMergedFlags(args)
	return own
}

// TestExamples runs the examples of every help, in the order of the commands, in
// a directory with a model, properties and a suite. Those that need Docker are
// only read.
func TestExamples(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	app, parse := lineParser(t)
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("die.prism", die)
	write("die.props", "P=? [ F d=6 ];\nR{\"flips\"}=? [ F s=7 ];\n")
	write("coin.prism", "dtmc\nconst double p;\nmodule M s:[0..1]; [] s=0 -> p:(s'=1) + 1-p:true; [] s=1 -> true; endmodule\n")
	write("suite/die.prism", die)
	write("suite/die.props", "// RESULT: 1/6\nP=? [ F d=6 ];\n")
	write("examples/die.prism", die)
	write("examples/die.props", "// RESULT: 1/6\nP=? [ F d=6 ];\n")
	const measured = `{"format":1,"case":"a","tool":"native","repetition":1,"outcome":"right","cpu_seconds":1,"wall_seconds":1,"peak_memory_bytes":1000000}` + "\n"
	write("old.jsonl", measured)
	write("new.jsonl", measured)
	writeCertificate(t, filepath.Join(dir, "die.cert"), die, func(state []int32) bool { return state[1] == 6 })
	run := func(line string) ([]byte, error) {
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+programDir(t)+":"+os.Getenv("PATH"), "HOME="+dir, "DOCKER_HOST=unix:///nonexistent")
		return cmd.CombinedOutput()
	}
	for _, line := range []string{
		"tilecheck gen --size 2 --max 8 --spawn uniform -o game.prism",                                         // for resolve
		"tilecheck play random --size 3 --games 3 --seed 1 --record games.txt",                                 // for replay
		"tilecheck gen --size 2 --max 16 -o board.prism",                                                       // for shield
		"tilecheck check die.prism --prop 'P=? [ F s=7 ]' --method sim --seed 1 --shard 1/2 --partial 1.shard", // for merge
		"tilecheck check die.prism --prop 'P=? [ F s=7 ]' --method sim --seed 1 --shard 2/2 --partial 2.shard",
		"tilecheck check die.prism die.props --record-run record", // for rerun
	} {
		if out, err := run(line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	for _, cmd := range app.Model.Leaves(true) {
		lines := exampleLines(cmd.Detail)
		if len(lines) < 2 {
			t.Errorf("%s: %d examples, want two", cmd.Path(), len(lines))
		}
		for _, line := range lines {
			if err := parse(ownWords(fields(line))...); err != nil && !helps(line) {
				t.Errorf("%s: %v", line, err)
			}
			if needsTools(cmd, line) {
				continue
			}
			if out, err := run(line); err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
}

// needsTools reports whether an example needs Docker, PRISM, an editor, another shell or the source of tilecheck, or does not end.
func needsTools(cmd *kong.Node, line string) bool {
	switch {
	case strings.HasPrefix(cmd.FullPath(), "tilecheck image"), cmd.Name == "clean", cmd.Name == "serve", cmd.Name == "lsp", strings.Contains(line, "/opt/"), strings.HasSuffix(line, "--engine prism"), strings.Contains(line, "--tool prism"), strings.Contains(line, "fish"):
		return true
	}
	return line == "tilecheck crosscheck die.prism die.props" || strings.HasPrefix(line, "tilecheck submit slurm --time") || strings.HasPrefix(line, "tilecheck submit kubernetes --mount")
}

// helps reports whether an example prints a help, and parses as one.
func helps(line string) bool { return strings.Contains(line, "--version") }

// fields are the words of an example behind the name of the program.
func fields(line string) []string {
	_, line, _ = strings.Cut(line, "tilecheck ")
	line, _, _ = strings.Cut(line, " | ")
	line = strings.TrimSuffix(line, ")")
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// programDir returns a directory in which tilecheck is this test.
func programDir(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("tilecheck") // testscript.Main put it there
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(path)
}

const die = `dtmc
module die
  s : [0..7];
  d : [0..6];
  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [] s=1 -> 0.5:(s'=3) + 0.5:(s'=4);
  [] s=2 -> 0.5:(s'=5) + 0.5:(s'=6);
  [] s=3 -> 0.5:(s'=1) + 0.5:(s'=7)&(d'=1);
  [] s=4 -> 0.5:(s'=7)&(d'=2) + 0.5:(s'=7)&(d'=3);
  [] s=5 -> 0.5:(s'=7)&(d'=4) + 0.5:(s'=7)&(d'=5);
  [] s=6 -> 0.5:(s'=2) + 0.5:(s'=7)&(d'=6);
  [] s=7 -> true;
endmodule
rewards "flips"
  s<7 : 1;
endrewards
`

// TestHelpFitsAScreen: the help of a command has no more lines than a screen, and
// no flag is kept back that help --all does not describe. A command that is
// described alone has the help that it has among all.
func TestHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	appOf := func(line ...string) *kong.Kong {
		var c cli
		app, err := newApp(t.Context(), &c, &environment{system: system{stdout: &out, stderr: io.Discard}}, func(int) {}, line...)
		if err != nil {
			t.Fatal(err)
		}
		return app
	}
	help := func(words ...string) string { // of an app of its own: printing changes it
		out.Reset()
		app := appOf(words...)
		if kctx, err := app.Parse(words); err == nil && words[len(words)-1] != "--help" {
			if err := kctx.Run(); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	app := appOf()
	nodes := app.Model.Leaves(true)
	for _, child := range app.Model.Children {
		if len(child.Children) > 0 {
			nodes = append(nodes, child)
		}
	}
	for _, node := range nodes {
		words := strings.Fields(node.Path())
		short, long := help(append(words, "--help")...), help(append([]string{"help", "--all"}, words...)...)
		if lines := strings.Count(short, "\n"); lines > 50 || lines < 5 {
			t.Errorf("%s --help has %d lines, want at most 50", node.Path(), lines)
		}
		if same := help(append([]string{"help"}, words...)...); same != short {
			t.Errorf("help %s and %s --help differ", node.Path(), node.Path())
		}
		for _, flags := range node.AllFlags(true) {
			for _, f := range flags {
				if !strings.Contains(short, "--"+f.Name) || !strings.Contains(long, "--"+f.Name) {
					t.Errorf("%s: --%s is missing in --help or help --all", node.Path(), f.Name)
				}
			}
		}
		if strings.Contains(long, "Also (") {
			t.Errorf("help --all %s keeps flags back", node.Path())
		}
	}
}

// TestForeign: what somebody who knows PRISM or Storm writes is answered with
// our words for it.
func TestForeign(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"die.prism":                                                                               "check die.prism",
		"die.prism die.props -prop 2":                                                             "check die.prism die.props --prop 2",
		"die.prism -const N=3 -pf 'P=? [ F s=7 ]'":                                                "check die.prism --const N=3 --prop 'P=? [ F s=7 ]'",
		"check die.prism -const N=3,M=4 -pctl true":                                               "check die.prism --const N=3,M=4 --prop true",
		"die.prism die.props -sim -simsamples 100 -simconf 0.1":                                   "check die.prism die.props --samples 100 --confidence 0.9 --method sim",
		"die.prism die.props -sim -simmethod apmc -simapprox 0.1":                                 "check die.prism die.props --method apmc --width 0.1",
		"die.prism -exportstates dir/out.sta":                                                     "export die.prism -o dir/out.sta",
		"die.prism die.props -prop 2 -const N=3 -exporttrans out.txt":                             "export die.prism --const N=3 -o out.tra",
		"die.prism -exportmodel out.all":                                                          "export die.prism -o out.all",
		"die.prism -simpath 20 out.txt":                                                           "simulate die.prism --steps 20 --format csv",
		"die.prism die.props -explicit -gs -epsilon 1e-9":                                         "check die.prism die.props --epsilon 1e-9",
		"die.prism die.props -e 1e-9 -maxiters 100":                                               "check die.prism die.props --epsilon 1e-9",
		"die.prism die.props -exportstrat out.tra -nofixdl":                                       "check die.prism die.props --export-scheduler out.tra --no-fix-deadlocks",
		"check relay.prism -ss":                                                                   "distribution relay.prism",
		"die.prism die.props -simsamples 100":                                                     "check die.prism die.props --samples 100 --method sim",
		"-importtrans x.tra x.props":                                                              "check x.tra x.props",
		"check relay.prism -importtrans x.tra":                                                    "check x.tra",
		"-importtrans x.tra -importstates x.sta -importlabels x.lab -mdp -pf true":                "check x.tra,sta,lab --mdp --prop true",
		"-importtrans x.tra -importstates y.sta -pf true":                                         "",
		"check relay.prism -param p=0:1 --prop true":                                              "check relay.prism --param p=0:1 --prop true",
		"die.prism -exporttransdot d.dot -exportrows":                                             "export die.prism -o d.dot --no-valuations --distribution-rows",
		"die.prism -simpath time=5,vars=(s,d),changes=true,loopcheck=false stdout":                "simulate die.prism --time 5 --vars s,d --changes --no-loop-check --format csv",
		"die.prism -simpath 5,repeat=3 x":                                                         "",
		"die.prism die.props -ii:upper=3 -explicit":                                               "check die.prism die.props",
		"die.prism die.props -linprog -noprobchecks":                                              "",
		"--prism die.prism --prop 'P=? [ F s=7 ]' --minmax:method vi --exact rationals -e sparse": "check die.prism --prop 'P=? [ F s=7 ]' --exact",
		"--jani m.jani --janiproperty a,b --engine dd":                                            "check m.jani --select a,b",
		"--prism die.prism --exportbuild die.drn drn --buildstateval":                             "export die.prism -o die.drn",
		"die.prism -ss -const N=3":                                                                "distribution die.prism --const N=3",
		"die.prism die.props -prop 1 -tr 0.5:0.1:1 -exporttransient t.txt":                        "distribution die.prism --time 0.5:0.1:1 -o t.txt",
		"die.prism -exportsteadystate s.txt":                                                      "distribution die.prism -o s.txt",
		"die.prism die.props -test":                                                               "test die.prism die.props",
		"-importmodel die.tra,sta,lab -dtmc -pf true":                                             "check die.tra,sta,lab --dtmc --prop true",
		"--prism die.prism --prop 'P=? [ F s=7 ]' --constants N=3 --exact":                        "check die.prism --prop 'P=? [ F s=7 ]' --const N=3 --exact",
		"--prism die.prism --prop true --sound --precision 1e-9 --timeout 60":                     "check die.prism --prop true --epsilon 1e-9 --timeout 60s",
		"--explicit-drn die.drn --prop true":                                                      "check die.drn --prop true",
		"chek":                                                                                    "",
		"chek die.prism --prop true":                                                              "",
		"models/die --prop true":                                                                  "check models/die --prop true",
		"check die.prism --nosuchflag":                                                            "",
		"compare random opposite --games 3":                                                       "compare players random opposite --games 3",
		"compare models random opposite --games 3":                                                "compare players random opposite --games 3",
		"compare players random opposite --samples=3":                                             "compare players random opposite --games=3",
		"compare --row x --preset dtu --time 3s":                                                  "compare document dtu --row x --time 3s",
		"compare --preset=thesis --engines native,prism":                                          "compare document thesis",
		"compare document dtu --samples 3":                                                        "compare document dtu --games 3",
		"compare document":                                                                        "",
		"compare document nobody":                                                                 "",
		"compare players random opposite --engine prism":                                          "",
		"compare --table 1":                                                                       "",
		"nosuchcommand --nosuchflag":                                                              "",
	} {
		if got := translateForeign(t.Context(), fields("tilecheck "+line)).Words; strings.Join(got, " ") != strings.Join(fields("tilecheck "+want), " ") {
			t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
		}
	}
}

// TestEverySwitch: what stands for a switch of PRISM or Storm is understood here, and a switch that
// nothing stands for has a sentence that says why.
func TestEverySwitch(t *testing.T) {
	t.Parallel()
	sample := map[string]string{
		"const": "N=3", "property": "true", "epsilon": "1e-9", "timeout": "60", "javamaxmem": "4g", "state-limit": "100", "transient": "5",
		"simmethod": "ci", "simsamples": "10", "simconf": "0.1", "simwidth": "0.1", "simapprox": "0.1", "simpathlen": "10", "simmaxrwd": "10",
		"simpath": "10", "param": "p", "exportmodelprecision": "5", "exportmodel": "out.all", "exportbuild": "out.drn",
	}
	seen := map[string]bool{}
	for _, s := range foreign.Switches() {
		for _, name := range s.Names {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if s.Reason != "" {
			if s.Words != "" || s.Command != "" || !strings.Contains(s.Explain(s.Names[0]), s.Reason) {
				t.Errorf("%v: words %q and %q", s.Names, s.Words, s.Explain(s.Names[0]))
			}
			continue
		}
		line := []string{"die.prism"}
		if s.NamesModel || s.NamesStates {
			line = nil
		}
		for _, name := range s.Names {
			args := append(slices.Clone(line), "--"+name)
			for range s.NumArguments {
				args = append(args, cmp.Or(sample[s.Names[0]], "out.tra"))
			}
			if s.FitsAnyCommand {
				args = append(args, "-exporttrans", "out.tra")
			}
			if s.Needs == "--time TIME" {
				args = append(args, "-tr", "5")
			}
			if !strings.Contains(s.Explain(s.Names[0]), " "+s.Needs) {
				t.Errorf("%q lacks %q", s.Explain(s.Names[0]), s.Needs)
			}
			if name == "version" || s.NumArguments == 0 && (name == "dtmc" || name == "mdp" || name == "ctmc") || name == "exact" || name == "fair" || name == "const" ||
				name == "prop" || name == "epsilon" || name == "timeout" || name == "param" {
				args[len(line)] = "-" + name // with two dashes it is ours
			}
			r := translateForeign(t.Context(), args)
			if r.Words == nil {
				t.Errorf("%q means nothing", args)
			}
			for _, part := range strings.Fields(s.Needs + " " + s.Words) {
				if strings.HasPrefix(part, "-") && !slices.Contains(r.Words, part) {
					t.Errorf("%q: %q lacks %s", args, r.Words, part)
				}
			}
			if want := cmp.Or(s.Command, "check"); !s.FitsAnyCommand && (len(r.Words) == 0 || r.Words[0] != want) {
				t.Errorf("%q: %q, want the command %s", args, r.Words, want)
			}
		}
	}
}

// TestSwitchesOfPRISM: the table has every switch that PRISM's help lists, with as many arguments.
func TestSwitchesOfPRISM(t *testing.T) {
	t.Parallel()
	help, err := exec.CommandContext(t.Context(), needs.PRISM(t), "-help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^-(\w+)(.*?) \.\.+ (.*)$`).FindAllStringSubmatch(string(help), -1) {
		takes := strings.Count(m[2], "<") - strings.Count(m[2], ":<")
		for _, name := range append([]string{m[1]}, regexp.MustCompile(`-(\w+)`).FindAllString(m[2], -1)...) {
			name = strings.TrimPrefix(name, "-")
			if name == "help" {
				continue
			}
			found++
			if s := foreign.Lookup(name); s == nil || s.NumArguments != takes {
				t.Errorf("-%s with %d arguments: %+v", name, takes, s)
			}
		}
	}
	if found < 150 {
		t.Errorf("%d switches in PRISM's help", found)
	}
}

// TestSwitchErrors: an error names what was typed, and says what is not there.
func TestSwitchErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"check d.prism --props d.props":  "unknown flag --props; a properties file is an argument: tilecheck check MODEL FILE (see tilecheck check --help)\n",
		"check d.prism -ss":              "unknown flag -ss; did you mean: tilecheck distribution d.prism\n",
		"d.prism -simpath 10 out.txt":    "did you mean: tilecheck simulate d.prism --steps 10 --format csv > out.txt\n",
		"check d.prism -gs":              "unknown flag -gs; did you mean: tilecheck check d.prism (-gs is left out: the engine selects its method by itself, and reports bounds of its values)\n",
		"check d.prism -maxiters 100":    "; did you mean: tilecheck check d.prism (-maxiters 100 is left out: the engine selects its method by itself, and reports bounds of its values)\n",
		"check d.prism -gs -lp -v -sim":  "; did you mean: tilecheck check d.prism --method sim (-gs, -lp are left out: the engine selects its method by itself, and reports bounds of its values; -v is left out: it only changes the log of the other program)\n",
		"help witness":                   "there is no command \"witness\"; --witness is a flag of check (see tilecheck help --all check)\n",
		"help --subsystem":               "unknown flag --subsystem; it is a flag of check (see tilecheck help --all check)\n",
		"help xyzzy":                     ", completion, help, version\n",
		"d.prism -const p=0.5 -gs":       "unexpected argument d.prism; did you mean: tilecheck check d.prism --const p=0.5 (-gs is left out: the engine selects its method by itself, and reports bounds of its values)\n",
		"check d.prism -const p=1 -gs":   "unknown flag -const; did you mean: tilecheck check d.prism --const p=1 (-gs is left out: the engine selects its method by itself, and reports bounds of its values)\n",
		"check d.prism -exportadv a.tra": "unknown flag -exportadv; did you mean: tilecheck check d.prism --export-scheduler a.tra\n",
		"check d.prism -exportadv a.txt": "unknown flag -exportadv; did you mean: tilecheck check d.prism --export-scheduler a.txt:type=induced\n",
		"check d.prism --conf 0.95":      "unknown flag --conf; did you mean --confidence? (see tilecheck check --help)\n",
		"check d.prism --export-sch f":   "unknown flag --export-sch; did you mean --export-scheduler? (see tilecheck check --help)\n",
		"check d.prism -noprobchecks":    "unknown flag -noprobchecks; as a switch of PRISM or Storm, -noprobchecks cannot be translated: probabilities that do not sum to 1 are an error\n",
		"check d.prism -parametric":      "unknown flag -parametric; as a switch of PRISM or Storm, -parametric cannot be translated: use --param with the names of the parameters\n",
		"check d.prism d.props -foo":     "unknown flag -foo (see tilecheck check --help)\n",
		"check d.prism --plot":           "--plot has no value (see tilecheck check --help)\n",
		"check d.prism --const":          "--const has no value (see tilecheck check --help)\n",
		"check d.prism --samples":        "--samples has no value (see tilecheck check --help)\n",
		"check d.prism --seed":           "--seed has no value (see tilecheck check --help)\n",
		"check d.prism --width":          "--width has no value (see tilecheck check --help)\n",
		"check d.prism --timeout":        "--timeout has no value (see tilecheck check --help)\n",
		"check d.prism --memory":         "--memory has no value (see tilecheck check --help)\n",
		"simulate d.prism --steps":       "--steps has no value (see tilecheck simulate --help)\n",
		"play random --games":            "--games has no value (see tilecheck play --help)\n",
		"check d.prism --confidence 95%": "--confidence: found \"95%\", want a number such as 0.95 (see tilecheck check --help)\n",
		"check d.prism --width x":        "--width: found \"x\", want a number (see tilecheck check --help)\n",
		"check d.prism --samples 1.5":    "--samples: found \"1.5\", want a whole number (see tilecheck check --help)\n",
		"check d.prism --seed -1":        "--seed: found \"-1\", want a whole number that is not negative (see tilecheck check --help)\n",
		"check d.prism --timeout 5":      "--timeout: found \"5\", want a duration with its unit, such as 90s or 2h; did you mean: tilecheck check d.prism --timeout 5s\n",
		"bench run d --qvbs --xyzzy":     "unknown flag --xyzzy (see tilecheck bench run --help)\n",
		"bench d --qvbs --xyzzy":         "unknown flag --xyzzy (see tilecheck bench run --help)\n",
	} {
		code, _, stderr := tilecheck(t.Context(), fields("tilecheck "+line)...)
		if code != exitUsage || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", line, code, stderr, want)
		}
	}
	for line, want := range map[string]string{
		"help -simpath":      "-simpath ARGUMENT means: tilecheck simulate MODEL --steps ARGUMENT --format csv > FILE\n",
		"help simpath":       "-simpath ARGUMENT means: tilecheck simulate MODEL --steps ARGUMENT --format csv > FILE\n",
		"help -ss":           "-ss means: tilecheck distribution MODEL\n",
		"help -pf":           "-pf ARGUMENT means: tilecheck check MODEL --prop ARGUMENT\n",
		"help -importtrans":  "-importtrans FILE means: tilecheck check FILE; the files of the same model are written MODEL.tra,sta,lab\n",
		"help -gs":           "-gs is not needed: the engine selects its method by itself, and reports bounds of its values\n",
		"help -prism":        "-prism MODEL means: tilecheck check MODEL\n",
		"help --sound":       "-sound is not needed: the engine selects its method by itself, and reports bounds of its values\n",
		"help -exportvector": "-exportvector cannot be translated: the property filter(printall, PROPERTY, true) prints the values of all states, and the page of tilecheck serve shows them\n",
		"help -exportadv":    "-exportadv ARGUMENT means: tilecheck check MODEL --export-scheduler ARGUMENT\n",
	} {
		if code, stdout, stderr := tilecheck(t.Context(), fields("tilecheck "+line)...); code != exitOK || stdout != want {
			t.Errorf("%s: exit code %d, %q %q, want %q", line, code, stdout, stderr, want)
		}
	}
}
