package runner

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/result"
)

// Entrant is one of several engines that check the same job, with a method of its own.
type Entrant struct {
	// Label is its name in reports; empty is the engine's name. The labels of a job differ.
	Label  string
	Engine Engine
	// Method and Accuracy replace the job's, so that one engine may sample and
	// another one compute; empty keeps them.
	Method   Method
	Accuracy result.Accuracy
}

// Called returns the entrant's name in reports.
func (e *Entrant) Called() string {
	if e.Label != "" {
		return e.Label
	}
	return e.Engine.Name()
}

// Distinct returns an error if two labels are the same.
func Distinct(labels []string) error {
	for i, label := range labels {
		if slices.Contains(labels[:i], label) {
			return fmt.Errorf("two engines are called %s: want labels that differ", label)
		}
	}
	return nil
}

// ParseEntrant reads a label such as "native:exact": the name of an engine and,
// after a colon, its method or accuracy. The entrant has no engine yet.
func ParseEntrant(label string) (engine string, e Entrant, err error) {
	engine, how, _ := strings.Cut(label, ":")
	e.Label = label
	switch how {
	case "":
	case "bounded":
		e.Method, e.Accuracy = States, result.Bounded
	case "proven":
		e.Method, e.Accuracy = States, result.Proven
	case "exact":
		e.Method, e.Accuracy = States, result.Exact
	case "float":
		e.Method, e.Accuracy = States, result.Float
	case "sim", "ci", "aci", "apmc", "sprt":
		e.Method = Method(how)
	default:
		err = fmt.Errorf("%s: unknown way to check %q, want bounded, proven, exact, float, sim, ci, aci, apmc or sprt", label, how)
	}
	return engine, e, err
}
