// Package umb has what every reader and writer of UMB files needs, the binary format
// that PRISM, Storm and Modest share: the index, the members of the archive and their
// columns. What the columns mean is not here.
//
// The format, version 1, is a tar file of a directory, plain or compressed by gzip or
// xz: index.json says what the model is, and the others are columns of numbers,
// little-endian: offsets (one more than there are rows), values of one size, or bits.
//
// Source: github.com/pmc-tools/umb, spec.md of 26 January 2026.
package umb
