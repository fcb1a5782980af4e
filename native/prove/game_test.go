package prove_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// TestGames: until formulas of coalitions in random games are proven, with bounds that are narrow.
func TestGames(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range needs.Some(200) {
		n := 2 + r.IntN(6)
		var b strings.Builder
		fmt.Fprintf(&b, "smg\nplayer p [a] endplayer\nplayer q [b] endplayer\nmodule m\n s:[0..%d];\n [a] false -> true;\n [b] false -> true;\n", n-1)
		for s := range n {
			action := []string{"a", "b"}[r.IntN(2)]
			for range 1 + r.IntN(3) {
				fmt.Fprintf(&b, " [%s] s=%d -> 1/3:(s'=%d) + 2/3:(s'=%d);\n", action, s, r.IntN(n), r.IntN(n))
			}
		}
		b.WriteString("endmodule\n")
		goal := r.IntN(n)
		space, list := spaceOf(t, b.String(), fmt.Sprintf(`<<p>> Pmax=? [ F s=%d ];
<<q>> Pmax=? [ s!=%d U s=%d ];
<<p>> Pmin=? [ s!=%d W s=%d ];
<<>> Pmin=? [ G s!=%d ];
filter(max, <<q>> Pmin=? [ F s=%d ]);`, goal, r.IntN(n), goal, r.IntN(n), goal, goal, goal))
		for _, p := range list {
			result, err := proven(t, t.Context(), space, p)
			if err != nil {
				t.Fatalf("%s: %v\n%s", p.Text, err, b.String())
			}
			low, _ := result.Lower.Float64()
			high, _ := result.Upper.Float64()
			if high-low > 1e-7 {
				t.Errorf("%s: from %v to %v\n%s", p.Text, low, high, b.String())
			}
		}
	}
}
