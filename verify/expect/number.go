package expect

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

var (
	decimal  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	small    = regexp.MustCompile(`^[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,4})?$`)
	fraction = regexp.MustCompile(`^-?[0-9]+/[0-9]+$`)
	hex      = regexp.MustCompile(`^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+$`)
)

// double parses what Java's Double.parseDouble does: NaN, Infinity, decimal and
// hexadecimal numbers, with or without one of the suffixes d, D, f and F.
func double(text string) (float64, bool) {
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
	if !decimal.MatchString(text) && !hex.MatchString(text) {
		return 0, false
	}
	x, _ := strconv.ParseFloat(text, 64) // out of range: an infinity, as in Java
	return x, true
}

// quotient parses a double or the quotient of two.
func quotient(text string) (float64, bool) {
	i := strings.LastIndexByte(text, '/')
	if i < 0 {
		return double(text)
	}
	x, ok := double(text[:i])
	y, too := double(text[i+1:])
	return x / y, ok && too
}

// rational parses a decimal number or a fraction; it returns nil if the text is
// neither.
func rational(text string) *big.Rat {
	if !fraction.MatchString(text) && (!decimal.MatchString(text) || !small.MatchString(text)) {
		return nil
	}
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return x
}

// expression evaluates an expected value that is an expression over constants.
func expression(text string, r Rules) (sema.Value, error) {
	x, err := syntax.ParseExpr("", []byte(text))
	if err != nil {
		return sema.Value{}, invalid(text, err)
	}
	e, err := sema.ResolveConstant(x, r.Constants)
	if err != nil {
		return sema.Value{}, invalid(text, err)
	}
	v, exact, err := sema.EvalExact(e, nil)
	if err == nil && (!r.Exact || !exact) {
		v, err = sema.Eval(e, nil)
	}
	if err != nil {
		return sema.Value{}, invalid(text, err)
	}
	return v, nil
}

// invalid leaves out places, which are those in the text.
func invalid(text string, err error) error {
	reason := err.Error()
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		reason = list[0].Msg
	} else if e, ok := errors.AsType[*syntax.Error](err); ok {
		reason = e.Msg
	}
	return problem("Invalid RESULT specification %q: %s", text, reason)
}
