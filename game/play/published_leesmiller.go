package play

import (
	"fmt"

	"tilecheck/game"
)

// LeesMiller returns what the article says about optimal play: the values that are computed, and the same by playing the optimal policy.
func LeesMiller() Document {
	match := func(size, goal int) Match { return Match{Shape: game.Shape{Rows: size, Cols: size}, Goal: goal} }
	solved := func(size, goal int, values ...Published) PublishedRow {
		return PublishedRow{Table: "solved", Name: fmt.Sprintf("%dx%d to %d", size, size, game.Value(goal)), Match: match(size, goal), Values: values}
	}
	played := func(size, goal int, value string) PublishedRow {
		row := solved(size, goal, Published{Measure: WinValue, Text: value})
		row.Table, row.Strategy, row.Games = "played", "optimal", 10_000
		return row
	}
	unsolved := solved(4, 6, Published{Measure: WinValue, Text: "1"}, Published{Measure: ClassCount, Text: "about 40 billion"})
	unsolved.OutOfReach = true
	discounted := solved(4, 6, Published{Measure: WinValue, Text: "about 0.72"})
	discounted.Name, discounted.OutOfReach = "4x4 to 64, discount 0.99", true
	return Document{
		Name:   "lees-miller",
		Source: "J. Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, 2018",
		Rows: []PublishedRow{
			solved(2, 3, Published{Measure: WinValue, Text: "1.000"}, Published{Measure: States, Text: "70"}, Published{Measure: Transitions, Text: "530"}),
			solved(2, 4, Published{Measure: WinValue, Text: "0.96"}),
			solved(2, 5, Published{Measure: WinValue, Text: "about 8 %"}),
			solved(3, 9, Published{Measure: WinValue, Text: "about 74 %"}),
			solved(3, 10, Published{Measure: WinValue, Text: "about 1 %"}, Published{Measure: ClassCount, Text: "about 25 million"}),
			unsolved,
			discounted,
			played(2, 3, "1.000"),
			played(2, 4, "0.96"),
			played(2, 5, "about 8 %"),
			played(3, 9, "about 74 %"),
			played(3, 10, "about 1 %"),
		},
		Notes: []string{
			"70 states and 530 transitions count boards apart that are rotations or reflections of each other, all lost boards as one state and " +
				"all won ones as another, each with a transition to itself; the 25 million of 3x3 count such boards as one",
		},
	}
}
