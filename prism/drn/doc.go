// Package drn reads models with parameters in the DRN format, which Storm writes with --exportbuild. Their probabilities, rates and rewards are
// functions of the parameters. So they become models in PRISM's language: the parameters are constants without a value, the only variable is the
// number of the state, and each choice is a command. Package native/space/files reads DRN files without parameters.
// Both use [Scanner], which splits the lines and checks all but the values.
//
// [Read] supports DTMCs, CTMCs and MDPs. Package sema checks the functions; its errors have positions in the file.
//
// Source: Storm's DirectEncodingParser and DirectEncodingExporter.
package drn
