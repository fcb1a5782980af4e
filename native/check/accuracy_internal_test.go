package check

import (
	"fmt"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/prism/sema/sematest"
	"tilecheck/result"
)

// TestFractionsOrQuotient takes quotients as soon as a fraction takes any work: of a walk beside a
// counter that nobody asks about, which is ruined with probability 1/2 and ends after 30 times 30
// steps on average, and of a property that tells all states apart. Equations of fewer
// than 10,000 states may always take all the work they need.
func TestFractionsOrQuotient(t *testing.T) {
	t.Parallel()
	const src = `dtmc
module walk s:[0..60] init 30; [a] s>0&s<60 -> 1/2:(s'=s-1)+1/2:(s'=s+1); [a] s=0|s=60 -> true; endmodule
module beside k:[0..%[1]d-1]; [a] true -> (k'=mod(k+1,%[1]d)); endmodule
rewards s>0&s<60 : 1; endrewards`
	for _, c := range []struct {
		beside         int
		property, want string
		reduced        bool
	}{
		{21, "R=? [ C<=29 ]", "29", true},
		{21, "P=? [ F<=30 s=60&k=9 ]", "1/1073741824", false},
		{181, "P=? [ F s=60 ]", "1/2", true},
		{181, "R=? [ F s=0|s=60 ]", "900", true},
	} {
		if c.beside > 100 && !needs.IsFull() {
			continue
		}
		checker, p := checkerFor(t, fmt.Sprintf(src, c.beside), c.property)
		v := result.Verdict{}
		out, err := checker.fractionsOrQuotient(t.Context(), checker.exactModel, p, &v, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.property, err)
		}
		if got := out.value.Rat.RatString(); got != c.want || out.accuracy != result.Exact || (len(v.Warnings) == 1) != c.reduced {
			t.Errorf("%s: %s, %v, warnings %q, want %s", c.property, got, out.accuracy, v.Warnings, c.want)
		}
	}
}

func checkerFor(t *testing.T, src, property string) (*Checker, *Property) {
	t.Helper()
	m := explicittest.Compile(t, src)
	space, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	list, full := sematest.Properties(t, m.Program(), property)
	return New(m, space, Options{Accuracy: result.Exact}), &Property{Property: list[0], Program: full, File: "p.props"}
}
