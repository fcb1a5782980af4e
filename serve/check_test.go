package serve

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
)

const withConstants = `dtmc
const int N; const double p; const int K = N+1;
module m
  x : [0..20] init 0;
  [] x<N -> p:(x'=x+1) + 1-p:true;
endmodule
`

// The constants of both texts are listed with the values that are given; constants without a value are no mistake of the text.
func TestConstants(t *testing.T) {
	q := object{"model": withConstants, "props": "const int T;\nP=? [ F<=T x=1 ];\nP=? [ F x=N ];\n"}
	for _, x := range []struct{ given, want, needs string }{
		{"", "N:0 p:0 K=N+1:0 T:0", "[N p T] [N p]"},
		{"N=3,p=0:0.5:1,T={1, 2,5}", "N:[3]1 p:[0.0 0.5 1.0]3 K=N+1:0 T:[1 2 5]3", "[] []"},
		{"N=3,p=1/3,K=9,unknown=4", "N:[3]1 p:[1/3]1 K=N+1:0 T:0", "[T] []"},
		{"N=x,p=0.5", "N:0! p:[0.5]1 K=N+1:0 T:0", "[N T] [N]"},
		{"N={1,2", "N:0! p:0 K=N+1:0 T:0", "[N p T] [N p]"},
	} {
		var d diagnosis
		ask(t, Options{}, "diagnose", with(q, object{"const": x.given}), &d)
		got := ""
		for _, c := range d.Constants {
			if got += " " + c.Name; c.Value != "" {
				got += "=" + c.Value
			}
			got += ":"
			if len(c.Values) > 0 {
				got += fmt.Sprint(c.Values)
			}
			if got += fmt.Sprint(c.Count); c.Error != "" {
				got += "!"
			}
		}
		if got != " "+x.want || len(d.Places) != 0 || d.Message != "" {
			t.Errorf("%q: found%s, %v, %q, want %s", x.given, got, d.Places, d.Message, x.want)
		}
		if needs := fmt.Sprint(d.Properties[0].Needs, d.Properties[1].Needs); needs != x.needs {
			t.Errorf("%q: properties need %s, want %s", x.given, needs, x.needs)
		}
	}
}

// A list gives a verdict for each of its values, and none twice for a property that does not need it.
func TestListOfValues(t *testing.T) {
	q := object{"model": withConstants, "props": "const int T;\nP=? [ F<=T x=1 ];\nP=? [ F x=N ];\n", "const": "N={1,3},p=1,T={0,1,7}"}
	var got struct{ Verdicts []verdict }
	parts := ask(t, Options{}, "check", q, &got)
	var lines []string
	for _, v := range got.Verdicts {
		lines = append(lines, fmt.Sprint(v.Index, v.Constants, v.Value))
	}
	slices.Sort(lines)
	want := []string{
		"0 N=1,p=1.0,T=0 0", "0 N=1,p=1.0,T=1 1", "0 N=1,p=1.0,T=7 1",
		"0 N=3,p=1.0,T=0 0", "0 N=3,p=1.0,T=1 1", "0 N=3,p=1.0,T=7 1",
		"1 N=1,p=1.0 1", "1 N=3,p=1.0 1",
	}
	if !slices.Equal(lines, want) || parts["verdict"] != len(want) {
		t.Errorf("found %d parts and %q, want %q", parts["verdict"], lines, want)
	}
	var done struct{ Points int }
	if ask(t, Options{}, "experiment", with(q, object{"select": []int{0}}), &done); done.Points != 6 {
		t.Errorf("%d points, want 6", done.Points)
	}
}

