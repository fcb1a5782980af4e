package serve

import (
	"testing"
)

// Results about the same property and constants of the same texts are compared; others are not.
func TestAgreement(t *testing.T) {
	result := func(value, n float64) object {
		return object{"property": "P=? [ F a ]", "constants": object{"n": n}, "value": value, "kind": "number", "lower": value, "upper": value, "accuracy": "bounded"}
	}
	series := func(name, digest string, results ...object) object {
		return object{"name": name, "digest": digest, "results": results}
	}
	var got struct{ Disagreements []disagreement }
	ask(t, Options{}, "agreement", object{"series": []object{
		series("one", "x", result(0.5, 1), result(0.5, 2)), series("two", "x", result(0.5, 1), result(0.75, 2)), series("three", "y", result(0.25, 2)),
	}}, &got)
	if d := got.Disagreements; len(d) != 1 || d[0].First != "one" || d[0].Second != "two" || d[0].Constants.String() != "n=2" || d[0].Basis != "proven" || d[0].Reason == "" {
		t.Errorf("found %+v, want one disagreement where n is 2", d)
	}
}

// The digest of texts changes with the model and with what other properties can refer to, and not with another property.
func TestDigest(t *testing.T) {
	digest := func(props, model string) string {
		var d diagnosis
		ask(t, Options{}, "diagnose", object{"model": model, "props": props}, &d)
		return d.Digest
	}
	const model = "dtmc\nmodule m\nx : [0..3];\n[] true -> true;\nendmodule\n"
	base := digest("const int k = 2;\nP=? [ F x=k ];", model)
	if base == "" {
		t.Fatal("there is no digest")
	}
	for _, x := range []struct {
		props, model string
		same         bool
	}{
		{"const int k = 2;\nP=? [ F x=k ];\nP=? [ F x=1 ];", model, true},
		{"const int k = 3;\nP=? [ F x=k ];", model, false},
		{"const int k = 2;\nP=? [ F x=k ];\n\"a\": P=? [ F x=1 ];", model, false},
		{"const int k = 2;\nP=? [ F x=k ];", model + "// changed\n", false},
	} {
		if got := digest(x.props, x.model); (got == base) != x.same {
			t.Errorf("%q: the digest is the same: %v, want %v", x.props, got == base, x.same)
		}
	}
	if got := digest("P=? [ F y=1 ];", model); got != "" {
		t.Errorf("texts with an error have the digest %s", got)
	}
}
