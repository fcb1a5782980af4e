package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// tileModel returns a model of about 1 MB in the style of a generated 4x4 2048
// game: one command per row, direction and pattern of tiles.
func tileModel() []byte {
	var b strings.Builder
	b.WriteString("mdp\n\nconst int MAX = 11;\nconst double p4 = 0.1;\n\nmodule board\n  turn : [0..2] init 0;\n")
	for row := range 4 {
		for col := range 4 {
			fmt.Fprintf(&b, "  x%d%d : [0..MAX] init 0; // tile\n", row, col)
		}
	}
	for row := range 4 {
		for pattern := range 1000 {
			x := func(col int) string { return fmt.Sprintf("x%d%d", row, col) }
			fmt.Fprintf(&b, "  [left] turn=0 & %s=%d & %s=%d & (%s>%d | %s!=%s) & !(%s=MAX) -> ",
				x(0), pattern%11, x(1), pattern%7, x(2), pattern%5, x(2), x(3), x(0))
			fmt.Fprintf(&b, "(1-p4)/2:(%s'=min(%s+1,MAX)) & (%s'=0) & (turn'=1) + (1-p4)/2:(%s'=%s) & (turn'=1) + p4:(turn'=2);\n",
				x(0), x(0), x(1), x(2), x(3))
		}
	}
	b.WriteString("endmodule\n\nlabel \"won\" = x00=MAX | x01=MAX | x02=MAX | x03=MAX;\n\nrewards \"moves\"\n  [left] true : 1;\nendrewards\n")
	return []byte(b.String())
}

func BenchmarkParseModel(b *testing.B) {
	src := tileModel()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.ParseModel("board.prism", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrintModel(b *testing.B) {
	src := tileModel()
	m, err := syntax.ParseModel("board.prism", src)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		if err := syntax.Fprint(&out, m, syntax.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Time per byte must not grow with the length of the input.
func BenchmarkParseGarbage(b *testing.B) {
	for _, text := range []string{"[", "(", "!", "a=1;", "R=?[S=?[", "x ", "@", "F<=5 R(", "module m [] a -> (s'="} {
		for _, size := range []int{1 << 17, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", text, size), func(b *testing.B) {
				src := []byte(strings.Repeat(text, size/len(text)))
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					_, _ = syntax.ParseProperties("garbage.props", src)
					_, _ = syntax.ParseModel("garbage.prism", src)
				}
			})
		}
	}
}
