package page_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// The page rounds the ends of intervals outwards: what it prints contains the interval, and the value beside it.
func TestOutward(t *testing.T) {
	node := needs.Node(t)
	rng := rand.New(rand.NewPCG(15, 1))
	var script strings.Builder
	script.WriteString("import { number, interval } from './static/dom.js';\n")
	type row struct{ lo, value, hi float64 }
	rows := []row{{0.116214272, 0.116214272, 0.116214272}, {0.3, 0.3, 0.3}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {9.9999999999, 9.99999999995, 10.00000000005}, {0, 0, 1e-300}, {1, 1, math.Nextafter(1, 2)}}
	for range 2000 {
		value := rng.Float64() * math.Pow(10, 20*rng.Float64()-10)
		rows = append(rows, row{value - value*rng.Float64()*1e-9, value, value + value*rng.Float64()*1e-9})
	}
	for _, r := range rows {
		fmt.Fprintf(&script, "console.log(number(%v, 10), interval(%v, %v));\n", r.value, r.lo, r.hi)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module")
	cmd.Stdin = strings.NewReader(script.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("found %d lines, want %d", len(lines), len(rows))
	}
	for i, line := range lines {
		var x [3]float64
		words := strings.Fields(strings.NewReplacer("[", "", "]", "", ",", "").Replace(line))
		for k := range x {
			if x[k], err = strconv.ParseFloat(words[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		if r := rows[i]; x[1] > r.lo || x[2] < r.hi || x[0] < x[1] || x[0] > x[2] {
			t.Errorf("%v in [%v, %v] is printed %s", r.value, r.lo, r.hi, line)
		}
	}
}
