package native_test

import (
	"testing"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestPlaceOfFailure: an expression that has no value is in the file of the
// properties, if it is not that of a formula or a label of the model.
func TestPlaceOfFailure(t *testing.T) {
	const model = "dtmc formula f = mod(7,x)=1;\nformula k = mod(7,0);\n" +
		"module M x:[0..1]; [] true -> 0.5:(x'=0)+0.5:(x'=1); endmodule\nlabel \"m\" = mod(7,x)=1;"
	const props = "label \"l\" = mod(7,x)=1;\n"
	for property, want := range map[string]string{
		"P=? [ F<=1 mod(7,x)=1 ]":                     "p.props:2:12",
		"filter(sum, mod(7,x))":                       "p.props:2:13",
		"filter(sum, mod(7,x)+P=? [ F x=1 ])":         "p.props:2:13",
		"filter(forall, mod(7,x)=1)":                  "p.props:2:16",
		"filter(sum, 1, mod(7,x)=1)":                  "p.props:2:16",
		"P=? [ F mod(7,x)=1 & \"m\" ]":                "p.props:2:9",
		"mod(7,x)":                                    "p.props:2:1",
		"P=? [ F \"l\" ]":                             "p.props:1:13",
		"P=? [ F<=(mod(7,0)) x=1 ]":                   "p.props:2:11",
		"P>mod(7,0) [ F x=1 ]":                        "p.props:2:3",
		"P=? [ F \"m\" ]":                             "m.prism:4:13",
		"P=? [ F P>0 [ X \"m\" ] | \"l\" ]":           "m.prism:4:13",
		"filter(sum, P=? [ F \"m\" ])":                "m.prism:4:13",
		"P=? [ F f ]":                                 "m.prism:1:18",
		"filter(sum, f ? 1 : 0)":                      "m.prism:1:18",
		"filter(max, (f ? 1 : 0)+P=? [ F x=1 ], x=0)": "m.prism:1:18",
		"P=? [ F<=k x=1 ]":                            "m.prism:2:13",
		"P>k [ F x=1 ]":                               "m.prism:2:13",
	} {
		for _, accuracy := range []result.Accuracy{result.Unknown, result.Exact} {
			vs, err := runner.Check(t.Context(), native.New(), runner.Job{
				File: "m.prism", Model: []byte(model), PropsFile: "p.props", Properties: []byte(props + property),
				Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
			})
			if err != nil {
				t.Fatal(property, err)
			}
			if f := vs[0].Err; f == nil || f.File+":"+f.Pos.String() != want {
				t.Errorf("%s: %v, want %s", property, f, want)
			}
		}
	}
}
