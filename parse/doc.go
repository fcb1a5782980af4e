// Package parse reads the output of PRISM and Storm and converts it to a
// [Log], with one [Property] for every property that the output names and a
// [result.Verdict] for each of them.
//
// A parser receives the bytes as they arrive ([NewPRISM], [NewStorm], then Write) and
// finally how the process ended ([Parser.Finish]). The division of the bytes into writes
// does not matter, memory is bounded whatever the length of the output, and
// nothing panics. Three rules prevent wrong attributions:
//
//   - A result belongs to the property whose heading it follows. Results are not
//     counted, because a failed property prints no result line.
//   - A property without a result is a failure, whatever the exit code says, and
//     so is a property that was listed but never started.
//   - A value is read only from complete lines of a known form. Other forms are
//     refused with an error that quotes them; they are never read partially.
//
// The package also reads the file of values that Storm writes ([ReadStormResults])
// and recorded runs ([ReadTranscript]). It starts no processes and reads no
// models.
package parse
