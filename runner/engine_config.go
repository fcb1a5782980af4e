package runner

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/result"
)

// EngineConfig is one of several engines that check the same job: the engine, its label in reports, and the method it uses.
type EngineConfig struct {
	// Label is the name in reports; empty means the engine's name. Engines of one job have different labels.
	Label  string
	Engine Engine
	// Method and Accuracy replace the job's, so that one engine may sample and
	// another one compute; empty keeps them.
	Method   Method
	Accuracy result.Accuracy
}

// DisplayName returns the label of the engine in reports; without a label, the engine's name.
func (c *EngineConfig) DisplayName() string {
	if c.Label != "" {
		return c.Label
	}
	return c.Engine.Name()
}

// Distinct returns an error if two engines have the same label.
func Distinct(labels []string) error {
	for i, label := range labels {
		if slices.Contains(labels[:i], label) {
			return fmt.Errorf("two engines are called %s: want labels that differ", label)
		}
	}
	return nil
}

// ParseEngineLabel reads a label such as "native:exact": the name of an engine and, after a colon, a method or an accuracy.
// It sets Label, Method and Accuracy; the caller looks the engine up by its name.
func ParseEngineLabel(label string) (engine string, config EngineConfig, err error) {
	engine, mode, _ := strings.Cut(label, ":")
	config.Label = label
	switch mode {
	case "":
	case "bounded":
		config.Method, config.Accuracy = States, result.Bounded
	case "proven":
		config.Method, config.Accuracy = States, result.Proven
	case "exact":
		config.Method, config.Accuracy = States, result.Exact
	case "float":
		config.Method, config.Accuracy = States, result.Float
	case "sim", "ci", "aci", "apmc", "sprt":
		config.Method = Method(mode)
	default:
		err = fmt.Errorf("%s: unknown way to check %q, want bounded, proven, exact, float, sim, ci, aci, apmc or sprt", label, mode)
	}
	return engine, config, err
}
