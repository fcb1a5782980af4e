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

// checkedFlags returns the flags on the command line, and checks their values. It returns a usage error for an empty text, or for a number
// outside the interval in the struct tag "want" of the flag, such as [0,] or (0,1). With the tag "any", the value is not checked.
func checkedFlags(kongContext *kong.Context) (givenFlags, error) {
	names := make(givenFlags)
	for _, element := range kongContext.Path {
		flag := element.Positional
		if element.Flag != nil {
			flag = element.Flag.Value
			names[flag.Name] = true
		}
		if flag == nil || flag.Tag.Get("want") == "any" {
			continue
		}
		if err := checkValue(flag, flag.Target); err != nil {
			return nil, err
		}
	}
	return names, nil
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

// checkNumber returns a usage error if the number is not in the interval that the flag allows.
func checkNumber(flag *kong.Value, value reflect.Value, number float64) error {
	allowed := allowedInterval(flag, value)
	if !allowed.contains(number) {
		return usageError("%s is %v, want %s", flagName(flag), value.Interface(), allowed.describe(value.Type()))
	}
	return nil
}

// flagName returns the name of a flag or an argument in error messages, such as --prop or <model>.
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

// allowedInterval returns the interval of allowed numbers: the one in the struct tag "want" of a flag, or otherwise a default for the flag's
// type.
func allowedInterval(flag *kong.Value, value reflect.Value) numberInterval {
	tag := flag.Tag.Get("want")
	if tag != "" {
		return parseInterval(tag)
	}
	if value.Kind() == reflect.Float64 || value.Type() == reflect.TypeFor[time.Duration]() {
		return parseInterval("(0,]")
	}
	return parseInterval("[1,]")
}

// parseInterval parses an interval such as (0,1], or [1,] without an upper end. The text must be valid.
func parseInterval(text string) numberInterval {
	low, high, _ := strings.Cut(text[1:len(text)-1], ",")
	interval := numberInterval{high: math.Inf(1), openLow: text[0] == '(', openHigh: strings.HasSuffix(text, ")")}
	interval.low, _ = strconv.ParseFloat(low, 64)
	if high != "" {
		interval.high, _ = strconv.ParseFloat(high, 64)
	}
	return interval
}

// contains reports whether a finite number lies in the interval.
func (s numberInterval) contains(x float64) bool {
	return !math.IsInf(x, 0) && (x > s.low || x == s.low && !s.openLow) && (x < s.high || x == s.high && !s.openHigh)
}

// describe describes the numbers of the interval in the words of an error message. flagType is the type of the flag: a number or a duration.
func (interval numberInterval) describe(flagType reflect.Type) string {
	kind := "number"
	if flagType == reflect.TypeFor[time.Duration]() {
		kind = "duration"
	}
	switch {
	case !math.IsInf(interval.high, 1) && interval.openHigh:
		return fmt.Sprintf("a %s between %g and %g", kind, interval.low, interval.high)
	case !math.IsInf(interval.high, 1) && interval.openLow:
		return fmt.Sprintf("a %s above %g and at most %g", kind, interval.low, interval.high)
	case !math.IsInf(interval.high, 1):
		return fmt.Sprintf("%g to %g", interval.low, interval.high)
	case interval.openLow:
		return "a positive " + kind
	case kind == "duration":
		return "a duration of at least 0"
	}
	return fmt.Sprintf("at least %g", interval.low)
}

// refuseFlags returns a usage error if condition is true and one of the flags was given. reason says when the flags have no effect.
func (c *invocation) refuseFlags(condition bool, reason string, flags ...string) error {
	if !condition {
		return nil
	}
	return c.refuseGivenFlags(reason, flags...)
}

// refuseGivenFlags returns a usage error if the user has given one of the flags. reason says when these flags have no effect.
func (c *invocation) refuseGivenFlags(reason string, flags ...string) error {
	for _, name := range flags {
		if c.givenFlags[name] {
			return usageError("--%s has no effect %s", name, reason)
		}
	}
	return nil
}
