package plot

import (
	"math"
	"strconv"
)

// probabilityTicks returns ticks at 0, 0.1, ..., 1. Each second tick has a name.
func probabilityTicks() []tick {
	ticks := make([]tick, 11)
	for i := range ticks {
		ticks[i].value = float64(i) / 10
		if i%2 == 0 {
			ticks[i].name = strconv.FormatFloat(ticks[i].value, 'f', 1, 64)
		}
	}
	return ticks
}

// setNumbers sets three to seven ticks at round numbers in the range of the axis. They are multiples of a step that is 1, 2 or 5 times a power of
// ten. It first widens a range with a single number.
func (a *axis) setNumbers() {
	if !(a.min < a.max) {
		a.min, a.max = a.min-max(1, math.Abs(a.min)/10), a.max+max(1, math.Abs(a.max)/10)
	}
	const maxTicks = 7
	step := 0.0
	// math.Pow(10, power) is 0 for power < -323. It is finite, because power is at most 308.
	for power := max(math.Floor(math.Log10(a.max/maxTicks-a.min/maxTicks)), -320); step == 0; power++ {
		for _, digit := range []float64{1, 2, 5} {
			candidate := digit * math.Pow(10, power)
			if first, last := a.multiples(candidate); last-first < maxTicks {
				step = candidate
				break
			}
		}
	}
	first, last := a.multiples(step)
	for i := range int(last-first) + 1 {
		value := (first+float64(i))*step + 0 // and not -0
		a.ticks = append(a.ticks, tick{value, number(value, step)})
	}
}

// multiples returns the range of the numbers whose product with step is between min and
// max, or beyond by a rounding.
func (a *axis) multiples(step float64) (first, last float64) {
	const rounding = 1e-9
	return math.Ceil(a.min/step - rounding), math.Floor(a.max/step + rounding)
}

// number writes a multiple of a step with the digits that it needs.
func number(x, step float64) string {
	if size := max(math.Abs(x), step); size >= 1e7 || step < 1e-6 {
		return strconv.FormatFloat(x, 'g', min(2+int(math.Log10(size/step)), 17), 64)
	}
	return strconv.FormatFloat(x, 'f', int(max(0, -math.Floor(math.Log10(step)+1e-9))), 64)
}
