package bench

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxPairs is the largest number of differences that signedRank uses. They have 8 million averages.
const maxPairs = 4000

// signedRank returns the Hodges-Lehmann estimate of the centre of differences: the median of the averages of all pairs. Each bound of the centre is
// wrong with probability at most alpha. The bounds are infinite if there are too few differences.
//
// The method assumes that the differences are symmetric about the centre. The random order of the two runs of a pair ensures this.
//
// Source: Hollander, Wolfe and Chicken, Nonparametric statistical methods, 3.1 to 3.3 (Wilcoxon's signed rank test).
func signedRank(differences []float64, alpha float64) (centre, lower, upper float64) {
	if len(differences) == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	differences = thinOut(differences)
	averages := make([]float64, 0, len(differences)*(len(differences)+1)/2)
	for i, first := range differences {
		for _, second := range differences[i:] {
			averages = append(averages, (first+second)/2)
		}
	}
	slices.Sort(averages)
	middle := len(averages) / 2
	centre = averages[middle]
	if len(averages)%2 == 0 {
		centre = (averages[middle-1] + averages[middle]) / 2
	}
	excluded := rankQuantile(len(differences), alpha) // the number of averages that each bound excludes
	if excluded < 0 {
		return centre, math.Inf(-1), math.Inf(1)
	}
	return centre, averages[excluded], averages[len(averages)-1-excluded]
}

// thinOut returns at most maxPairs of the differences, evenly distributed over the list.
func thinOut(differences []float64) []float64 {
	if len(differences) <= maxPairs {
		return differences
	}
	selected := make([]float64, maxPairs)
	for i := range selected {
		selected[i] = differences[i*len(differences)/maxPairs]
	}
	return selected
}

// exactRanks is the number of differences up to which rankQuantile computes the exact distribution. For more, it uses the normal approximation.
const exactRanks = 60

// rankQuantile returns a quantile of Wilcoxon's signed-rank statistic: the sum of the ranks of the positive differences. It is the largest number q
// with P(statistic <= q) <= alpha; -1 if there is none.
func rankQuantile(numDifferences int, alpha float64) int {
	if numDifferences > exactRanks {
		return normalRankQuantile(float64(numDifferences), alpha)
	}
	total := 0.0
	probabilities := rankProbabilities(numDifferences)
	for sum, probability := range probabilities {
		total += probability
		if total > alpha {
			return sum - 1
		}
	}
	return len(probabilities) - 1
}

// normalRankQuantile approximates rankQuantile by the normal distribution with the same mean and variance.
func normalRankQuantile(count, alpha float64) int {
	mean := count * (count + 1) / 4
	deviation := math.Sqrt(count * (count + 1) * (2*count + 1) / 24)
	return int(math.Floor(mean + distuv.UnitNormal.Quantile(alpha)*deviation - 0.5))
}

// rankProbabilities returns the exact distribution of the signed-rank statistic: the probability of each sum of positive ranks.
func rankProbabilities(numDifferences int) []float64 {
	probability := make([]float64, numDifferences*(numDifferences+1)/2+1)
	probability[0] = 1
	for rank := 1; rank <= numDifferences; rank++ { // each rank is positive with probability 1/2
		for sum := len(probability) - 1; sum >= 0; sum-- {
			probability[sum] /= 2
			if sum >= rank {
				probability[sum] += probability[sum-rank] / 2
			}
		}
	}
	return probability
}
