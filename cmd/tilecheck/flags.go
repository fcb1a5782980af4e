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

// givenFlags is the set of the flags that the command line has; flags set by environment variables are not in it.
type givenFlags map[string]bool

// checkedFlags returns which flags the command line has. It returns a usage error for values that no command
// accepts: empty texts, times that are not positive, counts below 1, and numbers that are not
// positive or not finite. A flag with an interval in its tag "want", such as [0,] or (0,1), accepts
// the numbers of the interval instead; the tag "any" accepts every text.
func checkedFlags(kctx *kong.Context) (givenFlags, error) {
	found := make(givenFlags)
	for _, element := range kctx.Path {
		flag := element.Positional
		if element.Flag != nil {
			flag = element.Flag.Value
			found[flag.Name] = true
		}
		if flag == nil || flag.Tag.Get("want") == "any" {
			continue
		}
		if err := checkValue(flag, flag.Target); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// checkValue checks a value of a flag or argument, or each element of a list.
func checkValue(flag *kong.Value, value reflect.Value) error {
	switch value.Kind() {
	case reflect.Pointer:
		return checkValue(flag, value.Elem())
	case reflect.Slice:
		if value.Len() == 0 {
			return usageError("%s is empty, want at least one", flagName(flag))
		}
		for i := range value.Len() {
			if err := checkValue(flag, value.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String:
		if value.Len() == 0 {
			return usageError("%s is empty, want a text", flagName(flag))
		}
	case reflect.Int, reflect.Int64:
		return checkNumber(flag, value, float64(value.Int()))
	case reflect.Float64:
		return checkNumber(flag, value, value.Float())
	}
	return nil
}

// checkNumber checks that the number of a flag is in the interval that the flag allows.
func checkNumber(flag *kong.Value, value reflect.Value, number float64) error {
	allowed := allowedInterval(flag, value)
	if !allowed.contains(number) {
		return usageError("%s is %v, want %s", flagName(flag), value.Interface(), allowed.describe(value.Type()))
	}
	return nil
}

// flagName returns a flag or argument as error messages name it: --prop or <model>.
func flagName(flag *kong.Value) string {
	if flag.Flag != nil {
		return "--" + flag.Name
	}
	return "<" + flag.Name + ">"
}

// numberInterval is an interval of numbers. An open end is not in the interval.
type numberInterval struct {
	low, high         float64
	openLow, openHigh bool
}

// allowedInterval returns the interval in the tag of a flag or, without one, the default of its type.
func allowedInterval(flag *kong.Value, value reflect.Value) numberInterval {
	tag := flag.Tag.Get("want")
	switch {
	case tag != "":
	case value.Kind() == reflect.Float64, value.Type() == reflect.TypeFor[time.Duration]():
		tag = "(0,]"
	default:
		tag = "[1,]"
	}
	low, high, _ := strings.Cut(tag[1:len(tag)-1], ",")
	interval := numberInterval{high: math.Inf(1), openLow: tag[0] == '(', openHigh: strings.HasSuffix(tag, ")")}
	interval.low, _ = strconv.ParseFloat(low, 64) // the tags are tested
	if high != "" {
		interval.high, _ = strconv.ParseFloat(high, 64)
	}
	return interval
}

// contains reports whether a finite number lies in the interval.
func (s numberInterval) contains(x float64) bool {
	return !math.IsInf(x, 0) && (x > s.low || x == s.low && !s.openLow) && (x < s.high || x == s.high && !s.openHigh)
}

// describe describes the numbers of the interval for an error message. flagType is the type of the flag.
func (s numberInterval) describe(flagType reflect.Type) string {
	kind := "number"
	if flagType == reflect.TypeFor[time.Duration]() {
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
		return "a duration of at least 0"
	}
	return fmt.Sprintf("at least %g", s.low)
}

// refuseFlags returns a usage error if condition is true and one of the flags was given. reason says
// in which case the flag has no effect.
func (c *invocation) refuseFlags(condition bool, reason string, flags ...string) error {
	if !condition {
		return nil
	}
	return c.refuseGivenFlags(reason, flags...)
}

// refuseGivenFlags returns a usage error if one of the flags was given. reason says in which case the flag has no effect.
func (c *invocation) refuseGivenFlags(reason string, flags ...string) error {
	for _, name := range flags {
		if c.given[name] {
			return usageError("--%s has no effect %s", name, reason)
		}
	}
	return nil
}
