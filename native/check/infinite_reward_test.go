package check_test

import (
	"slices"
	"testing"

	"tilecheck/native/check"
	"tilecheck/result"
)

// choiceToLose can go to 1 or 2, or by chance to either of them. A reward is earned in 2, forever.
const choiceToLose = `mdp
module m s:[0..2]; [] s=0 -> (s'=1); [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s>0 -> true; endmodule
rewards s=2 : 1; endrewards`

// TestInfiniteRewards: a warning says why an expected reward is Infinity. Finite rewards have none.
func TestInfiniteRewards(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ model, property, want string }{
		{fair, "R=? [ F s=4 ]", "Infinity, because the target is not reached with probability 1"},
		{fair, "filter(max, R=? [ F s=4 ], true)", "Infinity, because the target is not reached with probability 1"},
		{fair, "R=? [ s<3 U s=4 ]", "Infinity, because the formula is not satisfied with probability 1"},
		{fair, "R=? [ s=4 ]", "Infinity, because the formula is not satisfied with probability 1; a formula without F is decided in the first state, so perhaps F is missing"},
		{fair, "R=? [ F s=0|s=4 ]", ""},
		{fair, "R=? [ C ]", ""},
		{choiceToLose, "Rmax=? [ F s=1 ]", "Infinity, because under some scheduler the target is not reached with probability 1"},
		{choiceToLose, "Rmin=? [ F s=1 ]", ""},
		{choiceToLose, "Rmin=? [ F s=2 ]", "Infinity, because under no scheduler the target is reached with probability 1"},
		{choiceToLose, "Rmax=? [ C ]", "Infinity, because under some scheduler rewards are earned again and again forever with positive probability"},
		{choiceToLose, "Rmin=? [ C ]", ""},
	} {
		for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			verdict := ask(t, t.Context(), test.model, test.property+";", check.Options{Accuracy: accuracy})[0]
			if verdict.Err != nil || !slices.Equal(verdict.Warnings, want) {
				t.Errorf("%s, %v: found %q (error %v), want %q", test.property, accuracy, verdict.Warnings, verdict.Err, want)
			}
		}
	}
}
