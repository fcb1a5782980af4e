package properties_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
	"tilecheck/properties"
)

// Every property parses, and is written as PRISM echoes it.
func TestTexts(t *testing.T) {
	for _, p := range properties.All() {
		x, err := syntax.ParseProperty("", []byte(p.Text))
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if got := syntax.ExprString(x.X); got != p.Text {
			t.Errorf("%s: PRISM echoes %s, the catalogue has %s", p.Name, got, p.Text)
		}
	}
}

// The extremum that an entry states is the one that its property asks for.
func TestExtrema(t *testing.T) {
	for _, p := range properties.All() {
		want := map[string]properties.Extremum{"Pmin": properties.Minimum, "Pmax": properties.Maximum, "filt": properties.None}[p.Text[:4]]
		if p.Extremum != want {
			t.Errorf("%s: extremum %s, the text is %s", p.Name, p.Extremum, p.Text)
		}
		if p.Name == "" || p.Unit == "" || !strings.HasSuffix(p.Meaning, ".") {
			t.Errorf("incomplete entry %+v", p)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	for i, p := range properties.All() {
		found, ok := properties.Find(p.Name)
		if !ok || found.Text != p.Text {
			t.Errorf("entry %d, %s, is found as %s", i, p.Name, found.Text)
		}
		seen := map[properties.Instance]bool{}
		for _, e := range p.Expected {
			if seen[e.Instance] || e.Source == "" {
				t.Errorf("%s: %+v twice or without source", p.Name, e)
			}
			seen[e.Instance] = true
		}
	}
	if _, ok := properties.Find("reward"); ok {
		t.Error("found what is not there")
	}
}

// The fractions agree with the table "Exact values on small boards" of 2048-numbers.md as it is printed there, within its rounding.
func TestExpectedAgainstReference(t *testing.T) {
	for _, tc := range []struct {
		max           int
		spawn         string
		loss, success string
	}{
		{8, "cell", "0", "1"},
		{16, "cell", "9.09e-4", "0.999091"},
		{32, "cell", "0.91058", "0.08942"},
		{8, "uniform", "0", "1"},
		{16, "uniform", "29990997/800000000", "770009003/800000000"},
		{32, "uniform", "7336901687427567/8000000000000000", "663098312572433/8000000000000000"},
	} {
		in := properties.Instance{Rows: 2, Cols: 2, Max: tc.max, Spawn: tc.spawn, Policy: "none"}
		sum := new(big.Rat)
		for name, printed := range map[string]string{"loss": tc.loss, "success": tc.success} {
			p, _ := properties.Find(name)
			e, ok := p.Expect(in)
			if !ok {
				t.Fatalf("%s of %+v is missing", name, in)
			}
			value, ok1 := new(big.Rat).SetString(e.Value)
			want, ok2 := new(big.Rat).SetString(printed)
			if !ok1 || !ok2 {
				t.Fatalf("%s of %+v: %q, %q", name, in, e.Value, printed)
			}
			diff, _ := new(big.Rat).Sub(value, want).Float64()
			if strings.Contains(printed, "/") && diff != 0 || math.Abs(diff) > 5e-7 {
				t.Errorf("%s of %+v is %s, want %s", name, in, e.Value, printed)
			}
			sum.Add(sum, value)
		}
		// The game ends, and the player who avoids failure is the one who succeeds.
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("%+v: loss and success add up to %s", in, sum)
		}
	}
}

func ExampleFind() {
	loss, _ := properties.Find("loss")
	fmt.Println(loss.Text)
	for _, spawn := range []string{"cell", "uniform"} {
		want, _ := loss.Expect(properties.Instance{Rows: 2, Cols: 2, Max: 16, Spawn: spawn, Policy: "none"})
		fmt.Println(spawn, want.Value)
	}
	// Output:
	// Pmin=? [ F "fail" ]
	// cell 909/1000000
	// uniform 29990997/800000000
}
