// Package certificate reads and writes certificates. A certificate is a file with a model and with sets and
// vectors over its states, from which the answers to properties follow.
// Package certify checks certificates, and documents why they are proofs.
//
//	err := certificate.Write(ctx, out, writer.UMBMembers, &certificate.File{...})
//	f, err := certificate.Read(ctx, in, certificate.Limits{})
//	text := f.Statement(&f.Claims[0])     // the claim, spelt out
//
// The file is a UMB file of the model whose probabilities and rewards are fractions, so any
// reader of UMB can read the model. Further members follow: certificates/index.json
// lists the sets, vectors and claims, and each column (one entry for every state)
// is a member. The file may be compressed by gzip. docs/certificates.md defines the format.
//
// The package does not check that the values are correct.
package certificate
