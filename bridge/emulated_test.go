package bridge_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// differences compares what the bridge puts together from the answers of Storm,
// or of the emulator, with what the embedded engine says of the whole property.
func differences(t *testing.T, storm runner.Commander, name string, job runner.Job) (same int) {
	t.Helper()
	direct, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Logf("%s: %v", name, err)
		return 0
	}
	asked, err := runner.Check(t.Context(), bridge.Storm(storm, bridge.Options{}), job)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	for i, v := range direct {
		w := asked[i]
		switch {
		case v.Err != nil && w.Err != nil:
		case v.Err != nil && w.Err == nil:
			t.Errorf("%s: %s: %v, want the error %v", name, v.Property, w.Value, v.Err)
		case w.Err != nil && w.Err.Class == result.Unsupported:
			t.Logf("%s: %s: %v", name, v.Property, w.Err)
		case w.Err != nil:
			t.Errorf("%s: %s: %v", name, v.Property, w.Err)
		case !alike(v.Value, w.Value):
			t.Errorf("%s: %s: %+v (%v), want %+v", name, v.Property, w.Value, w.Accuracy, v.Value)
		default:
			same++
			if b := w.Bound; b != nil && v.Value.Kind == result.Number && (v.Value.Num < b.Lo || v.Value.Num > b.Hi) {
				t.Errorf("%s: %s: %v is not in %v", name, v.Property, v.Value.Num, *b)
			}
			if job.Numeric.Accuracy == result.Exact && w.Accuracy == result.Exact && w.Value.Rat != nil && v.Value.Rat != nil && w.Value.Rat.Cmp(v.Value.Rat) != 0 {
				t.Errorf("%s: %s: %v, want exactly %v", name, v.Property, w.Value.Rat, v.Value.Rat)
			}
		}
	}
	return same
}

func alike(x, y result.Value) bool {
	near := func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-5*max(1, math.Abs(a))
	}
	kind := x.Kind == y.Kind || x.Kind != result.Boolean && y.Kind != result.Boolean && x.Kind != result.Range && y.Kind != result.Range
	return kind && x.Bool == y.Bool && near(x.Num, y.Num) && near(x.Hi, y.Hi)
}

