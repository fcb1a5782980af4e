package compile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestGuards: the commands are enabled, in their order, whose guards hold, each evaluated for
// itself, and the first error is the one that is reported.
func TestGuards(t *testing.T) {
	enabled, failed := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var b strings.Builder
		b.WriteString("mdp\nmodule m\nx:[-3..6]; y:[0..2000000]; z:[0..3];\n")
		for range 40 {
			var parts []string
			for range 1 + rng.IntN(3) {
				v := rng.IntN(4)
				parts = append(parts, []string{
					fmt.Sprintf("x=%d", v-1), fmt.Sprintf("x=%d", v), fmt.Sprintf("y=%d", v*600_000), fmt.Sprintf("z=%d", v), fmt.Sprintf("z>=%d", v),
					fmt.Sprintf("(x=%d & z=%d)", v, rng.IntN(4)), fmt.Sprintf("mod(7,x+%d)>=0", v+3),
				}[rng.IntN(7)])
			}
			fmt.Fprintf(&b, "[%s] %s -> true;\n", []string{"", "a"}[rng.IntN(2)], strings.Join(parts, " & "))
		}
		b.WriteString("endmodule\n")
		m := model(t, b.String(), Options{})
		x := newExpander(m)
		for range 50 {
			state := []int32{int32(rng.IntN(10) - 3), int32(rng.IntN(4) * 600_000), int32(rng.IntN(4))}
			var want, synchronised []int
			var wrong *StateError
			for i, command := range m.commands {
				v := env{state: state}
				switch on := command.guard(&v); {
				case on && command.source.Action < 0:
					want = append(want, i)
				case on:
					synchronised = append(synchronised, i)
				}
				if err := m.takeError(&v); wrong == nil {
					wrong = err
				}
			}
			got, err := x.Enabled(state)
			if wrong != nil {
				if failed++; err == nil || err.Error() != wrong.Error() {
					t.Fatalf("state %v: found the error %v, want %v\n%s", state, err, wrong, b.String())
				}
				continue
			}
			if err != nil {
				t.Fatalf("state %v: %v\n%s", state, err, b.String())
			}
			var listed []int
			for _, c := range got.List {
				listed = append(listed, c.Commands[0].Command)
			}
			if want = append(want, synchronised...); !slices.Equal(listed, want) { // unlabelled ones come first
				t.Fatalf("state %v: found %v, want %v\n%s", state, listed, want, b.String())
			}
			enabled += len(want)
		}
	}
	if enabled < 1000 || failed < 100 {
		t.Errorf("%d enabled commands and %d errors compared", enabled, failed)
	}
}
