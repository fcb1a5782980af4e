// Package prove makes certificates: for a state space with rational weights and a property, it computes the
// sets and vectors from which the answer follows, in the types of package certificate.
//
//	p, err := prove.New(space, prove.Options{})
//	i, r, err := p.Proven(ctx, property) // adds p.Claims[i] with its proof; r is the checker's result
//	f := prove.Only(&p.File, i)      // a certificate of this claim only
//	k := prove.NewClaimFile()         // the claims without their proofs
//	i, err = k.Add(property)
//
// The translation of a property to sets and vectors depends on its syntax only (translate.go).
// Package solve computes the columns of the vectors, as multiples of a number (the grid) so small that the
// rounded bounds still satisfy their inequalities (vector.go). Graph searches compute the ranks (rank.go). Where
// float64 is not precise enough, the columns are fractions. Errors in this package are harmless: package
// certify rejects a wrong certificate.
//
// If certificates cannot express a property, the error is a *result.Failure that says why.
package prove
