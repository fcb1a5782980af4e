package compile

import (
	"math"
	"testing"
)

// The first outputs of xoshiro256** from the state {1, 2, 3, 4}. Computed by
// hand up to the third: rotl(2·5, 7)·9 = 11520; s1 becomes 3^1^2 = 0, so 0; and
// then rotl(262149·5, 7)·9 = 1509978240. The rest are those of the reference
// implementation at prng.di.unimi.it.
func TestNext(t *testing.T) {
	s := Stream{1, 2, 3, 4}
	for i, want := range []uint64{
		11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
		16172922978634559625, 8476171486693032832, 10595114339597558777, 2904607092377533576,
	} {
		if got := s.next(); got != want {
			t.Errorf("output %d: got %d, want %d", i, got, want)
		}
	}
}

// TestNewStream checks that streams differ in seed and index, and that the
// first draws of consecutive streams look uniform. The sum of 10,000 draws has
// mean 5000 and standard deviation 28.9; five of them happen by chance with
// probability 6e-7.
func TestNewStream(t *testing.T) {
	seen := map[Stream]bool{}
	sum := 0.0
	for seed := range uint64(10) {
		for i := range uint64(1000) {
			s := NewStream(seed, i)
			if seen[s] {
				t.Fatalf("seed %d, index %d: seen before", seed, i)
			}
			seen[s] = true
			sum += s.Unit()
		}
	}
	if math.Abs(sum-5000) > 5*28.9 {
		t.Errorf("the first draws sum to %v", sum)
	}
}

// TestBelow counts 60,000 draws below 6, 10,000 expected of each with standard
// deviation 91.3. A new seed fails with probability below 1e-5.
func TestBelow(t *testing.T) {
	s := NewStream(1, 2)
	var count [6]int
	for range 60000 {
		count[s.Below(6)]++
	}
	for k, n := range count {
		if math.Abs(float64(n)-10000) > 5*91.3 {
			t.Errorf("%d drawn %d times", k, n)
		}
	}
	for range 100 {
		if got := s.Below(1); got != 0 {
			t.Fatalf("below 1: %d", got)
		}
	}
}

// TestBelowRejects draws below 3·2^30: a quarter of the 32-bit values must be
// rejected, or the multiples of 3 would come twice as often as the others.
func TestBelowRejects(t *testing.T) {
	s := NewStream(3, 4)
	low := 0
	const n, draws = 3 << 30, 30000
	for range draws {
		if s.Below(n)%3 == 0 {
			low++
		}
	}
	// 10,000 expected, standard deviation 81.6; without rejection it would be 15,000.
	if math.Abs(float64(low)-draws/3) > 5*81.6 {
		t.Errorf("multiples of 3 drawn %d times in %d", low, draws)
	}
}

// TestLogUnit compares with math.Log, whose error is below one unit in the last place.
func TestLogUnit(t *testing.T) {
	s := NewStream(5, 6)
	xs := []float64{1, 0x1p-53, 0.5, math.Sqrt2 / 2, math.Nextafter(1, 0), 0.25, math.Nextafter(0.5, 0)}
	for range 10000 {
		x := 1 - s.Unit()
		xs = append(xs, x, math.Ldexp(x, -int(s.Below(50))))
	}
	for _, x := range xs {
		got, want := logUnit(x), math.Log(x)
		if ulp := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want); math.Abs(got-want) > 2*ulp {
			t.Errorf("log %v: got %v, want %v", x, got, want)
		}
	}
}
