// Package certificate is the format of certificates: sets and vectors over the states
// of a model, from which the answers to properties follow, in one file with the model.
// What makes them proofs is said by package certify, which checks them.
//
//	err := certificate.Write(ctx, out, writer.UMBMembers, &certificate.File{...})
//	f, err := certificate.Read(ctx, in, certificate.Limits{})
//	text := f.Statement(&f.Claims[0])     // what is claimed, in the terms of the sets
//
// A file is a UMB file of the model with fractions for probabilities and rewards (any
// reader of UMB reads that part) with more members: certificates/index.json, which
// names the sets, vectors and claims, and one column each for what they have for every
// state. It is plain or compressed by gzip. docs/certificates.md has the format.
//
// The package computes nothing: a vector is what its file says.
package certificate
