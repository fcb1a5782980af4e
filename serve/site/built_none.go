//go:build !playground

package site

// built returns the playground that is embedded in the program; none without the build tag
// playground.
func built() Program { return Program{} }
