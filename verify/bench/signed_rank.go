package bench

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxPairs is the largest number of differences whose averages are all computed: 8 million.
const maxPairs = 4000

// signedRank returns the Hodges-Lehmann estimate of the centre of differences, and a lower and an upper bound of it, each of which is
// wrong with at most the probability alpha. It assumes nothing but that each difference is as likely to have the other sign if there is no
// effect, which drawing the order of each pair ensures. Bounds are infinite if there are too few differences.
//
// Source: Hollander, Wolfe and Chicken, Nonparametric statistical methods, 3.1 to 3.3 (Wilcoxon's signed rank test).
func signedRank(differences []float64, alpha float64) (centre, lower, upper float64) {
	n := len(differences)
	if n == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	if n > maxPairs { // enough are left
		thinned := make([]float64, 0, maxPairs)
		for i := range maxPairs {
			thinned = append(thinned, differences[i*n/maxPairs])
		}
		differences, n = thinned, maxPairs
	}
	averages := make([]float64, 0, n*(n+1)/2)
	for i, x := range differences {
		for _, y := range differences[i:] {
			averages = append(averages, (x+y)/2)
		}
	}
	slices.Sort(averages)
	middle := len(averages) / 2
	centre = averages[middle]
	if len(averages)%2 == 0 {
		centre = (averages[middle-1] + averages[middle]) / 2
	}
	outside := rankQuantile(n, alpha)
	if outside < 0 {
		return centre, math.Inf(-1), math.Inf(1)
	}
	return centre, averages[outside], averages[len(averages)-1-outside]
}

// exactRanks is the number of differences up to which the distribution of the statistic is computed.
const exactRanks = 60

// rankQuantile returns the largest k such that the sum of the ranks of the positive differences is at most k with probability alpha or
// less; -1 if there is none.
func rankQuantile(n int, alpha float64) int {
	if n > exactRanks {
		size := float64(n)
		deviation := math.Sqrt(size * (size + 1) * (2*size + 1) / 24)
		return int(math.Floor(size*(size+1)/4 + distuv.UnitNormal.Quantile(alpha)*deviation - 0.5))
	}
	// probability[s] is the probability that the ranks so far sum to s.
	probability := make([]float64, n*(n+1)/2+1)
	probability[0] = 1
	for rank := 1; rank <= n; rank++ {
		for s := len(probability) - 1; s >= 0; s-- {
			probability[s] /= 2
			if s >= rank {
				probability[s] += probability[s-rank] / 2
			}
		}
	}
	sum := 0.0
	for k, p := range probability {
		if sum += p; sum > alpha {
			return k - 1
		}
	}
	return len(probability) - 1
}
