package native_test

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/internal/wild"
	"tilecheck/runner"
)

// TestClockZonesAgree: zones have the same fractions as regions, of automata with closed, strict and diagonal constraints.
func TestClockZonesAgree(t *testing.T) {
	for name, newModel := range map[string]func(seed, number uint64, n int) wild.Model{"closed": wild.Timed, "open": wild.TimedOpen} {
		models, compared, between := 300, 0, 0
		for i := range models {
			model := newModel(3, uint64(i), 6)
			var properties []string
			for _, property := range model.Props {
				if strings.HasPrefix(property, "P") {
					properties = append(properties, property, strings.Replace(property, "[ F", "[ G", 1))
				}
			}
			regions := checkClocks(t, model.Text, properties, runner.ClockRegions)
			zones := checkClocks(t, model.Text, properties, runner.ClockZones)
			for k := range regions {
				if (regions[k].Err == nil) != (zones[k].Err == nil) {
					t.Errorf("%s %d: %s: %v with regions, %v with zones\n%s", name, i, properties[k], regions[k].Err, zones[k].Err, model.Text)
					continue
				}
				if regions[k].Err != nil {
					continue
				}
				compared++
				want, got := regions[k].Value, zones[k].Value
				if want.Rat == nil && want.Bool != got.Bool || want.Rat != nil && want.Rat.Cmp(got.Rat) != 0 {
					t.Errorf("%s %d: %s: %v with regions, %v with zones\n%s", name, i, properties[k], want, got, model.Text)
				}
				if want.Rat != nil && want.Rat.Sign() > 0 && want.Rat.Cmp(big.NewRat(1, 1)) < 0 {
					between++
				}
			}
		}
		t.Logf("%s: compared %d values, of which %d are neither 0 nor 1", name, compared, between)
	}
}
