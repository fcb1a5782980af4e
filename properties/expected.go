package properties

// Sources of the expected values.
const (
	numbers = "2048-numbers.md, exact values on small boards (PRISM and Storm agree)"
	rounded = "PRISM -exact, testdata/logs/prism/gen-final.log; 2048-numbers.md has it rounded"
)

// board returns a model on a square board with side rows, without a policy.
func board(side, max int, spawn string) Instance {
	return Instance{Rows: side, Cols: side, Max: max, Spawn: spawn, Policy: "none"}
}

// lossValues returns the known minimal probabilities of losing.
func lossValues() []Expected {
	return []Expected{
		{board(2, 8, "cell"), "0", numbers},
		{board(2, 16, "cell"), "909/1000000", rounded},
		{board(2, 32, "cell"), "910579999985109/1000000000000000", rounded},
		{board(2, 8, "uniform"), "0", numbers},
		{board(2, 16, "uniform"), "29990997/800000000", numbers},
		{board(2, 32, "uniform"), "7336901687427567/8000000000000000", numbers},
		{board(3, 32, "uniform"), "0", numbers},
	}
}

// successValues returns the known maximal probabilities of winning.
func successValues() []Expected {
	return []Expected{
		{board(2, 8, "cell"), "1", numbers},
		{board(2, 16, "cell"), "999091/1000000", rounded},
		{board(2, 32, "cell"), "89420000014891/1000000000000000", rounded},
		{board(2, 8, "uniform"), "1", numbers},
		{board(2, 16, "uniform"), "770009003/800000000", numbers},
		{board(2, 32, "uniform"), "663098312572433/8000000000000000", numbers},
		{board(3, 32, "uniform"), "1", numbers},
	}
}

// always returns the known value of a property that is the same for all models of Sizes.
func always(value, source string) []Expected {
	var values []Expected
	for _, size := range Sizes() {
		values = append(values, Expected{size.Instance, value, source})
	}
	return values
}

// Size is the known size of a state space. A state is a valuation of the cells and the phase.
type Size struct {
	Instance
	States, Choices, Transitions int64
	Source                       string
}

// Sizes returns the known sizes.
func Sizes() []Size {
	return []Size{
		{board(2, 8, "cell"), 155, 322, 406, numbers},
		{board(2, 16, "cell"), 399, 770, 978, numbers},
		{board(2, 32, "cell"), 755, 1334, 1722, numbers},
		{board(2, 8, "uniform"), 155, 287, 406, numbers},
		{board(2, 16, "uniform"), 399, 707, 978, numbers},
		{board(2, 32, "uniform"), 755, 1247, 1722, numbers},
		{board(3, 32, "uniform"), 1598448, 4032745, 5171248, numbers},
	}
}
