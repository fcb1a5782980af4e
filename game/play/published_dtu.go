package play

// DTU returns the tables of group 50's report.
func DTU() Document {
	const (
		precise = 200 // games beside rows of 10
		deep    = "the table of importance is a picture and the weights of the other criteria are not given; ours come closest at depths 2 and 3, and " +
			"reach 8192 less often at the larger ones; why is not known"
	)
	row := func(table, depth string, games int64, bestScore, speed, wonShare, reached4096, reached8192 string) PublishedRow {
		weights := map[string]string{"table 1": "diagonal", "table 2": "snake"}[table]
		note := ""
		if weights == "diagonal" && games == 10 {
			note = deep
		}
		return PublishedRow{
			Table: table, Name: weights + ", depth " + depth, Strategy: "expectimax:eval=" + weights + ",depth=" + depth, Match: fullBoard(),
			Games: games, Play: max(games, precise),
			Values: []Published{
				{Measure: BestScore, Text: bestScore, Note: note},
				{Measure: Speed, Text: speed},
				{Measure: WinShare, Tile: 2048, Text: wonShare},
				{Measure: ReachShare, Tile: 4096, Text: reached4096},
				{Measure: ReachShare, Tile: 8192, Text: reached8192, Note: note},
			},
		}
	}
	return Document{
		Name:   "dtu",
		Source: "E. Tao, L. Bredmose, S. Bach, F. Bentivoglio, Board Game Assignment, DTU 02180, 2021",
		Rows: []PublishedRow{
			row("table 1", "2", 1500, "71988", "35.003", "39.4 %", "20/1500", "0"),
			row("table 1", "3", 600, "57384", "7.597", "40.0 %", "4/600", "0"),
			row("table 1", "4", 10, "123864", "0.993", "100.0 %", "3/10", "3/10"),
			row("table 1", "adaptive", 10, "132940", "0.88", "100.0 %", "3/10", "2/10"),
			row("table 2", "2", 1500, "108248", "26.53", "72.34 %", "201/1500", "1/1500"),
			row("table 2", "3", 448, "80108", "4.11", "69.64 %", "73/280", "0/280"),
			row("table 2", "4", 10, "79968", "0.60", "90 %", "6/10", "0/10"),
			row("table 2", "adaptive", 10, "81332", "1.195", "100.0 %", "4/10", "0/10"),
		},
		Notes: []string{
			"4096 and 8192 are read as reached; the document may mean the largest tile at the end",
			"table 2, depth 3 says 448 games in one column and 280 in others; 69.64 % is 312/448 and 195/280",
		},
	}
}
