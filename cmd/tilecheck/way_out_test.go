package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWaysOut: an error of a command line names the flag that it is about, and what to write instead.
func TestWaysOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model := write("m.prism", `dtmc
const double p = 0.5;
module m
  s : [0..2];
  [] s=0 -> p:(s'=1) + 1-p:(s'=2);
  [] s>0 -> true;
endmodule
label "goal" = s=1;
rewards "length" s=0 : 1; endrewards
rewards "sends" s=2 : 1; endrewards
`)
	open := write("open.prism", "dtmc\nconst double p;\nmodule m\n  s : [0..1];\n  [] s=0 -> p:(s'=1) + 1-p:true;\n  [] s=1 -> true;\nendmodule\n")
	untyped := write("untyped.prism", "module m\n  s : [0..1];\n  [] s=0 -> 0.5:(s'=1) + 0.5:true;\n  [] s=1 -> true;\nendmodule\n")
	decides := write("mdp.prism", "mdp\nmodule m\n  s : [0..1];\n  [] s=0 -> (s'=1);\n  [] true -> true;\nendmodule\n")
	transitions := write("chain.tra", "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")
	write("chain.lab", "0=\"init\" 1=\"deadlock\"\n0: 0\n")
	write("chain.sta", "(y)\n0:(0)\n1:(5)\n")
	one := write("one.prop", "s >= 1\n")
	csl, pctl := write("one.csl", "s >= 1\n"), write("one.pctl", "s >= 1\n")
	wrong := write("wrong.props", "P=? [ F t=1 ]\n")
	cert := filepath.Join(dir, "m.cert")
	for _, c := range []struct {
		args string
		code int
		want string // in what is printed
	}{
		{"check " + model + " --param p --prop true", exitUsage, `--param: constant "p" has already been defined in the model; to set it here, declare it without a value: const double p;`},
		{"check " + model + " --param q=1:0 --prop true", exitUsage, `--param: invalid parameter: found "q=1:0"`},
		{"check " + model + " --const p=1 --prop true", exitUsage, `--const: constant "p" has already been defined in the model; to set it here, declare it without a value: const double p;`},
		{"check " + decides + " --export-scheduler " + filepath.Join(dir, "x.tra") + ` --prop Pmax=?[F(s=1)] --prop Pmin=?[F(s=1)]`, exitCannotRun, "choose one property with --select"},
		{"check " + model + " --prop P=?[F(s=1)] --certificate " + cert, exitOK, "0.5"},
		{"certify " + cert + " " + model, exitUsage, "is a model and no certificate, want --model "},
		{"certify " + model + " " + cert, exitUsage, "is a model and no certificate, want --model "},
		{"check " + model + " --prop P=?[F(s=1)] --witness 2", exitUsage, "want --witness=2"},
		{"check --witness 2 " + model, exitUsage, "want --witness=2"},
		{"check " + model + ` --prop P=?[F"gaol"]`, exitCannotRun, `undeclared label "gaol"; did you mean "goal"?`},
		{"check " + model + " --prop P=?[F(goal)]", exitCannotRun, `undeclared identifier "goal"; there is a label "goal", want it in quotes`},
		{"check " + model + ` --prop P=?[F"s"]`, exitCannotRun, `undeclared label "s"; there is a variable s, want it without quotes`},
		{"check " + model + ` --prop P=?[F"elsewhere"]`, exitCannotRun, `undeclared label "elsewhere"; declared: "goal"`},
		{"check " + model + " --prop R{length}=?[S]", exitCannotRun, `undeclared identifier "length"; there is a reward structure "length", want it in quotes`},
		{"check " + model + " --prop R{lenght}=?[S]", exitCannotRun, `undeclared identifier "lenght"; did you mean "length"?`},
		{"check " + model + " --prop R{steps}=?[S]", exitCannotRun, `undeclared identifier "steps"; declared: "length", "sends"`},
		{"check " + model + " --prop R=?[C<10]", exitCannotRun, `found "<", want "<="; this objective has the form C<=k`},
		{"check " + model + " --prop R=?[C=10]", exitCannotRun, `found "=", want "<="; this objective has the form C<=k`},
		{"check " + model + " --prop R=?[I<=10]", exitCannotRun, `found "<=", want "="; this objective has the form I=k`},
		{"check " + model + ` --prop R=?["goal"]`, exitOK, "Infinity, because the formula is not satisfied with probability 1; a formula without F is decided in the first"},
		{"check " + model + ` --prop R{"sends"}=?[F"goal"]`, exitOK, "Infinity, because the target is not reached with probability 1"},
		{"check " + untyped + " --prop P=?[F(s=1)] --format json", exitCannotRun, "the file has no model type, such as dtmc, so it is read as an MDP"},
		{"check " + open + " --const p=1/3 --prop P=?[F<=1(s=1)]", exitOK, " p=1/3 "},
		{"check " + open + " --const p=1/3 --prop P=?[F<=1(s=1)] --format json", exitOK, `"p": "1/3"`},
		{"check " + open + " --const p=0.1:0.1:0.3 --prop P=?[F<=1(s=1)] --format json", exitOK, `"p": 0.3`},
		{"check " + transitions + " --dtmc --prop P=?[F(x=1&y=3)]", exitCannotRun, `undeclared identifier "y"; ` + transitions + " was read without a .sta file, so the only variable is x, the number of the state (with it: " + transitions + ",sta; export and resolve write such files)"},
		{"check " + transitions + ",lab --dtmc --prop P=?[F(y=3)]", exitCannotRun, "(with it: " + transitions + ",sta,lab; export and resolve write such files)"},
		{"check " + transitions + ` --dtmc --prop P=?[F"goal"]`, exitCannotRun, `undeclared label "goal"; ` + transitions + " was read without a .lab file (with it: " + transitions + ",lab; export and resolve write such files)"},
		{"check " + transitions + ` --dtmc --prop R{"r"}=?[C]`, exitCannotRun, `"r" does not exist; ` + transitions + " was read without a .srew or .trew file (with it: " + transitions + ",srew; export and resolve write such files)"},
		{"check " + transitions + ",sta --dtmc --prop P=?[F(y=5)]", exitOK, "P=? [ F (y=5) ]"},
		{"export-strategy random --size 4 --max 2048 --timeout 50ms", exitOutOfLimit, "time limit of 50ms reached: "},
		// Properties are known by the name of their file, in every command, and checked.
		{"lint " + model + " " + one, exitOK, ""},
		{"fmt --check " + one, exitFailed, "one.prop"},
		{"check " + model + " " + one, exitFailed, "s>=1"},
		{"lint " + model + " " + csl, exitOK, ""},
		{"fmt --check " + csl, exitFailed, "one.csl"},
		{"check " + model + " " + csl, exitFailed, "s>=1"},
		{"lint " + model + " " + pctl, exitOK, ""},
		{"fmt --check " + pctl, exitFailed, "one.pctl"},
		{"check " + model + " " + pctl, exitFailed, "s>=1"},
		{"lint " + model + " " + wrong, exitCannotRun, `wrong.props:1:9: undeclared identifier "t"`},
	} {
		code, stdout, stderr := tilecheck(t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}

// TestFalseGuards: a guard that is the word false is meant so, and what it keeps from happening, too.
func TestFalseGuards(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.prism")
	const text = `mdp
const bool never = false;
module m
  s : [0..1];
  [a] false -> true;
  [b] s=0 -> (s'=1);
  [c] s=1 -> true;
  [c] never -> true;
endmodule
module n
  t : [0..1];
  [a] t=0 -> (t'=1);
  [b] true -> true;
  [c] true -> true;
endmodule
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := tilecheck(t.Context(), "lint", path, "--format", "csv")
	if code != exitFailed || strings.Contains(stdout, ",5,") || strings.Contains(stdout, ",12,") || !strings.Contains(stdout, ",8,3,never-holds,") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
