package wild

import "testing"

// TestDistinct counts models of several seeds and numbers: a search that went from one seed to
// the next returned the models of its neighbours, so 750 models were 210.
func TestDistinct(t *testing.T) {
	for name, newModel := range map[string]func(seed, number uint64, n int) Model{"multi": Multi, "new": New, "timed": Timed, "intervals": Intervals} {
		seen := map[string]bool{}
		for seed := range uint64(10) {
			for number := range uint64(20) {
				seen[newModel(seed, number, 1).Text] = true
			}
		}
		if len(seen) != 200 {
			t.Errorf("%s: of 200 models %d are distinct", name, len(seen))
		}
	}
}