// TestSuiteEmulated compares on PRISM's own suite and counts what is refused.
func TestSuiteEmulated(t *testing.T) {
	root := needs.PRISMTests(t)
	needs.Long(t)
	same := 0
	for _, folder := range []string{"verify/dtmcs", "verify/mdps", "verify/ctmcs", "language"} {
		err := filepath.WalkDir(filepath.Join(root, "functionality", folder), func(path string, d fs.DirEntry, err error) error {
			model, ok := modelOf(path)
			if err != nil || !ok {
				return err
			}
			job := runner.Job{File: model, PropsFile: path, Consts: constsOf(path)}
			if job.Model, err = os.ReadFile(model); err != nil {
				return nil
			}
			if job.Properties, err = os.ReadFile(path); err != nil {
				return err
			}
			same += differences(t, &emulator{}, filepath.Base(path), job)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println(same, "properties agree")
}

func modelOf(path string) (string, bool) {
	for _, suffix := range []string{".prism", ".sm", ".nm", ".pm"} {
		if i := strings.Index(filepath.Base(path), suffix+"."); i >= 0 && strings.HasSuffix(path, ".props") {
			return filepath.Join(filepath.Dir(path), filepath.Base(path)[:i]+suffix), true
		}
	}
	return "", false
}

func constsOf(path string) []string {
	args, _ := os.ReadFile(path + ".args")
	fields := strings.Fields(string(args))
	if i := slices.Index(fields, "-const"); i >= 0 && i+1 < len(fields) {
		return []string{fields[i+1]}
	}
	return nil
}

// assorted is a model of each kind with several reward structures, a deadlock in
// a state that earns rewards, renamed and synchronising modules, and negative
// values, and the properties that Storm has no words of its own for.
const assortedBody = `
const double p;
const int low = -2;
formula far = x>2;
module left
  x : [0..4] init 0;
  [go] x<3 -> p : (x'=x+1) + 1-p : (x'=0);
  [stop] far -> (x'=4);
endmodule
module third = right [ y=z, stop=halt ] endmodule
module right
  y : [-2..1] init 0;
  [go] y<1 -> (y'=y+1);
  [go] y>=1 -> (y'=low);
  [stop] y>0 -> (y'=low);
endmodule
rewards x=4 : 2; y<0 : 1; endrewards
rewards "steps" [go] true : 1; [stop] true : 3; true : 0.5; endrewards
label "end" = x=4;
label "mid" = x=1 | x=2;
`

const assortedProperties = `
const int k = 3;
label "late" = far & y>=0;
"a": %[1]s=? [ F "end" ];
"b": x+1;
"a"*2;
1-"a"+"b"/2;
%[1]s=? [ G<=k x<3 ];
%[1]s=? [ G[1,k] !"mid" ];
%[1]s=? [ x<2 W "end" ];
%[1]s=? [ x<2 W<=4 x=3 ];
%[1]s=? [ "mid" R<5 x<3 ];
%[1]s=? [ x<3 R x<4 ];
P>=0.5 [ G<=k x<3 ];
P<0.5 [ x<2 W "end" ];
%[1]s=? [ false U[1,2] true ];
P>0 [ false U[1,2] true ];
%[1]s=? [ x<3 U[2,5] x=3 ];
%[1]s=? [ F[1,4] x=2 ];
%[1]s=? [ F P>0.3 [ G<=2 x<3 ] ];
%[2]s=? [ F "end" ];
R{1}%[3]s=? [ C<=4 ];
R{2}%[3]s=? [ C<=4 ];
R{"steps"}%[3]s=? [ I=6 ];
%[2]s=? [ I=9 ];
%[2]s=? [ C<=9 ];
P>0 [ F "deadlock" ];
filter(count, "deadlock");
filter(min, %[1]s=? [ F "end" ], "mid");
filter(max, %[1]s=? [ F "end" ], x<2 & y!=0);
filter(sum, %[1]s=? [ X x=0 ]);
filter(avg, %[1]s=? [ F<=3 "end" ], x<3);
filter(avg, x*%[1]s=? [ F<=3 "end" ]+y, x<3);
filter(range, %[1]s=? [ F "end" ], y=1);
filter(first, %[1]s=? [ F "end" ], x=2);
filter(state, %[1]s=? [ F "end" ], x=0&y=0&z=0);
filter(state, %[1]s=? [ F "end" ], x=0);
filter(argmin, %[1]s=? [ F<=3 "end" ]);
filter(argmax, %[1]s=? [ F<=3 "end" ]);
filter(forall, P>=0 [ F "end" ]);
filter(forall, y*y<5 & mod(y,2)>=0);
filter(exists, P>=1 [ F "end" ], x<3);
filter(exists, x>4);
filter(count, "late" | y=low);
filter(print, "a");
filter(sum, x, x>9);
filter(min, filter(max, %[1]s=? [ F "end" ], x=1)+%[1]s=? [ F x=3 ], x<3);
filter(count, %[1]s=? [ F x=3 ]>0.2, x<3)+1;
x>0 | "a">0.1;
max("a", 0.3)+floor(2.7);
x=0 ? "a" : 0;
%[1]s=? [ F "end" {"mid"}{max} ];
%[1]s=? [ F "end" {x=2}{min}{max} ];
E [ F x=3 ];
A [ G x<4 ];
A [ X x<=1 ];
S=? [ x=0 ];
pow(-2,2)+mod(-8,2);
%[2]s=? [ x=0 ];
%[2]s=? [ x=3 | y<0 ];
%[2]s=? [ X x<=1 ];
%[2]s=? [ !(X x>1) ];
%[2]s=? [ X X x=2 ];
%[2]s=? [ x<4 U x=3 ];
%[2]s=? [ x<2 U x=3 ];
%[1]s=? [ G F x=0 ];
%[1]s=? [ F G x<4 ];
P>=1 [ G F (x=0 | "end") ];
P<0.5 [ F G "end" ];
%[1]s=? [ X X x=2 ];
P>0.1 [ X (X (X "mid")) ];
`

// TestAssorted: what is put together from Storm's answers is what the embedded
// engine says of the whole.
func TestAssorted(t *testing.T) {
	needs.NotShort(t, "asks one question after the other")
	assorted(t, &emulator{}, 51)
}

// TestAssortedStorm: and so it is with Storm itself, which refuses LTL if it was
// built without Spot, and computes little of CTMCs with fractions.
func TestAssortedStorm(t *testing.T) {
	tool, err := local.New(needs.StormProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	assorted(t, tool, 40)
}

func assorted(t *testing.T, storm runner.Commander, least int) {
	words := map[string][]any{"dtmc": {"P", "R", ""}, "mdp": {"Pmin", "Rmax", "max"}, "ctmc": {"P", "R", ""}}
	inits := map[string]string{
		"one":     "",
		"several": "init x<2 & y>=0 & y<=1 & z=0 endinit",
	}
	for kind, w := range words {
		for count, init := range inits {
			body := assortedBody
			if init != "" {
				body = strings.NewReplacer("x : [0..4] init 0", "x : [0..4]", "y : [-2..1] init 0", "y : [-2..1]").Replace(body) + init
			}
			if kind == "mdp" {
				body = strings.Replace(body, "[stop] far", "[] x=1 -> (x'=2);\n  [stop] far", 1)
			}
			if (init == "") == (kind == "mdp") && !needs.IsFull() { // a plain run asks about each kind once
				continue
			}
			for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
				if (accuracy == result.Bounded) == (init == "") && !needs.IsLong() {
					continue
				}
				name := fmt.Sprintf("%s with %s initial state, %s", kind, count, accuracy)
				same := differences(t, storm, name, runner.Job{
					File: "m.prism", Model: []byte(kind + body), PropsFile: "m.props", Consts: []string{"p=1/3"},
					Properties: fmt.Appendf(nil, assortedProperties, w...), Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
				})
				if t.Logf("%s: %d agree", name, same); same < least && (kind != "ctmc" || accuracy != result.Exact) {
					t.Errorf("%s: %d agree, want at least %d", name, same, least)
				}
			}
		}
	}
}
