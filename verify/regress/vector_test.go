package regress_test

import (
	"testing"

	"tilecheck/verify/regress"
)

// The walk on 0..2 that stays at both ends: from 1 each is reached with 1/2.
const walk = `dtmc
const double x;
module m s:[0..2] init 1; [] s=1 -> 0.5:(s'=0) + 0.5:(s'=2); [] s!=1 -> true; endmodule`

// TestVector: the values in all states are those of the last property.
func TestVector(t *testing.T) {
	fsys := files("m.prism", walk, "a.txt", "0.0\n0.5\n1.0\n", "b.txt", "1.5\n1.5\n1.5\n", "c.txt", "false\ntrue\ntrue\n", "d.txt", "0.0\n",
		"m.prism.a.props", "P=? [ F s=0 ];\nP=? [ F s=2 ];", "m.prism.a.props.args", "-const x=0 -exportvector a.txt\n",
		"m.prism.b.props", "filter(sum, P=? [ F s=0 ])", "m.prism.b.props.args", "-const x=0 -exportvector b.txt\n",
		"m.prism.c.props", "P>0 [ F s=2 ]", "m.prism.c.props.args", "-const x=0 -exportvector c.txt\n",
		"m.prism.d.props", "P=? [ F s=2 ]", "m.prism.d.props.args", "-const x=0 -exportvector d.txt\n")
	compare(t, lines(test(t, fsys, regress.Options{})), `
pass a.txt:0
unchecked m.prism.a.props:1 [{x 0.0}]
unchecked m.prism.a.props:2 [{x 0.0}]
pass b.txt:0
unchecked m.prism.b.props:1 [{x 0.0}]
pass c.txt:0
unchecked m.prism.c.props:1 [{x 0.0}]
fail d.txt:2: the export d.txt differs from line 2 on
unchecked m.prism.d.props:1 [{x 0.0}]`)
}

// TestParameters: results are functions, numbers where nothing depends on a parameter, and
// refused where the property itself does.
func TestParameters(t *testing.T) {
	fsys := files("m.prism", walk, "m.prism.props", "// RESULT: 1/2\nP=? [ F s=2 ];", "m.prism.props.args", "-param x=0:1\n",
		"n.prism", `dtmc const double x; module m s:[0..1] init 0; [] true -> x:(s'=1) + 1-x:true; endmodule`,
		"n.prism.props", "// RESULT: 1\nP=? [ F s=1 ];\n// RESULT: x*(2-1)\nP=? [ X s=1 ];\n// RESULT: x^2\nP=? [ X s=1 ];", "n.prism.props.args", "-param x=0:1\n",
		"o.prism", walk, "o.prism.props", "// RESULT: x\nx*P=? [ F s=2 ];", "o.prism.props.args", "-param x=0:1\n")
	compare(t, lines(test(t, fsys, regress.Options{})), `
pass m.prism.props:2
pass n.prism.props:2
pass n.prism.props:4
fail n.prism.props:6: Wrong result (expected 'x^2', got x)
unsupported o.prism.props:2: the property depends on the parameter x itself, want parameters in probabilities, rates and rewards only`)
}
