package syntax

import "iter"

// Nearest returns the declared name with the smallest edit distance to a misspelled name. It returns the first of several such names, and "" if
// every distance is more than two.
func Nearest(name string, declared iter.Seq[string]) string {
	best, bestDistance := "", 3
	for candidate := range declared {
		if len(candidate) > len(name)+2 || len(name) > len(candidate)+2 { // the distance is more than two
			continue
		}
		if edits := editDistance(name, candidate); edits < bestDistance && edits < len(name) {
			best, bestDistance = candidate, edits
		}
	}
	return best
}

// editDistance returns the Damerau-Levenshtein distance of two words: the number of insertions, deletions, replacements and swaps of neighbours.
func editDistance(first, second string) int {
	twoRowsBack := make([]int, len(second)+1)
	previousRow := make([]int, len(second)+1)
	row := make([]int, len(second)+1) // row[j] is the distance of the first i letters of first and the first j letters of second
	for j := range row {
		row[j] = j
	}
	for i := range len(first) {
		twoRowsBack, previousRow, row = previousRow, row, twoRowsBack
		row[0] = i + 1
		for j := range len(second) {
			inserted, deleted, replaced := row[j]+1, previousRow[j+1]+1, previousRow[j]+1
			if first[i] == second[j] {
				replaced = previousRow[j]
			}
			row[j+1] = min(inserted, deleted, replaced)
			if i > 0 && j > 0 && first[i] == second[j-1] && first[i-1] == second[j] {
				swapped := twoRowsBack[j-1] + 1
				row[j+1] = min(row[j+1], swapped)
			}
		}
	}
	return row[len(second)]
}
