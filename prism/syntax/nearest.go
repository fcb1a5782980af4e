package syntax

import "iter"

// Nearest returns the declared name with the smallest edit distance to a misspelled one, the first
// of several; "" if every distance is more than two.
func Nearest(name string, declared iter.Seq[string]) string {
	best, bestDistance := "", 3
	for candidate := range declared {
		if len(candidate) > len(name)+2 || len(name) > len(candidate)+2 {
			continue
		}
		if edits := editDistance(name, candidate); edits < bestDistance && edits < len(name) {
			best, bestDistance = candidate, edits
		}
	}
	return best
}

// editDistance returns the Damerau-Levenshtein distance of two words: the number of letters to
// insert, delete, replace or swap with their neighbour to turn a into b.
func editDistance(a, b string) int {
	twoRowsBack := make([]int, len(b)+1)
	previousRow := make([]int, len(b)+1)
	row := make([]int, len(b)+1) // row[j] is the distance of a[:i] and b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		twoRowsBack, previousRow, row = previousRow, row, twoRowsBack
		row[0] = i + 1
		for j := range len(b) {
			replaceCost := 1
			if a[i] == b[j] {
				replaceCost = 0
			}
			row[j+1] = min(row[j]+1, previousRow[j+1]+1, previousRow[j]+replaceCost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoRowsBack[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
