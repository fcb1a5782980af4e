package files

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// Source is the text of a file, with its name for diagnostics.
type Source = textlines.Source

// field is a word of a line.
type field = textlines.Field

// lines reads the lines of a file and collects diagnostics.
type lines struct{ textlines.Reader }

// newLines returns a reader of the lines of source.
func newLines(source Source) *lines { return &lines{*textlines.NewReader(source)} }

// isWord reports whether an action can have this name. Keywords are allowed, because Storm's
// keywords differ from PRISM's.
func isWord(name string) bool { return syntax.IsIdent(name) || syntax.IsKeyword(name) }

// The errors of parseNumber describe the expected number.
var (
	errNumber = errors.New("a finite number such as 0.25, 1e-3 or 1/3")
	errLarge  = errors.New("one that is not too large for a float64")
	errSmall  = errors.New("one that is not too small for a float64")
)

// maxDigits is the largest length of a number in bytes.
const maxDigits = 4096

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// parseValue parses a finite decimal number, or a fraction of two integers. If exact is set, the result has a
// fraction. Error messages name the number with noun.
func (lines *lines) parseValue(word field, noun string, exact bool) (number, bool) {
	value, err := parseNumber(word.Text, exact)
	if err != nil {
		lines.ErrorAt(word.Column, "found %s, wanted a %s, %v", textlines.Quote(word.Text), noun, err)
		return value, false
	}
	return value, true
}

// parseNumber parses a finite decimal number, or a fraction such as 1/3. If exact is set, the result also has the number as a fraction. The
// error describes what a correct number is, such as "a finite number such as 0.25".
func parseNumber(text []byte, exact bool) (number, error) {
	if len(text) > maxDigits {
		return number{}, fmt.Errorf("a number of at most %d characters", maxDigits)
	}
	if numerator, denominator, hasSlash := bytes.Cut(text, []byte("/")); hasSlash {
		isNatural := len(numerator) > 0 && onlyDigits(numerator)
		if !isNatural || !onlyDigits(denominator) {
			return number{}, errNumber
		}
		return parseFraction(text, exact)
	}
	return parseDecimal(text, exact)
}

// parseDecimal parses a decimal number. Its characters must be digits or one of .eE+-, which excludes texts such as "Inf" and "0x1". If
// exact is set, the result also has the number as a fraction.
func parseDecimal(text []byte, exact bool) (number, error) {
	if len(bytes.Trim(text, "0123456789.eE+-")) > 0 {
		return number{}, errNumber
	}
	float, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && math.IsInf(float, 0):
		return number{}, errLarge
	case err != nil:
		return number{}, errNumber
	case float == 0 && hasNonzeroDigit(text):
		return number{}, errSmall
	}
	value := number{float: float}
	if exact {
		fraction, ok := new(big.Rat).SetString(string(text))
		if !ok {
			return number{}, errNumber
		}
		value.fraction = fraction
	}
	return value, nil
}

// hasNonzeroDigit reports whether the mantissa of a decimal number has a nonzero digit.
func hasNonzeroDigit(text []byte) bool {
	for _, char := range text {
		if char == 'e' || char == 'E' {
			return false
		}
		if char >= '1' && char <= '9' {
			return true
		}
	}
	return false
}

// onlyDigits reports whether all characters of a text are decimal digits.
func onlyDigits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(char rune) bool { return char < '0' || char > '9' })
}

// parseFraction parses a fraction of two natural numbers, such as 1/3. Its value must be in the range of a float64. If exact is set, the
// result also has the fraction.
func parseFraction(text []byte, exact bool) (number, error) {
	fraction, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return number{}, errNumber
	}
	value := number{}
	value.float, _ = fraction.Float64()
	switch {
	case math.IsInf(value.float, 0):
		return value, errLarge
	case value.float == 0 && fraction.Sign() != 0:
		return value, errSmall
	}
	if exact {
		value.fraction = fraction
	}
	return value, nil
}
