package expect

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// parseDouble parses a number as Java's Double.parseDouble does. It accepts NaN, Infinity, hexadecimal numbers, and a suffix d, D, f or F.
func parseDouble(text string) (float64, bool) {
	switch text {
	case "NaN", "+NaN", "-NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if n := len(text); n > 0 && strings.IndexByte("dDfF", text[n-1]) >= 0 {
		text = text[:n-1]
	}
	if _, ok := isDecimal(text); !ok && !isHexadecimal(text) {
		return 0, false
	}
	number, _ := strconv.ParseFloat(text, 64) // a number out of range becomes an infinity, as in Java
	return number, true
}

// parseQuotient parses a double or a quotient of two doubles.
func parseQuotient(text string) (float64, bool) {
	i := strings.LastIndexByte(text, '/')
	if i < 0 {
		return parseDouble(text)
	}
	dividend, isDividend := parseDouble(text[:i])
	divisor, isDivisor := parseDouble(text[i+1:])
	return dividend / divisor, isDividend && isDivisor
}

// parseRational parses a decimal number or a fraction exactly. It returns nil if the text is neither, or if its exponent has too many digits.
func parseRational(text string) *big.Rat {
	const maxExponent = 4 // digits; big.Rat writes the power out
	exponent, ok := isDecimal(text)
	if !isFraction(text) && (!ok || exponent > maxExponent) {
		return nil
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return number
}

// evaluateExpression evaluates an expected value that is an expression over constants. With exact rules it computes in rational arithmetic if
// possible. It returns a Problem if the expression is invalid.
func evaluateExpression(text string, rules Rules) (sema.Value, error) {
	expr, err := syntax.ParseExpr("", []byte(text))
	if err != nil {
		return sema.Value{}, invalidSpecification(text, err)
	}
	constantExpr, err := sema.ResolveConstant(expr, rules.Constants)
	if err != nil {
		return sema.Value{}, invalidSpecification(text, err)
	}
	value, exact, err := sema.EvalExact(constantExpr, nil)
	if err == nil && (!rules.Exact || !exact) {
		value, err = sema.Eval(constantExpr, nil)
	}
	if err != nil {
		return sema.Value{}, invalidSpecification(text, err)
	}
	return value, nil
}

// invalidSpecification returns the Problem of an invalid expected value. It omits the positions in err, because they do not refer to the file.
func invalidSpecification(text string, err error) error {
	reason := err.Error()
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		reason = list[0].Msg
	} else if syntaxErr, ok := errors.AsType[*syntax.Error](err); ok {
		reason = syntaxErr.Msg
	}
	return problem("Invalid RESULT specification %q: %s", text, reason)
}
