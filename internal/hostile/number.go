package hostile

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

// writer writes numbers and conditions in forms for which float64 arithmetic gives wrong results.
type writer struct {
	*rand.Rand
	level  Level
	kind   string
	consts []string
	limit  [2]int // greatest value of each variable; -1 if the model does not have the variable
}

// one returns true with probability 1/n.
func (w *writer) one(n int) bool { return w.IntN(n) == 0 }

// nasty returns true with probability 1/n for models that are not Plain. It is for numbers that plain models do not have.
func (w *writer) nasty(n int) bool { return w.one(n) && w.level != Plain }

// form returns a random number below n, which selects a form of a number. For models that are not Hostile it returns n, which selects the plain
// form. It draws a random number in both cases, so that the models of one seed differ only in the forms.
func (w *writer) form(n int) int {
	k := w.IntN(n)
	if w.level != Hostile {
		return n
	}
	return k
}

// pick returns a random one of several values.
func pick[T any](w *writer, values ...T) T { return values[w.IntN(len(values))] }

// trick returns a comparison of numbers that is true or false, as truth says. With float64 arithmetic most of them have the other truth value.
func (w *writer) trick(truth bool) string {
	right := []string{
		"0.1+0.2=0.3", "0.1*3=0.3", "1e16+1>1e16", "1-1e-17<1", "floor(0.29*100)=29", "1e-400>0", "(1/49)*49=1",
		"1e308*10>1e308", "ceil(0.1*3*10)=3", "1e-320*0.1<1e-320", "0.3-0.2-0.1=0", "1/3+1/3+1/3=1", "floor(1-1e-17)=0",
		"pow(0.1,2)=0.01", "round(0.5-1e-17)=0", "(1e17+1)-1e17=1", "1.1*1.1=1.21", "1e-17*1e17=1",
	}
	wrong := []string{
		"0.1+0.2>0.3", "0.1*3!=0.3", "1e16+1=1e16", "1-1e-17=1", "floor(0.29*100)=28", "1e-400=0", "(1/49)*49<1",
		"ceil(0.1*3*10)=4", "0.3-0.2-0.1<0", "1.1*1.1>1.21", "1e-17*1e17!=1", "1e310<=1e309",
	}
	if truth {
		return pick(w, right...)
	}
	return pick(w, wrong...)
}

// maxDigits is the largest number of digits that decimal writes.
const maxDigits = 45

// decimal returns a number in decimal notation. ok is false if it needs more than maxDigits digits or infinitely many.
func decimal(x *big.Rat) (text string, ok bool) {
	digits, places, ok := digitsOf(x)
	switch {
	case !ok || len(digits) > maxDigits:
		return "", false
	case places == 0 && len(digits) < 10:
		return digits, true
	case places > 0 && places < 8 && len(digits) > places:
		return digits[:len(digits)-places] + "." + digits[len(digits)-places:], true
	case places > 0 && places < 8:
		return "0." + strings.Repeat("0", places-len(digits)) + digits, true
	}
	return fmt.Sprintf("%se%d", digits, -places), true
}

// digitsOf returns the decimal digits of a number, of which the last places are behind the point. ok is false if there are infinitely many. It
// leaves out zeros at the end, but only behind the point or of an integer with more than nine digits.
func digitsOf(x *big.Rat) (digits string, places int, ok bool) {
	numerator, denominator := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	for _, prime := range []int64{2, 5} { // multiply by 10/prime until the denominator is not divisible by the prime
		for {
			quotient, remainder := new(big.Int).QuoRem(denominator, big.NewInt(prime), new(big.Int))
			if remainder.Sign() != 0 {
				break
			}
			denominator = quotient
			numerator.Mul(numerator, big.NewInt(10/prime))
			places++
		}
	}
	if !denominator.IsInt64() || denominator.Int64() != 1 {
		return "", 0, false
	}
	digits = numerator.String()
	for len(digits) > 1 && strings.HasSuffix(digits, "0") && (places > 0 || len(digits) > 9) {
		digits, places = digits[:len(digits)-1], places-1
	}
	return digits, places, true
}

// plain returns a number as a decimal, as a quotient, or as one minus a number if that is shorter.
func plain(x *big.Rat) string {
	if x.Sign() < 0 {
		return "(0-" + plain(new(big.Rat).Neg(x)) + ")"
	}
	if text, ok := decimal(x); ok {
		return text
	}
	if rest := sub(rat(1, 1), x); rest.Sign() > 0 && short(rest) && !short(x) {
		return "(1-" + plain(rest) + ")"
	}
	return "(" + whole(x.Num()) + "/" + whole(x.Denom()) + ")"
}

