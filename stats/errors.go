package stats

import "fmt"

// Code is the kind of an [Error]. Codes are never renumbered.
type Code uint8

// The codes.
const (
	BadValue      Code = iota + 1 // a parameter out of its range, or inconsistent statistics
	Overspecified                 // width, confidence and samples are all given: only two are free
	Unsupported                   // the method cannot be used for this property
	Indifference                  // SPRT: the indifference region leaves the range of the mean
	TooFew                        // APMC: samples and approximation give no positive confidence
	Overflow                      // APMC: more samples than can be counted
	NotDone                       // sampling ended before the plan was done
	Truncated                     // Params.MaxSamples was reached before the plan was done
	ZeroVariance                  // SPRT on rewards: all samples were equal, so the test never decides
	NotFinite                     // a sample was infinite or not a number
)

// Error is the reason why there is no plan, or no complete outcome.
type Error struct {
	Code Code
	Msg  string
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// errorf returns an Error with a code and a formatted message.
func errorf(code Code, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
