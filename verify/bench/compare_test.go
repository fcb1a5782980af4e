package bench

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"tilecheck/internal/needs"
	record "tilecheck/report/bench"
)

// noise are the CPU seconds of pairs of runs of the same program, by case. They were measured on a machine with two cores that eight
// processes shared, the runs of each pair one after the other in random order.
type noise [][][2]float64

// readNoise reads recorded runs.
func readNoise(t *testing.T, name string) noise {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out noise
	for _, line := range lines[1:] {
		var x [4]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(line[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		for len(out) <= int(x[0]) {
			out = append(out, nil)
		}
		out[int(x[0])] = append(out[int(x[0])], [2]float64{x[2], x[3]})
	}
	return out
}

// draw draws two measurements with so many repetitions of each case. The second one is slower by a factor.
func (n noise) draw(rng *rand.Rand, repetitions int, factor float64) (old, new []record.Run) {
	for i, pairs := range n {
		for r := range repetitions {
			pair := pairs[rng.IntN(len(pairs))]
			run := record.Run{Format: 1, Case: strconv.Itoa(i), Tool: "native", Repetition: r + 1, Outcome: record.Right, Started: time.Unix(int64(r), 0)}
			run.CPUSeconds = pair[0]
			old = append(old, run)
			run.CPUSeconds = pair[1] * factor
			new = append(new, run)
		}
	}
	return old, new
}

// alarms returns how many of so many comparisons say that the second measurement is slower.
func (n noise) alarms(t *testing.T, comparisons, repetitions int, factor float64) (slower int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(46, uint64(repetitions)))
	for range comparisons {
		old, new := n.draw(rng, repetitions, factor)
		compared, err := Compare(old, new, Pairing{Measure: record.Measure("cpu")})
		if err != nil {
			t.Fatal(err)
		}
		if compared.Slower(1.1) {
			slower++
		}
	}
	return slower
}

// TestAlarms draws measurements from recorded runs of the same program: at most 1 % of comparisons are false alarms, and a slowdown of 10 % is found in
// at least 95 %. The seed is fixed; 20 false alarms of 1,000 would be likely in 1 of 1,000 seeds if the true rate were 1 %.
func TestAlarms(t *testing.T) {
	recorded := readNoise(t, "testdata/noise.csv")
	if file := os.Getenv("TILECHECK_NOISE"); file != "" {
		recorded = readNoise(t, file)
	}
	same, slowed := 100, 20
	if needs.IsFull() {
		same, slowed = 1000, 200
	}
	for _, repetitions := range []int{5, 10} {
		found, missed := recorded.alarms(t, same, repetitions, 1), slowed-recorded.alarms(t, slowed, repetitions, 1.1)
		t.Logf("%d repetitions of %d cases: %d false alarms of %d, %d of %d slowdowns missed", repetitions, len(recorded), found, same, missed, slowed)
		if found > same/100 || missed > slowed/20 {
			t.Errorf("%d repetitions: %d false alarms of %d, %d of %d slowdowns missed", repetitions, found, same, missed, slowed)
		}
	}
}

// TestSignedRank compares with the critical values of Wilcoxon's test (Hollander, Wolfe and Chicken, table A.4): with n differences, the
// sum of ranks is at most k with the given probability.
func TestSignedRank(t *testing.T) {
	for _, tt := range []struct {
		n     int
		alpha float64
		want  int
	}{{7, 0.005, -1}, {8, 0.005, 0}, {10, 0.005, 3}, {10, 0.05, 10}, {20, 0.005, 37}, {20, 0.025, 52}, {4, 0.05, -1}} {
		if got := rankQuantile(tt.n, tt.alpha); got != tt.want {
			t.Errorf("n %d, alpha %g: %d, want %d", tt.n, tt.alpha, got, tt.want)
		}
	}
	if exact, normal := rankQuantile(60, 0.005), rankQuantile(61, 0.005); normal < exact || normal > exact+30 {
		t.Errorf("60 and 61 differences: %d, %d", exact, normal)
	}
	centre, lower, upper := signedRank([]float64{1, 2, 3}, 0.005)
	if centre != 2 || !math.IsInf(lower, -1) || !math.IsInf(upper, 1) {
		t.Errorf("%g in [%g, %g], want 2 without bounds", centre, lower, upper)
	}
}

// TestSingleCase: a case that is twice as slow is found although all others are equal, and one without answers is lost.
func TestSingleCase(t *testing.T) {
	var old, new []record.Run
	for c := range 20 {
		for r := range 10 {
			run := record.Run{Case: strconv.Itoa(c), Tool: "x", Repetition: r + 1, Outcome: record.Right, CPUSeconds: 1 + 0.001*float64((r*7+c)%10)}
			old = append(old, run)
			run.CPUSeconds = 1 + 0.001*float64((r*3+c)%10)
			switch c {
			case 3:
				run.CPUSeconds *= 2
			case 4:
				run.Outcome = record.Timeout
			}
			new = append(new, run)
		}
	}
	compared, err := Compare(old, new, Pairing{Measure: record.Measure("cpu")})
	if err != nil {
		t.Fatal(err)
	}
	var slower []string
	for i := range compared.Cases {
		if compared.Cases[i].SlowerThan(1.1) {
			slower = append(slower, compared.Cases[i].Case)
		}
	}
	if !slices.Equal(slower, []string{"3", "4"}) || !compared.Slower(1.1) || math.Abs(compared.Ratio-1) > 0.01 {
		t.Errorf("slower are %v, all %g, want 3 and 4", slower, compared.Ratio)
	}
	if _, err := Compare(old, nil, Pairing{Measure: record.Measure("cpu")}); err == nil {
		t.Error("nothing was compared without an error")
	}
}