// short reports whether decimal can write a number, or its numerator and its denominator.
func short(x *big.Rat) bool {
	if _, ok := decimal(x); ok {
		return true
	}
	_, isShortNumerator := decimal(new(big.Rat).SetInt(x.Num()))
	_, isShortDenominator := decimal(new(big.Rat).SetInt(x.Denom()))
	return isShortNumerator && isShortDenominator
}

// whole returns an integer. It writes an integer that may not fit in 32 bits as a double.
func whole(integer *big.Int) string {
	text, ok := decimal(new(big.Rat).SetInt(integer))
	if !ok {
		text = integer.String()
	}
	if len(text) > 9 && !strings.Contains(text, "e") {
		text += ".0"
	}
	return text
}

// number returns an expression for a number, in a random form. If at is not nil, the expression may use the variables and has the right value only if
// the variables have these values.
func (w *writer) number(x *big.Rat, at *[2]int) string {
	switch w.form(22) {
	case 0:
		summand := pick(w, "1e16", "1e17", "1", "0.1", "1e-17", "1e-9", "1e9")
		return fmt.Sprintf("((%s+%s)-%s)", plain(x), summand, summand)
	case 1:
		return "(1-" + w.named(plain(sub(rat(1, 1), x))) + ")"
	case 2:
		factor := pick(w, "1e-9", "1e9", "3", "0.1", "49", "1e-150")
		return fmt.Sprintf("(%s*%s)", plain(quo(x, parseNumber(factor))), factor)
	case 3:
		divisor := pick(w, "1e-9", "1e9", "3", "0.1", "49")
		return fmt.Sprintf("(%s/%s)", plain(mul(x, parseNumber(divisor))), divisor)
	case 4:
		return w.conditional(x)
	case 5:
		summand := pick(w, "1e-17", "1e-320", "1e-9", "1e-400", "1")
		return fmt.Sprintf("(%s(%s,%s*1)%s)", pick(w, "min", "max"), plain(x), plain(x), w.nothing(summand))
	case 6:
		difference := parseNumber(pick(w, "1e-17", "1e-9", "1e-30", "2"))
		return fmt.Sprintf("min(%s,%s)", plain(x), plain(add(x, difference)))
	case 7:
		return w.named(w.number(x, nil))
	case 8:
		return fmt.Sprintf("(%[1]s+%[1]s)", plain(quo(x, rat(2, 1))))
	case 9:
		return power(x)
	case 10:
		if at != nil {
			return w.local(x, *at)
		}
	case 11:
		return fmt.Sprintf("(%[1]s+%[1]s+%[1]s)", plain(quo(x, rat(3, 1))))
	case 12:
		if w.one(4) { // leaves the doubles on the way
			factor := pick(w, "1e308", "1e200")
			return fmt.Sprintf("(%[1]s*%[2]s*%[2]s/%[2]s/%[2]s)", plain(x), factor)
		}
	}
	return plain(x)
}

// conditional returns a conditional expression that chooses a number by a trick.
func (w *writer) conditional(x *big.Rat) string {
	truth := w.one(2)
	other := pick(w, "0", "1", "0.5")
	if truth {
		return fmt.Sprintf("(%s ? %s : %s)", w.trick(true), plain(x), other)
	}
	return fmt.Sprintf("(%s ? %s : %s)", w.trick(false), other, plain(x))
}

// power returns a number as a power: of 0.1 if it is such a power, otherwise of itself.
func power(x *big.Rat) string {
	if text, ok := decimal(x); ok {
		if exponent, isPowerOfTen := strings.CutPrefix(text, "1e-"); isPowerOfTen {
			return fmt.Sprintf("pow(0.1,%s)", exponent)
		}
	}
	return fmt.Sprintf("pow(%s,1)", plain(x))
}

// nothing returns a text that adds zero to an expression: it is empty, or adds a number minus itself.
func (w *writer) nothing(number string) string {
	if w.one(2) {
		return ""
	}
	return "+(" + number + "-" + number + ")"
}

// literal returns an expression for a number in a property. It uses no new constants, and has parentheses unless it is one token.
func (w *writer) literal(x *big.Rat) string {
	numConsts := len(w.consts)
	for {
		text := w.number(x, nil)
		if len(w.consts) > numConsts {
			w.consts = w.consts[:numConsts]
			continue
		}
		if strings.ContainsAny(text, "+-*/(") && text[0] != '(' {
			return "(" + text + ")"
		}
		return text
	}
}

// named declares a constant with this value and returns its name.
func (w *writer) named(text string) string {
	name := fmt.Sprintf("c%d", len(w.consts)+1)
	w.consts = append(w.consts, fmt.Sprintf("const double %s = %s;", name, text))
	return name
}