// A verdict has as many digits as its interval justifies, and says whether it is what the annotation expects.
func TestVerdict(t *testing.T) {
	q := with(die(t), object{"props": "// RESULT: 1/6\nP=? [ F d=6 ];\n// RESULT: 1/5\n\"wrong\": P=? [ F d=5 ];\nP>=0.1 [ F d=4 ];\n"})
	var got struct{ Verdicts []verdict }
	ask(t, Options{}, "check", q, &got)
	v := got.Verdicts
	if len(v) != 3 || v[0].Outcome != "PASS" || v[0].Expected != "1/6" || v[1].Outcome != "FAIL" || v[1].Reason == "" || v[2].Outcome != "" || v[2].Short != nil {
		t.Fatalf("found %+v, want PASS, FAIL and no expectation", v)
	}
	if v[0].Short.Value != "0.16666667" || len(v[0].Full.Value) <= len(v[0].Short.Value) || v[0].Full.Half == "" {
		t.Errorf("found %+v and %+v, want eight digits, and more with the half-width", v[0].Short, v[0].Full)
	}
	got.Verdicts = nil
	ask(t, Options{}, "check", with(q, object{"method": "ci", "samples": 1000, "seed": 7, "select": []int{1}}), &got)
	if v := got.Verdicts[0]; v.Index != 1 || *v.Seed != 7 || len(v.Short.Value) > 6 || v.Short.Half == "" {
		t.Errorf("found %+v with %+v, want few digits and a half-width", v, v.Short)
	}
	got.Verdicts = nil
	ask(t, Options{}, "check", with(q, object{"accuracy": "exact", "select": []int{0}}), &got)
	if v := got.Verdicts[0]; v.Outcome != "PASS" || v.Short.Half != "" || v.Fraction != "1/6" {
		t.Errorf("found %+v, want 1/6", v)
	}
}

// A property's place has its semicolon, and the comment above it.
func TestPropertyPlaces(t *testing.T) {
	props := "P=? [ F d=1 ]; // é𝄞\n// about two\n// RESULT: 1/6\n  \"two\": P=? [ F d=2 ] ;\n\nP=? [ F d=3 ]"
	var d diagnosis
	ask(t, Options{}, "diagnose", with(die(t), object{"props": props}), &d)
	if len(d.Properties) != 3 {
		t.Fatalf("%d properties, want 3", len(d.Properties))
	}
	for i, want := range [][3]int{{0, 14, 0}, {52, 74, 22}, {76, 89, 76}} {
		if e := d.Properties[i]; e.From != want[0] || e.To != want[1] || e.DocFrom != want[2] {
			t.Errorf("property %d is at %d to %d, with its comment from %d; want %v", i, e.From, e.To, e.DocFrom, want)
		}
	}
}

// A six has three throws on its likeliest path; a bound that fails has paths that together refute it.
func TestWhy(t *testing.T) {
	q := with(die(t), object{"props": "P=? [ F d=6 ];\nP<=0.1 [ F d=6 ];\nR=? [ F s=7 ];\n"})
	var why explanation
	ask(t, Options{}, "why", with(q, object{"property": 0}), &why)
	if p := why.Paths; !why.Holds || why.Wanted != "" || len(p) == 0 || p[0].Fraction != "1/8" || len(p[0].States) != 4 || p[0].States[3][1] != 6 {
		t.Errorf("found %+v, want a path with 1/8 to a six", why)
	}
	why = explanation{}
	ask(t, Options{}, "why", with(q, object{"property": 1}), &why)
	if !why.Enough || why.Wanted != ">1/10" || why.Count != 1 || why.Verdict.Index != 1 {
		t.Errorf("found %+v, want one path with more than 1/10", why)
	}
}

// A certified answer comes with its certificate.
func TestCertificate(t *testing.T) {
	var got struct {
		Verdicts    []verdict
		Certificate []byte
	}
	ask(t, Options{}, "check", with(die(t), object{"accuracy": "proven", "certificate": true, "select": []int{0}}), &got)
	if got.Verdicts[0].Accuracy != "proven" {
		t.Fatalf("found %+v, want a proven answer", got.Verdicts[0])
	}
	file, err := certificate.Read(t.Context(), bytes.NewReader(got.Certificate), certificate.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := certify.Check(t.Context(), file); err != nil || len(found) != 1 {
		t.Errorf("the certificate proves %v, %v, want one claim", found, err)
	}
}
