// Package parse reads what PRISM and Storm really said: their output becomes a
// [Log], with one [Property] for every property the output names and a
// [result.Verdict] for each of them.
//
// A parser is fed bytes as they come ([NewPRISM], [NewStorm], then Write) and
// closed with how the process ended ([Parser.Finish]). How the bytes were cut
// never matters, memory is bounded whatever the length of the output, and
// nothing panics. Three rules keep it from being fooled:
//
//   - A result belongs to the property whose heading it stands under. Nothing is
//     counted: a failed property prints no result line.
//   - A property without a result is a failure, whatever the exit code says, and
//     so is a property that was listed but never begun.
//   - A value is taken from complete lines of a known form only. What is not
//     understood entirely is refused by name, never read halfway.
//
// The package also reads the file of values that Storm writes ([ReadStormResults])
// and recorded runs ([ReadTranscript]). It starts no process, and it does not read
// models.
package parse
