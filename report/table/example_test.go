package table_test

import (
	"fmt"
	"os"

	"tilecheck/report/table"
)

func ExampleTable() {
	t := &table.Table{Columns: []table.Column{
		{Name: "strategy"},
		{Name: "moves", Align: table.Right},
		{Name: "meaning", Min: 20},
	}}
	t.Append("random", 4, "every legal move is equally likely")
	t.Append("opposite", 1, "the first legal move of up, down, left, right")
	if err := t.Write(os.Stdout, table.Text, table.Options{Width: 50}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// strategy  moves  meaning
	// --------  -----  ---------------------------------
	// random        4  every legal move is equally
	//                  likely
	// opposite      1  the first legal move of up, down,
	//                  left, right
}
