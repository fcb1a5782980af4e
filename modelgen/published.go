package modelgen

// Published is one cell of the thesis's Table 3.6: an estimate of the probability of losing before Max is reached on a 4x4 board, from
// PublishedSamples simulated games.
type Published struct {
	Strategy string // a name of ThesisPolicies
	Policy   Policy
	Max      int
	Loss     float64 // probability, 0 to 1
	// HalfWidth is the half-width of the confidence interval at PublishedConfidence, as PRISM's CI method gave it.
	HalfWidth float64
	// Reproducible is false for the columns that the rules of the game contradict. UpdatesPublished give all of them; PublishedNote says more.
	Reproducible bool
}

const (
	// PublishedSamples is the number of games behind each cell of Table 3.6.
	PublishedSamples = 1000
	// PublishedConfidence is the confidence level of the intervals of Table 3.6. The thesis gives PRISM's parameter, 0.01.
	PublishedConfidence = 0.99
	// PublishedNote says where the columns of Table 3.6 come from.
	PublishedNote = "Only the column opposite of Table 3.6 follows from the rules of the game. " +
		"A model with two wrong updates, one of them printed in Table 3.5, gives all four: tilecheck gen --updates published."
)

// PublishedTable returns Table 3.6, column by column, by increasing Max.
//
// Source: thesis section 3.9, Table 3.6. Reproducible: 400,000 games for each cell on an independent implementation of the rules, and PRISM's
// simulator, reported in 2048-numbers.md.
func PublishedTable() []Published {
	type cell struct{ loss, halfWidth float64 }
	columns := [][]cell{
		{{0.138, 0.02811}, {0.537, 0.04063}, {0.873, 0.02714}, {0.971, 0.01368}, {0.997, 0.00446}},
		{{0.722, 0.03651}, {0.980, 0.01141}, {0.999, 0.00258}, {1, 0}, {1, 0}},
		{{0.010, 0.00811}, {0.134, 0.02776}, {0.583, 0.04018}, {0.965, 0.01498}, {0.998, 0.00364}},
		{{0.014, 0.00957}, {0.193, 0.03216}, {0.671, 0.03829}, {0.989, 0.00850}, {0.999, 0.00258}},
	}
	var table []Published
	for i, named := range ThesisPolicies() {
		for row, cell := range columns[i] {
			table = append(table, Published{
				Strategy: named.Name, Policy: named.Policy, Max: 128 << row,
				Loss: cell.loss, HalfWidth: cell.halfWidth, Reproducible: named.Name == "opposite",
			})
		}
	}
	return table
}
