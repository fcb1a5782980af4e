package regress_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"testing/fstest"

	"tilecheck/verify/regress"
)

const small = `mdp
module m
  x : [0..2] init 0;
  [a] x=0 -> 0.25:(x'=1) + 0.75:(x'=2);
  [b] x=0 -> (x'=2);
  [b] x>0 -> true;
endmodule
label "end" = x=2;
`

const smallProps = `label "one" = x=1;
const int k;
// RESULT (k=1): 1
// RESULT (k=2): 1
Pmax=? [ F "one" | x>=k ];
`

// smallFiles are what PRISM 4.10.2-dev wrote of small and smallProps: the .auto
// file says with which switches.
var smallFiles = map[string]string{
	"explicit.tra": `# Transitions (MDP)
3 4 5
0 0 1 0.25 a
0 0 2 0.75 a
0 1 2 1 b
1 0 1 1 b
2 0 2 1 b
`,
	"symbolic.tra": `# Transitions (MDP)
3 4 5
0 0 2 1 b
0 1 1 0.25 a
0 1 2 0.75 a
1 0 1 1 b
2 0 2 1 b
`,
	"rows.tra": `3 4 5
0 1:2 b
0 0.25:1 0.75:2 a
1 1:1 b
2 1:2 b
`,
	"matlab.tra": `S1 = sparse(3,3);
S2 = sparse(3,3);
S1(1,3)=1;
S2(1,2)=0.25;
S2(1,3)=0.75;
S1(2,2)=1;
S1(3,3)=1;
`,
	"all.lab": `# Labels
0="init" 1="deadlock" 2="end" 3="one"
0: 0
1: 3
2: 2
`,
	"extra.lab": `l_one=sparse(3,1);

l_one(2)=1;
`,
	"all.pexp": `# Transitions (MDP)
3 4 5
0 0 2 1
0 1 1 0.25
0 1 2 0.75
1 0 1 1
2 0 2 1

# States
(x)
0:(0)
1:(1)
2:(2)

# Labels
0="init" 1="deadlock" 2="end" 3="one"
0: 0
1: 3
2: 2
`,
	"results.txt": `k:
1	2
1	1
`,
}

const smallAuto = `small.prism -exportmodel explicit.tra -ex
small.prism -exportmodel symbolic.tra
small.prism -exportmodel rows.tra:rows -m
small.prism -exportmodel matlab.tra:matlab -h
small.prism queries.txt -const k=1:2 -exportlabels all.lab:proplabels -exportproplabels extra.lab:matlab -exportmodel all.pexp:proplabels,actions=false -exportresults results.txt:matrix
`

// TestFormats: what PRISM wrote is what is compared with, by its engine and the
// options of the switch.
func TestFormats(t *testing.T) {
	fsys := files("small.prism", small, "queries.txt", smallProps, "small.auto", smallAuto)
	for name, text := range smallFiles {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	rep := test(t, fsys, regress.Options{})
	got := lines(rep)
	for name := range smallFiles {
		if n := strings.Count(got, "pass "+name+":0"); n != 1 {
			t.Errorf("%s passes %d times\n%s", name, n, got)
		}
	}
	if n := strings.Count(got, "\n"); n != len(smallFiles)+2 {
		t.Errorf("%d results, wanted %d exports and 2 properties\n%s", n, len(smallFiles), got)
	}
}

// TestImportFormats: a combined file, and one that is compressed, are states that
// are checked and written again.
func TestImportFormats(t *testing.T) {
	zip := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	tra := smallFiles["explicit.tra"]
	fsys := files("small.pexp", smallFiles["all.pexp"], "small.tra.gz", zip(tra), "zip.pexp.gz", zip(smallFiles["all.pexp"]), "small.tra", tra,
		"bad.tra.gz", "no gzip", "small.props", "// RESULT: 1\nPmax=? [ F \"one\" ];\n// RESULT: 0.25\nPmax=? [ F \"one\" ];",
		"small.auto", `-importmodel small.pexp small.props
-importmodel zip.pexp.gz -exportmodel small.pexp
-importmodel small.all.gz -exportmodel small.tra
-importtrans small.tra.gz -exportmodel small.tra
-importmodel bad.tra.gz -exportmodel small.tra
-importmodel small.pexp -importlabels all.lab small.props
`, "all.lab", smallFiles["all.lab"])
	compare(t, lines(test(t, fsys, regress.Options{})), `
fail small.props:2: Wrong result (expected 1, abs err = 0.75 > 2.5E-6)
pass small.props:4
pass small.pexp:0
pass small.tra:0
pass small.tra:0
error small.auto:5: bad.tra.gz: not a valid gzip file: unexpected EOF
unsupported small.props:0: imports of .pexp files with others (-importmodel)`)
}
