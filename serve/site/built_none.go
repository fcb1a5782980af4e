//go:build !playground

package site

// built is the playground that is a part of the program: none, unless it was built with the tag playground.
func built() Program { return Program{} }
