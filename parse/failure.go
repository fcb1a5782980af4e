package parse

import (
	"fmt"
	"strings"

	"tilecheck/result"
)

// phase is the progress of a run. It helps to classify errors.
type phase int

const (
	starting phase = iota
	parsingModel
	parsingProperties
	running
	building
)

// prismClass returns the class of an error message of PRISM. at is the phase in which PRISM printed it. The most specific texts are tested first.
func prismClass(message string, at phase) result.Class {
	switch {
	case strings.HasPrefix(message, "Timeout (after"):
		return result.Timeout
	case strings.Contains(message, "CUDD"):
		return result.CUDD
	case strings.HasPrefix(message, "Syntax error"):
		return result.Parse
	case strings.Contains(message, "did not converge"):
		return result.NonConverge
	case strings.Contains(message, "Consider increasing the maximum path length"):
		return result.PathLength
	case isAboutConstants(message):
		return result.Constants
	case strings.HasPrefix(message, "Deadlock state found"), strings.HasPrefix(message, "Model contains") && strings.Contains(message, "deadlock state"):
		return result.Deadlock
	case isAboutModel(message):
		return result.Model
	case isAboutSupport(message):
		return result.Unsupported
	case isAboutTypes(message):
		return result.TypeError
	}
	switch at {
	case parsingModel, parsingProperties:
		if strings.HasPrefix(message, `File "`) {
			return result.Other
		}
		return result.TypeError // the syntax is correct, but PRISM refuses the text
	case building:
		return result.Build
	}
	return result.Other
}

// isAboutConstants reports whether a message of PRISM is about the values of constants.
func isAboutConstants(msg string) bool {
	return strings.HasPrefix(msg, "Undefined constant") ||
		strings.HasPrefix(msg, "Constant ") && strings.Contains(msg, "has already been defined") ||
		strings.HasPrefix(msg, "Value ") && strings.Contains(msg, " for constant ")
}

// isAboutModel reports whether a message of PRISM is about an error of the model that depends on the state.
func isAboutModel(msg string) bool {
	return containsAny(msg, "Probabilities in command", "Probabilities sum to", "Probability is ", "Rates in command", "Rate is ") ||
		strings.HasPrefix(msg, "Value ") && strings.Contains(msg, "out of range for variable") ||
		strings.Contains(msg, "Invalid range (") ||
		strings.HasPrefix(msg, "POMDP is not allowed duplicate") || strings.HasPrefix(msg, "Problem with observation")
}

// isAboutSupport reports whether a message of PRISM says that PRISM does not support something.
func isAboutSupport(msg string) bool {
	return containsAny(msg,
		"not supported", "not currently supported", "not yet supported", "does not support", "does not yet", "not implemented", "Not implemented",
		"currently only supports", "No support for", "cannot handle", "can only handle", "Cannot use the", "Cannot use SPRT",
		"Can't create sampler", "Couldn't check class", "cannot be used for", "can be used for PTAs", "only allowed in",
		"are not allowed when using", "is only meaningful for", "Cannot build a model that contains a variable with unbounded range",
		"only sparse engine", "is not enough to compare to bound",
		"Parma Polyhedra Library could not be loaded")
}

// isAboutTypes reports whether a message of PRISM is about types, names or bounds.
func isAboutTypes(msg string) bool {
	return containsAny(msg, "Type error", "Type mismatch", "for nondeterministic models; use",
		"Undeclared ", "Invalid probability bound", "Negative bound", "Empty bound", "Invalid upper bound", "Invalid lower bound",
		"Invalid time bound", "must be integers for", "Invalid bound", "Invalid reward structure index", "Model has no rewards")
}

// stormClass returns the class of an exception of Storm with a type and a message.
func stormClass(kind, message string) result.Class {
	switch {
	case containsAny(message, "bad_alloc", "table full", "out of memory"), kind == "MissingLibraryException" && strings.Contains(message, "memory"):
		return result.Memory
	case strings.Contains(message, "undefined constant"):
		return result.Constants
	case strings.Contains(message, "deadlock state"):
		return result.Deadlock
	case containsAny(message, "out-of-bounds", "Probabilities do not sum", "do not sum up to one"):
		return result.Model
	case strings.HasPrefix(message, "Parsing error"):
		return result.Parse
	case containsAny(message, "to be of boolean type", "to be of", "whether minimal or maximal", "illegal label", "unknown label"):
		return result.TypeError
	case strings.Contains(message, "did not converge"):
		return result.NonConverge
	}
	switch kind {
	case "NotSupportedException", "NotImplementedException", "InvalidOperationException", "MissingLibraryException", "InvalidPropertyException":
		return result.Unsupported
	case "WrongFormatException", "InvalidTypeException":
		return result.Parse
	case "OutOfMemoryException":
		return result.Memory
	case "AbortException":
		return result.Interrupted
	}
	return result.Other
}

// stderrFacts is the information from standard error.
type stderrFacts struct {
	heap, stack bool
	signal      int    // the signal that Storm reports
	last        string // the last line, as a message if nothing else is known
}

// line reads a line of standard error.
func (facts *stderrFacts) line(text string) {
	switch {
	case strings.Contains(text, "java.lang.OutOfMemoryError"):
		facts.heap = true
	case strings.Contains(text, "java.lang.StackOverflowError"):
		facts.stack = true
	case strings.Contains(text, "The program received signal "):
		number, _ := between(text, "received signal ", " and")
		facts.signal = int(min(leadingCount(number), 255))
	}
	if text != "" && !strings.HasPrefix(text, "\t") {
		facts.last = clip(text, maxText)
	}
}

// Signals as shells and containers report them, above 128.
const (
	sigint  = 2
	sigkill = 9
	sigalrm = 14
	sigterm = 15
	sigxcpu = 24
)

// signalFailure returns the failure of a process that a signal ended.
func signalFailure(signal int) *result.Failure {
	switch signal {
	case sigint:
		return &result.Failure{Class: result.Interrupted, Message: "interrupted (SIGINT)"}
	case sigkill, sigterm:
		return &result.Failure{Class: result.Killed, Message: fmt.Sprintf("killed by signal %d", signal)}
	case sigalrm, sigxcpu:
		return &result.Failure{Class: result.Timeout, Message: fmt.Sprintf("time limit reached (signal %d)", signal)}
	}
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf("crashed with signal %d", signal)}
}

// stopReason describes why the caller stopped the process.
func stopReason(class result.Class) string {
	switch class {
	case result.Timeout:
		return "time limit reached"
	case result.Memory:
		return "memory limit reached"
	}
	return "it was ended before it was done"
}

// earlyEnd returns the failure of a process that was stopped, crashed or ran out of memory; nil for other ends.
func earlyEnd(end End, facts *stderrFacts) *result.Failure {
	switch {
	case end.Stopped != "":
		return &result.Failure{Class: end.Stopped, Message: stopReason(end.Stopped)}
	case facts.heap:
		return &result.Failure{Class: result.Heap, Message: "Java ran out of heap memory (java.lang.OutOfMemoryError); raise it with -javamaxmem"}
	case facts.stack:
		return &result.Failure{Class: result.Memory, Message: "Java ran out of stack memory (java.lang.StackOverflowError); raise it with -javastack"}
	case facts.signal > 0:
		return signalFailure(facts.signal)
	case end.Known && end.Code < 0: // the signal is unknown
		return &result.Failure{Class: result.Killed, Message: "ended by a signal"}
	case end.Known && end.Code > 128 && end.Code < 128+65:
		return signalFailure(end.Code - 128)
	}
	return nil
}
