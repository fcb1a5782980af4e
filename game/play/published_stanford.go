package play

import (
	"strings"

	"tilecheck/game"
)

// fullBoard is the match of the documents: 4x4, a win at 2048 is counted, and the game goes on.
func fullBoard() Match { return Match{Shape: game.Shape{Rows: 4, Cols: 4}, Goal: 11, PlayOn: true} }

const (
	// oneRunGames is how many games are played beside a single published one: with fewer, none could have been incompatible.
	oneRunGames = 2000
	// moreGames is how many games are played beside few published ones, so that ours are precise.
	moreGames = 2000
)

// Stanford returns the tables of Liu's report.
func Stanford() Document {
	const (
		games   = 100 // section 5.1
		samples = "Algorithm 1 takes the mean of its samples, and plays better than the table says, the more so the more samples there are; a program " +
			"that takes the best of them would fit, which is a guess"
	)
	sparse := func(table, name, spec, score, largest, half, full string) PublishedRow {
		note := ""
		if !strings.HasSuffix(spec, ",n=1") {
			note = samples
		}
		return PublishedRow{
			Table: table, Name: name, Strategy: spec, Match: fullBoard(), Games: games, Play: moreGames,
			Values: []Published{
				{Measure: MeanScore, Text: score, Note: note},
				{Measure: MeanLargest, Text: largest, Note: note},
				{Measure: LargestShare, Tile: 1024, Text: half, Note: note},
				{Measure: LargestShare, Tile: 2048, Text: full},
			},
		}
	}
	search := func(table, name, spec, score, largest string, reached ...string) PublishedRow {
		row := PublishedRow{
			Table: table, Name: name, Strategy: spec, Match: fullBoard(), Games: 1, Play: oneRunGames,
			Values: []Published{{Measure: BestScore, Text: score}, {Measure: BestTile, Text: largest}},
		}
		for i, text := range reached {
			row.Values = append(row.Values, Published{Measure: ReachShare, Tile: 1024 << i, Text: text})
		}
		return row
	}
	return Document{
		Name:   "stanford",
		Source: "T. Liu, Solving 2048 as a Markov Decision Process, Stanford AA228, 2019",
		Rows: []PublishedRow{
			sparse("table 1", "depth 1", "sparse:depth=1,n=1", "2030.2", "186.9", "0 %", "0 %"),
			sparse("table 1", "depth 2", "sparse:depth=2,n=1", "7065.2", "563.2", "20 %", "0 %"),
			sparse("table 1", "depth 3", "sparse:depth=3,n=1", "11339.9", "848.6", "53 %", "5 %"),
			sparse("table 1", "depth 4", "sparse:depth=4,n=1", "14637.1", "1052.2", "63 %", "15 %"),
			sparse("table 2", "1 sample", "sparse:depth=2,n=1", "7022.7", "549.1", "20 %", "0 %"),
			sparse("table 2", "2 samples", "sparse:depth=2,n=2", "7280.2", "559.4", "19 %", "0 %"),
			sparse("table 2", "3 samples", "sparse:depth=2,n=3", "7776.3", "609.3", "27 %", "0 %"),
			sparse("table 2", "4 samples", "sparse:depth=2,n=4", "7590.3", "586.2", "23 %", "0 %"),
			search("table 3", "10 samples", "mc:runs=10", "12160", "1024", "Yes", "No", "No"),
			search("table 3", "20 samples", "mc:runs=20", "23260", "2048", "Yes", "Yes", "No"),
			search("table 3", "30 samples", "mc:runs=30", "27388", "2048", "Yes", "Yes", "No"),
			search("table 3", "40 samples", "mc:runs=40", "35684", "2048", "Yes", "Yes", "No"),
			search("table 3", "50 samples", "mc:runs=50", "69664", "4096", "Yes", "Yes", "Yes"),
			search("table 4", "score", "mc:runs=10,value=score", "12160", "1024"),
			search("table 4", "maximum tile", "mc:runs=10,value=max", "2412", "256"),
			search("table 4", "sum of tiles", "mc:runs=10,value=sum", "16448", "1024"),
		},
		Together: map[string]string{"table 2": samples},
		Notes: []string{
			"tables 1 and 2: 100 games a row, depth 2 with one sample is in both; tables 3 and 4: one game a row",
			"tables 1 and 2: % 1024 and % 2048 are read as shares of largest tiles; were they shares of games that reached the tile, the mean largest " +
				"tiles of depths 3 and 4 would be 834.6 and 988.2 at most, less than printed, unless several games reached 4096",
			"table 4 does not say how many samples it used; 10 is where its first row has the score of table 3",
		},
	}
}
