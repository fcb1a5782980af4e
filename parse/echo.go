package parse

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
)

// Echoes reports whether PRISM's output about this property belongs to a property with the given name, text and values of constants. PRISM omits
// constants that have a single value in the run.
func (p *Property) Echoes(name, text string, constants []result.Constant) bool {
	if withoutBlank(p.Text) != withoutBlank(text) || p.Name != "" && p.Name != name {
		return false
	}
	for _, printed := range slices.Concat(p.Model, p.Constants) {
		i := slices.IndexFunc(constants, func(constant result.Constant) bool { return constant.Name == printed.Name })
		if i >= 0 && !sameValue(printed.Value, constants[i].Value) {
			return false
		}
	}
	return true
}

// withoutBlank returns a property without the blank behind a coalition.
func withoutBlank(text string) string {
	return strings.NewReplacer(">> ", ">>", "]] ", "]]").Replace(text)
}

// sameValue compares values as numbers, to 12 significant digits. Other texts must be equal.
func sameValue(first, second string) bool {
	firstNumber, firstOK := new(big.Rat).SetString(first)
	secondNumber, secondOK := new(big.Rat).SetString(second)
	if first == second || !firstOK || !secondOK {
		return first == second
	}
	return twelveDigits(firstNumber) == twelveDigits(secondNumber)
}

// twelveDigits returns the decimal text of a number with 12 significant digits.
func twelveDigits(number *big.Rat) string {
	nearest, _ := number.Float64()
	return strconv.FormatFloat(nearest, 'g', 12, 64)
}