// variable returns the name of variable k.
func variable(k int) string { return string("xy"[k]) }

// local returns an expression that has the value x if the variables have the values at.
func (w *writer) local(x *big.Rat, at [2]int) string {
	k := 0
	if w.limit[1] >= 0 {
		k = w.IntN(2)
	}
	v, i := variable(k), at[k]
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf("(%s+(%s-%d)*%s)", plain(x), v, i, pick(w, "0.1", "1e16", "1e-17"))
	case 1:
		return fmt.Sprintf("(%s ? %s : 0.5)", w.is(k, i), plain(x))
	case 2:
		return fmt.Sprintf("(%s*(%s+1)/%d)", plain(x), v, i+1)
	}
	return fmt.Sprintf("((%s+1)*%s)", v, plain(quo(x, rat(int64(i)+1, 1))))
}

// is returns a condition that holds if variable k has the value i.
func (w *writer) is(k, i int) string {
	v := variable(k)
	switch w.form(16) {
	case 0:
		return fmt.Sprintf("%s*0.1=0.%d", v, i)
	case 1:
		return fmt.Sprintf("%s/10=0.%d", v, i)
	case 2:
		return fmt.Sprintf("%s/3=%d/3", v, i)
	case 3:
		return fmt.Sprintf("(%s+1e16)-1e16=%d", v, i)
	case 4:
		return fmt.Sprintf("%[1]s*1e-17<%[2]d.5e-17 & %[1]s*1e-17>%[3]de-18", v, i, 10*i-5)
	case 5:
		return fmt.Sprintf("floor(%s+1e-17)=%d & ceil(%s-1e-17)=%d", v, i, v, i)
	case 6:
		return fmt.Sprintf("0.1*%s+0.2=%s", v, plain(add(rat(int64(i), 10), rat(1, 5))))
	case 7:
		return fmt.Sprintf("!(%[1]s<%[2]d | %[1]s>%[2]d)", v, i)
	case 8:
		return fmt.Sprintf("%s*1.1=%s", v, plain(rat(int64(i)*11, 10)))
	case 9:
		return fmt.Sprintf("round(%s*0.1*10)=%d & %s", v, i, w.trick(true))
	case 10:
		return fmt.Sprintf("(%s | %s=%d)", w.trick(false), v, i)
	}
	return fmt.Sprintf("%s=%d", v, i)
}

// atMost returns a condition that holds if variable k is at most i.
func (w *writer) atMost(k, i int) string {
	v := variable(k)
	switch w.form(8) {
	case 0:
		return fmt.Sprintf("%s*0.1<=0.%d", v, i)
	case 1:
		return fmt.Sprintf("%s<%d+1e-17", v, i)
	case 2:
		return fmt.Sprintf("%s/49<=%d/49", v, i)
	case 3:
		return fmt.Sprintf("%s*1e-320<=%de-320", v, i)
	case 4:
		return fmt.Sprintf("!(0.1*%s+0.2>%s)", v, plain(add(rat(int64(i), 10), rat(1, 5))))
	}
	return fmt.Sprintf("%s<=%d", v, i)
}

// set is a condition on the variables.
type set struct {
	text string
	in   func(at [2]int) bool
}

// some returns a random condition on the variables, with operators nested up to depth. If only is not negative, it is on this variable alone.
func (w *writer) some(depth, only int) set {
	k := only
	if k < 0 {
		k = 0
		if w.limit[1] >= 0 {
			k = w.IntN(2)
		}
	}
	i := w.IntN(w.limit[k] + 1)
	if depth > 0 && w.one(3) {
		a, b := w.some(depth-1, only), w.some(depth-1, only)
		switch w.IntN(3) {
		case 0:
			return set{"(" + a.text + " | " + b.text + ")", func(at [2]int) bool { return a.in(at) || b.in(at) }}
		case 1:
			return set{"(" + a.text + " & " + b.text + ")", func(at [2]int) bool { return a.in(at) && b.in(at) }}
		}
		return set{"!(" + a.text + ")", func(at [2]int) bool { return !a.in(at) }}
	}
	switch w.IntN(12) {
	case 0:
		if w.level != Hostile {
			return set{"true", func([2]int) bool { return true }}
		}
		return set{w.trick(true), func([2]int) bool { return true }}
	case 1, 2, 3, 4:
		return set{"(" + w.atMost(k, i) + ")", func(at [2]int) bool { return at[k] <= i }}
	}
	return set{"(" + w.is(k, i) + ")", func(at [2]int) bool { return at[k] == i }}
}
