// Package report prints answers: verdicts, comparisons and other tables as
// tables for people, Markdown, CSV and JSON, and comparisons as plots. It
// computes no answers and decides nothing about them, does not look at the
// terminal or the environment ([Options] says what the writer can show), and
// imports no engine.
//
//	report.Verdicts(os.Stdout, format, verdicts, report.Options{Width: 100})
//	comparison.Write(os.Stdout, format, opt)
//	report.Plot("losing.svg", comparison)
//
// # Numbers
//
// People get the digits that the interval justifies: up to the place of the
// second significant digit of its half-width, six significant digits where
// there is no interval, eight at most. The ends of intervals are rounded
// outwards, so a printed interval always contains the one that was proven or
// estimated. "0.444 +/- 0.041" is the tool's own nominal half-width, rounded to
// nearest. An exact value is the fraction, if short, and its decimal
// expansion, with "~" before it when that is rounded. Machines get every digit:
// a number in JSON and CSV reads back as the same float64.
//
// # JSON
//
// The output is one object, {"tilecheck": version, "results": [...]}, for a
// comparison with "title" and "notes". What does not apply to a result is
// absent, never null, empty or zero. The members, in this order:
//
//	strategy, max   string, number      comparison only
//	property        string              as PRISM echoes it; always present
//	name            string
//	constants       object              in order of declaration; a value is a number or Boolean if its text is one, else a string
//	engine, method  string
//	value           number or Boolean   or [low, high] over several initial states
//	fraction        string              the exact value, "1/6" or "3"
//	lower, upper    number              the interval that is valid in the sense of accuracy
//	bound_method    string              what that interval is, if statistical
//	half_width      number              the tool's own, nominal
//	confidence      number              0.99 is 99 %; of lower and upper
//	samples         number
//	accuracy        string              exact, float, bounded, claimed, estimated, probable; absent if unknown
//	resolution      string              of nondeterminism: none, min, max, uniform, fixed; absent if unknown
//	states, choices, transitions  number  of the state space, if one was built
//	seed            number              an integer of up to 64 bits; those that tilecheck draws itself stay below 2^53
//	seconds         number
//	tool            string              version and place of what ran, if the engine runs a tool
//	warnings        array of strings
//	doubt           string              what the engine itself said that casts doubt upon the value
//	listings        array               JSON only: {"values": [{state, valuation, value, fraction}], "left"} of filter(print, ...)
//	error           object              class, message, position {file, line, column}
//	published       object              comparison only: value, half_width
//	compatible      Boolean             comparison only
//
// JSON has no NaN and no infinities: they are the strings "NaN", "Infinity"
// and "-Infinity".
//
// CSV has the same fields as columns, all of them whether used or not, nested
// ones joined as in error_class. Constants are "N=3,p=0.5" and warnings are
// joined by "; ".
package report
