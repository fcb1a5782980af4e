package parse

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
)

// Echoes reports whether this is PRISM's answer about the property with that name and text under these values of the
// constants. PRISM prints the text unchanged, omits constants that have a single value in the run, and prints doubles with 12
// significant digits. Behind a coalition PRISM prints a blank, and PRISM-games none.
func (p *Property) Echoes(name, text string, constants []result.Constant) bool {
	if withoutBlank(p.Text) != withoutBlank(text) || p.Name != "" && p.Name != name {
		return false
	}
	for _, said := range slices.Concat(p.Model, p.Constants) {
		i := slices.IndexFunc(constants, func(c result.Constant) bool { return c.Name == said.Name })
		if i >= 0 && !sameValue(said.Value, constants[i].Value) {
			return false
		}
	}
	return true
}

// withoutBlank returns a property without the blank behind a coalition.
func withoutBlank(text string) string {
	return strings.NewReplacer(">> ", ">>", "]] ", "]]").Replace(text)
}

// sameValue compares values as numbers, to 12 significant digits. In exact mode PRISM prints fractions.
func sameValue(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if a == b || !okX || !okY {
		return a == b
	}
	return twelveDigits(x) == twelveDigits(y)
}

func twelveDigits(x *big.Rat) string {
	f, _ := x.Float64()
	return strconv.FormatFloat(f, 'g', 12, 64)
}
