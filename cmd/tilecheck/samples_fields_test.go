package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Each command that samples a probability has the same fields: samples, successes, confidence and accuracy. The value is the share of the successes.
func TestFieldsOfSamples(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"check ../../examples/die.prism --method sim --samples 1000 --seed 1 --prop P=?[F(d=6)]",
		"check ../../examples/die.prism --method sim --samples 1000 --seed 1 --dialect storm --prop P=?[F(d=6)||F(s=7)]",
		"compare random --max 16 --rows 2 --cols 2 --samples 1000 --seed 1",
		"compare document thesis --games 100 --row opposite,.128$ --seed 1",
		"play random --size 2 --max 16 --games 100 --seed 1",
	} {
		code, out, errs := tilecheck(t.Context(), append(strings.Fields(command), "--format", "json")...)
		var got struct {
			Results []struct {
				Value, Confidence float64
				Accuracy          string
				Samples           int64
				Successes         *int64
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || len(got.Results) == 0 {
			t.Errorf("%s: exit code %d, %v\n%s%s", command, code, err, out, errs)
			continue
		}
		first := &got.Results[0]
		if first.Successes == nil || first.Value != float64(*first.Successes)/float64(first.Samples) || first.Confidence == 0 || first.Accuracy != "probable" {
			t.Errorf("%s: %+v\n%s", command, first, out)
		}
	}
}
