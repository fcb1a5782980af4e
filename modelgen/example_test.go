package modelgen_test

import (
	"fmt"
	"strings"

	"tilecheck/modelgen"
	"tilecheck/prism/syntax"
)

// The guards of the smallest board: one row of two cells, until there is a 4.
func ExampleBuild() {
	model, err := modelgen.Build(modelgen.Config{Rows: 1, Cols: 2, Max: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	syntax.Inspect(model, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Command:
			fmt.Printf("[%s] %s\n", n.Action.Name, syntax.ExprString(n.Guard))
		case *syntax.FormulaDecl:
			fmt.Printf("%s = %s\n", n.Name.Name, syntax.ExprString(n.X))
		}
		return true
	})
	// Output:
	// [v_0_init] field_empty&phase=1
	// [v_1_init] field_empty&phase=1
	// [v_0] !field_empty&v_0=0&no_MAX&phase=1
	// [v_1] !field_empty&v_1=0&no_MAX&phase=1
	// [left] no_MAX&can_left&phase=0
	// [up] no_MAX&can_up&phase=0
	// [right] no_MAX&can_right&phase=0
	// [down] no_MAX&can_down&phase=0
	// [loss] fail
	// [victory] success
	// field_empty = v_0=0&v_1=0
	// field_full = v_0!=0&v_1!=0
	// no_MAX = v_0<=MAX/2&v_1<=MAX/2
	// success = v_0=MAX|v_1=MAX
	// fail = field_full&no_MAX&v_0!=v_1
	// tiles_row_0 = min(v_0, 1)+min(v_1, 1)
	// can_left = (v_1!=0&v_0=0)|(v_0!=0&v_0=v_1)
	// can_up = false
	// can_right = (v_0!=0&v_1=0)|(v_1!=0&v_1=v_0)
	// can_down = false
}

// Every field that is wrong is reported.
func ExampleConfig_Validate() {
	fmt.Println(modelgen.Config{Rows: 1, Cols: 1, Max: 20, P2: "90%"}.Validate())
	// Output:
	// board is 1x1, want 1 to 6 rows and columns and at least 2 cells
	// max is 20, want a power of two from 4 to 1073741824
	// p2 is "90%", want a decimal number above 0 and up to 1, such as 0.9
}

func ExampleParsePolicy() {
	for _, text := range []string{"random", "orthogonal", "alt:up,left,down,right/left,up,down,right", "pref:left,up"} {
		policy, err := modelgen.ParsePolicy(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(policy)
	}
	// Output:
	// random
	// pref:left,up,down,right
	// alt:up,left,down,right/left,up,down,right
	// policy is a list without right, want each of left, up, right, down once, separated by commas
}

// The thesis's measurements at 128, and whether the rules of the game bear them out.
func ExamplePublishedTable() {
	for _, p := range modelgen.PublishedTable() {
		if p.Max == 128 {
			fmt.Printf("%-11s %.3f +/- %.5f %t\n", p.Strategy, p.Loss, p.HalfWidth, p.Reproducible)
		}
	}
	// Output:
	// random      0.138 +/- 0.02811 false
	// opposite    0.722 +/- 0.03651 true
	// orthogonal  0.010 +/- 0.00811 false
	// alternating 0.014 +/- 0.00957 false
}

func ExampleConfig_Args() {
	fmt.Println(strings.Join(modelgen.Config{Rows: 4, Cols: 4, Max: 2048}.Args(), " "))
	// Output:
	// gen --kind=final --rows=4 --cols=4 --max=2048 --p2=0.9 --policy=none --spawn=cell
}
