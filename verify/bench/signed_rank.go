package bench

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// maxPairs is the largest number of differences that signedRank uses. They have 8 million averages.
const maxPairs = 4000

// signedRank returns the Hodges-Lehmann estimate of the centre of differences, which is the median of the averages of all pairs, and bounds of the
// centre. Each bound is wrong with probability at most alpha. The bounds are infinite if there are too few differences.
//
// The method assumes that the differences are symmetric about the centre. The random order of the two runs of a pair ensures this.
//
// Source: Hollander, Wolfe and Chicken, Nonparametric statistical methods, 3.1 to 3.3 (Wilcoxon's signed rank test).
func signedRank(differences []float64, alpha float64) (centre, lower, upper float64) {
	if len(differences) == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1)
	}
	differences = sampleEvenly(differences)
	averages := make([]float64, 0, len(differences)*(len(differences)+1)/2)
	for i, difference := range differences {
		for _, other := range differences[i:] {
			averages = append(averages, (difference+other)/2)
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

// sampleEvenly returns at most maxPairs of the differences, evenly distributed over the list.
func sampleEvenly(differences []float64) []float64 {
	if len(differences) <= maxPairs {
		return differences
	}
	selected := make([]float64, maxPairs)
	for i := range selected {
		selected[i] = differences[i*len(differences)/maxPairs]
	}
	return selected
}

// maxExactRanks is the number of differences up to which rankQuantile computes the exact distribution. For more, it uses the normal approximation.
const maxExactRanks = 60

// rankQuantile returns the largest number q with P(statistic <= q) <= alpha; -1 if there is none. The statistic is Wilcoxon's: the sum of the ranks of the
// positive differences.
func rankQuantile(numDifferences int, alpha float64) int {
	if numDifferences > maxExactRanks {
		return normalRankQuantile(float64(numDifferences), alpha)
	}
	cumulated := 0.0
	probabilities := rankProbabilities(numDifferences)
	for rankSum, probability := range probabilities {
		cumulated += probability
		if cumulated > alpha {
			return rankSum - 1
		}
	}
	return len(probabilities) - 1
}

// normalRankQuantile approximates rankQuantile by the normal distribution with the same mean and variance.
func normalRankQuantile(count, alpha float64) int {
	mean := count * (count + 1) / 4
	deviation := math.Sqrt(count * (count + 1) * (2*count + 1) / 24)
	return int(math.Floor(mean + mathext.NormalQuantile(alpha)*deviation - 0.5))
}

// rankProbabilities returns the exact distribution of the signed-rank statistic: the probability of each sum of positive ranks.
func rankProbabilities(numRanks int) []float64 {
	probabilities := make([]float64, numRanks*(numRanks+1)/2+1)
	probabilities[0] = 1
	for rank := 1; rank <= numRanks; rank++ { // each rank is positive with probability 1/2
		for rankSum := len(probabilities) - 1; rankSum >= 0; rankSum-- {
			probabilities[rankSum] /= 2
			if rankSum >= rank {
				probabilities[rankSum] += probabilities[rankSum-rank] / 2
			}
		}
	}
	return probabilities
}
