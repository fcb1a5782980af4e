package main

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// givenFlags has the names of the flags of the command line, without those of the environment.
type givenFlags map[string]bool

// checkedFlags lists what was given, and refuses values that mean nothing in any
// command: texts that are empty, times that are not positive, counts below 1,
// and numbers that are not positive or not finite. A flag whose tag "want" has an
// interval, such as [0,] or (0,1), accepts that instead; "any" accepts every text.
func checkedFlags(kctx *kong.Context) (givenFlags, error) {
	out := make(givenFlags)
	for _, p := range kctx.Path {
		v := p.Positional
		if p.Flag != nil {
			v = p.Flag.Value
			out[v.Name] = true
		}
		if v == nil || v.Tag.Get("want") == "any" {
			continue
		}
		if err := checkValue(v, v.Target); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkValue checks a value, or each of a list.
func checkValue(v *kong.Value, x reflect.Value) error {
	switch x.Kind() {
	case reflect.Pointer:
		return checkValue(v, x.Elem())
	case reflect.Slice:
		if x.Len() == 0 {
			return usageError("%s is empty, want at least one", flagName(v))
		}
		for i := range x.Len() {
			if err := checkValue(v, x.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String:
		if x.Len() == 0 {
			return usageError("%s is empty, want a text", flagName(v))
		}
	case reflect.Int, reflect.Int64:
		if want := allowedInterval(v, x); !want.contains(float64(x.Int())) {
			return usageError("%s is %v, want %s", flagName(v), x.Interface(), want.describe(x.Type()))
		}
	case reflect.Float64:
		if want := allowedInterval(v, x); !want.contains(x.Float()) {
			return usageError("%s is %v, want %s", flagName(v), x.Interface(), want.describe(x.Type()))
		}
	}
	return nil
}

func flagName(v *kong.Value) string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return "<" + v.Name + ">"
}

// numberInterval is an interval of numbers; open says which of its ends are left out.
type numberInterval struct {
	low, high         float64
	openLow, openHigh bool
}

// allowedInterval is the tag of a flag, or what its type suggests.
func allowedInterval(v *kong.Value, x reflect.Value) numberInterval {
	tag := v.Tag.Get("want")
	switch {
	case tag != "":
	case x.Kind() == reflect.Float64, x.Type() == reflect.TypeFor[time.Duration]():
		tag = "(0,]"
	default:
		tag = "[1,]"
	}
	low, high, _ := strings.Cut(tag[1:len(tag)-1], ",")
	s := numberInterval{high: math.Inf(1), openLow: tag[0] == '(', openHigh: strings.HasSuffix(tag, ")")}
	s.low, _ = strconv.ParseFloat(low, 64) // the tags are tested
	if high != "" {
		s.high, _ = strconv.ParseFloat(high, 64)
	}
	return s
}

func (s numberInterval) contains(x float64) bool {
	return !math.IsInf(x, 0) && (x > s.low || x == s.low && !s.openLow) && (x < s.high || x == s.high && !s.openHigh)
}

// describe says what a value of that type should be.
func (s numberInterval) describe(t reflect.Type) string {
	kind := "number"
	if t == reflect.TypeFor[time.Duration]() {
		kind = "duration"
	}
	switch {
	case !math.IsInf(s.high, 1) && s.openHigh:
		return fmt.Sprintf("a %s between %g and %g", kind, s.low, s.high)
	case !math.IsInf(s.high, 1) && s.openLow:
		return fmt.Sprintf("a %s above %g and at most %g", kind, s.low, s.high)
	case !math.IsInf(s.high, 1):
		return fmt.Sprintf("%g to %g", s.low, s.high)
	case s.openLow:
		return "a positive " + kind
	case kind == "duration":
		return "none that is negative"
	}
	return fmt.Sprintf("at least %g", s.low)
}

// refuseFlags refuses flags that were given although they have no effect in this
// run. why goes on after "has no effect".
func (c *invocation) refuseFlags(off bool, why string, flags ...string) error {
	if !off {
		return nil
	}
	for _, name := range flags {
		if c.given[name] {
			return usageError("--%s has no effect %s", name, why)
		}
	}
	return nil
}
