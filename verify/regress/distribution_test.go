package regress_test

import (
	"testing"

	"tilecheck/verify/regress"
)

// TestDistributions compares files of how likely states are: of the walk, which is at each end with 1/2 after a
// step and for ever. PRISM's numbers are as near as iteration brings them.
func TestDistributions(t *testing.T) {
	fsys := files("m.prism", walk, "near.txt", "0=0.5\n1=0.0\n2=0.500001\n", "far.txt", "0=0.5\n1=0.0\n2=0.50001\n", "long.txt", "0.4999999\n0.0\n0.5\n",
		"code.txt", "v = [\n0.5\n0.0\n0.5\n];\n", "short.txt", "0.5\n", "odd.txt", "1=0.5\n1=0.0\n2=0.5\n", "m.prism.auto", `-const x=0 -tr 3 -exporttransient near.txt
-const x=0 -tr 3 -exporttr far.txt -ex
-const x=0 -tr 3 -exporttransient odd.txt
-const x=0 -tr 0 -exporttransient near.txt
-const x=0 -tr 1:3 -exporttransient near.txt
-const x=0 -tr x -exporttransient near.txt
-const x=0 -exporttransient near.txt
-const x=0 -ss -exportsteadystate long.txt
-const x=0 -exportss code.txt -exportmatlab
-const x=0 -ss -exportsteadystate short.txt
-const x=0 -ss -exportsteadystate long.txt -importinitdist start.txt
`, "n.prism", "mdp module n s:[0..1]; [] true -> (s'=0); [] true -> (s'=1); endmodule", "n.prism.auto", "-ss -exportsteadystate long.txt\n")
	compare(t, lines(test(t, fsys, regress.Options{})), `
pass near.txt:0
fail far.txt:3: line 3 differs by more than 1e-05, relatively
fail odd.txt:1: line 1 differs by more than 1e-05, relatively
fail near.txt:1: line 1 differs by more than 1e-05, relatively
unsupported near.txt:0: files at several times (-transient 1:3)
error near.txt:0: -transient: "x" is not a time, want a number of at least 0, from:to or from:step:to (other)
error near.txt:0: found no switch -transient, want one with the time of the exported probabilities (other)
pass long.txt:0
pass code.txt:0
fail short.txt:2: the export short.txt differs from line 2 on
unsupported m.prism:0: imports (-importinitdist)
unsupported long.txt:0: states of an MDP have no probabilities without a scheduler, want a DTMC or a CTMC; tilecheck resolve writes the chain under a scheduler`)
}

// TestTargets: the states that a property wants to reach are those of its last operand; LTL has none of the model.
func TestTargets(t *testing.T) {
	fsys := files("m.prism", walk, "t.lab", "# Labels\n0=\"init\" 1=\"target\"\n1: 0\n2: 1\n",
		"m.prism.a.props", "P=? [ F s=2 ]", "m.prism.a.props.args", "-const x=0 -exporttarget t.lab\n",
		"m.prism.b.props", "P=? [ s<2 U P>=1 [ F s=2 ] ]", "m.prism.b.props.args", "-const x=0 -exporttarget t.lab\n",
		"m.prism.c.props", "P=? [ F s=1 ]", "m.prism.c.props.args", "-const x=0 -exporttarget t.lab\n",
		"m.prism.d.props", "P=? [ F X s=2 ]", "m.prism.d.props.args", "-const x=0 -exporttarget t.lab\n",
		"m.prism.e.props", "S=? [ s=2 ]", "m.prism.e.props.args", "-const x=0 -exporttarget t.lab\n",
		"m.prism.f.props", "P=? [ (G s<2) & (F s=1) ]", "m.prism.f.props.args", "-const x=0 -exporttarget t.lab\n")
	compare(t, lines(test(t, fsys, regress.Options{})), `
pass t.lab:0
unchecked m.prism.a.props:1 [{x 0.0}]
pass t.lab:0
unchecked m.prism.b.props:1 [{x 0.0}]
fail t.lab:3: the export t.lab differs from line 3 on
unchecked m.prism.c.props:1 [{x 0.0}]
unsupported t.lab:0: targets of LTL, which are states of PRISM's own product (-exporttarget)
unchecked m.prism.d.props:1 [{x 0.0}]
unsupported t.lab:0: targets of other properties than P (-exporttarget)
unchecked m.prism.e.props:1 [{x 0.0}]
unsupported t.lab:0: targets of LTL, which are states of PRISM's own product (-exporttarget)
unchecked m.prism.f.props:1 [{x 0.0}]`)
}
