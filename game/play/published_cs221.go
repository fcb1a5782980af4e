package play

// CS221 returns the results of Lewis, Powell and Sajnani: figure 9, and what section 6 says of the variable depth. Figures 6 to 8 are
// pictures without numbers.
func CS221() Document {
	row := func(name, depth, wonShare, seconds string) PublishedRow {
		return PublishedRow{
			Table: "figure 9", Name: name, Strategy: "expectimax:eval=cs221,depth=" + depth, Match: fullBoard(), Games: 500,
			Values: []Published{{Measure: WinShare, Tile: 2048, Text: wonShare}, {Measure: WinTime, Text: seconds}},
		}
	}
	distribution := PublishedRow{
		Table: "section 6", Name: "variable depth", Strategy: "expectimax:eval=cs221,depth=variable", Match: fullBoard(), Games: 500,
		Values: []Published{
			{Measure: ReachShare, Tile: 8192, Text: "0/500"},
			{Measure: LargestShare, Tile: 4096, Text: "30/500"},
			{Measure: LargestShare, Tile: 2048, Text: "68 %"},
			{Measure: LargestShare, Tile: 1024, Text: "23 %"},
			{Measure: LargestShare, Tile: 512, Text: "3 %"},
			{Measure: ReachShare, Tile: 512, Text: "500/500"},
		},
	}
	random := PublishedRow{
		Table: "section 4", Name: "random", Strategy: "random", Match: fullBoard(), Games: 1_000_000,
		Values: []Published{{Measure: WinShare, Tile: 2048, Text: "0/1000000"}},
	}
	return Document{
		Name:   "cs221",
		Source: "J. Lewis, A. Powell, J. Sajnani, 2048: An AI Agent, Stanford CS221, 2014",
		Rows: []PublishedRow{
			row("depth 3", "3", "11.0 %", "6.99"),
			row("depth 4", "4", "44.0 %", "214.00"),
			row("variable depth", "variable", "73.8 %", "68.82"),
			distribution,
			random,
		},
		Notes: []string{"section 4 reports the million random games of others"},
	}
}
