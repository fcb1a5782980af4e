package symmetry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/symmetry"
)

// ring returns a module with a ring of variables. A token moves to the next variable at a rate of its own. change replaces a part of the
// first command.
func ring(size int, change ...string) string {
	var b strings.Builder
	b.WriteString("ctmc\nmodule ring\n")
	for i := range size {
		fmt.Fprintf(&b, "x%d : [0..2] init 1;\n", i)
	}
	for i := range size {
		next := (i + 1) % size
		command := fmt.Sprintf("[] x%d>0 & x%d<2 -> 2*x%d : (x%d'=x%d-1) & (x%d'=x%d+1);\n", i, next, i, i, i, next, next)
		if i == 0 {
			command = strings.NewReplacer(change...).Replace(command)
		}
		b.WriteString(command)
	}
	b.WriteString("endmodule\nrewards \"first\" x0=2 : 1; endrewards\n")
	return b.String()
}

func TestFindPermutations(t *testing.T) {
	for _, test := range []struct {
		model, property string
		want            int // permutations, without the identity
	}{
		{ring(5), "P=? [ F<=1 x0+x1+x2+x3+x4=0 ]", 4},
		{ring(6), "P=? [ F x0=2 & x1=2 & x2=2 & x3=2 & x4=2 & x5=2 ]", 5},
		{ring(6), "P=? [ F x0=2 & x2=2 & x4=2 ]", 2},
		{ring(5), "P=? [ F x0=2 ]", 0},
		{ring(5), `R{"first"}=? [ C<=1 ]`, 0},
		{ring(5, "2*", "3*"), "P=? [ F<=1 x0+x1+x2+x3+x4=0 ]", 0},
		{ring(5, "x1<2", "x1<1"), "P=? [ F<=1 x0+x1+x2+x3+x4=0 ]", 0},
		{strings.Replace(ring(5), "init 1", "init 2", 1), "P=? [ F<=1 x0+x1+x2+x3+x4=0 ]", 0},
	} {
		program, x := read(t, test.model, test.property)
		permutations := symmetry.FindPermutations(program, x)
		if len(permutations) != test.want {
			t.Errorf("%s: %d permutations, want %d\n%s", test.property, len(permutations), test.want, test.model)
		}
		for _, permutation := range permutations {
			shift := permutation[0]
			for i, to := range permutation {
				if want := (i + shift) % len(permutation); to != want {
					t.Errorf("%s: %v is not a rotation", test.property, permutation)
				}
			}
			if slices.Equal(permutation, slices.Sorted(slices.Values(permutation))) {
				t.Errorf("%s: found the identity", test.property)
			}
		}
	}
}
