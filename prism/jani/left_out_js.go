package jani

import "context"

// ReadComposed reads a document like [Read]. The program of the playground leaves out the composition of automata, because every visitor loads it.
func ReadComposed(_ context.Context, file string, src []byte, constants map[string]string) (translation *Translation, composed bool, err error) {
	translation, err = Read(file, src, constants)
	return translation, false, err
}
