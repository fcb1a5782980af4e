package runner

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Param is a constant of the model that stays open, with its lower and upper bound.
type Param struct {
	Name      string
	Low, High *big.Rat
}

// ParamError is the error of parameters: of their form, or of a constant that has a value.
type ParamError struct{ Err error }

func (e *ParamError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *ParamError) Unwrap() error { return e.Err }

// parseParams reads the arguments of PRISM's -param: names with optional bounds, "p,q=0.2:0.8". The default bounds are 0 and 1.
//
// Source: PRISM 4.10, ParamMode.setParameters; a parameter without bounds is one of [0,1].
func parseParams(args []string) ([]Param, error) {
	var params []Param
	for _, arg := range args {
		for part := range strings.SplitSeq(arg, ",") {
			param, ok := parseParam(part)
			if !ok {
				return nil, &ParamError{fmt.Errorf("invalid parameter: found %q, want name or name=low:high with low below high", part)}
			}
			if slices.ContainsFunc(params, func(other Param) bool { return other.Name == param.Name }) {
				return nil, &ParamError{fmt.Errorf("parameter %q is there twice", param.Name)}
			}
			params = append(params, param)
		}
	}
	return params, nil
}

// parseParam parses one name with optional bounds: "q=0.2:0.8". ok is false if the text has another form.
func parseParam(part string) (param Param, ok bool) {
	name, bounds, hasBounds := strings.Cut(part, "=")
	param = Param{strings.TrimSpace(name), new(big.Rat), big.NewRat(1, 1)}
	if !hasBounds {
		return param, param.Name != ""
	}
	low, high, _ := strings.Cut(bounds, ":")
	_, okLow := param.Low.SetString(strings.TrimSpace(low))
	_, okHigh := param.High.SetString(strings.TrimSpace(high))
	return param, param.Name != "" && okLow && okHigh && param.Low.Cmp(param.High) < 0
}
