package bench

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxPairs is the largest number of differences that signedRank uses. They have 8 million averages.
const maxPairs = 4000

// signedRank returns the Hodges-Lehmann estimate of the centre of differences: the median of the averages of all pairs. It also returns a
// lower and an upper bound of the centre, each of which is wrong with at most the probability alpha. The bounds are infinite if there are too
// few differences.
//
// The method assumes only that the differences are symmetric about the centre. This holds because the order of the two runs of a pair is
// random.
//
// Source: Hollander, Wolfe and Chicken, Nonparametric statistical methods, 3.1 to 3.3 (Wilcoxon's signed rank test).
func signedRank(differences []float64, alpha float64) (centre, lower, upper float64) {
	n := len(differences)
	if n == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	if n > maxPairs {
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
	excluded := rankQuantile(n, alpha) // the number of averages that each bound excludes
	if excluded < 0 {
		return centre, math.Inf(-1), math.Inf(1)
	}
	return centre, averages[excluded], averages[len(averages)-1-excluded]
}

// exactRanks is the number of differences up to which rankQuantile computes the exact distribution. For more, it uses the normal approximation.
const exactRanks = 60

// rankQuantile returns a quantile of the signed-rank statistic, which is the sum of the ranks of the positive differences: the largest k such
// that the statistic is at most k with a probability of at most alpha. It returns -1 if there is no such k.
func rankQuantile(n int, alpha float64) int {
	if n > exactRanks {
		size := float64(n)
		deviation := math.Sqrt(size * (size + 1) * (2*size + 1) / 24)
		return int(math.Floor(size*(size+1)/4 + distuv.UnitNormal.Quantile(alpha)*deviation - 0.5))
	}
	// probability[s] is the probability that the positive ranks, of those that the loop has added, sum to s.
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
