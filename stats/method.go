package stats

import "strings"

// Method is one of PRISM's methods of statistical model checking.
type Method uint8

// The methods. Auto is CI for a quantitative property (=?) and SPRT for a
// bounded one, as in PRISM.
const (
	Auto Method = iota
	CI
	ACI
	APMC
	SPRT
)

// String returns PRISM's short name, such as CI.
func (m Method) String() string {
	return [...]string{Auto: "auto", CI: "CI", ACI: "ACI", APMC: "APMC", SPRT: "SPRT"}[m]
}

// FullName returns the name as PRISM prints it, such as "CI (Confidence Interval)".
func (m Method) FullName() string {
	return m.String() + " (" + [...]string{
		Auto: "chosen by the property",
		CI:   "Confidence Interval",
		ACI:  "Asymptotic Confidence Interval",
		APMC: "Approximate Probabilistic Model Checking",
		SPRT: "Sequential Probability Ratio Test",
	}[m] + ")"
}

// ParseMethod returns the method with a name, in upper or lower case, as PRISM's
// switch -simmethod does; "" and "auto" are Auto.
func ParseMethod(name string) (Method, error) {
	if name == "" {
		return Auto, nil
	}
	for method := Auto; method <= SPRT; method++ {
		if strings.EqualFold(name, method.String()) {
			return method, nil
		}
	}
	return Auto, errorf(BadValue, "unknown simulation method %q: want ci, aci, apmc or sprt", name)
}
